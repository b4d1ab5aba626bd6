# SPDX-License-Identifier: BSD-3-Clause
"""The topology library itself: nothing is left behind, also after kill -9, and nothing else is touched."""
import os
import pathlib
import subprocess
import sys

import pytest

from topo import DaemonFault, Topology, clean_leftovers, http_get, wait_until
from topo.weir import Daemon

TESTS = pathlib.Path(__file__).resolve().parents[1]
VICTIM = f"""
import sys, time
sys.path.insert(0, {str(TESTS)!r})
from topo import standard
with standard(servers=1) as topo:
    topo.picture.start_nginx()
    print(topo.prefix, topo.dir, topo.picture.nginx[0].process.pid, flush=True)
    time.sleep(600)
"""


def namespaces(prefix):
    text = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    return [line.split()[0] for line in text.splitlines() if line.startswith(prefix + "-")]


def test_killed_run_is_removed_and_living_ones_stay():
    living = Topology()
    mine = living.namespace("host")
    victim = subprocess.Popen([sys.executable, "-c", VICTIM], stdout=subprocess.PIPE, text=True)
    prefix, directory, nginx = victim.stdout.readline().split()
    assert len(namespaces(prefix)) == 4
    assert prefix not in clean_leftovers(), "its owner lives"
    victim.kill()
    victim.wait()
    assert prefix in clean_leftovers()
    assert not namespaces(prefix) and not os.path.exists(directory)
    wait_until(lambda: not os.path.exists(f"/proc/{nginx}"), "the killed run's nginx is gone")
    assert mine.pids() == [] and namespaces(living.prefix) == [mine.name]
    living.close()
    assert not namespaces(living.prefix)


def test_servers_say_who_they_are(topology):
    picture = topology(servers=2)
    picture.start_nginx()
    for host in ("10.0.2.12", "fd00:2::12"):
        answer = http_get(picture.servers[0], host, path="/echo")
        assert answer.server == "s2"
        assert answer.echo["client"] == host[:-1] + "1"


@pytest.mark.parametrize("script, fault", [
    ("trap '' TERM; while :; do sleep 0.1; done", "did not end"),
    ("exit 0", "had ended before"),
    ("trap 'exit 3' TERM; while :; do sleep 0.1; done", "ended with 3"),
    ("echo 'ERROR: LeakSanitizer: detected memory leaks'; trap 'exit 0' TERM; while :; do sleep 0.1; done",
     "sanitizer")])
def test_a_daemon_that_ends_badly_is_a_fault(topology, tmp_path, monkeypatch, script, fault):
    picture = topology(servers=1)
    program = tmp_path / "weir-dp"
    program.write_text(f"#!/bin/sh\necho up\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("WEIR_BUILD", str(tmp_path))
    monkeypatch.setattr("topo.weir.STOP_SECONDS", 1)
    daemon = Daemon(picture.lb, "weir-dp", [], tmp_path)
    daemon.start()
    wait_until(lambda: "up" in daemon.text(), "it runs")
    if fault == "had ended before":
        daemon.process.wait(5)
    with pytest.raises(DaemonFault, match=fault):
        daemon.stop()
    assert daemon.process.returncode is not None
