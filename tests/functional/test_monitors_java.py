# SPDX-License-Identifier: BSD-3-Clause
"""Tomcat whose operator's monitor calls a JSP page: out of memory or busy collecting, it accepts and never answers.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 (Tomcat)

"Three calls without response are abnormal; from detection to removal within one minute."
"""
import time

import pytest
from monitored import SETTLED, SLACK, Lab, Service, check_users, hurting

from topo import exchanges, wait_until
from topo.picture import VIRTUAL
from topo.servers_java import HEALTH_REQUEST, Tomcat

PORT = 8080


@pytest.fixture
def lab(topology):
    return Lab(topology(servers=2), Service(
        "app", Tomcat, PORT, exchanges.Http("/health.jsp", b"ok"),
        ("http", {"send": HEALTH_REQUEST, "recv": r'"\\nok"', "interval": 5, "timeout": 16}),
        patience=2.0, service_down_action="reset"))


def connect_many(lab, count):
    """Connections with one answer each: {server: [socket]}."""
    held = {"s1": [], "s2": []}
    for _ in range(count):
        sock = lab.picture.client.connect((VIRTUAL[4], PORT))
        held[ask(sock)].append(sock)
    return held


def ask(sock):
    """Who answers on it."""
    sock.sendall(b"GET /name.jsp HTTP/1.1\r\nHost: x\r\n\r\n")
    return exchanges.Http().parse(sock.recv(2000))


def is_reset(sock):
    sock.setblocking(False)
    try:
        return sock.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_a_frozen_server_is_out_within_a_minute(lab):
    """Three calls (interval 5, timeout 16), hundreds of standing connections, idle and active. With
    service-down-action reset their clients know at once; those of the other server notice nothing."""
    service = lab.services[0]
    with lab.asked():
        held = connect_many(lab, 200)
        assert min(len(held["s1"]), len(held["s2"])) > 80
        with hurting(lab, "freeze") as begin:
            took, out = lab.until(1, ["down"], 60)[service]
            assert took <= 5 + 16 - 5 + SLACK, took
            wait_until(lambda: all(is_reset(sock) for sock in held["s1"]), "its clients are told")
            assert time.monotonic() - out < 2
            assert not any(is_reset(sock) for sock in held["s2"])
            time.sleep(2.5)
            check_users(service, "s1", begin, out + SETTLED, time.monotonic())
    for sock in held["s2"]:
        sock.setblocking(True)
        assert ask(sock) == "s2"
    for sock in held["s1"] + held["s2"]:
        sock.close()
    print("a frozen Tomcat was out after", round(took, 1), "s")
    lab.until(1, ["up"], 20)
