# SPDX-License-Identifier: BSD-3-Clause
"""Clients that are slow, many, huge or talk nonsense cost weir-mgmt little and others nothing."""
import contextlib
import pathlib
import socket
import ssl
import threading
import time

import pytest
from mgmt_alone import GOOD, JSON, alone, few, read_reply, short, status  # noqa: F401  (fixtures)
from topo import build_dir, wait_until

SANITIZE = build_dir().name == "build-sanitize"  # memory that was freed waits for those who still use it
HEAD = b"GET /mgmt HTTP/1.1\r\n" + GOOD
POST = b"POST /mgmt HTTP/1.1\r\n" + GOOD + JSON


def serves(alone):
    return alone.mgmt.request("GET", "/mgmt").status == 401


def resident_kb(alone):
    text = pathlib.Path(f"/proc/{alone.mgmt.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0])


def connections(alone):
    """That weir-mgmt still has."""
    held = alone.ns.run(["ss", "-tnpH", "state", "connected", "exclude", "time-wait", "sport = :8443"]).stdout
    return sum('"weir-mgmt"' in line for line in held.splitlines())


def trickle(alone, start, pieces, pause=0.2):
    """Sends pieces slowly; what came back, and seconds until the server ended it."""
    begun, data = time.monotonic(), b""
    with alone.mgmt.connect(20.0) as sock:
        sock.sendall(start)
        with contextlib.suppress(OSError):
            for piece in pieces:
                sock.sendall(piece)
                time.sleep(pause)
        data = read_reply(sock, until_closed=True)
    return data, time.monotonic() - begun


def test_slow_clients_are_ended_and_hurt_nobody(short):
    """One after another and all at once: no TLS, half a head, a head that never ends, a body that never ends."""
    short.start()
    slow = {
        "head": (HEAD, [b"X: y\r\n"] * 50), "line": (b"GET /mgmt/", [b"a"] * 50),
        "body": (POST + b"Content-Length: 900\r\n\r\n", [b" "] * 50),
        "chunks": (POST + b"Transfer-Encoding: chunked\r\n\r\n", [b"1\r\n \r\n"] * 50)}
    ended = {}

    def run(name):
        ended[name] = trickle(short, *slow[name])

    workers = [threading.Thread(target=run, args=(name,)) for name in slow]
    silent = short.ns.connect(("127.0.0.1", 8443), 20.0)
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        start = time.monotonic()
        assert serves(short)
        assert time.monotonic() - start < 3.0
    for name, (data, seconds) in ended.items():
        assert status(data) in (0, 408), name
        assert seconds < 8, f"{name}: {seconds} s"
    assert silent.recv(1) == b""


def test_idle_connection_is_closed(short):
    short.start()
    with short.mgmt.connect() as sock:
        sock.sendall(HEAD + b"\r\n")
        assert status(read_reply(sock))
        start = time.monotonic()
        assert sock.recv(1) == b""
        assert 1.0 < time.monotonic() - start < 6.0


def test_client_that_takes_no_reply_is_ended(short):
    """Replies wait in the socket's buffers only so long."""
    short.start()
    sock = short.ns.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    sock.settimeout(10.0)
    sock.connect(("127.0.0.1", 8443))
    with short.mgmt.context().wrap_socket(sock, server_hostname="127.0.0.1") as tls, \
            contextlib.suppress(OSError):
        tls.settimeout(1.0)
        for _ in range(5000):
            tls.sendall(HEAD + b"\r\n")
    wait_until(lambda: not connections(short), "the connection is gone", 10)
    assert serves(short)


def test_one_address_has_its_share(few):
    """16 connections; the others of that address are closed at once, other addresses get in."""
    few.start()
    held = [few.mgmt.connect() for _ in range(16)]
    with few.ns.connect(("127.0.0.1", 8443)) as more:
        assert more.recv(1) == b""
    with few.mgmt.connect(source=("127.0.0.2", 0)) as other:
        other.sendall(HEAD + b"\r\n")
        assert status(read_reply(other)) == 401
    held.pop().close()
    wait_until(lambda: usable(few), "a place is free again", 5)
    for sock in held:
        sock.close()


def usable(alone):
    with contextlib.suppress(OSError, ssl.SSLError):
        return serves(alone)
    return False


def test_who_waits_gives_way_when_all_places_are_taken(few):
    """24 in all: an idle one of the address that has most makes room for a newcomer."""
    few.start()
    many = [few.mgmt.connect(source=("127.0.0.3", 0)) for _ in range(15)]
    nine = [few.mgmt.connect(source=("127.0.0.4", 0)) for _ in range(9)]
    assert serves(few)
    assert many[0].recv(1) == b""
    for sock in nine:
        sock.sendall(HEAD + b"\r\n")
        assert status(read_reply(sock)) == 401
    for sock in many + nine:
        sock.close()


def test_thousand_connections(alone):
    """From ten addresses; a client with one connection of its own is served all the time."""
    alone.mgmt.request("GET", "/mgmt")
    before = resident_kb(alone)
    with alone.mgmt.session() as session:
        held = []
        for number in range(1000):
            with contextlib.suppress(OSError):
                held.append(alone.ns.connect(("127.0.0.1", 8443), 5.0, (f"127.0.1.{number % 10 + 1}", 0)))
            if number % 50 == 0:
                assert alone.mgmt.request("GET", "/mgmt", session=session).status == 401
        assert connections(alone) <= 256 + 64
        assert serves(alone)
        for sock in held:
            sock.close()
    wait_until(lambda: not connections(alone), "all are gone", 15)
    assert resident_kb(alone) - before < (512 if SANITIZE else 64) * 1024


def test_many_large_bodies_are_bounded(alone):
    """30 MiB of one address at once, and nothing stays."""
    alone.mgmt.request("GET", "/mgmt")
    before = resident_kb(alone)
    post = POST.replace(b"wrong", alone.login().encode())
    held = []
    for _ in range(30):
        sock = alone.mgmt.connect()
        sock.sendall(post + b"Content-Length: 1048576\r\n\r\n" + b" " * 1000000)
        held.append(sock)
    assert serves(alone)
    assert resident_kb(alone) - before < (1024 if SANITIZE else 120) * 1024
    for sock in held:
        sock.sendall(b" " * 48576)
    answers = [status(read_reply(sock)) for sock in held]
    for sock in held:
        sock.close()
    assert set(answers) == {400}
    wait_until(lambda: resident_kb(alone) - before < (1024 if SANITIZE else 16) * 1024, "bodies are given back", 10)


@pytest.mark.parametrize("sent, expected", [
    (POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
    (POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
    (POST + b"Content-Length: 2, 2\r\n\r\n{}", 400),
    (POST + b"Content-Length: +2\r\n\r\n{}", 400),
    (POST + b"Content-Length: -2\r\n\r\n{}", 400),
    (POST + b"Content-Length: 0x2\r\n\r\n{}", 400),
    (POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: identity\r\n\r\n", 400),
    (POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400),
    (POST + b"Content-Length : 2\r\n\r\n{}", 400),
    (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400),
    (POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n", 413),
    (POST + b"Content-Length: 99999999999999999999999\r\n\r\n{}", 413),
    (HEAD + b"X-F5-Auth-Token: second\r\n\r\n", 400),
    (HEAD + b"Host: second\r\n\r\n", 400),
    (HEAD + b"Authorization: Basic YTpi\r\nAuthorization: Basic YTpj\r\n\r\n", 400),
    (HEAD + b"X\0Y: z\r\n\r\n", 400),
    (HEAD + b"X Y: z\r\n\r\n", 400),
    (HEAD + b"(X): z\r\n\r\n", 400),
    (HEAD + b"no colon\r\n\r\n", 400),
    (HEAD + b"A: b\r\n" * 120 + b"\r\n", 400),
    (HEAD + b"A: b\r\n" * 20000 + b"\r\n", 431),
    (HEAD + b"A: " + b"b" * 100000 + b"\r\n\r\n", 431),
    (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + GOOD + b"\r\n", 414),
    (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n" + GOOD + b"\r\n", 400),
    (b"GET /mgmt\0/x HTTP/1.1\r\n" + GOOD + b"\r\n", 400),
    (b"GET /mgmt HTTP/2.0\r\n" + GOOD + b"\r\n", 505),
    (b"GET /mgmt HTTP/9\r\n" + GOOD + b"\r\n", 400),
    (b"GET /mgmt\r\n\r\n", 400),
    (b"GET https://evil.example/mgmt HTTP/1.1\r\n" + GOOD + b"\r\n", 400),
    (b"CONNECT evil.example:443 HTTP/1.1\r\n" + GOOD + b"\r\n", 400),
    (b"GET * HTTP/1.1\r\n" + GOOD + b"\r\n", 400),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    (b"<?xml version='1.0'?>\r\n\r\n", 400),
], ids=lambda value: repr(value[-40:]) if isinstance(value, bytes) else value)
def test_malformed(alone, sent, expected):
    """Each is refused and ends its connection: what follows it could be read in two ways."""
    data = alone.talk(sent)
    lost = expected in (414, 431) and not data  # a reset for what was still on its way
    assert status(data) == expected or lost, data[:200]


def test_nothing_smuggled_is_answered(alone):
    """What comes behind a refused request is not taken for a second one."""
    hidden = b"GET /mgmt/hidden HTTP/1.1\r\n" + GOOD + b"\r\n"
    for head in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                 b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
                 b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"):
        data = alone.talk(POST + head + hidden, until_closed=True)
        assert status(data) == 400 and data.count(b"HTTP/1.1 ") == 1


def test_noise_instead_of_tls(alone):
    for noise in (HEAD + b"\r\n", b"\0" * 4096, b"\x16\x03\x01\xff\xff" + b"\xff" * 300, bytes(range(256)) * 64):
        with alone.ns.connect(("127.0.0.1", 8443), 15.0) as sock, contextlib.suppress(OSError):
            sock.sendall(noise)
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(65536):
                pass
    assert serves(alone)


def test_peers_that_vanish(alone):
    """Resets at every stage."""
    for sent in (None, b"", b"GET", HEAD, POST + b"Content-Length: 100\r\n\r\n",
                 POST + b"Content-Length: 2\r\n\r\n{}"):
        for _ in range(5):
            plain = alone.ns.connect(("127.0.0.1", 8443))
            linger = (1).to_bytes(4, "little") + bytes(4)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            if sent is None:
                plain.close()
                continue
            with alone.mgmt.context().wrap_socket(plain, server_hostname="127.0.0.1") as sock:
                sock.sendall(sent)
    assert serves(alone)
    wait_until(lambda: not connections(alone), "all are gone", 15)
