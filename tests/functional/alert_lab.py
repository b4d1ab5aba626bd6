# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp's side of notify.sock, played by a test, and weir-notify beside mail servers that the test can hurt.

    weir-notify (10.0.3.1) --- veth --- mail (10.0.3.11, .12): Debian's exim4, and one that says what a test wants
"""
import email
import email.policy
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

import pytest
from fake_notify_cp import FakeNotifyCp, Lab

from topo import Topology, wait_until

MAIL, OTHER = "10.0.3.11", "10.0.3.12"
FAST = {"digest": 1, "level": "info", "timeout": 3}


class FakeCp(FakeNotifyCp):
    """With incidents in its journal."""

    def record(self, part, incident=None, **fields):
        """Writes a record; returns its number."""
        with self.lock:
            seq = len(self.records) + 1
            self.write(time=time.time_ns() // 1000, part=part, incident=incident or seq, **{
                "object": f"/Common/10.0.0.{seq}:80", "actor": {"class": "monitor", "name": "/Common/http"},
                "text": "Pool member monitor status down.", "cause": "connect: refused", **fields})
            return seq

    def down(self, **fields):
        return self.record("open", **fields)

    def up(self, incident, seconds=7, **fields):
        return self.record("close", incident, duration=seconds,
                           object=self.records[incident - 1]["object"], **fields)

    def test(self, name, seconds=15):
        """Has a receiver tried: (ok, reason)."""
        number = len(self.tested) + 1
        self.ask_test(name, number)
        wait_until(lambda: number in self.tested, "a test ends", seconds)
        return self.tested[number]["ok"], self.tested[number].get("reason")

    def error(self, name="/Common/ops"):
        return self.report(name, "error") or ""


class Said:
    """What commands write to a pipe; nothing else of the file system takes it. They do not see our /tmp."""

    def __init__(self, folder):
        folder.chmod(0o755)
        self.path = folder / "pipe"
        os.mkfifo(self.path)
        self.path.chmod(0o666)
        self.pipe = open(os.open(self.path, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
        self.text = ""

    def calls(self):
        self.text += (self.pipe.read(1 << 20) or b"").decode()
        return self.text.split("\nend\n")[:-1]

    def wait(self, count=1, seconds=12):
        wait_until(lambda: len(self.calls()) >= count, lambda: f"{count} calls: {self.text}", seconds)
        return self.calls()


@pytest.fixture
def said():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-", dir="/var/tmp"))
    yield Said(folder)
    shutil.rmtree(folder)


def script(said, rest="", what="cat"):
    return f'#!/bin/sh\n{{ {what}; printf "\\nend\\n"; }} > {said.path} 2>&1\n{rest}'


class Smtpd:
    """exim4 with folders of its own; mail for example.com goes to a maildir."""

    def __init__(self, top_dir, ns):
        self.ns, self.dir = ns, top_dir / "exim"
        self.daemon = None
        self.dir.mkdir()
        for path in (top_dir, self.dir):
            path.chmod(0o755)
        for name in ("mail", "spool", "log"):
            (self.dir / name).mkdir()
            shutil.chown(self.dir / name, "Debian-exim")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=mail",
                        "-addext", f"subjectAltName=IP:{MAIL}", "-keyout", self.dir / "key", "-out", self.dir / "cert"],
                       check=True, capture_output=True)
        shutil.chown(self.dir / "key", "Debian-exim")
        self.ca = (self.dir / "cert").read_text()
        (self.dir / "conf").write_text(f'''primary_hostname = mail.example.com
spool_directory = {self.dir}/spool
log_file_path = {self.dir}/log/%s
pid_file_path = {self.dir}/spool/pid
local_interfaces = {MAIL}
daemon_smtp_ports = 25 : 465 : 587
tls_on_connect_ports = 465
tls_advertise_hosts = *
tls_certificate = {self.dir}/cert
tls_privatekey = {self.dir}/key
auth_advertise_hosts = ${{if eq{{$tls_in_cipher}}{{}}{{}}{{*}}}}
rfc1413_query_timeout = 0s
keep_environment =
deliver_drop_privilege = true
smtp_accept_max_per_connection = 100
acl_smtp_rcpt = recipient
begin acl
recipient:
  deny condition = ${{if and{{{{!eq{{$received_port}}{{25}}}}{{eq{{$authenticated_id}}{{}}}}}}}}
  accept domains = example.com
  deny message = no relay
begin routers
all:
  driver = accept
  transport = box
begin transports
box:
  driver = appendfile
  directory = {self.dir}/mail
  maildir_format
  user = Debian-exim
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{weir}}}}{{eq{{$auth3}}{{secret}}}}}}}}
  server_set_id = $auth2
''')
        (self.dir / "conf").chmod(0o644)

    def start(self):
        with open(self.dir / "output", "ab") as log:
            self.daemon = self.ns.popen(["/usr/sbin/exim4", "-C", self.dir / "conf", "-bdf", "-q10s"],
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._answers, lambda: f"exim answers: {(self.dir / 'output').read_text()[-500:]}", 10)

    def _answers(self):
        return self.ns.run(["sh", "-c", "ss -Hltn"]).stdout.count(MAIL) >= 3

    def stop(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.terminate()
            self.daemon.wait(10)
        wait_until(lambda: not self.ns.run(["sh", "-c", "ss -Hltn"]).stdout.count(MAIL), "exim is gone", 10)

    def mails(self):
        """All that came, parsed, by their subjects' order of arrival."""
        paths = sorted((self.dir / "mail").glob("new/*"), key=lambda path: path.stat().st_mtime_ns)
        return [email.message_from_bytes(path.read_bytes(), policy=email.policy.default) for path in paths]

    def wait(self, count, seconds=12):
        wait_until(lambda: len(self.mails()) >= count, lambda: f"{count} mails: {[m['subject'] for m in self.mails()]}",
                   seconds)
        return self.mails()


class FakeSmtp:
    """A server that answers as script(line) says: bytes, None for "as usual", or False: not at all. texts: what came."""

    def __init__(self, ns, address=OTHER, greeting=b"220 fake\r\n"):
        self.script, self.greeting, self.texts, self.commands = lambda line: None, greeting, [], []
        self.connections = 0
        with ns.entered():
            self.listener = socket.create_server((address, 25))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        try:
            self._talk(peer, peer.makefile("rb"))
        except OSError:
            pass

    def _talk(self, peer, stream):
        peer.sendall(self.greeting)
        while line := stream.readline().decode().strip():
            self.commands.append(line)
            said = self.script(line)
            if line == "DATA" and said is None:
                peer.sendall(b"354 go on\r\n")
                text = b""
                while (row := stream.readline()) not in (b".\r\n", b""):
                    text += row
                self.texts.append(text)
                said = self.script(".")
            if said is not False:
                peer.sendall(said if said is not None else b"250 fine\r\n")

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class AlertLab(Lab):
    def __init__(self, top):
        super().__init__(top, FakeCp, ["--script-user", "games"])
        self.far = top.namespace("mail")
        top.veth(self.ns, "n0", self.far, "s0")
        self.ns.address("n0", "10.0.3.1/24")
        self.far.address("s0", f"{MAIL}/24", f"{OTHER}/24")
        self.closing = []

    def restart(self, kill=True):
        if kill:
            self.daemon.kill()
        else:
            self.daemon.stop()
        self.start()

    def configure(self, *receivers):
        self.cp.reports = {}
        self.receive(*receivers)

    def smtpd(self):
        server = Smtpd(self.dir, self.far)
        self.closing.append(server.stop)
        server.start()
        return server

    def fake(self, **more):
        server = FakeSmtp(self.far, **more)
        self.closing.append(server.close)
        return server

    def close(self):
        for close in self.closing:
            close()
        self.cp.close()


def server(host=MAIL, port=25, **fields):
    return {"smtp-server-host-name": host, "smtp-server-port": port, "encrypted-connection": "none", **fields}


def mail(*servers, name="/Common/ops", **fields):
    return {"name": name, "kind": "mail", "from": "weir@example.com", "to": ["ops@example.com"],
            "smtp-servers": list(servers or [server()]), **FAST,
            **{key.replace("_", "-"): value for key, value in fields.items()}}


def command(script, name="/Common/ops", **fields):
    return {"name": name, "kind": "command", "script": script, **FAST,
            **{key.replace("_", "-"): value for key, value in fields.items()}}


def run_lab():
    """For a fixture: a lab whose weir-notify runs, and has to be well at the end."""
    with Topology() as top:
        made = AlertLab(top)
        try:
            made.start()
            top.add(made.daemon)
            yield made
            made.daemon.check_running()
        finally:
            made.close()
