# SPDX-License-Identifier: BSD-3-Clause
"""How weir-cp asks for the connections of servers that went down: one walk after another, each for a reason that
still holds.

    test's dataplane, which also tells of failed connections --- dp.sock --- weir-cp (a passive monitor)
"""
import struct

import pytest
from cp_alone import cp  # noqa: F401  (cp is a fixture)
from fake_dp import LIVE_ROW, SCAN, FakeDp

from topo import wait_until
from topo import weirconf as wc

COUNT = 50
EBUSY = 16
CONNECT_FAILED = 5
DELETE, DROP = 1, 3
CONF = wc.config(
    wc.vlan("internal", "1.2", number=20), wc.self_ip("i", "10.0.2.1/24", "internal"),
    wc.monitor("inband", "passive", failures=1, retry_time=1),
    wc.pool("web", [("10.0.2.11", 8000 + n) for n in range(COUNT)], monitor="passive", service_down_action="reset"),
    wc.virtual("web", "10.0.1.100", 80, "web"))


class SlowDp(FakeDp):
    """Keeps the answers to scans back while held. log: ("down", id), ("up", id), ("scan", id) in order of coming."""

    def __init__(self, run_dir):
        self.held, self.kept, self.log, self.busy, self.number = False, [], [], 0, 0
        super().__init__(run_dir)

    def _live(self, seq, payload, fds):
        for place in range(8, len(payload), LIVE_ROW.size):
            row = LIVE_ROW.unpack_from(payload, place)
            self.log.append(("up" if row[3] else "down", row[0]))
        super()._live(seq, payload, fds)

    def _scan(self, seq, payload, fds):
        member = struct.unpack_from("=I", payload, SCAN.size + 64 + 4 + 6 + 2 + 4)[0]
        assert payload[SCAN.size + 64 + 3] == 1, "only flows of members that are down"
        self.log.append(("scan", member))
        if self.busy:
            self.busy -= 1
            self._result(seq, -EBUSY, "scan: too many at once")
        elif self.held:
            self.kept.append((seq, payload, fds))
        else:
            super()._scan(seq, payload, fds)

    def release(self):
        self.held = False
        while self.kept:
            super()._scan(*self.kept.pop())

    def fails(self, *members):
        for member in members:
            self.number += 1
            self.event(self.number, CONNECT_FAILED, member, 1)

    def scanned(self):
        return [member for what, member in self.log if what == "scan"]


@pytest.fixture
def place(cp):
    """(weir-cp, dataplane, ids of the members)."""
    cp.conf.write_text(CONF)
    dp = SlowDp(cp.run_dir)
    cp.start()
    cp.wait_in_force()
    members = [row["id"] for row in cp.show("ltm pool members", owner="web")]
    wait_until(lambda: len(dp.live) == COUNT + 2, "all live rows")
    dp.log.clear()
    yield cp, dp, members
    dp.stop()


def status(cp, member):
    return next(row["monitorStatus"] for row in cp.show("ltm pool members", owner="web") if row["id"] == member)


def test_fifty_at_once(place):
    """One at a time, each once, each behind the row that keeps new connections away."""
    cp, dp, members = place
    dp.held = True
    dp.fails(*members)
    wait_until(lambda: sum(what == "down" for what, _ in dp.log) == COUNT, "all rows are told")
    assert len(dp.scanned()) == 1, "the next only when the first is answered"
    cp.edit("modify", "ltm monitor inband passive retry-time 100")
    dp.release()
    wait_until(lambda: len(dp.scanned()) == COUNT, lambda: f"each is asked for, not {len(dp.scanned())}")
    assert sorted(dp.scanned()) == sorted(members)
    for member in members:
        assert dp.log.index(("down", member)) < dp.log.index(("scan", member))


def test_back_before_its_turn(place):
    cp, dp, members = place
    first, second, third = members[:3]
    dp.held = True
    dp.fails(first, second)
    wait_until(lambda: ("up", second) in dp.log, "it is tried again", 5)
    dp.fails(third)
    wait_until(lambda: ("down", third) in dp.log, "another is down")
    dp.release()
    wait_until(lambda: third in dp.scanned(), "its turn")
    assert dp.scanned() == [first, third], "not of one that is back"


def test_twice_down_before_its_turn(place):
    cp, dp, members = place
    first, second = members[:2]
    dp.held = True
    dp.fails(first, second)
    wait_until(lambda: ("up", second) in dp.log, "it is tried again", 5)
    dp.fails(second)
    wait_until(lambda: dp.log.count(("down", second)) == 2, "down again")
    dp.release()
    wait_until(lambda: second in dp.scanned(), "its turn")
    assert dp.scanned() == [first, second]


def test_many_connections_in_parts(place):
    """A member's walk stops after so many connections, so that other questions get their turn, and goes on."""
    cp, dp, members = place
    dp.flows = 150000
    cp.edit("modify", "ltm pool web service-down-action drop")
    dp.fails(members[0])
    wait_until(lambda: len(dp.scans) == 3, "three parts")
    assert [scan[:3] for scan in dp.scans] == [(DROP, 65536, 0), (DROP, 65536, 65536), (DROP, 65536, 131072)]
    wait_until(lambda: "10.0.2.11:8000: down: 150000 connections dropped" in cp.daemon.text(), "it is told")


def test_busy_dataplane_is_asked_again(place):
    cp, dp, members = place
    dp.busy = 3
    dp.fails(members[0])
    wait_until(lambda: dp.scanned() == members[:1] * 4, "until it takes the question")
    assert [scan[0] for scan in dp.scans] == [DELETE]


def test_lost_connection(place):
    """What was asked is void; who is down when the dataplane is back gets his turn."""
    cp, dp, members = place
    cp.edit("modify", "ltm monitor inband passive retry-time 100")
    dp.held = True
    dp.fails(*members[:3])
    wait_until(lambda: len(dp.scanned()) == 1 and status(cp, members[2]) == "down", "the first is asked for")
    dp.log.clear()
    dp.kept.clear()
    dp.held = False
    dp.drop()
    wait_until(lambda: sorted(dp.scanned()) == sorted(members[:3]), "all three", 5)
    assert [scan[0] for scan in dp.scans] == [DELETE] * 3
