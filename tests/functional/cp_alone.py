# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp in a namespace of its own, with a dataplane that the test plays, or none."""
import contextlib
import json
import socket
import struct
import time

import pytest

from topo import Topology, wait_until
from topo import weirconf as wc
from topo.weir import MONITOR_USER, NOTIFY_USER, ApiError, Daemon

CONF = wc.config(
    wc.vlan("external", "1.1", number=10), wc.vlan("internal", "1.2", number=20),
    wc.self_ip("e", "10.0.1.1/24", "external"), wc.self_ip("i", "10.0.2.1/24", "internal"),
    wc.pool("web", {("10.0.2.11", 80): {"ratio": 4}, ("10.0.2.12", 80): {}}, "ratio-member"),
    wc.virtual("web", "10.0.1.100", 80, "web"))


class Cp:
    """weir-cp and one way to ask it."""

    def __init__(self, ns, run_dir, config=CONF):
        self.ns, self.run_dir = ns, run_dir
        self.conf, self.store = run_dir / "weir.conf", run_dir / "store"
        self.conf.write_text(config)
        self.daemon = Daemon(ns, "weir-cp", ["--run-dir", run_dir, "--config", self.conf,
                                             "--store", self.store], run_dir)

    def start(self):
        self.daemon.start()
        wait_until(self._answers, "weir-cp answers", 15)

    def _answers(self):
        self.daemon.check_running()
        return self.status()

    def stop(self):
        self.daemon.stop()

    def restart(self, kill=False):
        self.daemon.kill() if kill else self.daemon.stop()
        self.start()

    def connect(self):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(30)
        sock.connect(str(self.run_dir / "cp.sock"))
        return sock

    @staticmethod
    def send(sock, message):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        sock.sendall(struct.pack("!I", len(body)) + body)

    @staticmethod
    def receive(sock):
        def exactly(count):
            data = b""
            while len(data) < count:
                part = sock.recv(count - len(data))
                if not part:
                    raise EOFError
                data += part
            return data
        return json.loads(exactly(struct.unpack("!I", exactly(4))[0]))

    def ask(self, op, **arguments):
        """(rows, result); ApiError if refused."""
        with self.connect() as sock:
            self.send(sock, {"op": op, **arguments})
            rows = []
            while True:
                answer = self.receive(sock)
                rows += answer.get("rows", [])
                if "error" in answer:
                    raise ApiError(answer["error"])
                if "result" in answer:
                    return rows, answer["result"]

    def show(self, what, **arguments):
        return self.ask("show", what=what, **arguments)[0]

    def edit(self, verb, text):
        return self.ask("edit", verb=verb, text=text)[1]

    def list(self, kind):
        return "".join(self.ask("list", kind=kind, form="conf")[0])

    def status(self):
        return self.show("sys status")[0]

    def wait_in_force(self):
        wait_until(lambda: self.status()["dataplane"]["generation"] == self.status()["generation"],
                   "the dataplane has the configuration", 10)


def error_of(call, *arguments, **named):
    """The error that a call is refused with."""
    with pytest.raises(ApiError) as caught:
        call(*arguments, **named)
    return caught.value.error


def milliseconds(call):
    start = time.monotonic()
    call()
    return (time.monotonic() - start) * 1000


@contextlib.contextmanager
def notified(config=CONF):
    """weir-cp and weir-notify, started, which have to end well; it is cp.notify. weir-mon may be played."""
    with Topology() as topo:
        topo.dir.chmod(0o755)
        cp = topo.add(Cp(topo.namespace("cp"), topo.dir, config))
        cp.daemon.arguments += ["--monitor-user", MONITOR_USER, "--notify-user", NOTIFY_USER]
        cp.notify = topo.add(Daemon(cp.ns, "weir-notify", [
            "--run-dir", topo.dir, "--state-dir", topo.dir / "state", "--user", NOTIFY_USER,
            "--script-user", "games"], topo.dir))
        cp.start()
        cp.notify.start()
        yield cp


@pytest.fixture
def cp():
    """weir-cp, not started."""
    with Topology() as topo:
        alone = Cp(topo.namespace("cp"), topo.dir)
        try:
            yield alone
        finally:
            if alone.daemon.process:
                alone.stop()
