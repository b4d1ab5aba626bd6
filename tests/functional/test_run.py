# SPDX-License-Identifier: BSD-3-Clause
"""./run as a user types it: the table and its exit status, Ctrl-C, what a killed run leaves, two labs."""
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest
from topo import build_dir, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = ["--no-install"] + (["--sanitize"] if build_dir().name == "build-sanitize" else [])


def lab_namespaces():
    return sorted(path.name for path in pathlib.Path("/run/netns").glob("weir-lab-*"))


def mgmt_pids():
    """Of the lab's weir-mgmt, which is in no namespace."""
    return subprocess.run(["pgrep", "-f", "weir-mgmt --run-dir /run/weir-lab/"], capture_output=True, text=True).stdout.split()


def host_state():
    """Everything of the host's own network that a lab could touch."""
    commands = (["ip", "-o", "addr"], ["ip", "rule"], ["ip", "route", "show", "table", "all"],
                ["nft", "list", "ruleset"], ["sysctl", "-a", "--pattern", r"^net\.ipv4\.(ip_forward|conf\.all)"],
                ["sysctl", "vm.nr_hugepages"])
    return [subprocess.run(command, capture_output=True, text=True).stdout for command in commands]


def run_lab(*words):
    return subprocess.run([ROOT / "run", *OPTIONS, *words], capture_output=True, text=True, timeout=100,
                          stdin=subprocess.DEVNULL)


class Lab:
    """./run without --once, in a process group of its own, like in a terminal."""

    def __init__(self):
        self.process = subprocess.Popen([ROOT / "run", *OPTIONS], stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, process_group=0)
        self.text = ""

    def read_until(self, pattern):
        while not re.search(pattern, self.text, re.M):
            line = self.process.stdout.readline()
            assert line, f"the lab ended; it had said:\n{self.text}"
            self.text += line
        return self.text

    def signal_group(self, number):
        os.killpg(self.process.pid, number)

    def finish(self):
        rest, _ = self.process.communicate(timeout=60)
        self.text += rest
        return self.process.returncode


@pytest.fixture
def lab():
    started = Lab()
    yield started
    if started.process.poll() is None:
        started.process.send_signal(signal.SIGTERM)
        started.process.communicate(timeout=60)


@pytest.mark.parametrize("words", [[], ["--workers", "2"], ["--ipv6"], ["--port-driver", "af_packet"],
                                   ["--workers=2", "--ipv6", "--port-driver=af_packet"]],
                         ids=lambda words: " ".join(words) or "plain")
def test_once(words):
    before = host_state()
    done = run_lab("--once", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^s(\d) +\S+ +(\d+) +(\d+) +(\d+) ", done.stdout, re.M)
    assert [row[:3] for row in rows] == [("1", "4", "400"), ("2", "3", "300"), ("3", "2", "200"), ("4", "1", "100")]
    assert all(abs(int(expected) - int(actual)) <= 1 for _, _, expected, actual in rows), done.stdout
    assert "1000 requests, 0 errors" in done.stdout
    assert not lab_namespaces() and not pathlib.Path("/run/weir-lab").exists()
    assert host_state() == before


def test_stays_until_ctrl_c(lab):
    text = lab.read_until(r"^\d\d:\d\d:\d\d .* requests, 0 errors")
    weirsh = re.search(r"^pools and members +(\S+) ", text.replace("  pools", "pools"), re.M).group(1)
    pool = subprocess.run([ROOT / weirsh, "show", "ltm", "pool", "members"], capture_output=True, text=True)
    assert pool.returncode == 0 and "10.0.2.11" in pool.stdout, pool.stdout + pool.stderr
    answer = subprocess.run(["ip", "netns", "exec", "weir-lab-client", "curl", "-sS", "http://10.0.1.100/"],
                            capture_output=True, text=True, timeout=20)
    assert re.fullmatch(r"s[1-4]\n", answer.stdout), answer.stderr
    curl = re.search(r"^  the management API +(.*)$", text, re.M).group(1)
    answer = subprocess.run(curl + " -sS", shell=True, cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert {pool["name"] for pool in json.loads(answer.stdout)["items"]} == {"web", "web6"}, answer.stderr
    assert re.search(r"^https://127\.0\.0\.1:\d+ takes the user admin", text, re.M)
    assert pathlib.Path("/run/weir-lab/initial-password").stat().st_mode & 0o777 == 0o600
    lab.signal_group(signal.SIGINT)
    assert lab.finish() == 0
    assert not mgmt_pids()
    assert "the lab is stopped" in lab.text and "ended" not in lab.text, lab.text
    assert not lab_namespaces() and not (build_dir() / "lab").exists()


def test_shares_move_with_a_ratio_and_a_sick_server_is_out(lab):
    text = lab.read_until("Ctrl-C ends the lab")
    change = re.search(r"^  change a ratio +(.*)$", text, re.M).group(1)
    sick = re.search(r"^  make s2 sick .*?\) +(.*)$", text, re.M).group(1)
    subprocess.run(change, shell=True, cwd=ROOT, check=True)
    subprocess.run(sick, shell=True, cwd=ROOT, check=True)
    lab.text = ""
    lab.read_until(r"s2   0\.0 % .* requests")
    assert not re.search(r" requests, [1-9]\d* errors", lab.text)
    share = float(re.findall(r"s1 +([\d.]+) %", lab.text)[-1])
    assert 15 < share < 35, f"s1 has ratio 1 of 1, 2, 1 now: {lab.text}"


def test_second_lab_is_refused(lab):
    lab.read_until("Ctrl-C ends the lab")
    second = run_lab("--once")
    assert second.returncode != 0 and "another lab is running" in second.stderr
    assert lab.process.poll() is None and "weir-lab-client" in lab_namespaces()


def test_what_a_killed_run_leaves_is_removed(lab):
    lab.read_until("Ctrl-C ends the lab")
    children = [int(word) for name in lab_namespaces() for word in subprocess.run(
        ["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split()]
    assert children
    holder = subprocess.run(["ps", "-o", "pid=", "--ppid", str(lab.process.pid)], capture_output=True,
                            text=True).stdout.split()
    for pid in [*map(int, holder), lab.process.pid]:
        os.kill(pid, signal.SIGKILL)
    lab.process.wait()
    assert lab_namespaces() and mgmt_pids()
    done = run_lab("--once")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "removed what a killed run left behind" in done.stdout
    assert not lab_namespaces()
    wait_until(lambda: not mgmt_pids(), "its weir-mgmt is gone")
    wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}/exe").exists() for pid in children),
               "the killed run's processes are gone")


@pytest.mark.parametrize("words, reason", [(["--workers", "0"], "workers"), (["--workers"], "needs a value"),
                                           (["--port-driver", "tap"], "af_packet"), (["--frob"], "unknown option")])
def test_wrong_options_are_refused(words, reason):
    done = run_lab(*words)
    assert done.returncode == 2 and reason in done.stderr
