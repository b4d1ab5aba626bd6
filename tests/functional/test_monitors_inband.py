# SPDX-License-Identifier: BSD-3-Clause
"""Servers that refuse or are silent before any data was sent: no request fails, somebody else is asked.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3 (nginx)

A request that was under way in the moment of the fault is lost: its bytes were sent already.
"""
import time

import pytest
from monitored import INTERVAL, SLACK, Lab, hurting, web

from topo import standard

UNDER_WAY = 0.05  # a request that began so long before the fault has been answered
RETRY = 3


@pytest.fixture(scope="module")
def lab():
    """Passive checks alone: nothing is sent to a server but what clients send."""
    with standard(servers=3) as topo:
        yield Lab(topo.picture, web(monitor="inband", patience=5.0, reselect_tries=2,
                                    check={"failures": 2, "failure_interval": 30, "retry_time": RETRY}))


@pytest.mark.parametrize("way", ["kill", "deaf", "unplug"])
def test_nobody_fails_and_the_server_is_out(lab, way):
    service = lab.services[0]
    with lab.asked():
        with hurting(lab, way) as begin:
            took, out = lab.until(1, ["down"], 5)[service]
            time.sleep(1)
        slow = [one for one in service.fresh.outcomes if out < one.start < out + 1 and one.end - one.start > 0.5]
        assert not slow, f"who comes later does not even wait: {slow[:3]}"
        assert not lost(service, begin)
        lab.until(1, ["up"], RETRY + SLACK)
        lab.wait_answered(service.fresh)
        assert not lost(service, begin)
        assert {one.server for one in service.kept.failures()} <= {"s1", None}
    print(f"{way}: out after {took:.2f} s")


def lost(service, begin):
    return service.fresh.failures(begin + UNDER_WAY)


@pytest.mark.parametrize("way", ["kill", pytest.param("deaf", marks=pytest.mark.long)])
def test_a_server_that_is_not_well_yet_is_out_again_unseen(lab, way):
    """After retry-time it gets connections again; if it still fails, others take them."""
    service = lab.services[0]
    with lab.asked():
        with hurting(lab, way) as begin:
            lab.until(1, ["down"], 5)
            lab.until(1, ["up"], RETRY + SLACK)
            lab.until(1, ["down"], 5)
            assert not lost(service, begin)
        lab.until(1, ["up"], RETRY + SLACK)


def test_with_an_active_monitor_beside(lab):
    """Both must say up: clients never wait for the retry, the monitor finds out when it is well again."""
    weir, service = lab.weir, lab.services[0]
    weir.edit("create", "ltm monitor tcp alive interval 1 timeout 4")
    weir.edit("modify", "ltm pool web monitor web-check and alive")
    lab.until(1, ["up"], 5)
    with lab.asked():
        with hurting(lab, "kill") as begin:
            took, _ = lab.until(1, ["down"], INTERVAL + SLACK)[service]
            time.sleep(RETRY + 1)
            assert service.member(weir, 1) == "down"
        lab.until(1, ["up"], 5)
        lab.wait_answered(service.fresh)
        assert not lost(service, begin)
    weir.edit("modify", "ltm pool web monitor web-check")
    weir.edit("delete", "ltm monitor tcp alive")
    print(f"kill, active and passive: out after {took:.2f} s")
