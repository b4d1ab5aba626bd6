# SPDX-License-Identifier: BSD-3-Clause
"""Monitors drive the states of servers, end to end, with traffic and restarts (docs/architecture.md, section 2).

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3
"""
import os
import signal
import threading
import time

import pytest

from topo import Nginx, http_burst, http_get, wait_until
from topo import weirconf as wc
from topo.picture import server_address

FAST = {"interval": 1, "timeout": 4}
HEALTH = {**FAST, "send": '"GET /health HTTP/1.0\\r\\n\\r\\n"', "recv": '"\\\\nok"'}


def name(number, port=80):
    return wc.join(server_address(number), port)


def start(topology, *parts, servers=3, pool=None, monitors=None, **options):
    """Three nginx behind 10.0.1.100 with an HTTP monitor "web", all up; parts: more of weir.conf."""
    picture = topology(servers=servers)
    picture.start_nginx()
    picture.start_weir(monitors or wc.monitor("http", "web", **HEALTH),
                       wc.pool("web", picture.members(80), **{"monitor": "web", **(pool or {})}),
                       wc.virtual("web", "10.0.1.100", 80, "web"), *parts, monitor=True, **options)
    return picture, picture.weir


def until(weir, number, status, seconds=8.0, what="monitorStatus", pool="web"):
    begin = time.monotonic()
    wait_until(lambda: weir.member(pool, name(number), what) == status,
               f"s{number} is {status}, not {weir.member(pool, name(number), what)}", seconds)
    return time.monotonic() - begin


def all_up(weir, servers=3):
    for number in range(1, servers + 1):
        until(weir, number, "up")


def test_sick_member_goes_out_and_returns(topology):
    picture, weir = start(topology)
    all_up(weir)
    assert http_burst(picture.client, "10.0.1.100", 9).counts == {"s1": 3, "s2": 3, "s3": 3}
    picture.nginx[0].sick()
    assert until(weir, 1, "down") < 5.5
    burst = http_burst(picture.client, "10.0.1.100", 10)
    assert not burst.errors and set(burst.order) == {"s2", "s3"}
    assert "Pool /Common/web member /Common/10.0.2.11:80 monitor status down. [ /Common/web: down" in weir.cp.text()
    picture.nginx[0].sick(False)
    until(weir, 1, "up")
    assert set(http_burst(picture.client, "10.0.1.100", 9).order) == {"s1", "s2", "s3"}
    assert "member /Common/10.0.2.11:80 monitor status up. [ /Common/web: up ]  [ was down for 0hr:0min:" in weir.cp.text()
