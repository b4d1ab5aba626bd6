# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp's link to a dataplane that the test plays: what is pushed when, and what commits wait for.

    test's dataplane --- dp.sock --- weir-cp --- cp.sock --- test's client
"""
import struct
import threading

import pytest
from cp_alone import cp, error_of, milliseconds  # noqa: F401  (cp is a fixture)
from dpcontrol import MSG_LIVE, MSG_MEMORY, MSG_SNAPSHOT
from fake_dp import FakeDp

from topo import wait_until

SETTLE = 2.0


@pytest.fixture
def dp(cp):
    fake = FakeDp(cp.run_dir)
    cp.start()
    cp.wait_in_force()
    yield fake
    fake.stop()


def member_id(cp, name="10.0.2.11:80"):
    return next(row["id"] for row in cp.show("ltm pool members", owner="web") if row["name"].endswith("/" + name))


def test_snapshot_and_all_live_rows_on_connect(cp, dp):
    generation, origin, data = dp.snapshots[0]
    assert len(dp.snapshots) == 1 and generation == cp.status()["generation"] and origin
    wait_until(lambda: len(dp.live) == 5, "two nodes, two members, one virtual server")
    assert dp.live[member_id(cp)] == (4, 1, 3, 0, 0)
    assert b"external\0" in data and b"1.1\0" in data


def test_ratio_is_in_force_when_answered(cp, dp):
    ident = member_id(cp)
    before = len(dp.snapshots), cp.status()["generation"]
    result = cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { ratio 9 } }")
    assert dp.live[ident][0] == 9 and not result["warnings"]
    assert (len(dp.snapshots), cp.status()["generation"]) == before, "no commit of the configuration"
    times = sorted(milliseconds(lambda: cp.edit("modify", f"ltm node 10.0.2.11 ratio {n + 1}")) for n in range(50))
    assert times[25] < 10, times


def test_node_state_reaches_its_members(cp, dp):
    ident = member_id(cp)
    cp.edit("modify", "ltm node 10.0.2.11 session user-disabled")
    assert dp.live[ident][2] == 2, "persisted only"
    cp.edit("modify", "ltm node 10.0.2.11 state user-down")
    assert dp.live[ident][2] == 0
    cp.edit("modify", "ltm node 10.0.2.11 state user-up session user-enabled")
    assert dp.live[ident][2] == 3


def test_commit_pushes_one_snapshot(cp, dp):
    result = cp.edit("create", "ltm pool other members add { 10.0.2.13:80 { } }")
    assert [row[0] for row in dp.snapshots] == [result["generation"] - 1, result["generation"]]
    assert not result["warnings"] and cp.status()["dataplane"]["generation"] == result["generation"]


def test_limits_change_live_and_in_the_snapshot(cp, dp):
    ident = member_id(cp)
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { connection-limit 77 } }")
    assert dp.live[ident][3] == 77 and dp.snapshots[-1][0] == cp.status()["generation"]


def test_refused_snapshot_is_reported(cp, dp):
    dp.refuse = "listener table: no memory"
    result = cp.edit("modify", "ltm virtual web source-port change")
    assert "listener table: no memory" in result["warnings"][0]
    assert cp.status()["dataplane"]["refused"] == dp.refuse
    assert "refused: listener table" in cp.daemon.text()
    assert "source-port change" in cp.list("ltm virtual"), "the commit stands"
    dp.refuse = None
    assert not cp.edit("modify", "ltm virtual web source-port preserve")["warnings"]
    assert cp.status()["dataplane"]["refused"] == ""


def test_restart_of_cp_pushes_nothing_new(cp, dp):
    cp.restart(kill=True)
    cp.wait_in_force()
    wait_until(lambda: dp.connections == 2 and len(dp.live_messages) >= 2, "connected again, live rows sent")
    assert len(dp.snapshots) == 1


def test_commits_while_the_dataplane_is_away(cp, dp):
    dp.drop()
    wait_until(lambda: dp.connections == 2, "connected again", SETTLE)
    dp.stop()
    wait_until(lambda: not cp.status()["dataplane"]["connected"], "noticed", SETTLE)
    spent = milliseconds(lambda: cp.edit("modify", "ltm virtual web source-port change"))
    assert spent < 1000
    result = cp.edit("modify", "ltm node 10.0.2.11 ratio 8")
    assert "not connected" in result["warnings"][0]
    assert error_of(cp.show, "sys memory")["code"] == 503
    again = FakeDp(cp.run_dir, instance=2)
    try:
        wait_until(lambda: again.snapshots and len(again.live) == 5, "snapshot and states within a second", 1)
        assert again.snapshots[0][0] == cp.status()["generation"]
    finally:
        again.stop()


def test_mute_dataplane_blocks_nobody_long(cp, dp):
    """A commit waits two seconds at most; meanwhile others are answered."""
    dp.mute = {MSG_LIVE, MSG_SNAPSHOT}
    slow = {}
    thread = threading.Thread(target=lambda: slow.update(
        result=cp.edit("modify", "ltm node 10.0.2.11 ratio 8"), done=True))
    spent = milliseconds(lambda: (thread.start(), cp.status(), cp.list("ltm"), thread.join(20)))
    assert "in time" in slow["result"]["warnings"][0] and 1500 < spent < 6000
    assert milliseconds(cp.status) < 1000
    assert "ratio 8" in cp.list("ltm node")


def test_silent_dataplane_is_given_up_and_tried_again(cp, dp):
    dp.mute = {MSG_MEMORY}
    sock = cp.connect()
    cp.send(sock, {"op": "show", "what": "sys memory"})
    wait_until(lambda: dp.connections == 2, "the silent connection is replaced", 20)
    assert cp.receive(sock)["error"]["code"] == 503
    sock.close()


def test_what_makes_no_sense_ends_the_connection_only(cp, dp):
    seen = dp.connections
    for kind, payload in ((99, b""), (10, b"\1"), (11, b"short"), (5, struct.pack("=II", 9, 0))):
        dp._send(kind, 12345, payload)
        seen += 1
        wait_until(lambda: dp.connections == seen and dp.peer, "connected again", SETTLE)
        wait_until(lambda: cp.status()["dataplane"]["connected"], "greeted again", SETTLE)


def test_counters_are_read(cp, dp):
    ident = member_id(cp)
    dp.count(ident, current=5, maximum=9, connections=1234)
    row = next(row for row in cp.show("ltm pool members", owner="web") if row["id"] == ident)
    assert (row["serverside.curConns"], row["serverside.maxConns"], row["serverside.totConns"]) == (5, 9, 1234)
    pool = cp.show("ltm pool", name="web")[0]
    assert pool["serverside.totConns"] == 1234 and pool["memberCnt"] == 2
    assert cp.show("ltm node", name="10.0.2.11")[0]["serverside.curConns"] == 5
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { connection-limit 5 } }")
    row = next(row for row in cp.show("ltm pool members", owner="web") if row["id"] == ident)
    assert row["status.color"] == "yellow"
    assert {row["reason"] for row in cp.show("sys drop")} > {"no-listener", "no-route"}
    assert cp.show("sys worker")[0]["rx-packets"] == 0
    assert cp.show("net interface") == [{"name": "1.1", "driver": "net_fake", "mac": "02:00:00:00:00:01", "up": True}]
    assert {row["name"]: row["value"] for row in cp.show("sys memory")}["mbufs"] == 10
    assert cp.show("net arp")[0]["mac"] == "02:00:00:00:00:09" and cp.show("net ndp") == []


def test_a_million_connections_at_the_clients_pace(cp, dp):
    """A client that stops reading stops the scan; weir-cp's memory stays bounded; others are served."""
    def memory():
        text = (cp.run_dir.__class__(f"/proc/{cp.daemon.pid}/status")).read_text()
        return int(text.split("VmRSS:")[1].split()[0])

    dp.flows = 1_000_000
    cp.status()
    before = memory()
    sock = cp.connect()
    cp.send(sock, {"op": "show", "what": "sys connection"})
    assert cp.receive(sock)["rows"][0]["cs-client-addr"] == "10.0.0.7"
    wait_until(lambda: dp.scans, "the scan began")
    last = -1
    while last != len(dp.scans):
        last = len(dp.scans)
        for _ in range(5):
            cp.status()
        threading.Event().wait(0.2)
    assert len(dp.scans) < 50, "it waits for the client"
    assert memory() - before < 30000, "kB"
    sock.close()
    cp.edit("modify", "ltm node 10.0.2.11 ratio 3")
    rows, result = cp.ask("show", what="sys connection", limit=5000)
    assert len(rows) == result["count"] == 5000
    assert cp.ask("delete-connections", filter={})[1] == {"count": 1_000_000}


def test_hidden_connections_are_not_counted(cp, dp):
    """Those of no virtual server are not for a user of one partition; one in a hundred is."""
    web = cp.show("ltm virtual", name="web")[0]["id"]
    dp.flows, dp.virtual_of = 5000, lambda number: web if number % 100 == 99 else 0
    cp.edit("create", 'auth user bob password "correct horse battery" partition-access add { Common { role guest } }')
    bob = {"user": "bob", "password": "correct horse battery", "address": "192.0.2.7"}
    for limit, seen in ((0, 50), (7, 7), (60, 50)):
        dp.scans.clear()
        rows, result = cp.ask("show", what="sys connection", limit=limit, **{"as": bob})
        assert len(rows) == result["count"] == seen and {row["virtual"] for row in rows} == {"/Common/web"}
        assert len(dp.scans) <= 6, "whole pages, however few are shown"


def test_filter_reaches_the_dataplane(cp, dp):
    dp.flows = 3
    cp.show("sys connection", filter={"cs-client-addr": "10.0.0.0/8", "cs-server-port": 80, "protocol": "tcp",
                                      "pool": "web", "member": "10.0.2.11:80", "age": 60})
    action, limit, cursor, rest = dp.scans[-1]
    fields = struct.unpack_from("=16s16s16s16sBBBxHHH2xIIIIII", rest)
    assert (action, cursor) == (0, 0) and fields[0][-4:] == bytes([10, 0, 0, 0])
    assert fields[4:7] == (8, 0, 6) and fields[7:10] == (0, 80, 0)
    assert fields[11] == member_id(cp) and fields[14] == 60
    for wrong, said in (({"cs-client-addr": "10.0.0.300"}, "address"), ({"age": "x"}, "number"),
                        ({"colour": "red"}, "no part"), ({"member": "a:1"}, "pool"),
                        ({"virtual": "nosuch"}, "exist"), ({"protocol": "ipx"}, "tcp")):
        error = error_of(cp.show, "sys connection", filter=wrong)
        assert error["code"] in (400, 404) and said in error["text"], error


def test_events_are_written_down(cp, dp):
    ident = member_id(cp)
    dp.event(1, 2, ident)
    wait_until(lambda: "10.0.2.11:80: connection limit reached" in cp.daemon.text(), "the journal's line")
    dp.event(7, 6, 0)
    wait_until(lambda: "5 events of the dataplane were lost" in cp.daemon.text(), "the gap is noticed")
