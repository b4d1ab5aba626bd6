# SPDX-License-Identifier: BSD-3-Clause
"""Weir's own daemons, started as plain children in a namespace and judged when they stop."""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess

from .poll import DeadlineError, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {"weir-dp": "dataplane/main/weir-dp", "weir-cp": "controlplane/main/weir-cp",
            "weir-mon": "controlplane/monitor/weir-mon",
            "weir-notify": "controlplane/notify/weir-notify", "weir-mgmt": "mgmt/main/weir-mgmt",
            "weirsh": "mgmt/cli/weirsh"}
SANITIZER = re.compile(r"AddressSanitizer|LeakSanitizer|UndefinedBehaviorSanitizer|runtime error:|"
                       r"ThreadSanitizer")


MONITOR_USER = "nobody"  # weir-mon's, and its scripts'
MGMT_USER = "www-data"  # weir-mgmt's
NOTIFY_USER = "irc"  # weir-notify's
STOP_SECONDS = 20  # for a daemon's clean end after SIGTERM


class DaemonFault(RuntimeError):
    """A daemon ended when it should not, badly, or with a sanitizer's report."""


class ApiError(AssertionError):
    """weir-cp refused a request; code and reason as in docs/local-api.md."""

    def __init__(self, error):
        super().__init__(error.get("text") or error.get("reason"))
        self.code, self.error = error.get("code"), error


def _read(sock, length):
    data = b""
    while len(data) < length:
        piece = sock.recv(length - len(data))
        if not piece:
            raise ConnectionError("weir-cp closed the connection")
        data += piece
    return data


def build_dir():
    """The build directory: WEIR_BUILD, default "build" at the top of the tree."""
    return pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build")).resolve()


def program(name):
    """Path of one of Weir's programs in the build directory."""
    known = build_dir() / PROGRAMS.get(name, name)
    if known.exists():
        return known
    for path in build_dir().glob(f"**/{name}"):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"{name} is not built in {build_dir()}")


class Daemon:
    """One process with its log; stop() checks how it ended."""

    def __init__(self, ns, name, arguments, log_dir):
        self.ns, self.name, self.arguments = ns, name, [str(word) for word in arguments]
        self.log = pathlib.Path(log_dir) / f"{name}.log"
        self.process = None

    def start(self):
        environment = {**os.environ, "ASAN_OPTIONS": f"detect_leaks=1:exitcode=99:{os.environ.get('ASAN_OPTIONS', '')}",
                       "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99"}
        with open(self.log, "ab") as log:
            self.process = self.ns.popen([program(self.name), *self.arguments], env=environment,
                                         stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process is not None and self.process.poll() is None

    def check_running(self):
        if not self.running():
            status = self.process.returncode if self.process else "never started"
            raise DaemonFault(f"{self.name} is not running ({status}); log:\n{self.text()[-4000:]}")

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def kill(self):
        """kill -9, and waits for the end."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self):
        """SIGTERM; raises DaemonFault unless it ends by itself with 0 and without a report."""
        if self.process is None or self.process.returncode == -signal.SIGKILL:
            return
        faults = []
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                faults.append(f"did not end within {STOP_SECONDS} s after SIGTERM")
        elif self.process.returncode == 0:
            faults.append("had ended before it was told to")
        if self.process.returncode:
            faults.append(f"ended with {self.process.returncode}")
        text = self.text()
        if SANITIZER.search(text):
            faults.append("left a sanitizer report")
        if faults:
            raise DaemonFault(f"{self.name} {', '.join(faults)}; log:\n{text[-6000:]}")


class Weir:
    """weir-dp, weir-cp, weir-mon and weir-notify with one configuration.

    ns:       namespace holding the port interfaces; the kernel taps are made there.
    run_dir:  sockets, weir.conf, the store and logs.
    config:   text of weir.conf (see weirconf.py).
    ports:    {"1.1": "p1"}: LTM interface name -> kernel interface.
    driver:   "af_xdp" or "af_packet".
    idle:     "backoff" or "poll".  flows: most flows per worker.
    monitor:  with weir-mon (self.mon); None: if the configuration names a monitor.
    notify:   with weir-notify (self.notify).
    conf_dir: of weir.conf and the scripts of monitors, which do not see the run directory; default run_dir.
    dp_options, cp_options: more arguments.
    """

    def __init__(self, ns, run_dir, config, ports, workers=1, idle="backoff", driver="af_xdp",
                 flows=16384, dp_options=(), cp_options=(), start=True, monitor=None, conf_dir=None,
                 notify=False):
        self.ns, self.run_dir = ns, pathlib.Path(run_dir)
        self.run_dir.mkdir(parents=True, exist_ok=True)
        self.conf_path = pathlib.Path(conf_dir or self.run_dir) / "weir.conf"
        self.conf_path.write_text(config)
        self.store = self.run_dir / "store"
        devices = []
        for name, interface in ports.items():
            ns.hide_from_kernel(interface)
            devices += ["--port", f"{name}=net_{driver},iface={interface}"]
        self.dp = Daemon(ns, "weir-dp", ["--run-dir", self.run_dir, "--workers", workers,
                                         "--idle", idle, "--flows", flows, *devices, *dp_options],
                         self.run_dir)
        self.cp = Daemon(ns, "weir-cp", ["--run-dir", self.run_dir, "--config", self.conf_path,
                                         "--store", self.store, "--monitor-user", MONITOR_USER,
                                         "--mgmt-user", MGMT_USER, "--notify-user", NOTIFY_USER, *cp_options],
                         self.run_dir)
        self.mon = None
        if monitor or (monitor is None and re.search(r"^\s*(monitor|rule) (?!none|default)", config, re.MULTILINE)):
            self.run_dir.chmod(0o755)  # for a user that is not root
            self.mon = Daemon(ns, "weir-mon", ["--run-dir", self.run_dir, "--user", MONITOR_USER,
                                               "--script-user", MONITOR_USER], self.run_dir)
        self.notify = None
        if notify:
            self.run_dir.chmod(0o755)
            self.notify = Daemon(ns, "weir-notify", ["--run-dir", self.run_dir, "--state-dir",
                                                     self.run_dir / "notify", "--user", NOTIFY_USER], self.run_dir)
        if start:
            try:
                self.start()
            except BaseException:
                self.abandon()
                raise

    def start(self, seconds=20):
        """Starts both and waits until the configuration is in force in the dataplane."""
        self.start_dp(wait=False)
        self.start_cp(wait=False)
        if self.mon:
            self.start_mon(wait=False)
        if self.notify:
            self.notify.start()
        self.wait_ready(seconds)

    def start_dp(self, wait=True):
        self.dp.start()
        if wait:
            self.wait_ready()

    def start_cp(self, wait=True):
        self.cp.start()
        if wait:
            self.wait_ready()

    def start_mon(self, wait=True):
        self.mon.start()
        if wait:
            wait_until(self._monitoring, "weir-mon is connected", 15)

    def _monitoring(self):
        self.mon.check_running()
        return self.status()["monitoring"] == "running"

    def wait_ready(self, seconds=20):
        """Until weir-cp answers and says that the dataplane runs its generation."""
        try:
            wait_until(self._ready, "Weir is ready", seconds)
        except DeadlineError as error:
            raise DeadlineError(f"{error}\nweir-dp: {self.dp.text()[-3000:]}\n"
                                f"weir-cp: {self.cp.text()[-3000:]}") from None

    def _ready(self):
        self.dp.check_running()
        self.cp.check_running()
        with contextlib.suppress(ApiError):
            status = self.status()
            return (status["dataplane"]["connected"]
                    and status["dataplane"]["generation"] == status["generation"]
                    and (self.mon is None or not self.mon.running() or status["monitoring"] == "running"))
        return False

    def weirsh_run(self, *words, stdin=None, timeout=30):
        """weirsh WORDS...; the finished process. One string is split at blanks."""
        if len(words) == 1:
            words = words[0].split()
        return self.ns.run([program("weirsh"), "--run-dir", self.run_dir, *words], check=False,
                           input=stdin, timeout=timeout)

    def weirsh(self, *words, stdin=None, timeout=30):
        """weirsh WORDS...; its output; AssertionError with its message if it fails."""
        done = self.weirsh_run(*words, stdin=stdin, timeout=timeout)
        assert done.returncode == 0, f"weirsh {' '.join(words)}: {done.stderr}{done.stdout}"
        return done.stdout

    def ask(self, op, **arguments):
        """One request to weir-cp (docs/local-api.md): (rows, result); ApiError if refused."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(30)
            sock.connect(str(self.run_dir / "cp.sock"))
            body = json.dumps({"op": op, **arguments}).encode()
            sock.sendall(struct.pack("!I", len(body)) + body)
            rows = []
            while True:
                answer = json.loads(_read(sock, struct.unpack("!I", _read(sock, 4))[0]))
                rows += answer.get("rows", [])
                if "error" in answer:
                    raise ApiError(answer["error"])
                if "result" in answer:
                    return rows, answer["result"]

    def show(self, what, **arguments):
        """Rows of "show": show("ltm pool members", owner="web"), show("sys connection", filter={})."""
        return self.ask("show", what=what, **arguments)[0]

    def edit(self, verb, text):
        """A commit by LTM's words, as fast as weir-cp takes it: edit("modify", "ltm node a ratio 3")."""
        return self.ask("edit", verb=verb, text=text)[1]

    def status(self):
        return self.show("sys status")[0]

    def drops(self):
        """{reason: packets} dropped over all workers, zeros left out."""
        return {row["reason"]: row["packets"] for row in self.show("sys drop") if row["packets"]}

    def counter(self, name):
        """Sum of a worker counter ("resets-sent") over all workers."""
        return sum(row[name] for row in self.show("sys worker"))

    def connections(self, **filters):
        """Rows of the flow table; filters as "cs_client_addr" or "protocol"."""
        return self.show("sys connection",
                         filter={key.replace("_", "-"): value for key, value in filters.items()})

    def member(self, pool, name, what):
        """One value of a pool member's state and statistics; name as "10.0.2.11:80"."""
        for row in self.show("ltm pool members", owner=pool):
            if row["name"].rsplit("/", 1)[-1] == name:
                return row[what]
        raise KeyError(f"{pool} has no member {name}")

    def kill_cp(self):
        self.cp.kill()

    def kill_dp(self):
        self.dp.kill()

    def kill_mon(self):
        self.mon.kill()

    def daemons(self):
        return [daemon for daemon in (self.notify, self.mon, self.cp, self.dp) if daemon]

    def abandon(self):
        """Ends all without judging them."""
        for daemon in self.daemons():
            if daemon.running():
                daemon.kill()

    def stop(self):
        """Ends all; DaemonFault if one of them ended badly."""
        faults = []
        for daemon in self.daemons():
            try:
                daemon.stop()
            except DaemonFault as fault:
                faults.append(str(fault))
        if faults:
            raise DaemonFault("\n".join(faults))
