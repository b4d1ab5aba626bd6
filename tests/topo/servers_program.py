# SPDX-License-Identifier: BSD-3-Clause
"""A server program in a namespace, and the ways in which it goes down: killed, frozen, deaf."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess

from .poll import wait_until

SILENCE = ("add table inet deaf; "
           "add chain inet deaf in { type filter hook input priority 0; policy drop; }; "
           "add chain inet deaf out { type filter hook output priority 0; policy drop; }")


def descendants(pid):
    """pid and every process below it; those that are gone meanwhile are left out."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = path.read_text().rsplit(")", 1)[1].split()[1]
            children.setdefault(int(parent), []).append(int(path.parent.name))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found


def send(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def deaf(ns, yes=True):
    """The namespace drops every IP packet that comes or would go; ARP is answered still."""
    if yes:
        ns.run(["nft", SILENCE])
    else:
        ns.run(["nft", "delete table inet deaf"], check=False)


class Program:
    """What all server programs can do. A kind of server gives prepare(), argv() and ready().

    ns, name: its namespace and the name by which its answers tell it.
    address:  (host, port).
    user:     runs as this user, who owns its directory; its port is above 1023 then.
    """

    kind = "program"
    user = None
    start_seconds = 10.0

    def __init__(self, ns, name, address, directory):
        self.ns, self.name, self.address = ns, name, address
        self.dir = pathlib.Path(directory) / f"{self.kind}-{name}-{address[1]}"
        self.dir.mkdir(parents=True)
        self.log = self.dir / "stderr.log"
        self.process = None
        self.prepare()
        self.start()

    def prepare(self):
        """Writes configuration and data, once."""

    def argv(self):
        raise NotImplementedError

    def ready(self):
        """True once it serves; OSError or AssertionError while it does not."""
        self.ns.connect(self.address, 1.0).close()
        return True

    def start(self, wait=True):
        """Starts it, and waits until it serves."""
        if self.user:
            for path in [self.dir, *self.dir.rglob("*")]:
                shutil.chown(path, self.user)
        identity = {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid, "extra_groups": []} if self.user else {}
        # Entered here and not by "ip netns exec", so that the program may be another user's.
        with self.ns.entered(), open(self.log, "ab") as log:
            self.process = subprocess.Popen([str(word) for word in self.argv()], cwd=self.dir, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True, **identity)
        if wait:
            self.wait_ready()

    def wait_ready(self):
        wait_until(self._ready, f"{self.kind} {self.name} serves; see {self.log}", self.start_seconds, 0.05)

    def _ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.kind} {self.name} ended: {self.log.read_text(errors='replace')[-2000:]}")
        return self.ready()

    def running(self):
        return self.process is not None and self.process.poll() is None

    def freeze(self):
        """SIGSTOP: the kernel goes on accepting for it, nothing is answered."""
        self._frozen = self._stop_all()

    def thaw(self):
        send(self._frozen, signal.SIGCONT)

    def _stop_all(self):
        """Stops it and its children, until there is no new child; their ids."""
        stopped = []
        while more := [pid for pid in descendants(self.process.pid) if pid not in stopped]:
            send(more, signal.SIGSTOP)
            stopped += more
        return stopped

    def kill(self):
        """kill -9 of all its processes: its connections are reset, its port refuses."""
        if self.running():
            send(self._stop_all(), signal.SIGKILL)
            self.process.wait(10)

    def deaf(self, yes=True):
        """Its namespace drops every packet."""
        deaf(self.ns, yes)

    def stop(self):
        self.kill()
