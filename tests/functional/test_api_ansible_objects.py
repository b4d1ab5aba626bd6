# SPDX-License-Identifier: BSD-3-Clause
"""Ansible's modules for BIG-IP, one task for each: objects are made, left alone by a second run, and deleted
(monitors and profiles only with --long).

weir-cp and weir-mgmt without a dataplane: what the objects do is tested elsewhere.
"""
import subprocess

import pytest
from rest_alone import rest_alone

pytestmark = pytest.mark.timeout(600)  # a task of Ansible's takes a second, on a busy machine several


@pytest.fixture(scope="module")
def api():
    with rest_alone() as api:
        yield api


@pytest.fixture
def long(request):
    return request.config.getoption("--long")


def come(api, name, paths):
    """Made by the first run, left alone by the second; how many there were before."""
    before = {path: len(api.items(path)) for path in paths}
    assert api.play(name, state="present").idle == []
    assert all(len(api.items(path)) > before[path] for path in paths)
    generation = api.weir.status()["generation"]
    assert api.play(name, state="present").changed == []
    assert api.weir.status()["generation"] == generation
    return before


def go(api, name, before):
    """Deleted; nothing of it is left."""
    assert api.play(name, state="absent").idle == []
    assert {path: len(api.items(path)) for path in before} == before


def test_monitors(api, long):
    before = come(api, "monitors", ["ltm/monitor/snmp-dca", "ltm/monitor/external", "ltm/monitor/https"])
    external = api.get("ltm/monitor/external/site_external")
    assert external["apiRawValues"] == {"userDefined SITE": "one", "userDefined LEVEL": "2"}
    assert api.get("ltm/monitor/snmp-dca/site_snmp_dca")["memoryThreshold"] == "60.0"
    if long:  # modules of a family delete alike; site.yml's are deleted each time
        go(api, "monitors", before)


def test_profiles(api, long):
    before = come(api, "profiles", ["ltm/profile/tcp", "ltm/profile/client-ssl", "ltm/persistence/cookie"])
    assert api.get("ltm/profile/http/site_http")["fallbackHost"] == "www.example.net"
    if long:
        go(api, "profiles", before)


def test_objects(api):
    place = api.weir.run_dir
    (place / "page.txt").write_text("out of order\n")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=site", "-days", "30",
                    "-keyout", place / "site.key", "-out", place / "site.crt"], check=True, capture_output=True)
    before = come(api, "objects", [
        "auth/partition", "auth/user", "net/route", "ltm/snatpool", "ltm/data-group/internal",
        "ltm/data-group/external", "sys/file/data-group", "ltm/rule", "sys/file/ifile", "ltm/virtual-address",
        "sys/file/ssl-key", "sys/file/ssl-cert"])
    go(api, "objects", before)
