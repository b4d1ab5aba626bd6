# SPDX-License-Identifier: BSD-3-Clause
"""The real servers of the monitors' tests and the clients that count, without Weir between them.

    s1 (the servers) --- switch --- s2 (their clients)
"""
import concurrent.futures
import contextlib
import socket

import pytest

from topo import Load, Nginx, exchanges, standard, wait_until
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


@pytest.fixture(scope="module")
def lab():
    """The picture, and servers: one of each kind, started side by side."""
    with standard(servers=2) as topo:
        picture = topo.picture
        with concurrent.futures.ThreadPoolExecutor(len(KINDS)) as pool:
            started = {kind: pool.submit(make, picture.servers[0], topo.dir) for kind, (make, _) in KINDS.items()}
        picture.kinds = {kind: topo.add(server.result()) for kind, server in started.items()}
        yield picture


@contextlib.contextmanager
def asked(lab, kind, keep):
    load = Load(lab.servers[1], KINDS[kind][1], lab.kinds[kind].address, clients=4, timeout=0.5, keep=keep)
    try:
        answering(load)
        assert not load.failures()
        yield load
    finally:
        load.stop()


def failing(load, what):
    """Waits for failed requests; all of the errors since then."""
    before = len(load.failures())
    wait_until(lambda: len(load.failures()) >= before + 4, what)
    return {one.error for one in load.failures()[before:]}


def answering(load):
    before = len(load.outcomes)
    wait_until(lambda: len(load.outcomes) >= before + 20 and not any(one.error for one in load.outcomes[-8:]), "answers")


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_goes_down_and_comes_back(lab, kind):
    server = lab.kinds[kind]
    with asked(lab, kind, False) as fresh, asked(lab, kind, True) as kept:
        server.freeze()
        assert failing(fresh, "a frozen server answers nothing") == {"no answer"}
        failing(kept, "on standing connections neither")
        server.thaw()
        answering(fresh)
        answering(kept)

        pids = descendants(server.process.pid)
        server.kill()
        # Kernels send few "port unreachable" a second: some datagrams are just lost.
        known = ("Refused", "Reset", "closed") + (("no answer",) if KINDS[kind][1].kind == socket.SOCK_DGRAM else ())
        assert all(any(word in error for word in known) for error in failing(fresh, "it refuses"))
        wait_until(lambda: not any(running(pid) for pid in pids), "nothing of it runs on")
        server.start()
        answering(fresh)
        answering(kept)
        assert {one.server for one in kept.outcomes} <= {"s1", None}


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_server_that_hears_nothing(lab):
    with asked(lab, "redis", False) as fresh:
        lab.kinds["redis"].deaf()
        assert failing(fresh, "no answer") == {"no answer"}
        lab.kinds["redis"].deaf(False)
        answering(fresh)


@pytest.mark.parametrize("kind", ["nginx", "tomcat"])
def test_a_health_page_that_says_otherwise(lab, kind):
    with asked(lab, kind, False) as load:
        for way, said in (("sick", "503"), ("wrong", "out of")):
            getattr(lab.kinds[kind], way)()
            assert any(said in error for error in failing(load, said))
            getattr(lab.kinds[kind], way)(False)
            answering(load)
