# SPDX-License-Identifier: BSD-3-Clause
"""Ansible's modules for BIG-IP, as Debian packs them, drive Weir: a site is built, changed and deleted.

The picture is topo.picture's; Weir starts without any configuration.
"""
import pytest

from topo import http_burst, standard, wait_until
from topo.api import Api


@pytest.fixture(scope="module")
def site():
    """Weir, weir-mgmt and two web servers."""
    with standard(servers=2) as topo:
        picture = topo.picture
        picture.start_nginx()
        weir = picture.start_weir(network="", monitor=True)
        picture.api = topo.add(Api(weir))
        yield picture


def facts_of(run):
    """What bigip_device_info found: {"ltm_pools": {"site": {...}}, ...}."""
    facts = run.result("Facts")
    return {kind: {row["name"]: row for row in rows} for kind, rows in facts.items()
            if isinstance(rows, list) and rows and "name" in rows[0]}


def test_build(site):
    run = site.api.play("site")
    assert run.idle == ["Facts"]
    assert "Save" in run.changed
    assert site.weir.status()["unsaved"] == 0
    facts = facts_of(run)
    assert {"site", "names"} <= facts["virtual_servers"].keys()
    assert facts["virtual_servers"]["site"]["default_pool"] == "/Common/site"
    assert facts["ltm_pools"]["site"]["lb_method"] == "ratio-member"
    assert {member["name"] for member in facts["ltm_pools"]["site"]["members"]} == {"web1:80", "10.0.2.12:80"}
    assert facts["vlans"]["inside"]["mtu"] == 1500
    assert facts["self_ips"]["outside"]["address"].startswith("10.0.1.1")
    assert facts["fastl4_profiles"]["site_fastl4"]["idle_timeout"] == 120


def test_serves(site):
    wait_until(lambda: site.api.stats("ltm/pool/~Common~site")["activeMemberCnt"] == 2, "both servers are up", 15)
    burst = http_burst(site.client, "10.0.1.100", 40)
    assert (burst.errors, burst.counts) == ([], {"s1": 30, "s2": 10})


def test_again(site):
    before = site.weir.status()["generation"]
    run = site.api.play("site")
    assert run.changed == []
    assert site.weir.status()["generation"] == before


def test_change(site):
    assert site.api.play("change").idle == []
    member = site.api.get("ltm/pool/~Common~site/members/~Common~web1:80")
    assert (member["session"], member["state"]) == ("user-disabled", "user-down")
    assert site.api.get("ltm/pool/~Common~site/members/~Common~10.0.2.12:80")["ratio"] == 7
    assert site.api.get("ltm/pool/~Common~site")["monitor"] == "min 1 of { /Common/site_http /Common/site_tcp }"
    assert "disabled" in site.api.get("ltm/virtual/~Common~names")
    wait_until(lambda: site.api.stats("ltm/pool/~Common~site")["activeMemberCnt"] == 1, "one server is up", 15)
    burst = http_burst(site.client, "10.0.1.100", 10, port=8080)
    assert (burst.errors, burst.counts) == ([], {"s2": 10})


def test_change_again(site):
    assert site.api.play("change").changed == []


def test_delete(site):
    assert site.api.play("delete").idle == []
    for path in ("ltm/virtual", "ltm/pool", "ltm/node", "net/vlan", "net/self", "ltm/snatpool", "ltm/rule"):
        assert [row["name"] for row in site.api.items(path) if row["name"].startswith(("site", "web", "names"))] == []
