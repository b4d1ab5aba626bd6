# SPDX-License-Identifier: BSD-3-Clause
"""Clients of the tests: HTTP over a connection per request, UDP, echo, load."""
import collections
import concurrent.futures
import dataclasses
import re
import signal
import socket


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def server(self):
        """Name of the server that answered."""
        return self.headers.get("x-server")

    @property
    def echo(self):
        """The lines of /echo: {"client": ..., "port": ...}."""
        return dict(line.split(" ", 1) for line in self.body.decode().splitlines())


def http_get(ns, host, port=80, path="/", source=None, timeout=10.0):
    """One request over one connection; OSError or ValueError if it fails."""
    sock = ns.connect((host, port), timeout, source)
    with sock:
        shown = f"[{host}]" if ":" in host else host
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {shown}\r\nConnection: close\r\n\r\n".encode())
        raw = b"".join(iter(lambda: sock.recv(1 << 18), b""))
    return parse(raw)


def parse(raw):
    head, mark, body = raw.partition(b"\r\n\r\n")
    if not mark:
        raise ValueError(f"answer ended early: {raw[:80]!r}")
    lines = head.decode("latin-1").split("\r\n")
    headers = dict((name.lower(), value.strip()) for name, value in
                   (line.split(":", 1) for line in lines[1:]))
    if len(body) != int(headers.get("content-length", len(body))):
        raise ValueError(f"body of {len(body)} bytes instead of {headers['content-length']}")
    return Answer(int(lines[0].split()[1]), headers, body)


class Burst:
    """What came of many requests: order (server names as answered), counts, errors (texts)."""

    def __init__(self):
        self.order, self.errors = [], []

    @property
    def counts(self):
        return collections.Counter(self.order)


def http_burst(ns, host, count, port=80, parallel=1, path="/", stop=None):
    """count requests, one connection each; parallel > 1 keeps that many under way.

    stop: an Event; once set, what is left is not sent.
    """
    burst = Burst()

    def one(_):
        if stop and stop.is_set():
            return
        try:
            answer = http_get(ns, host, port, path)
            if answer.status != 200:
                raise ValueError(f"status {answer.status}")
            burst.order.append(answer.server)
        except (OSError, ValueError) as error:
            burst.errors.append(repr(error))

    if parallel == 1:
        for number in range(count):
            one(number)
    else:
        with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
            list(pool.map(one, range(count)))
    return burst


def udp_ask(ns, host, port, data=b"ask", source=None, timeout=3.0):
    """Sends a datagram from a socket of its own; (server name, address and port it saw, echoed bytes)."""
    sock = ns.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        sock.settimeout(timeout)
        if source:
            sock.bind(source)
        sock.connect((host, port))
        sock.send(data)
        name, address, seen, rest = sock.recv(65535).split(b" ", 3)
    return name.decode(), (address.decode(), int(seen)), rest


def ping(ns, host, count=3, size=56, *words):
    """Answers to echo requests of size payload bytes: asks until there are count, 3 s at most.

    Not -W: ping takes it only when nothing at all is answered, else it waits for two round trips, which
    a busy machine exceeds.
    """
    text = ns.run(["ping", "-n", "-c", count, "-i", "0.02", "-w", "3", "-s", size, *words, host],
                  check=False).stdout
    return min(count, int(re.search(r"(\d+) received", text)[1]))


@dataclasses.dataclass
class Load:
    requests: int
    rate: float
    errors: str


def wrk_start(ns, host, port=80, seconds=5, connections=8, path="/", close=False):
    """wrk in the background; give it to wrk_end(). close: a connection per request."""
    shown = f"[{host}]" if ":" in host else host
    words = ["wrk", "-t", 1, "-c", connections, "-d", f"{seconds}s", "--timeout", "5s"]
    if close:
        words += ["-H", "Connection: close"]
    return ns.popen([*words, f"http://{shown}:{port}{path}"], stdout=-1, stderr=-2, text=True)


def wrk_end(process, now=False):
    """Load of a wrk that was started; errors is "" if every request was answered with 2xx. now: its time is over."""
    if now:
        process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=120)
    requests = re.search(r"(\d+) requests in", text)
    if not requests:
        raise AssertionError(f"wrk: {text}")
    errors = re.findall(r"(Socket errors:.*|Non-2xx.*)", text)
    return Load(int(requests[1]), float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), " ".join(errors))
