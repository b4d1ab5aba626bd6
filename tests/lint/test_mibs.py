# SPDX-License-Identifier: BSD-3-Clause
"""Each trap of controlplane/event/messages.json has a name, and its variables, in the modules of mgmt/snmp/mibs."""
import json
import pathlib
import re
import subprocess

import pytest
import source

MIBS = source.ROOT / "mgmt" / "snmp" / "mibs"
LTM, OWN = ".1.3.6.1.4.1.3375.2.4", ".1.3.6.1.4.1.8072.9999.9999.1"
MESSAGES = json.loads(source.text(pathlib.Path("controlplane/event/messages.json")))
TRAPS = [message for message in MESSAGES if "trap" in message or "own-trap" in message]


def translate(*words):
    done = subprocess.run(["snmptranslate", "-M", f"{MIBS}:{MIBS / 'base'}", "-m", "WEIR-COMPAT-MIB:WEIR-EVENTS-MIB",
                           "-Pw", *words], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("message", TRAPS, ids=lambda message: message["name"])
def test_trap_has_its_name(message):
    oid = f"{LTM}.0.{message['trap']}" if "trap" in message else f"{OWN}.0.{message['own-trap']}"
    name = translate(oid)
    assert re.fullmatch(r"WEIR-COMPAT-MIB::bigip\w+|WEIR-EVENTS-MIB::weir\w+", name), f"{oid} is only {name}"
    assert "NOTIFICATION-TYPE" in translate("-Td", oid)


def test_variables_have_their_names():
    """As controlplane/notify sends them."""
    assert [translate(f"{LTM}.1.{n}") for n in (1, 2, 3)] == [
        f"WEIR-COMPAT-MIB::bigipNotifyObj{name}" for name in ("Msg", "Node", "Port")]
    assert [translate(f"{OWN}.1.{n}") for n in (1, 2, 3, 4)] == [
        f"WEIR-EVENTS-MIB::weirEvent{name}" for name in ("Message", "Object", "Id", "Incident")]


def test_numbers_are_unique():
    for key in ("trap", "own-trap"):
        numbers = [message[key] for message in MESSAGES if key in message]
        assert len(numbers) == len(set(numbers)), key
