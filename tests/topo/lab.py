# SPDX-License-Identifier: BSD-3-Clause
"""The lab that ./run starts: the picture of picture.py with four nginx servers, and real requests.

The part that holds namespaces and daemons is a child in a session of its own, so that Ctrl-C reaches the
parent alone and the daemons are stopped in order instead of being hit by the same signal.
"""
import argparse
import collections
import contextlib
import ctypes
import os
import pathlib
import secrets
import shutil
import signal
import socket
import sys
import threading
import time

from . import weirconf as wc
from .poll import wait_until
from .mgmt import Host, Mgmt
from .netns import STATE, clean_leftovers, remove_namespace
from .picture import VIRTUAL, server_address, standard
from .snmp import AGENT_USER, LTM, MIBS, Snmp
from .weir import ROOT, build_dir, program

PREFIX = "weir-lab"
DIRECTORY = pathlib.Path("/run/weir-lab")
PASSWORD_FILE = DIRECTORY / "initial-password"
COMMUNITY_FILE = DIRECTORY / "snmp-community"
MGMT_PORTS = range(8443, 8543)
SNMP_PORTS = range(1161, 1261)
RATIOS = (4, 3, 2, 1)
NAMES = tuple(f"s{number}" for number in range(1, len(RATIOS) + 1))
REQUESTS = 1000
REQUEST_SECONDS = 5.0
LIVE_CLIENTS, LIVE_PAUSE, LIVE_REPORT = 4, 0.08, 5.0
PR_SET_PDEATHSIG = 1


class Stopped(BaseException):
    """The lab was told to end."""


SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def on_signal(number, frame):
    ignore_signals()
    raise Stopped


def ignore_signals():
    """From now on everything is being stopped; a second Ctrl-C must not stop that."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def request(client, address):
    """One GET on a connection of its own; the name that the server gave itself, or "error"."""
    try:
        with client.connect((address, 80), REQUEST_SECONDS) as sock:
            host = f"[{address}]" if ":" in address else address
            sock.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: sock.recv(65536), b"")).decode(errors="replace")
    except OSError:
        return "error"
    head, _, body = answer.partition("\r\n\r\n")
    name = body.strip()
    return name if head.startswith("HTTP/1.1 200 ") and name in NAMES else "error"


def table(counts, family):
    """Rows of what each server should have answered and has; the last line tells the errors."""
    total = sum(counts.values())
    rows = [("server", "address", "ratio", "expected", "actual", "share")]
    for number, (name, ratio) in enumerate(zip(NAMES, RATIOS), 1):
        expected = total * ratio / sum(RATIOS)
        rows.append((name, wc.join(server_address(number, family), 80), str(ratio), f"{expected:.0f}",
                     str(counts[name]), f"{100 * counts[name] / total:.1f} %"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) if column < 2 else cell.rjust(width)
                       for column, (cell, width) in enumerate(zip(row, widths))) for row in rows]
    return "\n".join([*lines, f"{total} requests, {counts['error']} errors"])


def within_share(counts):
    """No error, and each server within 1 of its share."""
    total = sum(counts.values())
    return not counts["error"] and all(abs(counts[name] - total * ratio / sum(RATIOS)) <= 1
                                       for name, ratio in zip(NAMES, RATIOS))


def configuration(picture):
    """Pool and virtual server for each family: web (IPv4) and web6 (IPv6); one monitor watches all servers."""
    parts = [wc.monitor("http", "web-check", interval=2, timeout=7, send=r'"GET /health HTTP/1.0\r\n\r\n"',
                        recv=r'"\\nok"')]
    for family, suffix in ((4, ""), (6, "6")):
        parts.append(wc.pool(f"web{suffix}", picture.members(80, family, RATIOS), mode="ratio-member",
                             monitor="web-check"))
        parts.append(wc.virtual(f"web{suffix}", VIRTUAL[family], 80, f"web{suffix}"))
    return parts


def watched(weir):
    """New servers get nothing before they are known to be well."""
    wait_until(lambda: all(row["monitorStatus"] == "up" for pool in ("web", "web6")
                           for row in weir.show("ltm pool members", owner=pool)), "all servers are up", 15)


class Live:
    """A trickle of requests, and every few seconds a line that says who answered."""

    def __init__(self, client, address):
        self.client, self.address = client, address
        self.counts, self.lock = collections.Counter(), threading.Lock()

    def start(self):
        for _ in range(LIVE_CLIENTS):
            threading.Thread(target=self.send, daemon=True).start()

    def send(self):
        while True:
            name = request(self.client, self.address)
            with self.lock:
                self.counts[name] += 1
            time.sleep(LIVE_PAUSE)

    def report(self):
        with self.lock:
            counts, self.counts = self.counts, collections.Counter()
        total = sum(counts.values()) or 1
        shares = "  ".join(f"{name} {100 * counts[name] / total:5.1f} %" for name in NAMES)
        print(f"{time.strftime('%H:%M:%S')}  {shares}   {total} requests, {counts['error']} errors", flush=True)


def wrapper(weir):
    """A short way to this lab's weirsh, in the build directory."""
    path = build_dir() / "lab" / "weirsh"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\nexec {program('weirsh')} --run-dir {weir.run_dir} \"$@\"\n")
    path.chmod(0o755)
    return path


def free_port(ports, kind, program_name):
    """The first port of the host's loopback that nobody serves."""
    for port in ports:
        with socket.socket(type=kind) as sock, contextlib.suppress(OSError):
            if kind == socket.SOCK_STREAM:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"no port of 127.0.0.1 from {ports[0]} to {ports[-1]} is free for {program_name}")


def start_mgmt(topo):
    """weir-mgmt serves the host, where browsers and playbooks are."""
    run_dir = topo.picture.weir.run_dir
    run_dir.chmod(0o755)
    mgmt = Mgmt(Host(), run_dir, (("127.0.0.1", free_port(MGMT_PORTS, socket.SOCK_STREAM, "weir-mgmt")),))
    mgmt.start()
    return topo.add(mgmt)


def start_snmp(topo):
    """snmpd serves the host, with a community that nobody else knows."""
    weir, community = topo.picture.weir, secrets.token_hex(12)
    COMMUNITY_FILE.touch(0o600)
    COMMUNITY_FILE.write_text(community + "\n")
    weir.edit("create", f"sys snmp communities lab community-name {community}")
    port = free_port(SNMP_PORTS, socket.SOCK_DGRAM, "snmpd")
    snmp = topo.add(Snmp(Host(), weir.run_dir, community, f"udp:127.0.0.1:{port}"))
    snmp.start()
    return snmp


def advice(picture, weirsh, family, mgmt, snmp):
    shell = weirsh.relative_to(ROOT) if weirsh.is_relative_to(ROOT) else weirsh
    pool = "web" if family == 4 else "web6"
    first, second = (wc.join(server_address(number, family), 80) for number in (1, 2))
    in_s2 = f"ip netns exec {picture.servers[1]}"
    host = VIRTUAL[4] if family == 4 else f"[{VIRTUAL[6]}]"
    return f"""
The lab is up. In another terminal, from this directory, as root:

  a request from the client      ip netns exec {picture.client} curl http://{host}/
  pools and members              {shell} list ltm pool
                                 {shell} show ltm pool members
  connections                    {shell} show sys connection
  change a ratio                 {shell} modify ltm pool {pool} members modify {{ {first} {{ ratio 1 }} }}
  take a server out              {shell} modify ltm pool {pool} members modify {{ {second} {{ session user-disabled }} }}
  and back in                    {shell} modify ltm pool {pool} members modify {{ {second} {{ session user-enabled }} }}
  make s2 sick (its /health)     touch {picture.nginx[1].dir}/sick
  and well again                 rm {picture.nginx[1].dir}/sick
  stop its nginx, start it       kill $(cat {picture.nginx[1].dir}/nginx.pid)
                                 {in_s2} {' '.join(map(str, picture.nginx[1].argv()))} &
  pull its cable, put it back    ip -n {picture.lan} link set s2 down; ip -n {picture.lan} link set s2 up
  what the monitor says          {shell} show ltm monitor
  its drain before a restart     {shell} create ltm drain pool {pool} member {second} wait 60
  and back in                    {shell} delete ltm drain 1 enable
  logs                           ls {picture.weir.run_dir}
  weir.conf, scripts of checks   ls {picture.weir.conf_path.parent}
  the management API             curl -k -u admin:$(cat {PASSWORD_FILE}) {mgmt.url}/mgmt/tm/ltm/pool
  SNMP                           snmpwalk -v 2c -c $(cat {COMMUNITY_FILE}) -M {MIBS}:{MIBS}/base -m WEIR-LTM-MIB {snmp.address} {LTM}

{mgmt.url} takes the user admin; the password is in {PASSWORD_FILE}.

A sick server is out after 7 s; until then a pulled cable shows as errors below. Ctrl-C ends the lab and removes everything.
"""


def serve(args, topo):
    """Returns when told to by a signal, or with --once after the table: was everything as expected?"""
    family = 6 if args.ipv6 else 4
    address = VIRTUAL[family]
    picture = topo.picture
    picture.start_nginx()
    conf_dir = topo.dir / "etc"
    for folder in ("ssl", "external-monitors"):
        (conf_dir / folder).mkdir(parents=True)
    picture.start_weir(*configuration(picture), workers=args.workers, driver=args.port_driver, conf_dir=conf_dir,
                       notify=True,
                       cp_options=["--initial-password-file", PASSWORD_FILE, "--snmp-user", AGENT_USER])
    watched(picture.weir)
    print(f"sending {REQUESTS} requests to http://{wc.join(address, 80)} from {picture.client}", flush=True)
    counts = collections.Counter(request(picture.client, address) for _ in range(REQUESTS))
    print(table(counts, family), flush=True)
    if args.once:
        return within_share(counts)
    print(advice(picture, wrapper(picture.weir), family, start_mgmt(topo), start_snmp(topo)), flush=True)
    live = Live(picture.client, address)
    live.start()
    while True:
        time.sleep(LIVE_REPORT)
        live.report()


def lab(args):
    """Everything from the first namespace to the last; the exit status."""
    topo = standard(PREFIX, servers=len(RATIOS), directory=DIRECTORY)
    try:
        with topo:
            try:
                return 0 if serve(args, topo) else 1
            except Stopped:
                return 130 if args.once else 0
            finally:
                ignore_signals()
    finally:
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        shutil.rmtree(build_dir() / "lab", ignore_errors=True)


def child(args):
    """In a session of its own, ended with its parent."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    for number in SIGNALS:
        signal.signal(number, on_signal)
    try:
        status = lab(args)
    except Stopped:
        status = 130
    except (AssertionError, RuntimeError, OSError) as error:
        status = 1
        print(f"run: {error}", file=sys.stderr)
        if args.port_driver == "af_xdp" and "xdp" in str(error):
            print("run: does the kernel lack AF_XDP? Try --port-driver af_packet", file=sys.stderr)
    return status


def end_mgmt():
    """A killed lab's weir-mgmt and weir-snmp are in no namespace that would take them along."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if words[0].endswith((b"/weir-mgmt", b"/weir-snmp")) and str(DIRECTORY / "weir").encode() in words:
                os.kill(int(path.parent.name), signal.SIGKILL)


def remove_leftovers():
    """What killed runs left: topologies whose owner is gone, and a lab that even lost its lock file."""
    for prefix in clean_leftovers():
        print(f"removed what a killed run left behind ({prefix}-*)", flush=True)
    if (STATE / f"{PREFIX}.lock").exists():
        sys.exit("run: another lab is running on this machine; end it with Ctrl-C first")
    for path in pathlib.Path("/run/netns").glob(f"{PREFIX}-*"):
        remove_namespace(path.name)
    end_mgmt()
    shutil.rmtree(DIRECTORY, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="./run")
    parser.add_argument("--build", default="build")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--ipv6", action="store_true")
    parser.add_argument("--workers", type=int, default=1, choices=range(1, 17), metavar="1-16")
    parser.add_argument("--port-driver", default="af_xdp", choices=("af_xdp", "af_packet"))
    args = parser.parse_args()
    os.environ["WEIR_BUILD"] = str((ROOT / args.build).resolve())

    remove_leftovers()
    pid = os.fork()
    if pid == 0:
        status = child(args)
        sys.stdout.flush()
        os._exit(status)
    for number in SIGNALS:
        signal.signal(number, lambda *_: os.kill(pid, signal.SIGTERM))
    _, status = os.waitpid(pid, 0)
    if not args.once:
        print("the lab is stopped, its namespaces are removed", flush=True)
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
