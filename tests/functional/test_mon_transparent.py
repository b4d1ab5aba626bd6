# SPDX-License-Identifier: BSD-3-Clause
"""Transparent monitors: two providers' routers whose far side may die while they themselves are well.

                                          +-- s1 --- (10.8.1.0/24) ---+
    weir-mon, weir-cp | weir-dp 1.2 -- lan                             far  203.0.113.1
                                          +-- s2 --- (10.8.2.0/24) ---+
"""
import pytest

from topo import standard, wait_until
from topo import weirconf as wc
from topo.picture import server_address
from topo.servers import TcpServer

FAR = "203.0.113.1"
FAST = {"interval": 1, "timeout": 3}


def provider(topo, router, number, far):
    """Forwards for Weir, with an address of its own network."""
    topo.veth(router, "out", far, f"in{number}")
    router.address("out", f"10.8.{number}.1/24")
    far.address(f"in{number}", f"10.8.{number}.2/24")
    router.route(f"{FAR}/32", via=f"10.8.{number}.2")
    router.sysctl("net.ipv4.ip_forward", 1)
    router.run(["nft", "add table ip t; add chain ip t c { type nat hook postrouting priority 100; "
                "oifname out masquerade; }"])


def monitors():
    return (wc.monitor("gateway-icmp", "way", transparent="enabled", destination=f"{FAR}:*", **FAST)
            + wc.monitor("tcp", "web", transparent="enabled", destination=f"{FAR}:80", **FAST)
            + wc.monitor("gateway-icmp", "near", **FAST))


@pytest.fixture
def lab():
    with standard(servers=2) as topo:
        picture = topo.picture
        far = topo.namespace("far")
        for number, router in enumerate(picture.servers, 1):
            provider(topo, router, number, far)
        far.address("lo", f"{FAR}/32")
        topo.add(TcpServer(far, "far", [(FAR, 80)], greet=False))
        members = [(server_address(number), 0) for number in (1, 2)]
        picture.far = far
        picture.start_weir(monitors(), *(wc.pool(f"p-{name}", members, monitor=name)
                                         for name in ("way", "web", "near")))
        yield picture


def state(picture, pool, number):
    return picture.weir.member(pool, f"{server_address(number)}:0", "monitorStatus")


def wait_for(picture, **states):
    """way="up down": of the two routers."""
    for name, both in states.items():
        for number, wanted in enumerate(both.split(), 1):
            wait_until(lambda: state(picture, f"p-{name}", number) == wanted, f"{name} {number} is {wanted}", 10)  # noqa: B023


def test_router_with_a_dead_far_side_is_down(lab):
    wait_for(lab, way="up up", web="up up", near="up up")
    # Each is asked through its router and no other: Weir's own routes lead to neither.
    lab.far.ip("link", "set", "in1", "down")
    wait_for(lab, way="down up", web="down up", near="up up")
    lab.far.ip("link", "set", "in1", "up")
    lab.far.ip("link", "set", "in2", "down")
    lab.servers[0].route(f"{FAR}/32", via="10.8.1.2")
    wait_for(lab, way="up down", web="up down", near="up up")


def test_ways_come_and_go_with_their_monitors(lab):
    def rules():
        return lab.lb.run(["ip", "rule", "show", "pref", "100"]).stdout.count("fwmark")
    wait_for(lab, way="up up", web="up up")
    assert rules() == 2
    lab.weir.cp.kill()
    assert rules() == 2, "probes go on through them"
    lab.weir.start_cp()
    wait_for(lab, way="up up", web="up up")
    assert rules() == 2
    lab.weir.edit("modify", "ltm pool p-way monitor none")
    assert rules() == 2, "the other monitor needs them"
    lab.weir.edit("modify", "ltm pool p-web monitor near")
    assert rules() == 0
    lab.weir.edit("modify", "ltm monitor gateway-icmp near transparent enabled destination 203.0.113.1:*")
    wait_for(lab, near="up up")
    assert rules() == 2
