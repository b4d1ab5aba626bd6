# SPDX-License-Identifier: BSD-3-Clause
"""docs/operators-guide.md is carried out: its weir.conf is loaded, its commands are typed in their order.

A block marked `weir.conf` is the configuration of the whole page; one marked `orders.sh` is a file in
external-monitors/. In a block marked `console` each line that starts with "# " is typed on Weir, with "s2# " on that
server, and what follows must be what it prints; "..." in a line stands for anything, and a line "..." alone for any
lines. `curl` runs in the client's namespace. What only looks may take a few seconds to become true.
"""
import pathlib
import re
import shlex

import pytest
from test_mon_http import Script

from topo import standard, wait_until
from topo.picture import server_address
from topo.servers_dns import Knot

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "operators-guide.md"
BLOCK = re.compile(r"^```([\w.]+)\n(.*?)^```$", re.M | re.S)


def blocks(kind):
    return [text for found, text in BLOCK.findall(GUIDE.read_text()) if found == kind]


def commands():
    """[(command, what it should print)] in the order of the page."""
    found = []
    for text in blocks("console"):
        for line in text.splitlines():
            if re.match(r"(s\d)?# ", line):
                found.append((line.removeprefix("# "), []))
            else:
                found[-1][1].append(line.rstrip())
    return found


def matches(expected, printed):
    """expected: lines, with "..." for anything."""
    pattern = "".join("(?:.*\n)*" if line == "..." else
                      ".*".join(re.escape(part) for part in line.split("...")) + "[ ]*\n" for line in expected)
    return re.fullmatch(pattern, printed)


class Agent:
    """On each server, at port 9000: says what stands in /run/agent."""

    def __init__(self, topo, ns, number):
        self.line = "up"
        topo.add(Script(ns, (server_address(number), 9000), self.serve))

    def serve(self, connection):
        connection.sendall(self.line.encode() + b"\n")


@pytest.fixture(scope="module")
def place():
    with standard(servers=4) as topo:
        picture = topo.picture
        picture.start_nginx()
        picture.agents = [Agent(topo, ns, number) for number, ns in enumerate(picture.servers, 1)]
        topo.add(Knot(picture.servers[0], topo.dir, (server_address(1), 53), {"app": (30, ["10.0.2.21", "10.0.2.22"])}, "example.com"))
        conf_dir = topo.dir / "etc"
        scripts = conf_dir / "external-monitors"
        scripts.mkdir(parents=True)
        [script] = blocks("orders.sh")
        (scripts / "orders.sh").write_text(script)
        (scripts / "orders.sh").chmod(0o755)
        [text] = blocks("weir.conf")
        picture.start_weir(network=text, monitor=True, conf_dir=conf_dir)
        yield picture


def on_server(picture, number, words):
    """systemctl start|stop nginx; echo "WORDS" > /run/agent"""
    if words[:1] == ["systemctl"] and words[2:] == ["nginx"]:
        {"start": picture.nginx[number - 1].start, "stop": picture.nginx[number - 1].stop}[words[1]]()
    else:
        assert words[0] == "echo" and words[2:] == [">", "/run/agent"], f"the guide types something else: {words}"
        picture.agents[number - 1].line = words[1]
    return ""


def typed(picture, command):
    words = shlex.split(command)
    if re.fullmatch(r"s\d#", words[0]):
        return on_server(picture, int(words[0][1]), words[1:])
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
    printed = ""

    def as_written():
        nonlocal printed
        printed = typed(place, command)
        return matches(expected, printed)

    if command.split()[:2] != ["weirsh", "show"]:
        right = as_written()
    else:
        try:
            right = wait_until(as_written, "as the guide says", 10, 0.2)
        except AssertionError:
            right = False
    wanted = "\n".join(expected)
    assert right, f"{command}\nthe guide says:\n{wanted}\nit prints:\n{printed}"
