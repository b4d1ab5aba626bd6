# SPDX-License-Identifier: BSD-3-Clause
"""What happens is told to receivers of every kind, by all of Weir's daemons together; see events_lab.py."""
import re

import pytest
from events_lab import SYSLOG, Receivers
from test_agent import AGENT, Agent
from alert_lab import said  # noqa: F401  (a fixture)

from topo import Nginx, standard, wait_until, wrk_end, wrk_start
from topo import weirconf as wc
from topo.picture import VIRTUAL

CHECK = wc.monitor("http", "web", interval=1, timeout=4, failures=1, send=r'"GET /health HTTP/1.0\r\n\r\n"', recv=r'"\\nok"')
MANY = [f"10.0.2.{number}" for number in range(101, 151)]


@pytest.fixture
def picture():
    with standard(servers=4) as topo:
        yield topo.picture


def started(picture, said, *parts, **options):  # noqa: F811
    made = Receivers(picture, said)
    made.start()
    weir = picture.start_weir(*parts, notify=True, monitor=True, **options)
    made.configure(weir)
    return made


def until_up(weir, pool, count):
    wait_until(lambda: sum(row["monitorStatus"] == "up" for row in weir.show("ltm pool members", owner=pool)) == count,
               f"{count} members of {pool} are up", 40)


def test_four_causes_are_told_apart(picture, said):  # noqa: F811
    """A monitor's down, an operator's disable, an agent's hold, a connection limit: in each kind of receiver."""
    picture.start_nginx()
    agent = Agent(picture.topo, picture.servers[1], 2)
    told = started(picture, said, CHECK, AGENT,
                   wc.pool("web", picture.members(80), monitor="web"),
                   wc.pool("agents", [("10.0.2.12", 80)], monitor="agent and web"),
                   wc.pool("limited", {("10.0.2.14", 80): {"connection_limit": 2}}, monitor="web"),
                   wc.virtual("web", VIRTUAL[4], 80, "web"), wc.virtual("limited", VIRTUAL[4], 81, "limited"))
    weir = told.weir
    for pool, count in (("web", 4), ("agents", 1), ("limited", 1)):
        until_up(weir, pool, count)
    wait_until(lambda: weir.member("agents", "10.0.2.12:80", "agentSaid"), "the agent was heard")
    begin = told.last()
    picture.nginx[0].sick()
    weir.edit("modify", "ltm pool web members modify { 10.0.2.13:80 { session user-disabled } }")
    agent.line = "drain#tired"
    kept = []
    for _ in range(2):
        kept.append(picture.client.socket())
        kept[-1].connect((VIRTUAL[4], 81))
    wanted = {"down": ('id="01070638"', 'object="/Common/10.0.2.11:80"', 'class="monitor"'),
              "operator": ('id="0e1f0010"', 'object="/Common/10.0.2.13:80"', 'class="operator"'),
              "agent": ('id="0e1f0010"', 'object="/Common/10.0.2.12:80"', 'class="agent"'),
              "limit": ('id="0e1f0050"', 'object="/Common/10.0.2.14:80"')}
    for name in SYSLOG:
        for what, words in wanted.items():
            wait_until(lambda words=words, name=name: len(told.line(name, *words, after=begin)) == 1,
                       lambda what=what, name=name: f"{what} by {name}: {told.logs[name].lines()[-12:]}", 20)
    texts = ("Pool /Common/web member /Common/10.0.2.11:80 monitor status down.",
             "Pool /Common/web member /Common/10.0.2.13:80: held by operator: disabled",
             "Pool /Common/agents member /Common/10.0.2.12:80: held by agent: disabled", "10.0.2.14:80: connection limit reached")
    for text in texts:
        wait_until(lambda text=text: text in told.traps.text(), lambda text=text: f"{text}: {told.traps.text()[-3000:]}", 20)
    opened = {row["object"]: row["incident"] for row in told.journal(begin) if row.get("part") == "open"}
    assert "/Common/10.0.2.13:80" not in opened, "what an operator does himself is no incident"
    incidents = {opened[f"/Common/10.0.2.{host}:80"] for host in (11, 12, 14)}
    wait_until(lambda: incidents <= set(told.incidents()), lambda: f"the command: {told.calls()}", 20)
    wait_until(lambda: all(f"Incident: {number}\n" in told.bodies() for number in incidents), told.bodies, 20)
    rows = {row["incident"]: row["open"] for call in told.calls() for row in call["incidents"]}
    kinds = {row["object"][-5:-3]: (row["type"], row["actor"]["class"]) for row in rows.values() if "10.0.2" in row["object"]}
    assert kinds["11"] == ("state", "monitor") and kinds["12"] == ("hold", "agent") and kinds["14"][0] == "limit", kinds
    blocks = {number: block for block in told.bodies().split("\n\n")
              for number in incidents if f"Incident: {number}" in block}
    down, held, limit = (blocks[opened[f"/Common/10.0.2.{host}:80"]] for host in (11, 12, 14))
    assert "By: monitor" in down and "HTTP" in down and re.search(r"Pool: [23] of 4 members still serve", down), down
    assert "By: agent" in held and "tired" in held and "Pool: 0 of 1 members still serve" in held, held
    assert "connection limit reached" in limit and "Also: SNMP_TRAP: Virtual /Common/limited" in limit and \
        "runbook.md#0e1f0050" in limit, limit
    assert "held by operator" not in told.bodies()
    for sock in kept:
        sock.close()
    picture.nginx[0].sick(False)
    told.taken()
    told.stop()


def test_fifty_servers_fail_at_once_under_load(picture, said):  # noqa: F811
    first, second = picture.servers[:2]
    first.address("eth0", *(f"{address}/24" for address in MANY))
    many = picture.topo.add(Nginx(first, "many", [f"{address}:80" for address in MANY], picture.topo.dir))
    picture.topo.add(Nginx(second, "s2", ["10.0.2.12:80"], picture.topo.dir))
    told = started(picture, said, CHECK, wc.pool("web", [(address, 80) for address in (*MANY, "10.0.2.12")], monitor="web"),
                   wc.virtual("web", VIRTUAL[4], 80, "web"))
    until_up(told.weir, "web", 51)
    told.taken()
    mails, begin = len(told.mail.mails()), told.last()
    load = wrk_start(picture.client, VIRTUAL[4], seconds=60, connections=20, close=True)
    many.kill()
    wait_until(lambda: sum(row["monitorStatus"] == "down" for row in told.weir.show("ltm pool members", owner="web")) == 50,
               "fifty are down", 20)
    told.taken()
    for name in SYSLOG:
        lines = told.line(name, 'id="01070638"', "monitor status down", after=begin)
        assert len(lines) == 50 and len({re.search(r' object="([^"]*)"', line)[1] for line in lines}) == 50, name
    assert all(f"/Common/{address}:80 monitor status down" in told.traps.text() for address in MANY)
    wait_until(lambda: told.mail.mails()[mails:] and [call for call in told.calls() if call["count"] == 50],
               "mail and command tell of it", 15)
    texts = told.mail.mails()[mails:]
    assert len(texts) == 1 and "(+49)" in texts[0]["subject"], [text["subject"] for text in texts]
    assert "Pool: 1 of 51 members still serve" in texts[0].get_content()
    assert len([call for call in told.calls() if call["count"] == 50]) == 1
    wrk_end(load, now=True)
    load = wrk_end(wrk_start(picture.client, VIRTUAL[4], seconds=2, connections=20, close=True))
    assert load.requests and not load.errors, load
    for daemon in told.weir.daemons():
        daemon.check_running()
    many.start()
    until_up(told.weir, "web", 51)
    wait_until(lambda: "UP: " in told.mail.mails()[mails + 1]["subject"] if told.mail.mails()[mails + 1:] else False,
               "the end is mailed", 15)
    told.stop()
