# SPDX-License-Identifier: BSD-3-Clause
"""Events for those who follow them: what changed, why, by whom; nothing lost silently.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import contextlib
import re
import select
import signal
import socket
import time

import pytest
from cp_alone import cp, error_of  # noqa: F401

from topo import standard, wait_until
from topo import weirconf as wc
from topo.weir import ApiError, program


class Watch:
    """Follows the events of a weir-cp (a Cp, or a Weir with the same run directory)."""

    def __init__(self, cp, **arguments):
        self.cp, self.events, self.rest = cp, [], b""
        self.sock = cp.connect()
        cp.send(self.sock, {"op": "watch", **arguments})

    def read(self):
        while select.select([self.sock], [], [], 0)[0]:
            for row in self.cp.receive(self.sock).get("rows", []):
                self.events.append(row)
        return self.events

    def wait(self, count=1, **members):
        """Events that have these members, once there are as many."""
        def found():
            return [e for e in self.read() if all(e.get(name) == value for name, value in members.items())]
        wait_until(lambda: len(found()) >= count, lambda: f"{count} events {members}; there are {self.events}", 10)
        return found()


def test_what_is_told(cp):
    cp.start()
    watch = Watch(cp)
    watch.cp.ask("show", what="sys version")  # the watch is there before the next request is answered
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { session user-disabled } }")
    [event] = watch.wait(type="state", object="/Common/10.0.2.11:80")
    assert event["kind"] == "ltm pool members" and event["owner"] == "/Common/web"
    assert event["old"]["enabledState"] == "enabled" and event["new"]["enabledState"] == "disabled"
    assert event["new"]["holds"] == {"operator": "disabled"} and event["old"]["holds"] == {}
    assert event["cause"].startswith("modify ltm pool web members") and event["reason"]
    assert event["actor"] == {"class": "operator", "name": "root", "address": ""}
    assert not [e for e in watch.events if e["type"] == "commit"], "live fields alone are no commit"
    done = cp.edit("modify", "ltm virtual web disabled")
    [commit] = watch.wait(type="commit")
    assert commit["new"] == {"generation": done["generation"]} and commit["changes"] == 1
    [event] = watch.wait(type="state", kind="ltm virtual")
    assert event["new"] == {"enabledState": "disabled"} and event["reason"] == "Disabled: no new connections"
    assert event["id"] > commit["id"] and commit["id"] > watch.events[0]["id"]
    cp.edit("modify", "ltm node 10.0.2.12 state user-down")
    assert watch.wait(kind="ltm node")[0]["new"]["holds"] == {"operator": "forced-offline"}
    member = watch.wait(object="/Common/10.0.2.12:80")[0]
    assert member["new"]["monitorStatus"] == "address-down" and member["new"]["availabilityState"] == "offline"
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { state user-down } }")
    assert watch.wait(kind="ltm pool")[0]["new"]["availabilityState"] == "offline"
    assert watch.wait(2, kind="ltm virtual")[1]["new"]["availabilityState"] == "offline"
    assert watch.wait(kind="ltm virtual-address")
    before = len(watch.read())
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { ratio 9 } }")
    cp.edit("create", "ltm pool other members add { 10.0.2.13:80 }")
    watch.wait(2, type="commit")
    assert [e["type"] for e in watch.events[before:]] == ["commit"], "nothing of objects that are new, nor of a ratio"
    cp.edit("delete", "ltm virtual web")
    watch.wait(3, type="commit")


def test_after_and_over_a_restart(cp):
    cp.start()
    for number in range(3):
        cp.edit("modify", f"ltm pool web description d{number}")
    rows, result = cp.ask("watch", after=0, follow=False)
    ids = [row["id"] for row in rows]
    assert [row["cause"] for row in rows if row["type"] == "commit"] == [
        f"modify ltm pool web description d{number}" for number in range(3)]
    assert result["last"] == ids[-1] and ids == sorted(set(ids))
    assert cp.ask("watch", after=ids[-2], follow=False)[0] == rows[-1:]
    assert cp.ask("watch", after=ids[-1], follow=False)[0] == []
    cp.restart(kill=True)
    [gap] = [row for row in cp.ask("watch", after=ids[-1], follow=False)[0] if row["type"] == "gap"]
    assert gap["lost"] is None
    cp.edit("modify", "ltm pool web description again")
    rows = cp.ask("watch", after=ids[-1], follow=False)[0]
    assert rows[-1]["type"] == "commit" and rows[-1]["id"] > ids[-1]
    assert error_of(cp.ask, "watch", after="x")["field"] == "after"
    assert error_of(cp.ask, "watch", after=-2)["code"] == 400


def flip(cp, number):
    """Several states at once: ten servers off or on."""
    word = "user-disabled" if number % 2 == 0 else "user-enabled"
    cp.ask("transaction", requests=[{"op": "edit", "verb": "modify", "text": f"ltm node 10.0.9.{i} session {word}"}
                                    for i in range(1, 101)])


def test_a_slow_reader(cp):
    """It is told how much it missed, others miss nothing, and weir-cp waits for nobody."""
    cp.start()
    cp.ask("transaction", requests=[{"op": "edit", "verb": "create", "text": f"ltm node 10.0.9.{i} address 10.0.9.{i}"}
                                    for i in range(1, 101)])
    slow = cp.connect()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    cp.send(slow, {"op": "watch"})
    fast = Watch(cp)
    cp.ask("show", what="sys version")
    for number in range(60):
        start = time.monotonic()
        flip(cp, number)
        assert time.monotonic() - start < 2
        fast.read()
    states = fast.wait(6000, type="state")
    assert [e["id"] for e in states] == list(range(states[0]["id"], states[0]["id"] + 6000)), "nothing is missing"
    rows = []
    while not rows or rows[-1]["id"] != states[-1]["id"]:
        rows += cp.receive(slow).get("rows", [])
    gap = next(row for row in rows if row["type"] == "gap")
    told = [row["id"] for row in rows if row["type"] == "state"]
    assert gap["lost"] > 0 and len(told) + sum(row["lost"] for row in rows if row["type"] == "gap") == 6000
    slow.close()
    flip(cp, 0)
    fast.wait(6100, type="state")


def test_many_watchers(cp):
    cp.start()
    watches = [Watch(cp) for _ in range(64)]
    wait_until(lambda: error_of(cp.ask, "watch")["code"] == 503, "64 follow", 5)
    cp.edit("modify", "ltm pool web description x")
    for watch in watches:
        watch.wait(type="commit")
        watch.sock.close()
    wait_until(lambda: cp.ask("watch", follow=False), "their places are free", 5)


def test_one_user_leaves_room_for_others(cp):
    cp.start()
    user = {}
    for name in ("ann", "bob"):
        cp.edit("create", f'auth user {name} password "correct horse battery" '
                "partition-access add { all-partitions { role guest } }")
        who = {"user": name, "password": "correct horse battery", "address": "192.0.2.7"}
        user[name] = {"token": cp.ask("login", **{"as": who})[1]["token"], "address": "192.0.2.7"}
    watches = [Watch(cp, **{"as": user["ann"]}) for _ in range(16)]
    wait_until(lambda: error_of(cp.ask, "watch", **{"as": user["ann"]})["code"] == 503, "sixteen follow", 5)
    assert cp.ask("watch", follow=False, **{"as": user["bob"]})[1]["last"]
    for watch in watches:
        watch.sock.close()

    def free():
        with contextlib.suppress(ApiError):
            return cp.ask("watch", follow=False, **{"as": user["ann"]})
        return None
    wait_until(free, "their places are free", 5)


@pytest.fixture(scope="module")
def place():
    with standard(servers=2) as topo:
        topo.picture.start_nginx()
        topo.picture.start_weir(
            wc.monitor("http", "web", interval=1, timeout=4, failures=2, send='"GET /health HTTP/1.0\\r\\n\\r\\n"',
                       recv='"\\\\nok"'),
            wc.pool("web", topo.picture.members(80), monitor="web"), wc.virtual("web", "10.0.1.100", 80, "web"))
        weir = topo.picture.weir
        for name in ("10.0.2.11:80", "10.0.2.12:80"):
            wait_until(lambda name=name: weir.member("web", name, "monitorStatus") == "up", f"{name} is up", 10)
        yield topo.picture


def test_checks_limits_and_drains(place):
    weir = place.weir
    last = weir.ask("watch", follow=False)[1]["last"]

    def told(**members):
        return [e for e in weir.ask("watch", after=last, follow=False)[0]
                if all(e.get(key) == value for key, value in members.items())]

    place.nginx[0].sick()
    wait_until(lambda: told(kind="ltm pool members"), "the event", 10)
    [event] = told(kind="ltm pool members")
    assert event["object"] == "/Common/10.0.2.11:80" and event["actor"]["class"] == "monitor"
    assert event["old"]["checks"] == "up" and event["new"]["checks"] == "down"
    assert event["new"]["availabilityState"] == "offline" and "/Common/web" in event["cause"]
    assert not told(kind="ltm pool"), "the pool is as available as before"
    place.nginx[0].sick(False)
    wait_until(lambda: len(told(kind="ltm pool members")) == 2, "up again", 10)
    weir.weirsh("create ltm drain pool web member 10.0.2.12:80 reason restart")
    wait_until(lambda: told(type="drain"), "the drain", 10)
    wait_until(lambda: told(type="drain")[-1]["new"]["state"] == "drained", "it is drained", 10)
    drain = told(type="drain")[-1]
    assert "10.0.2.12:80" in drain["subject"] and drain["connections"] == 0 and drain["actor"]["name"] == "root"
    weir.weirsh(f"delete ltm drain {drain['object']} enable")
    wait_until(lambda: not told(type="drain")[-1]["new"]["running"], "it ended", 10)
    weir.edit("modify", "ltm virtual web connection-limit 1")
    with place.client.connect(("10.0.1.100", 80)):
        wait_until(lambda: [e for e in told(kind="ltm virtual") if e["new"].get("availabilityState") == "unavailable"],
                   "the limit is reached", 10)
    weir.kill_mon()
    wait_until(lambda: told(type="system", kind="ltm monitor"), "weir-mon is missed", 10)
    assert told(type="system")[0]["new"] == {"connected": False}
    weir.start_mon()
    wait_until(lambda: told(type="system", new={"connected": True}), "it is back", 10)


def test_weirsh(place):
    weir = place.weir
    out = open(place.topo.dir / "followed", "w+")
    process = weir.ns.popen([program("weirsh"), "--run-dir", weir.run_dir, "show", "sys", "event", "follow"], stdout=out)
    before = weir.ask("watch", follow=False)[1]["last"]
    wait_until(lambda: process.poll() is None and weir.edit("modify", f"ltm pool web description \"{time.time()}\"")
               and "sys config: generation" in (place.topo.dir / "followed").read_text(), "it is printed as it comes", 10)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    out.close()
    assert weir.ask("watch", after=before, follow=False)[0]
    weir.edit("modify", f"ltm pool web description \"{time.time()}\"")
    lines = weir.weirsh("show sys event").splitlines()
    commit = [line for line in lines if " sys config: " in line][-1]
    assert re.match(r"\d{4}-\d\d-\d\d [\d:.]+ sys config: generation \d+ -> \d+; modify ltm pool web description .*"
                    r" \[operator root\]$", commit), commit
    assert any(" ltm pool members web 10.0.2.11:80: " in line and "checks up -> down" in line for line in lines)
    last = weir.ask("watch", follow=False)[1]["last"]
    assert weir.weirsh(f"show sys event after {last}") == ""
    for words, why in [("show sys event after", "number is missing"), ("show sys event after x", "is not the number"),
                       ("show sys event before", "too much")]:
        run = weir.weirsh_run(words)
        assert run.returncode == 2 and why in run.stderr, words


def test_thousands_that_change_at_once_are_told_as_a_number(cp):
    """A pool whose only server is disabled, under 400 virtual servers: 250 objects one by one, then how many more."""
    cp.conf.write_text(cp.conf.read_text() + "".join(
        wc.virtual(f"v{number}", "10.0.9.9", 1000 + number, "web") for number in range(400)))
    cp.start()
    watch = Watch(cp)
    watch.cp.ask("show", what="sys version")
    cp.edit("modify", "ltm pool web members modify { all { state user-down } }")
    [event] = watch.wait(type="states")
    told = [e for e in watch.events if e["type"] == "state" and e["kind"] != "ltm pool members"]
    assert len(told) == 250 and event["kind"] == "ltm" and event["new"]["changed"] >= 151
