# SPDX-License-Identifier: BSD-3-Clause
"""Monitors that speak a protocol: against Debian's servers where there is one, else against a few lines."""
import contextlib
import hashlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import threading

import pytest
from fake_mon_cp import FAST, SERVER, cp, lab  # noqa: F401  (lab, cp are fixtures)
from test_mon_http import Script

from topo import wait_until


class Program:
    """A server program of Debian's in the servers' namespace, in a process group of its own."""

    def __init__(self, lab, argv, user=None, **options):
        identity = pwd.getpwnam(user) if user else None

        def become():
            os.setsid()
            if identity:
                os.setgroups([])
                os.setgid(identity.pw_gid)
                os.setuid(identity.pw_uid)
        self.log = lab.top.dir / f"{pathlib.Path(argv[0]).name}.log"
        # Entered here and not by "ip netns exec", so that the program may be another user's.
        with lab.far.entered(), open(self.log, "ab") as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=become, **options)
        lab.top.add(self)

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def stop(self):
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGKILL)
            self.process.wait()


def need(name, *places):
    path = shutil.which(name) or next((p for p in places if os.access(p, os.X_OK)), None)
    if not path:
        pytest.skip(f"{name} is not installed")
    return str(path)


def folder(lab, name, user):
    path = lab.top.dir / name
    path.mkdir()
    shutil.chown(path, user)
    return path


def self_signed(place, user):
    """(certificate, key) of app.test, which is its own authority."""
    paths = place / "cert.pem", place / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=app.test", "-addext", "subjectAltName=DNS:app.test",
                    "-keyout", paths[1], "-out", paths[0]], check=True, capture_output=True)
    for path in paths:
        shutil.chown(path, user)
    return paths


def frozen_and_back(cp, program, monitor=1):
    program.signal(signal.SIGSTOP)
    cp.wait("down", 1, monitor)
    program.signal(signal.SIGCONT)
    cp.wait("up", 1, monitor)


def error_says(cp, monitor, said):
    """The last error becomes that: before, the server may not have listened yet."""
    wait_until(lambda: said in cp.stat(1, monitor)["last-error"], f"{monitor} says {said}")


def test_redis(lab, cp):
    place = folder(lab, "redis", "nobody")
    redis = Program(lab, [need("redis-server"), "--bind", SERVER, "--requirepass", "pw", "--dir", str(place),
                          "--save", ""], "nobody")
    cp.monitor(1, "redis", password="pw", **FAST)
    cp.monitor(2, "redis", password="wrong", **FAST)
    cp.monitor(3, "redis", password="pw", send="nothing-there", **FAST)
    for monitor in (1, 2, 3):
        cp.instance(1, monitor, port=6379)
    cp.wait("up")
    cp.wait("down", 1, 2)
    error_says(cp, 2, "WRONGPASS")
    cp.wait("down", 1, 3)
    with lab.far.connect((SERVER, 6379)) as sock:
        sock.sendall(b"AUTH pw\r\nSET nothing-there 1\r\n")
        cp.wait("up", 1, 3)
    frozen_and_back(cp, redis)


def test_postgresql(lab, cp):
    binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    if not binaries:
        pytest.skip("postgresql is not installed")
    place = folder(lab, "pg", "postgres")
    (place / "pw").write_text("secret\n")
    shutil.chown(place / "pw", "postgres")
    subprocess.run(["runuser", "-u", "postgres", "--", binaries[-1] / "initdb", "-D", place / "data", "-A", "scram-sha-256",
                    "--pwfile", place / "pw", "-N"], check=True, capture_output=True)
    with open(place / "data/pg_hba.conf", "a") as hba:
        hba.write("hostssl template1 all 10.0.2.0/24 scram-sha-256\nhostnossl template1 all 10.0.2.0/24 reject\n"
                  "host all all 10.0.2.0/24 scram-sha-256\n")
    cert, key = self_signed(place, "postgres")
    server = Program(lab, [str(binaries[-1] / "postgres"), "-D", str(place / "data"), "-h", SERVER, "-k", str(place),
                           "-c", "ssl=on", "-c", f"ssl_cert_file={cert}", "-c", f"ssl_key_file={key}"], "postgres")
    login = {"username": "postgres", "password": "secret", "database": "postgres", **FAST}
    cp.monitor(1, "postgresql", **login, send="select 40 + 2", recv="^42$")
    cp.monitor(2, "postgresql", **{**login, "password": "wrong"})
    cp.monitor(3, "postgresql", **login, send="select 1 / 0")
    cp.monitor(4, "postgresql", **login, send="select repeat('x', 100000000)", recv="y")
    cp.monitor(5, "postgresql", **{**login, "database": "template1"})
    for monitor in range(1, 6):
        cp.instance(1, monitor, port=5432)
    cp.wait("up", seconds=15)
    cp.wait("up", 1, 5)
    for monitor, said in ((2, "password authentication failed"), (3, "division by zero")):
        cp.wait("down", 1, monitor)
        error_says(cp, monitor, said)
    cp.wait("down", 1, 4)
    server.signal(signal.SIGSTOP)
    for pid in lab.far.pids():
        os.kill(pid, signal.SIGSTOP)
    cp.wait("down")
    for pid in lab.far.pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    cp.wait("up")
    before = cp.stat()["successes"]
    wait_until(lambda: cp.stat()["successes"] >= before + 2, "none of the old probes waits any more")
    for pid in lab.far.pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert cp.wait("down") < 2.5
    assert cp.reason() == "connection refused"


def test_dns(lab, cp):
    server = Program(lab, [need("dnsmasq"), "--no-daemon", "--no-resolv", "--no-hosts", "--conf-file=/dev/null",
                           f"--listen-address={SERVER}", "--bind-interfaces", "--address=/app.test/10.9.9.9",
                           "--txt-record=note.test,hello", "--local=/test/", "--pid-file", "--user=root"])
    ask = {"qname": "www.app.test", **FAST}
    cp.monitor(1, "dns", **ask, recv="10.9.9.9")
    cp.monitor(2, "dns", **ask, recv="10.9.9.8")
    cp.monitor(3, "dns", qname="note.test", qtype="txt", **FAST)
    cp.monitor(4, "dns", qname="other.example", **FAST)
    cp.monitor(5, "dns", qname="other.example", accept_rcode="anything", **FAST)
    cp.monitor(6, "dns", qname="note.test", **FAST)
    for monitor in range(1, 7):
        cp.instance(1, monitor, port=0)
    for monitor in (1, 3, 5):
        cp.wait("up", 1, monitor)
    for monitor, said in ((2, "recv is not among the addresses"), (4, "answered with rcode"),
                          (6, "no record of the type")):
        cp.wait("down", 1, monitor)
        error_says(cp, monitor, said)
    frozen_and_back(cp, server)


def test_ldap(lab, cp):
    slapd = need("slapd", "/usr/sbin/slapd")
    place = folder(lab, "ldap", "nobody")
    cert, key = self_signed(place, "nobody")
    (place / "slapd.conf").write_text(f"""include /etc/ldap/schema/core.schema
pidfile {place}/pid
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
directory {place}
suffix "dc=test"
rootdn "cn=admin,dc=test"
rootpw secret
TLSCertificateFile {cert}
TLSCertificateKeyFile {key}
""")
    (place / "in.ldif").write_text("dn: dc=test\nobjectClass: dcObject\nobjectClass: organization\ndc: test\no: t\n")
    subprocess.run([slapd, "-T", "add", "-f", place / "slapd.conf", "-l", place / "in.ldif"], check=True,
                   capture_output=True)
    for path in place.iterdir():
        shutil.chown(path, "nobody")
    server = Program(lab, [slapd, "-f", str(place / "slapd.conf"), "-h", f"ldap://{SERVER}:3890 ldaps://{SERVER}:6360",
                           "-d", "0"], "nobody")
    login = {"username": "cn=admin,dc=test", "password": "secret", **FAST}
    cp.monitor(1, "ldap", **login, base="dc=test", filter="dc=test", mandatory_attributes=True)
    cp.monitor(2, "ldap", **{**login, "password": "wrong"})
    cp.monitor(3, "ldap", **login, base="dc=test", filter="dc=nobody", mandatory_attributes=True)
    cp.monitor(4, "ldap", **FAST)
    cp.monitor(5, "ldap", **login, base="dc=test", filter="dc=nobody")
    cp.monitor(6, "ldap", **login, base="dc=test", filter="dc=test", mandatory_attributes=True, security="tls")
    cp.monitor(7, "ldap", **login, security="tls", verify=True, sni="app.test", ca=cert.read_text())
    cp.monitor(8, "ldap", **login, security="tls", verify=True, sni="other.test", ca=cert.read_text())
    cp.monitor(9, "ldap", **login, security="ssl")
    cp.monitor(10, "ldap", **login, security="ssl")
    for monitor in range(1, 11):
        cp.instance(1, monitor, port=6360 if monitor == 9 else 3890)
    for monitor in (1, 4, 5, 6, 7, 9):
        cp.wait("up", 1, monitor)
    for monitor, said in ((2, "ldap: bind: result 49"), (3, "ldap: search: nothing found"), (8, "mismatch"),
                          (10, "TLS: ")):
        cp.wait("down", 1, monitor)
        error_says(cp, monitor, said)
    frozen_and_back(cp, server)


def dialogue(greeting, answers, refusal):
    """Serves lines: greets, answers each line by the first key that it begins with, else with the refusal."""
    def serve(connection):
        if greeting:
            connection.sendall(greeting)
        for line in connection.makefile("rb"):
            answer = next((text for key, text in answers.items() if line.startswith(key)), refusal)
            connection.sendall(answer)
    return serve


LINES = {
    "smtp": (b"220-hello\r\n220 ready\r\n", {b"HELO weir.test": b"250 ok\r\n"}, {"domain": "weir.test"},
             {"domain": "x"}),
    "ftp": (b"220 ready\r\n", {b"USER u": b"331 more\r\n", b"PASS p\r": b"230-a\r\n230 in\r\n",
                               b"SIZE /file": b"213 9\r\n"},
            {"username": "u", "password": "p", "send": "/file"}, {"username": "u", "password": "q"}),
    "nntp": (b"200 hi\r\n", {b"AUTHINFO USER u": b"381 more\r\n", b"AUTHINFO PASS p": b"281 in\r\n",
                             b"GROUP a.b": b"211 1 1 1 a.b\r\n"},
             {"username": "u", "password": "p", "newsgroup": "a.b"}, {"newsgroup": "c"}),
    "pop3": (b"+OK\r\n", {b"USER u": b"+OK\r\n", b"PASS p": b"+OK\r\n"}, {"username": "u", "password": "p"},
             {"username": "x"}),
    "imap": (b"* OK hi\r\n", {b'a LOGIN "u" "p\\"q"': b"* CAPABILITY x\r\na OK in\r\n",
                              b'a EXAMINE "INBOX"': b"* 3 EXISTS\r\na OK [READ-ONLY]\r\n"},
             {"username": "u", "password": 'p"q'}, {"username": "u", "password": "x"}),
}


@pytest.mark.parametrize("kind", LINES)
def test_lines(lab, cp, kind):
    greeting, answers, good, bad = LINES[kind]
    lab.top.add(Script(lab.far, (SERVER, 7000), dialogue(greeting, answers, b"a NO bad\r\n" if kind == "imap" else b"500 bad\r\n")))
    lab.top.add(Script(lab.far, (SERVER, 7001), lambda connection: connection.sendall(b"z" * 100000)))
    cp.monitor(1, kind, **good, **FAST)
    cp.monitor(2, kind, **bad, **FAST)
    cp.instance(1, 1, port=7000)
    cp.instance(1, 2, port=7000)
    cp.instance(2, 1, port=7001)
    cp.wait("up", 1, 1)
    cp.wait("down", 1, 2)
    error_says(cp, 2, "the server says")
    cp.wait("down", 2, 1)


def test_a_line_break_in_a_field_is_not_sent(lab, cp):
    got = []

    def serve(connection):
        connection.sendall(b"220 ready\r\n")
        got.append(connection.recv(1000))
    lab.top.add(Script(lab.far, (SERVER, 7000), serve))
    cp.monitor(1, "smtp", domain="a\r\nRCPT TO:<x>", **FAST)
    cp.instance(1, 1, port=7000)
    wait_until(lambda: "line break" in cp.stat()["last-error"], "said")
    assert not any(b"RCPT" in data for data in got)


def test_sip(lab, cp):
    answer = {"status": b"200 OK"}
    sock = lab.far.socket(kind=socket.SOCK_DGRAM)
    sock.bind((SERVER, 5060))

    def serve():
        while True:
            data, peer = sock.recvfrom(2000)
            via = next(line for line in data.split(b"\r\n") if line.startswith(b"Via:"))
            assert data.startswith(b"OPTIONS sip:") and data.endswith(b"\r\n\r\n")
            sock.sendto(b"SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP x;branch=other\r\n\r\n", peer)
            sock.sendto(b"SIP/2.0 " + answer["status"] + b"\r\n" + via + b"\r\n\r\n", peer)
    threading.Thread(target=serve, daemon=True).start()
    cp.monitor(1, "sip", **FAST)
    cp.instance(1, 1, port=0)
    cp.wait("up")
    answer["status"] = b"503 Busy"
    cp.wait("down")
    assert "503 Busy" in cp.reason()


def test_radius(lab, cp):
    secret = b"shared"
    sock = lab.far.socket(kind=socket.SOCK_DGRAM)
    sock.bind((SERVER, 1812))

    def serve():
        while True:
            data, peer = sock.recvfrom(2000)
            auth, at, fields = data[4:20], 20, {}
            while at < len(data):
                fields[data[at]] = data[at + 2:at + data[at + 1]]
                at += data[at + 1]
            plain, before = b"", auth
            for n in range(0, len(fields[2]), 16):
                mask = hashlib.md5(secret + before).digest()
                before = fields[2][n:n + 16]
                plain += bytes(a ^ b for a, b in zip(before, mask))
            code = 2 if (fields[1], plain.rstrip(b"\0")) == (b"user", b"a password of many letters") else 3
            head = struct.pack("!BBH", code, data[1], 20)
            sock.sendto(head + b"x" * 16, peer)  # not signed: nothing
            sock.sendto(head + hashlib.md5(head + auth + secret).digest(), peer)
    threading.Thread(target=serve, daemon=True).start()
    login = {"username": "user", "secret": "shared", **FAST}
    cp.monitor(1, "radius", **login, password="a password of many letters")
    cp.monitor(2, "radius", **login, password="wrong")
    cp.instance(1, 1, port=0)
    cp.instance(1, 2, port=0)
    cp.wait("up")
    cp.wait("down", 1, 2)
    assert cp.reason(1, 2) == "access rejected"


def packet(number, body):
    return struct.pack("<I", len(body))[:3] + bytes([number]) + body


def mysql_server(password):
    def serve(connection):
        salt = bytes(range(65, 85))
        connection.sendall(packet(0, b"\x0a10.11\0" + bytes(4) + salt[:8] + b"\0" + bytes(18) + salt[8:] + b"\0"))
        data = connection.recv(2000)
        once = hashlib.sha1(password).digest()
        mask = hashlib.sha1(salt + hashlib.sha1(once).digest()).digest()
        right = bytes(a ^ b for a, b in zip(once, mask))
        user, rest = data[36:].split(b"\0", 1)
        if user != b"mon" or rest[1:21] != right:
            connection.sendall(packet(2, b"\xff\x15\x04#28000Access denied"))
            return
        connection.sendall(packet(2, b"\0\0\0\2\0\0\0"))
        if connection.recv(2000)[4:] != b"\x03select 1":
            return
        for number, body in enumerate((b"\1", b"column", b"\xfe\0\0\2\0", b"\1" + b"7", b"\xfe\0\0\2\0")):
            connection.sendall(packet(number + 1, body))
        connection.recv(1)
    return serve


def test_mysql(lab, cp):
    lab.top.add(Script(lab.far, (SERVER, 3306), mysql_server(b"pw")))
    login = {"username": "mon", "database": "app", "send": "select 1", **FAST}
    cp.monitor(1, "mysql", **login, password="pw", recv="7")
    cp.monitor(2, "mysql", **login, password="no")
    cp.monitor(3, "mysql", **login, password="pw", recv="8")
    cp.monitor(4, "mysql", **FAST)
    for monitor in range(1, 5):
        cp.instance(1, monitor, port=0)
    cp.wait("up", 1, 1)
    cp.wait("up", 1, 4)
    cp.wait("down", 1, 2)
    assert "Access denied" in cp.reason(1, 2)
    cp.wait("down", 1, 3)


def test_mariadb(lab, cp):
    """A real one: users with the plugin that it greets with, with one that it switches to, and with one of its own."""
    mariadbd, install = need("mariadbd", "/usr/sbin/mariadbd"), need("mariadb-install-db")
    place = folder(lab, "db", "nobody")
    subprocess.run([install, "--no-defaults", f"--datadir={place}/data", "--user=nobody", "--skip-test-db",
                    "--auth-root-authentication-method=normal"], check=True, capture_output=True)
    (place / "init.sql").write_text(
        "create user mon identified via mysql_native_password using password('pw');\n"
        "install soname 'auth_ed25519';\ncreate user ed identified via ed25519 using password('pw');\n"
        "create database app;\ngrant all on app.* to mon;\n")
    server = Program(lab, [mariadbd, "--no-defaults", f"--datadir={place}/data", f"--bind-address={SERVER}",
                           f"--socket={place}/sock", f"--pid-file={place}/pid", f"--init-file={place}/init.sql",
                           "--skip-name-resolve", "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M"], "nobody")
    login = {"username": "mon", "password": "pw", "database": "app", **FAST}
    cp.monitor(1, "mysql", **login, send="select concat('four', 'teen')", recv="fourteen")
    cp.monitor(2, "mysql", **{**login, "password": "wrong"})
    cp.monitor(3, "mysql", **{**login, "username": "ed", "database": ""})
    cp.monitor(4, "mysql", **login, send="select 7", recv="8")
    cp.monitor(5, "mysql", **FAST)
    for monitor in range(1, 6):
        cp.instance(1, monitor, port=3306)
    cp.wait("up", 1, 1, 20)
    cp.wait("up", 1, 5)
    for monitor, said in ((2, "Access denied"), (3, "cannot log in by: client_ed25519"), (4, "did not match")):
        cp.wait("down", 1, monitor)
        error_says(cp, monitor, said)
    frozen_and_back(cp, server)


def caching_server(place, password, remembers):
    """MySQL 8's side of caching_sha2_password, reached by a switch from the old plugin."""
    key = place / "rsa.pem"
    if not key.exists():
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    public = subprocess.run(["openssl", "rsa", "-in", key, "-pubout"], check=True, capture_output=True).stdout
    salt = bytes(range(65, 85))

    def opened(sealed):
        plain = subprocess.run(["openssl", "pkeyutl", "-decrypt", "-inkey", key, "-pkeyopt", "rsa_padding_mode:oaep"],
                               input=sealed, check=True, capture_output=True).stdout
        return bytes(a ^ b for a, b in zip(plain, salt * 10, strict=False))

    def right(scramble):
        once = hashlib.sha256(password).digest()
        mask = hashlib.sha256(hashlib.sha256(once).digest() + salt).digest()
        return scramble == bytes(a ^ b for a, b in zip(once, mask, strict=True))

    def serve(connection):
        connection.sendall(packet(0, b"\x0a8.0\0" + bytes(4) + bytes(8) + b"\0" + bytes(18) + bytes(13) +
                                  b"mysql_native_password\0"))
        connection.recv(2000)
        connection.sendall(packet(2, b"\xfecaching_sha2_password\0" + salt + b"\0"))
        scramble = connection.recv(2000)
        good = scramble[3] == 3 and right(scramble[4:])
        if good and not remembers:
            connection.sendall(packet(4, b"\1\4"))
            assert connection.recv(2000) == packet(5, b"\2")
            connection.sendall(packet(6, b"\1" + public))
            good = opened(connection.recv(2000)[4:]) == password + b"\0"
            connection.sendall(packet(8, b"\0\0\0\2\0\0\0" if good else b"\xff\x15\x04#28000Access denied"))
        else:
            connection.sendall(packet(4, b"\1\3" if good else b"\xff\x15\x04#28000Access denied"))
            connection.sendall(packet(5, b"\0\0\0\2\0\0\0"))
        connection.recv(1)
    return serve


def test_mysql_caching_sha2(lab, cp):
    for port, remembers in ((3307, True), (3308, False)):
        lab.top.add(Script(lab.far, (SERVER, port), caching_server(lab.top.dir, b"secret", remembers)))
    cp.monitor(1, "mysql", username="mon", password="secret", **FAST)
    cp.monitor(2, "mysql", username="mon", password="other", **FAST)
    for number, port in ((1, 3307), (2, 3308)):
        cp.instance(number, 1, port=port)
        cp.instance(number, 2, port=port)
        cp.wait("up", number, 1)
        cp.wait("down", number, 2)
        assert "Access denied" in cp.reason(number, 2)


def test_tcp_echo(lab, cp):
    def echo(connection):
        while data := connection.recv(100):
            connection.sendall(data)
    lab.top.add(Script(lab.far, (SERVER, 7), echo))
    lab.top.add(Script(lab.far, (SERVER, 8), lambda connection: connection.sendall(b"other")))
    cp.monitor(1, "tcp-echo", **FAST)
    cp.instance(1, 1, port=0)
    cp.instance(2, 1, port=8)
    cp.wait("up")
    cp.wait("down", 2)


@pytest.mark.parametrize("kind", ["redis", "ldap", "mysql", "postgresql", "imap", "http"])
def test_garbage_is_down_and_costs_nothing(lab, cp, kind):
    def serve(connection):
        while True:
            connection.sendall(os.urandom(8192))
    lab.top.add(Script(lab.far, (SERVER, 7000), serve))
    cp.monitor(1, kind, username="u", password="p", recv="never", send="x", **FAST)
    cp.instance(1, 1, port=7000)
    cp.wait("down")
    assert all(" " <= c <= "~" for c in cp.reason())
    assert int(open(f"/proc/{lab.daemon.pid}/status").read().split("VmRSS:")[1].split()[0]) < 100_000


def ratio_of(cp, monitor):
    said = [message["ratio"] for message in cp.of_type("dynamic-ratio") if message["monitor"] == monitor]
    return said[-1] if said else None


def snmpd(lab, *more):
    place = folder(lab, f"snmp{len(more)}", "root")
    config = place / "snmpd.conf"
    config.write_text("\n".join((f"agentaddress udp:{SERVER}:{161 + len(more)}", "rocommunity open", *more)))
    return Program(lab, [need("snmpd", "/usr/sbin/snmpd"), "-f", "-Lo", "-C", "-c", str(config), "-p",
                         str(place / "pid")],
                   env={**os.environ, "SNMP_PERSISTENT_DIR": str(place)})


def test_snmp_dca(lab, cp):
    """Ratios of a real agent; a resource that it does not know leaves the others, its silence changes nothing."""
    server = snmpd(lab)
    snmpd(lab, "disk / 1%")
    all_of = {f"{what}-{field}": value for what in ("cpu", "memory", "disk")
              for field, value in (("coefficient", "1.0"), ("threshold", "100"))}
    for monitor, fields in ((1, {"version": "v1"}), (2, {"version": "v2c"}), (3, {"memory-threshold": 1}),
                            (4, {"community": "wrong"})):
        cp.monitor(monitor, "snmp-dca", **{**all_of, "community": "open", **fields}, **FAST)
        cp.instance(1, monitor, port=0)
    disk_alone = {**all_of, "cpu-coefficient": "0", "memory-coefficient": 0, "version": "v2c", "community": "open"}
    cp.monitor(5, "snmp-dca", **disk_alone, **FAST)
    cp.instance(1, 5, port=162)
    for monitor in (1, 2, 3, 5):
        wait_until(lambda monitor=monitor: ratio_of(cp, monitor), f"{monitor} has a ratio", 10)
        assert cp.verdict(1, monitor) == "up"
    root = os.statvfs("/")
    assert abs(ratio_of(cp, 5) - 100 * root.f_bfree / root.f_blocks) < 4
    assert 1 < ratio_of(cp, 1) <= 100 and abs(ratio_of(cp, 1) - ratio_of(cp, 2)) < 30
    assert ratio_of(cp, 3) == 1
    cp.wait("up", 1, 4)
    assert ratio_of(cp, 4) is None
    server.stop()
    error_says(cp, 1, "refused")
    probes = cp.stat(1, 1)["probes"]
    wait_until(lambda: cp.stat(1, 1)["probes"] >= probes + 5, "more probes", 10)
    assert cp.verdict(1, 1) == "up" and "down" not in cp.history(1, 1)
    told = len(cp.of_type("dynamic-ratio"))
    cp.sync()
    wait_until(lambda: len(cp.of_type("dynamic-ratio")) >= told + 4, "told again at sync-end")
    for field, value in (("agent-type", "WIN2000"), ("version", "v3"), ("cpu-threshold", "0"), ("disk-coefficient", "x")):
        cp.send({"type": "monitor", "id": 9, "name": "m", "kind": "snmp-dca", field: value})
        wait_until(lambda field=field: cp.of_type("refused") and cp.of_type("refused")[-1]["field"] == field, "refused")
