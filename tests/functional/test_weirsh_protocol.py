# SPDX-License-Identifier: BSD-3-Clause
"""What weirsh sends to weir-cp and how it ends, against a weir-cp that the test plays."""
import json
import os
import select
import signal
import struct
import subprocess

import pytest
from fake_cp import fake, frame  # noqa: F401  (fake is a fixture)

from topo.poll import wait_until
from topo.weir import program


def rows(*values):
    return lambda request: [{"rows": list(values)}, {"result": {"count": len(values)}}]


def connection(number):
    return {"cs-client-addr": "10.0.0.1", "cs-client-port": number, "cs-server-addr": "10.0.1.1",
            "cs-server-port": 80, "ss-client-addr": "fd00::1", "ss-client-port": number,
            "ss-server-addr": "fd00::2", "ss-server-port": 80, "protocol": "tcp",
            "state": "established", "virtual": "/Common/vs", "worker": 0, "age": 3, "idle": 1}


@pytest.mark.parametrize("words, text", [
    (["modify ltm pool web members modify {10.0.0.1:80 { ratio 3 } }"],
     "ltm pool web members modify { 10.0.0.1:80 { ratio 3 } }"),
    (["modify", "ltm", "pool", "web", "description", "two words"], 'ltm pool web description "two words"'),
    (["modify", "ltm", "pool", "web", "description", ""], 'ltm pool web description ""'),
    (["modify", "ltm", "pool", "web", "members", "add", "{ 10.0.0.1:80 }"],
     "ltm pool web members add { 10.0.0.1:80 }"),
    (['modify ltm pool web description "a\\"\\\\\\n\\xff{"'], 'ltm pool web description "a\\"\\\\\\n\\xff{"'),
])
def test_edit_is_sent_in_words(fake, words, text):
    done = fake.weirsh(*words)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert fake.requests == [{"op": "edit", "verb": "modify", "text": text}]


def test_refusal_says_why(fake):
    fake.answer = lambda request: [{"error": {
        "code": 400, "kind": "ltm pool", "object": "/Common/web", "field": "load-balancing-mode",
        "reason": "\"x\" is not one of round-robin, ratio-member"}}]
    done = fake.weirsh("modify ltm pool web load-balancing-mode x")
    assert done.returncode == 1 and done.stdout == b""
    assert done.stderr == (b'weirsh: ltm pool /Common/web: load-balancing-mode: "x" is not one of '
                           b"round-robin, ratio-member\n")


@pytest.mark.parametrize("words", ["lost", "list ltm lost", "show sys connection age x", "create ltm pool a {",
                                   "delete sys connection", "modify ltm pool"])
def test_usage_is_checked_before_anything_is_sent(fake, words):
    done = fake.weirsh(words)
    assert done.returncode == 2 and done.stderr.startswith(b"weirsh: ")
    assert not fake.requests


def test_notes_and_warnings(fake):
    fake.answer = lambda request: [{"result": {"note": "cleared a hold of agent", "unsaved": 1,
                                               "warnings": ["the dataplane is not connected"]}}]
    done = fake.weirsh("modify ltm node a session user-enabled", "--json")
    assert json.loads(done.stdout)["unsaved"] == 1
    assert done.stderr == (b"weirsh: note: cleared a hold of agent\n"
                           b"weirsh: warning: the dataplane is not connected\n")


def test_list_forms(fake):
    block = "ltm pool /Common/web {\n    description \"\\\"{\"\n    members {\n        a:80 { }\n    }\n}\n"
    fake.answer = rows(block)
    short = block.replace("/Common/", "")
    assert fake.weirsh("list ltm pool web api").stdout.decode() == short * 2
    assert [r["name"] for r in fake.requests] == ["web", "api"]
    assert fake.weirsh("list ltm pool one-line").stdout == \
        b'ltm pool web { description "\\"{" members { a:80 { } } }\n'
    assert fake.weirsh("list ltm pool members").stdout == \
        b"ltm pool web {\n    members {\n        a:80 { }\n    }\n}\n"
    assert fake.requests[-1] == {"op": "list", "kind": "ltm pool", "form": "conf", "all": True}
    fake.weirsh("list")
    assert fake.requests[-1] == {"op": "list", "form": "conf", "all": False}


def test_any_bytes_of_a_description_pass(fake):
    raw = bytes(range(1, 256))
    fake.answer = rows({"bytes": raw.decode("latin-1")})
    assert fake.weirsh("list ltm pool web").stdout == raw + b"\n"


def test_list_json(fake):
    fake.answer = rows({"name": "web", "fullPath": "/Common/web", "loadBalancingMode": "round-robin",
                        "slowRampTime": 10})
    assert json.loads(fake.weirsh("list ltm pool --json").stdout)[0]["slowRampTime"] == 10
    assert json.loads(fake.weirsh("--json", "list ltm pool load-balancing-mode").stdout) == \
        [{"name": "web", "fullPath": "/Common/web", "loadBalancingMode": "round-robin"}]
    fake.answer = rows()
    assert json.loads(fake.weirsh("list ltm pool --json").stdout) == []


def test_connections_stream(fake):
    fake.answer = lambda request: [{"rows": [connection(1), connection(2)]}, {"rows": [connection(3)]},
                                   {"result": {"count": 3}}]
    done = fake.weirsh("show sys connection cs-client-addr 10.0.0.0/8 cs-server-port 80 protocol tcp "
                       "virtual-server vs age 5")
    assert fake.requests == [{"op": "show", "what": "sys connection", "filter": {
        "cs-client-addr": "10.0.0.0/8", "cs-server-port": 80, "protocol": "tcp", "virtual": "vs", "age": 5}}]
    lines = done.stdout.decode().splitlines()
    assert lines[2].split()[:5] == ["10.0.0.1:1", "10.0.1.1:80", "fd00::1.1", "fd00::2.80", "tcp"]
    assert lines[-1] == "Total records returned: 3" and len(lines) == 6
    done = fake.weirsh("show sys connection", "--json")
    assert [json.loads(line)["cs-client-port"] for line in done.stdout.splitlines()] == [1, 2, 3]


def test_connections_are_deleted(fake):
    fake.answer = lambda request: [{"result": {"count": 7}}]
    assert fake.weirsh("delete sys connection pool web member 10.0.0.1:80").stdout == \
        b"Connections deleted: 7\n"
    fake.weirsh("delete sys connection all")
    assert [r["filter"] for r in fake.requests] == [{"pool": "web", "member": "10.0.0.1:80"}, {}]


def endless(request):
    while True:
        yield {"rows": [connection(port) for port in range(100)]}


def test_output_that_nobody_reads(fake):
    """As with head: no message, no crash, counted as an end by SIGPIPE."""
    fake.answer = endless
    with subprocess.Popen(fake.command("show sys connection"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as shell:
        shell.stdout.readline()
        shell.stdout.close()
        assert shell.wait(20) == 141
        assert shell.stderr.read() == b""


def test_full_disk(fake):
    fake.answer = endless
    with open("/dev/full", "wb") as full:
        done = subprocess.run(fake.command("show sys connection"), stdout=full, stderr=subprocess.PIPE,
                              timeout=30, check=False)
    assert done.returncode == 1
    assert done.stderr == b"weirsh: standard output: No space left on device\n"


def test_interrupt_ends_a_stream(fake):
    fake.answer = endless
    with subprocess.Popen(fake.command("show sys connection"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as shell:
        shell.stdout.readline()
        shell.send_signal(signal.SIGINT)
        output, errors = shell.communicate(timeout=20)
    assert shell.returncode == 130 and errors == b"weirsh: interrupted\n"
    assert output


def test_interrupt_ends_a_wait(fake):
    released = []
    fake.answer = lambda request: iter(lambda: wait_until(lambda: released, "the test", 20), None)
    with subprocess.Popen(fake.command("list"), stderr=subprocess.PIPE) as shell:
        wait_until(lambda: fake.requests, "the request came")
        shell.send_signal(signal.SIGINT)
        assert shell.wait(20) == 130
        assert shell.stderr.read() == b"weirsh: interrupted\n"
    released.append(True)


@pytest.mark.parametrize("answer", [
    ["close"],
    [{"rows": [connection(1)]}, "close"],
    [struct.pack("!I", 100) + b"{", "close"],
    [struct.pack("!I", 1 << 31), "close"],
    [frame(b"not json"), "close"],
    [{"neither": 1}, "close"],
    [frame(b"[]"), "close"],
])
def test_weir_cp_goes_away_or_mad(fake, answer):
    fake.answer = lambda request: answer
    done = fake.weirsh("show sys connection")
    assert done.returncode == 3
    assert done.stderr.startswith(b"weirsh: ") and b"weir-cp" in done.stderr and done.stderr.count(b"\n") == 1


def test_not_connected(tmp_path):
    done = subprocess.run([program("weirsh"), "--run-dir", tmp_path, "list"], capture_output=True,
                          timeout=30, check=False)
    assert done.returncode == 3
    assert done.stderr == f"weirsh: {tmp_path}/cp.sock: not connected: weir-cp does not run there " \
        "(see --run-dir)\n".encode()
    assert subprocess.run([program("weirsh"), "--run-dir", "x" * 300, "list"], capture_output=True,
                          timeout=30, check=False).returncode == 3


def test_lines_of_a_pipe(fake):
    script = b"""# a comment
create ltm pool web members add {
    10.0.0.1:80 { ratio 3 }
    # the second comes later
}
list ltm pool \\
    web
"""
    done = fake.weirsh(stdin=script)
    assert done.returncode == 0, done.stderr
    assert [r["op"] for r in fake.requests] == ["edit", "list"]
    assert fake.requests[0]["text"] == "ltm pool web members add { 10.0.0.1:80 { ratio 3 } }"


def test_file_ends_at_the_first_failure(fake, tmp_path):
    script = tmp_path / "script"
    script.write_text("list ltm pool\n\nlist ltm lost\nlist ltm node\n")
    done = fake.weirsh("-f", script)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"weirsh: {script}:3: unknown component")
    assert len(fake.requests) == 1
    script.write_text("list ltm pool {\n")
    assert b'the closing "}" is missing' in fake.weirsh("-f", script).stderr
    assert fake.weirsh("-f", tmp_path / "absent").returncode == 2


def test_reconnects_when_weir_cp_restarted(fake):
    """A connection that broke between two commands costs nothing."""
    fake.answer = lambda request: [{"result": {}}, "close"]
    done = fake.weirsh(stdin=b"save sys config\n" * 20)
    assert done.returncode in (0, 3)  # 3: it broke while a command was under way, and is said
    if done.returncode == 3:
        assert b"may have been made or not" in done.stderr


def test_transaction(fake):
    done = fake.weirsh(stdin=b"create cli transaction\ncreate ltm node a address 10.0.0.1\n"
                             b"delete ltm pool web\nlist cli transaction\nsubmit cli transaction\n")
    assert done.returncode == 0
    assert done.stdout == b"1: create ltm node a address 10.0.0.1\n2: delete ltm pool web\n"
    assert fake.requests == [{"op": "transaction", "requests": [
        {"op": "edit", "verb": "create", "text": "ltm node a address 10.0.0.1"},
        {"op": "edit", "verb": "delete", "text": "ltm pool web"}]}]


def test_transaction_that_fails(fake):
    fake.answer = lambda request: [{"error": {"code": 409, "reason": "in use", "request": 1}}]
    done = fake.weirsh(stdin=b"create cli transaction\ncreate ltm node a\ndelete ltm pool web\n"
                             b"submit cli transaction\n")
    assert done.returncode == 1
    assert b"in command 2 of the transaction: delete ltm pool web" in done.stderr
    done = fake.weirsh(stdin=b"create cli transaction\ncreate ltm node a\n")
    assert done.returncode == 1 and b"not submitted: 1 commands dropped" in done.stderr
    assert fake.weirsh("submit cli transaction").returncode == 1
    assert fake.weirsh(stdin=b"create cli transaction\nsave sys config\n").returncode == 1
    assert len(fake.requests) == 1


def test_load_sends_the_file(fake, tmp_path):
    conf = tmp_path / "some.conf"
    conf.write_bytes(b"ltm node a {\n    description \"\xff\"\n}\n")
    assert fake.weirsh("load", "sys", "config", "verify", "merge", "file", conf).returncode == 0
    assert fake.requests == [{"op": "load", "verify": True, "merge": True, "file": str(conf),
                              "text": {"bytes": conf.read_bytes().decode("latin-1")}}]
    done = fake.weirsh("load sys config file /nonexistent")
    assert done.returncode == 1 and b"/nonexistent: No such file" in done.stderr
    conf.write_bytes(b"ltm pool a { }\n\0")
    done = fake.weirsh("load", "sys", "config", "file", conf)
    assert done.returncode == 1 and f"{conf}:2: a NUL byte".encode() in done.stderr
    assert len(fake.requests) == 1
    fake.weirsh("load sys config")
    assert fake.requests[-1] == {"op": "load", "verify": False, "merge": False}


def test_save_shows_the_difference(fake):
    fake.answer = lambda request: [{"error": {"code": 409, "reason": "weir.conf was changed",
                                              "difference": "-ratio 1\n+ratio 2"}}]
    done = fake.weirsh("save sys config")
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[:3] == ["weirsh: weir.conf was changed", "-ratio 1", "+ratio 2"]
    fake.weirsh("save sys config force")
    assert fake.requests[-1] == {"op": "save", "force": True}


def test_state_in_blocks(fake):
    pool = {"name": "/Common/web", "status.availabilityState": "available", "status.enabledState": "enabled",
            "status.statusReason": "ok", "memberCnt": 2, "serverside.curConns": 5, "serverside.bitsIn": 800}
    member = {"name": "/Common/10.0.0.1:80", "owner": "/Common/web", "serverside.curConns": 5,
              "status.availabilityState": "available", "ratio": 3}
    fake.answer = lambda request: rows(member if "members" in request["what"] else pool)(request)
    text = fake.weirsh("show ltm pool web members").stdout.decode()
    assert "Ltm::Pool:  web\n" in text
    assert "  Availability   :  available\n" in text
    assert "  Current Connections           5\n" in text
    assert "10.0.0.1:80  available" in text
    assert [(r["what"], r.get("name"), r.get("owner")) for r in fake.requests] == \
        [("ltm pool", "web", None), ("ltm pool members", None, "web")]
    assert json.loads(fake.weirsh("--json", "show ltm pool members").stdout) == [member]
    done = fake.weirsh("show ltm snatpool")
    assert done.returncode == 2 and b"it has no state" in done.stderr


def test_dataplane(fake):
    status = {"generation": 4, "unsaved": 2, "saved": 3, "dataplane": {"connected": True, "generation": 4}}
    fake.answer = rows(status)
    assert json.loads(fake.weirsh("--json", "show sys dataplane").stdout) == \
        {"connected": True, "generation": 4, "running-generation": 4}
    assert b"Changes not Saved  :  2" in fake.weirsh("show sys config").stdout
    fake.answer = rows({"reason": "martian", "packets": 0}, {"reason": "no-flow", "packets": 3})
    assert fake.weirsh("show sys dataplane drops").stdout == b"no-flow  3\n"
    assert json.loads(fake.weirsh("--json", "show sys dataplane drops").stdout) == {"martian": 0, "no-flow": 3}
    fake.answer = rows({"worker": 0, "rx-packets": 12}, {"worker": 1, "rx-packets": 5})
    assert fake.weirsh("show sys dataplane workers").stdout == b"worker       0  1\nrx-packets  12  5\n"


def test_interfaces(fake):
    ports = [{"name": "1.1", "up": True, "mac": "02:00:00:00:00:01", "driver": "net_af_xdp"}, {"name": "1.2", "up": False}]
    fake.answer = rows(*ports)
    assert fake.weirsh("show net interface 1.1").stdout.decode().splitlines()[1].split() == \
        ["1.1", "yes", "02:00:00:00:00:01", "net_af_xdp"]
    assert json.loads(fake.weirsh("show net interface --json").stdout) == ports
    done = fake.weirsh("show net interface 1.3")
    assert done.returncode == 1 and b"net interface 1.3" in done.stderr
    fake.answer = rows()
    assert fake.weirsh("show net arp").stdout == b"No neighbour is known\n"


def test_hostile_text_does_not_steer_a_terminal(fake):
    """On a terminal, control characters of the configuration are shown, not sent."""
    fake.answer = rows("ltm pool /Common/web {\n    description \"\x1b[2J\x9b\"\n}\n")
    master, slave = os.openpty()
    with subprocess.Popen(fake.command("list ltm pool"), stdout=slave, stdin=subprocess.DEVNULL) as shell:
        assert shell.wait(20) == 0
    os.close(slave)
    shown = os.read(master, 65536)
    os.close(master)
    assert b"\x1b" not in shown and b"\\x1b[2J\\xc2\\x9b" in shown


def test_prompt_survives_errors_and_interrupts(fake):
    def answer(request):
        if request["op"] == "edit":
            return [{"result": {"unsaved": 1}}]
        if request["what"] == "sys status":
            return rows({"version": "0.1", "unsaved": 0})(request)
        return endless(request)

    fake.answer = answer
    master, slave = os.openpty()
    with subprocess.Popen(fake.command(), stdin=slave, stdout=slave, stderr=slave, start_new_session=True) as shell:
        seen = bytearray()

        def shows(text):
            while text not in seen:
                if not select.select([master], [], [], 20)[0]:
                    shell.kill()  # the wait for its end must end
                    pytest.fail(f"{text} does not show, but {bytes(seen)}")
                seen.extend(os.read(master, 65536))
            del seen[:seen.index(text) + len(text)]

        shows(b"Weir 0.1; the dataplane is not connected")
        shows(b"weirsh# ")
        os.write(master, b"lost\n")
        shows(b"unknown command")
        shows(b"weirsh# ")
        os.write(master, b"half a line")
        shows(b"line")
        shell.send_signal(signal.SIGINT)
        shows(b"weirsh# ")
        os.write(master, b"\x15show sys connection\n")  # the terminal forgets its half line
        shows(b"established")
        shell.send_signal(signal.SIGINT)
        shows(b"interrupted")
        shows(b"weirsh# ")
        os.write(master, b"create ltm node a {\n")
        shows(b"> ")
        os.write(master, b"}\n")
        shows(b"1 change not saved")
        shows(b"weirsh# ")
        os.write(master, b"quit\n")
        assert shell.wait(20) == 0
    os.close(slave)
    os.close(master)


@pytest.mark.parametrize("thousands", [200, pytest.param(1000, marks=pytest.mark.long)])
def test_many_connections_take_no_memory(fake, thousands):
    """weirsh's peak stays where it is with ten thousand: rows are printed and forgotten."""
    batch = frame({"rows": [connection(port) for port in range(1000)]})

    def peak(batches):
        fake.answer = lambda request: [batch] * batches + [{"result": {"count": 1000 * batches}}]
        # a sanitizer keeps freed memory for a while: little of it
        environment = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}
        with subprocess.Popen(fake.command("show sys connection --json"), stdout=subprocess.PIPE,
                              env=environment) as shell:
            count = sum(chunk.count(b"\n") for chunk in iter(lambda: shell.stdout.read(1 << 20), b""))
            _, status, usage = os.wait4(shell.pid, 0)
            shell.returncode = os.waitstatus_to_exitcode(status)
        assert shell.returncode == 0 and count == 1000 * batches
        return usage.ru_maxrss

    assert peak(thousands) < peak(10) + 8192  # KiB
