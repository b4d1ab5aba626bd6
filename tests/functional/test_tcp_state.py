# SPDX-License-Identifier: BSD-3-Clause
"""Connections as the flow table follows them: resets, timeouts, retransmitted SYNs, ends.

    client 10.0.1.10 and raw host 10.0.1.66 --- 10.0.1.1 Weir 10.0.2.1 --- switch --- s1, s2
"""
import socket

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6

from topo import TcpServer, http_burst, http_get, udp_ask, UdpEcho, wait_until
from topo import weirconf as wc
from topo.rawhost import RawHost, ip_of


def raw_client(picture, ip):
    address = "10.0.1.66" if ip.family == 4 else "fd00:1::66"
    host = picture.topo.add(RawHost(picture.client, addresses=[address]))
    return host, host.resolve(ip.virtual), (IP if ip.family == 4 else IPv6)(src=address, dst=ip.virtual)


def web(picture, ip, **profile):
    parts = wc.pool("web", picture.members(80, ip.family))
    if profile:
        parts += wc.profile("fastl4", "mine", **profile)
    return parts + wc.virtual("web", ip.virtual, 80, "web", profiles=["mine"] if profile else None)


def tcp_answer(host, what):
    return ip_of(host.expect(lambda f: TCP in f and f[TCP].dport == 4000, what))[TCP]


@pytest.mark.parametrize("flags", ["A", "PA", "FA", "SA"])
def test_segment_without_flow_is_reset(topology, ip, flags):
    """RFC 9293, 3.10.7.1: the RST's numbers are the ones a TCP would choose."""
    picture = topology(servers=1)
    picture.start_weir(web(picture, ip))
    host, via, layer = raw_client(picture, ip)
    host.send(layer / TCP(sport=4000, dport=80, flags=flags, seq=1000, ack=5000) / b"abc", via)
    reset = tcp_answer(host, "it is reset")
    assert reset.flags.R and reset.seq == 5000
    host.send(layer / TCP(sport=4000, dport=80, flags="R", seq=1000), via)
    assert host.silence(lambda f: TCP in f), "an RST is never answered"
    assert picture.weir.drops().get("tcp-without-flow", 0) >= 1


def test_unmatched_stays_silent_when_told_so(topology, ip4):
    picture = topology(servers=1)
    picture.start_weir(web(picture, ip4), wc.db("tm.rejectunmatched", "false"))
    host, via, layer = raw_client(picture, ip4)
    host.send(layer / TCP(sport=4000, dport=80, flags="A", seq=1000, ack=5000), via)
    assert host.silence(lambda f: TCP in f)
    assert picture.weir.drops()["tcp-without-flow"] == 1


def test_syn_to_a_port_without_virtual_is_refused(topology, ip):
    picture = topology(servers=1)
    picture.start_weir(web(picture, ip))
    with pytest.raises(ConnectionRefusedError):
        picture.client.connect((ip.virtual, 81), timeout=2)


def test_idle_connection_is_reset_on_both_sides(topology, workers, ip):
    """Never silence: loxilb-io/loxilb#718."""
    picture = topology(servers=1)
    server = picture.topo.add(TcpServer(picture.servers[0], "s1", [(ip.server(1), 80)]))
    picture.start_weir(web(picture, ip, idle_timeout=2), workers=workers)
    idle, busy = (picture.client.connect((ip.virtual, 80)) for _ in range(2))
    ends = [server.take()[0], server.take()[0]]
    for sock in (idle, busy):
        assert sock.recv(100).startswith(b"s1")
    for end in ends:
        end.settimeout(6)
    busy.settimeout(6)
    idle.settimeout(6)

    def keep_busy():
        busy.sendall(b".")
        try:
            idle.setblocking(False)
            idle.recv(1)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True
        raise AssertionError("the idle client was not reset but closed")

    wait_until(keep_busy, "the idle client is reset", 8, pause=0.5)
    results = []
    for end in ends:
        end.setblocking(False)
        try:
            while end.recv(100):
                pass
        except ConnectionResetError:
            results.append("reset")
        except BlockingIOError:
            results.append("open")
    assert sorted(results) == ["open", "reset"]
    assert len(picture.weir.connections()) == 1


def test_reset_on_timeout_can_be_off(topology, ip4):
    picture = topology(servers=1)
    picture.topo.add(TcpServer(picture.servers[0], "s1", [(ip4.server(1), 80)]))
    picture.start_weir(web(picture, ip4, idle_timeout=1, reset_on_timeout="disabled"))
    host = picture.topo.add(RawHost(picture.client))
    sock = picture.client.connect((ip4.virtual, 80))
    wait_until(lambda: not picture.weir.connections(), "the flow leaves", 8)
    assert host.silence(lambda f: TCP in f and f[TCP].flags.R, 0.3)
    sock.close()


def test_timeouts_by_protocol_and_virtual(topology, ip4):
    """A short UDP timeout leaves TCP alone: cilium/cilium#4389."""
    picture = topology(servers=1)
    picture.topo.add(TcpServer(picture.servers[0], "s1", [(ip4.server(1), 80)]))
    picture.topo.add(UdpEcho(picture.servers[0], "s1", [(ip4.server(1), 53)]))
    picture.start_weir(web(picture, ip4, idle_timeout=100)
                       + wc.pool("dns", picture.members(53)) + wc.profile("udp", "short", idle_timeout=1)
                       + wc.virtual("short", ip4.virtual, 53, "dns", proto="udp", profiles=["short"])
                       + wc.virtual("long", ip4.virtual, 54, "dns", proto="udp"))
    sock = picture.client.connect((ip4.virtual, 80))
    for port in (53, 54):
        udp_ask(picture.client, ip4.virtual, port)
    assert sorted(row["timeout"] for row in picture.weir.connections()) == [1, 60, 100]
    wait_until(lambda: len(picture.weir.connections()) == 2, "the short one leaves", 8)
    assert {row["protocol"] for row in picture.weir.connections()} == {"tcp", "udp"}
    sock.close()


def test_table_is_empty_after_traffic(topology, workers, ip4):
    """Every state has its timer and every flow its end: iqiyi/dpvs#111, #93, FDio/vpp#2742."""
    picture = topology(servers=2)
    picture.start_nginx()
    picture.start_weir(web(picture, ip4, idle_timeout=1, tcp_handshake_timeout=1, tcp_close_timeout=1),
                       workers=workers)
    host, via, layer = raw_client(picture, ip4)
    for number in range(50):
        host.send(layer / TCP(sport=10000 + number, dport=80, flags="S", seq=number), via)
    assert not http_burst(picture.client, ip4.virtual, 200, parallel=8).errors
    wait_until(lambda: not picture.weir.connections(), "all flows have left", 10)
    workers_rows = picture.weir.show("sys worker")
    assert sum(r["flows-created"] for r in workers_rows) == sum(r["flows-deleted"] for r in workers_rows) >= 250
    for row in picture.weir.show("ltm pool members", owner="web"):
        assert row["serverside.curConns"] == 0


def test_retransmitted_syn_draws_no_second_ticket(topology, workers, ip4):
    """A repeated SYN goes to the same server from the same port, and counts once."""
    picture = topology(servers=2)
    silent = ["10.0.2.66", "10.0.2.67"]
    picture.start_weir(wc.pool("web", [(address, 80) for address in silent])
                       + wc.virtual("web", ip4.virtual, 80, "web"), workers=workers)
    ears = [picture.topo.add(RawHost(ns, addresses=[address])) for ns, address in zip(picture.servers, silent)]
    host, via, layer = raw_client(picture, ip4)
    for _ in range(3):
        host.send(layer / TCP(sport=4000, dport=80, flags="S", seq=77), via)
    heard = []

    def collect():
        for number, ear in enumerate(ears):
            while not ear.heard.empty():
                frame = ear.heard.get()
                if TCP in frame and frame[TCP].flags == "S" and frame[IP].dst == silent[number]:
                    heard.append((number, frame[IP].src, frame[TCP].sport))
        return len(heard) >= 3

    wait_until(collect, "three SYNs reach a server")
    assert len(set(heard)) == 1
    rows = picture.weir.show("ltm pool members", owner="web")
    assert sum(row["serverside.totConns"] for row in rows) == 1


def test_states_of_a_connection(topology, ip4):
    picture = topology(servers=1)
    server = picture.topo.add(TcpServer(picture.servers[0], "s1", [(ip4.server(1), 80)]))
    weir = picture.start_weir(web(picture, ip4, tcp_close_timeout=2))
    sock = picture.client.connect((ip4.virtual, 80))
    end, _ = server.take()
    row, = weir.connections(protocol="tcp", cs_client_addr=ip4.client)
    assert row["state"] == "established"
    assert (row["cs-server-addr"], row["cs-server-port"]) == (ip4.virtual, 80)
    assert (row["ss-server-addr"], row["ss-server-port"]) == (ip4.server(1), 80)
    sock.shutdown(socket.SHUT_WR)
    wait_until(lambda: weir.connections()[0]["state"] == "fin-wait", "half closed")
    end.sendall(b"still flows this way")
    got = b""
    while b"still" not in got:
        piece = sock.recv(100)
        assert piece, got
        got += piece
    end.close()
    wait_until(lambda: not weir.connections(), "it leaves", 8)
    assert weir.member("web", f"{ip4.server(1)}:80", "serverside.curConns") == 0
    sock.close()


def test_delete_connections(topology, workers, ip4):
    picture = topology(servers=2)
    picture.start_nginx()
    weir = picture.start_weir(web(picture, ip4), workers=workers)
    socks = [picture.client.connect((ip4.virtual, 80)) for _ in range(8)]
    weir.weirsh(f"delete sys connection ss-server-addr {ip4.server(1)}")
    rows = weir.connections()
    assert len(rows) == 4 and {row["ss-server-addr"] for row in rows} == {ip4.server(2)}
    assert http_get(picture.client, ip4.virtual).status == 200
    for sock in socks:
        sock.close()


@pytest.mark.parametrize("tries", [0, 1])
def test_client_that_gave_up_and_uses_its_port_again_gets_another_server(topology, workers, ip, tries):
    """The SYN of the first connection is unanswered yet: the second one is a new choice, with its own numbers."""
    picture = topology(servers=2)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family), reselect_tries=tries)
                       + wc.virtual("web", ip.virtual, 80, "web"), workers=workers)
    assert {http_get(picture.client, ip.virtual).server for _ in range(2)} == {"s1", "s2"}
    picture.nginx[0].deaf()
    lost = 0
    for port in range(4000, 4004):
        for _ in range(2):
            try:
                assert http_get(picture.client, ip.virtual, source=(ip.client, port), timeout=0.7).server == "s2"
            except TimeoutError:
                lost += 1
    assert lost == 4, "every other one"
