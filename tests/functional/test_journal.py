# SPDX-License-Identifier: BSD-3-Clause
"""The journal (docs/events.md): who did what and why, which incident it belongs to, and who may read it."""
import re
import socket

import pytest
from cp_alone import Cp, error_of
from fake_dp import FakeDp
from test_health_link import CONF, Mon, instances, status, synced, wait_status

from topo import Topology, wait_until
from topo import weirconf as wc
from topo.weir import ApiError

MEMBER = "/Common/10.0.2.11:80"
OTHER = "/Common/10.0.2.12:80"
PASSWORD = "correct horse battery"


@pytest.fixture
def cp():
    with Topology() as topo:
        alone = Cp(topo.namespace("cp"), topo.dir, CONF + wc.virtual("web", "10.0.1.100", 80, "web"))
        alone.daemon.arguments += ["--monitor-user", "nobody"]
        alone.start()
        yield alone
        alone.stop()


def log(cp, **arguments):
    return cp.ask("log", limit=10000, **arguments)[0]


def wait_log(cp, count=1, **arguments):
    """Records that a filter takes, once there are as many."""
    wait_until(lambda: len(log(cp, **arguments)) >= count, lambda: f"{arguments}: {log(cp)}", 10)
    return log(cp, **arguments)


def up(cp):
    """weir-mon, and its instances; both members are up."""
    mon, messages = synced(cp)
    servers = instances(messages)
    for server in servers.values():
        mon.verdict(server, "up")
    wait_status(cp, "up")
    wait_status(cp, "up", "10.0.2.12:80")
    return mon, servers


def test_each_source_is_told_apart(cp):
    mon, servers = up(cp)
    mon.verdict(servers["10.0.2.11"], "down")
    [down] = wait_log(cp, object=MEMBER, message="01070638")
    assert down["actor"]["class"] == "monitor" and (down["old"], down["new"]) == ("up", "down")
    assert down["cause"] == "/Common/a: said by the test" and down["owner"] == "/Common/web"
    assert re.fullmatch(r"Pool /Common/web member /Common/10.0.2.11:80 monitor status down. \[ /Common/a: down; "
                        r"last error: said by the test @\d{4}/\d\d/\d\d \d\d:\d\d:\d\d.  \]  "
                        r"\[ was up for 0hr:0min:\d+sec \]", down["text"])
    cp.edit("modify", "ltm pool web members modify { 10.0.2.12:80 { session user-disabled } }")
    [hold] = log(cp, object=OTHER, type="hold")
    assert hold["actor"] == {"class": "operator", "name": "root", "address": ""}
    assert (hold["old"], hold["new"]) == ("enabled", "disabled") and "incident" not in hold
    [session] = log(cp, object=OTHER, message="01070639")
    assert session["text"] == f"Pool /Common/web member {OTHER} session status forced disabled."
    cp.edit("modify", "ltm node 10.0.2.12 { holds { agent { session user-disabled reason patching } } }")
    [hold] = log(cp, object="/Common/10.0.2.12", type="hold")
    assert hold["cause"] == "patching" and "held by agent" in hold["text"]
    cp.edit("modify", "ltm pool web members modify { 10.0.2.12:80 { ratio 7 } }")
    [ratio] = log(cp, type="ratio")
    assert (ratio["old"], ratio["new"], ratio["object"], ratio["actor"]["name"]) == (1, 7, OTHER, "root")
    assert not log(cp, type="config"), "live fields alone are no change of the configuration"
    cp.edit("modify", "ltm pool web description x")
    [commit] = log(cp, type="config")
    assert commit["cause"] == "modify ltm pool web description x" and commit["id"] == "01070417"
    assert [row["seq"] for row in log(cp)] == list(range(1, len(log(cp)) + 1))
    mon.close()


def test_an_agents_hold_and_a_limit(cp):
    dp = FakeDp(cp.run_dir)
    try:
        wait_until(lambda: dp.generation, "the dataplane has the configuration")
        ident = next(row["id"] for row in cp.show("ltm pool members", owner="web") if row["name"] == MEMBER)
        dp.event(1, 2, ident)
        [reached] = wait_log(cp, object=MEMBER, type="limit")
        assert (reached["id"], reached["part"], reached["incident"]) == ("0e1f0050", "open", reached["seq"])
        [_, left] = wait_log(cp, 2, object=MEMBER, type="limit")
        assert (left["id"], left["part"], left["incident"]) == ("0e1f0051", "close", reached["seq"])
        assert left["duration"] >= 5
    finally:
        dp.stop()
    [lost] = wait_log(cp, message="0e1f0071")
    assert (lost["level"], lost["part"]) == ("crit", "open")


def test_an_incident_has_all_that_one_cause_brings(cp):
    mon, servers = up(cp)
    mon.verdict(servers["10.0.2.11"], "down")
    [first] = wait_log(cp, object=MEMBER, message="01070638")
    assert first["part"] == "open" and first["incident"] == first["seq"]
    mon.verdict(servers["10.0.2.12"], "down")
    [virtual] = wait_log(cp, message="01071682")
    [second] = log(cp, object=OTHER, message="01070638")
    [pool] = log(cp, message="01010028")
    assert pool["text"] == "No members available for pool /Common/web" and pool["level"] == "err"
    assert virtual["text"] == "SNMP_TRAP: Virtual /Common/web has become unavailable"
    assert {pool["incident"], virtual["incident"]} == {second["seq"]} and pool["part"] == virtual["part"] == "also"
    # Over a restart nothing is told twice, and the end belongs to the beginning.
    mon.close()
    cp.restart(kill=True)
    mon, messages = synced(cp)
    servers = instances(messages)
    mon.verdict(servers["10.0.2.12"], "up")
    rows = wait_log(cp, 1, object=OTHER, message="01070727", incident=second["seq"])
    assert rows[-1]["part"] == "close" and rows[-1]["duration"] >= 0
    wait_log(cp, 1, message="01010221")
    assert len([row for row in log(cp, incident=second["seq"]) if row["part"] == "open"]) == 1
    # What is deleted has no incident.
    cp.edit("modify", "ltm pool web members delete { 10.0.2.11:80 }")
    [over] = wait_log(cp, message="0e1f0078")
    assert (over["incident"], over["part"]) == (first["seq"], "close")
    mon.close()


def test_what_an_operator_does_is_no_incident(cp):
    mon, _ = up(cp)
    for member in ("10.0.2.11:80", "10.0.2.12:80"):
        cp.edit("modify", f"ltm pool web members modify {{ {member} {{ session user-disabled state user-down }} }}")
    wait_log(cp, message="01010028")
    assert {row["actor"]["name"] for row in log(cp, message="01070638")} == {"root"}
    mon.close()
    assert not [row for row in log(cp) if "incident" in row and row["module"] == "ltm"], log(cp)


def test_a_node_encloses_its_members(cp):
    cp.edit("modify", "ltm node 10.0.2.11 monitor icmp")
    mon, messages = synced(cp)
    everything = [message for message in messages if message["type"] == "instance"]
    for one in everything:
        mon.verdict(one, "up")
    wait_status(cp, "up")
    node = next(one for one in everything if not one.get("port"))
    mon.verdict(node, "down")
    [down] = wait_log(cp, object="/Common/10.0.2.11", message="01070640")
    [member] = wait_log(cp, object=MEMBER, message="01070638")
    assert "address 10.0.2.11 monitor status down." in down["text"] and "monitor status node down." in member["text"]
    assert down["part"] == "open" and (member["part"], member["incident"]) == ("also", down["seq"])
    mon.close()


def test_text_of_a_server_steers_no_terminal(cp):
    mon, servers = up(cp)
    mon.verdict(servers["10.0.2.11"], "down", reason="\x1b[31mred\x07 \u202eevil\u009b \"quoted\" \\ \u00e4")
    [down] = wait_log(cp, object=MEMBER, message="01070638")
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", down["text"] + down["cause"])
    assert "red" in down["text"] and cp.ask("verify-log")[1]["intact"]
    mon.close()


def test_ratios_are_coalesced(cp):
    for ratio in range(2, 60):
        cp.edit("modify", f"ltm pool web members modify {{ 10.0.2.11:80 {{ ratio {ratio} }} }}")
    [first] = log(cp, type="ratio")
    assert (first["old"], first["new"]) == (1, 2) and "count" not in first
    wait_until(lambda: len(log(cp, type="ratio")) == 2, "the rest is told", 15)
    rest = log(cp, type="ratio")[1]
    assert (rest["old"], rest["new"], rest["count"]) == (2, 59, 57)


def test_filters(cp):
    for n in range(300):
        cp.edit("modify", f"ltm pool web description d{n}")
    rows, result = cp.ask("log", type="config")
    assert len(rows) == 100 and rows[-1]["cause"].endswith("d299") and rows[0]["cause"].endswith("d200")
    rows, result = cp.ask("log", after=0, limit=7)
    assert [row["seq"] for row in rows] == list(range(1, 8)) and result["next"] == 7 and result["gone"] == 0
    rows, result = cp.ask("log", before=rows[-1]["seq"], limit=3)
    assert [row["seq"] for row in rows] == [4, 5, 6] and result["next"] == 4
    middle = cp.ask("log", limit=1, before=150)[0][0]
    assert len(log(cp, **{"from": middle["time"]})) + len(log(cp, until=middle["time"])) == len(log(cp)) + 1
    assert log(cp, level="warning") == [] and len(log(cp, audit=True)) == 300
    assert log(cp, actor="nobody") == [] and len(log(cp, actor="root")) == 300
    for wrong in ({"limit": 0}, {"limit": 10001}, {"level": "bad"}, {"after": -1}, {"object": 3}, {"follow": True},
                  {"colour": "red"}, {"audit": 1}):
        error = error_of(cp.ask, "log", **wrong)
        assert error["code"] == 400 and error["field"] in {*wrong, "after"}, error


def test_follow(cp):
    last = cp.ask("log")[1]["last"]
    with cp.connect() as sock:
        cp.send(sock, {"op": "log", "after": last, "follow": True, "type": "config"})
        cp.edit("modify", "ltm pool web description one")
        assert [row["cause"] for row in cp.receive(sock)["rows"]] == ["modify ltm pool web description one"]
        cp.edit("modify", "ltm pool web description two")
        assert [row["cause"] for row in cp.receive(sock)["rows"]] == ["modify ltm pool web description two"]


def test_who_may_read(cp):
    cp.edit("create", "auth partition A")
    for name, where, role in (("guest", "A", "guest"), ("auditor", "all-partitions", "auditor")):
        cp.edit("create", f'auth user {name} password "{PASSWORD}" partition-access add {{ {where} {{ role {role} }} }}')
    cp.edit("create", "ltm pool /A/own members add { /A/10.0.3.1:80 { address 10.0.3.1 } }")
    cp.edit("modify", "ltm pool /A/own members modify { /A/10.0.3.1:80 { ratio 9 } }")
    cp.edit("create", "auth partition B")
    cp.edit("create", "ltm pool /B/other members add { /B/10.0.3.2:80 { address 10.0.3.2 } }")
    cp.edit("modify", "ltm pool /B/other members modify { /B/10.0.3.2:80 { ratio 9 } }")
    as_guest = {"as": {"user": "guest", "password": PASSWORD, "address": "192.0.2.1"}}
    as_auditor = {"as": {"user": "auditor", "password": PASSWORD, "address": "192.0.2.2"}}
    rows = log(cp, **as_guest)
    assert {row["object"] for row in rows if row["type"] == "ratio"} == {"/A/10.0.3.1:80"}
    assert not {"config", "login", "system"} & {row["type"] for row in rows}
    rows = log(cp, **as_auditor)
    assert {"config", "login", "system", "ratio"} <= {row["type"] for row in rows}
    assert [row["actor"]["name"] for row in log(cp, type="login", address="192.0.2.1", **as_auditor)] == ["guest"]
    assert error_of(cp.ask, "verify-log", **as_guest)["code"] == 403
    with pytest.raises(ApiError):
        cp.ask("log", **{"as": {"user": "guest", "password": "wrong", "address": "192.0.2.9"}})
    [failed] = log(cp, type="login", address="192.0.2.9")
    assert (failed["id"], failed["actor"]["name"], failed["level"]) == ("0e1f0041", "guest", "warning")


def test_sockets_of_parts_take_only_what_is_theirs(cp):
    for name, allowed, refused in (("notify.sock", {"op": "log"}, {"op": "list", "kind": "ltm pool"}),
                                     ("snmp.sock", {"op": "show", "what": "ltm pool"}, {"op": "log"}),
                                     ("snmp.sock", {"op": "show", "what": "sys status"}, {"op": "show", "what": "sys history"})):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(10)
            sock.connect(str(cp.run_dir / name))
            cp.send(sock, allowed)
            answer = cp.receive(sock)
            assert "rows" in answer, answer
            while "result" not in answer:
                answer = cp.receive(sock)
            cp.send(sock, refused)
            assert cp.receive(sock)["error"]["code"] == 403


def test_thousands_of_states_at_once(cp):
    text = "".join(f" 10.0.{100 + n // 250}.{n % 250 + 1}:80 {{ address 10.0.{100 + n // 250}.{n % 250 + 1} }}"
                   for n in range(2000))
    cp.edit("create", f"ltm pool many monitor a members add {{{text} }}")
    mon, messages = synced(cp)
    servers = [message for message in messages if message["type"] == "instance"]
    for verdict in ("up", "down"):
        for server in servers:
            mon.verdict(server, verdict)
    wait_until(lambda: status(cp) == "down" and sum(row["monitorStatus"] == "down"
                                                    for row in cp.show("ltm pool members")) == 2002, "all are down", 20)
    many = wait_log(cp, message="0e1f0004")
    assert any(row.get("part") == "open" for row in many) and len(log(cp, message="01070638")) < 700
    for server in servers:
        mon.verdict(server, "up")
    wait_until(lambda: sum(row["monitorStatus"] == "up" for row in cp.show("ltm pool members")) == 2002, "all are up", 20)

    def still_open():
        rows = log(cp)
        closed = {row["incident"] for row in rows if row.get("part") == "close"}
        return {row["incident"] for row in rows if row.get("part") == "open"} - closed
    wait_until(lambda: not still_open(), lambda: f"all incidents end: {still_open()}", 10)
    mon.close()
