# SPDX-License-Identifier: BSD-3-Clause
"""Private network namespaces, veth pairs, and their removal, also after a killed run."""
import contextlib
import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from .poll import wait_until

STATE = pathlib.Path("/run/weir-topo")
XDP_STATE = pathlib.Path("/run/xdp")  # libxdp makes it when a port of kind af_xdp is opened
CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def _namespaces():
    return [line.split()[0] for line in _ip("netns", "list").splitlines() if line.strip()]


def _setns(fd):
    if _libc.setns(fd, CLONE_NEWNET):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


class Namespace:
    """A network namespace with its loopback up. Made by Topology.namespace()."""

    def __init__(self, name):
        self.name = name
        _ip("netns", "add", name)
        self.ip("link", "set", "lo", "up")

    def __str__(self):
        return self.name

    def ip(self, *words):
        """ip -n NAME WORDS...; returns what it prints."""
        return _ip("-n", self.name, *(str(w) for w in words))

    def sysctl(self, key, value):
        """Sets a sysctl of this namespace; key with dots or slashes, without proc path."""
        self.run(["sysctl", "-qw", f"{key}={value}"])

    def command(self, argv):
        """argv as it must be run to be inside."""
        return ["ip", "netns", "exec", self.name, *(str(word) for word in argv)]

    def run(self, argv, check=True, timeout=60, **options):
        """subprocess.run inside; output captured as text; raises with stderr if check and it fails."""
        options = {"capture_output": True, "text": True, "timeout": timeout, **options}
        done = subprocess.run(self.command(argv), **options)
        if check and done.returncode:
            raise RuntimeError(f"{self.name}: {' '.join(map(str, argv))} ended with {done.returncode}: "
                               f"{done.stderr}{done.stdout}")
        return done

    def popen(self, argv, **options):
        """subprocess.Popen inside; its pid is the command's own."""
        return subprocess.Popen(self.command(argv), **options)

    @contextlib.contextmanager
    def entered(self):
        """The calling thread is inside; sockets opened meanwhile belong to this namespace for good."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        try:
            _setns(there)
            try:
                yield self
            finally:
                _setns(home)
        finally:
            os.close(there)
            os.close(home)

    def socket(self, family=socket.AF_INET, kind=socket.SOCK_STREAM, proto=0):
        """A socket of this namespace, usable from any thread of the test."""
        with self.entered():
            return socket.socket(family, kind, proto)

    def connect(self, address, timeout=5.0, source=None):
        """A connected TCP socket. address, source: (host, port)."""
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        sock = self.socket(family)
        sock.settimeout(timeout)
        try:
            if source:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.bind(source)
            sock.connect(address)
        except BaseException:
            sock.close()
            raise
        return sock

    def address(self, interface, *addresses):
        """Gives the interface addresses with prefix ("10.0.1.1/24", "fd00:1::1/64"), without DAD."""
        for address in addresses:
            extra = ["nodad"] if ":" in address else []
            self.ip("addr", "add", address, "dev", interface, *extra)

    def route(self, network, via=None, dev=None):
        """network: prefix or "default"."""
        words = (["via", via] if via else []) + (["dev", dev] if dev else [])
        family = ["-6"] if ":" in network + str(via or "") else []
        _ip(*family, "-n", self.name, "route", "replace", network, *words)

    def mac(self, interface):
        """The interface's hardware address, as text."""
        return self.run(["cat", f"/sys/class/net/{interface}/address"]).stdout.strip()

    def offload_off(self, interface):
        """Frames leave with finished checksums, in wire size, tags in the data."""
        self.run(["ethtool", "-K", interface, "tx", "off", "tso", "off", "gso", "off", "gro", "off",
                  "txvlan", "off", "rxvlan", "off"])

    def hide_from_kernel(self, interface):
        """The kernel neither answers nor forwards what arrives, nor speaks by itself.

        Packet sockets see a frame before this hook, and XDP before both, so a DPDK port of either kind
        still receives everything.
        """
        self.sysctl(f"net.ipv6.conf.{interface}.disable_ipv6", 1)
        self.ip("link", "set", "dev", interface, "arp", "off")
        rules = (f"add table netdev weir; add chain netdev weir {interface} "
                 f"{{ type filter hook ingress device {interface} priority 0; policy drop; }}")
        self.run(["nft", rules])

    def bridge(self, name="br0", interfaces=()):
        """A learning switch without spanning tree over interfaces of this namespace."""
        self.ip("link", "add", "name", name, "type", "bridge", "stp_state", 0, "mcast_snooping", 0)
        self.sysctl(f"net.ipv6.conf.{name}.disable_ipv6", 1)
        for interface in interfaces:
            self.ip("link", "set", "dev", interface, "master", name)
        self.ip("link", "set", "dev", name, "up")

    def pids(self):
        return [int(word) for word in _ip("netns", "pids", self.name).split()]

    def destroy(self):
        """Ends what still runs inside and removes the namespace."""
        remove_namespace(self.name)


def remove_namespace(name):
    """Ends what runs inside the namespace and deletes it; nothing if there is none."""
    if name not in _namespaces():
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        pids = [int(word) for word in _ip("netns", "pids", name).split()]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        if not pids:
            break
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not _ip("netns", "pids", name).split(), f"{name} is empty", 2.0)
    _ip("netns", "del", name)


class Topology:
    """Namespaces with one prefix, and whatever is stopped and removed with them.

    prefix: starts with "weir-"; also the lock's name, so one living topology per prefix.
    dir: a pathlib.Path for logs, sockets and files, removed at the end (kept if keep_dir is set).
    """

    def __init__(self, prefix=None, directory=None):
        clean_leftovers()
        self.prefix = prefix or f"weir-t{os.getpid()}-{Topology._next()}"
        if not self.prefix.startswith("weir-"):
            raise ValueError(f"prefix {self.prefix}: must start with weir-")
        STATE.mkdir(exist_ok=True)  # gone again with the last topology
        self._xdp_state = XDP_STATE.exists()
        self._lock_path = STATE / f"{self.prefix}.lock"
        self._lock = open(self._lock_path, "w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise RuntimeError(f"topology {self.prefix} is running already") from None
        self.keep_dir = directory is not None
        self.dir = pathlib.Path(directory or tempfile.mkdtemp(prefix=f"{self.prefix}-"))
        self.dir.mkdir(parents=True, exist_ok=True)
        self.dir.chmod(0o755)
        self._lock.write(str(self.dir) if not self.keep_dir else "")
        self._lock.flush()
        self._namespaces = []
        self._added = []

    _count = 0
    _count_lock = threading.Lock()

    @classmethod
    def _next(cls):
        with cls._count_lock:
            cls._count += 1
            return cls._count

    def namespace(self, name):
        """A new namespace PREFIX-name."""
        ns = Namespace(f"{self.prefix}-{name}")
        self._namespaces.append(ns)
        return ns

    def veth(self, ns_a, if_a, ns_b, if_b, mtu=1500, mac_a=None, mac_b=None):
        """A cable: interface if_a in ns_a and if_b in ns_b, both up and with offloads off."""
        _ip("link", "add", "name", if_a, "netns", ns_a.name, "mtu", str(mtu), "type", "veth",
            "peer", "name", if_b, "netns", ns_b.name, "mtu", str(mtu))
        for ns, interface, mac in ((ns_a, if_a, mac_a), (ns_b, if_b, mac_b)):
            if mac:
                ns.ip("link", "set", "dev", interface, "address", mac)
            ns.offload_off(interface)
            ns.ip("link", "set", "dev", interface, "up")

    def add(self, thing):
        """Registers something with stop(); it is stopped before the namespaces go, last added first."""
        self._added.append(thing)
        return thing

    def close(self):
        """Stops everything; the first fault met is raised after all is removed."""
        fault = None
        for thing in reversed(self._added):
            try:
                thing.stop()
            except Exception as error:  # every part must get its stop
                fault = fault or error
        for ns in reversed(self._namespaces):
            ns.destroy()
        self._added, self._namespaces = [], []
        if not self.keep_dir:
            shutil.rmtree(self.dir, ignore_errors=True)
        self._lock_path.unlink(missing_ok=True)
        self._lock.close()
        with contextlib.suppress(OSError):
            STATE.rmdir()
        if not self._xdp_state:
            with contextlib.suppress(OSError):
                XDP_STATE.rmdir()
        if fault:
            raise fault

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        try:
            self.close()
        except Exception:
            if kind is None:
                raise


def clean_leftovers():
    """Removes namespaces, processes in them and directories of topologies whose owner is gone.

    Returns the prefixes that were cleaned. A living owner holds the lock of its prefix.
    """
    cleaned = []
    for path in sorted(STATE.glob("weir-*.lock")) if STATE.is_dir() else []:
        with contextlib.suppress(FileNotFoundError), open(path, "r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if not path.exists():
                continue
            prefix = path.name[:-len(".lock")]
            for name in _namespaces():
                if name.startswith(prefix + "-"):
                    remove_namespace(name)
            directory = lock.read().strip()
            if directory.startswith(tempfile.gettempdir() + f"/{prefix}-"):
                shutil.rmtree(directory, ignore_errors=True)
            path.unlink(missing_ok=True)
            cleaned.append(prefix)
    return cleaned
