# SPDX-License-Identifier: BSD-3-Clause
"""agent-check, icmp and gateway-icmp."""
from fake_mon_cp import FAST, SERVER, cp, lab  # noqa: F401  (lab, cp are fixtures)
from test_mon_http import Script

from topo import wait_until


class Agent:
    def __init__(self, lab):
        self.line, self.got = b"up 100%\n", b""
        lab.top.add(Script(lab.far, (SERVER, 9000), self.serve))

    def serve(self, connection):
        connection.settimeout(0.2)
        try:
            self.got = connection.recv(100)
        except TimeoutError:
            pass
        connection.sendall(self.line)


def last(cp):
    said = cp.of_type("agent")
    return {key: value for key, value in said[-1].items() if key not in ("type", "object", "monitor")} if said else {}


def test_agent_commands(lab, cp):
    agent = Agent(lab)
    cp.monitor(1, "agent-check", agent_send="hello\n", **FAST)
    cp.instance(1, 1, port=9000)
    cp.wait("up")
    assert last(cp) == {"weight": 100, "state": "up", "description": ""} and agent.got == b"hello\n"
    wait_until(lambda: cp.stat()["successes"] >= 3, "more probes")
    assert len(cp.of_type("agent")) == 1, "told when it changes"
    agent.line = b"drain, 50% maxconn:7 # going \x07down\r\n"
    wait_until(lambda: last(cp).get("admin") == "drain", "drain")
    assert last(cp) == {"admin": "drain", "weight": 50, "maxconn": 7, "description": "going down"}
    agent.line = b"down # disk full\n"
    cp.wait("down")
    assert cp.reason() == "agent says down: disk full"
    agent.line = b"ready up\n"
    cp.wait("up")


def test_agent_that_does_not_answer_changes_nothing(lab, cp):
    agent = Agent(lab)
    cp.monitor(1, "agent-check", interval=1, timeout=2)
    cp.instance(1, 1, port=9000)
    cp.instance(2, 1, port=9001)
    cp.wait("up")
    agent.line = b"nonsense\n"
    wait_until(lambda: "not understood: nonsense" in cp.stat()["last-error"], "said in the statistics")
    agent.line = b""
    wait_until(lambda: cp.stat()["probes"] >= 7, "more probes", 10)
    assert cp.verdict() == "up" and "down" not in cp.history(1)
    assert cp.history(2)[-1] == "up", "a server waits for no agent"
    assert cp.stat(2)["last-error"] == "connection refused"


def test_icmp(lab, cp):
    for monitor, kind in ((1, "icmp"), (2, "gateway-icmp")):
        cp.monitor(monitor, kind, **FAST)
        cp.instance(1, monitor, port=0)
        cp.instance(2, monitor, "fd00:2::11", port=0)
        cp.instance(3, monitor, "10.0.2.99", port=0)
    for monitor in (1, 2):
        cp.wait("up", 1, monitor)
        cp.wait("up", 2, monitor)
        cp.wait("down", 3, monitor)
    lab.far.run(["nft", "add table inet t; add chain inet t c { type filter hook input priority 0; "
                 "meta l4proto { icmp, ipv6-icmp } drop; }"])
    cp.wait("down", 1)
    cp.wait("down", 2)
    lab.far.run(["nft", "delete table inet t"])
    cp.wait("up", 1)


def test_transparent_probes_carry_the_mark(lab, cp):
    """weir-cp routes by the mark; here a rule counts it."""
    lab.weir.run(["nft", "add table inet t; add chain inet t c { type filter hook output priority 0; "
                  "meta mark 77 counter; }"])
    cp.monitor(1, "icmp", transparent=True, **FAST)
    cp.monitor(2, "tcp", transparent=True, **FAST)
    cp.instance(1, 1, port=0, mark=77)
    cp.instance(1, 2, port=9, mark=77)
    cp.wait("up", 1, 1)
    cp.wait("down", 1, 2)
    assert "packets 0" not in lab.weir.run(["nft", "list", "table", "inet", "t"]).stdout
