# SPDX-License-Identifier: BSD-3-Clause
"""Web servers that go down and come back, with two workers: a cable, wrk, and the slow ramp.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3 (nginx)
"""
import time

import pytest
from monitored import SETTLED, SLACK, WAYS, Lab, fall_and_return, hurting, web

from topo import standard, wait_until, wrk_end, wrk_start
from topo.picture import VIRTUAL

RAMP = 3


@pytest.fixture(scope="module")
def lab():
    with standard(servers=3) as topo:
        yield Lab(topo.picture, web("/health", b"ok"), workers=2)


def test_a_cable_is_pulled(lab):
    fall_and_return(lab, "unplug", {"web": WAYS["unplug"]})


def test_under_wrk(lab):
    """wrk's clients of a server that is killed lose what was under way there; then none loses anything."""
    begin = time.time()
    during = wrk_start(lab.picture.client, VIRTUAL[4], seconds=2, connections=6, close=True)
    wait_until(lambda: lab.services[0].servers[0].asked("/", begin), "wrk asks the server")
    with hurting(lab, "kill"):
        lab.until(1, ["down"], WAYS["kill"] + SLACK)
        time.sleep(SETTLED)
        after = wrk_start(lab.picture.client, VIRTUAL[4], seconds=2, connections=6, close=True)
        lost, clean = wrk_end(during), wrk_end(after)
    assert clean.requests > 100 and clean.errors == "", clean
    assert lost.requests > 100
    print("wrk while it is killed:", lost)


def test_a_server_returns_gently(lab):
    """Of new connections it gets less at first than later: slow-ramp-time."""
    service, fair = lab.services[0], 1 / 3
    with lab.asked():
        lab.weir.edit("modify", f"ltm pool web slow-ramp-time {RAMP}")
        with hurting(lab, "sick"):
            lab.until(1, ["down"], WAYS["sick"] + SLACK)
        _, up = lab.until(1, ["up"], 10)[service]
        time.sleep(RAMP + 2.5)
        first, last = service.fresh.answered(up, up + RAMP / 2), service.fresh.answered(up + RAMP + 1)
    assert 0 < share(first) < 0.6 * fair, first
    assert 0.85 * fair < share(last) < 1.15 * fair, last
    lab.weir.edit("modify", "ltm pool web slow-ramp-time 0")


def share(answers):
    return answers["s1"] / sum(answers.values())
