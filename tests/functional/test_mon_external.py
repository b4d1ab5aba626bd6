# SPDX-License-Identifier: BSD-3-Clause
"""External monitors: LTM's arguments and environment, and what a script may not do."""
import os
import pathlib
import shutil
import tempfile
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


class Said:
    """What scripts write to a pipe in their folder, up to a line "end": nothing else of the file system takes it."""

    def __init__(self, folder):
        path = folder / "said"
        os.mkfifo(path)
        path.chmod(0o666)
        self.pipe = open(os.open(path, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
        self.text = ""

    def _whole(self):
        self.text += (self.pipe.read(65536) or b"").decode()
        return "\nend\n" in self.text

    def wait(self):
        wait_until(self._whole, "a script has said all")
        return self.text.split("\nend\n")[0]


def test_arguments_and_environment(cp, script):
    folder = script('{ printf "%s\\n" "$@"; env; echo; echo end; } > "$(dirname "$0")/said"; echo UP\n',
                    args="first second", variables={"USER_WORD": "a b"}, name="/Common/mine")
    lines = Said(folder).wait().splitlines()
    cp.wait("up")
    assert lines[:4] == [f"::ffff:{SERVER}", "80", "first", "second"]
    assert {f"NODE_IP=::ffff:{SERVER}", "NODE_PORT=80", "USER_WORD=a b", "ARGS_I=first second",
            "MON_TMPL_NAME=/Common/mine"} <= set(lines)


def test_script_has_no_access(lab, cp, script):
    """Not to sockets, to other processes, to files, to privileges, nor to namespaces that would give them back."""
    secret = lab.top.dir / "secret"
    secret.write_text("s")
    secret.chmod(0o600)
    folder = script(f'''d=$(dirname "$0")
{{ id -u; grep -E "NoNewPrivs|CapEff|CapBnd" /proc/self/status; cat /proc/self/oom_score_adj; nice
echo "processes $(ls /proc | grep -c "^[0-9]")"; echo "fds $(ls /proc/self/fd | wc -l)"; ls {lab.run_dir}; cat {secret}
kill -9 {lab.daemon.pid}; echo mine > $d/file; echo mine > /dev/shm/weir-file; echo mine > /var/tmp/weir-file
unshare -Urm umount {lab.run_dir}; unshare -Urm mount -o remount,rw /; echo; echo end; }} > $d/said 2>&1; echo UP
''')
    said = Said(folder).wait()
    cp.wait("up")
    assert said.startswith("65534\n") and "NoNewPrivs:\t1" in said and "CapEff:\t0000000000000000" in said
    assert "\n1000\n10\n" in said
    assert int(said.split("processes ")[1].split()[0]) < 6 and int(said.split("fds ")[1].split()[0]) <= 4
    assert "No such process" in said and "mon.sock" not in said and f"{secret}: Permission denied" in said
    assert said.count("cannot create") == 3 and said.count("uid_map: Read-only file system") == 2
    assert not (folder / "file").exists() and not os.path.exists("/dev/shm/weir-file")
    lab.daemon.check_running()


def test_its_tmp_is_its_own_and_small(lab, cp):
    """It can fill neither the disk nor the memory of the machine with files."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-", dir="/var/tmp"))
    try:
        folder.chmod(0o755)
        (folder / "check").write_text('#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > /tmp/weir-$n; done\n'
                                      '{ du -sk /tmp; echo; echo end; } > "$(dirname "$0")/said"; echo UP\n')
        (folder / "check").chmod(0o755)
        pipe = Said(folder)
        lab.cp.monitor(1, "external", script=str(folder / "check"), **FAST)
        lab.cp.instance(1, 1)
        assert 3000 < int(pipe.wait().split()[0]) <= 4096
        cp.wait("up")
        assert not os.path.exists("/tmp/weir-1")
    finally:
        shutil.rmtree(folder)


def test_a_script_in_the_run_directory_is_told_so(lab, cp):
    path = lab.run_dir / "check"
    path.write_text("#!/bin/sh\necho UP\n")
    path.chmod(0o755)
    lab.cp.monitor(1, "external", script=str(path), **FAST)
    lab.cp.instance(1, 1)
    wait_until(lambda: "not probed: it lies in the run directory, which scripts do not see" in cp.stat()["last-error"], "it is told")


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
