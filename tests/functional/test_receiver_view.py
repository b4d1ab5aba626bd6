# SPDX-License-Identifier: BSD-3-Clause
"""Who is told of events, as people and monitoring see it: weirsh, REST, metrics; and tests of one receiver.

    client --- 1.1 Weir 1.2 --- switch --- s1
"""

import pytest
from cp_alone import notified

from topo import standard, wait_until
from topo.api import Api, Refused
from topo.weir import program

PORT = 5514


@pytest.fixture(scope="module")
def api():
    with standard(servers=1) as topo:
        weir = topo.picture.start_weir()
        api = topo.add(Api(weir))
        api.patch("sys/syslog", {"remoteServers": [{"name": "logs", "host": "127.0.0.1", "remotePort": PORT,
                                                    "protocol": "tcp"}]})
        api.post("sys/smtp-server", {"name": "mx", "smtpServerHostName": "127.0.0.1", "fromAddress": "lb@shop.example"})
        api.post("sys/alert", {"name": "ops", "smtpServers": ["/Common/mx"], "to": ["ops@shop.example"]})
        yield api


def rows(api):
    return {row["name"]: row for row in api.get("/mgmt/weir/receivers")["items"]}


def test_without_weir_notify(api):
    """Each says that nobody is told."""
    assert {"syslog:logs", "syslog", "alert:/Common/ops"} <= rows(api).keys()
    assert rows(api)["syslog:logs"]["error"] == "weir-notify is not running"
    text = api.weir.weirsh("show sys receiver")
    assert "syslog:logs" in text and "weir-notify is not running" in text
    alert = api.weir.weirsh("show sys alert ops").splitlines()
    assert len(alert) == 2 and alert[1].startswith("alert:/Common/ops")
    metrics = api.call("GET", "/mgmt/weir/metrics").text
    assert 'weir_receiver_works{receiver="syslog:logs"} 0' in metrics
    assert "\nweir_incidents_open " in metrics


def test_names_without_their_kind(api):
    assert [line.split()[0] for line in api.weir.weirsh("show sys receiver logs ops").splitlines()[1:]] == [
        "syslog:logs", "alert:/Common/ops"]
    api.post("sys/snmp/traps", {"name": "logs", "host": "127.0.0.1", "version": "2c", "community": "c"})
    assert "more than one receiver" in api.weir.weirsh_run("test sys receiver logs").stderr
    assert len(api.weir.weirsh("show sys receiver logs").splitlines()) == 3
    api.delete("sys/snmp/traps/logs")


def test_wrong_names(api):
    for words, reason in (("show sys receiver nobody", "no such receiver"), ("show sys alert nobody", "no such receiver"),
                          ("test sys receiver nobody", "no such receiver"), ("test sys alert", "A name is missing"),
                          ("test ltm pool web", "works on sys alert"), ("test sys receiver a b", "too much")):
        done = api.weir.weirsh_run(words)
        assert done.returncode in (1, 2) and reason in done.stderr, words
    with pytest.raises(Refused) as refused:
        api.post("/mgmt/weir/receivers", {})
    assert refused.value.status == 405


@pytest.fixture
def told():
    """weir-cp with weir-notify, and one log server that the test plays."""
    with notified() as cp:
        yield cp


def weirsh(cp, words):
    return cp.ns.run([program("weirsh"), "--run-dir", cp.run_dir, *words.split()], check=False)


def test_of_a_receiver(told):
    """test sys receiver says whether the message was taken; show sys receiver, what waits."""
    told.edit("modify", f"sys syslog remote-servers add {{ logs {{ host 127.0.0.1 remote-port {PORT} protocol tcp }} }}")
    wait_until(lambda: "refused" in weirsh(told, "show sys receiver syslog:logs").stdout.lower(), "nobody listens", 20)
    failed = weirsh(told, "test sys receiver logs")
    assert failed.returncode == 1 and "syslog:logs: " in failed.stderr
    with told.ns.socket() as server:
        server.bind(("127.0.0.1", PORT))
        server.listen(4)
        wait_until(lambda: "works" in weirsh(told, "show sys receiver syslog:logs").stdout, "it is told", 70)
        done = weirsh(told, "test sys receiver syslog:logs")
        assert (done.returncode, done.stdout) == (0, "syslog:logs has taken the message\n"), done.stderr
