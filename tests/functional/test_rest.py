# SPDX-License-Identifier: BSD-3-Clause
"""iControl REST at weir-mgmt with weir-cp behind it, as clients meet it: objects, errors, queries, log-in."""
import json

import pytest
from rest_alone import UPLOADS, rest_alone
from topo.api import Refused
from topo.mgmt import basic

LINK = "https://localhost/mgmt/tm/"
VALUE, CONFIG = 26214401, 3


@pytest.fixture(scope="module")
def api():
    with rest_alone(["--check-generation"]) as api:
        yield api


@pytest.fixture(autouse=True)
def clean(api):
    """Nothing is left by a test."""
    yield
    for path in ("ltm/virtual", "ltm/pool", "ltm/node"):
        api.delete(f"{path}?options=*")


def refused(api, method, path, body=None):
    reply = api.send(method, path, body)
    assert reply.status_code >= 400, reply.text
    error = reply.json()
    assert error["code"] == reply.status_code
    return reply.status_code, error["message"], error.get("apiError")


def test_node_goes_through_its_life(api):
    made = api.post("ltm/node", {"name": "n", "partition": "Common", "address": "10.0.0.1", "ratio": 1,
                                 "session": "user-enabled", "state": "user-up"})
    assert made["kind"] == "tm:ltm:node:nodestate"
    assert made["selfLink"] == LINK + "ltm/node/~Common~n?ver=15.1.0"
    assert (made["fullPath"], made["session"], made["state"]) == ("/Common/n", "user-enabled", "unchecked")
    for path in ("ltm/node/n", "ltm/node/~Common~n/", "ltm/node/%2FCommon%2Fn?ver=11.6.0", "ltm/node/n/?ver=1&ver=2"):
        assert api.get(path) == made
    down = api.patch("ltm/node/n", {"session": "user-disabled", "state": "user-down"})
    assert (down["session"], down["state"]) == ("user-disabled", "user-down")
    assert down["generation"] > made["generation"]
    assert api.get("ltm/node/n")["generation"] == down["generation"]
    reply = api.send("DELETE", "ltm/node/n")
    assert (reply.status_code, reply.content) == (200, b"")
    assert not api.exists("ltm/node/n")


def test_whole_object_comes_back_as_it_went(api):
    """f5-sdk puts what it read back after it set one of a pair."""
    api.post("ltm/pool", {"name": "p", "members": ["10.0.0.1:80", {"name": "10.0.0.2:80", "ratio": 3}]})
    whole = api.post("ltm/virtual", {"name": "/Common/v", "destination": "10.9.0.1:80", "pool": "p", "ipProtocol": 6})
    assert (whole["ipProtocol"], whole["enabled"], whole["pool"]) == ("tcp", True, "/Common/p")
    assert whole["destination"] == "/Common/10.9.0.1:80"
    off = api.put("ltm/virtual/v", {**whole, "disabled": True, "persist": None})
    assert off.pop("disabled") is True and "enabled" not in off
    del whole["enabled"], whole["generation"], off["generation"]
    assert off == whole
    assert whole["policiesReference"]["link"] == LINK + "ltm/virtual/~Common~v/policies?ver=15.1.0"
    policies = api.get("ltm/virtual/~Common~v/policies")
    assert policies["kind"] == "tm:ltm:virtual:policies:policiescollectionstate" and "items" not in policies
    assert refused(api, "GET", "ltm/virtual/none/policies")[0] == 404
    assert refused(api, "POST", "ltm/virtual/v/policies", {"name": "x"})[0] in (400, 404)
    on = api.patch("ltm/virtual/v", {"enabled": True, "disabled": True})
    assert on["enabled"] is True and "disabled" not in on


def test_members(api):
    api.post("ltm/pool", {"name": "p"})
    member = api.post("ltm/pool/p/members", {"name": "10.0.0.1:80", "partition": "Common"})
    assert member["kind"] == "tm:ltm:pool:members:membersstate"
    six = api.post("ltm/pool/~Common~p/members", {"name": "/Common/2001:db8::1.80"})
    assert six["selfLink"] == LINK + "ltm/pool/~Common~p/members/~Common~2001:db8::1.80?ver=15.1.0"
    assert api.patch("ltm/pool/p/members/~Common~2001:db8::1.80", {"ratio": 7})["ratio"] == 7
    names = [row["name"] for row in api.items("ltm/pool/~Common~p/members")]
    assert names == ["10.0.0.1:80", "2001:db8::1.80"]
    assert api.patch("ltm/pool/p", {"monitor": "min 1 of /Common/tcp   /Common/http "})["monitor"] == \
        "min 1 of { /Common/tcp /Common/http }"
    assert api.get("ltm/pool/p/members/10.0.0.1:80")["state"] in ("checking", "unchecked")
    assert "monitor" not in api.patch("ltm/pool/p", {"monitor": ""})
    expanded = api.get("ltm/pool/p", expandSubcollections="true")["membersReference"]
    assert [row["name"] for row in expanded["items"]] == names and expanded["isSubcollection"] is True
    assert "items" not in api.get("ltm/pool/p")["membersReference"]
    assert api.put("ltm/pool/p", {"members": [{"name": "10.0.0.9:80", "partition": "Common"}]})
    assert [row["name"] for row in api.items("ltm/pool/p/members")] == ["10.0.0.9:80"]


@pytest.mark.parametrize("method, path, body, status, message, number", [
    ("GET", "ltm/pool/wrong", None, 404, "01020036:3: The requested Pool (/Common/wrong) was not found.", CONFIG),
    ("PATCH", "ltm/node/wrong", {"ratio": 1}, 404, "01020036:3: The requested Node (/Common/wrong) was not found.", CONFIG),
    ("DELETE", "ltm/virtual/wrong", None, 404,
     "01020036:3: The requested Virtual Server (/Common/wrong) was not found.", CONFIG),
    ("GET", "ltm/pool/p/members/10.0.0.1:80", None, 404, "Object not found - /Common/10.0.0.1:80", 1),
    ("DELETE", "ltm/pool/p/members/10.0.0.1:80", None, 404,
     "01020036:3: The requested Pool Member (/Common/p /Common/10.0.0.1 80) was not found.", CONFIG),
    ("POST", "ltm/pool/wrong/members", {"name": "10.0.0.1:80"}, 404,
     "01020036:3: The requested pool (/Common/wrong) was not found.", CONFIG),
    ("POST", "ltm/pool", {"name": "p"}, 409,
     "01020066:3: The requested Pool (/Common/p) already exists in partition Common.", CONFIG),
    ("GET", "ltm/pool/~Nowhere~p", None, 400, "The requested folder (/Nowhere) was not found.", VALUE),
    ("POST", "ltm/pool", {"name": "/Nowhere/p"}, 400, "01070734:3: Configuration error: /Nowhere/p cannot be in /Nowhere: "
     "the folder does not exist", CONFIG),
    ("PATCH", "ltm/pool/p", {"loadBalancingMode": "x"}, 400, 'invalid property value "loadBalancingMode":"x"', VALUE),
    ("POST", "ltm/node", {"name": "n", "address": "10.0.0.1", "state": "up"}, 400,
     'invalid property value "state":"up"', VALUE),
    ("PATCH", "ltm/pool/p", {}, 400, "one or more properties must be specified", VALUE),
    ("POST", "ltm/pool", {"name": "<b>x</b>"}, 400, "HTML Tag-like Content in the Request URL/Body", VALUE),
    ("GET", "ltm/pool/%3Cb%3E", None, 400, "HTML Tag-like Content in the Request URL/Body", VALUE),
    ("POST", "ltm/virtual", {"name": "v", "destination": "10.9.0.1:80", "pool": "no"}, 404,
     "01020036:3: The requested Pool (/Common/no) was not found.", CONFIG),
    ("GET", "ltm/nonsense", None, 404, "Public URI path not registered: /tm/ltm/nonsense", None),
])
def test_errors(api, method, path, body, status, message, number):
    api.post("ltm/pool", {"name": "p"})
    assert refused(api, method, path, body) == (status, message, number)


def test_errors_of_what_is_in_use(api):
    api.post("ltm/pool", {"name": "p", "members": ["10.0.0.1:80"]})
    api.post("ltm/virtual", {"name": "v", "destination": "10.9.0.1:80", "pool": "p", "ipProtocol": "tcp"})
    assert refused(api, "DELETE", "ltm/pool/p")[:2] == (
        400, "01070265:3: The Pool (/Common/p) cannot be deleted because it is in use by a Virtual Server (/Common/v).")
    assert refused(api, "DELETE", "ltm/node/10.0.0.1")[:2] == (
        400, "01070110:3: Node address '/Common/10.0.0.1' is referenced by a member of pool '/Common/p'.")
    assert refused(api, "POST", "ltm/virtual", {"name": "w", "destination": "10.9.0.1:80", "ipProtocol": "tcp"})[1] \
        .startswith("01070333:3: Virtual Server /Common/w illegally shares destination address")


def test_generation_of_before(api):
    old = api.post("ltm/pool", {"name": "p"})
    new = api.patch("ltm/pool/p", {"description": "x", "generation": old["generation"]})
    assert refused(api, "PATCH", "ltm/pool/p", {"description": "y", "generation": old["generation"]})[0] == 409
    assert api.get("ltm/pool/p") == new


def test_collections(api):
    assert "items" not in api.get("ltm/pool")
    api.post("auth/partition", {"name": "other"})
    for name in ("/Common/a", "/Common/b", "/other/c", "/Common/d"):
        api.post("ltm/pool", {"name": name})
    assert [row["fullPath"] for row in api.items("ltm/pool")] == ["/Common/a", "/Common/b", "/Common/d", "/other/c"]
    for form in ("partition eq other", "partition+eq+other"):
        assert [row["name"] for row in api.get(f"ltm/pool?$filter={form}")["items"]] == ["c"]
    assert api.items("ltm/pool?%24filter=partition%20eq%20other&$select=name") == [{"name": "c"}]
    assert [row["name"] for row in api.items("ltm/pool", **{"$filter": "name eq d"})] == ["d"]
    page = api.get("ltm/pool?$top=3&$skip=0")
    assert (page["totalItems"], page["totalPages"], page["currentItemCount"], page["itemsPerPage"]) == (4, 2, 3, 3)
    assert page["nextLink"].endswith("ltm/pool?%24top=3&%24skip=3")
    rest = api.get(page["nextLink"].removeprefix("https://localhost"))
    assert [row["name"] for row in rest["items"]] == ["c"] and "nextLink" not in rest
    assert not api.get("ltm/pool?$top=3&$skip=6").get("items")
    assert refused(api, "GET", "ltm/pool?$top=x")[0] == 400
    assert {"reference": {"link": LINK + "ltm/pool?ver=15.1.0"}} in api.items("ltm")
    assert api.get("ltm/pool/example")["kind"] == "tm:ltm:pool:poolcollectionstate"
    assert "reserved keyword" in refused(api, "POST", "ltm/pool", {"name": "example"})[1]
    api.delete("ltm/pool?options=/other/*")
    assert not api.exists("ltm/pool/~other~c") and api.exists("ltm/pool/a")
    api.delete("auth/partition/other")


def test_statistics(api):
    api.post("ltm/pool", {"name": "p", "members": ["10.0.0.1:80"]})
    api.patch("ltm/pool/p/members/10.0.0.1:80", {"session": "user-disabled", "state": "user-down"})
    stats = api.stats("ltm/pool/p")
    assert stats["status.availabilityState"] == "offline" and stats["memberCnt"] == 1
    assert stats["status.statusReason"] == "The children pool member(s) are down"
    member = api.stats("ltm/pool/p/members/10.0.0.1:80")
    assert (member["monitorStatus"], member["sessionStatus"]) == ("forced-down", "user-disabled")
    key = LINK + "ltm/pool/~Common~p/members/~Common~10.0.0.1:80/stats"
    for path in ("ltm/pool/members/stats", "ltm/pool/p/members/stats"):
        nested = api.get(path)["entries"][key]["nestedStats"]
        assert nested["selfLink"] == key + "?ver=15.1.0" and nested["kind"] == "tm:ltm:pool:members:membersstats"
    assert api.stats("ltm/node/10.0.0.1")["serverside.curConns"] == 0
    assert api.get("ltm/virtual/stats")["entries"] == {}
    assert refused(api, "GET", "ltm/pool/no/stats")[0] == 404


def test_log_in_and_out(api):
    session = api.log_in()
    token = f"/mgmt/shared/authz/tokens/{session.token}"
    assert session.patch(token, {"timeout": 3600})["timeout"] == 3600
    own = session.get(token)
    assert own["expirationMicros"] - own["lastUpdateMicros"] == 3600 * 10**6
    assert session.token not in json.dumps(session.get("/mgmt/shared/authz/tokens"))
    session.delete(token)
    reply = session.send("GET", "ltm/pool")
    assert reply.status_code == 401 and "X-F5-Auth-Token does not exist" in reply.text
    with pytest.raises(Refused) as wrong:
        api.log_in(password="wrong")
    assert wrong.value.status == 401
    reply = api.send("GET", "ltm/pool", headers={"Authorization": basic("admin", "wrong")})
    assert reply.status_code == 401


def test_roles(api):
    api.post("auth/user", {"name": "guest", "password": "Nine-Towers-9x",
                           "partitionAccess": [{"name": "all-partitions", "role": "guest"}]})
    guest = api.log_in("guest", "Nine-Towers-9x")
    assert guest.get("ltm/pool")["kind"] == "tm:ltm:pool:poolcollectionstate"
    for method, path, body in (("POST", "ltm/pool", {"name": "p"}), ("POST", "sys/config", {"command": "save"}),
                               ("POST", "util/bash", {"command": "run", "utilCmdArgs": "-c 'runlevel'"}),
                               ("POST", "sys/config", {"command": "load", "options": [{"file": "/tmp/x"}]}),
                               ("PATCH", "auth/user/guest", {"shell": "bash"})):
        assert refused(guest, method, path, body)[0] == 403, path
    assert api.get("/mgmt/shared/authz/users/guest")["displayName"] == "guest"
    api.delete("auth/user/guest")
    assert guest.send("GET", "ltm/pool").status_code == 401


def test_secrets_stay_in_their_objects(api):
    """A manager reads them encrypted and writes them back, but has no use of those of others."""
    api.post("auth/partition", {"name": "B"})
    api.post("auth/user", {"name": "boss", "password": "Nine-Towers-9x",
                           "partitionAccess": [{"name": "B", "role": "manager"}]})
    api.post("ltm/monitor/http", {"name": "theirs", "username": "u", "password": "hunter2"})
    boss = api.log_in("boss", "Nine-Towers-9x")
    sealed = boss.get("ltm/monitor/http/theirs")["password"]
    assert sealed.startswith("$W$1$")
    status, message, _ = refused(boss, "POST", "ltm/monitor/http", {"name": "own", "partition": "B", "password": sealed})
    assert "password: was encrypted for another object" in message, status
    own = boss.post("ltm/monitor/http", {"name": "own", "partition": "B", "username": "u", "password": "plain"})
    path = "ltm/monitor/http/~B~own"
    assert boss.put(path, own)["password"] == own["password"]
    assert boss.patch(path, {"password": own["password"], "interval": 7})["interval"] == 7
    assert refused(boss, "PATCH", path, {"password": sealed})[0] in (400, 403)
    for each in (path, "ltm/monitor/http/theirs", "auth/user/boss", "auth/partition/B"):
        api.delete(each)


def test_transactions(api):
    def begin():
        made = api.post("transaction", {})
        assert made["state"] == "STARTED"
        return f"transaction/{made['transId']}", {"X-F5-REST-Coordination-Id": str(made["transId"])}

    path, header = begin()
    reply = api.send("POST", "ltm/pool", {"name": "p"}, headers=header).json()
    assert reply["kind"] == "tm:transaction:commandsstate"
    api.send("POST", "ltm/pool/p/members", {"name": "10.0.0.1:80"}, headers=header)
    assert not api.exists("ltm/pool/p") and len(api.items(f"{path}/commands")) == 2
    assert api.patch(path, {"state": "VALIDATING", "validateOnly": True})["state"] == "COMPLETED"
    assert not api.exists("ltm/pool/p")
    assert api.patch(path, {"state": "VALIDATING"})["state"] == "COMPLETED"
    assert api.exists("ltm/pool/p/members/10.0.0.1:80")
    path, header = begin()
    api.send("POST", "ltm/pool", {"name": "q"}, headers=header)
    api.send("DELETE", "ltm/pool/none", headers=header)
    assert refused(api, "PATCH", path, {"state": "VALIDATING"}) == (
        400, "transaction failed:01020036:3: The requested Pool (/Common/none) was not found.", 2)
    assert not api.exists("ltm/pool/q")
    path, header = begin()
    assert refused(api, "PATCH", path, {"state": "VALIDATING"}) == (
        404, "there is no command to commit in the transaction.", 1)
    api.delete(path)
    assert refused(api, "GET", path)[0] == 404


def test_what_clients_read_first(api):
    assert api.get("sys/")["selfLink"] == LINK + "sys?ver=15.1.0"
    version = api.get("sys/version")["entries"][LINK + "sys/version/0"]["nestedStats"]["entries"]
    assert version["Version"]["description"] == "15.1.0" and version["Product"]["description"] == "BIG-IP"
    assert LINK + "cli/version/0" in api.get("cli/version")["entries"]
    device, = api.items("cm/device")
    assert (device["selfDevice"], device["version"], device["failoverState"]) == ("true", "15.1.0", "active")
    ready = api.get("sys/ready")["entries"][LINK + "sys/ready/0"]["nestedStats"]["entries"]
    assert {name: entry["description"] for name, entry in ready.items()} == {
        "configReady": "yes", "licenseReady": "yes", "provisionReady": "no"}  # no dataplane is there
    assert api.get("sys/folder/~Common")["name"] == "Common"
    info = api.get("/mgmt/shared/identified-devices/config/device-info")
    assert info["version"] == "15.1.0" and info["hostname"] == api.get("sys/global-settings")["hostname"]
    for path in ("net/self", "net/tunnels/gre", "net/tunnels/ipip", "sys/available", "cm/sync-status", "sys/hardware",
                 "ltm/monitor/mssql", "sys/provision", "ltm/rule/stats", "net/trunk", "sys/ucs"):
        assert api.get(path)["kind"].startswith("tm:"), path
    for path in ("fasthttp", "fastl4", "diameter", "dhcpv4", "dhcpv6", "sip", "udp", "client-ssl", "server-ssl"):
        assert api.items(f"ltm/profile/{path}"), path
    assert api.items("ltm/message-routing/sip/profile/session")


def test_commands_and_uploads(api):
    assert "Version: 15.1.0" in api.bash("cat /VERSION")
    assert api.bash("tmsh save sys config") == "Saving running configuration...\n"
    assert api.bash("tmsh create ltm pool t { description x }") is None
    assert "description x" in api.bash("tmsh list ltm pool t")
    assert "create ltm pool t" in api.bash("tmsh show sys log audit lines 1")
    assert "is no number" in api.bash("tmsh show sys log lines x")
    assert "not done here" in api.bash("tmsh show sys log follow")
    assert api.bash("id") == "/bin/bash: id: command not found\n"
    text = b"ltm pool u {\n    description sent\n}\n"
    for start in range(0, len(text), 10):
        end = min(start + 10, len(text))
        reply = api.send("POST", f"{UPLOADS}/u.conf", data=text[start:end], headers={
            "Content-Type": "application/octet-stream", "Content-Range": f"{start}-{end - 1}/{len(text)}"})
        assert reply.status_code == 200, reply.text
    assert api.bash("tmsh load sys config file /var/config/rest/downloads/u.conf merge verify")
    assert not api.exists("ltm/pool/u")
    api.post("sys/config", {"command": "load", "options": [{"merge": True}, {"file": "/tmp/u.conf"}]})
    assert api.get("ltm/pool/u")["description"] == "sent"
    rm = api.post("util/unix-rm", {"command": "run", "utilCmdArgs": "/var/config/rest/downloads/u.conf"})
    assert "commandResult" not in rm
    assert api.post("sys/config", {"command": "save"})["command"] == "save"
    assert refused(api, "POST", "sys/config", {"command": "load", "options": [{"file": "/etc/passwd"}]})[0] == 400


def test_text_stays_text(api):
    nasty = 'a"b\\c</script>\u2028\x01}{é'
    assert api.post("ltm/pool", {"name": "p", "description": nasty})["description"] == nasty
    assert api.items("ltm/pool")[0]["description"] == nasty
