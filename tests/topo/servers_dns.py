# SPDX-License-Identifier: BSD-3-Clause
"""Name servers: Knot DNS, whose answers change while it runs, and one that answers whatever a test wants."""
import contextlib
import ipaddress
import socket
import struct
import subprocess
import threading

from .servers_program import Program

CONF = """
server:
    rundir: "{dir}"
    listen: {host}@{port}
    tcp-workers: 1
    udp-workers: 1
    background-workers: 1
database:
    storage: "{dir}"
zone:
  - domain: {zone}
    storage: "{dir}"
    file: zone
    zonefile-sync: -1
    zonefile-load: whole
"""

ZONE = "@ 3600 SOA ns admin 1 3600 600 86400 1\n@ 3600 NS ns\nns 3600 A 10.0.0.1\n"


class Knot(Program):
    """Knot DNS for one zone; TTLs and addresses of names change at once. records: {name: (TTL, [address, ...])}."""

    kind = "knot"

    def __init__(self, ns, directory, address=("127.0.0.1", 53), records=None, zone="test"):
        self.zone = zone
        self.records = {"here": (3600, ["10.99.99.99"]), **(records or {})}
        super().__init__(ns, "dns", address, directory)

    def prepare(self):
        (self.dir / "knot.conf").write_text(CONF.format(dir=self.dir, host=self.address[0], port=self.address[1], zone=self.zone))
        (self.dir / "zone").write_text(ZONE + "".join(
            self._record(name, ttl, value) for name, (ttl, values) in self.records.items() for value in values))

    @staticmethod
    def _type(value):
        try:
            return "AAAA" if ipaddress.ip_address(value).version == 6 else "A"
        except ValueError:
            return "CNAME"

    def _record(self, name, ttl, value):
        return f"{name} {ttl} {self._type(value)} {value}\n"

    def argv(self):
        return ["knotd", "-c", self.dir / "knot.conf"]

    def ready(self):
        labels = b"".join(bytes([len(label)]) + label.encode() for label in f"here.{self.zone}".split("."))
        with self.ns.socket(kind=socket.SOCK_DGRAM) as sock:
            sock.settimeout(0.5)
            sock.connect(self.address)
            sock.send(bytes.fromhex("000101000001000000000000") + labels + bytes.fromhex("0000010001"))
            return sock.recv(512).endswith(socket.inet_aton("10.99.99.99"))

    def control(self, *words):
        done = subprocess.run(["knotc", "-c", self.dir / "knot.conf", "-s", self.dir / "knot.sock", "-b", *words],
                              capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0, f"knotc {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def set(self, name, values, ttl=1):
        """name has these addresses (or is another name for one) from now on; [] = it does not exist."""
        self.control("zone-begin", self.zone)
        if self.records.get(name):
            self.control("zone-unset", self.zone, name)
        for value in values:
            self.control("zone-set", self.zone, name, str(ttl), self._type(value), value)
        self.control("zone-commit", self.zone)
        self.records[name] = (ttl, values) if values else None

    def failing(self):
        """SERVFAIL to every question, until it is started again."""
        self.control("-f", "zone-purge", "+expire", self.zone)


def question_of(query):
    """(name, type) of a question; its bytes end at the third value."""
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    return ".".join(labels), struct.unpack("!H", query[at + 1:at + 3])[0], at + 5


def answer_to(query, addresses, ttl=1, rcode=0, truncated=False):
    """An answer with these addresses of the question's type; too long ones are cut by who sends them."""
    _, kind, end = question_of(query)
    records = [ipaddress.ip_address(a).packed for a in addresses]
    records = [r for r in records if len(r) == (4 if kind == 1 else 16)]
    flags = 0x8580 | rcode | (0x200 if truncated else 0)
    head = query[:2] + struct.pack("!HHHHH", flags, 1, 0 if truncated else len(records), 0, 0)
    body = b"".join(struct.pack("!HHHIH", 0xc00c, kind, 1, ttl, len(r)) + r for r in records)
    return head + query[12:end] + (b"" if truncated else body)


class ScriptedDns:
    """A name server in a thread: reply(query, udp) gives the datagrams to send back, or the one message by TCP."""

    def __init__(self, ns, reply, address=("127.0.0.1", 53)):
        self.reply, self.asked, self.ended = reply, [], False
        self.udp = ns.socket(kind=socket.SOCK_DGRAM)
        self.tcp = ns.socket()
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for sock in (self.udp, self.tcp):
            sock.bind(address)
            sock.settimeout(0.1)
        self.tcp.listen(64)
        self.threads = [threading.Thread(target=run, daemon=True) for run in (self._run_udp, self._run_tcp)]
        for thread in self.threads:
            thread.start()

    def _run_udp(self):
        while not self.ended:
            with contextlib.suppress(TimeoutError):
                query, peer = self.udp.recvfrom(4096)
                self.asked.append((question_of(query)[0], peer[1]))
                for message in self.reply(query, True):
                    self.udp.sendto(message, peer)

    def _run_tcp(self):
        while not self.ended:
            with contextlib.suppress(TimeoutError, OSError):
                sock, _ = self.tcp.accept()
                with sock:
                    sock.settimeout(1)
                    data = sock.recv(4096)
                    for message in self.reply(data[2:], False):
                        sock.sendall(struct.pack("!H", len(message)) + message)

    def stop(self):
        self.ended = True
        for thread in self.threads:
            thread.join(5)
        self.udp.close()
        self.tcp.close()
