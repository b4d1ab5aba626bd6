# SPDX-License-Identifier: BSD-3-Clause
"""weir-mgmt with weir-cp and no dataplane, and raw conversations with it."""
import contextlib
import ssl

import pytest
from cp_alone import Cp
from topo import Topology
from topo.mgmt import Mgmt
from topo.weir import MGMT_USER

LISTENS = (("127.0.0.1", 8443), ("::1", 8443))
GOOD = b"Host: weir\r\nX-F5-Auth-Token: wrong\r\n"
JSON = b"Content-Type: application/json\r\n"


class Alone:
    """One namespace with both."""

    def __init__(self, topo, options=()):
        self.ns = topo.namespace("mgmt")
        self.cp = topo.add(Cp(self.ns, topo.dir))
        self.password_file = topo.dir / "initial-password"
        self.cp.daemon.arguments += ["--mgmt-user", MGMT_USER, "--initial-password-file", self.password_file]
        self.mgmt = topo.add(Mgmt(self.ns, topo.dir, LISTENS, options))

    def start(self):
        self.cp.start()
        self.mgmt.start()

    @property
    def admin(self):
        """Who request() is from, as the administrator."""
        return {"user": "admin", "password": self.password_file.read_text().strip()}

    def login(self):
        """A token of the administrator's."""
        return self.cp.ask("login", **{"as": {**self.admin, "address": "127.0.0.1"}})[1]["token"]

    def talk(self, sent, timeout=5.0, until_closed=False):
        """What comes back for raw bytes: until the first reply is complete, or the connection is closed."""
        with self.mgmt.connect(timeout) as sock:
            with contextlib.suppress(OSError):  # it may be refused before all is sent
                sock.sendall(sent)
            return read_reply(sock, until_closed)


def read_reply(sock, until_closed=False):
    """Bytes of one reply with Content-Length, or all until the peer's end."""
    data = b""
    while until_closed or not complete(data):
        try:
            piece = sock.recv(65536)
        except (ConnectionError, ssl.SSLError):
            break
        if not piece:
            break
        data += piece
    return data


def complete(data):
    data = data.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return False
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(body) >= int(value)
    return False


def status(data):
    """Of the first reply, 0 if there is none."""
    return int(data.split(b" ", 2)[1]) if data.startswith(b"HTTP/1.1 ") else 0


@pytest.fixture(scope="module")
def alone():
    """Both, started, for tests that leave them as they are."""
    with Topology() as topo:
        both = Alone(topo)
        both.start()
        yield both
        both.mgmt.check_running()
        both.cp.daemon.check_running()


@pytest.fixture
def short():
    """Both, not started, with short patience."""
    with Topology() as topo:
        yield Alone(topo, ["--head-timeout", 1, "--body-timeout", 1, "--idle-timeout", 2])


@pytest.fixture
def few():
    """Both, not started, with few connections."""
    with Topology() as topo:
        yield Alone(topo, ["--connections", 24, "--connections-each", 16])
