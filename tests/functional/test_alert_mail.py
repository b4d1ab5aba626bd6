# SPDX-License-Identifier: BSD-3-Clause
"""Incidents by mail: one message for a rack, its recovery in the same thread, nothing lost and nothing twice."""
import datetime
import json

import pytest
from alert_lab import MAIL, OTHER, mail, run_lab, server

from topo import wait_until


@pytest.fixture
def lab():
    yield from run_lab()


def text(message):
    return message.get_content()


def test_a_rack_is_one_mail_and_its_recovery_answers_it(lab):
    smtpd = lab.smtpd()
    lab.configure(mail(to=["ops@example.com", "night@example.com"]))
    numbers = [lab.cp.down(flows=3) for _ in range(50)]
    first = smtpd.wait(2)[0]
    assert first["subject"].endswith("DOWN: pool member /Common/10.0.0.1:80 of /Common/web (+49)")
    assert first["subject"].startswith("[weir ") and first["auto-submitted"] == "auto-generated"
    assert first["to"] == "ops@example.com, night@example.com"
    assert first["date"].datetime and first["from"] == "Weir <weir@example.com>"
    body = text(first)
    assert body.count("[open]") == 50 and "connect: refused" in body and "Connections: 3" in body
    assert "runbook.md#01070638" in body and f"Incident: {numbers[0]}\n" in body
    for number in numbers:
        lab.cp.up(number, 65)
    back = smtpd.wait(4)[2]
    assert "UP: pool member /Common/10.0.0.1:80 of /Common/web (+49)" in back["subject"]
    assert back["in-reply-to"] == first["message-id"] == back["references"]
    assert text(back).count("Duration: 1 min 5 s") == 50
    assert len(smtpd.mails()) == 4


@pytest.mark.parametrize("port, encryption", [(587, "tls"), (465, "ssl")])
def test_encrypted_with_log_in(lab, port, encryption):
    smtpd = lab.smtpd()
    way = {"encrypted-connection": encryption, "authentication-enabled": True, "username": "weir", "ca": smtpd.ca}
    lab.configure(mail(server(MAIL, port, password="secret", **way)))
    assert lab.cp.test("/Common/ops") == (True, "")
    assert "test" in smtpd.wait(1)[0]["subject"]
    lab.configure(mail(server(MAIL, port, password="wrong", **way)))
    ok, reason = lab.cp.test("/Common/ops")
    assert not ok and "535" in reason
    lab.configure(mail(server(MAIL, port, password="secret", **{**way, "ca": ""})))
    ok, reason = lab.cp.test("/Common/ops")
    assert not ok and "certificate" in reason.lower()
    assert len(smtpd.mails()) == 1


def test_nothing_is_sent_without_tls_that_was_asked_for(lab):
    fake = lab.fake()
    lab.configure(mail(server(OTHER, **{"encrypted-connection": "tls", "authentication-enabled": True,
                                        "username": "weir", "password": "secret"})))
    ok, reason = lab.cp.test("/Common/ops")
    assert not ok and reason
    assert not [line for line in fake.commands if line.startswith(("AUTH", "MAIL"))]


def test_server_away_and_back(lab):
    """What happens meanwhile goes in one mail; what ended meanwhile is a line in it. weir-notify is killed as well."""
    smtpd = lab.smtpd()
    lab.configure(mail())
    first = lab.cp.down()
    smtpd.wait(1)
    smtpd.stop()
    second = lab.cp.down()
    wait_until(lambda: MAIL in lab.cp.error(), "the fault is told")
    lab.cp.up(second, 3)
    third = lab.cp.down()
    lab.restart()
    lab.cp.up(first, 9)
    smtpd.start()
    told = smtpd.wait(3, 30)
    assert [message["subject"].split()[2] for message in told] == ["DOWN:", "DOWN:", "UP:"]
    body = text(told[1])
    assert f"Incident: {second}\n" in body and f"Incident: {third}\n" in body and body.count("[closed]") == 1
    assert told[2]["in-reply-to"] == told[0]["message-id"] and len({m["message-id"] for m in told}) == 3
    wait_until(lambda: not lab.cp.error(), "the fault is over")
    lab.restart(kill=False)
    lab.cp.up(third, 9)
    assert len(smtpd.wait(4)) == 4
    assert smtpd.mails()[3]["in-reply-to"] == told[1]["message-id"]


def test_next_server_when_the_first_hangs_or_is_away(lab):
    smtpd, hangs = lab.smtpd(), lab.fake(greeting=b"")
    hangs.script = lambda line: False
    lab.configure(mail(server(OTHER), server("10.0.3.99"), server(MAIL)))
    lab.cp.down()
    smtpd.wait(1, 20)
    assert hangs.connections == 1 and not lab.cp.error()


def test_quiet_hours(lab):
    smtpd = lab.smtpd()
    now = datetime.datetime.now()
    hours = {"quiet_from": (now - datetime.timedelta(minutes=5)).strftime("%H:%M"),
             "quiet_to": (now + datetime.timedelta(minutes=60)).strftime("%H:%M"), "quiet_level": "crit"}
    lab.configure(mail(**hours))
    lab.cp.down()
    lab.cp.up(lab.cp.down(), 3)
    lab.cp.down(level="crit", object="/Common/worst")
    assert "/Common/worst" in smtpd.wait(1)[0]["subject"]
    assert text(smtpd.mails()[0]).count("Incident:") == 1
    lab.configure(mail(quiet_from="00:00", quiet_to="00:00"))
    summary = smtpd.wait(2)[1]
    assert "QUIET HOURS" in summary["subject"] and text(summary).count("Incident:") == 2
    assert text(summary).count("[closed]") == 1 and len(smtpd.mails()) == 2


def test_reminder(lab):
    smtpd = lab.smtpd()
    lab.configure(mail(remind=1))
    number = lab.cp.down()
    first = smtpd.wait(1)[0]
    again = smtpd.wait(2, 75)[1]
    assert "STILL DOWN" in again["subject"] and again["in-reply-to"] == first["message-id"]
    lab.cp.up(number, 70)
    assert "UP" in smtpd.wait(3)[2]["subject"]


def test_recipient_who_is_refused(lab):
    """The others get it once; who is refused is told of, and not tried for ever."""
    smtpd = lab.smtpd()
    lab.configure(mail(to=["ops@example.com", "nobody@elsewhere.example"]))
    lab.cp.down()
    smtpd.wait(1)
    wait_until(lambda: "nobody@elsewhere.example" in lab.cp.error() and "550" in lab.cp.error(), "it is told")
    lab.configure(mail(to=["nobody@elsewhere.example"]))
    lab.cp.down()
    wait_until(lambda: "550" in lab.cp.error(), "it is told")
    wait_until(lambda: "a message is given up" in lab.daemon.text(), "its tries are over", 15)
    lab.configure(mail())
    number = lab.cp.down()
    last = smtpd.wait(2)[1]
    assert "1 messages before this one were refused" in text(last) and f"Incident: {number}\n" in text(last)


def test_greylisted(lab):
    """4xx is tried again: for the one who has not got it, and under the same name."""
    fake = lab.fake()
    seen = []

    def script(line):
        if line.startswith("RCPT TO:<night"):
            seen.append(line)
            return b"450 4.2.0 come again\r\n" if len(seen) < 3 else None
        return None
    fake.script = script
    lab.configure(mail(server(OTHER), to=["ops@example.com", "night@example.com"]))
    lab.cp.down()
    wait_until(lambda: len(fake.texts) == 2, "the second has it too", 20)
    assert [line for line in fake.commands if line.startswith("RCPT TO:<ops")] == ["RCPT TO:<ops@example.com>"]
    names = {[line for line in mail.splitlines() if line.startswith(b"Message-ID")][0] for mail in fake.texts}
    assert len(names) == 1 and len(seen) == 3


def test_who_is_left_is_read_from_any_state(lab):
    """A name twice, and a file that somebody has been at: each who is left gets it, nobody else."""
    fake = lab.fake()
    fake.script = lambda line: b"450 4.2.0 come again\r\n" if line.startswith("RCPT TO:<night") else None
    lab.configure(mail(server(OTHER), to=["ops@example.com", "night@example.com", "night@example.com"]))
    lab.cp.down()
    wait_until(lambda: "450" in lab.cp.error(), "who is left is told", 20)
    lab.daemon.kill()
    path, = (lab.state_dir / "alert").iterdir()
    state = json.loads(path.read_text())
    assert state["digest"]["message"]["left"] == ["night@example.com"] * 2
    state["digest"]["message"]["left"] = [None, 7, *["night@example.com"] * 50]
    path.write_text(json.dumps(state))
    fake.script = lambda line: None
    lab.restart()
    lab.configure(mail(server(OTHER), to=["ops@example.com", "night@example.com", "night@example.com"]))
    wait_until(lambda: len(fake.texts) == 2, "they have it", 20)
    assert len([line for line in fake.commands if line.startswith("RCPT TO:<ops")]) == 1


def test_server_that_takes_all_and_does_not_answer(lab):
    """Nobody knows whether it has the mail: the same one comes again, under the same name."""
    fake = lab.fake()
    fake.script = lambda line: False if line == "." and len(fake.texts) < 2 else None
    lab.configure(mail(server(OTHER)))
    lab.cp.down()
    wait_until(lambda: len(fake.texts) == 2 and not lab.cp.error(), "it is sent again", 20)
    names = {[line for line in mail.splitlines() if line.startswith(b"Message-ID")][0] for mail in fake.texts}
    assert len(names) == 1


@pytest.mark.parametrize("greeting", [b"\x00\xff garbage\r\n" * 1000, b"220 " + b"x" * 200000, b"999\r\n", b"554 no\r\n"],
                         ids=["bytes", "endless", "number", "refused"])
def test_garbage(lab, greeting):
    lab.fake(greeting=greeting)
    lab.configure(mail(server(OTHER)))
    ok, reason = lab.cp.test("/Common/ops")
    assert not ok and reason and reason.isprintable()


def test_hostile_names(lab):
    """Objects' and servers' texts get no header and no line of their own."""
    smtpd = lab.smtpd()
    lab.configure(mail())
    lab.cp.down(object="/Common/x\r\nBcc: evil@example.com\r\n\r\n.\r\n", cause="220 hi\r\n.\r\nQUIT\r\n", text="Grüße \u202e")
    got = smtpd.wait(1)[0]
    assert got["bcc"] is None and "Bcc: evil" in got["subject"] and "Grüße ?" in text(got)
    assert not got.defects and len(smtpd.mails()) == 1


def test_filters(lab):
    smtpd = lab.smtpd()
    lab.configure(mail(level="err", modules=["sys"]))
    lab.cp.down()
    lab.cp.down(level="err")
    lab.cp.down(level="crit", module="sys", object="", text="The dataplane is gone.")
    assert "The dataplane is gone." in smtpd.wait(1)[0]["subject"]
    assert text(smtpd.mails()[0]).count("Incident:") == 1


def test_settings_that_cannot_work_are_told(lab):
    for wrong, word in (({"to": []}, "to"), ({"from": "x"}, "from"), ({"to": ["a b@c"]}, "to"),
                        ({"quiet_from": "25:00"}, "quiet")):
        lab.configure(mail(**wrong))
        wait_until(lambda: word in lab.cp.error(), f"{wrong} is told")


def test_ten_thousand_at_once(lab):
    smtpd = lab.smtpd()
    lab.configure(mail(digest=3))
    for _ in range(10000):
        lab.cp.down()
    message = smtpd.wait(1, 60)[0]
    assert "(+9999)" in message["subject"] and "and 9900 more" in text(message)
