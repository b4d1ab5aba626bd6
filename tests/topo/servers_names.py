# SPDX-License-Identifier: BSD-3-Clause
"""Servers that people ask for names: DNS (dnsmasq) and LDAP (slapd)."""
import socket
import subprocess

from .exchanges import ber
from .servers_program import Program

OK, WRONG = "10.9.9.9", "10.6.6.6"

SLAPD_CONF = """
include /etc/ldap/schema/core.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {dir}/pid
argsfile {dir}/args
database mdb
directory {dir}/data
maxsize 10485760
suffix "dc=test"
rootdn "cn=admin,dc=test"
rootpw secret
"""

LDIF = """
dn: dc=test
objectClass: dcObject
objectClass: organization
dc: test
o: {name}

dn: cn=health,dc=test
objectClass: device
cn: health
"""


class Dnsmasq(Program):
    """www.app.test is 10.9.9.9; the text of name.test is its name."""

    kind = "dnsmasq"

    def argv(self):
        self._hosts(OK)
        host, port = self.address
        return ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root",
                f"--listen-address={host}", f"--port={port}", "--bind-interfaces", f"--addn-hosts={self.dir}/hosts",
                f"--txt-record=name.test,{self.name}", "--local=/test/", "--pid-file", "--local-ttl=1", "--log-facility=-"]

    def _hosts(self, address):
        (self.dir / "hosts").write_text(f"{address} www.app.test\n")

    def ready(self):
        sock = self.ns.socket(kind=socket.SOCK_DGRAM)
        with sock:
            sock.settimeout(0.5)
            sock.connect(self.address)
            sock.send(bytes.fromhex("0001 0100 0001 0000 0000 0000 03777777 03617070 0474657374 00 0001 0001"))
            return sock.recv(512).endswith(socket.inet_aton(OK))

    def wrong(self, yes=True):
        """www.app.test is another address; SIGHUP makes it read that."""
        self._hosts(WRONG if yes else OK)
        self.process.send_signal(1)


class Slapd(Program):
    """dc=test is an organization called by its name; cn=health,dc=test exists. Anybody may read."""

    kind = "slapd"
    user = "nobody"

    def prepare(self):
        (self.dir / "data").mkdir()
        (self.dir / "slapd.conf").write_text(SLAPD_CONF.format(dir=self.dir))
        self._add(LDIF.format(name=self.name))

    def _add(self, ldif):
        subprocess.run(["slapadd", "-f", self.dir / "slapd.conf", "-q"], input=ldif, text=True, check=True, capture_output=True)

    def argv(self):
        host, port = self.address
        return ["slapd", "-f", self.dir / "slapd.conf", "-h", f"ldap://{host}:{port}", "-d", "0"]

    def wrong(self, yes=True):
        """cn=health,dc=test is gone: called by another name."""
        before, after = ("health", "gone") if yes else ("gone", "health")
        bind = ber(0x60, ber(0x02, b"\3"), ber(0x04, b"cn=admin,dc=test"), ber(0x80, b"secret"))
        rename = ber(0x6c, ber(0x04, f"cn={before},dc=test".encode()), ber(0x04, f"cn={after}".encode()), ber(0x01, b"\xff"))
        with self.ns.connect(self.address, 2.0) as sock:
            for number, operation in enumerate((bind, rename), 1):
                sock.sendall(ber(0x30, ber(0x02, bytes([number])), operation))
                answer = sock.recv(200)
                assert answer[7:10] == b"\x0a\x01\x00", answer  # result success
