# SPDX-License-Identifier: BSD-3-Clause
"""Cables that are pulled and put back while Weir runs.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
from topo import http_get, wait_until
from topo import weirconf as wc


def links(weir):
    return {row["name"]: row["up"] for row in weir.show("net interface")}


def answers(picture, address):
    try:
        return http_get(picture.client, address, timeout=1).status == 200
    except OSError:
        return False


def test_pulled_cable_is_shown_and_traffic_comes_back(topology, driver, ip4):
    picture = topology(servers=2)
    picture.start_nginx()
    weir = picture.start_weir(wc.pool("web", picture.members(80)) + wc.virtual("web", ip4.virtual, 80, "web"),
                              driver=driver)
    assert links(weir) == {"1.1": True, "1.2": True}
    for namespace, interface in ((picture.lb, "p2"), (picture.lan, "uplink")):
        namespace.ip("link", "set", interface, "down")
        wait_until(lambda: links(weir) == {"1.1": True, "1.2": False}, "the port is shown without link", 5)
        namespace.ip("link", "set", interface, "up")
        wait_until(lambda: links(weir) == {"1.1": True, "1.2": True}, "it is back", 5)
        wait_until(lambda: answers(picture, ip4.virtual), "traffic is back", 10)
