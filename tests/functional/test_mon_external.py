# SPDX-License-Identifier: BSD-3-Clause
"""External monitors: LTM's arguments and environment, and what a script may not do."""
import os
import pathlib
import time

import pytest
from fake_mon_cp import SERVER, cp, lab  # noqa: F401  (lab, cp are fixtures)

from topo import wait_until

FAST = {"interval": 1, "timeout": 3}


@pytest.fixture
def script(lab):
    """script(TEXT, **fields): a monitor of one instance that runs it; its folder can be written by all."""
    folder = lab.top.dir / "scripts"
    folder.mkdir()
    folder.chmod(0o777)

    def make(text, **fields):
        path = folder / "check"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        lab.cp.monitor(1, "external", **{"script": str(path), **FAST, **fields})
        lab.cp.instance(1, 1)
        return folder
    return make


def processes(word):
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            pass
    return found


def test_output_is_up_and_none_is_down(cp, script):
    folder = script('[ -f "$(dirname "$0")/sick" ] || echo UP\n')
    cp.wait("up")
    (folder / "sick").touch()
    cp.wait("down")
    assert cp.reason() == "the script ended without output"
    (folder / "sick").unlink()
    cp.wait("up")


def test_arguments_and_environment(cp, script):
    folder = script('cd "$(dirname "$0")"; { printf "%s\\n" "$@"; env; } > part.$$; mv part.$$ said.$$; echo UP\n',
                    args="first second", variables={"USER_WORD": "a b"}, name="/Common/mine")
    cp.wait("up")
    lines = next(folder.glob("said.*")).read_text().splitlines()
    assert lines[:4] == [f"::ffff:{SERVER}", "80", "first", "second"]
    assert {f"NODE_IP=::ffff:{SERVER}", "NODE_PORT=80", "USER_WORD=a b", "ARGS_I=first second",
            "MON_TMPL_NAME=/Common/mine"} <= set(lines)


def test_script_has_no_access(lab, cp, script):
    """Not to sockets, to other processes, to privileges."""
    secret = lab.top.dir / "secret"
    secret.write_text("s")
    secret.chmod(0o600)
    folder = script(f'''d=$(dirname "$0")
[ -e $d/done ] && echo UP && exit
id -u > $d/uid; grep -E "NoNewPrivs|CapEff|CapBnd" /proc/self/status > $d/caps
ls /proc | grep -c "^[0-9]" > $d/processes; ls {lab.run_dir} > $d/run 2>&1
cat {secret} > $d/secret 2>&1; ls /proc/self/fd | wc -l > $d/fds; ulimit -a > $d/limits
kill -9 {lab.daemon.pid} 2> $d/kill; touch $d/done; echo UP
''')
    cp.wait("up")
    assert "No such process" in (folder / "kill").read_text()

    def said(name):
        return (folder / name).read_text()
    assert said("uid").strip() == "65534"
    assert "NoNewPrivs:\t1" in said("caps") and "CapEff:\t0000000000000000" in said("caps")
    assert int(said("processes")) < 6
    assert "mon.sock" not in said("run") and "Permission denied" in said("secret")
    assert int(said("fds")) <= 4
    lab.daemon.check_running()


def test_script_that_hangs_is_killed_with_its_children(cp, script):
    script("setsid sleep 31415 & (sleep 31416 &) ; exec sleep 31417\n")
    wait_until(lambda: processes("31415") and processes("31416"), "it has children")
    cp.wait("down")
    cp.send({"type": "instance-delete", "object": 1, "monitor": 1})
    wait_until(lambda: not processes("31415") and not processes("31416") and not processes("31417"), "all gone")


def test_children_of_a_finished_script_go_too(cp, script):
    script("setsid sleep 27182 > /dev/null & echo UP\n")
    cp.wait("up")
    cp.send({"type": "instance-delete", "object": 1, "monitor": 1})
    wait_until(lambda: not processes("27182"), "gone with the script")


def test_endless_output_and_forks_are_bounded(lab, cp, script):
    script('yes "noise" & f() { f | f & }; f; cat /dev/zero\n')
    cp.wait("up")
    time.sleep(1)
    lab.daemon.check_running()
    cp.send({"type": "instance-delete", "object": 1, "monitor": 1})
    wait_until(lambda: not processes("noise"), "all gone", 10)


def test_what_is_wrong_with_a_script_is_said(cp):
    for fields, field in (({"script": "here"}, "script"), ({"script": "/nowhere"}, "script"),
                          ({"script": "/bin/true", "variables": {"a=b": "c"}}, "variables")):
        cp.send({"type": "monitor", "id": 3, "name": "m", "kind": "external", **fields})
        wait_until(lambda: cp.of_type("refused") and cp.of_type("refused")[-1]["field"] == field, "refused")


def test_no_script_outlives_weir_mon(lab, cp, script):
    script("exec sleep 16180\n")
    wait_until(lambda: processes("16180"), "it runs")
    assert all(os.stat(f"/proc/{pid}").st_uid == 65534 for pid in processes("16180"))
    lab.daemon.kill()
    wait_until(lambda: not processes("16180"), "gone")
    lab.start()
