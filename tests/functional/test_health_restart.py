# SPDX-License-Identifier: BSD-3-Clause
"""Daemons die under traffic: no server flaps, one that is down stays down (docs/architecture.md, section 2).

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3 (nginx; s1 is sick)
"""
import threading
import time

import pytest

from topo import Load, exchanges, standard, wait_until
from topo import weirconf as wc
from topo.picture import server_address

VIRTUAL = "10.0.1.100"
HEALTH = {"interval": 1, "timeout": 4, "failures": 1, "send": r'"GET /health HTTP/1.0\r\n\r\n"', "recv": r'"\\nok"'}


def name(number):
    return wc.join(server_address(number), 80)


class Lab:
    def __init__(self, picture):
        self.picture = picture
        self.nginx = picture.start_nginx(access_log=True)
        self.weir = picture.start_weir(wc.monitor("http", "web", **HEALTH),
                                       wc.pool("web", picture.members(80), monitor="web"),
                                       wc.virtual("web", VIRTUAL, 80, "web"))
        self.nginx[0].sick()
        self.until(1, "down")
        self.until(2, "up")
        self.until(3, "up")

    def status(self, number):
        return self.weir.member("web", name(number), "monitorStatus")

    def until(self, number, status, seconds=8.0):
        wait_until(lambda: self.status(number) == status, f"s{number} is {status}", seconds)


@pytest.fixture(scope="module")
def lab():
    with standard(servers=3) as topo:
        yield Lab(topo.picture)


class Watch:
    """Clients, and everything that weir-cp shows of the servers meanwhile."""

    def __init__(self, lab):
        self.lab, self.seen, self.stopped = lab, {1: set(), 2: set(), 3: set()}, threading.Event()

    def __enter__(self):
        self.load = Load(self.lab.picture.client, exchanges.Http("/name"), (VIRTUAL, 80), clients=6, pause=0.02,
                         timeout=5.0)
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.stopped.wait(0.03):
            for number, seen in self.seen.items():
                try:
                    seen.add(self.lab.status(number))
                except OSError:
                    pass  # weir-cp is not there

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        self.load.stop()

    def check(self, begin):
        assert self.seen == {1: {"down"}, 2: {"up"}, 3: {"up"}}
        assert not self.load.failures(begin), self.load.failures(begin)[:3]
        assert set(self.load.answered(begin)) == {"s2", "s3"}


@pytest.mark.parametrize("who", [["cp"], ["mon"], ["cp", "mon"]], ids=" and ".join)
def test_kill_9_changes_no_server(lab, who):
    """haproxy/haproxy#918, #2085, #3298: what was down before is not up until it is checked."""
    weir = lab.weir
    daemons = [getattr(weir, name) for name in who]
    begin = time.monotonic()
    with Watch(lab) as watch:
        for daemon in daemons:
            daemon.kill()
        time.sleep(0.5)
        for daemon in daemons:
            daemon.start()
        weir.wait_ready()
        wait_until(weir._monitoring, "weir-mon is back", 10)
        back = time.time()
        wait_until(lambda: all(len(nginx.asked("/health", back)) >= 2 for nginx in lab.nginx), "all are probed", 6)
    watch.check(begin)


def test_weir_dp_comes_back_with_the_states(lab):
    """Its first connections go to servers that are up."""
    lab.weir.kill_dp()
    lab.weir.start_dp()
    begin = time.monotonic()
    with Watch(lab) as watch:
        time.sleep(1.5)
    watch.check(begin)


def test_states_are_frozen_while_nobody_probes(lab):
    weir = lab.weir
    weir.kill_mon()
    wait_until(lambda: weir.status()["monitoring"].startswith("stopped since"), "it is said", 5)
    assert "states are frozen" in weir.status()["monitoring"]
    assert "monitoring stopped" in weir.cp.text()
    lab.nginx[1].sick()
    lab.nginx[0].sick(False)
    weir.kill_cp()
    weir.start_cp()
    with Watch(lab) as watch:
        time.sleep(1)
    assert watch.seen == {1: {"down"}, 2: {"up"}, 3: {"up"}}
    weir.start_mon()
    lab.until(2, "down")
    lab.until(1, "up")
    lab.nginx[1].sick(False)
    lab.nginx[0].sick()
    lab.until(2, "up")
    lab.until(1, "down")


def test_an_object_that_took_anothers_place_has_no_verdict_of_it(lab):
    """The same name, another object: it starts as checking."""
    weir = lab.weir
    weir.kill_mon()
    for verb, text in (("modify", f"ltm pool web members delete {{ {name(2)} }}"),
                       ("modify", f"ltm pool web members add {{ {name(2)} }}")):
        weir.edit(verb, text)
    weir.kill_cp()
    weir.start_cp()
    assert lab.status(2) == "checking"
    weir.start_mon()
    lab.until(2, "up")
