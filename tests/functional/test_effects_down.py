# SPDX-License-Identifier: BSD-3-Clause
"""service-down-action: what becomes of the connections of a server that a monitor finds down.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import re
import select
import socket

import pytest

from topo import TcpServer, UdpEcho, http_burst, wait_until
from topo import weirconf as wc
from topo.clients import wrk_end, wrk_start
from topo.servers_program import deaf

REQUEST = b"GET /name HTTP/1.1\r\nHost: x\r\n\r\n"


def name(ip, number, port=80):
    return wc.join(ip.server(number), port)


def until(weir, member, status, pool="web"):
    wait_until(lambda: weir.member(pool, member, "monitorStatus") == status, f"{member} is {status}", 10)


def start(topology, ip, action):
    """Two nginx behind a pool with that action and a quick HTTP monitor."""
    picture = topology(servers=2)
    picture.start_nginx()
    weir = picture.start_weir(
        wc.monitor("http", "quick", interval=1, timeout=2, send='"GET /health HTTP/1.0\\r\\n\\r\\n"', recv="ok"),
        wc.pool("web", picture.members(80, ip.family), monitor="quick", service_down_action=action),
        wc.virtual("web", ip.virtual, 80, "web"), monitor=True, workers=2)
    for number in (1, 2):
        until(weir, name(ip, number), "up")
    return picture, weir


def connect(picture, ip, count=8):
    """Connections that stay: {server's name: its sockets}."""
    found = {}
    for _ in range(count):
        sock = picture.client.connect((ip.virtual, 80))
        found.setdefault(ask(sock), []).append(sock)
    assert {key: len(socks) for key, socks in found.items()} == {"s1": count // 2, "s2": count // 2}
    return found


def ask(sock):
    sock.sendall(REQUEST)
    return answer(sock)


def answer(sock):
    return sock.recv(4000).rsplit(b"\r\n\r\n", 1)[1].decode().strip()


def is_reset(sock, seconds=3.0):
    sock.settimeout(seconds)
    try:
        return sock.recv(100) is None
    except ConnectionResetError:
        return True


def of_server(weir, ip, number):
    return [row for row in weir.connections(ss_server_addr=ip.server(number)) if row["virtual"]]


def test_none_leaves_the_connections(topology, ip4):
    """They wait for the server as they would without Weir, and go on when it does."""
    picture, weir = start(topology, ip4, "none")
    held = connect(picture, ip4)
    picture.nginx[0].freeze()
    until(weir, name(ip4, 1), "down")
    for sock in held["s1"]:
        sock.sendall(REQUEST)
    assert not select.select(held["s1"], [], [], 0.3)[0], "neither answered nor reset"
    assert [ask(sock) for sock in held["s2"]] == ["s2"] * 4
    picture.nginx[0].thaw()
    assert [answer(sock) for sock in held["s1"]] == ["s1"] * 4


def test_reset_ends_the_connections_on_both_sides(topology, ip):
    picture, weir = start(topology, ip, "reset")
    held = connect(picture, ip)
    local = {f":{row['ss-client-port']}" for row in of_server(weir, ip, 1)}
    picture.nginx[0].freeze()
    assert all(is_reset(sock, 10) for sock in held["s1"]), "while the server hangs"
    assert not of_server(weir, ip, 1) and weir.member("web", name(ip, 1), "serverside.curConns") == 0
    assert f"{name(ip, 1)}: down: 4 connections reset" in weir.cp.text()
    ends = picture.servers[0].run(["ss", "-Htn", "state", "established", "sport = :80"]).stdout
    picture.nginx[0].thaw()
    assert len(local) == 4 and not any(f"{port} " in f"{ends} " for port in local)
    assert [ask(sock) for sock in held["s2"]] == ["s2"] * 4, "others' are untouched"


def test_frozen_server_under_load(topology, ip4):
    """Whoever waits for it is reset when it is found down, and asks again elsewhere; later no request fails."""
    picture, weir = start(topology, ip4, "reset")
    load = wrk_start(picture.client, ip4.virtual, seconds=5, connections=8)
    wait_until(lambda: weir.member("web", name(ip4, 1), "serverside.curConns") == 4, "it has its share", 5)
    picture.nginx[0].freeze()
    until(weir, name(ip4, 1), "down")
    later = http_burst(picture.client, ip4.virtual, 20)
    result = wrk_end(load)
    picture.nginx[0].thaw()
    assert not later.errors and later.counts == {"s2": 20}
    assert "timeout 0" in result.errors and "write 0" in result.errors, result.errors
    assert re.search(r"connect 0, read 4,", result.errors), f"the four that hung: {result.errors}"


def test_drop_silences_the_connections(topology, ip4):
    picture, weir = start(topology, ip4, "drop")
    held = connect(picture, ip4)
    picture.nginx[0].freeze()
    until(weir, name(ip4, 1), "down")
    wait_until(lambda: weir.member("web", name(ip4, 1), "serverside.curConns") == 0, "they count no more")
    picture.nginx[0].thaw()
    for sock in held["s1"]:
        sock.sendall(REQUEST)
    wait_until(lambda: weir.drops().get("member-down", 0) >= 4, "their packets are dropped")
    assert not select.select(held["s1"], [], [], 0.3)[0], "no answer and no reset"
    assert [ask(sock) for sock in held["s2"]] == ["s2"] * 4


def test_reselect_gives_datagrams_to_another_member(topology, ip4):
    """Down by the node's monitor: that reaches all its members."""
    picture = topology(servers=2)
    for number, server in enumerate(picture.servers, 1):
        picture.topo.add(UdpEcho(server, f"s{number}", [(ip4.server(number), 5000)]))
    weir = picture.start_weir(
        wc.monitor("icmp", "quick", interval=1, timeout=2),
        *(wc.node(ip4.server(number), ip4.server(number), monitor="quick") for number in (1, 2)),
        wc.pool("echo", picture.members(5000, ip4.family), service_down_action="reselect"),
        wc.virtual("echo", ip4.virtual, 5000, "echo", proto="udp"), monitor=True, workers=2)
    for number in (1, 2):
        wait_until(lambda: weir.show("ltm node", name=ip4.server(number))[0]["monitorStatus"] == "up", "up", 10)
    socks = [picture.client.socket(socket.AF_INET if ip4.family == 4 else socket.AF_INET6, socket.SOCK_DGRAM)
             for _ in range(8)]

    def speak(sock):
        sock.send(b"x")
        return sock.recv(100).split()[0].decode()

    for sock in socks:
        sock.settimeout(3)
        sock.connect((ip4.virtual, 5000))
    before = [speak(sock) for sock in socks]
    assert sorted(before) == ["s1"] * 4 + ["s2"] * 4 and before == [speak(sock) for sock in socks]
    ports = {row["ss-client-port"] for row in of_server(weir, ip4, 2)}
    deaf(picture.servers[0])
    until(weir, name(ip4, 1, 5000), "address-down", "echo")
    wait_until(lambda: not of_server(weir, ip4, 1), "it has no flow left")
    assert [speak(sock) for sock in socks] == ["s2"] * 8
    assert ports <= {row["ss-client-port"] for row in of_server(weir, ip4, 2)}, "s2's own have not moved"
    for sock in socks:
        sock.close()


def test_people_do_not_trigger_it(topology, ip4):
    """Disabled and forced offline: connections go on, whatever the action (reference/ltm.md, section 5): draining,
    taking out and what happens on a fault are three settings (iqiyi/dpvs#214, #931, #838)."""
    picture, weir = start(topology, ip4, "reset")
    held = connect(picture, ip4)
    for hold in ("session user-disabled", "session user-disabled state user-down"):
        weir.edit("modify", f"ltm pool web members modify {{ {name(ip4, 1)} {{ {hold} }} }}")
        weir.edit("modify", f"ltm node {ip4.server(1)} {hold}")
        assert [ask(sock) for sock in held["s1"]] == ["s1"] * 4


def test_restarted_control_plane_asks_again(topology, ip4):
    """As after a crash between verdict and action: whoever is down when the dataplane is connected gets his turn."""
    picture, weir = start(topology, ip4, "none")
    held = connect(picture, ip4)
    picture.nginx[0].freeze()
    until(weir, name(ip4, 1), "down")
    weir.edit("modify", "ltm pool web service-down-action reset")
    assert len(of_server(weir, ip4, 1)) == 4, "the action is for servers that go down"
    weir.kill_cp()
    weir.start_cp()
    assert all(is_reset(sock, 10) for sock in held["s1"])
    assert [ask(sock) for sock in held["s2"]] == ["s2"] * 4
    picture.nginx[0].thaw()


def test_fifty_servers_down_at_once(topology, ip4):
    """Each gets its walk; the other fifty servers' connections do not notice."""
    ports = range(9001, 9051)
    picture = topology(servers=2)
    for number, server in enumerate(picture.servers, 1):
        picture.topo.add(TcpServer(server, f"s{number}", [(ip4.server(number), port) for port in ports], echo=True, greet=False))
    weir = picture.start_weir(
        wc.monitor("tcp", "quick", interval=1, timeout=2),
        wc.pool("other", [(ip4.server(2), port) for port in ports], monitor="quick", service_down_action="reset"),
        wc.pool("sick", [(ip4.server(1), port) for port in ports], monitor="quick", service_down_action="reset"),
        wc.virtual("other", ip4.virtual, 80, "other"), wc.virtual("sick", ip4.virtual, 81, "sick"),
        monitor=True, workers=2)
    wait_until(lambda: all(row["monitorStatus"] == "up" for pool in ("other", "sick")
                           for row in weir.show("ltm pool members", owner=pool)), "all are up", 15)

    def connected(port):
        sock = picture.client.connect((ip4.virtual, port))
        speak(sock)
        return sock

    def speak(sock):
        sock.sendall(b"there?")
        assert sock.recv(100) == b"there?"

    sick, other = [connected(81) for _ in ports], [connected(80) for _ in ports]
    deaf(picture.servers[0])
    assert all(is_reset(sock, 15) for sock in sick)
    wait_until(lambda: all(row["monitorStatus"] == "down" for row in weir.show("ltm pool members", owner="sick")),
               "all fifty are down", 10)
    assert not of_server(weir, ip4, 1)
    for sock in other:
        speak(sock)
        sock.close()
