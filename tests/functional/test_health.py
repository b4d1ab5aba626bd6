# SPDX-License-Identifier: BSD-3-Clause
"""Monitors and rules drive the states of servers, end to end.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3 (nginx)
"""
import time

import pytest

from topo import http_burst, standard, wait_until
from topo import weirconf as wc
from topo.picture import server_address

VIRTUAL = "10.0.1.100"
FAST = {"interval": 1, "timeout": 4}
HEALTH = {**FAST, "failures": 1, "send": r'"GET /health HTTP/1.0\r\n\r\n"', "recv": r'"\\nok"', "recv_disable": r'"\\ndrain"'}
SILENT = "10.0.2.99"  # nobody has this address


def name(number, port=80):
    return wc.join(server_address(number), port)


class Lab:
    def __init__(self, picture):
        self.picture, self.client = picture, picture.client
        self.nginx = picture.start_nginx(access_log=True)
        self.weir = picture.start_weir(
            wc.monitor("http", "web", **HEALTH), wc.monitor("tcp", "port", **FAST), wc.monitor("icmp", "host", **FAST),
            wc.monitor("tcp", "silent", interval=1, timeout=3, destination=f'"{SILENT}:80"'),
            wc.monitor("http", "resume", **HEALTH, manual_resume="enabled"),
            wc.pool("web", picture.members(80), monitor="web"), wc.virtual("web", VIRTUAL, 80, "web"),
            wc.pool("second", picture.members(80)), wc.virtual("second", VIRTUAL, 81, "second"))
        self.settle()

    def settle(self):
        for number in (1, 2, 3):
            self.until(number, "up")

    def member(self, number, what="monitorStatus", pool="web"):
        return self.weir.member(pool, name(number), what)

    def until(self, number, status, seconds=8.0, pool="web"):
        begin = time.monotonic()
        wait_until(lambda: self.member(number, pool=pool) == status,
                   lambda: f"s{number} of {pool} is {status}, not {self.member(number, pool=pool)}", seconds)
        return time.monotonic() - begin

    def order(self, count=12, port=80):
        burst = http_burst(self.client, VIRTUAL, count, port=port)
        assert not burst.errors, burst.errors[:3]
        return set(burst.order)

    def edit(self, text):
        self.weir.edit("modify", text)

    def pool_monitor(self, rule, pool="web"):
        self.edit(f"ltm pool {pool} monitor {rule}")

    def journal(self, since=0):
        return "".join(line for line in self.weir.cp.text()[since:].splitlines(True) if "monitor status" in line)

    def mark(self):
        return len(self.weir.cp.text())


@pytest.fixture(scope="module")
def shared():
    with standard(servers=3) as topo:
        yield Lab(topo.picture)


@pytest.fixture
def lab(shared):
    """The lab, and afterwards as it was."""
    yield shared
    for nginx in shared.nginx:
        nginx.sick(False)
        nginx.drain(False)
    shared.pool_monitor("web")
    shared.pool_monitor("none", "second")
    shared.weir.edit("modify", "ltm default-node-monitor rule none")
    shared.settle()


def test_a_sick_member_goes_out_and_returns(lab):
    assert lab.order() == {"s1", "s2", "s3"}
    lab.nginx[0].sick()
    assert lab.until(1, "down") < 2
    assert lab.order() == {"s2", "s3"}
    assert "Pool /Common/web member /Common/10.0.2.11:80 monitor status down. [ /Common/web: down; last error: " in lab.journal()
    lab.nginx[0].sick(False)
    lab.until(1, "up")
    assert lab.order() == {"s1", "s2", "s3"}
    assert "member /Common/10.0.2.11:80 monitor status up. [ /Common/web: up ]  [ was down for 0hr:0min:" in lab.journal()


def test_a_new_member_waits_for_its_first_good_answer(lab):
    """haproxy/haproxy#918: new servers are checked before they get anything."""
    lab.edit(f"ltm pool web members add {{ {SILENT}:80 }}")
    try:
        assert lab.weir.member("web", f"{SILENT}:80", "monitorStatus") == "checking"
        assert lab.order() == {"s1", "s2", "s3"}
        wait_until(lambda: lab.weir.member("web", f"{SILENT}:80", "monitorStatus") == "down", "it is down", 8)
    finally:
        lab.edit(f"ltm pool web members delete {{ {SILENT}:80 }}")
        lab.weir.edit("delete", f"ltm node {SILENT}")


def test_servers_in_use_stay_so_until_their_first_monitor_knows(lab):
    assert lab.order(port=81) == {"s1", "s2", "s3"}
    lab.pool_monitor("silent", "second")
    assert lab.order(port=81) == {"s1", "s2", "s3"}, "nobody has said anything against them yet"
    assert lab.member(1, pool="second") == "checking"
    lab.until(1, "down", pool="second")


def test_a_changed_rule_keeps_what_is_known(lab):
    """acassen/keepalived#381: a reload neither brings a failed server back nor takes a good one out."""
    lab.nginx[0].sick()
    lab.until(1, "down")
    mark = lab.mark()
    for rule in ("web and port", "port and web", "min 2 of { host web }", "web"):
        lab.pool_monitor(rule)
        assert lab.member(1) == "down"
        assert lab.order(9) == {"s2", "s3"}
    assert "monitor status down" not in lab.journal(mark)


def test_a_commit_elsewhere_resets_no_probe(lab):
    """The rhythm goes on while other objects come and go."""
    begin = time.time()
    wait_until(lambda: len(lab.nginx[1].asked("/health", begin)) >= 2, "its rhythm is found")
    begin = time.time()
    while time.time() < begin + 4:
        lab.weir.edit("create", "ltm pool other monitor port members add { 10.0.2.13:80 }")
        lab.edit("ltm monitor tcp port interval 2")
        lab.edit("ltm monitor tcp port interval 1")
        lab.weir.edit("delete", "ltm pool other")
    probes = lab.nginx[1].asked("/health", begin)
    assert 3 <= len(probes) <= 5, probes  # one that begins anew is asked at once


def test_at_least_so_many(lab):
    lab.pool_monitor("min 1 of { web port }")
    lab.nginx[0].sick()
    wait_until(lambda: any(row["monitor"] == "/Common/web" and row["status"] == "down" for row in lab.weir.show(
        "ltm monitor instances", pool="/Common/web", member="/Common/" + name(1))), "web says down")
    assert lab.member(1) == "up" and lab.order() == {"s1", "s2", "s3"}
    lab.pool_monitor("web and port")
    lab.until(1, "down", 1)


def test_a_node_monitor_is_for_all_members_of_the_node(lab):
    lab.edit(f"ltm node {server_address(1)} monitor host")
    lab.picture.lan.run(["ip", "link", "set", "s1", "down"])
    try:
        lab.until(1, "address-down", pool="second")
        lab.until(1, "address-down")
        assert lab.order(port=81) == {"s2", "s3"}
        assert f"Node /Common/{server_address(1)} address {server_address(1)} monitor status down." in lab.journal()
    finally:
        lab.picture.lan.run(["ip", "link", "set", "s1", "up"])
    lab.until(1, "unchecked", pool="second")
    assert lab.order(port=81) == {"s1", "s2", "s3"}
    lab.edit(f"ltm node {server_address(1)} monitor default")


def test_the_default_node_monitor(lab):
    def status(number):
        return next(row["monitorStatus"] for row in lab.weir.show("ltm node")
                    if row["name"].endswith(server_address(number)))
    lab.edit(f"ltm node {server_address(2)} monitor none")
    assert status(1) == "unchecked"
    lab.edit("ltm default-node-monitor rule host")
    wait_until(lambda: status(1) == "up", "the node is checked", 5)
    assert status(2) == "unchecked", "its own rule is none"
    lab.edit("ltm default-node-monitor rule none")
    assert status(1) == "unchecked"
    lab.edit(f"ltm node {server_address(2)} monitor default")


def test_an_application_asks_for_no_new_clients(lab):
    sock = lab.client.connect((VIRTUAL, 80))
    lab.nginx[0].drain()
    wait_until(lambda: lab.member(1, "sessionStatus") == "disabled", "s1 drains", 5)
    assert lab.member(1) == "up" and lab.order() == {"s2", "s3"}
    sock.sendall(b"GET /name HTTP/1.0\r\n\r\n")
    assert b"200 OK" in sock.recv(2000)
    lab.nginx[0].drain(False)
    wait_until(lambda: lab.member(1, "sessionStatus") == "enabled", "s1 is back", 5)
    assert lab.order() == {"s1", "s2", "s3"}


def test_manual_resume(lab):
    lab.pool_monitor("resume")
    lab.until(1, "up")
    lab.nginx[0].sick()
    lab.until(1, "down")
    lab.nginx[0].sick(False)
    lab.until(1, "down-wait-for-manual-resume")
    lab.weir.kill_cp()
    lab.weir.start_cp()
    assert lab.member(1) == "down-wait-for-manual-resume" and lab.order() == {"s2", "s3"}
    lab.edit(f"ltm pool web members modify {{ {name(1)} {{ session user-enabled }} }}")
    assert lab.member(1) == "up" and lab.order() == {"s1", "s2", "s3"}


def test_a_server_that_is_forced_offline_is_not_probed(lab):
    """github/glb-director#71; released it is new again."""
    member = f"ltm pool web members modify {{ {name(1)} {{ %s }} }}"
    lab.edit(member % "session user-disabled state user-down")
    begin = time.time()
    wait_until(lambda: len(lab.nginx[1].asked("/health", begin)) >= 3, "others are probed", 6)
    assert not lab.nginx[0].asked("/health", begin + 0.1)
    assert lab.member(1) == "forced-down"
    lab.nginx[0].sick()
    lab.edit(member % "session user-enabled state user-up")
    assert lab.member(1) in ("checking", "down") and lab.order() == {"s2", "s3"}
    lab.nginx[0].sick(False)
    lab.until(1, "up")
    assert lab.order() == {"s1", "s2", "s3"}


def test_a_disabled_server_is_probed(lab):
    member = f"ltm pool web members modify {{ {name(1)} {{ session %s }} }}"
    lab.edit(member % "user-disabled")
    lab.nginx[0].sick()
    lab.until(1, "down")
    lab.nginx[0].sick(False)
    lab.until(1, "up")
    assert lab.order() == {"s2", "s3"}
    lab.edit(member % "user-enabled")


def test_an_alias_destination(lab):
    """Each member is as well as another port of its host."""
    lab.weir.edit("create", 'ltm monitor tcp beside defaults-from port destination "*:8999"')
    lab.pool_monitor("beside")
    lab.until(1, "down")
    lab.edit('ltm monitor tcp beside destination "*:80"')
    lab.until(1, "up")
    lab.edit(f'ltm monitor tcp beside destination "{SILENT}:80"')
    lab.until(1, "down")
    lab.pool_monitor("web")
    lab.weir.edit("delete", "ltm monitor tcp beside")
