# SPDX-License-Identifier: BSD-3-Clause
"""Each message of the journal has a section in docs/runbook.md, with what to type and when to wake somebody."""
import json
import pathlib
import re

import pytest
import source

MESSAGES = json.loads(source.text(pathlib.Path("controlplane/event/messages.json")))
SECTIONS = dict(re.findall(r"^## ([0-9a-f]{8})\n(.*?)(?=^## |\Z)", source.text(pathlib.Path("docs/runbook.md")), re.M | re.S))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message["name"])
def test_message_has_its_section(message):
    assert message["id"] in SECTIONS, f"docs/runbook.md has no section {message['id']} ({message['name']})"
    section = SECTIONS[message["id"]]
    assert f"**{message['name']}**, {message['level']}." in section
    assert "\n- Type: " in section and "\n- Wake: " in section


def test_each_section_is_of_a_message():
    found = re.findall(r"^## (.+)$", source.text(pathlib.Path("docs/runbook.md")), re.M)
    assert len(found) == len(set(found))
    assert set(found) == {message["id"] for message in MESSAGES}
