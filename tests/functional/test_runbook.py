# SPDX-License-Identifier: BSD-3-Clause
"""What docs/runbook.md says to type can be typed: each of its commands works with the guide's configuration."""
import re

import pytest
import test_guide

from topo import standard

VERBS = ("show", "list", "verify", "modify")
PAGE = test_guide.GUIDE.parent / "runbook.md"


def commands():
    found = re.findall(r"`((?:%s) [^`]+)`" % "|".join(VERBS), PAGE.read_text())
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def place():
    with standard(servers=4) as topo:
        topo.picture.start_nginx()
        [text] = test_guide.blocks("weir.conf")
        topo.picture.start_weir(network=text)
        yield topo.picture


@pytest.mark.parametrize("command", commands())
def test_command(place, command):
    place.weir.weirsh(command)
