# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp's side of notify.sock, played by a test: settings, a journal, reports; weir-notify and receivers around it."""
import json
import os
import pwd
import socket
import struct
import threading

import pytest

from topo import Topology, wait_until
from topo.weir import Daemon

USER = "nobody"
TIME = 1_700_000_000_000_042


class FakeNotifyCp:
    """Records are numbered from 1 on; oldest is the first that is still there."""

    def __init__(self, run_dir):
        self.path = run_dir / "notify.sock"
        self.records, self.first, self.limit_max = [], 1, 1000
        self.receivers, self.reports, self.tested, self.asked = [], {}, {}, []
        self.lock = threading.RLock()
        self.peers, self.settings_peers, self.followers = [], [], []
        self.open()

    def open(self):
        self.path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        os.chown(self.path, pwd.getpwnam(USER).pw_uid, -1)
        self.listener.listen()
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            self.peers.append(peer)
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        try:
            stream = peer.makefile("rb")
            while head := stream.read(4):
                self._request(peer, json.loads(stream.read(struct.unpack("!I", head)[0])))
        except (OSError, ValueError, struct.error):
            pass

    def _send(self, peer, request, **message):
        if "id" in request:
            message["id"] = request["id"]
        body = json.dumps(message).encode()
        try:
            peer.sendall(struct.pack("!I", len(body)) + body)
        except OSError:
            pass

    def _request(self, peer, request):
        with self.lock:
            self.asked.append(request)
            if request["op"] == "notify-settings":
                self.settings_peers.append(peer)
                self._send(peer, request, rows=[{"host": "lb1", "receivers": self.receivers}])
            elif request["op"] == "notify-report":
                self.reports = {row["name"]: row for row in request["receivers"]}
                self.tested.update({row["number"]: row for row in request.get("tested", [])})
                self._send(peer, request, result={})
            elif request.get("follow"):
                self.followers.append(peer)
                rows = [row for row in self.records if row["seq"] > request["after"]]
                if rows:
                    self._send(peer, request, rows=rows)
            else:
                self._log(peer, request)

    def _log(self, peer, request):
        last = len(self.records)
        if "after" not in request:
            self._send(peer, request, result={"last": last, "oldest": self.first, "next": 0, "gone": 0})
            return
        after = request["after"]
        gone = max(0, self.first - 1 - after)
        rows = self.records[after + gone:after + gone + min(request["limit"], self.limit_max)]
        for at in range(0, len(rows), 50):
            self._send(peer, request, rows=rows[at:at + 50])
        self._send(peer, request, result={"last": last, "oldest": self.first, "gone": gone,
                                          "next": rows[-1]["seq"] if rows else after + gone})

    def close(self):
        """weir-cp dies: connections and socket are gone."""
        for end in [self.listener, *self.peers]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
        self.peers, self.settings_peers, self.followers = [], [], []

    # What a test says
    def configure(self, *receivers):
        with self.lock:
            self.receivers = [{"level": "notice", "modules": [], **one} for one in receivers]
            for peer in self.settings_peers:
                self._send(peer, {}, rows=[{"host": "lb1", "receivers": self.receivers}])

    def ask_test(self, name, number):
        with self.lock:
            for peer in self.settings_peers:
                self._send(peer, {}, rows=[{"test": {"receiver": name, "number": number}}])

    def write(self, count=1, **fields):
        """So many records, written as one."""
        with self.lock:
            before = len(self.records)
            for seq in range(before + 1, before + count + 1):
                self.records.append({"seq": seq, "time": TIME + seq, "id": "01070638", "level": "notice",
                                     "module": "ltm", "type": "state", "kind": "ltm pool members",
                                     "object": "/Common/a:80", "owner": "/Common/web",
                                     "text": f"Event number {seq}.", **fields})
            for peer in self.followers:
                self._send(peer, {}, rows=self.records[before:])

    def delete_before(self, seq):
        self.first = seq

    # What a test asks
    def report(self, name, what):
        return self.reports.get(name, {}).get(what)

    def wait_delivered(self, name, seq=None, seconds=20):
        wanted = len(self.records) if seq is None else seq
        wait_until(lambda: (self.report(name, "delivered") or 0) >= wanted,
                   lambda: f"{name} has all up to {wanted}: {self.reports.get(name)}", seconds)


class Lab:
    """weir-notify and its receivers in one namespace."""

    def __init__(self, top, cp=FakeNotifyCp, options=()):
        self.top, self.ns = top, top.namespace("notify")
        self.dir = top.dir
        self.run_dir, self.state_dir = top.dir / "run", top.dir / "state"
        self.run_dir.mkdir(mode=0o755)
        self.cp = cp(self.run_dir)
        self.daemon = Daemon(self.ns, "weir-notify", ["--run-dir", self.run_dir, "--state-dir", self.state_dir,
                                                      "--user", USER, *options], top.dir)

    def start(self):
        before = len(self.cp.followers)
        self.daemon.start()
        wait_until(lambda: len(self.cp.followers) > before or not self.daemon.running(), "it follows the journal", 15)
        self.daemon.check_running()

    def receive(self, *receivers):
        """They are configured, and begin here."""
        self.cp.configure(*receivers)
        wait_until(lambda: all(one["name"] in self.cp.reports for one in receivers), "the receivers are known", 10)


@pytest.fixture
def lab():
    with Topology() as top:
        made = Lab(top)
        made.start()
        top.add(made.daemon)
        yield made
        made.daemon.check_running()
    made.cp.close()
