# SPDX-License-Identifier: BSD-3-Clause
"""docs/weirsh.md is carried out, in the way of test_guide.py and with the guide's configuration."""
import pathlib

import pytest
import test_guide
from topo import standard

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "weirsh.md"


def examples():
    """[(command, lines that it should print)] in the order of the page."""
    found = []
    for kind, text in test_guide.BLOCK.findall(PAGE.read_text()):
        for line in text.splitlines() if kind == "console" else []:
            if line.startswith("# "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line.rstrip())
    return found


@pytest.fixture(scope="module")
def place():
    with standard(servers=4) as topo:
        topo.picture.start_nginx()
        [text] = test_guide.blocks("weir.conf")
        topo.picture.start_weir(network=text)
        yield topo.picture


@pytest.mark.parametrize("command, expected", examples(), ids=lambda value: value if isinstance(value, str) else "")
def test_example(place, command, expected):
    printed = test_guide.typed(place, command)
    wanted = "\n".join(expected)
    assert test_guide.matches(expected, printed), f"{command}\nthe page says:\n{wanted}\nit prints:\n{printed}"
