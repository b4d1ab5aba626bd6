# SPDX-License-Identifier: BSD-3-Clause
"""Debian's rsyslogd (UDP, TCP, TLS) and snmptrapd as receivers on 127.0.0.1; certificates for TLS."""
import os
import pathlib
import re
import signal
import subprocess

from topo import wait_until

PORT, TRAP_PORT = 5514, 1162
TRAP_USER = {"version": "3", "security-name": "weir", "auth-password": "signed and sealed",
             "privacy-password": "nobody reads it", "auth-protocol": "sha256", "privacy-protocol": "aes"}
TEMPLATE = r'template(name="raw" type="string" string="%rawmsg%\n")'


def certificates(folder, name="127.0.0.1", days=2):
    """A CA of its own in folder, and a server's certificate and a client's by it."""
    folder = pathlib.Path(folder)
    folder.mkdir(mode=0o755, exist_ok=True)

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new, "-days", str(days), "-subj", "/CN=test CA", "-keyout", "ca.key", "-out", "ca.pem")
    kind = "IP" if name[0].isdigit() else "DNS"
    for who, alternative in (("server", f"{kind}:{name}"), ("client", "DNS:lb1")):
        (folder / "ext").write_text(f"subjectAltName={alternative}\n")
        openssl("req", *new, "-subj", f"/CN={alternative.split(':')[1]}", "-keyout", f"{who}.key", "-out", f"{who}.csr")
        openssl("x509", "-req", "-in", f"{who}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", str(days), "-extfile", "ext", "-out", f"{who}.pem")
    return folder


class _Receiver:
    """A process that writes what it gets to a file; numbers() are those of the events that came."""

    process = None

    def _launch(self, argv, port, option, **options):
        self.process = self.lab.ns.popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        wait_until(lambda: f":{port} " in self.lab.ns.run(["ss", option]).stdout, f"{argv[0]} listens", 15)
        return self

    def stop(self, how=signal.SIGKILL):
        if self.process:
            self.process.send_signal(how)
            self.process.wait(20)
        self.process = None

    def text(self):
        return self.out.read_text(errors="replace") if self.out.exists() else ""

    def numbers(self):
        """In order."""
        return [int(number) for number in re.findall(r"Event number (\d+)\.", self.text())]

    def wait_all(self, last, first=1, seconds=30):
        wanted = set(range(first, last + 1))
        wait_until(lambda: wanted <= set(self.numbers()),
                   lambda: f"events {first} to {last}: missing {sorted(wanted - set(self.numbers()))[:20]}; "
                   f"{self.text()[-2000:]}", seconds)


class LogServer(_Receiver):
    """rsyslogd; lines() are the messages as they came."""

    def __init__(self, lab, protocol, tls=None, port=PORT, name="rsyslogd", client_names=None):
        self.lab, self.port, self.protocol = lab, port, protocol
        self.dir = lab.dir / name
        self.dir.mkdir()
        self.out = self.dir / "received"
        self.conf = self.dir / "conf"
        self.conf.write_text("\n".join([
            f'global(workDirectory="{self.dir}" maxMessageSize="16k")', TEMPLATE, *self._input(tls, client_names),
            f'ruleset(name="in") {{ action(type="omfile" file="{self.out}" template="raw") }}', ""]))

    def _input(self, tls, client_names):
        if self.protocol == "udp":
            return ['module(load="imudp")', f'input(type="imudp" port="{self.port}" ruleset="in")']
        if not tls:
            return ['module(load="imtcp")', f'input(type="imtcp" port="{self.port}" ruleset="in")']
        mode = f'StreamDriver.AuthMode="x509/name" PermittedPeer="{client_names}"' if client_names \
            else 'StreamDriver.AuthMode="anon"'
        return [f'global(defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="{tls}/ca.pem" '
                f'defaultNetstreamDriverCertFile="{tls}/server.pem" defaultNetstreamDriverKeyFile="{tls}/server.key")',
                f'module(load="imtcp" StreamDriver.Name="ossl" StreamDriver.Mode="1" {mode})',
                f'input(type="imtcp" port="{self.port}" ruleset="in")']

    def start(self):
        return self._launch(["/usr/sbin/rsyslogd", "-n", "-f", self.conf, "-i", self.dir / "pid"], self.port,
                            "-Huln" if self.protocol == "udp" else "-Htln")

    def lines(self):
        return self.text().splitlines()

    def wait(self, check, what, seconds=20):
        wait_until(lambda: check(self.lines()), lambda: f"{what}; last: {self.lines()[-3:]}", seconds)


class TrapReceiver(_Receiver):
    """snmptrapd, which takes the community "secret" and the user of the row alone."""

    def __init__(self, lab, row):
        self.lab, self.row = lab, row
        self.dir = lab.dir / "snmptrapd"
        self.dir.mkdir()
        self.out = self.dir / "out"

    def _users(self):
        if self.row["version"] == "2c":
            return "authCommunity log secret\n"
        engine = "" if self.row.get("notify-type") == "inform" else f"-e {self.engine()} "
        hashed = {"sha": "SHA", "sha256": "SHA-256"}[self.row["auth-protocol"]]
        level = "priv" if self.row["security-level"] == "auth-privacy" else "auth"
        return (f'createUser {engine}weir {hashed} "{TRAP_USER["auth-password"]}" AES "{TRAP_USER["privacy-password"]}"\n'
                f"authUser log weir {level}\n")

    def engine(self):
        return (self.lab.state_dir / "engine").read_text().split()[0]

    def start(self):
        (self.dir / "conf").write_text(self._users() + "format2 %v\\n\nformat1 %v\\n\n")
        return self._launch(["/usr/sbin/snmptrapd", "-f", "-n", "-C", "-c", self.dir / "conf", "-On", "-A", "-Lf",
                             self.out, "-m", "", f"udp:127.0.0.1:{TRAP_PORT}"], TRAP_PORT, "-Huln",
                            env={**os.environ, "SNMP_PERSISTENT_DIR": str(self.dir)})
