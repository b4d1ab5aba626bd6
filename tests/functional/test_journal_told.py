# SPDX-License-Identifier: BSD-3-Clause
"""From a server to a person: weir-cp and weir-notify together, with a weir-mon that the test plays.

    weir-mon (played) --- mon.sock --- weir-cp --- notify.sock --- weir-notify --- a command
"""
import json

import pytest
from alert_lab import said, script  # noqa: F401  (said is a fixture)
from cp_alone import notified
from test_health_link import CONF, instances, synced, wait_status

from topo import wait_until


@pytest.fixture
def both():
    with notified(CONF) as cp:
        yield cp


def alerted(cp, said):  # noqa: F811
    cp.ask("create", kind="sys file alert-script", name="tell", body={"content": script(said)})
    cp.edit("create", "sys alert ops method command script tell level notice digest 3")
    wait_until(lambda: any(row["name"] == "alert:/Common/ops" and not row["error"] and "delivered" in row
                           for row in cp.show("sys receiver")), lambda: f"it is known: {cp.show('sys receiver')}", 15)


def test_a_server_that_flaps_is_told_once(both, said):  # noqa: F811
    mon, messages = synced(both)
    server, other = (instances(messages)[address] for address in ("10.0.2.11", "10.0.2.12"))
    for one in (server, other):
        mon.verdict(one, "up")
    wait_status(both, "up")
    wait_status(both, "up", "10.0.2.12:80")
    alerted(both, said)
    for verdict in ("down", "up") * 4 + ("down",):
        mon.verdict(server, verdict)
        wait_status(both, verdict)
    [told] = map(event, said.wait())
    assert (told["kind"], told["count"]) == ("opened", 1)
    [incident] = told["incidents"]
    assert incident["open"]["object"] == "/Common/10.0.2.11:80" and not incident["closed"]
    # It goes on: nobody is told each time, nor of an end that does not last.
    for verdict in ("up", "down") * 2 + ("up",):
        mon.verdict(server, verdict)
        wait_status(both, verdict)
    opened = [row for row in both.ask("log", object="/Common/10.0.2.11:80", limit=1000)[0] if row.get("part") == "open"]
    assert len(opened) == 7 and {row["incident"] for row in opened} == {incident["incident"]}
    mon.verdict(other, "down")
    [_, second] = map(event, said.wait(2))
    assert [row["open"]["object"] for row in second["incidents"]] == ["/Common/10.0.2.12:80"]
    mon.close()


def event(call):
    return json.loads(call.strip().splitlines()[-1])
