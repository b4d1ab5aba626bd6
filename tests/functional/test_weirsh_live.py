# SPDX-License-Identifier: BSD-3-Clause
"""weirsh with the real weir-cp: texts of any bytes, reloading, transactions; connections of a real dataplane.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import json
import signal
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from topo import Topology, wait_until
from topo import weirconf as wc
from topo.weir import Daemon, program


class Control:
    """weir-cp alone."""

    def __init__(self, ns, run_dir):
        self.ns, self.run_dir, self.conf = ns, run_dir, run_dir / "weir.conf"
        self.conf.write_text("ltm pool web {\n    members {\n        10.0.0.1:80 { address 10.0.0.1 }\n    }\n}\n")
        self.daemon = Daemon(ns, "weir-cp", ["--run-dir", run_dir, "--config", self.conf,
                                             "--store", run_dir / "store"], run_dir)
        self.daemon.start()
        wait_until(lambda: self.run("list")[0] == 0, "weir-cp answers", 10)

    def run(self, *words, stdin=b""):
        """(exit code, output, errors)."""
        done = subprocess.run([program("weirsh"), "--run-dir", self.run_dir, *words], input=stdin,
                              capture_output=True, timeout=30, check=False)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def control(tmp_path_factory):
    with Topology() as topo:
        weir = Control(topo.namespace("cp"), tmp_path_factory.mktemp("cp"))
        yield weir
        weir.daemon.stop()


def quoted(raw):
    return b'"' + raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


MONITORS = (
    'create ltm monitor http up send "GET /up HTTP/1.1\\\\r\\\\nHost: a\\\\r\\\\n\\\\r\\\\n" recv "200 OK|\\\\bup\\\\b" password "x y"',
    "create ltm monitor http deeper { defaults-from up interval 3 }",
    'create ltm monitor external script run check.sh user-defined NAME /Common/x user-defined OTHER "a b"',
    "modify ltm pool web monitor min 1 of { up /Common/tcp deeper }",
    "modify ltm pool web members modify { 10.0.0.1:80 { monitor up and tcp } }",
    "modify ltm node 10.0.0.1 monitor icmp and gateway_icmp",
    "modify ltm default-node-monitor rule icmp")


def test_monitors_come_out_as_they_went_in(control):
    """What list prints makes the same again, also in the short form and in one line."""
    for line in MONITORS:
        code, _, errors = control.run(stdin=line.encode())
        assert code == 0, errors
    listed = control.run("list ltm")[1].decode()
    assert "monitor min 1 of { up tcp deeper }" in listed and "monitor up and tcp" in listed
    assert 'user-defined NAME /Common/x\n    user-defined OTHER "a b"\n' in listed
    assert "ltm default-node-monitor {\n    rule /Common/icmp\n}" in listed and "x y" not in listed
    (control.run_dir / "listed.conf").write_text(listed)
    code, _, errors = control.run(f"load sys config merge file {control.run_dir / 'listed.conf'}")
    assert code == 0, errors
    assert control.run("list ltm")[1].decode() == listed
    for line in control.run("list ltm monitor one-line")[1].decode().splitlines():
        code, _, errors = control.run(stdin=line.replace("ltm", "modify ltm", 1).encode())
        assert code == 0, errors
    assert control.run("list ltm")[1].decode() == listed
    assert control.run("list ltm monitor mssql")[0] and b"not supported" in control.run("list ltm monitor mssql")[2]
    code, _, errors = control.run("delete ltm monitor http up")
    assert code and b"still used by" in errors
    for line in ("modify ltm default-node-monitor rule none", "modify ltm node 10.0.0.1 monitor default",
                 "modify ltm pool web monitor none members modify { 10.0.0.1:80 { monitor default } }",
                 "delete ltm monitor http deeper", "delete ltm monitor http all", "delete ltm monitor external script"):
        code, _, errors = control.run(line)
        assert code == 0, (line, errors)
    assert control.run("list ltm monitor http non-default-properties")[1].count(b"ltm monitor") == 2


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 255), max_size=200).map(bytes))
def test_any_text_goes_in_and_comes_out(control, raw):
    """What list prints is what was typed, and makes the same again when it is typed in turn."""
    code, _, errors = control.run(stdin=b"modify ltm pool web description " + quoted(raw) + b"\n")
    assert code == 0, errors
    code, listed, _ = control.run("list ltm pool web description")
    value = listed[listed.index(b"description ") + 12:listed.rindex(b"\n}")]
    code, _, errors = control.run(stdin=b"modify ltm pool web description " + value + b"\n")
    assert code == 0, errors
    assert control.run("list ltm pool web description")[1] == listed
    [row] = json.loads(control.run("--json", "list ltm pool web")[1])
    text = row.get("description", "")
    assert (text["bytes"].encode("latin-1") if isinstance(text, dict) else text.encode()) == raw


def test_what_list_prints_can_be_loaded(control, tmp_path):
    control.run("modify ltm pool web description /Common/text")
    printed = control.run("list")[1]
    (tmp_path / "all.conf").write_bytes(printed)
    for words in ("load sys config verify file", "load sys config file"):
        code, _, errors = control.run(f"{words} {tmp_path}/all.conf")
        assert code == 0, errors
    assert control.run("list")[1] == printed
    assert control.run("load sys config file -", stdin=printed)[0] == 0
    assert control.run("list")[1] == printed


@pytest.mark.parametrize("words, said", [
    ("modify ltm pool web load-balancing-mode fair", "load-balancing-mode"),
    ("modify ltm pool web members modify { 10.0.0.1:80 { ratio 0 } }", "ratio: 0 is not between 1 and 65535"),
    ("modify ltm pool absent description x", "absent"),
    ("create ltm pool /Other/web", "/Other"),
    ("create ltm pool web", "exists already"),
    ("delete ltm node 10.0.0.1", "still used by"),
    ("list ltm pool absent", "does not exist"),
    ("show ltm pool absent members", "does not exist"),
    ("show sys connection virtual-server absent", "absent"),
    ("show sys dataplane drops", "dataplane is not connected"),
])
def test_refusals_change_nothing(control, words, said):
    before = control.run("list")[1]
    code, output, errors = control.run(words)
    assert (code, output) == (1, b"") and said in errors.decode()
    assert control.run("list")[1] == before


def test_transaction_is_taken_whole_or_not(control):
    before = control.run("list")[1]
    code, _, errors = control.run(stdin=b"create cli transaction\ncreate ltm node t1 address 10.9.0.1\n"
                                        b"create ltm pool web\nsubmit cli transaction\n")
    assert code == 1 and b"in command 2 of the transaction: create ltm pool web" in errors
    assert control.run("list")[1] == before
    code, _, errors = control.run(stdin=b"create cli transaction\ncreate ltm node t1 address 10.9.0.1\n"
                                        b"create ltm pool t members add { t1:80 }\nsubmit cli transaction\n")
    assert code == 0, errors
    assert b"t1:80" in control.run("list ltm pool t members one-line")[1]
    assert control.run(stdin=b"delete ltm pool t\ndelete ltm node t1\n")[0] == 0


def test_weir_cp_is_killed_under_the_prompt(tmp_path):
    """The shell says so, stays, and goes on with the next weir-cp."""
    with Topology() as topo:
        weir = Control(topo.namespace("cp"), tmp_path)
        with subprocess.Popen([program("weirsh"), "--run-dir", tmp_path], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as shell:
            shell.stdin.write(b"list ltm pool web one-line\n")
            shell.stdin.flush()
            assert b"ltm pool web" in shell.stdout.readline()
            weir.daemon.process.send_signal(signal.SIGKILL)
            weir.daemon.process.wait(10)
            weir.daemon.start()
            wait_until(lambda: weir.run("list")[0] == 0, "weir-cp answers again", 10)
            output, errors = shell.communicate(b"list ltm pool web one-line\n", timeout=20)
            assert b"ltm pool web" in output and errors == b"" and shell.returncode == 0
        weir.daemon.stop()


@pytest.fixture
def place(topology, ip):
    picture = topology(servers=2)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family)) + wc.virtual("vs", ip.virtual, 80, "web")
                       + wc.virtual("other", ip.virtual, 81, "web"))
    return picture


def count(weir, words):
    return len(weir.weirsh("--json", f"show sys connection {words}").splitlines())


def test_connections_are_found_and_ended(place, ip):
    weir = place.weir
    socks = [place.client.connect((ip.virtual, port)) for port in (80, 80, 80, 81)]
    wait_until(lambda: count(weir, "") == 4, "four connections are shown")
    rows = [json.loads(line) for line in weir.weirsh("--json", "show sys connection").splitlines()]
    ports = {sock.getsockname()[1] for sock in socks}
    assert {row["cs-client-port"] for row in rows} == ports
    first = rows[0]
    for words, expected in [
            (f"cs-client-addr {ip.client}", 4), (f"cs-client-addr {ip.client}/{ip.host - 8}", 4),
            (f"cs-client-addr {ip.virtual}", 0), (f"cs-client-port {first['cs-client-port']}", 1),
            (f"cs-server-addr {ip.virtual}", 4), ("cs-server-port 81", 1), ("virtual-server vs", 3),
            ("virtual-server /Common/other", 1), ("pool web", 4), ("protocol tcp", 4), ("protocol udp", 0),
            (f"ss-server-addr {ip.server(1)} virtual-server vs", None), ("ss-server-port 80", 4),
            (f"pool web member {wc.join(ip.server(1), 80)}", None), ("age 3600", 0), ("idle 0", 4)]:
        found = count(weir, words)
        assert found == expected if expected is not None else 0 < found < 4, words
    text = weir.weirsh("show sys connection")
    assert wc.join(ip.client, first["cs-client-port"]) in text and "established" in text
    assert text.endswith("Total records returned: 4\n")
    assert weir.weirsh("delete sys connection virtual-server other") == "Connections deleted: 1\n"
    assert count(weir, "") == 3
    assert weir.weirsh("delete sys connection all") == "Connections deleted: 3\n"
    wait_until(lambda: count(weir, "") == 0, "none is left")
    for sock in socks:
        sock.close()
