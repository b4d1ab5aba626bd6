# SPDX-License-Identifier: BSD-3-Clause
"""What belongs to a user of the REST interface is his alone, and of nobody who comes later or may not see it."""
import contextlib

import pytest
from rest_alone import PASSWORD, add_user, rest_alone, upload
from topo import wait_until

TEXT = b"ltm pool sent { }\n"


@pytest.fixture(scope="module")
def api():
    with rest_alone() as api:
        yield api


def listed(session):
    return session.post("util/unix-ls", {"command": "run", "utilCmdArgs": "/var/config/rest/downloads"}).get(
        "commandResult", "")


def areas(api):
    return {path.name for path in (api.weir.run_dir / "uploads" / "uploads").iterdir()}


def test_who_may_not_hold_does_not(api):
    """Holds of what another partition has; what was read can be written back."""
    api.post("auth/partition", {"name": "Other"})
    api.post("ltm/node", {"name": "n", "address": "10.0.0.9"})
    api.post("ltm/pool", {"name": "held", "members": ["n:80"]})
    for role in ("operator", "manager"):
        with contextlib.closing(add_user(api, f"u{role}", role, "Other")) as session:
            for path in ("ltm/node/n", "ltm/pool/held/members/n:80"):
                before = session.get(path)
                for method, body in (("PATCH", {"session": "user-disabled"}), ("PATCH", {"state": "user-down"}),
                                     ("PUT", {**before, "session": "user-disabled"})):
                    assert session.send(method, path, body).status_code in (403, 404), (role, method, path, body)
                assert session.send("PATCH", path, before).status_code == 200
                after = api.get(path)
                assert (after["session"], after["state"]) == (before["session"], before["state"])
        api.delete(f"auth/user/u{role}")
    with contextlib.closing(add_user(api, "holder", "operator", "Common")) as session:
        session.patch("ltm/node/n", {"session": "user-disabled"})
        assert api.get("ltm/node/n")["session"] == "user-disabled"
        session.patch("ltm/node/n", {"session": "user-enabled"})
    api.delete("auth/user/holder")
    api.delete("ltm/pool/held")
    api.delete("ltm/node/n")
    api.delete("auth/partition/Other")


def test_a_new_user_of_an_old_name_finds_nothing(api):
    before = areas(api) if (api.weir.run_dir / "uploads" / "uploads").exists() else set()
    with contextlib.closing(add_user(api, "bob")) as bob:
        upload(bob, "secret.conf", TEXT)
        made = bob.post("transaction", {})["transId"]
        assert bob.get(f"transaction/{made}")["state"] == "STARTED" and listed(bob) == "secret.conf\n"
        area, = areas(api) - before
    api.delete("auth/user/bob")
    with contextlib.closing(add_user(api, "bob")) as other:
        assert listed(other) == ""
        assert other.send("GET", f"transaction/{made}").status_code == 404
        assert "items" not in other.get("transaction")

        def gone():
            api.get("ltm/pool")  # each request may look whose files are left
            return area not in areas(api)
        wait_until(gone, "the files went with their user", 30)
        upload(other, "own.conf", TEXT)
        api.patch("auth/user/bob", {"description": "still he"})
        assert listed(other) == "own.conf\n"
    api.weir.restart()
    with contextlib.closing(api.log_in("bob", PASSWORD)) as other:
        assert listed(other) == "own.conf\n", "a restart makes nobody another user"
    api.weir.edit("delete", "auth user bob")


def test_one_address_cannot_hold_all_streams(api):
    with contextlib.ExitStack() as stack:
        users = []
        for name in ("ann", "eve"):
            api.weir.edit("create", f'auth user {name} password "{PASSWORD}" '
                          "partition-access add { all-partitions { role guest } }")
            users.append(stack.enter_context(contextlib.closing(api.log_in(name, PASSWORD))))
        open_now = []
        for number in range(8):
            reply = users[number % 2].send("GET", "/mgmt/weir/events", stream=True)
            assert reply.status_code == 200
            open_now.append(stack.enter_context(contextlib.closing(reply)))
        refused = users[0].send("GET", "/mgmt/weir/events", stream=True)
        assert refused.status_code == 503 and refused.headers["Retry-After"]
        open_now[0].close()

        def again():
            reply = users[0].send("GET", "/mgmt/weir/events", stream=True)
            with contextlib.closing(reply):
                return reply.status_code == 200
        wait_until(again, "the place of the one that left is free", 20)
    for name in ("ann", "eve"):
        api.weir.edit("delete", f"auth user {name}")
