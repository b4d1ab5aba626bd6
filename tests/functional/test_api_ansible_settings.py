# SPDX-License-Identifier: BSD-3-Clause
"""Ansible's modules for BIG-IP: settings of the appliance, and what Weir has not, which fails with the reason."""
import pathlib
import re

import pytest
from rest_alone import rest_alone
from topo.api import PLAYBOOKS

pytestmark = pytest.mark.timeout(600)

MODULES = pathlib.Path("/usr/lib/python3/dist-packages/ansible_collections/f5networks/f5_modules/plugins/modules")
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "ansible.md"
IDLE = ["Module", "Traffic", "Packages", "Wait"]  # tasks that only look, or set what is so

REASONS = {
    "Module": "other modules cannot be provisioned",
    "Management route": "the management network",
    "Alias": "weirsh has no aliases",
    "Script": "Tcl",
    "Software": "the machine's own packages",
    "Daemon log": "LTM's daemons are not there",
    "Remote role": "users of other servers",
    "Remote user": "users of other servers",
    "LDAP": "users of other servers",
    "Device group": "an appliance stands alone",
    "Device group member": "an appliance stands alone",
    "Config sync": "device_group",
    "Traffic group": "an appliance stands alone",
    "HA group": "an appliance stands alone",
    "Route domain": "only route domain 0 exists",
    "Trunk": "trunks are not carried out yet",
    "Tunnel": "tunnels are not carried out yet",
    "Timer policy": "timer policies are not carried out yet",
    "Service policy": "service policies are not carried out yet",
    "Spanning tree": "there is no spanning tree",
    "Resolver": "the name servers of sys dns",
    "Zone": "Weir has no name server",
    "IPsec": "IPsec is not supported",
    "Guest": "Weir runs no guests",
    "Log destination": "log publishers are not carried out yet",
    "Log publisher": "log publishers are not carried out yet",
    "Message route": "message routing",
    "NAT pool": "large-scale NAT",
    "Oracle": "no monitor of this type",
    "OCSP": "OCSP",
    "Package": "are not supported",
    "Firewall": "the firewall",
    "Address list": "the firewall",
    "Global DNS": "Weir has no name server",
    "Access": "must be provisioned",
}


@pytest.fixture(scope="module")
def api():
    with rest_alone() as api:
        yield api


def test_settings(api):
    assert api.play("settings").idle == IDLE
    assert api.get("cm/device/weir")["hostname"] == "lb1.example.net"
    assert api.get("net/self/inner")["allowService"] == ["default"]
    assert api.get("sys/db/arp.timeout")["value"] == "200"
    generation = api.weir.status()["generation"]
    again = api.play("settings")
    assert again.changed == []
    assert api.weir.status()["generation"] == generation
    facts = again.result("Packages")
    assert facts["iapplx_packages"] == []
    assert [row["name"] for row in facts["devices"]] == ["weir"]
    assert {row["name"]: row["level"] for row in facts["provision_info"]}["asm"] == "none"


def test_refused(api):
    (api.weir.run_dir / "page.rpm").write_text("no package\n")
    generation = api.weir.status()["generation"]
    run = api.ansible("refused")
    said = {failed.partition(":")[0]: failed.partition(":")[2] for failed in run.failed}
    assert said.keys() == REASONS.keys()
    assert {name: why for name, why in REASONS.items() if why not in said[name].replace("\\'", "'")} == {}
    assert api.weir.status()["generation"] == generation


def modules_in(text):
    return set(re.findall(r"`(big\w+)`", text))


def test_every_module_is_on_the_page():
    """docs/ansible.md says of each module what it does with Weir; a playbook plays each that it says works."""
    modules = {path.stem for path in MODULES.glob("big*.py")}
    work, _, refused = PAGE.read_text().partition("## Not supported")
    assert modules_in(work) | modules_in(refused) == modules
    assert modules_in(work) & modules_in(refused) == set()
    played = {name for path in PLAYBOOKS.glob("*.yml") if path.stem != "refused"
              for name in re.findall(r"f5_modules\.(big\w+):", path.read_text())}
    assert played == modules_in(work)
