# SPDX-License-Identifier: BSD-3-Clause
"""docs/operators-guide.md is carried out: its weir.conf is loaded, its commands are typed in their order.

A block marked `weir.conf` is the configuration of the whole page. In a block marked `console` each line
that starts with "# " is typed, and what follows must be what it prints; "..." in a line stands for
anything, and a line "..." alone for any lines. `curl` runs in the client's namespace.
"""
import pathlib
import re
import shlex

import pytest
from topo import standard

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "operators-guide.md"
BLOCK = re.compile(r"^```([\w.]+)\n(.*?)^```$", re.M | re.S)


def blocks(kind):
    return [text for found, text in BLOCK.findall(GUIDE.read_text()) if found == kind]


def commands():
    """[(command, what it should print)] in the order of the page."""
    found = []
    for text in blocks("console"):
        for line in text.splitlines():
            if line.startswith("# "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line.rstrip())
    return found


def matches(expected, printed):
    """expected: lines, with "..." for anything."""
    pattern = "".join("(?:.*\n)*" if line == "..." else
                      ".*".join(re.escape(part) for part in line.split("...")) + "[ ]*\n" for line in expected)
    return re.fullmatch(pattern, printed)


@pytest.fixture(scope="module")
def place():
    with standard(servers=4) as topo:
        picture = topo.picture
        picture.start_nginx()
        [text] = blocks("weir.conf")
        picture.start_weir(network=text)
        yield picture


def typed(picture, command):
    words = shlex.split(command)
    if words[0] == "curl":
        done = picture.client.run(["curl", "-sS", "--max-time", "5", *words[1:]], check=False)
    else:
        assert words[0] == "weirsh", f"the guide types something else: {command}"
        done = picture.weir.weirsh_run(*words[1:])
    return done.stdout + done.stderr


def test_the_guide_has_examples():
    assert len(commands()) >= 10


@pytest.mark.parametrize("command, expected", commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_example(place, command, expected):
    printed = typed(place, command)
    wanted = "\n".join(expected)
    assert matches(expected, printed), f"{command}\nthe guide says:\n{wanted}\nit prints:\n{printed}"
