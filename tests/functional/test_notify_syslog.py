# SPDX-License-Identifier: BSD-3-Clause
"""weir-notify and log servers: what they get, to the byte, and that they get it although one of both dies.

    weir-cp (played) --- notify.sock --- weir-notify --- rsyslogd, or a hostile server, on 127.0.0.1
"""
import itertools
import re
import time

import pytest
from fake_notify_cp import TIME, lab  # noqa: F401  (lab is a fixture)
from log_servers import PORT, LogServer, certificates

from topo import wait_until

NAME = "/Common/logs"
EXACT = re.compile(r"<133>1 2023-11-1[45]T\d\d:\d\d:20\.(\d{6})[+-]\d\d:\d\d lb1 weir-cp - member-status "
                   r'\[weir@8072\.9999\.9999 id="01070638" seq="(\d+)" kind="ltm pool members" object="/Common/a:80" '
                   r'owner="/Common/web"\] 01070638:5: Event number (\d+)\.')


def row(protocol, **more):
    return {"name": NAME, "kind": "syslog", "protocol": protocol, "host": "127.0.0.1", "port": PORT, **more}


@pytest.fixture
def server(lab, request):  # noqa: F811
    """rsyslogd for the protocol of the test's parameter, and the receiver's row."""
    protocol, more, tls = request.param, {}, None
    if protocol == "tls":
        tls = certificates(lab.dir / "tls")
        more = {name: (tls / file).read_text() for name, file in
                (("ca", "ca.pem"), ("certificate", "client.pem"), ("key", "client.key"))}
    made = LogServer(lab, protocol, tls, client_names="lb1" if tls else None)
    made.row = row(protocol, **more)
    made.start()
    yield made
    made.stop()


every = pytest.mark.parametrize("server", ["udp", "tcp", "tls"], indirect=True)


@every
def test_text_is_exact(lab, server):  # noqa: F811
    lab.receive(server.row)
    lab.cp.write(3)
    server.wait_all(3)
    for line in server.lines():
        match = EXACT.fullmatch(line)
        assert match and match[2] == match[3] and int(match[1]) == (TIME + int(match[2])) % 1_000_000, line
    lab.cp.wait_delivered(NAME)
    assert lab.cp.report(NAME, "error") == "" and lab.cp.report(NAME, "waiting") == 0


@every
def test_server_killed_and_brought_back(lab, server):  # noqa: F811
    lab.receive(server.row)
    for _ in range(20):
        lab.cp.write(5)
    server.wait_all(100)
    server.stop()
    for _ in range(60):
        lab.cp.write(5)
    wait_until(lambda: lab.cp.report(NAME, "error"), "the fault is told", 15)
    assert lab.cp.report(NAME, "waiting") > 0
    server.start()
    server.wait_all(400, seconds=60)
    lab.cp.wait_delivered(NAME)
    assert lab.cp.report(NAME, "dropped") == 0


@every
def test_filters_and_test_message(lab, server):  # noqa: F811
    lab.receive({**server.row, "level": "err", "modules": ["ltm", "sys"]})
    lab.cp.write(2)
    lab.cp.write(level="err", module="net")
    lab.cp.write(level="crit", module="sys")
    lab.cp.write(level="err")
    server.wait_all(5, 4)
    assert server.numbers() == [4, 5]
    lab.cp.wait_delivered(NAME)
    lab.cp.ask_test(NAME, 17)
    wait_until(lambda: 17 in lab.cp.tested, "the test has ended", 10)
    assert lab.cp.tested[17]["ok"], lab.cp.tested
    server.wait(lambda lines: "0e1f0090:5: Test 17 of receiver /Common/logs" in lines[-1], "the test message")


@every
def test_test_message_before_any_record(lab, server):  # noqa: F811
    numbers = itertools.count(1)

    def tried():
        number = next(numbers)
        lab.cp.ask_test(NAME, number)
        wait_until(lambda: number in lab.cp.tested, "the test has ended", 10)
        return lab.cp.tested[number]["ok"]
    lab.receive(server.row)
    wait_until(tried, lambda: lab.cp.tested, 10)
    server.wait(lambda lines: any("of receiver /Common/logs" in line for line in lines), "the test message")


@every
def test_daemon_killed_under_a_stream(lab, server):  # noqa: F811
    lab.receive(server.row)
    lab.cp.write(50)
    lab.cp.wait_delivered(NAME)
    time_up = time.monotonic() + 3
    while time.monotonic() < time_up:
        lab.cp.write(20)
        lab.daemon.kill()
        lab.cp.write(20)
        lab.start()
    server.wait_all(len(lab.cp.records), seconds=60)
    lab.cp.wait_delivered(NAME)


def test_cp_restarts(lab):  # noqa: F811
    server = LogServer(lab, "tcp").start()
    lab.receive(row("tcp"))
    lab.cp.write(10)
    server.wait_all(10)
    lab.cp.close()
    lab.cp.records += [{**lab.cp.records[-1], "seq": seq, "text": f"Event number {seq}."} for seq in range(11, 21)]
    lab.cp.open()
    server.wait_all(20)
    lab.cp.write(5)
    server.wait_all(25)
    assert server.numbers() == sorted(set(server.numbers()))
    server.stop()


def test_journal_overrun_is_counted_and_told(lab):  # noqa: F811
    lab.receive(row("tcp"))
    lab.cp.write(500)
    wait_until(lambda: lab.cp.report(NAME, "error"), "the fault is told", 15)
    lab.cp.delete_before(401)
    server = LogServer(lab, "tcp").start()
    server.wait_all(500, 401)
    assert "0e1f0091:4: 400 records were deleted" in server.lines()[0]
    assert server.numbers()[0] == 401
    lab.cp.wait_delivered(NAME)
    assert lab.cp.report(NAME, "dropped") == 400
    server.stop()
