# SPDX-License-Identifier: BSD-3-Clause
"""Certificates that are replaced, weir-cp that goes and comes, weir-mgmt that ends."""
import contextlib
import os
import pathlib
import select
import signal
import ssl

import pytest
from mgmt_alone import Alone, alone, read_reply, status  # noqa: F401  (alone is a fixture)
from topo import Topology, build_dir, wait_until

WHO = {"token": "A" * 26}
GET = b"GET /mgmt HTTP/1.1\r\nHost: x\r\n\r\n"

# Of the year 2020.
EXPIRED = b"""-----BEGIN CERTIFICATE-----
MIIBCDCBr6ADAgECAgEBMAoGCCqGSM49BAMCMA4xDDAKBgNVBAMMA29sZDAeFw0y
MDAxMDEwMDAwMDBaFw0yMTAxMDEwMDAwMDBaMA4xDDAKBgNVBAMMA29sZDBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABNPkNrsyCbmezFNL7uhDANCgZ2Px5Cq+osBJ
II+2z1Dz9wkjDETgG6BlLxYPJaz79ht5t1Pa5SWnMX6ZoBE/5+8wCgYIKoZIzj0E
AwIDSAAwRQIgY/qNuoZRdWzxHrjZhltP7YjHSGxpe7xZ+6Ec2gtthYkCIQD6ZtHG
FuOIxb2FnX2PZZQS8KBK8xzxdKuXUydDgUjaFw==
-----END CERTIFICATE-----
"""
EXPIRED_KEY = b"""-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQguvLAV5OqPl48BZ4y
W+8YQu72GSa1Tp2DhQJ2Fj9N5HGhRANCAATT5Da7Mgm5nsxTS+7oQwDQoGdj8eQq
vqLASSCPts9Q8/cJIwxE4BugZS8WDyWs+/YbebdT2uUlpzF+maARP+fv
-----END PRIVATE KEY-----
"""


@pytest.fixture
def own():
    with Topology() as topo:
        both = Alone(topo)
        both.start()
        yield both


def make_pair(alone, name, *key):
    """A pair in PEM signed by itself for localhost: paths of certificate and key."""
    crt, key_path = alone.cp.run_dir / f"{name}.crt", alone.cp.run_dir / f"{name}.key"
    alone.ns.run(["openssl", "req", "-x509", "-nodes", "-newkey", *(key or ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")),
                  "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "30", "-keyout", key_path, "-out", crt])
    return crt.read_bytes(), key_path.read_bytes()


def put(alone, crt, key):
    (alone.mgmt.tls / "server.crt").write_bytes(crt)
    (alone.mgmt.tls / "server.key").write_bytes(key)
    hup(alone)


def answers(alone):
    return alone.mgmt.text().count("the one before stays") + alone.mgmt.text().count("read again")


def hup(alone):
    said = answers(alone)
    alone.mgmt.process.send_signal(signal.SIGHUP)
    wait_until(lambda: answers(alone) > said, "weir-mgmt has looked at its certificate", 5)


def shown(alone):
    """The certificate that a new connection gets."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with alone.mgmt.connect(context=context) as sock:
        return sock.getpeercert(binary_form=True)


def der(pem):
    return ssl.PEM_cert_to_DER_cert(pem.decode())


def test_certificate_is_replaced_without_dropping_a_connection(own):
    before = shown(own)
    with own.mgmt.connect() as old:
        for name, key in (("first", ()), ("second", ("rsa:2048",)), ("third", ("ed25519",))):
            crt, secret = make_pair(own, name, *key)
            put(own, crt, secret)
            assert shown(own) == der(crt) != before
            old.sendall(GET)
            assert status(read_reply(old)) == 401
    assert own.mgmt.request("GET", "/mgmt").status == 401


def test_broken_pair_is_refused_and_the_old_one_stays(own):
    good, secret = make_pair(own, "good")
    put(own, good, secret)
    other, other_secret = make_pair(own, "other")
    weak = make_pair(own, "weak", "rsa:1024")
    locked = own.ns.run(["openssl", "ec", "-aes256", "-passout", "pass:x", "-in", own.cp.run_dir / "good.key"]).stdout.encode()
    for crt, key, reason in ((other, secret, "server.key is not the key of"), (b"", secret, "has no certificate"),
                             (b"noise", secret, "has no certificate"), (other, b"", "has no key"),
                             (other, b"noise", "has no key"), (*weak, "1024 bits is too weak"), (good, locked, "passphrase"),
                             (b"x" * 70000, secret, "64 KiB")):
        put(own, crt, key)
        assert shown(own) == der(good)
        line = [text for text in own.mgmt.text().splitlines() if "certificate: " in text][-1]
        assert "the one before stays" in line and reason in line
    put(own, good, secret)
    (own.mgmt.tls / "server.key").unlink()
    hup(own)
    assert "server.key: cannot be read: No such file" in own.mgmt.text() and shown(own) == der(good)


def test_expired_certificate_is_told(own):
    put(own, EXPIRED, EXPIRED_KEY)
    assert "server.crt has expired" in own.mgmt.text() and shown(own) == der(EXPIRED)


def test_certificate_survives_a_restart(own):
    before = shown(own)
    own.mgmt.stop()
    own.mgmt.start()
    assert shown(own) == before


def test_start_with_a_broken_pair_says_why(own):
    own.mgmt.stop()
    (own.mgmt.tls / "server.key").write_text("noise")
    super(type(own.mgmt), own.mgmt).start()
    assert own.mgmt.process.wait(10) == 1
    assert "server.key has no key in PEM" in own.mgmt.text()
    (own.mgmt.tls / "server.crt").unlink()
    own.mgmt.start()
    assert own.mgmt.request("GET", "/mgmt").status == 401


def test_weir_cp_gone_and_back(own):
    """icontrol.md 1.2: 503 with the words that Ansible waits on; the same connection is served when it is back."""
    with own.mgmt.session() as session:
        assert own.mgmt.request("GET", "/mgmt/tm/sys", session=session, **WHO).status == 401
        own.cp.daemon.kill()
        for _ in range(3):
            reply = own.mgmt.request("GET", "/mgmt/tm/sys", session=session, **WHO)
            assert reply.status == 503 and b"Configuration Utility restarting..." in reply.body
            assert int(reply.headers["Retry-After"]) > 0
        own.cp.start()
        for _ in range(3):
            assert own.mgmt.request("GET", "/mgmt/tm/sys", session=session, **WHO).status == 401
        own.cp.restart()
        assert own.mgmt.request("GET", "/mgmt/tm/sys", session=session, **WHO).status == 401


def test_starts_before_weir_cp():
    with Topology() as topo:
        both = Alone(topo)
        both.mgmt.start()
        assert both.mgmt.request("GET", "/mgmt/tm/sys", **WHO).status == 503
        both.cp.start()
        assert both.mgmt.request("GET", "/mgmt/tm/sys", **WHO).status == 401


def test_weir_cp_that_does_not_answer(own):
    """Requests wait for it, 8 at most of one address; what needs no weir-cp is served."""
    own.cp.daemon.process.send_signal(signal.SIGSTOP)
    held = [own.mgmt.connect(30.0) for _ in range(12)]
    try:
        for sock in held:
            sock.sendall(b"GET /mgmt/tm/sys HTTP/1.1\r\nHost: x\r\nX-F5-Auth-Token: x\r\n\r\n")
        assert own.mgmt.request("GET", "/mgmt").status == 401
        refused = []
        while len(refused) < 4:
            ready = select.select([sock for sock in held if sock not in refused], [], [], 15)[0]
            assert ready, "nobody was told to come again"
            assert status(read_reply(ready[0])) == 503
            refused.append(ready[0])
        assert not select.select([sock for sock in held if sock not in refused], [], [], 0.5)[0]
    finally:
        own.cp.daemon.process.send_signal(signal.SIGCONT)
    assert [status(read_reply(sock)) for sock in held if sock not in refused] == [401] * 8
    for sock in held:
        sock.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_at_once_with_open_connections(own, number):
    idle, half = own.mgmt.connect(), own.mgmt.connect()
    idle.sendall(GET)
    assert status(read_reply(idle))
    half.sendall(b"GET /mg")
    own.mgmt.process.send_signal(number)
    assert own.mgmt.process.wait(3) == 0
    assert idle.recv(1) == b"" and half.recv(1) == b""
    own.mgmt.start()


def asks(alone):
    """How many of its descriptors are Unix sockets: what it asks weir-cp just now."""
    unix = {line.split()[6] for line in pathlib.Path(f"/proc/{alone.mgmt.pid}/net/unix").read_text().splitlines()[1:]}
    found = 0
    for link in pathlib.Path(f"/proc/{alone.mgmt.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += os.readlink(link).removeprefix("socket:[").rstrip("]") in unix
    return found


def test_ends_while_weir_cp_does_not_answer(own):
    wait_until(lambda: asks(own) == 0, "nothing is asked", 5)
    own.cp.daemon.process.send_signal(signal.SIGSTOP)
    try:
        with own.mgmt.connect() as sock:
            sock.sendall(b"GET /mgmt/tm/sys HTTP/1.1\r\nHost: x\r\nX-F5-Auth-Token: x\r\n\r\n")
            wait_until(lambda: asks(own) == 1, "it asks", 5)
            own.mgmt.process.send_signal(signal.SIGTERM)
            assert own.mgmt.process.wait(8) == 0
    finally:
        own.cp.daemon.process.send_signal(signal.SIGCONT)
    own.mgmt.start()


def test_killed_and_back(own):
    """Restart table: it comes back and serves; weir-cp does not care."""
    generation = own.cp.status()["generation"]
    for _ in range(2):
        own.mgmt.kill()
        own.mgmt.start()
        assert own.mgmt.request("GET", "/mgmt/tm/sys", **WHO).status == 401
    assert own.cp.status()["generation"] == generation


def resident_kb(alone):
    return int(pathlib.Path(f"/proc/{alone.mgmt.pid}/status").read_text().split("VmRSS:")[1].split()[0])


@pytest.mark.skipif(build_dir().name == "build-sanitize", reason="a sanitizer keeps what was freed")
@pytest.mark.parametrize("headers", [(), ("-H", "Connection: close")], ids=["one connection", "many connections"])
def test_memory_stays_level(own, headers, request):
    """A connection for each request, as Ansible does, or one for all, as the SDK."""
    seconds = 60 if request.config.getoption("--long") else 2
    token = own.login()

    def load(duration):
        done = own.ns.run(["wrk", "-t1", "-c4", f"-d{duration}s", "-H", f"X-F5-Auth-Token: {token}", *headers,
                           own.mgmt.url + "/mgmt/tm/ltm/pool"], timeout=duration + 30)
        assert "Non-2xx" not in done.stdout and "Socket errors" not in done.stdout, done.stdout

    load(2)
    before = resident_kb(own)
    load(seconds)
    assert resident_kb(own) - before < 512
