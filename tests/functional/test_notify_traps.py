# SPDX-License-Identifier: BSD-3-Clause
"""weir-notify and receivers of SNMP traps: versions 2c and 3, traps and informs, read by net-snmp's own receiver.

    weir-cp (played) --- notify.sock --- weir-notify --- snmptrapd on 127.0.0.1
"""
import pytest
from fake_notify_cp import lab  # noqa: F401  (a fixture)
from log_servers import TRAP_PORT, TRAP_USER, TrapReceiver

from topo import wait_until

NAME = "trap:/Common/t"
LTM, WEIR = ".1.3.6.1.4.1.3375.2.4", ".1.3.6.1.4.1.8072.9999.9999.1"
WAYS = {"v2c trap": {"version": "2c", "community": "secret"},
        "v2c inform": {"version": "2c", "community": "secret", "notify-type": "inform"},
        "v3 signed trap": {**TRAP_USER, "security-level": "auth-no-privacy", "auth-protocol": "sha"},
        "v3 trap": {**TRAP_USER, "security-level": "auth-privacy"},
        "v3 inform": {**TRAP_USER, "security-level": "auth-privacy", "notify-type": "inform"}}


@pytest.fixture(params=WAYS)
def trapd(lab, request):  # noqa: F811
    row = {"name": NAME, "kind": "trap", "host": "127.0.0.1", "port": TRAP_PORT, **WAYS[request.param]}
    lab.receive(row)
    made = TrapReceiver(lab, row).start()
    yield made
    made.stop()


def test_text_is_exact(lab, trapd):  # noqa: F811
    lab.cp.write()
    lab.cp.write(id="01010028", object="/Common/web", incident=2)
    lab.cp.write(id="01070417")
    trapd.wait_all(2)
    lab.cp.wait_delivered(NAME)
    lines = [line.split("\t") for line in trapd.text().splitlines() if "Event number" in line]
    assert [line[1:] for line in lines] == [
        [f".1.3.6.1.6.3.1.1.4.1.0 = OID: {LTM}.0.10", f'{LTM}.1.1 = STRING: "Event number 1."',
         f'{LTM}.1.2 = STRING: "/Common/a"', f'{LTM}.1.3 = STRING: "80"', f".1.3.6.1.6.3.1.1.4.3.0 = OID: {LTM}"],
        [f".1.3.6.1.6.3.1.1.4.1.0 = OID: {WEIR}.0.1", f'{WEIR}.1.1 = STRING: "Event number 2."',
         f'{WEIR}.1.2 = STRING: "/Common/web"', f'{WEIR}.1.3 = STRING: "01010028"', f'{WEIR}.1.4 = STRING: "2"',
         f".1.3.6.1.6.3.1.1.4.3.0 = OID: {WEIR}"]]
    assert all(line[0].startswith(".1.3.6.1.2.1.1.3.0 = Timeticks: (") for line in lines)


def test_receiver_killed_and_brought_back(lab, trapd):  # noqa: F811
    lab.cp.write(20)
    trapd.wait_all(20)
    lab.cp.wait_delivered(NAME)
    trapd.stop()
    lab.cp.write(20)
    wait_until(lambda: lab.cp.report(NAME, "error"), "the fault is told", 20)
    trapd.start()
    lab.cp.write(20)
    trapd.wait_all(60, seconds=60)
    lab.cp.wait_delivered(NAME)


def test_daemon_killed(lab, trapd):  # noqa: F811
    """The engine's id stays and its boots rise: else receivers of version 3 would believe nothing any more."""
    engine = trapd.engine()
    for _ in range(3):
        lab.cp.write(10)
        lab.daemon.kill()
        lab.cp.write(10)
        lab.start()
    trapd.wait_all(60)
    lab.cp.wait_delivered(NAME)
    assert trapd.engine() == engine


def test_the_test_message(lab, trapd):  # noqa: F811
    wait_until(lambda: lab.cp.ask_test(NAME, 5) or (lab.cp.tested.get(5) or {}).get("ok"), "the test works", 15, pause=0.5)
    assert "Test 5 of receiver trap:/Common/t" in trapd.text()


def test_wrong_password_is_told(lab):  # noqa: F811
    """An inform says why it is not taken; a trap cannot."""
    row = {"name": NAME, "kind": "trap", "host": "127.0.0.1", "port": TRAP_PORT, **WAYS["v3 inform"]}
    trapd = TrapReceiver(lab, row).start()
    lab.receive({**row, "auth-password": "quite another"})
    lab.cp.write()
    wait_until(lambda: lab.cp.report(NAME, "error"), "the fault is told", 30)
    lab.cp.configure(row)
    trapd.wait_all(1)
    trapd.stop()
