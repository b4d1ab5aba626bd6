# SPDX-License-Identifier: BSD-3-Clause
"""weir-mon against nginx and hostile servers: what makes a server up, down, disabled, and how fast."""
import contextlib
import os
import signal
import socket
import ssl
import subprocess
import threading
import time

import pytest
from fake_mon_cp import FAST, SERVER, SERVERS, cp, lab  # noqa: F401  (lab, cp are fixtures)

from topo import wait_until
from topo.servers import Nginx, TcpServer

HEALTH = {"send": "GET /health HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", "recv": "200 OK"}


@pytest.fixture
def nginx(lab):
    server = lab.top.add(Nginx(lab.far, "n", [f"{SERVER}:80", "[fd00:2::11]:80", f"{SERVERS[1]}:80"], lab.top.dir))
    yield server
    for pid in lab.far.pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


class Script:
    """A TCP server that does to each connection what a function says."""

    def __init__(self, ns, address, serve):
        self.sock = ns.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(address)
        self.sock.listen(64)
        self.serve, self.count = serve, 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                connection, _ = self.sock.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        with connection, contextlib.suppress(OSError):
            self.serve(connection)

    def stop(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


def test_new_instance_is_checking_then_up(cp, nginx):
    cp.monitor(1, "http", **FAST, **HEALTH)
    cp.instance(1, 1)
    assert cp.wait("up") < 1
    assert cp.verdicts[1, 1][-1]["response-ms"] < 1000
    row = cp.stat()
    assert row["verdict"] == "up" and row["successes"] >= 1 and row["next-probe-ms"] <= 1500


def test_nothing_listens_then_it_does(lab, cp):
    cp.monitor(1, "tcp", **FAST)
    cp.instance(1, 1)
    cp.wait("down")
    assert cp.reason() == "connection refused"
    lab.top.add(TcpServer(lab.far, "t", [(SERVER, 80)]))
    cp.wait("up", seconds=4)


def test_killed_server_is_down_at_once(cp, nginx):
    cp.monitor(1, "http", **FAST, **HEALTH)
    cp.instance(1, 1)
    cp.wait("up")
    nginx.stop()
    assert cp.wait("down") < 2.5
    nginx.start()
    cp.wait("up")


def test_frozen_server_is_down_after_the_timeout(lab, cp, nginx):
    """S3-08: a server that accepts and never answers: three calls without response, then out."""
    cp.monitor(1, "http", interval=1, timeout=4, **HEALTH)
    cp.instance(1, 1)
    cp.wait("up")
    pids = lab.far.pids()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    before = cp.stat()["probes"]
    assert 2 < cp.wait("down") < 6
    assert cp.stat()["probes"] - before >= 3
    assert "no" in cp.reason()
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    cp.wait("up")


def test_counted_failures_come_before_the_timeout(lab, cp, nginx):
    cp.monitor(1, "http", interval=1, timeout=300, failures=3, **HEALTH)
    cp.instance(1, 1)
    cp.wait("up")
    for pid in lab.far.pids():
        os.kill(pid, signal.SIGSTOP)
    assert 2 < cp.wait("down") < 6


def test_503_and_back(cp, nginx):
    cp.monitor(1, "http", **FAST, **HEALTH)
    cp.instance(1, 1)
    cp.wait("up")
    nginx.sick()
    assert 2 < cp.wait("down") < 6
    assert "recv did not match: HTTP/1.1 503" in cp.reason()
    nginx.sick(False)
    assert cp.wait("up") < 3


def test_wrong_content_and_reverse(cp, nginx):
    nginx.file("state", content=b"all is well\n")
    cp.monitor(1, "http", send="GET /files/state\\r\\n", recv="all is well", **FAST)
    cp.monitor(2, "http", send="GET /files/state\\r\\n", recv="wrong", reverse=True, **FAST)
    for monitor in (1, 2):
        cp.instance(1, monitor)
        cp.wait("up", 1, monitor)
    nginx.file("state", content=b"all is wrong\n")
    assert cp.wait("down", 1, 2) < 2.5, "a reverse match is down at once"
    cp.wait("down", 1, 1)
    assert "reverse: recv matched" in cp.reason(1, 2)


def test_recv_disable(cp, nginx):
    nginx.file("state", content=b"open\n")
    cp.monitor(1, "http", send="GET /files/state HTTP/1.0\\r\\n\\r\\n", recv="open", recv_disable="drain", **FAST)
    cp.instance(1, 1)
    cp.wait("up")
    nginx.file("state", content=b"drain\n")
    cp.wait("disabled")
    nginx.file("state", content=b"open\n")
    cp.wait("up")
    assert cp.history() == ["up", "disabled", "up"] or cp.history() == ["checking", "up", "disabled", "up"]


def test_dropped_packets(lab, cp, nginx):
    cp.monitor(1, "tcp", **FAST)
    cp.instance(1, 1)
    cp.wait("up")
    lab.far.run(["nft", "add table inet t; add chain inet t c { type filter hook input priority 0; policy drop; }"])
    assert 2 < cp.wait("down") < 6
    lab.far.run(["nft", "delete table inet t"])
    cp.wait("up")


def test_ipv6(cp, nginx):
    cp.monitor(1, "http", **FAST, **HEALTH)
    cp.instance(1, 1, address="fd00:2::11")
    cp.wait("up")


def test_alias_destination(cp, nginx):
    cp.monitor(1, "http", **FAST, **HEALTH)
    cp.instance(1, 1, address="10.0.2.99", port=9, to_address=SERVER, to_port=80)
    cp.wait("up")


def test_slow_answer_within_the_timeout_is_good(lab, cp):
    def slow(connection):
        connection.recv(1000)
        time.sleep(1.6)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
    lab.top.add(Script(lab.far, (SERVER, 80), slow))
    cp.monitor(1, "http", interval=1, timeout=4, recv="200 OK")
    cp.instance(1, 1)
    cp.wait("up")
    wait_until(lambda: cp.stat()["successes"] >= 4, "good answers", 10)
    assert cp.verdict() == "up" and cp.stat()["last-response-ms"] > 1500


def test_time_until_up(cp, nginx):
    cp.monitor(1, "http", time_until_up=3, **FAST, **HEALTH)
    cp.instance(1, 1)
    assert 2.8 < cp.wait("up") < 5


def test_successes_wanted(cp, nginx):
    cp.monitor(1, "http", successes=3, **FAST, **HEALTH)
    cp.instance(1, 1)
    cp.wait("up")
    assert cp.stat()["successes"] >= 3


def reply_forever(connection):
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X-Header: " + b"x" * 4000 + b"\r\n")


def reply_slowly(connection):
    while True:
        connection.sendall(b"H")
        time.sleep(0.05)


def reply_garbage(connection):
    while True:
        connection.sendall(os.urandom(65536))


def test_hostile_servers_cost_little(lab, cp, nginx):
    for number, serve in enumerate((reply_forever, reply_slowly, reply_garbage)):
        lab.top.add(Script(lab.far, (SERVERS[number], 8000), serve))
    cp.monitor(1, "http", recv="never said", **FAST)
    cp.monitor(2, "https", recv="never said", **FAST)
    cp.monitor(3, "http", **FAST, **HEALTH)
    cp.instance(9, 3)
    for number in range(3):
        cp.instance(number + 1, 1, SERVERS[number], 8000)
        cp.instance(number + 1, 2, SERVERS[number], 8000)
    for number in range(3):
        for monitor in (1, 2):
            cp.wait("down", number + 1, monitor)
            assert all(" " <= c <= "~" for c in cp.reason(number + 1, monitor)), "printable"
    assert cp.verdict(9, 3) == "up", "nobody else suffers"
    status = open(f"/proc/{lab.daemon.pid}/status").read()
    assert int(status.split("VmRSS:")[1].split()[0]) < 150_000


@pytest.fixture
def certificate(lab):
    path = lab.top.dir / "cert.pem", lab.top.dir / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=app.test", "-addext", "subjectAltName=DNS:app.test",
                    "-keyout", path[1], "-out", path[0]], check=True, capture_output=True)
    return path


def test_https_sni_client_certificate_and_verification(lab, cp, certificate):
    seen = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.load_verify_locations(certificate[0])
    context.verify_mode = ssl.CERT_REQUIRED
    context.sni_callback = lambda sock, name, ctx: seen.append(name)

    def serve(connection):
        with context.wrap_socket(connection, server_side=True) as tls:
            tls.recv(1000)
            tls.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + tls.getpeercert()["subject"][0][0][1].encode())

    lab.top.add(Script(lab.far, (SERVER, 443), serve))
    pem = [path.read_text() for path in certificate]
    good = {"sni": "app.test", "certificate": pem[0], "key": pem[1], "recv": "200 OK.*\\n.*\\n*app.test", **FAST}
    cp.monitor(1, "https", **good)
    cp.monitor(2, "https", **good, verify=True, ca=pem[0])
    cp.monitor(3, "https", **{**good, "sni": "other.test"}, verify=True, ca=pem[0])
    cp.monitor(4, "https", **good, verify=True)
    cp.monitor(5, "https", recv="200 OK", **FAST)
    for monitor in range(1, 6):
        cp.instance(1, monitor, port=443)
    cp.wait("up", 1, 1)
    cp.wait("up", 1, 2)
    for monitor, said in ((3, "hostname mismatch"), (4, "self-signed"), (5, "TLS")):
        cp.wait("down", 1, monitor)
        assert said in cp.reason(1, monitor), cp.reason(1, monitor)
    assert "app.test" in seen


def test_half_open_never_completes_the_handshake(lab, cp):
    server = lab.top.add(Script(lab.far, (SERVER, 80), lambda connection: connection.recv(1)))
    cp.monitor(1, "tcp-half-open", **FAST)
    cp.instance(1, 1)
    cp.instance(2, 1, port=81)
    cp.wait("up")
    cp.wait("down", 2)
    wait_until(lambda: cp.stat()["successes"] >= 3, "three probes")
    assert server.count == 0


def test_udp(lab, cp):
    lab.far.sysctl("net.ipv4.icmp_ratelimit", 0)  # the kernel keeps some refusals to itself otherwise
    echo = lab.far.socket(kind=socket.SOCK_DGRAM)
    echo.bind((SERVER, 53))
    threading.Thread(target=lambda: [echo.sendto(b"pong", echo.recvfrom(99)[1]) for _ in range(1000)],
                     daemon=True).start()
    cp.monitor(1, "udp", send="ping", recv="pong", **FAST)
    cp.monitor(2, "udp", send="ping", recv="other", **FAST)
    cp.monitor(3, "udp", send="ping", **FAST)
    for monitor in (1, 2, 3):
        cp.instance(1, monitor, port=53)
        cp.instance(2, monitor, port=54)
    cp.wait("up", 1, 1)
    cp.wait("down", 1, 2)
    cp.wait("up", 1, 3)
    for monitor in (1, 2, 3):
        cp.wait("down", 2, monitor)
        assert cp.reason(2, monitor) == "connection refused"


def test_flapping_server_flaps_no_other(lab, cp, nginx):
    def flap(connection):
        if server.count % 2:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
    server = lab.top.add(Script(lab.far, (SERVERS[2], 80), flap))
    cp.monitor(1, "http", interval=1, timeout=4, failures=1, **HEALTH)
    for number in range(3):
        cp.instance(number + 1, 1, SERVERS[number])
    wait_until(lambda: len(cp.history(3)) >= 6, "it flaps", 15)
    assert [word for word in cp.history(1) + cp.history(2) if word not in ("checking", "up")] == []
