# SPDX-License-Identifier: BSD-3-Clause
"""Draining a server under real traffic (S0-02, S0-13 to S0-15, S0-19, S0-22; docs/operators-guide.md).

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import signal
import threading
import time

import pytest

from topo import TcpServer, http_burst, http_get, wait_until, wrk_end, wrk_start
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
    load = wrk_start(picture.client, ip4.virtual, seconds=8, connections=8, close=True)
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
    result = wrk_end(load)
    assert not result.errors and result.requests > 100
