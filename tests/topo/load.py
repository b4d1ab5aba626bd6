# SPDX-License-Identifier: BSD-3-Clause
"""Clients in a closed loop that write down each request: when, which server, and why it failed.

What wrk cannot tell: whether a request failed before or after a server was taken out.
"""
import collections
import dataclasses
import errno
import selectors
import socket
import threading
import time


@dataclasses.dataclass
class Outcome:
    """start, end: time.monotonic(). server: who answered, or whose connection it was; None if unknown."""
    start: float
    end: float
    server: str
    error: str
    port: int


class _Client:
    """One client: a connection, what it waits for, and until when."""

    def __init__(self, load):
        self.load, self.sock, self.data, self.server = load, None, b"", None
        self.start, self.due, self.port = 0.0, load.begin, 0

    def open(self):
        exchange = self.load.exchange
        family = socket.AF_INET6 if ":" in self.load.address[0] else socket.AF_INET
        self.sock = socket.socket(family, exchange.kind)
        self.sock.setblocking(False)
        self.server = None
        failed = self.sock.connect_ex(self.load.address)
        if failed not in (0, errno.EINPROGRESS):
            raise OSError(failed, "connect")
        self.port = self.sock.getsockname()[1]
        self.load.selector.register(self.sock, selectors.EVENT_WRITE, self)

    def ask(self, hello=b""):
        self.data = b""
        self.sock.send(hello + self.load.exchange.request)
        self.load.selector.modify(self.sock, selectors.EVENT_READ, self)

    def close(self):
        if self.sock:
            self.load.selector.unregister(self.sock)
            self.sock.close()
            self.sock = None

    def timer(self, now):
        """Time for the next request, or the answer is late."""
        if self.start:
            self.finish(now, "no answer")
            return
        self.start, self.due = now, now + self.load.timeout
        if self.sock:
            self.ask()
        else:
            self.open()

    def ready(self, events):
        if events & selectors.EVENT_WRITE:
            failed = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failed:
                raise OSError(failed, "connect")
            self.ask(self.load.exchange.hello)
            return
        more = self.sock.recv(65536)
        if not more:
            raise ConnectionError("closed")
        self.data += more
        name = self.load.exchange.parse(self.data)
        if name:
            before, self.server = self.server, name
            moved = before not in (None, name)
            self.finish(time.monotonic(), f"moved to {name}" if moved else "", before if moved else name)

    def finish(self, now, error, server=None):
        """Writes down a request, or the end of a connection on which nothing was asked."""
        self.load.outcomes.append(Outcome(self.start or now, now, server or self.server, error, self.port))
        if error or not self.load.keep:
            self.close()
        self.start, self.due = 0.0, now + self.load.pause


class Load:
    """clients many, each with a request per pause seconds, over a connection each or (keep) over one.

    timeout: after which a client gives up. outcomes: every request that has ended, in order.
    """

    def __init__(self, ns, exchange, address, clients=8, pause=0.05, timeout=2.0, keep=False):
        self.ns, self.exchange, self.address = ns, exchange, address
        self.pause, self.timeout, self.keep = pause, timeout, keep
        self.outcomes, self.begin, self.fault = [], time.monotonic(), None
        self.selector = selectors.DefaultSelector()
        self._clients = [_Client(self) for _ in range(clients)]
        for number, client in enumerate(self._clients):
            client.due += number * pause / clients
        self._stopping = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            with self.ns.entered():
                while not self._stopping:
                    self._turn()
        except BaseException as fault:  # told by stop(): a thread's end is silent
            self.fault = fault

    def _turn(self):
        wait = min(client.due for client in self._clients) - time.monotonic()
        for key, events in self.selector.select(max(0.0, min(wait, 0.1))):
            self._guarded(key.data, lambda client: client.ready(events))
        now = time.monotonic()
        for client in self._clients:
            if client.due <= now:
                self._guarded(client, lambda client: client.timer(now))

    @staticmethod
    def _guarded(client, step):
        try:
            step(client)
        except (OSError, ValueError) as error:
            client.finish(time.monotonic(), repr(error))

    def failures(self, since=0.0, server=None):
        """Failed requests that began at since or later; of one server's connections if it is named."""
        return [one for one in list(self.outcomes)
                if one.error and one.start >= since and (server is None or one.server == server)]

    def answered(self, since=0.0, until=float("inf")):
        """{server: answers} of requests that began in that time."""
        return collections.Counter(one.server for one in list(self.outcomes)
                                   if not one.error and since <= one.start < until)

    def stop(self):
        self._stopping = True
        self._thread.join(5)
        for client in self._clients:
            client.close()
        self.selector.close()
        if self.fault:
            raise self.fault
