# SPDX-License-Identifier: BSD-3-Clause
"""Drains as weir-cp keeps them: with a dataplane that the test plays, so that counts are what it says."""
import json
import pathlib
import signal
import struct
import subprocess
import time

import pytest
from cp_alone import CONF, Cp, cp, error_of  # noqa: F401
from fake_dp import FakeDp
from topo import wait_until
from topo import weirconf as wc
from topo.weir import program

ZERO = 1  # EVENT_CONNECTIONS_ZERO
SCAN_DELETE = 1
MEMBER, NODE = "10.0.2.11:80", "10.0.2.11"


@pytest.fixture
def dp(cp):  # noqa: F811
    fake = FakeDp(cp.run_dir)
    cp.start()
    cp.wait_in_force()
    yield fake
    fake.stop()


def ident(cp, kind, name):  # noqa: F811
    return next(row["id"] for row in cp.show(kind) if row["name"].endswith("/" + name))


def begin(cp, **arguments):  # noqa: F811
    if "node" not in arguments:
        arguments = {"pool": "web", "member": MEMBER, **arguments}
    return cp.ask("start-drain", **arguments)[1]["id"]


def row(cp, number):  # noqa: F811
    [found] = cp.show("ltm drain", name=str(number))
    return found


def state(cp, number):  # noqa: F811
    return row(cp, number)["state"]


def held(cp, name=MEMBER):  # noqa: F811
    found = next(r for r in cp.show("ltm pool members") if r["name"].endswith("/" + name))
    return found["session"], found["state"]


def weirsh(cp, *words):  # noqa: F811
    done = subprocess.run([program("weirsh"), "--run-dir", cp.run_dir, *words], capture_output=True, text=True,
                          timeout=30, check=False)
    return done.returncode, done.stdout, done.stderr


def test_zero_is_told_by_an_event(cp, dp):  # noqa: F811
    member = ident(cp, "ltm pool members", MEMBER)
    dp.count(member, 3, 3, 3)
    number = begin(cp, reason="patch day")
    wait_until(lambda: row(cp, number)["connections"] == 3, "it counts")
    with cp.connect() as sock:
        cp.send(sock, {"op": "wait-drain", "drain": number, "seconds": 20})
        dp.count(member, 0, 3, 3)
        started = time.monotonic()
        dp.event(1, ZERO, member)
        assert cp.receive(sock)["result"]["state"] == "drained"
        assert time.monotonic() - started < 5
    assert f"Pool /Common/web member /Common/{MEMBER} drained in" in cp.daemon.text()
    assert "holds" not in cp.list("ltm pool") and held(cp) == ("user-disabled", "user-up")
    assert f'reason "drain {number}: patch day"' in "".join(
        cp.ask("list", kind="ltm pool", form="conf", holds=True)[0])


def test_reason_of_any_bytes(cp, dp):  # noqa: F811
    """It comes back as it was, and does not steer the terminal of who reads the log."""
    reason = "a\nb \x1b[31m \u00fc"
    number = begin(cp, reason=reason)
    assert row(cp, number)["reason"] == reason
    assert f"drain {number} begun by root: a?b ?[31m \u00fc" in cp.daemon.text()
    cp.restart()
    assert row(cp, number)["reason"] == reason


def test_lost_event_comes_late_not_never(cp, dp):  # noqa: F811
    """Counts are read, events only say when."""
    member = ident(cp, "ltm pool members", MEMBER)
    dp.count(member, 1, 1, 1)
    number = begin(cp)
    wait_until(lambda: row(cp, number)["connections"] == 1, "it counts")
    dp.count(member, 0, 1, 1)
    wait_until(lambda: state(cp, number) == "drained", "the timer sees it")


def test_persistent_clients_reopen_it(cp, dp):  # noqa: F811
    """cilium/cilium#27096: who still sends new connections to a server that drains is said."""
    member = ident(cp, "ltm pool members", MEMBER)
    number = begin(cp)
    wait_until(lambda: state(cp, number) == "drained", "it had none")
    dp.count(member, 2, 2, 2)
    wait_until(lambda: state(cp, number) == "draining", "it is open again")
    assert row(cp, number)["reopened"] == 1 and "came again" in row(cp, number)["said"]
    assert error_of(cp.ask, "wait-drain", drain=number, seconds=0)["code"] == 504
    dp.count(member, 0, 2, 2)
    assert cp.ask("wait-drain", drain=number, seconds=10)[1]["state"] == "drained"
    assert "has connections again: 2" in cp.daemon.text()


def test_cap_without_action(cp, dp):  # noqa: F811
    member = ident(cp, "ltm pool members", MEMBER)
    dp.count(member, 2, 2, 2)
    number = begin(cp, timeout=1)
    error = error_of(cp.ask, "wait-drain", drain=number, seconds=20)
    assert error["code"] == 409 and "connections left after 1 s: 2" in error["text"]
    assert error["drain"]["state"] == "timed-out" and error["drain"]["running"]
    assert held(cp) == ("user-disabled", "user-up"), "the hold stays"
    assert not dp.scans, "nobody was reset"
    dp.count(member, 0, 2, 2)
    assert wait_until(lambda: state(cp, number) == "drained", "it is still watched")


def test_resets_are_scans_for_its_object_alone(cp, dp):  # noqa: F811
    """One scan at a time; the filter names the node, and how long a connection must have been silent."""
    dp.flows = 5
    node = ident(cp, "ltm node", NODE)
    dp.count(node, 5, 5, 5)
    number = begin(cp, node=NODE, **{"stuck-time": 40})
    wait_until(lambda: row(cp, number)["stuck"] >= 5, "a scan is made")
    action, limit, _, payload = next(scan for scan in dp.scans if scan[0] == SCAN_DELETE)
    virtual, member, at_node, pool, age, idle = struct.unpack_from("=6I", payload, 64 + 4 + 8)
    assert (action, limit) == (SCAN_DELETE, 0)
    assert (virtual, member, at_node, pool, age, idle) == (0, 0, node, 0, 0, 40)


@pytest.mark.parametrize("command, said", [
    ("modify ltm node 10.0.2.11 session user-enabled", "the server was enabled"),
    ("delete ltm node n9", "the server was deleted"),
])
def test_ends_with_its_object_or_hold(cp, dp, command, said):  # noqa: F811
    cp.edit("create", "ltm node n9 address 10.0.2.99")
    node = "n9" if "n9" in command else NODE
    dp.count(ident(cp, "ltm node", node), 1, 1, 1)
    number = begin(cp, node=node)
    with cp.connect() as sock:
        cp.send(sock, {"op": "wait-drain", "drain": number})
        verb, text = command.split(" ", 1)
        cp.edit(verb, text)
        error = cp.receive(sock)["error"]
    assert error["code"] == 409 and f"cancelled by root: {said}" in error["text"]
    found = row(cp, number)
    assert (found["state"], found["running"], found["ended-by"]) == ("cancelled", False, "root")
    assert error_of(cp.ask, "end-drain", drain=number)["code"] == 409


def test_holds_of_operator_and_agent_stay_apart(cp, dp):  # noqa: F811
    """S0-24: each drain has its own hold; the agent's end does not bring back what an operator took out."""
    operators, agents = begin(cp), begin(cp, **{"class": "agent"})
    error = error_of(begin, cp, **{"class": "agent"})
    assert error["code"] == 409 and f"ltm drain {agents}" in error["reason"]
    assert (error["kind"], error["object"]) == ("ltm pool members", f"/Common/web /Common/{MEMBER}")
    cp.ask("end-drain", drain=agents, enable=True)
    assert held(cp) == ("user-disabled", "user-up")
    assert row(cp, operators)["running"] and not row(cp, agents)["running"]
    again = begin(cp, **{"class": "agent"})
    result = cp.ask("end-drain", drain=operators, enable=True)[1]
    assert "hold of an agent was cleared" in result["note"]
    assert held(cp) == ("user-enabled", "user-up")
    assert not row(cp, again)["running"], "an operator's enable clears all"


def test_end_without_enable_leaves_the_hold(cp, dp):  # noqa: F811
    number = begin(cp, **{"force-offline": True})
    assert held(cp) == ("user-disabled", "user-down")
    wait_until(lambda: state(cp, number) == "drained", "it had none")
    result = cp.ask("end-drain", drain=number)[1]
    assert result["state"] == "drained" and not result["running"]
    assert held(cp) == ("user-disabled", "user-down")


def test_weaker_drain_keeps_a_stronger_hold(cp, dp):  # noqa: F811
    cp.edit("modify", f"ltm pool web members modify {{ {MEMBER} {{ session user-disabled state user-down }} }}")
    begin(cp)
    assert held(cp) == ("user-disabled", "user-down")


@pytest.mark.parametrize("kill", [True, False], ids=["kill", "stop"])
def test_survives_weir_cp(cp, dp, kill):  # noqa: F811
    """Also right after the answer; its time runs on, and the next number is a new one."""
    member = ident(cp, "ltm pool members", MEMBER)
    dp.count(member, 4, 4, 4)
    number = begin(cp, reason='a "reason" \u00e4', timeout=600, **{"stuck-time": 500, "force-offline": True})
    before = row(cp, number)
    cp.restart(kill=kill)
    wait_until(lambda: row(cp, number)["connections"] == 4, "it counts again")
    after = row(cp, number)
    for key in ("state", "reason", "timeout", "stuck-time", "force-offline", "started", "author", "member"):
        assert after[key] == before[key], key
    assert after["state"] == "draining"
    dp.count(member, 0, 4, 4)
    assert cp.ask("wait-drain", drain=number, seconds=10)[1]["state"] == "drained"
    assert begin(cp, node=NODE) == number + 1


def test_time_runs_on_without_weir_cp(cp, dp):  # noqa: F811
    dp.count(ident(cp, "ltm pool members", MEMBER), 1, 1, 1)
    number, begun = begin(cp, timeout=4), time.monotonic()
    cp.stop()
    time.sleep(2)
    cp.start()
    back = time.monotonic()
    error = error_of(cp.ask, "wait-drain", drain=number, seconds=20)
    now = time.monotonic()
    assert error["code"] == 409 and 4 <= error["drain"]["elapsed"] <= now - begun + 1
    assert now < max(begun + 4, back) + 1.5, "the cap counted while weir-cp was away"


def test_hold_that_is_gone_after_a_restart(cp, dp):  # noqa: F811
    """A crash between the operation and its hold, or an older store: it says so and ends."""
    begin(cp)
    cp.stop()
    lines = (cp.store / "drains").read_text()
    (cp.store / "drains").write_text(lines + lines.replace('"id":1', '"id":7').replace(MEMBER, "10.0.2.12:80").replace(
        '"object":', '"object":9') + "rubbish\n" * 5000 + '{"id":8,"obj')
    cp.start()
    assert row(cp, 1)["running"]
    found = row(cp, 7)
    assert (found["running"], found["state"], found["ended-by"]) == (False, "cancelled", "weir-cp")
    assert "5001 lines are damaged" in cp.daemon.text() and cp.daemon.text().count("damaged") < 20


def test_dataplane_away_and_back(cp, dp):  # noqa: F811
    """A connection that breaks is read anew; another dataplane has no connections, and that is said."""
    member = ident(cp, "ltm pool members", MEMBER)
    dp.count(member, 2, 2, 2)
    number = begin(cp)
    wait_until(lambda: row(cp, number)["connections"] == 2, "it counts")
    dp.drop()
    wait_until(lambda: row(cp, number)["connections"] == 2, "read anew")
    assert state(cp, number) == "draining"
    dp.stop()
    wait_until(lambda: row(cp, number)["connections"] is None, "not known meanwhile")
    assert state(cp, number) == "draining"
    fresh = FakeDp(cp.run_dir, instance=2)
    try:
        found = cp.ask("wait-drain", drain=number, seconds=10)[1]
        assert found["state"] == "drained" and "dataplane was restarted" in found["said"]
    finally:
        fresh.stop()


def test_begun_without_a_dataplane(cp):  # noqa: F811
    cp.start()
    result = cp.ask("start-drain", node=NODE, timeout=1)[1]
    assert result["warnings"] == ["the dataplane is not connected"]
    error = error_of(cp.ask, "wait-drain", drain=result["id"], seconds=20)
    assert error["code"] == 409 and "not known how many connections are left after 1 s" in error["text"]


BAD = [
    ({}, 400, "pool"), ({"node": NODE, "pool": "web", "member": MEMBER}, 400, "node"), ({"pool": "web"}, 400, "pool"),
    ({"node": 7}, 400, "node"), ({"node": "10.9.9.9"}, 404, ""), ({"pool": "nix", "member": MEMBER}, 404, ""),
    ({"pool": "web", "member": "10.0.2.11:81"}, 404, ""), ({"node": NODE, "timeout": -1}, 400, "timeout"),
    ({"node": NODE, "timeout": "5"}, 400, "timeout"), ({"node": NODE, "timeout": 1 << 40}, 400, "timeout"),
    ({"node": NODE, "stuck-time": 1.5}, 400, "stuck-time"), ({"node": NODE, "force-offline": 1}, 400, "force-offline"),
    ({"node": NODE, "cap-action": "drop", "timeout": 5}, 400, "cap-action"),
    ({"node": NODE, "cap-action": "reset"}, 400, "cap-action"), ({"node": NODE, "class": "monitor"}, 400, "class"),
    ({"node": NODE, "reason": "x" * 401}, 400, "reason"), ({"node": NODE, "stucktime": 5}, 400, "stucktime"),
]


def test_bad_input_changes_nothing(cp, dp):  # noqa: F811
    before = cp.list(None)
    for arguments, code, field in BAD:
        error = error_of(cp.ask, "start-drain", **arguments)
        assert (error["code"], error["field"]) == (code, field), (arguments, error)
    for op, arguments, code in [("end-drain", {}, 400), ("end-drain", {"drain": 1}, 404), ("end-drain", {"drain": "x"}, 400),
                                ("wait-drain", {"drain": -1}, 400), ("wait-drain", {"drain": 1 << 40}, 404),
                                ("wait-drain", {"drain": 1, "seconds": 3601}, 400),
                                ("end-drain", {"drain": 1, "enable": "yes"}, 400), ("wait-drain", {"drain": []}, 400)]:
        assert error_of(cp.ask, op, **arguments)["code"] == code, (op, arguments)
    assert error_of(cp.show, "ltm drain", name="99")["text"] == "ltm drain 99: does not exist"
    assert cp.show("ltm drain") == [] and cp.list(None) == before


def test_many_at_once_and_what_is_kept(cp):  # noqa: F811
    """4,096 run, one more is refused; all end by one event each; the last 100 that ended are kept."""
    count, pools = 4096, 8
    each = count // pools + 1
    cp.conf.write_text(CONF + "".join(
        wc.pool(f"p{p}", [(f"10.{p + 10}.{n // 250}.{n % 250 + 1}", 80) for n in range(each)]) for p in range(pools)))
    fake = FakeDp(cp.run_dir, slots=32768)
    cp.start()
    try:
        cp.wait_in_force()
        members = [(r["poolName"], r["name"], r["id"]) for r in cp.show("ltm pool members")
                   if not r["poolName"].endswith("/web")]
        for _, _, number in members:
            fake.count(number, 1, 1, 1)
        with cp.connect() as sock:
            started = time.monotonic()
            for start in range(0, count, 256):
                for pool, member, _ in members[start:start + 256]:
                    cp.send(sock, {"op": "start-drain", "pool": pool, "member": member})
                for _ in range(256):
                    assert "result" in cp.receive(sock)
            assert time.monotonic() - started < 60
        error = error_of(begin, cp, pool=members[-1][0], member=members[-1][1])
        assert error["code"] == 503 and "4096" in error["reason"]
        assert len(cp.show("ltm drain")) == count
        cp.restart(kill=True)
        cp.wait_in_force()
        wait_until(lambda: all(r["connections"] == 1 for r in cp.show("ltm drain")), "all count again", 20)
        for _, _, number in members:
            fake.count(number, 0, 1, 1)
        wait_until(lambda: all(r["state"] == "drained" for r in cp.show("ltm drain")), "all are drained", 20)
        for pool in {pool for pool, _, _ in members}:
            cp.edit("delete", f"ltm pool {pool}")
        left = cp.show("ltm drain")
        assert len(left) == 100 and not any(r["running"] for r in left)
        assert (cp.store / "drains").stat().st_size < 8 << 20
    finally:
        fake.stop()


def test_waiters_are_bounded_and_may_leave(cp, dp):  # noqa: F811
    dp.count(ident(cp, "ltm pool members", MEMBER), 1, 1, 1)
    number = begin(cp)
    socks = [cp.connect() for _ in range(64)]
    for sock in socks:
        cp.send(sock, {"op": "wait-drain", "drain": number, "seconds": 600})
    wait_until(lambda: error_of(cp.ask, "wait-drain", drain=number, seconds=0)["code"] == 503, "all places are taken")
    for sock in socks:
        sock.close()
    wait_until(lambda: error_of(cp.ask, "wait-drain", drain=number, seconds=0)["code"] == 504, "they are free again")


def test_one_client_ends_what_it_waits_for(cp, dp):  # noqa: F811
    """Requests of one connection are answered in order: the end comes from another, and both are answered."""
    dp.count(ident(cp, "ltm pool members", MEMBER), 1, 1, 1)
    number = begin(cp)
    with cp.connect() as sock:
        cp.send(sock, {"op": "wait-drain", "drain": number})
        cp.send(sock, {"op": "show", "what": "ltm drain"})
        cp.ask("end-drain", drain=number)
        assert "it was told to end" in cp.receive(sock)["error"]["text"]
        assert cp.receive(sock)["rows"][0]["state"] == "cancelled"


def test_words_of_weirsh(cp, dp):  # noqa: F811
    member = ident(cp, "ltm pool members", MEMBER)
    dp.count(member, 1, 1, 1)
    code, printed, _ = weirsh(cp, "create", "ltm", "drain", "pool", "web", "member", MEMBER, "timeout", "900",
                              "cap-action", "reset", "reason", "new kernel")
    assert (code, printed) == (0, "ltm drain 1\n")
    wait_until(lambda: row(cp, 1)["connections"] == 1, "it counts")
    code, printed, _ = weirsh(cp, "show ltm drain")
    assert code == 0 and "draining" in printed and f"pool web member {MEMBER}" in printed
    code, printed, _ = weirsh(cp, "show ltm drain 1")
    assert "when the cap resets what is left" in printed and "new kernel" in printed
    code, printed, _ = weirsh(cp, "list ltm drain 1")
    assert printed == (f"ltm drain 1 {{\n    pool web\n    member {MEMBER}\n    timeout 900\n    cap-action reset\n"
                       '    reason "new kernel"\n    class operator\n}\n')
    code, printed, errors = weirsh(cp, "show ltm drain 1 wait 1")
    assert code == 1 and printed == "" and "not drained in time; connections left: 1" in errors
    code, _, errors = weirsh(cp, f"create ltm drain pool web member {MEMBER}")
    assert code == 1 and "being drained already: ltm drain 1 by root" in errors
    assert json.loads(weirsh(cp, "--json", "show ltm drain")[1])[0]["id"] == 1
    dp.count(member, 0, 1, 1)
    code, printed, _ = weirsh(cp, "show ltm drain 1 wait 10")
    assert code == 0 and "State          :  drained" in printed
    assert weirsh(cp, "delete ltm drain 1 enable")[0] == 0 and held(cp) == ("user-enabled", "user-up")
    code, printed, _ = weirsh(cp, f"create ltm drain node {NODE} force-offline wait 10")
    assert (code, printed) == (0, "ltm drain 2\n")
    assert "force-offline" in weirsh(cp, "list ltm drain 2")[1]
    assert "stuck-time" in weirsh(cp, "help ltm drain")[1]
    code, _, errors = weirsh(cp, "show ltm drain 9")
    assert code == 1 and "ltm drain 9: does not exist" in errors


def catches_interrupts(pid):
    caught = pathlib.Path(f"/proc/{pid}/status").read_text().split("SigCgt:")[1].split()[0]
    return int(caught, 16) & 1 << signal.SIGINT - 1


def test_interrupt_ends_the_wait_not_the_drain(cp, dp):  # noqa: F811
    dp.count(ident(cp, "ltm pool members", MEMBER), 1, 1, 1)
    number = begin(cp)
    shell = subprocess.Popen([program("weirsh"), "--run-dir", cp.run_dir, "show", "ltm", "drain", str(number), "wait", "60"],
                             stderr=subprocess.PIPE, text=True)
    wait_until(lambda: catches_interrupts(shell.pid), "it takes interrupts")
    shell.send_signal(2)
    _, errors = shell.communicate(timeout=10)
    assert shell.returncode == 130 and "interrupted" in errors
    assert row(cp, number)["running"]
