# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's taps, addresses and routes that weir-cp makes, seen with ip(8)."""
import json

from cp_alone import CONF, cp  # noqa: F401  (cp is a fixture)

from topo import weirconf as wc

MORE = CONF + wc.self_ip("e6", "fd00:1::1/64", "external") + wc.route("d", "default", "10.0.1.254") \
    + wc.route("d6", "default-inet6", "fd00:1::fe") + wc.route("n", "192.0.2.0/24", "10.0.2.99")


def links(cp):
    rows = json.loads(cp.ns.ip("-d", "-j", "link"))
    return {row["ifname"]: row for row in rows if row["ifname"] != "lo"}


def addresses(cp, interface):
    rows = json.loads(cp.ns.ip("-j", "addr", "show", "dev", interface))
    return {f"{a['local']}/{a['prefixlen']}" for row in rows for a in row.get("addr_info", [])}


def routes(cp):
    def dump(*family):
        return json.loads(cp.ns.ip("-j", *family, "route", "show", "proto", "87") or "[]")
    return {row["dst"]: row for row in dump()} | {row["dst"] + "6": row for row in dump("-6")}


def test_taps_addresses_and_routes(cp):
    cp.conf.write_text(MORE)
    cp.start()
    made = links(cp)
    assert set(made) == {"external", "internal"}
    for link in made.values():
        assert {"NOARP", "UP"} <= set(link["flags"]) and link["mtu"] == 1500
        info = link["linkinfo"]["info_data"]
        assert (info["type"], info["persist"], info["pi"]) == ("tap", True, False)
    assert addresses(cp, "external") == {"10.0.1.1/24", "fd00:1::1/64"}
    assert addresses(cp, "internal") == {"10.0.2.1/24"}
    there = routes(cp)
    assert there["default"]["gateway"] == "10.0.1.254" and there["default"]["dev"] == "external"
    assert there["default6"]["gateway"] == "fd00:1::fe" and there["192.0.2.0/24"]["dev"] == "internal"
    assert cp.ns.run(["cat", "/proc/sys/net/ipv4/ip_local_port_range"]).stdout.split() == ["49152", "65535"]
    assert cp.status()["kernel"] == ""


def test_taps_belong_to_the_dataplanes_user(cp):
    def owners():
        return {row["linkinfo"]["info_data"].get("user") for row in links(cp).values()}

    cp.start()
    assert owners() == {"root"}
    cp.daemon.arguments += ["--dataplane-user", "nobody"]
    cp.restart()
    assert owners() == {"nobody"}


def test_changes_follow_and_nothing_else_moves(cp):
    cp.conf.write_text(MORE)
    cp.start()
    cp.ns.ip("link", "add", "name", "foreign", "type", "bridge")
    before = {name: row["ifindex"] for name, row in links(cp).items()}
    cp.restart(kill=True)
    assert {name: row["ifindex"] for name, row in links(cp).items()} == before, "taps outlive weir-cp"
    cp.edit("modify", "net vlan external mtu 1400")
    assert links(cp)["external"]["mtu"] == 1400
    cp.edit("create", "net self x address 10.0.1.9/24 vlan external")
    assert addresses(cp, "external") == {"10.0.1.1/24", "10.0.1.9/24", "fd00:1::1/64"}
    cp.edit("delete", "net route n")
    assert "192.0.2.0/24" not in routes(cp)
    cp.edit("create", "net route b network 203.0.113.0/24 blackhole")
    assert routes(cp)["203.0.113.0/24"]["type"] == "blackhole"
    cp.ask("load", text=wc.vlan("internal", "1.2", number=20) + wc.self_ip("i", "10.0.2.7/24", "internal"))
    assert set(links(cp)) == {"internal", "foreign"} and addresses(cp, "internal") == {"10.0.2.7/24"}
    assert routes(cp) == {} and links(cp)["internal"]["ifindex"] == before["internal"]


def test_names_that_the_kernel_does_not_take(cp):
    cp.conf.write_text(wc.vlan("a-name-that-is-too-long", "1.1", number=10)
                       + wc.self_ip("i", "10.0.2.7/24", "a-name-that-is-too-long"))
    cp.start()
    name, = links(cp)
    assert name.startswith("vlan-") and addresses(cp, name) == {"10.0.2.7/24"}


def test_somebody_elses_interface_is_left_alone(cp):
    cp.ns.ip("link", "add", "name", "external", "type", "bridge")
    before = links(cp)["external"]
    cp.start()
    assert links(cp)["external"] == before
    assert "external: exists already and is not ours" in cp.daemon.text()
    assert "exists already" in cp.status()["kernel"]
    assert addresses(cp, "internal") == {"10.0.2.1/24"}, "the rest is done nevertheless"
    result = cp.edit("create", "net self x address 10.0.2.9/24 vlan internal")
    assert "exists already" in result["warnings"][0] and "10.0.2.9/24" in addresses(cp, "internal")


def test_a_self_ip_that_goes_takes_no_other_along(cp):
    """The kernel drops a network's secondary addresses with the first; they are configured all the same."""
    cp.conf.write_text(CONF + wc.self_ip("e2", "10.0.1.2/24", "external") + wc.self_ip("e3", "10.0.1.3/24", "external"))
    cp.start()
    cp.edit("delete", "net self e")
    assert addresses(cp, "external") == {"10.0.1.2/24", "10.0.1.3/24"}
    cp.edit("create", "net self e address 10.0.1.1/24 vlan external")
    assert addresses(cp, "external") == {"10.0.1.1/24", "10.0.1.2/24", "10.0.1.3/24"}


def test_mtu_too_small_for_ipv6_and_back(cp):
    """Linux has no IPv6 below 1280 (RFC 8200, section 5): said, the rest is done, and it comes back."""
    cp.conf.write_text(MORE)
    cp.start()
    result = cp.edit("modify", "net vlan external mtu 576")
    assert "fd00:1::1/64" in result["warnings"][0] and links(cp)["external"]["mtu"] == 576
    result = cp.edit("modify", "net vlan external mtu 1500")
    assert cp.status()["kernel"] == "" and links(cp)["external"]["mtu"] == 1500, result
    assert addresses(cp, "external") == {"10.0.1.1/24", "fd00:1::1/64"} and "UP" in links(cp)["external"]["flags"]
    assert links(cp)["external"]["inet6_addr_gen_mode"] == "none"
