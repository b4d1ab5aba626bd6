# SPDX-License-Identifier: BSD-3-Clause
"""What each role may at each door of weir-cp, in its own partition, in another one and in Common."""
import pytest
from topo.weir import ApiError

from cp_alone import CONF, Cp, Topology

PASSWORD = "correct horse battery"
READERS = {"guest", "auditor", "operator", "application-editor", "manager", "resource-admin", "admin"}
OPERATORS = {"operator", "application-editor", "manager", "resource-admin", "admin"}
EDITORS = {"application-editor", "manager", "resource-admin", "admin"}
MANAGERS = {"manager", "resource-admin", "admin"}
RESOURCE = {"resource-admin", "admin"}
ADMINS = {"admin"}
AUDITORS = {"auditor", *RESOURCE}
AGENT = {"agent"}

# Changes of objects of a partition, by who may; PART stands for it, IP for an address in it.
CHANGES = {
    "modify ltm pool /PART/p members modify { /PART/IP:80 { ratio 7 } }": OPERATORS | AGENT,
    "modify ltm pool /PART/p members modify { /PART/IP:80 { dynamic-ratio 7 } }": OPERATORS | AGENT,
    "modify ltm pool /PART/p members modify { /PART/IP:80 { session user-disabled } }": OPERATORS | AGENT,
    "modify ltm node /PART/IP state user-down": OPERATORS | AGENT,
    "modify ltm node /PART/IP { holds { agent { session user-disabled } } }": OPERATORS,
    "modify ltm node /PART/IP { holds { operator { session user-disabled } } }": OPERATORS,
    "modify ltm node /PART/IP agent-weight 50": OPERATORS,
    "modify ltm node /PART/IP description x": EDITORS,
    "modify ltm node /PART/IP connection-limit 5": EDITORS,
    "modify ltm pool /PART/p members modify { /PART/IP:80 { priority-group 3 } }": EDITORS,
    "modify ltm pool /PART/p load-balancing-mode ratio-member": EDITORS,
    "modify ltm pool /PART/p monitor /PART/m": EDITORS,
    "modify ltm monitor http /PART/m interval 6": EDITORS,
    "modify ltm virtual /PART/v connection-limit 9": MANAGERS,
    "create ltm pool /PART/new": MANAGERS,
    "create ltm node /PART/10.9.9.9 address 10.9.9.9": MANAGERS,
    "create ltm monitor tcp /PART/new": MANAGERS,
    "create ltm virtual /PART/new destination /PART/10.8.8.8:80": MANAGERS,
    "create ltm snatpool /PART/new members add { /PART/10.8.8.9 }": MANAGERS,
    "modify ltm pool /PART/p members add { /PART/IP:81 { } }": MANAGERS,
    "modify ltm pool /PART/p members delete { /PART/IP:80 }": MANAGERS,
    "modify ltm pool /PART/p members replace-all-with { /PART/IP:82 { } }": MANAGERS,
    "modify ltm pool /PART/p members none": MANAGERS,
    "delete ltm virtual /PART/v": MANAGERS,
}

# Of no partition.
MACHINE = {
    "modify sys db tm.rejectunmatched value true": RESOURCE,
    "modify sys dns name-servers { 10.0.0.53 }": RESOURCE,
    "modify sys httpd allow { 10.0.0.0/8 }": RESOURCE,
    "create net vlan x interfaces add { 1.3 { untagged } }": RESOURCE,
    "modify net self e allow-service all": RESOURCE,
    "modify ltm default-node-monitor rule /Common/icmp": MANAGERS,
    "create auth partition C": ADMINS,
    "create auth user eve": ADMINS,
    'modify auth user auditor password "another password"': ADMINS,
    "modify auth user guest partition-access modify { all-partitions { role admin } }": ADMINS,
    "modify auth user guest description x": ADMINS,
    "modify auth password-policy minimum-length 6": ADMINS,
    "delete auth user manager": ADMINS,
}

# Requests as they are, by who may.
REQUESTS = [
    ("whoami", {}, READERS | AGENT),
    ("list-tokens", {}, READERS | AGENT),
    ("show", {"what": "sys version"}, READERS | AGENT),
    ("show", {"what": "sys status"}, READERS),
    ("show", {"what": "sys dataplane"}, READERS),
    ("show", {"what": "sys history"}, AUDITORS),
    ("show", {"what": "ltm drain"}, READERS | AGENT),
    ("list", {"kind": "ltm"}, READERS | AGENT),
    ("load", {"verify": True}, ADMINS),
    ("load", {"text": "ltm pool x { }", "merge": True, "verify": True}, ADMINS),
    ("save", {}, OPERATORS),
    ("save", {"force": True}, ADMINS),
]

REFUSED = (403, 404)  # what one may not even read is not there
ALL = sorted(READERS | AGENT | {"no-access"})
EVERYWHERE_ONLY = {"auditor", "resource-admin", "admin", "agent"}
PARTS = {"A": "10.0.9.1", "B": "10.0.9.2", "Common": "10.0.9.3"}


class Doors:
    """weir-cp with one user per role, and one per role in partition A alone (in-a-ROLE); all have logged in."""

    def __init__(self, cp):
        self.cp, self.tokens = cp, {}
        for part, ip in PARTS.items():
            if part != "Common":
                cp.edit("create", f"auth partition {part}")
            cp.edit("create", f"ltm monitor http /{part}/m")
            cp.edit("create", f"ltm pool /{part}/p members add {{ /{part}/{ip}:80 {{ }} }}")
            cp.edit("create", f"ltm virtual /{part}/v destination /{part}/{ip.replace('9', '7', 1)}:80 pool /{part}/p")
        for role in ALL:
            nodes = "agent-nodes { " + " ".join(f"/{p}/{ip}" for p, ip in PARTS.items()) + " }" \
                if role == "agent" else ""
            self.add(role, role, "all-partitions", nodes)
            if role not in EVERYWHERE_ONLY:
                self.add(f"in-a-{role}", role, "A")

    def add(self, name, role, partition, more=""):
        access = f"partition-access replace-all-with {{ {partition} {{ role {role} }} }} {more}"
        self.cp.edit("modify" if name == "admin" else "create",
                     f'auth user {name} password "{PASSWORD}" {access}')
        try:
            self.tokens[name] = self.cp.ask("login", **{"as": {"user": name, "password": PASSWORD}})[1]["token"]
        except ApiError as error:
            assert role == "no-access" and error.error["code"] == 401

    def code(self, user, op, **arguments):
        """200, or what it is refused with."""
        try:
            self.cp.ask(op, **{"as": {"token": self.tokens[user]}}, **arguments)
            return 200
        except ApiError as error:
            return error.error["code"]

    def change(self, user, line):
        verb, text = line.split(" ", 1)
        return self.code(user, "transaction", verify=True,
                         requests=[{"op": "edit", "verb": verb, "text": text}])

    def rows(self, user, op, **arguments):
        return self.cp.ask(op, **{"as": {"token": self.tokens[user]}}, **arguments)[0]


@pytest.fixture(scope="module")
def doors():
    with Topology() as topo:
        cp = Cp(topo.namespace("cp"), topo.dir, CONF)
        cp.start()
        try:
            yield Doors(cp)
        finally:
            cp.stop()


def in_part(line, part):
    return line.replace("PART", part).replace("IP", PARTS[part])


@pytest.mark.parametrize("role", [role for role in ALL if role != "no-access"])
def test_changes(doors, role):
    """A role for all partitions may the same in each of them."""
    wrong = []
    for template, who in CHANGES.items():
        for part in PARTS:
            line = in_part(template, part)
            code = doors.change(role, line)
            if code not in ((200,) if role in who else REFUSED):
                wrong.append((line, code))
    assert not wrong


@pytest.mark.parametrize("role", ["guest", "operator", "application-editor", "manager"])
def test_changes_in_one_partition(doors, role):
    """A role in A may nothing in B, nor in Common."""
    wrong = []
    for template, who in CHANGES.items():
        for part in PARTS:
            line = in_part(template, part)
            code = doors.change(f"in-a-{role}", line)
            if code not in ((200,) if role in who and part == "A" else REFUSED):
                wrong.append((line, code))
    assert not wrong


@pytest.mark.parametrize("role", [role for role in ALL if role != "no-access"])
def test_machine(doors, role):
    wrong = [(line, code) for line, who in MACHINE.items()
             if (code := doors.change(role, line)) not in ((200,) if role in who else REFUSED)]
    if role not in EVERYWHERE_ONLY:
        wrong += [(line, code) for line in MACHINE if (code := doors.change(f"in-a-{role}", line)) not in REFUSED]
    for op, arguments, who in REQUESTS:
        code = doors.code(role, op, **arguments)
        if code != (200 if role in who else 403):
            wrong.append((op, arguments, code))
    assert not wrong


def test_no_access(doors):
    assert "no-access" not in doors.tokens and "in-a-no-access" not in doors.tokens


def names(rows):
    return {(row["fullPath"] if "fullPath" in row else row["name"]) for row in rows}


def test_reading(doors):
    everything = {"/A/p", "/B/p", "/Common/p", "/Common/web"}
    for role in READERS:
        assert names(doors.rows(role, "list", kind="ltm pool", form="rest")) == everything
        assert names(doors.rows(role, "show", what="ltm pool")) == everything
    for role in ("guest", "operator", "application-editor", "manager"):
        user = f"in-a-{role}"
        assert names(doors.rows(user, "list", kind="ltm pool", form="rest")) == everything - {"/B/p"}
        assert names(doors.rows(user, "show", what="ltm pool")) == everything - {"/B/p"}
        assert "/B/" not in "".join(doors.rows(user, "list", form="conf"))
        for op, arguments in (("list", {"kind": "ltm pool", "name": "/B/p"}),
                              ("list", {"kind": "members", "owner": "/B/p"}),
                              ("show", {"what": "ltm pool", "name": "/B/p"}),
                              ("show", {"what": "ltm pool members", "owner": "/B/p"}),
                              ("show", {"what": "ltm node", "name": "/B/10.0.9.2"}),
                              ("show", {"what": "ltm monitor", "name": "/B/m"}),
                              ("show", {"what": "ltm monitor instances", "pool": "/B/p"}),
                              ("show", {"what": "sys connection", "filter": {"pool": "/B/p"}}),
                              ("delete-connections", {"filter": {"virtual": "/B/v"}})):
            assert doors.code(user, op, **arguments) in (404, 403), (op, arguments)
        assert not [row for row in doors.rows(user, "show", what="ltm monitor") if row["name"].startswith("/B/")]


def test_users_are_read_by_those_who_manage_them(doors):
    for role in ALL:
        if role == "no-access":
            continue
        seen = names(doors.rows(role, "list", kind="auth user", form="rest"))
        assert seen == {role} if role not in ("admin", "auditor") else {"admin", "in-a-guest"} <= seen
        assert not names(doors.rows(role, "list", kind="auth user", form="rest")) & {"in-a-guest"} \
            or role in ("admin", "auditor")
        text = "".join(doors.rows(role, "list", form="conf", all=True))
        assert ("encrypted-password $y$" in text) == (role == "admin")
        rest = str(doors.rows(role, "list", kind="auth user", form="rest"))
        assert ("encryptedPassword" in rest) == (role == "admin")


def test_agent_reads_its_servers_alone(doors):
    assert names(doors.rows("agent", "show", what="ltm node")) == {f"/{p}/{ip}" for p, ip in PARTS.items()}
    assert names(doors.rows("agent", "show", what="ltm pool members")) == \
        {f"/{p}/{ip}:80" for p, ip in PARTS.items()}
    for what in ("ltm pool", "ltm virtual", "ltm virtual-address", "ltm monitor"):
        assert not doors.rows("agent", "show", what=what)
    assert doors.code("agent", "show", what="sys connection") == 403
    assert doors.code("agent", "delete-connections", filter={}) == 403
    assert not doors.rows("agent", "list", kind="net")
    doors.cp.edit("modify", "auth user agent agent-nodes { /A/10.0.9.1 }")
    assert doors.code("agent", "whoami") == 401
    doors.tokens["agent"] = doors.cp.ask("login", **{"as": {"user": "agent", "password": PASSWORD}})[1]["token"]
    assert names(doors.rows("agent", "show", what="ltm node")) == {"/A/10.0.9.1"}
    line = "modify ltm pool /PART/p members modify { /PART/IP:80 { ratio 9 } }"
    assert [doors.change("agent", in_part(line, part)) for part in PARTS] == [200, 404, 404]


def test_agents_hold_is_its_own(doors):
    """What an agent disables is a hold of the agent's class, and it cannot take an operator's away."""
    node = "/A/10.0.9.1"
    doors.cp.edit("modify", f"ltm node {node} session user-disabled")
    body = {"session": "user-disabled"}
    assert doors.code("agent", "modify", kind="ltm node", name=node, body=body) == 200
    holds = doors.cp.show("ltm node", name=node)[0]["holds"]
    assert {hold["class"] for hold in holds} == {"operator", "agent"}
    assert doors.code("agent", "modify", kind="ltm node", name=node, body={"session": "user-enabled"}) == 200
    assert {hold["class"] for hold in doors.cp.show("ltm node", name=node)[0]["holds"]} == {"operator"}
    doors.cp.edit("modify", f"ltm node {node} session user-enabled")


@pytest.mark.parametrize("user,allowed", [("operator", "AB"), ("in-a-operator", "A"), ("in-a-manager", "A"),
                                          ("guest", ""), ("auditor", ""), ("in-a-guest", ""), ("admin", "AB")])
def test_drains(doors, user, allowed):
    for part in "AB":
        where = {"pool": f"/{part}/p", "member": f"/{part}/{PARTS[part]}:80"}
        code = doors.code(user, "start-drain", **where)
        assert code == 200 if part in allowed else code in (403, 404)
        if part not in allowed:
            doors.cp.ask("start-drain", **where)
        number = max(row["id"] for row in doors.cp.show("ltm drain"))
        seen = [row["id"] for row in doors.rows(user, "show", what="ltm drain")]
        assert (number in seen) == (part == "A" or not user.startswith("in-a-"))
        code = doors.code(user, "end-drain", drain=number)
        if part in allowed:
            assert code == 200
        else:
            assert code in (403, 404) and doors.code(user, "end-drain", drain=number, enable=True) in (403, 404)
            doors.cp.ask("end-drain", drain=number)
        doors.cp.edit("modify", f"ltm pool /{part}/p members modify {{ {where['member']} {{ session user-enabled }} }}")


def test_agents_drain_its_own(doors):
    where = {"pool": "/A/p", "member": "/A/10.0.9.1:80"}
    assert doors.code("agent", "start-drain", **where) == 403
    assert doors.code("agent", "start-drain", node="/B/10.0.9.2", **{"class": "agent"}) in (403, 404)
    assert doors.code("agent", "start-drain", **where, **{"class": "agent"}) == 200
    number = max(row["id"] for row in doors.rows("agent", "show", what="ltm drain"))
    assert doors.code("agent", "end-drain", drain=number, enable=True) == 200


def test_what_comes_into_being_beside(doors):
    """Objects that others make by naming them are made only where their user may."""
    for line in ("modify ltm pool /A/p members add { /Common/10.66.0.1:80 { } }",
                 "create ltm virtual /A/w destination /Common/10.66.0.2:80",
                 "create ltm snatpool /A/s members add { /Common/10.66.0.3 }",
                 "modify ltm pool /A/p members add { /Common/fq:80 { fqdn { name a.test } } }"):
        assert doors.change("in-a-manager", line) == 403, line
        assert doors.change("manager", line) == 200, line
    # What is in Common already may be used.
    assert doors.change("in-a-manager", "modify ltm pool /A/p members add { /Common/10.0.9.3:80 { } }") == 200
    assert doors.change("in-a-manager", "modify ltm pool /A/p monitor /Common/m") == 200
    assert doors.change("in-a-manager", "modify ltm pool /A/p monitor /B/m") == 400


def test_replacing_asks_for_all_that_changes(doors):
    """PUT gives all other fields their default: who may not set them may not do that either."""
    doors.cp.edit("modify", "ltm node /A/10.0.9.1 description x")
    args = {"kind": "ltm node", "name": "/A/10.0.9.1", "body": {"ratio": 2}, "replace": True}
    assert doors.code("operator", "modify", **args) == 403
    assert doors.code("operator", "modify", **{**args, "replace": False}) == 200
    assert doors.code("application-editor", "modify", **args) == 200


def test_one_wrong_part_of_a_transaction(doors):
    """All or nothing, and what may be does not help what may not."""
    before = doors.cp.list("ltm pool")
    requests = [{"op": "edit", "verb": "create", "text": "ltm pool /A/one"},
                {"op": "edit", "verb": "create", "text": "ltm pool /B/two"}]
    with pytest.raises(ApiError) as caught:
        doors.cp.ask("transaction", requests=requests, **{"as": {"token": doors.tokens["in-a-manager"]}})
    assert caught.value.error["code"] == 403 and caught.value.error["request"] == 1
    assert doors.cp.list("ltm pool") == before


def test_author_and_address(doors):
    token = {"token": doors.tokens["manager"], "address": "198.51.100.9"}
    doors.cp.ask("create", kind="ltm pool", body={"name": "/A/named"}, **{"as": token})
    assert doors.cp.show("sys history", limit=1)[0]["author"] == "manager"
    assert any("AUDIT - user manager - " in line and line.endswith("] from 198.51.100.9")
               for line in doors.cp.daemon.text().splitlines())
    doors.cp.edit("delete", "ltm pool /A/named")


def test_what_may_not_be_read_is_not_there(doors):
    """Whether something is there cannot be told from the answers."""
    def answer(op, target, **arguments):
        with pytest.raises(ApiError) as caught:
            doors.cp.ask(op, **{"as": {"token": doors.tokens["in-a-manager"]}}, **arguments)
        error = {key: value for key, value in caught.value.error.items() if isinstance(value, str)}
        return caught.value.error["code"], {key: value.replace(target, "NAME") for key, value in error.items()}

    for there, missing in (("/B/p", "/B/missing"), ("/B/p", "/Nowhere/p")):
        for op, more in (("modify", {"body": {"description": "x"}}), ("modify", {"body": {"nonsense": 1}}),
                         ("modify", {"body": {}, "replace": True}), ("delete", {}), ("list", {"form": "rest"})):
            answers = [answer(op, name, kind="ltm pool", name=name, **more) for name in (there, missing)]
            assert answers[0] == answers[1] and answers[0][0] == 404, (op, answers)
        for verb, text in (("modify", "ltm pool {} description x"), ("delete", "ltm pool {}"),
                           ("modify", "ltm pool {} load-balancing-mode nonsense")):
            answers = [answer("edit", name, verb=verb, text=text.format(name)) for name in (there, missing)]
            assert answers[0] == answers[1], (verb, answers)
        answers = [answer("create", name, kind="ltm pool", name=name, body={}) for name in (there, missing)]
        assert answers[0] == answers[1] and answers[0][0] == 403
        answers = [answer("create", name, kind="ltm pool members", owner=name, name="10.0.0.1:80", body={})
                   for name in (there, missing)]
        assert answers[0] == answers[1] and answers[0][0] == 404
    assert doors.code("in-a-manager", "modify", kind="ltm pool", name="/Common/p", body={"description": "x"}) == 403


def test_what_is_repeated_is_no_change(doors):
    """An operator who writes back what he read changes what he may, and nothing else."""
    doors.cp.edit("modify", "ltm node /A/10.0.9.1 description kept connection-limit 7 ratio 3")
    ask = {"kind": "ltm node", "name": "/A/10.0.9.1", "replace": True}
    whole = doors.rows("operator", "list", kind="ltm node", name="/A/10.0.9.1", form="rest")[0]
    assert doors.code("operator", "modify", **ask, body={**whole, "ratio": 5}) == 200
    node = doors.rows("admin", "list", kind="ltm node", name="/A/10.0.9.1", form="rest")[0]
    assert (node["ratio"], node["description"], node["connectionLimit"]) == (5, "kept", 7)
    for change in ({"description": "other"}, {"connectionLimit": 8}, {"monitor": "/Common/icmp"}):
        assert doors.code("operator", "modify", **ask, body={**whole, **change}) == 403, change
        assert doors.code("operator", "modify", **{**ask, "replace": False}, body=change) == 403
    # What is not there yet is a change, too, and so is a right password that somebody guesses.
    requests = [{"op": "modify", "kind": "ltm node", "name": "/A/10.0.9.1", "body": {"monitor": "/A/later"}}]
    assert doors.code("operator", "transaction", requests=requests) == 403
    for password in (PASSWORD, "wrong password 1"):
        assert doors.code("operator", "modify", kind="auth user", name="operator", body={"password": password}) == 403
    doors.cp.edit("modify", "ltm node /A/10.0.9.1 description none connection-limit 0 ratio 1")
