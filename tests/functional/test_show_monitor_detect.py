# SPDX-License-Identifier: BSD-3-Clause
"""How long a fault can stay unnoticed is said where somebody can still change it (requirement S3-08: within a minute).

cp: weir-cp alone, no dataplane
"""
import subprocess

from cp_alone import CONF, cp  # noqa: F401
from topo.weir import program

SLOW = "ltm monitor http /Common/app { defaults-from /Common/http up-interval 60 }\n"
USED = CONF.replace("ltm pool web {", "ltm pool web {\n    monitor /Common/app")
WARNING = ("ltm monitor http /Common/app: a server that falls silent or answers wrongly is noticed after up to 71 s, "
           "more than the 60 s of sys db monitor.detectlimit: lower up-interval")


def warnings(result):
    """Without what is said of the dataplane, which is not there."""
    return [text for text in result["warnings"] if "monitor" in text]


def verify(cp, text):
    cp.conf.write_text(text)
    return subprocess.run([program("weir-cp"), "--verify", "--config", cp.conf], capture_output=True, text=True)


def test_verify_of_the_daemon_warns_and_takes_it(cp):
    done = verify(cp, SLOW + USED)
    assert done.returncode == 0 and done.stderr.count(WARNING) == 1


def test_a_monitor_that_nobody_uses_and_a_quick_one_are_no_matter(cp):
    assert verify(cp, SLOW + CONF).stderr == ""
    assert verify(cp, SLOW.replace("60", "49") + USED).stderr == ""


def test_an_error_stays_an_error(cp):
    done = verify(cp, SLOW + USED + "ltm pool web { nonsense 1 }\n")
    assert done.returncode == 1 and "nonsense" in done.stderr


def test_a_commit_warns_of_what_it_touches_and_stands(cp):
    cp.start()
    assert warnings(cp.edit("create", "ltm monitor http app up-interval 60")) == []
    assert warnings(cp.edit("modify", "ltm pool web monitor app")) == [WARNING]
    assert "app" in cp.list("ltm pool")
    assert warnings(cp.edit("modify", "ltm virtual web description x")) == []
    assert warnings(cp.edit("modify", "ltm monitor http app up-interval 70")) == [
        WARNING.replace("71", "81")]


def test_load_verify_and_save_warn(cp):
    cp.start()
    text = SLOW + USED
    _, result = cp.ask("load", text=text, file="new.conf", verify=True)
    assert warnings(result) == [WARNING]
    assert "app" not in cp.list("ltm pool")
    _, result = cp.ask("load", text=text, file="new.conf")
    assert warnings(result) == [WARNING]
    _, result = cp.ask("save", force=True)
    assert result["warnings"] == [WARNING]


def test_the_limit_is_a_setting(cp):
    cp.start()
    cp.edit("create", "ltm monitor tcp quick interval 5 timeout 16")
    cp.edit("modify", "ltm pool web monitor quick")
    cp.edit("modify", "sys db monitor.detectlimit value 15")
    _, result = cp.ask("save", force=True)
    assert "after up to 16 s, more than the 15 s" in result["warnings"][0]
    cp.edit("modify", "sys db monitor.detectlimit value 0")
    assert cp.ask("save", force=True)[1]["warnings"] == []
