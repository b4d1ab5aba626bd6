# SPDX-License-Identifier: BSD-3-Clause
"""Servers that are known by name, with Knot DNS and weir-cp alone (docs/operators-guide.md, "Servers known by name")."""
import os
import time

import pytest

from cp_alone import Cp, error_of
from topo import Topology, wait_until
from topo import weirconf as wc
from topo.servers_dns import Knot

DNS = "sys dns { name-servers { 127.0.0.1 } }\n"


def node(name="web", populate="enabled", **fields):
    words = " ".join(f"{key.replace('_', '-')} {value}" for key, value in {"interval": "ttl", "down_interval": 1, **fields}.items())
    return f"ltm node {name}.test {{ fqdn {{ name {name}.test autopopulate {populate} {words} }} }}\n"


def member(name="web", populate="enabled", port=80, more=""):
    return f"{name}.test:{port} {{ {more} fqdn {{ autopopulate {populate} }} }}"


def pool(*members, name="web"):
    return f"ltm pool {name} {{ members {{ {' '.join(members)} }} }}\n"


class Site:
    """weir-cp and a name server in one namespace."""

    def __init__(self, topo, config, records):
        self.topo, self.ns = topo, topo.namespace("cp")
        self.dns = topo.add(Knot(self.ns, topo.dir, records=records))
        self.cp = Cp(self.ns, topo.dir, DNS + config)
        self.cp.start()

    def members(self, owner="web"):
        """{name: row} of the ephemeral ones."""
        return {row["name"].split("/")[-1]: row for row in self.cp.show("ltm pool members", owner=owner) if row["ephemeral"] == "true"}

    def used(self, owner="web"):
        """Names of those that take new connections."""
        return sorted(name for name, row in self.members(owner).items() if row["session"] == "user-enabled")

    def nodes(self):
        return sorted(row["name"].split("/")[-1] for row in self.cp.show("ltm node") if row["ephemeral"] == "true")

    def row(self, name="web"):
        return self.cp.show("ltm node", name=f"{name}.test")[0]

    def until(self, wanted, owner="web", seconds=8):
        wait_until(lambda: self.used(owner) == sorted(wanted), lambda: f"{owner}: {wanted}, not {self.used(owner)}", seconds)

    def until_reason(self, *words, name="web", seconds=12):
        wait_until(lambda: all(word in self.row(name)["monitorStatus"] + " " + self.row(name)["status.statusReason"] for word in words),
                   lambda: f"{words}, not {self.row(name)}", seconds)


@pytest.fixture
def site():
    made = []
    with Topology() as topo:
        def make(config=node() + pool(member()), **records):
            made.append(Site(topo, config, records or {"web": (1, ["10.0.2.11", "10.0.2.12"])}))
            return made[0]
        try:
            yield make
        finally:
            for one in made:
                if one.cp.daemon.process:
                    one.cp.stop()


def test_addresses_become_servers_that_follow_their_template(site):
    more = "ratio 3 connection-limit 7 priority-group 2 monitor tcp description \"by name\""
    s = site(node() + pool(member(more=more)))
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"])
    listed = s.cp.ask("list", kind="ltm pool members", owner="web", name="_auto_10.0.2.11:80", form="conf")[0][0]
    for words in ("ratio 3", "connection-limit 7", "priority-group 2", "monitor /Common/tcp", "description \"by name\"", "ephemeral true"):
        assert words in listed
    assert s.nodes() == ["_auto_10.0.2.11", "_auto_10.0.2.12"]
    s.until_reason("fqdn-up", "resolved", "to 2 addresses, next in")
    assert s.row()["addr"] == "any6"
    [said] = s.cp.ask("log", message="0e1f007a")[0]
    assert (said["kind"], said["object"]) == ("ltm node", "/Common/web.test")
    assert (said["old"], said["new"], said["actor"]["class"]) == ("fqdn-checking", "fqdn-up", "system")
    s.cp.edit("modify", "ltm pool web members modify { web.test:80 { ratio 5 connection-limit none }}".replace("none", "0"))
    wait_until(lambda: all(row["ratio"] == 5 and row["connectionLimit"] == 0 for row in s.members().values()), "members follow", 3)
    s.cp.edit("modify", "ltm pool web members modify { web.test:80 { session user-disabled }}")
    wait_until(lambda: not s.used(), "members are disabled with their template", 3)
    s.cp.edit("modify", "ltm pool web members modify { web.test:80 { session user-enabled }}")
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"])
    assert "takes no connections" in error_of(s.cp.ask, "start-drain", pool="web", member="web.test:80")["text"]


def test_people_hold_them_and_change_nothing_else(site):
    s = site()
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"])
    made = "was made by name resolution"
    for verb, text in (("delete", "ltm node _auto_10.0.2.11"), ("modify", "ltm node _auto_10.0.2.11 monitor tcp"),
                       ("modify", "ltm pool web members delete { _auto_10.0.2.11:80 }"),
                       ("modify", "ltm pool web members modify { _auto_10.0.2.11:80 { ratio 9 } }"),
                       ("modify", "ltm pool web members modify { _auto_10.0.2.11:80 { priority-group 9 } }")):
        assert made in error_of(s.cp.edit, verb, text)["text"]
    assert "_auto_" in error_of(s.cp.edit, "create", "ltm node _auto_10.9.9.9 address 10.9.9.9")["text"]
    s.cp.edit("modify", "ltm pool web members modify { _auto_10.0.2.11:80 { session user-disabled } }")
    assert s.used() == ["_auto_10.0.2.12:80"]
    s.dns.set("web", ["10.0.2.11", "10.0.2.13"])
    s.until(["_auto_10.0.2.13:80"])  # the operator's hold stays
    s.cp.edit("modify", "ltm pool web members modify { _auto_10.0.2.11:80 { session user-enabled } }")
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.13:80"])
    # Who enables what the name has lost is told otherwise at once.
    s.cp.edit("modify", "ltm pool web members modify { _auto_10.0.2.12:80 { session user-enabled } }")
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.13:80"])


def test_they_are_kept_in_the_store_and_never_saved(site):
    s = site()
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"])
    assert s.cp.status()["unsaved"] == 0
    before = s.members()
    s.cp.ask("save")
    assert "_auto_" not in s.cp.conf.read_text() and "web.test:80" in s.cp.conf.read_text()
    s.cp.ask("load")
    assert {name: row["id"] for name, row in s.members().items()} == {name: row["id"] for name, row in before.items()}
    s.dns.kill()
    s.cp.restart(kill=True)
    assert s.used() == ["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"]
    s.until_reason("fqdn-down", "no name server can be reached", "the 2 addresses from before the start stay in use")
    assert s.used() == ["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"]
    s.dns.start()
    s.until_reason("fqdn-up")
    s.dns.set("web", ["10.0.2.12"])
    s.until(["_auto_10.0.2.12:80"])
    # One that leaves is not taken for a good answer by the next start.
    s.dns.kill()
    s.cp.restart()
    s.until_reason("fqdn-down", "the 1 address from before")
    assert s.used() == ["_auto_10.0.2.12:80"]


def test_last_good_answer_is_kept(site):
    """haproxy/haproxy#1683: a name server's failure must not take servers away."""
    s = site()
    both = ["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"]
    s.until(both)
    generation = s.cp.status()["generation"]
    s.dns.set("web", [])
    s.until_reason("fqdn-down", "does not exist (NXDOMAIN)", "the 2 addresses of", "ago stay in use, next in")
    s.dns.set("web", ["2001:db8::1"])
    s.until_reason("fqdn-up-no-addr", "the name has no addresses")
    s.dns.failing()
    s.until_reason("fqdn-down", "SERVFAIL")
    s.dns.freeze()
    s.until_reason("fqdn-down", "no name server answered in time")
    s.dns.thaw()
    s.dns.kill()
    s.until_reason("fqdn-down", "no name server can be reached")
    assert s.used() == both and s.cp.status()["generation"] == generation
    s.dns.start()
    s.dns.set("web", ["10.0.2.11", "10.0.2.12"])
    s.until_reason("fqdn-up", "resolved")
    text = s.cp.daemon.text()
    assert "/Common/web.test: fqdn-down: A: the name does not exist (NXDOMAIN); in use stay 2 addresses: 10.0.2.11, 10.0.2.12" in text
    assert "/Common/web.test: fqdn-up: 2 addresses: 10.0.2.11, 10.0.2.12" in text


def test_nothing_new_makes_no_commit(site):
    s = site()
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"])
    generation = s.cp.status()["generation"]
    s.dns.set("web", ["10.0.2.12", "10.0.2.11"])
    old = time.monotonic() + 3
    wait_until(lambda: time.monotonic() > old and "resolved 0 s ago" in s.row()["status.statusReason"], "it is asked every second", 8)
    assert s.cp.status()["generation"] == generation
    s.dns.set("web", ["10.0.2.13", "10.0.2.14"])
    s.until(["_auto_10.0.2.13:80", "_auto_10.0.2.14:80"])
    assert s.cp.status()["generation"] == generation + 1
    assert s.cp.show("sys history")[0]["author"] == "system"


def test_one_address_is_the_same_while_the_name_has_it(site):
    s = site(node(populate="disabled") + node("every") + pool(member()) + pool(member("every", "disabled"), name="every"),
             web=(1, ["10.0.2.11", "10.0.2.12", "10.0.2.13"]), every=(1, ["10.0.2.21", "10.0.2.22"]))
    wait_until(lambda: len(s.used()) == 1 and len(s.used("every")) == 1, "one member each", 5)
    first, kept = s.used(), s.used("every")
    assert {"_auto_10.0.2.21", "_auto_10.0.2.22"} < set(s.nodes()) and len(s.nodes()) == 3
    s.dns.set("web", ["10.0.2.10", "10.0.2.13", "10.0.2.12", "10.0.2.11"])
    s.dns.set("every", ["10.0.2.20", "10.0.2.21", "10.0.2.22"])
    wait_until(lambda: "_auto_10.0.2.20" in s.nodes(), "the new addresses are known", 5)
    s.until_reason("to 4 addresses")
    assert s.used() == first and s.used("every") == kept
    s.cp.restart()
    s.until_reason("to 4 addresses")
    assert s.used() == first and s.used("every") == kept
    address = first[0][len("_auto_"):-len(":80")]
    s.dns.set("web", [a for a in ("10.0.2.11", "10.0.2.12", "10.0.2.13") if a != address])
    wait_until(lambda: len(s.used()) == 1 and s.used() != first, "another takes its place", 5)


def test_both_families_aliases_and_ports(site):
    s = site(node(address_family="all") + node("six", address_family="ipv6") + pool(member(), member(port=8080), member("six")),
             web=(1, ["real.test."]), real=(1, ["10.0.2.11", "2001:db8::11"]), six=(1, ["2001:db8::66", "10.0.2.66"]))
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.11:8080", "_auto_2001:db8::11.80", "_auto_2001:db8::11.8080", "_auto_2001:db8::66.80"])
    s.dns.set("real", ["2001:db8::12"])
    s.until(["_auto_2001:db8::12.80", "_auto_2001:db8::12.8080", "_auto_2001:db8::66.80"])


def test_an_address_of_two_names_and_of_a_node_that_a_person_made(site):
    static = wc.node("here", "10.0.2.12", connection_limit=5)
    s = site(static + node() + node("other") + pool(member(), member("other")) + pool(member("other", port=443), name="tls"),
             web=(1, ["10.0.2.11", "10.0.2.12"]), other=(1, ["10.0.2.11", "10.0.2.13"]))
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.13:80", "here:80"])
    s.until(["_auto_10.0.2.11:443", "_auto_10.0.2.13:443"], "tls")
    assert s.nodes() == ["_auto_10.0.2.11", "_auto_10.0.2.13"]
    s.dns.kill()
    s.cp.restart()
    s.until_reason("fqdn-down")
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.13:80", "here:80"])
    s.until(["_auto_10.0.2.11:443", "_auto_10.0.2.13:443"], "tls")
    s.dns.start()
    s.dns.set("web", ["10.0.2.12"])
    s.until_reason("to 1 address")
    assert "_auto_10.0.2.11:80" in s.used()  # the other name has it still
    # A person's member of the address takes the place of the one that the name had made, and its id.
    before = s.members()["here:80"]["id"]
    s.cp.edit("modify", "ltm pool web members add { here:80 { ratio 9 } }")
    assert s.cp.show("ltm pool members", owner="web", name="here:80")[0]["id"] == before
    assert "here:80" not in s.members()
    # A person's node of an address comes before the ephemeral one.
    s.cp.edit("create", "ltm node mine address 10.0.2.13")
    s.until(["_auto_10.0.2.11:80", "mine:80"])
    s.until(["_auto_10.0.2.11:443", "mine:443"], "tls")
    s.cp.ask("save")
    s.cp.ask("load")
    s.until(["_auto_10.0.2.11:80", "mine:80"])


def test_what_has_no_template_any_more_leaves(site):
    s = site(node() + pool(member(), member(port=81)) + pool(member(), name="gone"))
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.12:80", "_auto_10.0.2.11:81", "_auto_10.0.2.12:81"])
    s.cp.edit("delete", "ltm pool gone")
    s.cp.edit("modify", "ltm pool web members delete { web.test:81 }")
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.12:80"])
    assert all("its address is gone" in row["status.statusReason"] for name, row in s.members().items() if name.endswith(":81"))
    s.cp.edit("modify", "ltm pool web members add { web.test:81 { fqdn { autopopulate enabled } } }")
    s.until(["_auto_10.0.2.11:80", "_auto_10.0.2.12:80", "_auto_10.0.2.11:81", "_auto_10.0.2.12:81"])
    assert "still used by" in error_of(s.cp.edit, "delete", "ltm node web.test")["text"]
    s.cp.edit("delete", "ltm pool web")
    s.cp.edit("delete", "ltm node web.test")
    wait_until(lambda: not s.nodes(), "nodes without a name go", 3)


def test_whom_to_ask(site):
    s = site("", web=(1, ["10.0.2.11"]))
    s.cp.edit("modify", "sys dns name-servers none")
    s.cp.edit("modify", "sys dns name-servers { 127.0.0.2 127.0.0.1 } search { nowhere.test test }")
    s.cp.edit("create", "ltm node short fqdn { name web interval 1 down-interval 1 }")
    wait_until(lambda: s.nodes() == ["_auto_10.0.2.11"], "a name without a dot is looked for in the domains", 5)
    s.cp.edit("modify", "sys dns name-servers { 127.0.0.3 }")
    wait_until(lambda: "no name server can be reached" in s.cp.show("ltm node", name="short")[0]["status.statusReason"], "the other is asked", 5)
    assert "is not the address of a server" in error_of(s.cp.edit, "modify", "sys dns name-servers add { web }")["text"]


def test_a_thousand_names(site):
    names = {f"n{i}": (1, [f"10.{1 + i // 250}.0.{1 + i % 250}", f"10.{101 + i // 250}.0.{1 + i % 250}"]) for i in range(1000)}
    s = site("", **names)
    text = "".join(node(name) + pool(member(name), name=name) for name in names)
    begin, first = time.monotonic(), s.cp.status()["generation"]
    s.cp.ask("load", text=DNS + text)
    wait_until(lambda: len(s.nodes()) == 2000, lambda: f"2,000 nodes, not {len(s.nodes())}", 60, 0.5)
    assert s.cp.status()["generation"] - first <= 5 * (time.monotonic() - begin) + 2, "answers make commits together"
    ticks = lambda: sum(int(n) for n in open(f"/proc/{s.cp.daemon.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[11:13])
    before, generation, at = ticks(), s.cp.status()["generation"], time.monotonic()
    time.sleep(3)  # three rounds of questions
    assert (ticks() - before) / os.sysconf("SC_CLK_TCK") < 0.3 * (time.monotonic() - at)
    assert s.cp.status()["generation"] == generation
    s.dns.set("n500", ["10.250.0.1"])
    s.until(["_auto_10.250.0.1:80"], "n500")
