# SPDX-License-Identifier: BSD-3-Clause
"""Draining a server under real traffic (S0-02, S0-13 to S0-15, S0-19, S0-22; docs/operators-guide.md).

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import os
import signal
import time

import pytest

from topo import TcpServer, UdpEcho, http_burst, stays, udp_ask, wait_until, wrk_end, wrk_start
from topo import weirconf as wc
from topo.weir import ApiError


def name(ip, number, port=80):
    return wc.join(ip.server(number), port)


def start(topology, ip, servers=2, **options):
    picture = topology(servers=servers)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family)) + wc.virtual("web", ip.virtual, 80, "web"),
                       **options)
    return picture, picture.weir


def begin(weir, **arguments):
    """Number of a new drain."""
    return weir.ask("start-drain", **arguments)[1]["id"]


def row(weir, number):
    [found] = weir.show("ltm drain", name=str(number))
    return found


def drained(weir, number, seconds=10):
    return weir.ask("wait-drain", drain=number, seconds=seconds)[1]


def refused(call, *arguments, **named):
    with pytest.raises(ApiError) as caught:
        call(*arguments, **named)
    return caught.value


def connect(picture, ip, count):
    """Connections through Weir that have answered once: [(socket, server's name)]."""
    socks = []
    for _ in range(count):
        sock = picture.client.connect((ip.virtual, 80))
        socks.append((sock, ask(sock)))
    return socks


def connected_to(picture, ip, number):
    """A connection through Weir to that server."""
    while True:
        sock = picture.client.connect((ip.virtual, 80))
        if ask(sock) == f"s{number}":
            return sock
        sock.close()


def ask(sock):
    sock.sendall(b"GET /name HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = b""
    while not answer.endswith((b"s1\n", b"s2\n")):
        answer += sock.recv(2000)
    return answer[-3:-1].decode()


def test_cycle_without_a_failed_request(topology, workers, ip4):
    """S0-02, S0-13 to S0-15: out, 0 connections, restart, in again, and no client notices. Nothing new comes
    after it was taken out, and what is there goes on: acassen/keepalived#1228."""
    picture, weir = start(topology, ip4, workers=workers)
    load = wrk_start(picture.client, ip4.virtual, seconds=100, connections=8, close=True)
    wait_until(lambda: weir.member("web", name(ip4, 1), "serverside.totConns") > 20, "wrk is at work")
    for number, nginx in enumerate(picture.nginx, 1):
        held = connected_to(picture, ip4, number)
        text = weir.weirsh("create", "ltm", "drain", "pool", "web", "member", name(ip4, number), "reason", "new kernel")
        drain = int(text.split()[-1])
        total = weir.member("web", name(ip4, number), "serverside.totConns")
        error = refused(drained, weir, drain, 1)
        assert error.code == 504 and "connections left: 1" in str(error)
        assert ask(held) == f"s{number}", "who is there is served on"
        held.close()
        assert "drained" in weir.weirsh("show", "ltm", "drain", str(drain), "wait", "10")
        assert weir.member("web", name(ip4, number), "serverside.curConns") == 0
        assert weir.member("web", name(ip4, number), "serverside.totConns") == total, "nothing new came"
        nginx.stop()
        nginx.start()
        weir.weirsh(f"delete ltm drain {drain} enable")
        wait_until(lambda: weir.member("web", name(ip4, number), "serverside.totConns") > total, "it is used again")
        assert f"member /Common/{name(ip4, number)} drained in" in weir.cp.text()
        assert "new kernel" in weir.cp.text()
    result = wrk_end(load, now=True)
    assert not result.errors and result.requests > 100


def workers_of(nginx):
    """Processes that serve: the master's children."""
    with open(f"/proc/{nginx.process.pid}/task/{nginx.process.pid}/children", encoding="ascii") as children:
        return [int(pid) for pid in children.read().split()]


def freeze(nginx, stopped=True):
    for pid in workers_of(nginx):
        os.kill(pid, signal.SIGSTOP if stopped else signal.SIGCONT)


def test_stuck_connection_does_not_hold_it_up(topology, ip4):
    """S0-22: a frozen server holds its connection for ever; with stuck-time the client gets an error at once,
    and who is still served is not touched. Without stuck-time the drain waits."""
    picture, weir = start(topology, ip4, servers=1, workers=2)
    sock = connected_to(picture, ip4, 1)
    patient = begin(weir, node=ip4.server(1))
    freeze(picture.nginx[0])
    try:
        sock.sendall(b"GET /name HTTP/1.1\r\nHost: x\r\n\r\n")
        assert refused(drained, weir, patient, 1).code == 504
        assert row(weir, patient)["connections"] == 1
        weir.ask("end-drain", drain=patient)
        started = time.monotonic()
        drain = begin(weir, node=ip4.server(1), **{"stuck-time": 2})
        sock.settimeout(10)
        with pytest.raises(ConnectionResetError):
            sock.recv(100)
        assert time.monotonic() - started < 6
        found = drained(weir, drain)
        assert (found["state"], found["stuck"], found["reset"]) == ("drained", 1, 0)
        assert "silent connections reset: 1" in weir.cp.text()
    finally:
        freeze(picture.nginx[0], False)
    sock.close()


def test_live_connections_are_not_stuck(topology, ip4):
    picture, weir = start(topology, ip4, servers=1)
    sock = connected_to(picture, ip4, 1)
    drain = begin(weir, node=ip4.server(1), **{"stuck-time": 2})
    stays(lambda: ask(sock) == "s1", "it answers", 4)
    assert row(weir, drain)["stuck"] == 0 and row(weir, drain)["state"] == "draining"
    sock.close()
    assert drained(weir, drain)["stuck"] == 0


@pytest.mark.parametrize("action", ["none", "reset"])
def test_cap(topology, ip4, action):
    """The cap says how many are left and leaves them, or resets both sides."""
    picture = topology(servers=1)
    server = picture.topo.add(TcpServer(picture.servers[0], "t1", [(ip4.server(1), 80)]))
    weir = picture.start_weir(wc.pool("web", picture.members()) + wc.virtual("web", ip4.virtual, 80, "web"))
    sock = picture.client.connect((ip4.virtual, 80))
    assert sock.recv(100).startswith(b"t1")
    far, _ = server.take()
    drain = begin(weir, pool="web", member=name(ip4, 1), timeout=1, **{"cap-action": action})
    if action == "none":
        error = refused(drained, weir, drain, 10)
        assert error.code == 409 and "connections left after 1 s: 1" in str(error)
        sock.sendall(b"still here")
        assert far.recv(100) == b"still here"
        assert "not drained: connections left after 1 s: 1" in weir.cp.text()
    else:
        found = drained(weir, drain)
        assert (found["state"], found["reset"]) == ("drained", 1)
        for end in (sock, far):
            end.settimeout(5)
            with pytest.raises(ConnectionResetError):
                end.recv(100)
    sock.close()


def test_node_counts_all_its_members(topology, ip4):
    """Two pools on two ports of one server: 0 only when both are empty."""
    picture = topology(servers=2)
    for number in (1, 2):
        for port in (81, 82):
            picture.topo.add(TcpServer(picture.servers[number - 1], f"s{number}p{port}", [(ip4.server(number), port)],
                                       echo=True))
    parts = [wc.pool(f"p{port}", picture.members(port)) + wc.virtual(f"v{port}", ip4.virtual, port, f"p{port}")
             for port in (81, 82)]
    weir = picture.start_weir(*parts, workers=2)
    socks = {}
    for port in (81, 82):
        for _ in range(2):
            sock = picture.client.connect((ip4.virtual, port))
            socks[sock.recv(100).split()[0].decode()] = sock
    assert set(socks) == {"s1p81", "s1p82", "s2p81", "s2p82"}
    drain = begin(weir, node=ip4.server(1))
    found = wait_until(lambda: row(weir, drain)["connections"] and row(weir, drain), "it counts")
    assert found["connections"] == found["connections-first"] == 2
    assert {(part["pool"], part["connections"]) for part in found["members"]} == {("/Common/p81", 1), ("/Common/p82", 1)}
    socks["s1p81"].close()
    wait_until(lambda: row(weir, drain)["connections"] == 1, "one left")
    assert refused(drained, weir, drain, 0).code == 504
    socks["s1p82"].close()
    assert drained(weir, drain)["state"] == "drained"
    assert f"Node /Common/{ip4.server(1)} drained in" in weir.cp.text()
    assert len(weir.connections()) == 2, "the other server's are there"
    for sock in socks.values():
        sock.close()


def test_three_settings(topology, ip4):
    """iqiyi/dpvs#214, #931, #838: taking a server out cuts nothing; staying out for persistent clients too is
    another word; and ending connections is a third."""
    picture, weir = start(topology, ip4)
    one, two, three = (connected_to(picture, ip4, 1) for _ in range(3))
    target = {"pool": "web", "member": name(ip4, 1)}
    drain = begin(weir, **target)
    assert (weir.member("web", name(ip4, 1), "session"), weir.member("web", name(ip4, 1), "state")) == (
        "user-disabled", "user-up")
    assert [ask(sock) for sock in (one, two, three)] == ["s1"] * 3
    one.close()
    weir.ask("end-drain", drain=drain, enable=True)
    drain = begin(weir, **target, **{"force-offline": True})
    assert weir.member("web", name(ip4, 1), "state") == "user-down"
    assert [ask(sock) for sock in (two, three)] == ["s1"] * 2, "forced offline cuts nothing"
    two.close()
    wait_until(lambda: row(weir, drain)["connections"] == 1, "one is left")
    assert weir.ask("delete-connections", filter={"pool": "web", "member": name(ip4, 1)})[1]["count"] == 1
    assert drained(weir, drain)["state"] == "drained"
    with pytest.raises(ConnectionResetError):
        ask(three)
    assert set(http_burst(picture.client, ip4.virtual, 8).order) == {"s2"}


def test_members_of_one_address_are_not_confused(topology, ip):
    """Identity is address and port: F5Networks/f5-ansible#1668, #2082, #872."""
    picture = topology(servers=1)
    for port in (81, 82):
        picture.topo.add(TcpServer(picture.servers[0], f"p{port}", [(ip.server(1), port)]))
    weir = picture.start_weir(wc.pool("web", [(ip.server(1), 81), (ip.server(1), 82)])
                              + wc.virtual("web", ip.virtual, 80, "web"))

    def greeted():
        sock = picture.client.connect((ip.virtual, 80))
        return sock, sock.recv(100).split()[0].decode()

    socks = dict(reversed(greeted()) for _ in range(2))
    assert set(socks) == {"p81", "p82"}
    drain = begin(weir, pool="web", member=name(ip, 1, 81), **{"stuck-time": 1})
    assert drained(weir, drain)["stuck"] == 1
    with pytest.raises(ConnectionResetError):
        socks["p81"].recv(100)
    assert weir.member("web", name(ip, 1, 82), "serverside.curConns") == 1
    assert {greeted()[1] for _ in range(4)} == {"p82"}
    assert weir.member("web", name(ip, 1, 82), "session") == "user-enabled"
    assert weir.show("ltm node")[0]["session"] == "user-enabled"


def test_survives_both_daemons(topology, ip4):
    """weir-cp goes on with the same operation; a dataplane that came back has no connections, and it says so."""
    picture, weir = start(topology, ip4)
    sock = connected_to(picture, ip4, 1)
    drain = begin(weir, pool="web", member=name(ip4, 1), reason="patch")
    weir.kill_cp()
    assert ask(sock) == "s1"
    weir.start_cp()
    found = wait_until(lambda: row(weir, drain)["connections"] == 1 and row(weir, drain), "it counts again")
    assert (found["state"], found["reason"]) == ("draining", "patch")
    weir.kill_dp()
    wait_until(lambda: row(weir, drain)["connections"] is None, "not known")
    assert row(weir, drain)["state"] == "draining"
    weir.start_dp()
    found = drained(weir, drain)
    assert found["state"] == "drained" and "dataplane was restarted" in found["said"]
    assert set(http_burst(picture.client, ip4.virtual, 4).order) == {"s2"}
    sock.close()


def test_forecast_and_what_holds_it_up(topology, ip4):
    """Unknown while nothing leaves; falls as connections leave; the oldest are shown first."""
    picture, weir = start(topology, ip4, servers=1)
    first = connected_to(picture, ip4, 1)
    wait_until(lambda: weir.connections()[0]["age"] >= 1, "the first is older")
    socks = [sock for sock, _ in connect(picture, ip4, 24)]
    drain = begin(weir, pool="web", member=name(ip4, 1))
    found = wait_until(lambda: row(weir, drain)["connections"] == 25 and row(weir, drain), "it counts")
    assert found["forecast"] is None and found["flows-seen"] == 25 and found["flows-complete"]
    assert len(found["flows"]) == 10
    assert found["flows"][0]["cs-client-port"] == first.getsockname()[1]
    assert found["flows"][0]["bits-in"] > 0
    assert "unknown: nothing leaves" in weir.weirsh(f"show ltm drain {drain}")
    for sock in socks[:20]:
        sock.close()
        time.sleep(0.1)
    found = wait_until(lambda: row(weir, drain)["connections"] == 5 and row(weir, drain), "they are gone")
    assert 0 < found["forecast"] < 30 and found["forecast-basis"] == "as connections have been leaving"
    printed = weir.weirsh(f"show ltm drain {drain}")
    assert "Oldest connections that hold it up" in printed and "established" in printed
    for sock in [first, *socks[20:]]:
        sock.close()
    assert drained(weir, drain)["state"] == "drained"


def test_silent_connections_are_forecast_by_their_timeout(topology, ip4):
    """udp: silent ones leave when they time out; a drain waits for that, and knows when it will be."""
    picture = topology(servers=1)
    picture.topo.add(UdpEcho(picture.servers[0], "u1", [(ip4.server(1), 53)]))
    weir = picture.start_weir(wc.profile("udp", "long", idle_timeout=8) + wc.pool("dns", picture.members(53))
                              + wc.virtual("dns", ip4.virtual, 53, "dns", proto="udp", profiles=["long"]))
    assert udp_ask(picture.client, ip4.virtual, 53)[0] == "u1"
    drain = begin(weir, pool="dns", member=name(ip4, 1, 53))
    found = wait_until(lambda: row(weir, drain)["forecast"] is not None and row(weir, drain), "it is silent", 8)
    assert found["forecast"] <= 3 and found["forecast-basis"] == "when the last silent connection times out"
    assert drained(weir, drain)["state"] == "drained"
