# SPDX-License-Identifier: BSD-3-Clause
"""Alerts as they are configured: weir-cp, weir-notify and a mail server; weir-mon is played.

    weir-cp --- notify.sock --- weir-notify --- exim4
"""
import pytest
from alert_lab import MAIL, Smtpd
from cp_alone import notified
from test_health_link import CONF, instances, synced, wait_status

from topo import wait_until
from topo import weirconf as wc

NAME = "alert:/Common/ops"
MEMBER = "/Common/10.0.2.11:80"


class Lab:
    def __init__(self, cp):
        self.cp = cp
        cp.ns.address("lo", f"{MAIL}/32")
        self.mail = Smtpd(cp.run_dir, cp.ns)

    def row(self):
        return next((row for row in self.cp.show("sys receiver") if row["name"] == NAME), {})

    def known(self):
        wait_until(lambda: "delivered" in self.row(), "the receiver is known", 15)

    def test(self):
        return self.cp.ask("test-receiver", name=NAME)[1]


@pytest.fixture
def lab():
    with notified(CONF + wc.virtual("web", "10.0.1.100", 80, "web")) as cp:
        made = Lab(cp)
        made.mail.start()
        yield made
        made.mail.stop()


def test_a_server_that_is_down_is_mailed_and_its_end(lab):
    cp = lab.cp
    cp.ask("create", kind="sys file ssl-cert", name="mail", body={"content": lab.mail.ca})
    cp.edit("create", f"sys smtp-server office {{ smtp-server-host-name {MAIL} smtp-server-port 587 ca-file mail "
                      "encrypted-connection tls authentication-enabled username weir password secret "
                      "from-address weir@example.com }")
    cp.edit("create", "sys alert ops { smtp-servers { office } to { ops@example.com } level notice digest 1 }")
    lab.known()
    assert lab.test() == {"ok": True, "reason": ""}, lab.test()
    lab.mail.wait(1)
    mon, messages = synced(cp)
    servers = instances(messages)
    for server in servers.values():
        mon.verdict(server, "up")
    wait_status(cp, "up")
    wait_status(cp, "up", "10.0.2.12:80")
    mon.verdict(servers["10.0.2.11"], "down")
    wait_until(lambda: any(MEMBER in message["subject"] for message in lab.mail.mails()), "the mail", 15)
    down = next(message for message in lab.mail.mails() if MEMBER in message["subject"])
    assert f"DOWN: pool member {MEMBER} of /Common/web" in down["subject"]
    assert "monitor status down" in down.get_content() and "runbook.md#01070638" in down.get_content()
    mon.verdict(servers["10.0.2.11"], "up")
    wait_until(lambda: any(message["in-reply-to"] == down["message-id"] for message in lab.mail.mails()), "its end", 15)
    wait_until(lambda: lab.row()["error"] == "", "all is well", 10)


def test_a_command_of_the_configuration(lab):
    script = '#!/bin/sh\n[ "$WEIR_EVENT_KIND $1" = "test word" ] && exit 0\necho "no: $1"; exit 9\n'
    lab.cp.ask("create", kind="sys file alert-script", name="say", body={"content": script})
    lab.cp.edit("create", "sys alert ops { method command script say args word }")
    lab.known()
    assert lab.test()["ok"], lab.test()
    lab.cp.edit("modify", "sys alert ops { args other }")
    wait_until(lambda: "ended with 9: no: other" in lab.test()["reason"], lambda: lab.test(), 15)
