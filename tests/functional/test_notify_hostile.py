# SPDX-License-Identifier: BSD-3-Clause
"""Log servers that never read, hang up, talk or have the wrong certificate: told as a fault, and no other waits.

    weir-notify --- a good rsyslogd, and a server that the test plays
"""
import contextlib
import pathlib
import socket
import ssl
import threading
import time

import pytest
from fake_notify_cp import lab  # noqa: F811, F401  (a fixture)
from log_servers import PORT, LogServer, certificates

from topo import wait_until

GOOD, BAD, BAD_PORT = "syslog:good", "syslog:bad", 6514


def hang_up(peer):
    peer.close()


def never_read(peer):
    threading.Event().wait(120)


def talk(peer):
    with contextlib.suppress(OSError):
        while True:
            peer.sendall(b"\xff\x00garbage" * 1000)


@contextlib.contextmanager
def played(lab, behave, context=None):  # noqa: F811
    """A server in the namespace that does this with each connection."""
    listener = lab.ns.socket()
    listener.bind(("127.0.0.1", BAD_PORT))
    listener.listen()
    peers = []

    def serve():
        while True:
            try:
                peer, _ = listener.accept()
                peers.append(context.wrap_socket(peer, server_side=True) if context else peer)
            except ssl.SSLError:
                continue
            except OSError:
                return
            threading.Thread(target=behave, args=(peers[-1],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield peers
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    for peer in peers:
        peer.close()


def rows(**bad):
    return ({"name": GOOD, "kind": "syslog", "protocol": "tcp", "host": "127.0.0.1", "port": PORT},
            {"name": BAD, "kind": "syslog", "protocol": "tcp", "host": "127.0.0.1", "port": BAD_PORT, **bad})


def memory(daemon):
    pages = int(pathlib.Path(f"/proc/{daemon.pid}/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.parametrize("behave", [hang_up, never_read, talk])
def test_hostile_server_delays_nobody(lab, behave):  # noqa: F811
    server = LogServer(lab, "tcp").start()
    with played(lab, behave):
        lab.receive(*rows())
        lab.cp.write(500, text="x" * 4000)
        lab.cp.wait_delivered(GOOD)
        before = memory(lab.daemon)
        for _ in range(20):
            lab.cp.write(500, text="x" * 4000)
        start = time.monotonic()
        lab.cp.write()
        server.wait_all(10501, 10501, 30)
        assert time.monotonic() - start < 20
        lab.cp.wait_delivered(GOOD, seconds=30)
        wait_until(lambda: lab.cp.report(BAD, "waiting") or behave is never_read, "the other waits", 10)
        assert lab.cp.report(GOOD, "error") == "" and lab.cp.report(BAD, "delivered") < 10501
        assert memory(lab.daemon) - before < 64 << 20, "what waits is in the journal, not in memory"
    server.stop()


@pytest.mark.parametrize("wrong, told", [("authority", "its certificate: "), ("name", "its certificate: ")])
def test_wrong_certificate(lab, wrong, told):  # noqa: F811
    ours = certificates(lab.dir / "tls", "127.0.0.1" if wrong == "authority" else "other.example")
    theirs = certificates(lab.dir / "other") if wrong == "authority" else ours
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(theirs / "server.pem", theirs / "server.key")
    with played(lab, never_read, context):
        lab.receive(*rows(protocol="tls", ca=(ours / "ca.pem").read_text()))
        lab.cp.write()
        wait_until(lambda: told in (lab.cp.report(BAD, "error") or ""), lambda: f"told: {lab.cp.reports}", 15)
        assert lab.cp.report(BAD, "delivered") == 0


def test_settings_that_are_wrong(lab):  # noqa: F811
    lab.receive(*rows(protocol="tls", ca="no certificate"))
    wait_until(lambda: lab.cp.report(BAD, "error") == "ca-file: has no certificate", lambda: str(lab.cp.reports), 10)


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_a_name_that_cannot_be_asked_for(lab, protocol):  # noqa: F811
    """A label of more than 63 bytes: the resolver refuses it while it is asked."""
    lab.receive(*rows(protocol=protocol, host="a" * 70 + ".example"))
    lab.cp.write()
    wait_until(lambda: "its name: " in (lab.cp.report(BAD, "error") or ""), lambda: f"told: {lab.cp.reports}", 15)
