# SPDX-License-Identifier: BSD-3-Clause
"""The real servers of the monitors' tests and the clients that count, without Weir between them.

    s1 (the server) --- switch --- s2 (its clients)
"""
import socket

import pytest

from topo import exchanges, wait_until
from topo.load import Load
from topo.servers import Nginx
from topo.servers_db import PostgreSql, Redis
from topo.servers_java import Tomcat
from topo.servers_names import Dnsmasq, Slapd
from topo.servers_program import descendants

HOST = "10.0.2.11"
KINDS = {"nginx": (lambda ns, place: Nginx(ns, "s1", [f"{HOST}:80"], place), exchanges.Http("/health", b"ok")),
         "tomcat": (lambda ns, place: Tomcat(ns, "s1", (HOST, 8080), place), exchanges.Http("/health.jsp", b"ok")),
         "postgresql": (lambda ns, place: PostgreSql(ns, "s1", (HOST, 5432), place), exchanges.PostgreSql()),
         "redis": (lambda ns, place: Redis(ns, "s1", (HOST, 6379), place), exchanges.Redis()),
         "dnsmasq": (lambda ns, place: Dnsmasq(ns, "s1", (HOST, 53), place), exchanges.Dns()),
         "slapd": (lambda ns, place: Slapd(ns, "s1", (HOST, 3890), place), exchanges.Ldap())}


@pytest.fixture
def lab(topology):
    return topology(servers=2)


def failing(load, what):
    """Waits for failed requests; all of the errors since then."""
    before = len(load.failures())
    wait_until(lambda: len(load.failures()) >= before + 4, what)
    return {one.error for one in load.failures()[before:]}


def answering(load):
    before = len(load.outcomes)
    wait_until(lambda: len(load.outcomes) >= before + 20 and not any(one.error for one in load.outcomes[-8:]), "answers again")


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_goes_down_in_every_way_and_comes_back(lab, kind):
    make, exchange = KINDS[kind]
    server = lab.topo.add(make(lab.servers[0], lab.topo.dir))
    fresh, kept = (lab.topo.add(Load(lab.servers[1], exchange, server.address, clients=4, timeout=0.5, keep=keep))
                   for keep in (False, True))
    wait_until(lambda: fresh.answered()["s1"] > 20 and kept.answered()["s1"] > 20, "both are answered")
    assert not fresh.failures() and not kept.failures()

    server.freeze()
    assert failing(fresh, "a frozen server answers nothing") == {"no answer"}
    failing(kept, "on standing connections neither")
    server.thaw()
    server.deaf()
    assert failing(fresh, "nor does one that hears nothing") <= {"no answer"}
    server.deaf(False)
    answering(fresh)
    answering(kept)

    pids = descendants(server.process.pid)
    server.kill()
    # Kernels send few "port unreachable" a second: some datagrams are just lost.
    known = ("Refused", "Reset", "closed") + (("no answer",) if exchange.kind == socket.SOCK_DGRAM else ())
    assert all(any(word in error for word in known) for error in failing(fresh, "it refuses"))
    wait_until(lambda: not any(running(pid) for pid in pids), "nothing of it runs on")
    server.start()
    answering(fresh)
    answering(kept)
    assert not [one for one in kept.failures() if "moved" in one.error]


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("kind", ["nginx", "tomcat"])
@pytest.mark.parametrize("way, said", [("sick", "503"), ("wrong", "out of")])
def test_a_health_page_that_says_otherwise(lab, kind, way, said):
    make, exchange = KINDS[kind]
    server = lab.topo.add(make(lab.servers[0], lab.topo.dir))
    load = lab.topo.add(Load(lab.servers[1], exchange, server.address, clients=2))
    answering(load)
    getattr(server, way)()
    assert any(said in error for error in failing(load, said))
    getattr(server, way)(False)
    answering(load)
