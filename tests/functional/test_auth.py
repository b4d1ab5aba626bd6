# SPDX-License-Identifier: BSD-3-Clause
"""Users of the management API at weir-cp's door: log-ins, tokens, wrong passwords, what is kept of passwords."""
import stat
import statistics
import threading
import time

import pytest
from topo import wait_until

from cp_alone import cp, error_of, milliseconds  # noqa: F401

PASSWORD = "correct horse battery"


def add_user(cp, name, role="guest", partition="all-partitions", password=PASSWORD, more=""):
    cp.edit("create", f'auth user {name} password "{password}" '
            f"partition-access add {{ {partition} {{ role {role} }} }} {more}")


def basic(user, password=PASSWORD, address="192.0.2.7"):
    return {"user": user, "password": password, "address": address}


def by_token(token, address="192.0.2.7"):
    return {"token": token, "address": address}


def login(cp, user, password=PASSWORD, address="192.0.2.7"):
    return cp.ask("login", **{"as": basic(user, password, address)})[1]


def whoami(cp, credentials):
    return cp.ask("whoami", **{"as": credentials})[1]["user"]


def refusal(cp, credentials, op="whoami", **arguments):
    error = error_of(cp.ask, op, **{"as": credentials}, **arguments)
    return error["code"], error["field"]


def log_of(cp):
    return cp.daemon.text()


def test_log_in_and_out(cp):
    cp.start()
    add_user(cp, "bob")
    made = login(cp, "bob")
    assert len(made["token"]) == 26 and made["token"].isalnum() and made["user"] == "bob"
    assert made["timeout"] == 1200 and made["expires"] - made["updated"] == 1200 * 1000
    token = by_token(made["token"])
    assert whoami(cp, token) == "bob" and whoami(cp, basic("bob")) == "bob"
    assert whoami(cp, {**token, **basic("bob")}) == "bob"
    rows = cp.ask("list-tokens", **{"as": token})[0]
    assert [row["id"] for row in rows] == [made["id"]] and "token" not in rows[0]
    changed = cp.ask("modify-token", token=made["token"], timeout=36000, **{"as": token})[1]
    assert changed["timeout"] == 36000
    assert refusal(cp, token, "modify-token", token=made["token"], timeout=36001) == (400, "timeout")
    cp.ask("logout", token=made["token"], **{"as": token})
    assert refusal(cp, token) == (401, "token")
    assert refusal(cp, token, "login") == (401, "token")
    text = log_of(cp)
    assert "log-in of bob from 192.0.2.7" in text and f"token {made['id']} made for bob from 192.0.2.7" in text
    assert "log-out of bob from 192.0.2.7" in text and made["token"] not in text
