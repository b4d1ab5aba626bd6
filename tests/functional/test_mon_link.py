# SPDX-License-Identifier: BSD-3-Clause
"""weir-mon and weir-cp: re-sync, restarts of either, what is refused, the end. Behaviours 29 and 30."""
import pathlib
import time

from fake_mon_cp import FAST, SERVER, SERVERS, cp, lab  # noqa: F401  (lab, cp are fixtures)

from topo import wait_until
from topo.servers import TcpServer


def start(lab, cp):
    """Two servers, one of them alive."""
    lab.top.add(TcpServer(lab.far, "t", [(SERVER, 80)], greet=False))
    cp.monitor(1, "tcp", **FAST)
    cp.instance(1, 1)
    cp.instance(2, 1, SERVERS[1])
    cp.wait("up", 1)
    cp.wait("down", 2)


def test_hello(cp):
    hello = cp.of_type("hello")[0]
    assert hello["version"] == 1 and {"tcp", "http", "https", "udp", "tcp-half-open"} <= set(hello["kinds"])


def test_restart_of_cp_changes_nothing(lab, cp):
    start(lab, cp)
    cp.drop()
    before = cp.history(1), cp.history(2)
    cp.open()
    wait_until(lambda: cp.connections == 2, "connected again")
    wait_until(lambda: len(cp.history(2)) > len(before[1]), "the verdicts are told again")
    assert cp.verdict(1) == "up" and cp.verdict(2) == "down"
    assert cp.stat(1)["probes"] > 0 and set(cp.history(1)) <= {"checking", "up"}


def test_restart_of_mon_flaps_nobody(lab, cp):
    """Behaviours 29: a down server is not up, and an up one not down, because the checker is new."""
    start(lab, cp)
    for number in (1, 2):
        last = cp.verdicts[number, 1][-1]
        cp.instances[number, 1]["last"] = {key: last[key] for key in ("verdict", "reason", "time")}
    cp.verdicts.clear()
    lab.restart()
    cp.wait("up", 1)
    cp.wait("down", 2)
    wait_until(lambda: cp.stat(1)["successes"] >= 2, "probes go on")
    assert set(cp.history(1)) == {"up"} and set(cp.history(2)) == {"down"}
    assert cp.verdicts[2, 1][0]["reason"] == "connection refused"


def test_same_definition_touches_nothing(lab, cp):
    start(lab, cp)
    before = cp.stat()
    for _ in range(3):
        cp.sync()
    cp.send(cp.monitors[1], cp.instances[1, 1])
    after = cp.stat()
    assert after["since"] == before["since"] and after["probes"] - before["probes"] <= 1
    assert cp.history(1)[-1] == "up"


def test_sync_forgets_what_is_not_named(lab, cp):
    start(lab, cp)
    del cp.instances[2, 1]
    cp.sync()
    assert [row["object"] for row in cp.stats()] == [1]
    cp.instances.clear()
    cp.monitors.clear()
    cp.sync()
    assert cp.stats() == []


def test_replaced_monitor_keeps_the_verdict(lab, cp):
    start(lab, cp)
    cp.monitor(1, "tcp", interval=2, timeout=7)
    wait_until(lambda: cp.stat()["probes"] >= 3, "probes go on", 10)
    assert set(cp.history(1)) <= {"checking", "up"}
    cp.monitor(1, "tcp", send="hello", recv="never", interval=1, timeout=3)
    cp.wait("down", 1)


def test_deleted(lab, cp):
    start(lab, cp)
    cp.send({"type": "instance-delete", "object": 2, "monitor": 1})
    assert [row["object"] for row in cp.stats()] == [1]
    cp.send({"type": "monitor-delete", "id": 1})
    assert cp.stats() == []


def test_probe_now(lab, cp):
    lab.top.add(TcpServer(lab.far, "t", [(SERVER, 80)], greet=False))
    cp.monitor(1, "tcp", interval=3600, timeout=16)
    cp.instance(1, 1)
    cp.wait("up")
    before = cp.stat()["probes"]
    cp.send({"type": "probe-now", "object": 1, "monitor": 1})
    assert cp.stat()["probes"] == before + 1


def test_refused(lab, cp):
    def refused(*messages):
        count = len(cp.of_type("refused"))
        cp.send(*messages)
        wait_until(lambda: len(cp.of_type("refused")) > count, "refused")
        return cp.of_type("refused")[-1]

    base = {"type": "monitor", "id": 7, "name": "m", "kind": "tcp"}
    for change, field, said in (
            ({"kind": "firepass"}, "kind", "no monitor type firepass"), ({"interval": 0}, "interval", "1 to 86400"),
            ({"recv": "a("}, "recv", "no pattern"), ({"reverse": True}, "reverse", "needs recv"),
            ({"kind": "https", "certificate": "x"}, "certificate", "PEM"), ({"name": 3}, "name", "text"),
            ({"kind": "mysql", "recv-row": "2"}, "recv-row", "any part"),
            ({"kind": "postgresql", "recv-column": "2"}, "recv-column", "must be 1"),
            ({"kind": "external", "script": "/bin/true", "transparent": True}, "transparent", "cannot be with external"),
            ({"kind": "dns", "qname": "a..b"}, "qname", "no domain name"),
            ({"kind": "dns", "qname": "a", "recv": "here"}, "recv", "address"),
            ({"kind": "ldap", "security": "some"}, "security", "none, ssl or tls"),
            ({"transparent": 1}, "transparent", "true or false"), ({"timeout": "x"}, "timeout", "number")):
        answer = refused({**base, **change})
        assert answer["field"] == field and said in answer["reason"], answer
        assert answer["id"] == 7 and answer["message"] == "monitor"
    assert refused({"type": "dance"})["field"] == "type"
    assert refused({"type": "instance", "object": 1, "monitor": 99, "address": SERVER})["field"] == "monitor"
    cp.send(base)
    assert refused({"type": "instance", "object": 1, "monitor": 7, "address": "here"})["field"] == "address"
    assert refused({"type": "instance", "object": 1, "monitor": 7, "address": SERVER})["field"] == "port"
    cp.send({**base, "id": 8, "transparent": True})
    assert refused({"type": "instance", "object": 1, "monitor": 8, "address": SERVER, "port": 1,
                    "to-address": SERVERS[1]})["field"] == "mark"
    assert cp.stats() == []


def test_what_is_no_message_ends_the_connection_only(lab, cp):
    for number, bad in enumerate((b"{", b"[]", b"x" * 100)):
        cp.send(bad)
        wait_until(lambda: cp.connections == number + 2, "connected again")
    lab.daemon.check_running()


def test_privileges(lab, cp):
    status = dict(line.split(":\t", 1) for line in
                  pathlib.Path(f"/proc/{lab.daemon.pid}/status").read_text().splitlines() if ":\t" in line)
    assert set(status["Uid"].split()) == {"65534"} and status["NoNewPrivs"].strip() == "1"
    assert int(status["CapEff"], 16) & ~(1 << 13) == 0, "CAP_NET_RAW at most"
    assert status["Groups"].strip() in ("", "65534")


def test_probes_are_spread(lab, cp):
    """300 instances every 2 s: no tenth of a second has many more probes than its share."""
    lab.far.run(["nft", "add table inet t; add chain inet t c { type filter hook input priority 0; "
                 "tcp dport 80 tcp flags syn counter; }"])
    lab.top.add(TcpServer(lab.far, "t", [(SERVER, 80)], greet=False))
    cp.monitor(1, "tcp", interval=2, timeout=7)
    for number in range(1, 301):
        cp.instance(number, 1)
    cp.wait("up", 300)
    time.sleep(3)  # the first round is a rush; it is the rhythm afterwards that counts
    due = sorted(row["next-probe-ms"] for row in cp.stats())
    share = [sum(low <= ms < low + 200 for ms in due) for low in range(0, 2000, 200)]
    assert max(share) <= 60 and min(share) >= 10, share
