# SPDX-License-Identifier: BSD-3-Clause
"""rsyslogd of Debian as a log server: over UDP, TCP and TLS, on 127.0.0.1; its certificates."""
import pathlib
import signal
import subprocess

from topo import wait_until

PORT = 5514
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
    for who, alternative in ((f"server", f"{kind}:{name}"), ("client", "DNS:lb1")):
        (folder / "ext").write_text(f"subjectAltName={alternative}\n")
        openssl("req", *new, "-subj", f"/CN={alternative.split(':')[1]}", "-keyout", f"{who}.key", "-out", f"{who}.csr")
        openssl("x509", "-req", "-in", f"{who}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", str(days), "-extfile", "ext", "-out", f"{who}.pem")
    return folder


class LogServer:
    """rsyslogd; lines() are the messages as they came."""

    def __init__(self, lab, protocol, tls=None, port=PORT, name="rsyslogd", client_names=None):
        self.lab, self.port, self.protocol = lab, port, protocol
        self.dir = lab.dir / name
        self.dir.mkdir()
        self.out = self.dir / "received"
        self.conf = self.dir / "conf"
        self.process = None
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
        self.process = self.lab.ns.popen(["/usr/sbin/rsyslogd", "-n", "-f", self.conf, "-i", self.dir / "pid"],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        option = "-Huln" if self.protocol == "udp" else "-Htln"
        wait_until(lambda: f":{self.port} " in self.lab.ns.run(["ss", option]).stdout, "rsyslogd listens", 15)
        return self

    def stop(self, how=signal.SIGKILL):
        if self.process:
            self.process.send_signal(how)
            self.process.wait(20)
        self.process = None

    def lines(self):
        return self.out.read_text().splitlines() if self.out.exists() else []

    def wait(self, check, what, seconds=20):
        wait_until(lambda: check(self.lines()), lambda: f"{what}; last: {self.lines()[-3:]}", seconds)

    def numbers(self):
        """Of the events that came, in order."""
        return [int(line.rsplit(" ", 1)[1].rstrip(".")) for line in self.lines() if "Event number" in line]

    def wait_all(self, last, first=1, seconds=30):
        wanted = set(range(first, last + 1))
        wait_until(lambda: wanted <= set(self.numbers()),
                   lambda: f"events {first} to {last}: missing {sorted(wanted - set(self.numbers()))[:20]}", seconds)
