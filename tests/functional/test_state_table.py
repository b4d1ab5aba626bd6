# SPDX-License-Identifier: BSD-3-Clause
"""The table of states (reference/ltm.md, section 5), row by row, with real traffic: who gets what.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 (nginx)

Each row puts s1 into a condition while a client has a connection to it. There is no persistence yet: what the
table says of clients with a persistence record is in the state's LIVE_PERSISTED alone, which state_test.c checks.
"""
import dataclasses
import time

import pytest
from monitored import HTTP_CHECK, INTERVAL, TIMEOUT, nginx

from topo import exchanges, http_burst, standard, wait_until
from topo import weirconf as wc
from topo.picture import VIRTUAL, server_address

MEMBER, NODE = f"{server_address(1)}:80", server_address(1)
CLEAR = "session user-enabled state user-up"


def member(words):
    return f"ltm pool POOL members modify {{ {MEMBER} {{ {words} }} }}"


def node(words):
    return f"ltm node {NODE} {words}"


@dataclasses.dataclass
class Row:
    """on, off: how the condition comes and goes: a command, or (method of the server, argument).
    new, probed: does it get new connections, is it asked by the monitor? shows: of its member."""
    name: str
    on: object
    off: object
    new: bool
    probed: bool
    shows: dict
    pool: str = "watched"


def shows(availability, enabled, monitor, session, color):
    return {"status.availabilityState": availability, "status.enabledState": enabled, "monitorStatus": monitor,
            "sessionStatus": session, "status.color": color}


ROWS = [
    Row("enabled, up", None, None, True, True, shows("available", "enabled", "up", "enabled", "green")),
    Row("enabled, unknown", None, None, True, False,
        shows("unknown", "enabled", "unchecked", "enabled", "blue"), "plain"),
    Row("enabled, up, at connection limit", member("connection-limit 1"), member("connection-limit 0"), False, True,
        shows("unavailable", "enabled", "up", "enabled", "yellow")),
    Row("disabled", member("session user-disabled"), member(CLEAR), False, True,
        shows("available", "disabled", "up", "user-disabled", "green")),
    Row("disabled, not monitored", member("session user-disabled"), member(CLEAR), False, False,
        shows("unknown", "disabled", "unchecked", "user-disabled", "blue"), "plain"),
    Row("forced offline", member("session user-disabled state user-down"), member(CLEAR), False, False,
        shows("offline", "disabled", "forced-down", "user-disabled", "red")),
    Row("monitor down", ("sick", True), ("sick", False), False, True,
        shows("offline", "enabled", "down", "enabled", "red")),
    Row("disabled by parent", node("session user-disabled"), node(CLEAR), False, True,
        shows("available", "disabled-by-parent", "up", "addr-disabled", "green")),
    Row("node forced offline", node("session user-disabled state user-down"), node(CLEAR), False, False,
        shows("offline", "disabled-by-parent", "address-down", "addr-disabled", "red")),
    Row("recv-disable matched", ("drain", True), ("drain", False), False, True,
        shows("available", "disabled", "up", "disabled", "green")),
]


@pytest.fixture(scope="module")
def lab():
    """Two pools of the same servers: one is watched, the other is not."""
    with standard(servers=2) as topo:
        picture = topo.picture
        picture.web = [topo.add(nginx(ns, f"s{number}", (server_address(number), 80), topo.dir))
                       for number, ns in enumerate(picture.servers, 1)]
        check = {**HTTP_CHECK, "recv_disable": r'"\\ndrain"', "interval": INTERVAL, "timeout": TIMEOUT}
        picture.start_weir(wc.monitor("http", "check", **check),
                           wc.pool("watched", picture.members(80), monitor="check"),
                           wc.pool("plain", picture.members(80)),
                           wc.virtual("watched", VIRTUAL[4], 80, "watched"), wc.virtual("plain", VIRTUAL[4], 81, "plain"))
        for number in (1, 2):
            wait_until(lambda: picture.weir.member("watched", f"{server_address(number)}:80", "monitorStatus") == "up",
                       f"s{number} is up")
        yield picture


def put(lab, row, what):
    if isinstance(what, str):
        lab.weir.edit("modify", what.replace("POOL", row.pool))
    elif what:
        getattr(lab.web[0], what[0])(what[1])


def connection_to_s1(lab, port):
    """A connection of a client of s1, and an exchange over it."""
    for _ in range(4):
        sock = lab.client.connect((VIRTUAL[4], port))
        if ask(sock) == "s1":
            return sock
        sock.close()
    raise AssertionError("no connection comes to s1")


def ask(sock):
    exchange = exchanges.Http()
    sock.sendall(exchange.request)
    return exchange.parse(sock.recv(2000))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name.replace(", ", "-").replace(" ", "-"))
def test_row(lab, row):
    weir, port = lab.weir, 81 if row.pool == "plain" else 80
    sock = connection_to_s1(lab, port)
    put(lab, row, row.on)
    try:
        check(lab, row, port, sock)
    finally:
        sock.close()
        put(lab, row, row.off)
        wait_until(lambda: weir.member("watched", MEMBER, "monitorStatus") == "up"
                   and weir.member("watched", MEMBER, "status.enabledState") == "enabled", "it is well again")


def check(lab, row, port, sock):
    weir = lab.weir

    def shown():
        said = {key: weir.member(row.pool, MEMBER, key) for key in row.shows}
        assert said == row.shows
        return True
    wait_until(shown, row.name, TIMEOUT + 2)
    burst = http_burst(lab.client, VIRTUAL[4], 8, port=port, path="/name")
    assert not burst.errors and set(burst.order) == ({"s1", "s2"} if row.new else {"s2"}), "new connections"
    assert ask(sock) == "s1", "existing connections continue"
    if row.probed or row.pool == "watched":
        begin = time.time() + 0.1
        time.sleep(2.2 * INTERVAL)
        assert bool(lab.web[0].asked("/health", begin)) == row.probed, "monitored"


def test_at_the_limit_and_nobody_else(lab):
    """No server left for a new connection: it is reset, the existing one continues."""
    weir = lab.weir
    sock = connection_to_s1(lab, 80)
    weir.edit("modify", f"ltm pool watched members modify {{ {server_address(2)}:80 {{ session user-disabled }} }}")
    weir.edit("modify", f"ltm pool watched members modify {{ {MEMBER} {{ connection-limit 1 }} }}")
    try:
        with pytest.raises(ConnectionRefusedError):
            lab.client.connect((VIRTUAL[4], 80), timeout=2)
        assert ask(sock) == "s1"
        sock.close()
        wait_until(lambda: weir.member("watched", MEMBER, "serverside.curConns") == 0, "it has ended")
        connection_to_s1(lab, 80).close()
    finally:
        weir.edit("modify", f"ltm pool watched members modify {{ {MEMBER} {{ connection-limit 0 }} }}")
        weir.edit("modify", f"ltm pool watched members modify {{ {server_address(2)}:80 {{ {CLEAR} }} }}")


def test_held_and_down_are_told_apart(lab):
    """An operator's hold and a monitor's verdict at once: each ends alone, and both must be gone for new connections."""
    weir = lab.weir
    weir.edit("modify", member("session user-disabled").replace("POOL", "watched"))
    lab.web[0].sick()
    wait_until(lambda: weir.member("watched", MEMBER, "monitorStatus") == "down", "the monitor says down", TIMEOUT + 2)
    assert weir.member("watched", MEMBER, "session") == "user-disabled"
    weir.edit("modify", member(CLEAR).replace("POOL", "watched"))
    assert weir.member("watched", MEMBER, "monitorStatus") == "down"
    assert set(http_burst(lab.client, VIRTUAL[4], 6, path="/name").order) == {"s2"}
    weir.edit("modify", member("session user-disabled").replace("POOL", "watched"))
    lab.web[0].sick(False)
    wait_until(lambda: weir.member("watched", MEMBER, "monitorStatus") == "up", "up again")
    assert set(http_burst(lab.client, VIRTUAL[4], 6, path="/name").order) == {"s2"}
    weir.edit("modify", member(CLEAR).replace("POOL", "watched"))
    assert set(http_burst(lab.client, VIRTUAL[4], 6, path="/name").order) == {"s1", "s2"}
