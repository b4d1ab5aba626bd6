# SPDX-License-Identifier: BSD-3-Clause
"""What opens an incident closes it, whoever is its cause: agents, limits, ports, parts of the machine, a full disk."""
import errno
import subprocess

import pytest
from cp_alone import Cp, cp  # noqa: F401
from fake_dp import FakeDp
from test_health_link import CONF, instances, synced, wait_status
from test_journal import MEMBER, log, up, wait_log

from topo import Topology, wait_until
from topo import weirconf as wc

LIMIT, EXHAUSTED = 2, 3  # kinds of the dataplane's events


@pytest.fixture
def watched():
    """weir-cp with agents beside its monitor; the test plays weir-mon and the dataplane."""
    text = CONF + wc.virtual("web", "10.0.1.100", 80, "web")
    with Topology() as topo:
        alone = Cp(topo.namespace("cp"), topo.dir, text)
        alone.daemon.arguments += ["--monitor-user", "nobody"]
        alone.start()
        yield alone
        alone.stop()


def is_pair(opened, closed):
    assert opened["part"] == "open" and opened["incident"] == opened["seq"], opened
    assert closed["part"] == "close" and closed["incident"] == opened["seq"] and closed["duration"] >= 0, closed


def agent_says(mon, server, **line):
    mon.send({"type": "agent", "object": server["object"], "monitor": server["monitor"], **line})


def with_agent(cp):
    """weir-mon, and its instance of an agent-check of the first member; all servers are up."""
    cp.edit("create", "ltm monitor agent-check agent destination *:9000")
    cp.edit("modify", "ltm pool web monitor a and agent")
    mon, messages = synced(cp)
    every = [message for message in messages if message["type"] == "instance"]
    for one in every:
        mon.verdict(one, "up")
    wait_status(cp, "up")
    wait_status(cp, "up", "10.0.2.12:80")
    agent = next(message["id"] for message in messages if message.get("name") == "/Common/agent")
    return mon, next(one for one in every if one["monitor"] == agent and one["address"] == "10.0.2.11")


def test_a_hold_of_an_agent(watched):
    mon, server = with_agent(watched)
    agent_says(mon, server, admin="drain", description="new version")
    [hold] = wait_log(watched, object=MEMBER, type="hold")
    assert (hold["actor"]["class"], hold["cause"]) == ("agent", "agent says drain: new version")
    agent_says(mon, server, admin="ready")
    [_, ready] = wait_log(watched, 2, object=MEMBER, type="hold")
    is_pair(hold, ready)
    assert (ready["id"], ready["old"], ready["new"]) == ("0e1f0011", "disabled", "enabled")
    mon.close()


def test_what_an_agent_did_is_taken_back(watched):
    mon, server = with_agent(watched)
    agent_says(mon, server, admin="drain")
    wait_log(watched, object=MEMBER, type="hold")
    watched.edit("modify", "ltm pool web monitor a")
    [said] = wait_log(watched, message="0e1f007c")
    assert (said["kind"], said["object"], said["owner"]) == ("ltm pool members", MEMBER, "/Common/web")
    assert said["actor"]["class"] == "agent"
    mon.close()


def test_drains_name_server_and_author(watched):
    dp = FakeDp(watched.run_dir)
    try:
        wait_until(lambda: dp.generation, "the dataplane has the configuration")
        _, result = watched.ask("start-drain", pool="web", member="10.0.2.11:80", reason="patching")
        [begun] = wait_log(watched, type="drain")
        watched.ask("end-drain", drain=result["id"])
        ended = wait_log(watched, 2, type="drain")[-1]
    finally:
        dp.stop()
    for row in (begun, ended):
        assert (row["kind"], row["object"], row["owner"]) == ("ltm pool members", MEMBER, "/Common/web"), row
        assert (row["actor"]["class"], row["actor"]["name"], row["cause"]) == ("operator", "root", "patching")
    assert (begun["new"], ended["old"], ended["new"]) == ("draining", "draining", "cancelled")


def test_a_limit_and_ports_over_a_restart(watched):
    """Who reached it is known to the next weir-cp, which tells its end though nothing comes any more."""
    dp = FakeDp(watched.run_dir)
    try:
        wait_until(lambda: dp.generation, "the dataplane has the configuration")
        member = next(row["id"] for row in watched.show("ltm pool members", owner="web") if row["name"] == MEMBER)
        virtual = watched.show("ltm virtual")[0]["id"]
        for number in range(1, 4):
            dp.event(2 * number - 1, LIMIT, member)
            dp.event(2 * number, EXHAUSTED, virtual, member)
        [reached] = wait_log(watched, message="0e1f0050")
        [exhausted] = wait_log(watched, message="01010201")
        assert exhausted["text"] == f"Inet port exhaustion on /Common/web to /Common/web {MEMBER}"
        assert exhausted["object"] == "/Common/web"
    finally:
        dp.stop()
    watched.restart(kill=True)
    [left] = wait_log(watched, message="0e1f0051")
    [ports] = wait_log(watched, message="0e1f0053")
    is_pair(reached, left)
    is_pair(exhausted, ports)


def test_a_limit_that_is_seen_again(watched):
    """Nobody says that a server is at its limit: weir-cp sees it each time."""
    dp = FakeDp(watched.run_dir)
    try:
        watched.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { connection-limit 5 } }")
        wait_until(lambda: dp.generation, "the dataplane has the configuration")
        member = next(row["id"] for row in watched.show("ltm pool members", owner="web") if row["name"] == MEMBER)
        dp.count(member, 5, 5, 5)
        [reached] = wait_log(watched, message="0e1f0050")
        dp.count(member, 0, 5, 0)
        [left] = wait_log(watched, message="0e1f0051")
        is_pair(reached, left)
        dp.count(member, 5, 5, 5)
        [_, again] = wait_log(watched, 2, message="0e1f0050")
        assert (again["part"], again["incident"]) == ("open", reached["incident"])
    finally:
        dp.stop()


def test_a_virtual_server_that_is_down_and_then_checked_no_more(watched):
    """Unknown, with connections given to it, is the end of what was wrong with it."""
    mon, servers = up(watched)
    for server in servers.values():
        mon.verdict(server, "down")
    [begun] = wait_log(watched, message="01071682")
    before = log(watched)[-1]["seq"]
    watched.edit("modify", "ltm pool web monitor none")
    [ended] = wait_log(watched, message="01071681", after=before)
    assert (begun["new"], ended["old"], ended["new"]) == ("offline", "offline", "unknown")
    assert begun["incident"] == ended["incident"]
    mon.close()


def test_a_server_that_nobody_checks_any_more_over_a_kill(watched):
    """It was down with its node: that is over, for the next weir-cp too, which has only the records of it."""
    watched.edit("modify", "ltm node 10.0.2.11 monitor icmp")
    mon, messages = synced(watched)
    node = next(message for message in messages if message["type"] == "instance" and not message.get("port"))
    mon.verdict(node, "down")
    [member] = wait_log(watched, object=MEMBER, message="01070638")
    assert member["part"] == "also"
    watched.edit("modify", "ltm pool web monitor none")
    watched.edit("modify", "ltm node 10.0.2.11 monitor none")
    [unknown] = wait_log(watched, object=MEMBER, message="0e1f0005")
    assert (unknown["part"], unknown["incident"]) == ("also", member["incident"])
    mon.close()
    watched.stop()
    (watched.store / "journal" / "incidents").unlink()
    watched.start()
    watched.edit("modify", "ltm pool web monitor a")
    mon, messages = synced(watched)
    mon.verdict(instances(messages)["10.0.2.11"], "down")
    again = wait_log(watched, 2, object=MEMBER, message="01070638")[-1]
    assert again["part"] == "open", again
    mon.close()


def test_weir_mon_killed_and_back(watched):
    mon, _ = up(watched)
    wait_log(watched, message="0e1f0072")
    mon.close()
    [stopped] = wait_log(watched, message="0e1f0073")
    mon, _ = synced(watched)
    [_, back] = wait_log(watched, 2, message="0e1f0072")
    is_pair(stopped, back)
    mon.close()


def test_a_server_that_flaps_is_one_incident(watched):
    mon, servers = up(watched)
    for _ in range(4):
        mon.verdict(servers["10.0.2.11"], "down")
        wait_status(watched, "down")
        mon.verdict(servers["10.0.2.11"], "up")
        wait_status(watched, "up")
    rows = [row for row in log(watched, object=MEMBER) if "incident" in row]
    assert len({row["incident"] for row in rows}) == 1, rows
    assert [row["part"] for row in rows] == ["open", "close"] * 4
    mon.close()


def test_a_full_disk_blocks_no_commit(cp):  # noqa: F811
    """A real one, small: what does not fit is counted, and told when there is room."""
    journal = cp.store / "journal"
    journal.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", journal], check=True)
    try:
        cp.start()
        fill(journal / "filler")
        for number in range(200):
            cp.edit("modify", f"ltm pool web description {number}-{'x' * 100}")
        assert "cannot be written: No space left on device" in cp.daemon.text()
        assert "199-xxx" in cp.list("ltm pool")
        (journal / "filler").unlink()
        cp.edit("modify", "ltm pool web description back")
        [lost] = cp.ask("log", message="0e1f0076")[0]
        told = len(cp.ask("log", type="config", limit=10000)[0])
        assert lost["count"] > 100 and told + lost["count"] == 201, (lost, told)
        assert cp.ask("verify-log")[1]["intact"]
        cp.restart(kill=True)
        assert cp.ask("verify-log")[1]["intact"]
    finally:
        subprocess.run(["umount", "-l", journal], check=True)


def fill(path):
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as full:
            assert full.errno == errno.ENOSPC
