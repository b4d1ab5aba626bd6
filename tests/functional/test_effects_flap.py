# SPDX-License-Identifier: BSD-3-Clause
"""Servers that go and come by the word of a monitor: what the others see of it, shares, priority groups.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3
"""
import time

import pytest

from topo import http_burst, wait_until
from topo import weirconf as wc
from topo.clients import wrk_end, wrk_start

REQUEST = b"GET /name HTTP/1.1\r\nHost: x\r\n\r\n"


def name(ip, number, port=80):
    return wc.join(ip.server(number), port)


def start(topology, ip, members=None, mode="round-robin", **pool):
    picture = topology(servers=3)
    picture.start_nginx()
    weir = picture.start_weir(
        wc.monitor("http", "quick", interval=1, timeout=1, send='"GET /health HTTP/1.0\\r\\n\\r\\n"', recv='"\\\\nok"'),
        wc.pool("web", members or picture.members(80, ip.family), mode, monitor="quick", **pool),
        wc.virtual("web", ip.virtual, 80, "web"), monitor=True, workers=2)
    for number in (1, 2, 3):
        until(weir, ip, number, "up")
    return picture, weir


def until(weir, ip, number, status):
    wait_until(lambda: weir.member("web", name(ip, number), "monitorStatus") == status, f"s{number} is {status}", 10)


def ask(sock):
    sock.sendall(REQUEST)
    return sock.recv(4000).rsplit(b"\r\n\r\n", 1)[1].decode().strip()


@pytest.mark.parametrize("seconds", [6, pytest.param(60, marks=pytest.mark.long)])
def test_flapping_server_disturbs_nobody(topology, ip4, seconds):
    """Down and up again and again under load, with its own connections reset each time: no request to the others
    fails, none of their connections moves or ends. Removal resets flows: cilium/cilium#14844; persistence leads to
    a server that goes: #27096; readiness that flaps breaks what stands: #20407, #42170."""
    picture, weir = start(topology, ip4, service_down_action="reset")
    held = [picture.client.connect((ip4.virtual, 80)) for _ in range(30)]
    home = [ask(sock) for sock in held]
    others = [(sock, server) for sock, server in zip(held, home) if server != "s1"]
    assert len(others) == 20

    def flows():
        rows = [row for row in weir.connections(cs_client_addr=ip4.client) if row["member"]]
        return {(row["cs-client-port"], row["ss-server-addr"], row["ss-client-port"]) for row in rows
                if row["cs-client-port"] in mine}

    mine = {sock.getsockname()[1] for sock, _ in others}
    before, changes, end = flows(), 0, time.monotonic() + seconds
    load = wrk_start(picture.client, ip4.virtual, seconds=seconds, connections=6, close=True)
    while time.monotonic() < end:
        picture.nginx[0].sick(changes % 2 == 0)
        until(weir, ip4, 1, ("down", "up")[changes % 2])
        changes += 1
        assert [ask(sock) for sock, _ in others] == [server for _, server in others]
    result = wrk_end(load)
    assert changes >= seconds / 3 and flows() == before and len(before) == 20
    refused = sum(int(word.rstrip(",")) for word in result.errors.split() if word.rstrip(",").isdigit())
    assert refused <= 6 * (changes + 1) // 2, f"only what s1 had in hand when it was reset: {result.errors}"
    assert weir.counter("resets-sent") <= 2 * (10 + 6 * changes), "to s1 and its clients alone"


def test_flapping_server_fails_no_request(topology, ip4):
    """With service-down-action none, and answering all the time but to its monitor: no request fails at all."""
    picture, weir = start(topology, ip4)
    load = wrk_start(picture.client, ip4.virtual, seconds=4, connections=6, close=True)
    changes, end = 0, time.monotonic() + 4
    while time.monotonic() < end:
        picture.nginx[0].sick(changes % 2 == 0)
        until(weir, ip4, 1, ("down", "up")[changes % 2])
        changes += 1
    result = wrk_end(load)
    assert result.errors == "" and result.requests > 100 and changes >= 2


def test_server_that_came_up_ramps(topology, ip4):
    """slow-ramp-time from the verdict on: a small share first, its whole share at the end."""
    picture, weir = start(topology, ip4, slow_ramp_time=4)
    picture.nginx[0].sick()
    until(weir, ip4, 1, "down")
    wait_until(lambda: http_burst(picture.client, ip4.virtual, 30).counts["s2"] == 15, "the others' ramps are over", 10)
    assert http_burst(picture.client, ip4.virtual, 30).counts == {"s2": 15, "s3": 15}
    picture.nginx[0].sick(False)
    until(weir, ip4, 1, "up")
    first = http_burst(picture.client, ip4.virtual, 60).counts
    assert first["s1"] < 12 and first["s2"] + first["s3"] > 48
    wait_until(lambda: http_burst(picture.client, ip4.virtual, 30).counts["s1"] == 10, "its share is whole", 10)


def test_ratio_is_that_of_who_is_up(topology, ip4):
    picture, weir = start(topology, ip4, {(ip4.server(n), 80): {"ratio": r} for n, r in ((1, 5), (2, 3), (3, 1))},
                          "ratio-member")
    assert http_burst(picture.client, ip4.virtual, 90).counts == {"s1": 50, "s2": 30, "s3": 10}
    picture.nginx[0].sick()
    until(weir, ip4, 1, "down")
    assert http_burst(picture.client, ip4.virtual, 40).counts == {"s2": 30, "s3": 10}
    picture.nginx[0].sick(False)
    until(weir, ip4, 1, "up")
    assert http_burst(picture.client, ip4.virtual, 90).counts == {"s1": 50, "s2": 30, "s3": 10}


def test_lower_priority_group_joins_and_leaves(topology, ip4):
    """min-active-members 2: s3 takes part while s1 or s2 is down; its connections then end by themselves."""
    picture, weir = start(topology, ip4, {(ip4.server(n), 80): {"priority_group": 10 if n < 3 else 5} for n in (1, 2, 3)},
                          min_active_members=2)
    assert set(http_burst(picture.client, ip4.virtual, 10).order) == {"s1", "s2"}
    picture.nginx[0].sick()
    until(weir, ip4, 1, "down")
    assert set(http_burst(picture.client, ip4.virtual, 10).order) == {"s2", "s3"}
    held = [picture.client.connect((ip4.virtual, 80)) for _ in range(4)]
    home = [ask(sock) for sock in held]
    assert "s3" in home
    picture.nginx[0].sick(False)
    until(weir, ip4, 1, "up")
    assert set(http_burst(picture.client, ip4.virtual, 10).order) == {"s1", "s2"}
    assert [ask(sock) for sock in held] == home, "no connection moves back"


def test_all_down(topology, ip4):
    """No server left: new connections are refused at once, never sent to one that is known to be down
    (github/glb-director#77: with primary and secondary down, requests still went to a dead one)."""
    picture, weir = start(topology, ip4)
    held = [picture.client.connect((ip4.virtual, 80)) for _ in range(3)]
    home = [ask(sock) for sock in held]
    for nginx in picture.nginx:
        nginx.sick()
    for number in (1, 2, 3):
        until(weir, ip4, number, "down")
    before = sum(weir.member("web", name(ip4, number), "serverside.totConns") for number in (1, 2, 3))
    burst = http_burst(picture.client, ip4.virtual, 10)
    assert not burst.order and all("ConnectionRefusedError" in error for error in burst.errors)
    assert sum(weir.member("web", name(ip4, number), "serverside.totConns") for number in (1, 2, 3)) == before
    assert weir.drops()["no-member-available"] >= 10
    assert weir.show("ltm virtual", name="web")[0]["refused"] >= 10
    assert [ask(sock) for sock in held] == home, "connections of before go on"
    picture.nginx[1].sick(False)
    until(weir, ip4, 2, "up")
    assert http_burst(picture.client, ip4.virtual, 5).counts == {"s2": 5}
