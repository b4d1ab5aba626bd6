# SPDX-License-Identifier: BSD-3-Clause
"""What is said through the management API, as the packets see it.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2, weir-mgmt beside weir-cp
"""
import time

import pytest

from topo import standard, wait_until
from topo import weirconf as wc
from topo.api import Api
from topo.exchanges import Http
from topo.load import Load

VIRTUAL = "10.0.1.100"
POOL = "ltm/pool/~Common~web"
EFFECT = 0.010  # s after the reply


@pytest.fixture(scope="module")
def api():
    with standard(servers=2) as topo:
        picture = topo.picture
        picture.start_nginx()
        weir = picture.start_weir(wc.pool("web", picture.members(80), "ratio-member") +
                                  wc.virtual("web", VIRTUAL, 80, "web"), workers=2)
        api = topo.add(Api(weir))
        api.client, api.servers = picture.client, picture.nginx
        yield api


@pytest.fixture
def load(api):
    """Clients that come anew for each request, and clients that stay."""
    client = api.client
    fresh = Load(client, Http("/name"), (VIRTUAL, 80), clients=6, pause=0.01)
    kept = Load(client, Http("/name"), (VIRTUAL, 80), clients=8, pause=0.05, keep=True)
    wait_until(lambda: len(fresh.answered()) == 2 and len(kept.answered()) == 2, "both servers are asked", 10)
    yield fresh, kept
    kept.stop()
    fresh.stop()


def member(number):
    return f"{POOL}/members/~Common~10.0.2.1{number}:80"


def commits(api):
    return [row["generation"] for row in api.weir.show("sys history") if not row["live"]]


def shares(fresh, since, count=300):
    """Who answered the first connections that began so long after."""
    wait_until(lambda: sum(fresh.answered(since).values()) >= count, f"{count} more answers", 20)
    return fresh.answered(since)


@pytest.mark.parametrize("setting", ["ratio", "session"])
def test_live_fields_are_in_force_with_the_reply(api, load, setting):
    """No commit, and nobody who is connected is moved."""
    fresh, kept = load
    said = {"ratio": ({"ratio": 1000}, {"ratio": 1}),
            "session": ({"session": "user-disabled"}, {"session": "user-enabled"})}[setting]
    changed, other = (2, 1) if setting == "ratio" else (1, 1)
    before = commits(api)
    api.patch(member(changed), said[0])
    since = time.monotonic() + EFFECT
    found = shares(fresh, since)
    assert found[f"s{other}"] <= (1 if setting == "ratio" else 0), found
    held = kept.answered(since)
    api.patch(member(changed), said[1])
    assert len(held) == 2, "who is connected stays"
    assert commits(api) == before
    assert not fresh.failures() and not kept.failures(), "nobody was moved or failed"


def test_cycle_driven_by_rest(api, load):
    """S0-02, S0-13 to S0-15: disable, wait for 0 connections by statistics, restart the server, enable."""
    fresh, kept = load
    kept.stop()  # they would hold the server for ever
    for number, nginx in enumerate(api.servers, 1):
        api.patch(member(number), {"session": "user-disabled"})
        wait_until(lambda: api.stats(member(number))["serverside.curConns"] == 0, "no connections", 20)
        total = api.stats(member(number))["serverside.totConns"]
        nginx.stop()
        assert set(shares(fresh, time.monotonic(), 50)) == {f"s{3 - number}"}
        nginx.start()
        assert api.stats(member(number))["serverside.totConns"] == total
        api.patch(member(number), {"session": "user-enabled"})
        wait_until(lambda: api.stats(member(number))["serverside.totConns"] > total, "it is used again", 20)
    assert not fresh.failures()
