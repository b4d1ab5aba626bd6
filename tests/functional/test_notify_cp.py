# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp and weir-notify together: settings as configured, records as they happen, tests and their results.

    weir-cp --- notify.sock --- weir-notify --- rsyslogd
"""
import pwd

import pytest
from cp_alone import error_of, notified
from log_servers import PORT, LogServer, certificates

from topo import wait_until
from topo.weir import NOTIFY_USER

NAME = "syslog:logs"


class Lab:
    def __init__(self, cp):
        self.cp, self.ns, self.dir, self.notify = cp, cp.ns, cp.run_dir, cp.notify
        wait_until(lambda: not self.away(), "weir-notify follows", 15)

    def away(self):
        return any(row["error"] == "weir-notify is not running" for row in self.cp.show("sys receiver"))

    def row(self, name=NAME):
        return next((row for row in self.cp.show("sys receiver") if row["name"] == name), {})

    def configure(self, words):
        self.cp.edit("modify", f"sys syslog remote-servers replace-all-with {{ logs {{ host 127.0.0.1 "
                               f"remote-port {PORT} {words} }} }}")
        wait_until(lambda: "delivered" in self.row(), "the receiver is known", 10)


@pytest.fixture
def lab():
    with notified() as cp:
        yield Lab(cp)


def test_commit_reaches_log_server(lab):
    with_server = LogServer(lab, "tcp").start()
    lab.configure("protocol tcp")
    lab.cp.edit("modify", "ltm pool web description told")
    with_server.wait(lambda lines: any("01070417:5: " in line and " config-changed " in line for line in lines),
                     "the commit is told")
    wait_until(lambda: lab.row()["waiting"] == 0 and lab.row()["error"] == "", "all is taken", 10)
    with_server.stop()


def test_tls_files_of_the_configuration(lab):
    tls = certificates(lab.dir / "tls")
    server = LogServer(lab, "tls", tls, client_names="lb1").start()
    for kind, name, file in (("cert", "ca", "ca.pem"), ("cert", "own", "client.pem"), ("key", "own", "client.key")):
        lab.cp.ask("create", kind=f"sys file ssl-{kind}", name=name, body={"content": (tls / file).read_text()})
    lab.configure("protocol tls ca-file ca cert own key own")
    lab.cp.edit("modify", "ltm pool web description told")
    server.wait(lambda lines: any("01070417:5: " in line for line in lines), "the commit is told")
    server.stop()


def test_the_test_message(lab):
    assert error_of(lab.cp.ask, "test-receiver", name="nobody")["code"] == 404
    lab.configure("protocol tcp")
    result = lab.cp.ask("test-receiver", name=NAME)[1]
    assert not result["ok"] and result["reason"]
    server = LogServer(lab, "tcp").start()
    wait_until(lambda: lab.cp.ask("test-receiver", name=NAME)[1]["ok"], "the test works", 15)
    server.wait(lambda lines: any("0e1f0090:5: Test " in line for line in lines), "the test message")
    lab.notify.kill()
    wait_until(lab.away, "that is told", 10)
    error = error_of(lab.cp.ask, "test-receiver", name=NAME)
    assert error["code"] == 504 and error["reason"] == "weir-notify is not running"
    lab.notify.start()
    wait_until(lambda: not lab.away(), "weir-notify follows again", 15)
    server.stop()


def test_cp_killed_and_back(lab):
    server = LogServer(lab, "tcp").start()
    lab.configure("protocol tcp")
    lab.cp.restart(kill=True)
    lab.cp.edit("modify", "ltm pool web description after")
    server.wait(lambda lines: sum("01070417:5: " in line for line in lines) >= 1, "the commit is told")
    server.stop()


def test_what_weir_notify_may_ask(lab):
    """Its socket is its user's, and answers nothing but what it needs."""
    path = lab.dir / "notify.sock"
    assert path.stat().st_uid == pwd.getpwnam(NOTIFY_USER).pw_uid and path.stat().st_mode & 0o777 == 0o600
    status = dict(line.split(":", 1) for line in open(f"/proc/{lab.notify.pid}/status"))
    assert status["CapPrm"].strip() == status["CapEff"].strip() == "0" * 16
    assert status["NoNewPrivs"].strip() == "1"
