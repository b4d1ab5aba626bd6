# SPDX-License-Identifier: BSD-3-Clause
"""Ten thousand virtual servers with a hundred thousand members, made by transactions and read page by page."""
import time

import pytest

from topo import standard
from topo.api import Api

pytestmark = pytest.mark.timeout(600)

SITES, EACH, MEMBERS = 10_000, 100, 10
PAGE = 1000


@pytest.fixture(scope="module")
def api():
    with standard(servers=1) as topo:
        yield topo.add(Api(topo.picture.start_weir("")))


def site(number):
    """Bodies of a pool and the virtual server before it."""
    members = [{"name": f"10.{64 + number // 4096}.{number // 16 % 256}.{number % 16 * 16 + host}:80"}
               for host in range(1, MEMBERS + 1)]
    return ({"name": f"p{number}", "members": members},
            {"name": f"v{number}", "destination": f"10.32.{number // 250}.{number % 250 + 1}:80", "pool": f"p{number}"})


def commit(api, first):
    """Seconds that the commit of sites first, ... took."""
    transaction = str(api.post("transaction", {})["transId"])
    for number in range(first, first + EACH):
        for kind, body in zip(("ltm/pool", "ltm/virtual"), site(number)):
            api.call("POST", kind, body, headers={"X-F5-REST-Coordination-Id": transaction})
    began = time.monotonic()
    assert api.patch(f"transaction/{transaction}", {"state": "VALIDATING"})["state"] == "COMPLETED"
    return time.monotonic() - began


def pages(api, path):
    """Names in the order in which pages give them."""
    names, reply = [], {}
    while not names or "nextLink" in reply:
        reply = api.get(path, **{"$top": PAGE, "$skip": len(names), "$select": "fullPath"})
        names += [item["fullPath"] for item in reply.get("items", [])]
    return names


def test_ten_thousand_virtual_servers(api):
    took = [commit(api, first) for first in range(0, SITES, EACH)]
    print(f"commits: median {sorted(took)[len(took) // 2]:.3f} s, longest {max(took):.3f} s")
    assert sorted(took)[len(took) * 9 // 10] < 1, took
    for path, count in (("ltm/virtual", SITES), ("ltm/pool", SITES), ("ltm/node", SITES * MEMBERS)):
        names = pages(api, path)
        assert len(names) == len(set(names)) == count, path
        assert names == pages(api, path), "the order stays"
    began = time.monotonic()
    api.patch("ltm/pool/~Common~p77/members/~Common~10.64.4.209:80", {"ratio": 7})
    assert time.monotonic() - began < 0.5
    [last] = [row for row in api.weir.show("sys history", limit=1)]
    assert last["live"]


def test_weir_cp_comes_back_soon(api):
    """Killed with all of these: the running store has them, and traffic's snapshot stays in force."""
    generation = api.weir.status()["generation"]
    api.weir.kill_cp()
    began = time.monotonic()
    api.weir.start_cp()
    took = time.monotonic() - began
    print(f"back after {took:.1f} s")
    assert api.weir.status()["generation"] == generation
    assert len(pages(api.log_in(), "ltm/virtual")) == SITES
    assert took < 15
