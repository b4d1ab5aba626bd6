# SPDX-License-Identifier: BSD-3-Clause
"""The local interface of weir-cp: docs/local-api.md, from outside."""
import os
import pathlib
import socket
import stat
import struct

import pytest
from cp_alone import cp, error_of  # noqa: F401  (cp is a fixture)

from topo import wait_until


def test_socket_is_the_owners(cp):
    cp.start()
    path = cp.run_dir / "cp.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    status = pathlib.Path(f"/proc/{cp.daemon.pid}/status").read_text()
    caps = {line.split()[0]: int(line.split()[1], 16) for line in status.splitlines() if line.startswith("Cap")}
    assert caps["CapPrm:"] == caps["CapEff:"] == caps["CapBnd:"] == 1 << 12, "CAP_NET_ADMIN and nothing else"
    assert "NoNewPrivs:\t1" in status
    cp.stop()
    assert not path.exists()
    cp.daemon.process = None


def test_others_are_refused(cp):
    cp.start()
    path = cp.run_dir / "cp.sock"
    os.chmod(path, 0o666)
    with cp.connect() as sock:
        pid = os.fork()
        if pid == 0:
            os.setuid(65534)
            mine = socket.socket(socket.AF_UNIX)
            try:
                mine.connect(str(path))
                cp.send(mine, {"op": "list", "kind": "ltm"})
                os._exit(0 if cp.receive(mine)["error"]["code"] == 403 else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        cp.send(sock, {"op": "show", "what": "sys version", "id": "x"})
        assert cp.receive(sock)["rows"][0]["product"] == "Weir"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"{}" * 2])
def test_what_is_no_message(cp, body):
    cp.start()
    with cp.connect() as sock:
        cp.send(sock, body)
        assert cp.receive(sock)["error"]["code"] == 400
        with pytest.raises(EOFError):
            cp.receive(sock)
    assert cp.status()


def test_requests_that_make_no_sense(cp):
    cp.start()
    generation = cp.status()["generation"]
    with cp.connect() as sock:
        for body, code in (({}, 400), ({"op": 1}, 400), ({"op": "nosuch"}, 400), ({"op": "edit"}, 400),
                           ({"op": "edit", "verb": "modify"}, 400), ({"op": "edit", "verb": "x", "text": "y"}, 400),
                           ({"op": "edit", "verb": "create", "text": {"bytes": 3}}, 400),
                           ({"op": "create"}, 400), ({"op": "create", "kind": "ltm pool"}, 400),
                           ({"op": "create", "kind": "ltm pool", "body": []}, 400),
                           ({"op": "create", "kind": "ltm pool members", "body": {"name": "10.0.0.1:80"}}, 400),
                           ({"op": "modify", "kind": "ltm pool", "name": "nosuch", "body": {}}, 404),
                           ({"op": "modify", "kind": "ltm pool", "name": "web", "body": {"loadBalancingMode": 7}}, 400),
                           ({"op": "delete", "kind": "ltm pool", "name": "web"}, 409),
                           ({"op": "delete", "kind": "ltm pool members", "owner": "x", "name": "y"}, 404),
                           ({"op": "transaction", "requests": 3}, 400), ({"op": "list", "kind": "nosuch"}, 400),
                           ({"op": "transaction", "requests": [3]}, 400),
                           ({"op": "list", "kind": "ltm pool", "name": "nosuch"}, 404),
                           ({"op": "list", "kind": ["x"]}, 400), ({"op": "show"}, 400),
                           ({"op": "show", "what": "sys nosuch"}, 400), ({"op": "load", "text": 3}, 400),
                           ({"op": "show", "what": "ltm pool members", "owner": "nosuch"}, 404),
                           ({"op": "delete-connections", "filter": 3}, 400)):
            cp.send(sock, {**body, "id": 7})
            answer = cp.receive(sock)
            assert answer["id"] == 7 and answer.get("error", {}).get("code") == code, (body, answer)
            assert answer["error"]["text"]
    assert cp.status()["generation"] == generation


def test_objects_by_rest_form(cp):
    cp.start()
    cp.ask("create", kind="ltm pool", body={"name": "r", "loadBalancingMode": "ratio-member", "members": ["10.0.2.30:80"]})
    cp.ask("create", kind="ltm pool members", owner="r", body={"name": "10.0.2.31:80", "ratio": 5})
    cp.ask("modify", kind="ltm pool members", owner="r", name="10.0.2.30:80", body={"session": "user-disabled"})
    rows = cp.ask("list", kind="ltm pool members", owner="r", form="rest")[0]
    assert [(row["name"], row["ratio"], row["session"]) for row in rows] == [
        ("10.0.2.30:80", 1, "user-disabled"), ("10.0.2.31:80", 5, "user-enabled")]
    state = {row["name"]: row for row in cp.show("ltm pool members", owner="r")}["/Common/10.0.2.30:80"]
    assert (state["status.enabledState"], state["sessionStatus"], state["status.color"]) == (
        "disabled", "user-disabled", "blue")
    cp.ask("delete", kind="ltm pool", name="r")
    assert error_of(cp.ask, "list", kind="ltm pool", name="r")["code"] == 404


def test_transaction_is_all_or_nothing(cp):
    cp.start()
    before = cp.list(""), cp.status()["generation"]
    good = [{"op": "edit", "verb": "create", "text": "ltm pool a"},
            {"op": "create", "kind": "ltm pool", "body": {"name": "b"}},
            {"op": "delete", "kind": "ltm virtual", "name": "web"}]
    error = error_of(cp.ask, "transaction", requests=good + [{"op": "edit", "verb": "modify", "text": "ltm pool c ratio 1"}])
    assert error["request"] == 3
    cp.ask("transaction", requests=good, verify=True)
    assert (cp.list(""), cp.status()["generation"]) == before
    result = cp.ask("transaction", requests=good)[1]
    assert result["generation"] == before[1] + 1 and result["changes"] >= 3
    assert "pool /Common/a" in cp.list("ltm pool") and cp.list("ltm virtual") == ""


def test_log_steers_no_terminal(cp):
    cp.start()
    cp.edit("modify", 'ltm pool web description "a\x1b[31mb"')
    assert "\x1b" not in cp.daemon.text() and "a?[31mb" in cp.daemon.text()


def test_bytes_that_are_no_text(cp):
    cp.start()
    cp.ask("edit", verb="modify", text={"bytes": 'ltm pool web description "\u00e4\u00ff"'})
    row = cp.ask("list", kind="ltm pool", name="web", form="conf")[0][0]
    text = row["bytes"] if isinstance(row, dict) else row
    assert "\u00e4\u00ff" in text or "\\xe4\\xff" in text.lower(), row
    cp.restart(kill=True)
    assert cp.ask("list", kind="ltm pool", name="web", form="conf")[0][0] == row


def test_slow_and_vanished_clients_hurt_nobody(cp):
    big = "".join(f"ltm pool p{n} {{ description {'x' * 300} }}\n" for n in range(20000))
    cp.start()
    cp.ask("load", text=big, merge=True)
    slow = [cp.connect() for _ in range(20)]
    for sock in slow:
        cp.send(sock, {"op": "list", "kind": "ltm", "form": "rest"})
    half = cp.connect()
    half.sendall(struct.pack("!I", 1000) + b"{")
    gone = cp.connect()
    cp.send(gone, {"op": "list", "kind": "ltm", "form": "conf"})
    cp.send(gone, {"op": "edit", "verb": "create", "text": "ltm pool pipelined"})
    gone.close()
    cp.edit("modify", "ltm node 10.0.2.11 ratio 3")
    rows, result = cp.ask("list", kind="ltm pool", form="conf")
    assert len(rows) == result["count"] >= 20001
    wait_until(lambda: cp.status(), "still there")
    for sock in slow:
        sock.close()
    half.close()
