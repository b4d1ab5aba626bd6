# SPDX-License-Identifier: BSD-3-Clause
"""Probes go through the dataplane: while it is away nobody is asked, and no server is blamed.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
from fake_mon_cp import FAST, SERVER, cp, lab  # noqa: F401  (lab, cp are fixtures)
from test_mon_http import Script

from topo import http_burst, stays, wait_until
from topo import weirconf as wc

# One lost probe would be enough, and a person would have to let the servers in again.
NERVOUS = {"interval": 2, "timeout": 4, "failures": 1, "manual_resume": "enabled"}


def states(weir):
    return [row["monitorStatus"] for row in weir.show("ltm pool members")]


def all_up(weir):
    wait_until(lambda: states(weir) == ["up", "up"], "both are up", 10)


def test_a_dataplane_that_is_away_takes_no_server_out(topology):
    picture = topology(servers=2)
    picture.start_nginx()
    picture.start_weir(wc.monitor("tcp", "nervous", **NERVOUS),
                       wc.pool("web", picture.members(80), monitor="nervous"),
                       wc.virtual("web", "10.0.1.100", 80, "web"))
    weir = picture.weir
    all_up(weir)
    weir.kill_dp()
    wait_until(lambda: "waits for the dataplane" in weir.status()["monitoring"], "it is missed")
    stays(lambda: states(weir) == ["up", "up"], "nobody goes down", 4.5)
    # A weir-cp and a weir-mon that start meanwhile know no more.
    weir.kill_cp()
    weir.start_cp(wait=False)
    wait_until(lambda: "waits for the dataplane" in weir.status()["monitoring"], "weir-cp is back")
    weir.start_dp()
    assert http_burst(picture.client, "10.0.1.100", 4).counts == {"s1": 2, "s2": 2}
    # And then they are asked again.
    picture.nginx[0].stop()
    wait_until(lambda: sorted(states(weir)) == ["down", "up"], "s1 is down", 8)
    assert weir.cp.text().count("monitor status down") == 1


def test_weir_mon_waits_while_it_is_told_to(lab, cp):
    server = lab.top.add(Script(lab.far, (SERVER, 9100), lambda connection: None))
    cp.send({"type": "path", "open": False})
    cp.monitor(1, "tcp", **FAST)
    cp.instance(1, 1, port=9100)
    assert cp.stat()["probes"] == 0 and cp.stat()["verdict"] == "checking"
    cp.send({"type": "path", "open": True})
    cp.wait("up")
    cp.send({"type": "path", "open": False})
    server.stop()
    probes = cp.stat()["probes"]
    stays(lambda: cp.stat()["probes"] == probes and cp.verdict() == "up", "nobody is asked", 2.5)
    cp.send({"type": "path", "open": True})
    cp.wait("down")
    cp.send({"type": "path"})
    wait_until(lambda: any(said["field"] == "open" for said in cp.of_type("refused")), "refused with its field")
