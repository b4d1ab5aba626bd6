# SPDX-License-Identifier: BSD-3-Clause
"""Incidents as calls of a command: what it is given, and what becomes of one that fails, hangs or floods."""
import json
import os
import pathlib
import signal

import pytest
from alert_lab import command, run_lab, said, script  # noqa: F401  (said is a fixture)

from topo import wait_until


@pytest.fixture
def lab():
    yield from run_lab()


def test_environment_and_input(lab, said):
    lab.configure(command(script(said, what='env; echo "args $*"; id -un; cat'), args="one  two"))
    lab.cp.down(flows=12)
    number = lab.cp.down()
    lines = said.wait()[0].splitlines()
    assert {"WEIR_EVENT_KIND=opened", "WEIR_EVENT_COUNT=2", "WEIR_EVENT_OBJECT=/Common/10.0.0.1:80", "args one two",
            "WEIR_EVENT_FLOWS=12", "WEIR_EVENT_ACTOR=/Common/http", "WEIR_EVENT_ID=01070638", "games"} <= set(lines)
    event = json.loads(lines[-1])
    assert [row["incident"] for row in event["incidents"]] == [1, number]
    assert event["incidents"][1]["open"]["object"] == "/Common/10.0.0.2:80"
    lab.cp.up(number, 65)
    lines = said.wait(2)[1].splitlines()
    assert {"WEIR_EVENT_KIND=closed", "WEIR_EVENT_DURATION=65"} <= set(lines)


def test_failure_is_tried_again(lab, said):
    lab.configure(command(script(said, 'echo "no luck" ; exit 3')))
    lab.cp.down()
    said.wait(2)
    wait_until(lambda: "ended with 3: no luck" in lab.cp.error(), "the fault is told")
    lab.configure(command(script(said)))
    count = len(said.wait(3))
    wait_until(lambda: not lab.cp.error(), "it has been taken")
    lab.restart()
    lab.cp.down()
    assert len(said.wait(count + 1)) == count + 1


def test_given_up_after_some_tries(lab, said):
    lab.configure(command(script(said, "exit 1"), tries=2))
    first = lab.cp.down()
    said.wait(2)
    lab.cp.up(first)
    calls = said.wait(3)
    event = json.loads(calls[2])
    assert event["refused"] == 1 and event["kind"] == "closed"


def test_timeout(lab, said):
    lab.configure(command(script(said, "sleep 100 & sleep 100"), timeout=1))
    lab.cp.down()
    said.wait(2)
    wait_until(lambda: "killed after 1 s" in lab.cp.error(), "the fault is told")


def test_flood(lab, said):
    lab.configure(command(script(said, "exec cat /dev/zero"), timeout=20))
    lab.cp.down()
    said.wait(2)
    wait_until(lambda: "wrote more than 65536" in lab.cp.error(), "the fault is told")


def test_input_that_is_not_read_and_output_that_is_hostile(lab, said):
    lab.configure(command("#!/bin/sh\nprintf 'a\\033[2J\\r\\nb'; exit 1\n"))
    lab.cp.down(object="/Common/x\n\x1b[2J;$(reboot)`id`")
    wait_until(lambda: "ended with 1: a?[2J??b" in lab.cp.error(), lambda: lab.cp.error())
    lab.configure(command(script(said, what='echo "$WEIR_EVENT_OBJECT"')))
    assert said.wait()[0] == "/Common/x??[2J;$(reboot)`id`\n"


@pytest.mark.parametrize("text", ["no script at all", "#!/no/such/program\n", "#!/bin/sh\nexit 7\n"])
def test_what_cannot_run_is_told(lab, text):
    lab.configure(command(text))
    ok, reason = lab.cp.test("/Common/ops")
    assert not ok and reason.startswith("the command")


def test_a_test_is_a_call(lab, said):
    lab.configure(command(script(said, what='echo "$WEIR_EVENT_KIND"')))
    assert lab.cp.test("/Common/ops") == (True, "")
    assert said.wait() == ["test\n"]


def _runner(daemon):
    for pid in pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split():
        if pathlib.Path(f"/proc/{pid}/comm").read_text() == "weir-notify-run\n":
            return int(pid)
    raise AssertionError("nothing starts commands")


def test_without_its_starter_the_daemon_ends_and_goes_on_when_started_anew(lab, said):
    lab.configure(command(script(said, "sleep 100", what='echo "$WEIR_EVENT_MESSAGE"'), timeout=30))
    lab.cp.down()
    call = said.wait()[0]
    os.kill(_runner(lab.daemon), signal.SIGKILL)
    wait_until(lambda: not lab.daemon.running(), "weir-notify ends")
    assert lab.daemon.process.returncode == 1
    lab.restart()
    lab.configure(command(script(said, what='echo "$WEIR_EVENT_MESSAGE"')))
    assert said.wait(2)[1] == call


def test_it_has_no_access(lab, said):
    """Not to sockets, other processes, files, privileges, nor to the state of weir-notify."""
    lab.configure(command(script(said, what=f"ls {lab.run_dir} {lab.state_dir}; grep CapEff /proc/self/status; "
                                            f"kill -9 {lab.daemon.pid}; echo x > /var/tmp/weir-file")))
    lab.cp.down()
    call = said.wait()[0]
    assert "notify.sock" not in call and "places" not in call and "CapEff:\t0000000000000000" in call
    assert not os.path.exists("/var/tmp/weir-file")
    lab.daemon.check_running()
