# SPDX-License-Identifier: BSD-3-Clause
"""agent-check: what the agent on a server says becomes a weight, a limit or a hold of its own (HAProxy's protocol).

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3   (each with an agent at port 9000)
"""
import pytest
from test_mon_http import Script

from topo import http_burst, standard, wait_until
from topo import weirconf as wc
from topo.picture import server_address

AGENT = wc.monitor("agent-check", "agent", interval=1, timeout=3, destination="*:9000")
HTTP = wc.monitor("http", "web", interval=1, timeout=4, failures=2,
                  send='"GET /health HTTP/1.0\\r\\n\\r\\n"', recv='"\\\\nok"')
S1, S2 = "10.0.2.11:80", "10.0.2.12:80"


class Agent:
    """Says its line to everybody who asks."""

    def __init__(self, topo, ns, number, line="up ready 100%"):
        self.line, self.asked = line, 0
        topo.add(Script(ns, (server_address(number), 9000), self.serve))

    def serve(self, connection):
        self.asked += 1
        line = self.line() if callable(self.line) else self.line
        if line is not None:
            connection.sendall(line.encode() + b"\n")


class Place:
    def __init__(self, topo):
        picture = topo.picture
        picture.start_nginx()
        self.agents = [Agent(topo, ns, number) for number, ns in enumerate(picture.servers, 1)]
        picture.start_weir(AGENT, HTTP, wc.pool("web", picture.members(80, ratios=(10, 10, 10)), "ratio-member",
                                                monitor="agent and web"),
                           wc.virtual("web", "10.0.1.100", 80, "web"))
        self.client, self.weir, self.nginx = picture.client, picture.weir, picture.nginx
        wait_until(lambda: all(self.of(name, "monitorStatus") == "up" and self.of(name, "agentSaid")
                               for name in (S1, S2)), "all are up")

    def of(self, name, what):
        return self.weir.member("web", name, what)

    def says(self, number, line):
        """The agent says it, and weir-cp has heard it."""
        self.agents[number - 1].line = line
        self.heard(number, line)

    def heard(self, number, line):
        member, words = wc.join(server_address(number), 80), line.split("#")[0].split()
        wait_until(lambda: set(words) <= set(self.of(member, "agentSaid").split()), f"{line} was heard")

    def hold(self, name, who):
        return [hold for hold in self.of(name, "holds") if hold["class"] == who]

    def served(self, count=20):
        burst = http_burst(self.client, "10.0.1.100", count)
        assert not burst.errors
        return burst.counts

    def edit(self, words):
        return self.weir.edit("modify", f"ltm pool web members modify {{ {S1} {{ {words} }} }}")

    def reset(self):
        for nginx, agent in zip(self.nginx, self.agents):
            agent.line = "up ready 100% maxconn:0"
            nginx.sick(False)
        for number in range(1, 4):
            self.heard(number, "up ready 100% maxconn:0")
        self.edit("session user-enabled state user-up agent-weight 100")
        wait_until(lambda: self.of(S1, "status.availabilityState") == "available" and self.of(S1, "holds") == [],
                   "s1 is as before")


@pytest.fixture(scope="module")
def everything():
    with standard(servers=3) as topo:
        yield Place(topo)


@pytest.fixture
def place(everything):
    yield everything
    everything.reset()


def test_a_weight_is_a_share_of_the_ratio(place):
    generation = place.weir.status()["generation"]
    place.says(1, "20%")
    assert place.of(S1, "ratio") == 10 and place.of(S1, "ratioInForce") == 2
    assert place.served(22) == {"s1": 2, "s2": 10, "s3": 10}
    listed = place.weir.weirsh("list ltm pool web members")
    assert "ratio 10" in listed and "agent-weight 20" in listed and 'agent-said "/Common/agent: 20%"' in listed
    assert "weight 20 % (ratio 2 of 10)" in place.weir.weirsh("show ltm pool web members")
    # An operator's ratio is one thing, the agent's weight another.
    place.edit("ratio 20")
    assert place.of(S1, "ratioInForce") == 4
    place.says(1, "50%")
    assert place.of(S1, "ratio") == 20 and place.of(S1, "ratioInForce") == 10
    place.edit("ratio 10")
    assert place.weir.status()["generation"] == generation, "no commit"


def test_weight_0_drains(place):
    place.says(1, "0%")
    assert set(place.served()) == {"s2", "s3"}
    assert place.of(S1, "status.enabledState") == "disabled"
    assert place.of(S1, "status.statusReason") == "Disabled by agent (its weight is 0 %)"
    assert place.of(S1, "monitorStatus") == "up"


def test_maxconn_is_a_limit_for_a_while(place):
    place.says(1, "maxconn:7")
    assert place.of(S1, "agentConnectionLimit") == 7 and place.of(S1, "connectionLimit") == 0
    place.says(1, "50% maxconn:0")
    assert place.of(S1, "agentConnectionLimit") == 0


def test_drain_and_ready(place):
    place.says(1, "drain #new version")
    assert place.hold(S1, "agent") == [{"class": "agent", "session": "user-disabled", "state": "user-up",
                                        "reason": "agent says drain: new version"}]
    assert set(place.served()) == {"s2", "s3"}
    # Only what is stated changes.
    place.says(1, "75%")
    assert place.hold(S1, "agent") and place.of(S1, "agentWeight") == 75
    place.says(1, "ready")
    assert place.of(S1, "holds") == [] and place.of(S1, "agentWeight") == 75
    assert "s1" in place.served()
    log = place.weir.cp.text()
    assert "Pool /Common/web member /Common/10.0.2.11:80: held by agent: disabled, was enabled: agent says drain: new version" in log
    assert "Pool /Common/web member /Common/10.0.2.11:80: held by agent: enabled, was disabled" in log


def test_maint_can_be_taken_back(place):
    place.says(1, "maint")
    assert place.hold(S1, "agent")[0]["state"] == "user-down" and place.of(S1, "monitorStatus") == "forced-down"
    assert set(place.served()) == {"s2", "s3"}
    place.says(1, "up ready")
    wait_until(lambda: place.of(S1, "monitorStatus") == "up", "checked again, and up")
    assert "s1" in place.served()


def test_down_is_told_apart_from_a_monitors_down_and_an_operators_word(place):
    place.says(1, "down #heap is full")
    [hold] = place.hold(S1, "agent")
    assert hold["state"] == "user-down" and hold["session"] == "user-enabled"
    assert hold["reason"] == "agent says down: heap is full"
    assert place.of(S1, "status.statusReason") == "Forced offline by agent (agent says down: heap is full)"
    place.nginx[1].sick()
    wait_until(lambda: place.of(S2, "monitorStatus") == "down", "the monitor finds s2 down")
    assert place.of(S2, "holds") == []
    assert place.of(S2, "status.statusReason").startswith(
        "Pool member has been marked down by a monitor (/Common/web: ")
    place.edit("session user-disabled")
    text = place.weir.weirsh("show ltm pool web members")
    assert "Disabled by operator, forced offline by agent (agent says down: heap is full)" in text
    assert set(place.served()) == {"s3"}
    place.says(1, "up")
    assert [hold["class"] for hold in place.of(S1, "holds")] == ["operator"]


def test_both_are_true_at_once(place):
    place.says(1, "drain")
    place.nginx[0].sick()
    wait_until(lambda: place.of(S1, "monitorStatus") == "down", "the monitor finds s1 down")
    assert place.of(S1, "status.statusReason").startswith(
        "Disabled by agent (agent says drain); besides: Pool member has been marked down by a monitor (/Common/web: ")
    assert place.of(S1, "sessionStatus") == "user-disabled"


def test_an_operators_hold_outlives_the_agents(place):
    place.edit("session user-disabled")
    place.says(1, "drain")
    assert {hold["class"] for hold in place.of(S1, "holds")} == {"operator", "agent"}
    # The agent is back after its restart: it takes back its own hold, and no more.
    place.says(1, "ready")
    assert [hold["class"] for hold in place.of(S1, "holds")] == ["operator"]
    assert set(place.served()) == {"s2", "s3"}
    place.says(1, "drain")
    result = place.edit("session user-enabled")
    assert result["note"] == "/Common/10.0.2.11:80: the hold of an agent was cleared"
    assert place.of(S1, "holds") == [] and "s1" in place.served()


def test_an_agent_that_fails_changes_nothing(place):
    place.says(1, "30%")
    agent, lines = place.agents[0], iter([None, "what is this", "\x01\x02"])
    agent.line, asked = lambda: next(lines, None), agent.asked
    wait_until(lambda: agent.asked >= asked + 4, "asked again and again")
    assert place.of(S1, "agentWeight") == 30 and place.of(S1, "monitorStatus") == "up"
    assert place.of(S1, "holds") == []


def test_a_restart_changes_nothing_and_undoes_no_operator(place):
    place.says(1, "drain 50%")
    place.edit("session user-enabled")
    place.says(2, "drain 40%")
    asked = [agent.asked for agent in place.agents]

    def undone():
        return place.of(S1, "holds"), place.of(S1, "agentWeight"), place.of(S2, "agentWeight"), \
            [hold["class"] for hold in place.of(S2, "holds")]

    before = ([], 50, 40, ["agent"])
    assert undone() == before
    place.weir.kill_mon()
    place.weir.start_mon()
    wait_until(lambda: all(agent.asked > n for agent, n in zip(place.agents, asked)), "all are asked again")
    place.weir.kill_cp()
    place.weir.start_cp()
    asked = [agent.asked for agent in place.agents]
    wait_until(lambda: all(agent.asked > n + 1 for agent, n in zip(place.agents, asked)), "and again")
    assert undone() == before
    assert place.served(18) == {"s1": 6, "s3": 12}, "5 to 10"


def test_many_agents_that_change_their_minds_do_no_harm(topology):
    picture = topology(servers=1)
    picture.start_nginx()
    turn = iter(range(10**9))
    Agent(picture.topo, picture.servers[0], 1, lambda: f"{next(turn) % 90 + 10}% #{next(turn)}")
    members = {("10.0.2.11", 8000 + number): {"ratio": 100} for number in range(100)}
    picture.start_weir(AGENT, wc.pool("web", members, "ratio-member", monitor="agent"),
                       wc.virtual("web", "10.0.1.100", 80, "web"))
    weir = picture.weir
    wait_until(lambda: all(row["agentSaid"] for row in weir.show("ltm pool members")), "all were heard")
    generation, lines = weir.status()["generation"], len(weir.cp.text().splitlines())
    seen = next(turn)
    wait_until(lambda: next(turn) > seen + 600, "300 lines later", 20)
    rows = weir.show("ltm pool members")
    assert len({row["agentWeight"] for row in rows}) > 10 and all(10 <= row["agentWeight"] < 100 for row in rows)
    assert weir.status()["generation"] == generation
    assert len(weir.cp.text().splitlines()) <= lines + 3, "no line of the journal for each"
    history = [row for row in weir.show("sys history", limit=1000) if row["author"] == "agent"]
    assert len(history) == 100, "one place for each server, with its last change"


def test_what_an_agent_did_goes_with_its_monitor(place):
    """Nobody else would ever take it back; an operator's hold, and a drain of the agent's class, are others' business."""
    place.says(1, "maint 20% maxconn:7 #a new disk")
    place.says(2, "drain 30%")
    place.edit("session user-disabled")
    _, drain = place.weir.ask("start-drain", pool="web", member="10.0.2.13:80", **{"class": "agent"})
    try:
        result = place.weir.edit("modify", "ltm pool web monitor web")
        assert result["note"] == "what the agents of 3 servers did is taken back: they are asked no more"
        wait_until(lambda: place.of(S1, "agentSaid") == "", "it is taken back")
        assert [hold["class"] for hold in place.of(S1, "holds")] == ["operator"] and place.of(S2, "holds") == []
        assert [place.of(name, "agentWeight") for name in (S1, S2)] == [100, 100]
        assert place.of(S1, "agentConnectionLimit") == 0
        assert place.hold("10.0.2.13:80", "agent") != []
        wait_until(lambda: "s2" in place.served(), "s2 is in use again")
    finally:
        place.weir.ask("end-drain", drain=drain["id"], enable=True)
        place.weir.edit("modify", "ltm pool web monitor agent and web")
    # It is asked again, and does what it says.
    wait_until(lambda: place.of(S1, "agentWeight") == 20, "it is heard")
    assert {hold["class"] for hold in place.of(S1, "holds")} == {"operator", "agent"}
