# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp's side of mon.sock (docs/monitor-protocol.md), with a weir-mon that the test plays."""
import json
import os
import pwd
import socket
import stat
import struct
import subprocess

import pytest
from cp_alone import Cp

from topo import Topology, wait_until
from topo import weirconf as wc

KINDS = ["http", "tcp", "icmp", "agent-check", "snmp-dca"]
CONF = wc.config(
    wc.monitor("tcp", "a", interval=3, timeout=10), wc.monitor("http", "b", defaults_from="http"),
    wc.monitor("dns", "d", qname="weir.example"),
    wc.pool("web", {("10.0.2.11", 80): {}, ("10.0.2.12", 80): {}}, monitor="a"))


class Mon:
    """A connection of weir-mon's."""

    def __init__(self, run_dir):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(5)
        self.sock.connect(str(run_dir / "mon.sock"))
        self.data = b""

    def send(self, message):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.sock.sendall(struct.pack("!I", len(body)) + body)

    def hello(self, **more):
        self.send({"type": "hello", "version": 1, "kinds": KINDS, "pid": 1, **more})
        return self

    def receive(self):
        """The next message, or None at the end of the connection."""
        while len(self.data) < 4 or len(self.data) < 4 + struct.unpack("!I", self.data[:4])[0]:
            try:
                more = self.sock.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            self.data += more
        length = struct.unpack("!I", self.data[:4])[0]
        body, self.data = self.data[4:4 + length], self.data[4 + length:]
        return json.loads(body)

    def until(self, kind):
        """Messages up to the first of a kind."""
        messages = []
        while not messages or messages[-1]["type"] != kind:
            message = self.receive()
            assert message, f"the connection ended before {kind}; got {messages}"
            messages.append(message)
        return messages

    def verdict(self, instance, verdict, **more):
        self.send({"type": "verdict", "object": instance["object"], "monitor": instance["monitor"],
                   "verdict": verdict, "reason": "said by the test", "response-ms": None, "time": 0, **more})

    def close(self):
        self.sock.close()


@pytest.fixture
def cp():
    with Topology() as topo:
        alone = Cp(topo.namespace("cp"), topo.dir, CONF)
        alone.daemon.arguments += ["--monitor-user", "nobody"]
        alone.start()
        yield alone
        alone.stop()


def status(cp, member="10.0.2.11:80"):
    return next(row["monitorStatus"] for row in cp.show("ltm pool members", owner="web") if row["name"].endswith(member))


def wait_status(cp, expected, member="10.0.2.11:80"):
    wait_until(lambda: status(cp, member) == expected, f"{member} is {expected}", 5)


def synced(cp):
    mon = Mon(cp.run_dir).hello()
    assert mon.receive() == {"type": "path", "open": False}, "there is no dataplane"
    return mon, mon.until("sync-end")


def instances(messages):
    return {message["address"]: message for message in messages if message["type"] == "instance"}


def test_full_sync_then_only_what_differs(cp):
    mon, messages = synced(cp)
    assert [message["type"] for message in messages] == ["sync-begin", "monitor", "instance", "instance", "sync-end"]
    monitor = messages[1]
    assert (monitor["name"], monitor["kind"], monitor["interval"], monitor["timeout"]) == ("/Common/a", "tcp", 3, 10)
    members = instances(messages)
    assert {m["port"] for m in members.values()} == {80} and {m["monitor"] for m in members.values()} == {monitor["id"]}
    assert "last" not in members["10.0.2.11"]
    cp.edit("create", "ltm pool plain members add { 10.0.2.13:80 }")
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { ratio 7 session user-disabled } }")
    cp.edit("modify", "ltm monitor http b interval 9")
    cp.edit("modify", "ltm pool web members add { 10.0.2.14:80 }")
    message = mon.receive()
    assert (message["type"], message["address"]) == ("instance", "10.0.2.14")
    cp.edit("modify", "ltm monitor tcp a interval 4")
    message = mon.receive()
    assert (message["type"], message["interval"]) == ("monitor", 4)
    cp.edit("modify", "ltm pool web members delete { 10.0.2.14:80 }")
    assert mon.receive()["type"] == "instance-delete"
    mon.close()


def test_rules_become_instances(cp):
    mon, messages = synced(cp)
    first, monitor = instances(messages)["10.0.2.11"]["object"], messages[1]["id"]
    cp.edit("modify", "ltm pool web monitor a and b")
    added = [mon.receive() for _ in range(3)]
    assert [message["type"] for message in added] == ["monitor", "instance", "instance"]
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { monitor b } }")
    message = mon.receive()
    assert (message["type"], message["object"], message["monitor"]) == ("instance-delete", first, monitor)
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { monitor none } }")
    assert mon.receive()["type"] == "instance-delete"
    assert status(cp) == "unchecked"
    cp.edit("modify", "ltm pool web monitor none")
    gone = [mon.receive()["type"] for _ in range(4)]
    assert sorted(gone) == ["instance-delete"] * 2 + ["monitor-delete"] * 2
    mon.close()


def test_verdicts_and_what_was_known_last(cp):
    mon, messages = synced(cp)
    member = instances(messages)["10.0.2.11"]
    mon.verdict(member, "up")
    wait_status(cp, "up")
    mon.verdict(member, "down", reason="no\x1b[31m answer", time=1234567890123)
    wait_status(cp, "down")
    assert "last error: no?[31m answer" in cp.daemon.text()
    mon.close()
    wait_until(lambda: cp.status()["monitoring"].startswith("stopped"), "it is said", 5)
    mon, messages = synced(cp)
    assert instances(messages)["10.0.2.11"]["last"] == {
        "verdict": "down", "reason": "no?[31m answer", "time": 1234567890123}
    mon.verdict(instances(messages)["10.0.2.11"], "checking")
    mon.verdict(instances(messages)["10.0.2.12"], "up")
    wait_status(cp, "up", "10.0.2.12:80")
    assert status(cp) == "down", "a weir-mon that knows nothing yet changes nothing"
    mon.close()


def test_the_newest_connection_wins(cp):
    old, _ = synced(cp)
    new, messages = synced(cp)
    assert old.receive() is None
    new.verdict(instances(messages)["10.0.2.11"], "up")
    wait_status(cp, "up")
    new.close()


BAD_START = {"no frame": b"GET / HTTP/1.1\r\n\r\n", "no JSON": struct.pack("!I", 3) + b"{]}",
             "no object": struct.pack("!I", 2) + b"[]", "too long": struct.pack("!I", 1 << 30),
             "no hello": struct.pack("!I", 18) + b'{"type":"verdict"}',
             "version": struct.pack("!I", 41) + b'{"type":"hello","version":2,"kinds":["a"]}'[:41]}


@pytest.mark.parametrize("what", BAD_START)
def test_a_bad_beginning_ends_the_connection(cp, what):
    mon = Mon(cp.run_dir)
    mon.sock.sendall(BAD_START[what])
    assert mon.receive() is None
    mon, _ = synced(cp)
    mon.close()


NONSENSE = [{}, {"type": 7}, {"type": "no-such"}, {"type": "verdict"}, {"type": "verdict", "object": -1, "monitor": 1e300},
            {"type": "verdict", "object": 1, "monitor": 1, "verdict": "well"}, {"type": "dynamic-ratio", "ratio": 0},
            {"type": "dynamic-ratio", "object": "x", "monitor": [], "ratio": 101}, {"type": "agent"},
            {"type": "agent", "object": {}, "monitor": {}, "weight": "100%"}, {"type": "stats", "request": 9},
            {"type": "stats-end"}, {"type": "refused"}, {"type": "refused", "message": [], "id": 2 ** 40},
            {"type": "hello", "version": 9}]


def test_messages_without_sense_change_nothing(cp):
    mon, messages = synced(cp)
    for message in NONSENSE:
        mon.send(message)
    member = instances(messages)["10.0.2.11"]
    mon.send({**member, "type": "verdict", "verdict": "well"})
    mon.send({"type": "verdict", **{key: member[key] for key in ("object", "monitor")}, "verdict": "up",
              "reason": {"a": 1}, "time": "now"})
    wait_status(cp, "up")
    assert status(cp, "10.0.2.12:80") == "checking"
    assert 'message "no-such" makes no sense' in cp.daemon.text()
    mon.close()


def test_a_bad_frame_later_ends_the_connection(cp):
    mon, _ = synced(cp)
    mon.sock.sendall(struct.pack("!I", (1 << 20) + 1))
    assert mon.receive() is None


def test_what_cannot_be_probed_says_why(cp):
    cp.edit("modify", "ltm pool web monitor d")
    mon, messages = synced(cp)
    assert [message["type"] for message in messages] == ["sync-begin", "sync-end"]
    row = cp.show("ltm pool members", owner="web")[0]
    assert row["monitorStatus"] == "checking"
    assert row["monitorReason"] == "/Common/d: this weir-mon has no such type of monitor"
    mon.close()
    cp.edit("modify", "ltm pool web monitor a")
    mon, messages = synced(cp)
    mon.send({"type": "refused", "message": "monitor", "id": messages[1]["id"], "field": "interval", "reason": "is too odd"})
    wait_until(lambda: cp.show("ltm pool members", owner="web")[0]["monitorReason"] ==
               "/Common/a: not probed: interval: is too odd", "it is shown", 5)
    assert "refused monitor /Common/a: not probed: interval: is too odd" in cp.daemon.text()
    cp.edit("modify", "ltm monitor tcp a interval 4")
    assert [mon.receive()["type"] for _ in range(3)] == ["monitor", "instance", "instance"]
    assert cp.show("ltm pool members", owner="web")[0]["monitorReason"] == "/Common/a: no answer yet"
    mon.close()


def test_files_are_read_and_followed(cp):
    """A renewed certificate is taken without a commit; one that is not there says so."""
    cp.edit("create", "ltm monitor https s cert client.pem key client.key")
    cp.edit("modify", "ltm pool web monitor s")
    mon = Mon(cp.run_dir).hello(kinds=["https"])
    assert [message["type"] for message in mon.until("sync-end")] == ["path", "sync-begin", "sync-end"]
    reason = cp.show("ltm pool members", owner="web")[0]["monitorReason"]
    assert reason == "/Common/s: cert: ssl/client.pem cannot be read: No such file or directory"
    (cp.run_dir / "ssl").mkdir()
    for number in (1, 2):
        for name in ("client.pem", "client.key"):
            (cp.run_dir / "ssl" / name).write_text(f"{name} {number}")
        if number == 1:
            cp.edit("modify", "ltm monitor https s interval 6")
        mon.sock.settimeout(12)
        messages = [mon.receive() for _ in range(3 if number == 1 else 1)]
        assert (messages[0]["certificate"], messages[0]["key"]) == (f"client.pem {number}", f"client.key {number}")
    mon.close()


def test_dynamic_ratio(cp):
    cp.edit("create", "ltm monitor snmp-dca dca")
    cp.edit("modify", "ltm pool web monitor dca")
    generation = cp.status()["generation"]
    mon, messages = synced(cp)
    member = instances(messages)["10.0.2.11"]
    mon.send({"type": "dynamic-ratio", "object": member["object"], "monitor": member["monitor"], "ratio": 37})
    wait_until(lambda: [row["dynamicRatio"] for row in cp.show("ltm pool members", owner="web")] == [37, 1], "it is taken", 5)
    assert cp.status()["generation"] == generation
    # It advises: a server is not up because its load is known.
    mon.verdict(member, "up")
    cp.edit("modify", "ltm pool web monitor min 1 of { a dca }")
    tcp = next(one for one in mon.until("instance") if one["type"] == "instance" and one["address"] == "10.0.2.11")
    mon.verdict(tcp, "down")
    wait_until(lambda: cp.show("ltm pool members", owner="web")[0]["monitorStatus"] == "down", "a alone counts", 5)
    cp.edit("modify", "ltm pool web monitor dca")
    assert cp.show("ltm pool members", owner="web")[0]["monitorStatus"] == "unchecked"
    mon.close()


def test_the_socket_is_weir_mons_alone(cp):
    path = cp.run_dir / "mon.sock"
    found = os.stat(path)
    assert found.st_uid == pwd.getpwnam("nobody").pw_uid and stat.S_IMODE(found.st_mode) == 0o600
    stranger = ("import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
                "os.setuid(1); print(len(s.recv(1)))")
    path.chmod(0o666)
    for uid, word in ((1, b"0"),):
        done = subprocess.run(["/usr/bin/python3", "-c", stranger.replace("os.setuid(1); ", ""), str(path)], user=uid,
                              capture_output=True, timeout=10, check=False)
        assert done.stdout.strip() == word, done.stderr
    assert "user 1 may not connect" in cp.daemon.text()


def test_who_reads_nothing_is_given_up(cp):
    mon = Mon(cp.run_dir)
    mon.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    text = "".join(f" 10.0.{100 + n // 250}.{n % 250 + 1}:80 {{ address 10.0.{100 + n // 250}.{n % 250 + 1} }}"
                   for n in range(4000))
    cp.edit("create", f"ltm pool many monitor a members add {{{text} }}")
    mon.hello()
    wait_until(lambda: "weir-mon: reads nothing" in cp.daemon.text(), "it is given up", 20)
    mon, messages = synced(cp)
    assert len(instances(messages)) == 4002
    mon.close()


def test_the_journal_stays_readable_when_all_fall_at_once(cp):
    """A data centre that flaps is no line for each server, again and again."""
    def lines():
        return [line for line in cp.daemon.text().splitlines() if "monitor status" in line]

    text = "".join(f" 10.0.{100 + n // 250}.{n % 250 + 1}:80 {{ address 10.0.{100 + n // 250}.{n % 250 + 1} }}"
                   for n in range(1000))
    cp.edit("create", f"ltm pool many monitor a members add {{{text} }}")
    mon, messages = synced(cp)
    servers = [message for message in messages if message["type"] == "instance"]
    for verdict in ("up", "down") * 5:
        for server in servers:
            mon.verdict(server, verdict)
    wait_until(lambda: status(cp) == "down" and "one by one: " in cp.daemon.text()
               and sum(row["monitorStatus"] == "down" for row in cp.show("ltm pool members")) == 1002, "all are down", 10)
    wait_until(lambda: "too many servers" in lines()[-1], lambda: f"the rest is counted: {lines()[-3:]}", 10)
    assert len(lines()) < 700
    newest = {row["incident"]: row["part"] for row in cp.ask("log", limit=10000, type="state")[0]
              if row.get("part") in ("open", "close")}
    assert newest and set(newest.values()) == {"open"}, "what is down is an incident that is told of as open"
    mon.close()


def test_a_weir_mon_that_is_not_well_fills_no_log_and_speaks_for_no_agent(cp):
    mon, messages = synced(cp)
    member = instances(messages)["10.0.2.11"]
    mon.send({"type": "agent", "object": member["object"], "monitor": member["monitor"], "admin": "maint"})
    mon.send({"type": "dynamic-ratio", "object": member["object"], "monitor": member["monitor"], "ratio": 9})
    for _ in range(5000):
        mon.send({"type": "nonsense"})
    mon.verdict(member, "up")
    wait_status(cp, "up")
    [row] = [row for row in cp.show("ltm pool members", owner="web") if row["addr"] == "10.0.2.11"]
    assert row["holds"] == [] and row["dynamicRatio"] == 1
    log = cp.daemon.text()
    assert 'message "agent" makes no sense' in log and 'message "dynamic-ratio" makes no sense' in log
    assert log.count("makes no sense") < 500
    mon.close()


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: b"\xff" * len(data), lambda data: data[:40] + b"\xff" + data[41:]])
def test_damaged_verdicts_are_said_and_believed_no_more(cp, damage):
    mon, messages = synced(cp)
    for member in instances(messages).values():
        mon.verdict(member, "up")
    wait_until(lambda: {status(cp), status(cp, "10.0.2.12:80")} == {"up"}, "both are up", 5)
    mon.close()
    cp.daemon.kill()
    path = cp.store / "verdicts"
    path.write_bytes(damage(path.read_bytes()))
    cp.start()
    assert {status(cp), status(cp, "10.0.2.12:80")} == {"checking"}
    assert f"{path}: damaged" in cp.daemon.text()
