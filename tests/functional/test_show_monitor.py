# SPDX-License-Identifier: BSD-3-Clause
"""show ltm monitor, and what show says of the state of nodes and members: weirsh and the local interface.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2   (s2 answers 503 to checks; there is no s3)
"""
import json

import pytest

from topo import standard, wait_until
from topo import weirconf as wc
from topo.weir import ApiError

APP = wc.monitor("http", "app", interval=1, up_interval=2, timeout=4, send='"GET /health HTTP/1.0\\r\\n\\r\\n"',
                 recv='"\\\\nok"')
TCP = wc.monitor("tcp", "quick", interval=1, timeout=4)
ICMP = wc.monitor("icmp", "ping", interval=1, timeout=4)
GOOD, SICK = "10.0.2.11:80", "10.0.2.12:80"
MARKED_DOWN = "Pool member has been marked down by a monitor (/Common/app: "


@pytest.fixture(scope="module")
def weir():
    with standard(servers=2) as topo:
        picture = topo.picture
        picture.start_nginx()
        picture.nginx[1].sick()
        picture.start_weir(
            APP, TCP, ICMP, wc.monitor("http", "unused"), wc.monitor("inband", "clients"),
            wc.node("10.0.2.11", "10.0.2.11", monitor="ping"),
            wc.pool("web", picture.members(80), monitor="app and clients"),
            wc.pool("plain", picture.members(80), monitor="quick"), wc.virtual("web", "10.0.1.100", 80, "web"))
        weir = picture.weir
        wait_until(lambda: weir.member("web", GOOD, "monitorStatus") == "up", "s1 is up")
        wait_until(lambda: weir.member("web", SICK, "monitorStatus") == "down", "s2 is down")
        yield weir


def instances(weir, **filters):
    rows = weir.show("ltm monitor instances", **filters)
    return {(row["monitor"], row["owner"], row["name"]): row for row in rows}


def short(found):
    return sorted(" ".join(part.replace("/Common/", "") for part in key) for key in found)


def test_rows_of_servers(weir):
    rows = instances(weir, name="/Common/app")
    good, sick = rows[("/Common/app", "/Common/web", "/Common/" + GOOD)], rows[
        ("/Common/app", "/Common/web", "/Common/" + SICK)]
    assert good["status"] == "up" and good["monitorKind"] == "ltm monitor http" and good["addr"] == "10.0.2.11"
    assert good["probes"] >= good["successes"] >= 1 and 0 < good["lastResponseMs"] < 1000
    assert 0 <= good["nextProbeMs"] <= 2000
    assert sick["status"] == "down" and sick["failures"] >= 1 and sick["successes"] == 0
    assert sick["lastError"] and sick["lastErrorTime"] >= good["since"] - 60_000
    assert (sick["detectSilent"], sick["detectRefusing"], sick["detectWrong"]) == (5, 2, 5)


def test_filters(weir):
    assert short(instances(weir)) == sorted(
        ["app web " + GOOD, "app web " + SICK, "clients web " + GOOD, "clients web " + SICK,
         "quick plain " + GOOD, "quick plain " + SICK, "ping  10.0.2.11"])
    assert short(instances(weir, pool="plain")) == ["quick plain " + GOOD, "quick plain " + SICK]
    assert short(instances(weir, pool="web", member=SICK)) == ["app web " + SICK, "clients web " + SICK]
    assert short(instances(weir, node="10.0.2.11")) == ["ping  10.0.2.11"]
    assert short(instances(weir, kind="ltm monitor inband")) == ["clients web " + GOOD, "clients web " + SICK]
    assert instances(weir, name="unused") == {}


@pytest.mark.parametrize("arguments, code, reason", [
    ({"name": "nobody"}, 404, "ltm monitor nobody: does not exist"),
    ({"pool": "nobody"}, 404, "does not exist"),
    ({"member": GOOD}, 400, "needs its pool"),
    ({"node": "10.0.2.11", "pool": "web"}, 400, "not together"),
    ({"kind": "ltm pool"}, 400, "ltm pool is no kind of monitor"),
    ({"kind": "ltm monitor tcp", "name": "app"}, 404, "ltm monitor tcp app: does not exist")])
def test_wrong_filters(weir, arguments, code, reason):
    with pytest.raises(ApiError) as caught:
        weir.show("ltm monitor instances", **arguments)
    assert caught.value.code == code and reason in str(caught.value)


def test_passive_monitors_have_no_probes(weir):
    row = instances(weir, name="clients", member=GOOD, pool="web")[("/Common/clients", "/Common/web", "/Common/" + GOOD)]
    assert row["active"] is False and "probes" not in row and "detectSilent" not in row


def test_weirsh_shows_a_monitor(weir):
    text = weir.weirsh("show ltm monitor http app")
    assert "Ltm::Monitor:  http  app" in text
    assert "Interval        :  1 s, while up 2 s" in text and "Timeout         :  4 s" in text
    assert "Noticed within  :  5 s if silent, 2 s if refusing, 5 s if answering wrongly" in text
    assert "Servers         :  2 (1 up, 1 down)" in text
    good, sick = text.split("web " + GOOD)[1].split("web " + SICK)
    assert "State          :  up for" in good and "Last Response  :" in good and " good, 0 failed), next in" in good
    assert "State       :  down for" in sick and "Last Error  :" in sick and " ago" in sick


def test_weirsh_chooses(weir):
    text = weir.weirsh("show ltm monitor")
    assert [line.split("  ", 1)[1] for line in text.splitlines() if line.startswith("Ltm::Monitor:")] == [
        "tcp  quick", "http  app", "icmp  ping", "inband  clients"]
    assert "Servers         :  0" in weir.weirsh("show ltm monitor http unused")
    assert weir.weirsh("show ltm monitor http pool plain") == "No monitor looks at such a server\n"
    assert weir.weirsh(f"show ltm monitor pool plain member {GOOD}").count("State") == 1
    rows = json.loads(weir.weirsh("--json", "show ltm monitor icmp ping"))
    assert [row["name"] for row in rows] == ["/Common/10.0.2.11"]
    done = weir.weirsh_run("show ltm monitor http nobody")
    assert done.returncode == 1 and "ltm monitor http nobody: does not exist" in done.stderr


def test_state_of_members_tells_monitor_and_holds(weir):
    weir.edit("modify", f"ltm pool web members modify {{ {SICK} {{ session user-disabled }} }}")
    try:
        reason = weir.member("web", SICK, "status.statusReason")
        assert reason.startswith("Disabled by operator; besides: " + MARKED_DOWN)
        assert weir.member("web", SICK, "monitorStatus") == "down"
        assert weir.member("web", SICK, "status.availabilityState") == "offline"
        assert weir.member("web", SICK, "sessionStatus") == "user-disabled"
        text = weir.weirsh("show ltm pool web members").split("Reasons")[1]
        assert f"{GOOD}  up for" in text and f"{SICK}  down for" in text
        assert "Disabled by operator; besides: " + MARKED_DOWN in text
    finally:
        weir.edit("modify", f"ltm pool web members modify {{ {SICK} {{ session user-enabled }} }}")
    assert weir.member("web", SICK, "status.statusReason").startswith(MARKED_DOWN)
    assert weir.member("web", GOOD, "status.statusReason") == "Pool member is available"
    assert weir.member("web", GOOD, "monitorSince") > 1_600_000_000_000


def test_state_of_a_node(weir):
    text = weir.weirsh("show ltm node 10.0.2.11")
    assert "Monitor Status    :  up for" in text
    weir.edit("modify", "ltm node 10.0.2.11 state user-down")
    try:
        assert "Held by operator  :  user-enabled, user-down" in weir.weirsh("show ltm node 10.0.2.11")
        assert weir.member("web", GOOD, "status.statusReason") == \
            "The node is forced offline (forced offline by operator)"
        assert weir.member("web", GOOD, "monitorStatus") == "address-down"
    finally:
        weir.edit("modify", "ltm node 10.0.2.11 state user-up")


def test_without_weir_mon_the_states_stay_and_statistics_are_missing(weir):
    weir.kill_mon()
    try:
        wait_until(lambda: weir.status()["monitoring"] != "running", "weir-mon is missed")
        rows = instances(weir, name="app")
        assert {row["status"] for row in rows.values()} <= {"up", "down", "checking"} and len(rows) == 2
        assert all("probes" not in row for row in rows.values())
        assert "No statistics of probes: weir-mon is not connected" in weir.weirsh("show ltm monitor http app")
    finally:
        weir.start_mon()
    wait_until(lambda: all("probes" in row for row in instances(weir, name="app").values()), "statistics are back")
