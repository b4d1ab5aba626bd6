# SPDX-License-Identifier: BSD-3-Clause
"""What clients of LTM's REST interface rely on to be idempotent, and were let down by elsewhere.

What is read is what was written (f5-ansible#791, #823, terraform-provider-bigip#1062); a member's session and state
come back as the pair that they are (f5-ansible#1982, terraform-provider-bigip#1116); a change that is answered is
made (terraform-provider-bigip#1042, #526); lists keep their order (terraform-provider-bigip#947).
"""
import pytest

from topo import standard, wait_until
from topo.api import Api, Refused

MEMBER = "ltm/pool/~Common~web/members/~Common~10.0.2.11:80"
PLAIN = "ltm/pool/~Common~plain/members/~Common~10.0.2.12:80"


@pytest.fixture(scope="module")
def api():
    """weir-mgmt with a pool whose server is looked at and up, and one whose server is not looked at."""
    with standard(servers=2) as topo:
        picture = topo.picture
        picture.start_nginx()
        api = topo.add(Api(picture.start_weir(monitor=True)))
        api.post("ltm/monitor/tcp", {"name": "quick", "interval": 1, "timeout": 4})
        api.post("ltm/pool", {"name": "web", "monitor": "/Common/quick", "members": ["10.0.2.11:80"]})
        api.post("ltm/pool", {"name": "plain", "members": [{"name": "10.0.2.12:80"}]})
        wait_until(lambda: api.get(MEMBER)["state"] == "up", "the server is up", 15)
        yield api


@pytest.fixture
def member(api):
    """The one that is looked at, enabled again afterwards."""
    yield MEMBER
    enable(api, MEMBER)


def enable(api, path):
    api.patch(path, {"session": "user-enabled", "state": "user-up"})
    wait_until(lambda: api.get(path)["state"] != "checking", "it is checked", 15)


def pair(api, path):
    row = api.get(path)
    return row["session"], row["state"]


def generation(api):
    return api.weir.status()["generation"]


# kind, what creates an object, what changes it
OBJECTS = {
    "node": ("ltm/node", {"name": "n1", "address": "10.0.2.50"}, {"ratio": 3, "description": "third"}),
    "pool": ("ltm/pool", {"name": "p1", "loadBalancingMode": "ratio-member", "monitor": "tcp"},
             {"monitor": "min 1 of /Common/tcp /Common/http", "minActiveMembers": 1, "slowRampTime": 0}),
    "member": ("ltm/pool/~Common~plain/members", {"name": "10.0.2.60:8080", "ratio": 2},
               {"ratio": 9, "priorityGroup": 4, "connectionLimit": 100}),
    "member6": ("ltm/pool/~Common~plain/members", {"name": "fd00:2::60.8080"}, {"description": "six"}),
    "tcp monitor": ("ltm/monitor/tcp", {"name": "m1", "send": "GET /\\r\\n", "recv": "200"},
                    {"interval": 7, "timeout": 22, "recv": "OK"}),
    "http monitor": ("ltm/monitor/http", {"name": "m2", "defaultsFrom": "/Common/http"},
                     {"send": "GET /x HTTP/1.0\\r\\n\\r\\n", "recv": "busy", "reverse": "enabled", "destination": "*:8080"}),
    "https monitor": ("ltm/monitor/https", {"name": "m3"}, {"interval": 9, "timeout": 31}),
    "icmp monitor": ("ltm/monitor/icmp", {"name": "m4"}, {"interval": 2, "timeout": 7}),
    "fastl4 profile": ("ltm/profile/fastl4", {"name": "f1", "idleTimeout": "120"}, {"idleTimeout": "90"}),
    "udp profile": ("ltm/profile/udp", {"name": "u1"}, {"idleTimeout": "30"}),
    "snatpool": ("ltm/snatpool", {"name": "s1", "members": ["10.0.2.201"]},
                 {"members": ["/Common/10.0.2.201", "/Common/10.0.2.202"]}),
    "virtual": ("ltm/virtual", {"name": "v1", "destination": "10.0.1.50:80", "pool": "plain", "ipProtocol": 6,
                                "profiles": [{"name": "fastL4"}]},
                {"pool": "/Common/web", "sourceAddressTranslation": {"type": "automap"}, "connectionLimit": 9}),
    "virtual6": ("ltm/virtual", {"name": "v2", "destination": "fd00:1::50.80", "mask": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                                 "profiles": ["/Common/fastL4"]}, {"translatePort": "disabled"}),
    "route": ("net/route", {"name": "r1", "network": "10.9.0.0/16", "gw": "10.0.2.254"}, {"gw": "10.0.2.253"}),
    "self": ("net/self", {"name": "self1", "address": "10.0.2.3/24", "vlan": "inside"},
             {"allowService": ["tcp:22", "udp:53"]}),
}


@pytest.fixture(params=OBJECTS.values(), ids=OBJECTS.keys())
def created(api, request):
    """(its path, what POST answered, what changes it)."""
    collection, body, change = request.param
    row = api.post(collection, body)
    path = f"{collection}/{row['fullPath'].replace('/', '~')}"
    yield path, row, change
    api.delete(path)
    assert not api.exists(path)


def without(row, *names):
    return {name: value for name, value in row.items() if name not in ("generation", *names)}


def test_what_is_read_is_what_was_written(api, created):
    path, row, change = created
    assert api.get(path) == row
    changed = api.patch(path, change)
    assert api.get(path) == changed
    assert changed["generation"] > row["generation"]
    for name, value in change.items():
        if name not in ("monitor", "members", "sourceAddressTranslation"):
            assert changed[name] == value
    whole = {**changed, "description": "put"}
    assert without(api.put(path, whole)) == without(whole)
    assert without(api.get(path)) == without(whole)


def test_what_is_there_already_changes_nothing(api, created):
    path, row, _ = created
    before = generation(api)
    assert api.put(path, row) == row
    assert api.patch(path, row) == row
    assert generation(api) == before
    with pytest.raises(Refused) as refused:
        api.post(path.rsplit("/", 1)[0], {"name": row["name"], "partition": row.get("partition", "Common"),
                                          **({"address": row["address"]} if "address" in row else {})})
    assert refused.value.status == 409


def test_null_and_empty_mean_not_given(api, created):
    path, row, _ = created
    assert api.patch(path, {"description": None, "name": row["name"]}) == row


def test_a_field_that_is_not_applied_is_an_error(api, created):
    path, row, change = created
    for wrong in ({"noSuchField": 1}, {**change, "noSuchField": "x"}):
        with pytest.raises(Refused) as refused:
            api.patch(path, wrong)
        assert refused.value.status == 400
        assert "noSuchField" in refused.value.message
    assert api.get(path) == row


# ---- session and state ----

@pytest.mark.parametrize("body, watched, plain", [
    ({"session": "user-disabled"}, ("user-disabled", "up"), ("user-disabled", "unchecked")),
    ({"session": "user-disabled", "state": "user-up"}, ("user-disabled", "up"), ("user-disabled", "unchecked")),
    ({"session": "user-disabled", "state": "user-down"}, ("user-disabled", "user-down"), ("user-disabled", "user-down")),
    ({"state": "user-down"}, ("user-enabled", "user-down"), ("user-enabled", "user-down")),
    ({"session": "user-enabled", "state": "user-up"}, ("monitor-enabled", "up"), ("user-enabled", "unchecked")),
], ids=["disabled", "disabled-up", "forced-offline", "down", "enabled"])
def test_session_and_state_come_back(api, body, watched, plain):
    for path, wanted in ((MEMBER, watched), (PLAIN, plain)):
        api.patch(path, body)
        assert pair(api, path) == wanted
        before = generation(api), api.get(path)
        api.patch(path, body)  # idempotent
        assert (generation(api), api.get(path)) == before
        api.put(path, api.get(path))  # a client that writes back what it read
        assert pair(api, path) == wanted
        enable(api, path)
    assert pair(api, MEMBER) == ("monitor-enabled", "up")
    assert pair(api, PLAIN) == ("user-enabled", "unchecked")


@pytest.mark.parametrize("body", [{"state": "up"}, {"state": "down"}, {"session": "enabled"}, {"session": ""}])
def test_states_that_checks_alone_may_give_are_refused(api, member, body):
    with pytest.raises(Refused) as refused:
        api.patch(member, {**body, "ratio": 5})
    assert refused.value.status == 400
    assert next(iter(body)) in refused.value.message
    assert api.get(member)["ratio"] == 1


def test_what_an_operator_did_elsewhere_is_seen(api, member):
    api.weir.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { session user-disabled state user-down } }")
    assert pair(api, member) == ("user-disabled", "user-down")
    api.patch(member, {"session": "user-enabled"})
    assert pair(api, member) == ("user-enabled", "user-down")
    api.patch(member, {"state": "user-up"})
    wait_until(lambda: pair(api, member) == ("monitor-enabled", "up"), "it is up again", 15)


def test_other_fields_leave_the_pair(api, member):
    api.patch(member, {"session": "user-disabled", "state": "user-down"})
    api.patch(member, {"ratio": 4})
    api.patch("ltm/pool/~Common~web", {"description": "its pool"})
    assert pair(api, member) == ("user-disabled", "user-down")
    api.patch(member, {"ratio": 1})


# ---- monitors ----

def test_a_monitor_that_is_answered_is_changed(api):
    path = "ltm/monitor/tcp/~Common~quick"
    for change in ({"interval": 2, "timeout": 7}, {"interval": 91, "timeout": 30}, {"interval": 1, "timeout": 4}):
        reply = api.send("PATCH", path, change)
        assert reply.status_code in (200, 400)
        now = {name: api.get(path)[name] for name in change}
        assert (now == change) == (reply.status_code == 200)
    assert api.get(path)["interval"] == 1


@pytest.mark.parametrize("written, read", [
    ("icmp", "/Common/icmp"), ("/Common/tcp", "/Common/tcp"),
    ("tcp and http", "/Common/tcp and /Common/http"), ("/Common/http and /Common/tcp ", "/Common/http and /Common/tcp"),
    ("min 1 of { /Common/tcp /Common/http }", "min 1 of { /Common/tcp /Common/http }"),
    ("min 2 of tcp http", "min 2 of { /Common/tcp /Common/http }"),
])
def test_a_rule_of_monitors_comes_back(api, written, read):
    path = "ltm/pool/~Common~plain"
    assert api.patch(path, {"monitor": written})["monitor"].strip() == read
    assert api.get(path)["monitor"].strip() == read
    assert "monitor" not in api.patch(path, {"monitor": ""})


def test_a_node_tells_its_monitor(api):
    path = "ltm/node/~Common~10.0.2.12"
    assert api.get(path)["monitor"] == "default"
    assert api.patch(path, {"monitor": "icmp"})["monitor"].strip() == "/Common/icmp"
    api.weir.edit("modify", "ltm node 10.0.2.12 monitor gateway_icmp")
    assert api.get(path)["monitor"].strip() == "/Common/gateway_icmp"
    assert api.patch(path, {"monitor": "default"})["monitor"].strip() == "default"


# ---- order ----

def names(rows):
    return [row["fullPath"] for row in rows]


def test_lists_are_in_one_order(api):
    for number in (3, 1, 10, 2):
        api.post("ltm/node", {"name": f"order{number}", "address": f"10.0.2.{100 + number}"})
    first = names(api.items("ltm/node"))
    api.patch("ltm/node/order1", {"description": "changed"})
    api.patch("ltm/node/order10", {"ratio": 2})
    assert names(api.items("ltm/node")) == first
    pages = [api.items("ltm/node", **{"$top": 2, "$skip": skip}) for skip in range(0, len(first) + 2, 2)]
    assert [name for page in pages for name in names(page)] == first
    for number in (3, 1, 10, 2):
        api.delete(f"ltm/node/order{number}")


def test_members_and_monitors_keep_their_order(api):
    api.post("ltm/snatpool", {"name": "ordered", "members": ["10.0.2.209", "10.0.2.203", "10.0.2.206"]})
    first = api.get("ltm/snatpool/ordered")["members"]
    assert sorted(first) == [f"/Common/10.0.2.{number}" for number in (203, 206, 209)]
    api.patch("ltm/snatpool/ordered", {"description": "changed"})
    assert api.get("ltm/snatpool/ordered")["members"] == first
    assert api.put("ltm/snatpool/ordered", {"members": list(reversed(first))})["members"] in (first, first[::-1])
    api.delete("ltm/snatpool/ordered")
    for address in first:
        if api.exists(f"ltm/snat-translation/{address.replace('/', '~')}"):
            api.delete(f"ltm/snat-translation/{address.replace('/', '~')}")


def test_a_virtual_server_without_destination_means_any(api):
    """As F5Networks/f5-common-python makes them, and then looks for their address."""
    made = api.post("ltm/virtual", {"name": "anywhere", "partition": "Common"})
    try:
        assert made["destination"] == "/Common/0.0.0.0:0" and made["enabled"] is True
        assert api.exists("ltm/virtual-address/~Common~0.0.0.0")
        assert "https://localhost/mgmt/tm/ltm/virtual-address/~Common~0.0.0.0/stats" in \
            api.get("ltm/virtual-address/stats")["entries"]
        with pytest.raises(Refused, match="anywhere has the same destination|illegally shares"):
            api.post("ltm/virtual", {"name": "elsewhere"})
    finally:
        api.delete("ltm/virtual/~Common~anywhere")
