# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp's side of mon.sock, played by a test, and weir-mon beside servers that the test can hurt.

    weir-mon (10.0.2.1) --- veth --- servers (10.0.2.11, .12, ...)
"""
import json
import os
import pwd
import socket
import struct
import threading
import time

import pytest

from topo import Topology, wait_until
from topo.weir import Daemon

SERVER = "10.0.2.11"
SERVERS = [f"10.0.2.{n}" for n in range(11, 21)]
FAST = {"interval": 1, "timeout": 4}


class FakeMonCp:
    """Records what weir-mon says. verdicts[(object, monitor)]: list of messages, in order."""

    def __init__(self, run_dir, user=None):
        self.path = run_dir / "mon.sock"
        self.user = user
        self.monitors, self.instances = {}, {}
        self.verdicts, self.messages, self.connections = {}, [], 0
        self.rows, self.rows_done = {}, set()
        self.peer = self.listener = None
        self.lock = threading.Lock()
        self.open()

    def open(self):
        self.path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        if self.user:
            os.chown(self.path, pwd.getpwnam(self.user).pw_uid, -1)
        self.listener.listen()
        threading.Thread(target=self._serve, args=(self.listener,), daemon=True).start()

    def _serve(self, listener):
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            self.peer = peer
            try:
                stream = peer.makefile("rb")
                while head := stream.read(4):
                    self._message(json.loads(stream.read(struct.unpack("!I", head)[0])))
            except (OSError, ValueError):
                pass

    def _message(self, message):
        if message["type"] == "stats":
            self.rows.setdefault(message["request"], []).extend(message["rows"])
            return
        if message["type"] == "stats-end":
            self.rows_done.add(message["request"])
            return
        if message["type"] == "verdict":
            self.verdicts.setdefault((message["object"], message["monitor"]), []).append(message)
        self.messages.append(message)
        if message["type"] == "hello":
            self.connections += 1
            self.sync()

    def sync(self):
        self.send({"type": "sync-begin"}, *self.monitors.values(), *self.instances.values(), {"type": "sync-end"})

    def send(self, *messages):
        data = b""
        for message in messages:
            body = message if isinstance(message, bytes) else json.dumps(message).encode()
            data += struct.pack("!I", len(body)) + body
        with self.lock:
            if self.peer:
                self.peer.sendall(data)

    def drop(self):
        """weir-cp dies: connection and socket are gone."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        if self.peer:
            self.peer.shutdown(socket.SHUT_RDWR)
            self.peer.close()
        self.peer = None

    close = drop

    # What a test says
    def monitor(self, ident, kind, **fields):
        message = {"type": "monitor", "id": ident, "name": f"/Common/m{ident}", "kind": kind,
                   **{key.replace("_", "-"): value for key, value in fields.items()}}
        self.monitors[ident] = message
        self.send(message)

    def instance(self, obj, monitor, address=SERVER, port=80, **more):
        message = {"type": "instance", "object": obj, "monitor": monitor, "address": address, "port": port,
                   **{key.replace("_", "-"): value for key, value in more.items()}}
        self.instances[obj, monitor] = message
        self.send(message)

    # What a test asks
    def verdict(self, obj=1, monitor=1):
        said = self.verdicts.get((obj, monitor))
        return said[-1]["verdict"] if said else None

    def reason(self, obj=1, monitor=1):
        return self.verdicts[obj, monitor][-1]["reason"]

    def history(self, obj=1, monitor=1):
        return [message["verdict"] for message in self.verdicts.get((obj, monitor), [])]

    def wait(self, verdict, obj=1, monitor=1, seconds=8.0):
        """Waits for the verdict; returns the seconds it took."""
        start = time.monotonic()
        wait_until(lambda: self.verdict(obj, monitor) == verdict,
                   lambda: f"({obj}, {monitor}) is {verdict}; said: {self.history(obj, monitor)}", seconds)
        return time.monotonic() - start

    def of_type(self, kind):
        return [message for message in self.messages if message["type"] == kind]

    def stats(self, **select):
        number = len(self.rows_done) + 1
        self.send({"type": "stats", "request": number, **select})
        wait_until(lambda: number in self.rows_done, "statistics", 20)
        return self.rows.pop(number, [])

    def stat(self, obj=1, monitor=1):
        return self.stats(object=obj, monitor=monitor)[0]


class Lab:
    def __init__(self, top, user):
        self.top = top
        self.weir, self.far = top.namespace("mon"), top.namespace("srv")
        top.veth(self.weir, "m0", self.far, "s0")
        self.weir.address("m0", "10.0.2.1/24", "fd00:2::1/64")
        self.far.address("s0", *(f"{address}/24" for address in SERVERS), "fd00:2::11/64")
        self.run_dir = top.dir / "run"
        self.run_dir.mkdir(mode=0o755)
        self.cp = FakeMonCp(self.run_dir, user)
        arguments = ["--run-dir", self.run_dir] + (["--user", user] if user else [])
        self.daemon = Daemon(self.weir, "weir-mon", arguments, top.dir)

    def start(self):
        self.daemon.start()
        seen = self.cp.connections
        wait_until(lambda: self.cp.connections > seen or not self.daemon.running(), "weir-mon says hello", 15)
        self.daemon.check_running()

    def restart(self, kill=True):
        if kill:
            self.daemon.kill()
        else:
            self.daemon.stop()
        self.start()


@pytest.fixture
def lab():
    with Topology() as top:
        made = Lab(top, "nobody")
        made.start()
        top.add(made.daemon)
        yield made
        made.daemon.check_running()
    made.cp.close()


@pytest.fixture
def cp(lab):
    return lab.cp
