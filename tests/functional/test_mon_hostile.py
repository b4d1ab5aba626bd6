# SPDX-License-Identifier: BSD-3-Clause
"""weir-mon against servers that mean it harm, a weir-cp that talks rubbish, and its own lack of things."""
import contextlib
import os
import random
import resource
import signal
import socket
import struct
import threading
import time

import pytest
from fake_mon_cp import FAST, SERVER, SERVERS, Lab, cp, lab  # noqa: F401  (lab, cp are fixtures)
from test_mon_http import Script

from topo import Topology, wait_until
from topo.servers import TcpServer

TICKS = os.sysconf("SC_CLK_TCK")


def cpu(lab):
    fields = open(f"/proc/{lab.daemon.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def drop(lab, rule):
    lab.far.run(["nft", f"add table inet t; add chain inet t c {{ type filter hook input priority 0; {rule} drop; }}"])


def undrop(lab):
    lab.far.run(["nft", "delete table inet t"])


def reset_in_answer(connection):
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    time.sleep(0.1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def half_handshake(connection):
    """A ServerHello that never comes to its end."""
    connection.recv(1000)
    connection.sendall(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03" + bytes(20))
    time.sleep(20)


def lines_forever(connection):
    while True:
        connection.sendall(b"220-and another thing\r\n" * 500)


def nothing(connection):
    time.sleep(20)


def long_greeting(connection):
    """Longer than the buffer for an answer, in good lines."""
    connection.sendall(b"".join(b"220-%060d\r\n" % n for n in range(400)) + b"220 ready\r\n")
    if connection.recv(100).startswith(b"HELO"):
        connection.sendall(b"250 good\r\n")
        connection.recv(100)


def test_ends_of_conversations(lab, cp):
    lab.top.add(Script(lab.far, (SERVER, 8001), reset_in_answer))
    lab.top.add(Script(lab.far, (SERVER, 8002), half_handshake))
    lab.top.add(Script(lab.far, (SERVER, 8003), lines_forever))
    lab.top.add(Script(lab.far, (SERVER, 8004), long_greeting))
    lab.top.add(Script(lab.far, (SERVER, 8005), nothing))
    for monitor, (kind, port) in enumerate((("http", 8001), ("https", 8002), ("smtp", 8003), ("smtp", 8004),
                                            ("https", 8005)), 1):
        cp.monitor(monitor, kind, **FAST, **({"recv": "whole"} if kind == "http" else {}))
        cp.instance(1, monitor, port=port)
    for monitor, said in ((1, "connection reset by the server"), (2, "no answer"), (3, "longer than it may be"),
                          (5, "no answer")):
        cp.wait("down", 1, monitor)
        assert said in cp.stat(1, monitor)["last-error"]
    cp.wait("up", 1, 4)


def test_expensive_pattern_costs_little(lab, cp):
    """An answer byte by byte, each of them a search that PCRE2's own limits would let run for a third of a second."""
    def serve(connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"a" * 4900 + b"x" + b"q" + b"b" + b"a" * 200:
            connection.sendall(bytes([byte]))
    lab.top.add(Script(lab.far, (SERVER, 80), serve))
    cp.monitor(1, "tcp", recv="a.*b.*xq", interval=3, timeout=3)
    cp.instance(1, 1)
    before = cpu(lab)
    cp.wait("down")
    assert "too expensive" in cp.stat()["last-error"]
    assert cpu(lab) - before < 1.5


def test_flood_of_datagrams_starves_nobody(lab, cp):
    """A name server that answers what nobody asked, as fast as it can."""
    server = lab.far.socket(kind=socket.SOCK_DGRAM)
    server.bind((SERVER, 53))

    def flood():
        with contextlib.suppress(OSError):
            while True:
                _, peer = server.recvfrom(600)
                for _ in range(60000):
                    with contextlib.suppress(ConnectionError):
                        server.sendto(b"\x00\x01\x80\x00" + bytes(40), peer)
    threading.Thread(target=flood, daemon=True).start()
    lab.top.add(TcpServer(lab.far, "t", [(SERVER, 80)], greet=False))
    cp.monitor(1, "dns", qname="a.test", **FAST)
    cp.monitor(2, "tcp", **FAST)
    cp.instance(1, 1, port=0)
    cp.instance(2, 2)
    cp.wait("up", 2, 2)
    cp.wait("down", 1, 1)
    told = len(cp.history(2, 2))
    before = cp.stat(2, 2)["successes"]
    wait_until(lambda: cp.stat(2, 2)["successes"] >= before + 2, "probes go on", 5)
    assert len(cp.history(2, 2)) == told
    server.close()


def test_lost_datagrams_are_no_lost_server(lab, cp):
    """A few seconds of loss, less than the timeout: fresh probes go out though the old ones still wait."""
    server = lab.far.socket(kind=socket.SOCK_DGRAM)
    server.bind((SERVER, 9))

    def serve():
        with contextlib.suppress(OSError):
            while True:
                data, peer = server.recvfrom(600)
                server.sendto(data, peer)
    threading.Thread(target=serve, daemon=True).start()
    cp.monitor(1, "udp", send="x", recv="x", interval=1, timeout=9)
    cp.instance(1, 1, port=9)
    cp.wait("up")
    drop(lab, "udp dport 9")
    lost = cp.stat()["probes"]
    wait_until(lambda: cp.stat()["probes"] >= lost + 6, "probes in vain", 10)
    undrop(lab)
    before = cp.stat()["successes"]
    wait_until(lambda: cp.stat()["successes"] >= before + 3, "good answers", 6)
    assert "down" not in cp.history()
    server.close()


def test_silent_agent_changes_nothing(lab, cp):
    lab.top.add(Script(lab.far, (SERVER, 9000), nothing))
    cp.monitor(1, "agent-check", interval=1, timeout=2)
    cp.instance(1, 1, port=9000)
    cp.wait("up")
    wait_until(lambda: cp.stat()["probes"] >= 6, "more probes", 10)
    assert cp.history()[-1] == "up" and "down" not in cp.history()


class Forger:
    """Answers echo requests in the kernel's place: changes[address] makes of (source, id, sequence, nonce) others."""

    def __init__(self, lab, changes):
        self.lab, self.changes = lab, changes
        lab.far.run(["sysctl", "-qw", "net.ipv4.icmp_echo_ignore_all=1"])
        self.sock = lab.far.socket(kind=socket.SOCK_RAW, proto=socket.IPPROTO_ICMP)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                packet, (peer, _) = self.sock.recvfrom(2000)
                if packet[20] == 8:
                    self._answer(packet, peer)

    def _answer(self, packet, peer):
        target = socket.inet_ntoa(packet[16:20])
        source, *fields = self.changes[target](target, *struct.unpack("!HHQ", packet[24:36]))
        body = struct.pack("!HHQ", *fields)
        total = sum(struct.unpack("!6H", body))
        total = (total & 0xffff) + (total >> 16)
        with self.lab.far.socket(kind=socket.SOCK_RAW, proto=socket.IPPROTO_ICMP) as sender:
            sender.bind((source, 0))
            sender.sendto(struct.pack("!BBH", 0, 0, ~(total + (total >> 16)) & 0xffff) + body, (peer, 0))


def test_forged_echoes_are_no_answers(lab, cp):
    forger = Forger(lab, dict(zip(SERVERS, (
        lambda a, i, s, n: (a, i, s, n), lambda a, i, s, n: (a, i ^ 1, s, n), lambda a, i, s, n: (a, i, s ^ 1, n),
        lambda a, i, s, n: (a, i, s, n ^ 1), lambda a, i, s, n: (SERVER, i, s, n)), strict=False)))
    cp.monitor(1, "icmp", **FAST)
    for number in range(1, 6):
        cp.instance(number, 1, SERVERS[number - 1], port=0)
    cp.wait("up", 1)
    for number in range(2, 6):
        cp.wait("down", number)
        assert "up" not in cp.history(number)
    forger.sock.close()


def test_no_descriptors_blames_no_server():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Topology() as top:
        lab = Lab(top, "nobody")
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200) if hard < 200 else (200, hard))
        lab.daemon.ns.command = lambda argv, plain=lab.daemon.ns.command: plain(["prlimit", "--nofile=200:200", *argv])
        try:
            lab.start()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        top.add(lab.daemon)
        cp = lab.cp
        top.add(Script(lab.far, (SERVER, 80), nothing))
        top.add(TcpServer(lab.far, "t", [(SERVER, 81)], greet=False))
        cp.monitor(1, "http", interval=1, timeout=60)
        cp.monitor(2, "tcp", interval=1, timeout=3)
        cp.instance(1, 2, port=81)
        cp.wait("up", 1, 2)
        for number in range(100, 200):
            cp.instance(number, 1)
        wait_until(lambda: "Too many open files" in cp.stat(1, 2)["last-error"], "not probed", 15)
        cp.drop()
        cp.open()
        wait_until(lambda: cp.connections == 2, "weir-cp is reached nevertheless")
        time.sleep(4)
        assert "down" not in cp.history(1, 2)
        cp.send({"type": "monitor-delete", "id": 1})
        before = cp.stat(1, 2)["successes"]
        wait_until(lambda: cp.stat(1, 2)["successes"] > before, "probed again")
        lab.daemon.check_running()
    cp.close()


def test_long_stop_keeps_the_rhythm(lab, cp):
    """Stopped for longer than everybody's timeout: nobody flaps, and probes stay spread afterwards."""
    lab.top.add(TcpServer(lab.far, "t", [(SERVER, 80)], greet=False))
    cp.monitor(1, "tcp", interval=2, timeout=5)
    cp.monitor(2, "icmp", interval=1, timeout=2, failures=1, adaptive=True, **{"adaptive-limit": 1000})
    for number in range(1, 301):
        cp.instance(number, 1)
    for number in range(1, 11):
        cp.instance(number, 2, port=0)
    cp.wait("up", 300)
    wait_until(lambda: min(row["successes"] for row in cp.stats()) >= 2, "all are probed", 10)
    told = sum(len(said) for said in cp.verdicts.values())
    lab.daemon.process.send_signal(signal.SIGSTOP)
    time.sleep(6)
    lab.daemon.process.send_signal(signal.SIGCONT)
    counts = {(row["object"], row["monitor"]): row["successes"] for row in cp.stats()}
    wait_until(lambda: all(row["successes"] >= counts[row["object"], row["monitor"]] + 2 for row in cp.stats()),
               "probes go on", 10)
    assert sum(len(said) for said in cp.verdicts.values()) == told, "nothing to tell"
    due = sorted(row["next-probe-ms"] for row in cp.stats(monitor=1))
    share = [sum(low <= ms < low + 200 for ms in due) for low in range(0, 2000, 200)]
    assert max(share) <= 75, share


def test_first_probe_is_prompt(lab, cp):
    """However long the interval: a few new servers are known within a second, thousands at 4,000 a second."""
    lab.top.add(TcpServer(lab.far, "t", [(SERVER, 80)], greet=False))
    cp.monitor(1, "tcp", interval=3600, timeout=900)
    cp.instance(1, 1)
    assert cp.wait("up") < 1
    for number in range(2, 2002):
        cp.instance(number, 1)
    wait_until(lambda: len(cp.verdicts) == 2001, "all known", 10)
    assert cp.stat()["next-probe-ms"] > 1000 * 1000


RUBBISH = (b"", b"{", b"[]", b"null", b'{"type": 3}', b"\xff\xfe", b"x" * 5000, b'{"type":"sync-end"}',
           b'{"type":"monitor","id":-1}', b'{"type":"monitor","id":1e99}', b'{"type":"instance","object":[1]}',
           b'{"type":"monitor","id":5,"name":"n","kind":"\xc3\xa4' + b"\xc3\xa4" * 60 + b'"}',
           b'{"type":"stats","object":"x"}', b'{"type":"monitor-delete"}', b"[" * 100000)


@pytest.mark.parametrize("seed", [1, 2])
def test_changes_at_random_while_answers_come(lab, cp, seed):
    """Instances and monitors come, change and go; weir-cp goes away, comes back, and sends what makes no sense."""
    dice = random.Random(seed)
    lab.top.add(TcpServer(lab.far, "t", [(SERVER, 80), (SERVERS[1], 80)], greet=False))
    lab.top.add(Script(lab.far, (SERVER, 81), reset_in_answer))
    kinds = ("tcp", "http", "icmp", "udp", "dns", "agent-check", "tcp-half-open", "redis", "postgresql", "https")
    cp.monitor(99, "tcp", **FAST)
    cp.instance(99, 99)
    cp.wait("up", 99, 99)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        step = dice.random()
        with contextlib.suppress(OSError):
            if step < 0.01:
                cp.drop()
                cp.open()
            elif step < 0.02:
                cp.send(dice.choice(RUBBISH))
            elif step < 0.2:
                cp.monitor(dice.randint(1, 8), dice.choice(kinds), qname="a", interval=1, timeout=dice.randint(1, 3),
                           failures=dice.randint(0, 2), up_interval=dice.randint(0, 2))
            elif step < 0.25:
                number = dice.randint(1, 8)
                cp.monitors.pop(number, None)
                for name in [name for name in cp.instances if name[1] == number]:
                    del cp.instances[name]
                cp.send({"type": "monitor-delete", "id": number})
            elif step < 0.7 and len(cp.monitors) > 1:
                cp.instance(dice.randint(1, 300), dice.choice([m for m in cp.monitors if m != 99]),
                            dice.choice([SERVER, SERVERS[1], "10.0.2.99", "fd00:2::11"]), dice.choice([80, 81, 9]))
            elif others := [name for name in cp.instances if name[0] != 99]:
                name = dice.choice(others)
                del cp.instances[name]
                cp.send({"type": dice.choice(["instance-delete", "probe-now"]), "object": name[0], "monitor": name[1]})
        time.sleep(0.0005)
    lab.daemon.check_running()
    seen = cp.connections
    cp.drop()
    cp.open()
    wait_until(lambda: cp.connections > seen, "connected again", 10)
    wait_until(lambda: {(row["object"], row["monitor"]) for row in cp.stats()} >= {(99, 99)}, "still known")
    before = cp.stat(99, 99)["successes"]
    wait_until(lambda: cp.stat(99, 99)["successes"] > before, "probes go on")
    assert set(cp.history(99, 99)) <= {"checking", "up"}
