# SPDX-License-Identifier: BSD-3-Clause
"""weir-dp alone: starts on kernel interfaces, serves its control socket, gives up privileges, stops.

    peer  c1 ------- p1  dp  p2 ------- c2  peer
"""
import fcntl
import json
import os
import pathlib
import signal
import socket
import struct

import pytest
from dpcontrol import (EINVAL, HEADER, HELLO, MSG_HELLO, MSG_LIVE, MSG_MEMORY, MSG_MEMORY_INFO,
                       MSG_NEIGHBOURS, MSG_SNAPSHOT, Control, Counters)
from scapy.all import IP, UDP, Ether, Raw
from topo import Topology, wait_until
from topo.weir import Daemon, program


class Lone:
    """weir-dp between two cables."""

    def __init__(self, topo, driver, workers=2, idle="backoff", options=()):
        self.topo = topo
        self.ns, self.peer = topo.namespace("dp"), topo.namespace("peer")
        self.run_dir = topo.dir / "dp"
        self.run_dir.mkdir()
        words = ["--run-dir", self.run_dir, "--workers", workers, "--idle", idle, "--flows", 1024]
        for i in (1, 2):
            topo.veth(self.ns, f"p{i}", self.peer, f"c{i}")
            self.ns.hide_from_kernel(f"p{i}")
            words += ["--port", f"1.{i}=net_{driver},iface=p{i}"]
        self.daemon = topo.add(Daemon(self.ns, "weir-dp", [*words, *options], self.run_dir))
        self.start()

    def start(self):
        self.daemon.start()
        wait_until(self._answers, "weir-dp serves", 20)

    def _answers(self):
        self.daemon.check_running()
        try:
            self.control().close()
        except (FileNotFoundError, ConnectionRefusedError):  # not there yet; of a killed run
            return False
        return True

    def control(self):
        return Control(self.run_dir)

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.daemon.process.pid}/fd").iterdir()))

    def status(self):
        """Of each thread: {field: value} of /proc/PID/task/TID/status."""
        tasks = pathlib.Path(f"/proc/{self.daemon.process.pid}/task").iterdir()
        return [dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines()
                     if ":\t" in line) for task in tasks]


@pytest.fixture
def lone():
    opened = []

    def build(*args, **options):
        opened.append(Topology())
        return Lone(opened[-1], *args, **options)

    yield build
    for topo in opened:
        topo.close()


@pytest.mark.parametrize("driver", ["af_xdp", "af_packet"])
def test_starts_receives_stops(lone, driver):
    dp = lone(driver)
    control = dp.control()
    counters = Counters(control.counters_fd)
    ports = control.ports()
    assert set(ports) == {"1.1", "1.2"}
    for number in (1, 2):
        mac, up, name = ports[f"1.{number}"]
        assert mac.hex(":") == dp.ns.mac(f"p{number}")
        assert up == 1
        assert name == f"net_{driver}"
    send_frames(dp, "c1", 50)
    send_frames(dp, "c2", 50)
    wait_until(lambda: counters.received() >= 100, "frames arrive")
    # Without a snapshot nothing is for us, and everything that is dropped is counted.
    wait_until(lambda: counters.all_drops() == counters.received(), "drops are counted")
    control.close()


def send_frames(dp, interface, count):
    frame = bytes(Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") /
                  IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=2) / Raw(b"x" * 100))
    with dp.peer.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((interface, 0))
        for _ in range(count):
            sock.send(frame)


def test_hello_names_the_run(lone):
    dp = lone("af_xdp", workers=1)
    first, second = dp.control(), dp.control()
    one, two = (HELLO.unpack_from(c.hello, HEADER.size) for c in (first, second))
    assert one[:3] == (1, 1, 0) and one == two
    # The newest connection wins.
    first.sock.settimeout(10)
    assert first.sock.recv(1) == b""
    before, result, seq = second.ask(HEADER.pack(MSG_MEMORY, HEADER.size, 77))
    assert result[0] == 0 and seq == 77
    assert HEADER.unpack_from(before[0])[0] == MSG_MEMORY_INFO
    mbufs, free = struct.unpack_from("=QQ", before[0], HEADER.size)
    assert 0 < free < mbufs
    dp.daemon.stop()
    dp.start()
    third = dp.control()
    assert HELLO.unpack_from(third.hello, HEADER.size)[4] != one[4]
    for control in (first, second, third):
        control.close()


def memory_file(data, seals):
    fd = os.memfd_create("snapshot", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(fd, data)
    if seals:
        fcntl.fcntl(fd, 1033, seals)  # F_ADD_SEALS
    return fd


def test_refuses_bad_messages(lone):
    """Lying lengths, wrong types, missing and wrong descriptors: refused by name, and life goes on."""
    dp = lone("af_xdp", workers=1)
    control = dp.control()

    def refused(data, fds=()):
        _, (status, _, generation, _, reason), _ = control.ask(data, fds)
        for fd in fds:
            os.close(fd)
        assert status == -EINVAL and reason and generation == 0
        return reason

    assert "length" in refused(HEADER.pack(MSG_MEMORY, 4000, 1))
    assert "header" in refused(b"abc")
    assert "type" in refused(HEADER.pack(99, HEADER.size, 1))
    assert "type" in refused(HEADER.pack(MSG_HELLO, HEADER.size, 1))
    assert "descriptor" in refused(HEADER.pack(MSG_SNAPSHOT, HEADER.size, 1))
    snapshot = HEADER.pack(MSG_SNAPSHOT, HEADER.size, 1)
    assert "seal" in refused(snapshot, [memory_file(b"x" * 4096, 0)])
    assert "memory file" in refused(snapshot, [os.open("/dev/null", os.O_RDONLY)])
    assert refused(snapshot, [memory_file(b"x" * 4096, 15)])
    assert "descriptor" in refused(snapshot, [memory_file(b"x" * 4096, 15) for _ in range(2)])
    assert "descriptor" in refused(snapshot, [memory_file(b"x", 0) for _ in range(20)])
    assert "count" in refused(HEADER.pack(MSG_LIVE, HEADER.size + 8, 1) + struct.pack("=II", 0, 0))
    assert "length" in refused(HEADER.pack(MSG_LIVE, 65537, 1) + b"\0" * 65521)
    before, result, _ = control.ask(HEADER.pack(MSG_NEIGHBOURS, HEADER.size, 5))
    assert result[:2] == (0, 0) and not before
    fds = dp.descriptors()
    for _ in range(50):
        refused(snapshot, [memory_file(b"x", 0) for _ in range(3)])
    wait_until(lambda: dp.descriptors() == fds, "all received descriptors are closed")
    control.close()


@pytest.mark.parametrize("user", [None, "nobody"])
def test_gives_up_privileges(lone, user):
    options = ["--user", user] if user else []
    dp = lone("af_xdp", options=options)
    threads = dp.status()
    sanitized = b"__asan_init" in program("weir-dp").read_bytes()
    assert len(threads) >= 3
    for status in threads:
        assert int(status["CapEff"], 16) == 0 and int(status["CapPrm"], 16) == 0
        assert status["NoNewPrivs"] == "1"
        assert status["Seccomp"] == ("0" if sanitized else "2")  # the sanitizers need more calls
        assert (status["Uid"].split()[0] != "0") == bool(user)
    mode = (dp.run_dir / "dp.sock").stat().st_mode
    assert mode & 0o777 == 0o600
    control = dp.control()
    counters = Counters(control.counters_fd)
    send_frames(dp, "c1", 20)
    wait_until(lambda: counters.received() >= 20, "frames arrive")
    control.close()


@pytest.mark.parametrize("driver", ["af_xdp", "af_packet"])
def test_leaves_interfaces_reusable(lone, driver):
    """Killed or stopped, weir-dp leaves nothing on the interface, and starts again on it."""
    dp = lone(driver)
    for ending in (dp.daemon.kill, dp.daemon.stop):
        ending()
        links = json.loads(dp.ns.run(["ip", "-j", "link", "show", "p1"]).stdout)
        wait_until(lambda: "xdp" not in json.loads(
            dp.ns.run(["ip", "-j", "link", "show", "p1"]).stdout)[0], "program is gone")
        assert links[0]["ifname"] == "p1"
        dp.start()
        control = dp.control()
        counters = Counters(control.counters_fd)
        send_frames(dp, "c1", 20)
        wait_until(lambda: counters.received() >= 20, "frames arrive")
        control.close()
    dp.daemon.stop()
    assert not (dp.run_dir / "dp.sock").exists()
    assert not (dp.run_dir / "dpdk").exists()
    dp.start()


def test_idle_sleeps(lone):
    """Back-off: an idle worker turns at most once in 200 us, not hundreds of thousands of times a second."""
    dp = lone("af_xdp", workers=1)
    control = dp.control()
    counters = Counters(control.counters_fd)
    wait_until(lambda: counters.turns() > 1100, "the long sleep is reached")
    start, cpu = counters.turns(), cpu_ticks(dp)
    wait_until(lambda: counters.turns() - start > 5000, "a second of idling")
    # 5,000 turns take a second or more; polling would take some milliseconds and all of a core.
    assert cpu_ticks(dp) - cpu < 60
    control.close()


def cpu_ticks(dp):
    fields = pathlib.Path(f"/proc/{dp.daemon.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize("words, fault", [
    (["--port", "1.1=net_nonsense"], "unknown driver"),
    (["--port", "1.1=net_af_xdp,iface=nowhere"], "interface does not exist"),
    (["--port", "1.1=net_null", "--port", "1.1=net_null"], "name is used twice"),
    (["--workers", "0"], "--workers"),
    (["--workers", "two"], "--workers"),
    (["--idle", "sometimes"], "--idle"),
    (["--user", "nosuchuser"], "there is no user nosuchuser"),
    (["surplus"], "surplus"),
])
def test_bad_arguments_end_the_start(words, fault):
    with Topology() as topo:
        ns = topo.namespace("dp")
        daemon = Daemon(ns, "weir-dp", ["--run-dir", topo.dir, *words], topo.dir)
        daemon.start()
        assert daemon.process.wait(20) in (1, 2)
        assert fault in daemon.text()


def test_sigint_ends_cleanly(lone):
    dp = lone("af_packet", workers=1, idle="poll")
    dp.daemon.process.send_signal(signal.SIGINT)
    assert dp.daemon.process.wait(20) == 0
    dp.start()


def test_warns_of_a_peer_with_offload():
    """The peer is in another namespace, as in the lab; the advice, followed, ends the warning."""
    with Topology() as topo:
        ns, peer = topo.namespace("dp"), topo.namespace("peer")
        topo.veth(ns, "p1", peer, "c1")
        peer.run(["ethtool", "-K", "c1", "tx", "on"])
        words = ["--run-dir", topo.dir, "--port", "1.1=net_af_packet,iface=p1"]
        daemon = topo.add(Daemon(ns, "weir-dp", words, topo.dir))
        daemon.start()
        wait_until(lambda: "serving" in daemon.text(), "weir-dp serves", 20)
        warning, = [line for line in daemon.text().splitlines() if "unfinished" in line]
        assert "port 1.1" in warning
        advice = warning.split('"')[1]
        assert advice.startswith(f"ip netns exec {peer} ethtool -K c1 ")
        daemon.stop()
        daemon.log.unlink()
        assert os.system(f"{advice} >/dev/null") == 0
        daemon.start()
        wait_until(lambda: "serving" in daemon.text(), "weir-dp serves", 20)
        assert "unfinished" not in daemon.text()


@pytest.mark.parametrize("mtu, arrives", [(3000, 3000), (9000, 3374)])
def test_large_frames(mtu, arrives):
    """--mtu makes room in the buffers, as far as the driver goes with it."""
    with Topology() as topo:
        ns, peer = topo.namespace("dp"), topo.namespace("peer")
        topo.veth(ns, "p1", peer, "c1", mtu=3400)
        words = ["--run-dir", topo.dir, "--mtu", mtu, "--port", "1.1=net_af_xdp,iface=p1"]
        daemon = topo.add(Daemon(ns, "weir-dp", words, topo.dir))
        daemon.start()
        wait_until(lambda: "serving" in daemon.text(), "weir-dp serves", 20)
        control = Control(topo.dir)
        counters = Counters(control.counters_fd)
        frame = bytes(Ether(dst=ns.mac("p1")) / IP(src="10.0.0.1", dst="10.0.0.2") / UDP() /
                      Raw(b"x" * (arrives - 28)))
        with peer.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
            sock.bind(("c1", 0))
            for _ in range(10):
                sock.send(frame)
        wait_until(lambda: counters.received_bytes() >= 10 * len(frame), "large frames arrive")
        control.close()
