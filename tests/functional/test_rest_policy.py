# SPDX-License-Identifier: BSD-3-Clause
"""Policies: rules, actions and conditions, drafts, and what clients do with them."""
import contextlib

import pytest
from rest_alone import add_user, refused, rest_alone
from topo.weir import ApiError

LINK = "https://localhost/mgmt/tm/ltm/policy/"
RULES = [{"name": "images", "ordinal": 1, "description": "pictures",
          "actions": [{"name": "0", "forward": True, "select": True, "request": True, "pool": "/Common/p"},
                      {"name": "1", "log": True, "write": True, "message": "a {b} \"c\""}],
          "conditions": [{"name": "0", "httpUri": True, "path": True, "startsWith": True, "request": True,
                          "values": ["/images", "/old pictures", "all", "x{y}"]}]},
         {"name": "rest", "ordinal": 2}]


@pytest.fixture(scope="module")
def api():
    with rest_alone() as api:
        yield api


@pytest.fixture(autouse=True)
def clean(api):
    api.post("ltm/pool", {"name": "p"})
    yield
    for path in ("ltm/virtual", "ltm/policy", "ltm/pool"):
        api.delete(f"{path}?options=*")


def draft(api, name="x", **more):
    return api.post("ltm/policy", {"name": name, "partition": "Common", "subPath": "Drafts",
                                   "strategy": "/Common/all-match", "requires": ["http"],
                                   "controls": ["forwarding"], "rules": RULES, **more})


def publish(api, name="x"):
    return api.post("ltm/policy/", {"command": "publish", "name": f"/Common/Drafts/{name}"})


def test_every_level(api):
    made = draft(api)
    assert (made["fullPath"], made["subPath"], made["status"]) == ("/Common/Drafts/x", "Drafts", "draft")
    assert (made["strategy"], made["requires"]) == ("/Common/all-match", ["http"])
    assert made["selfLink"] == LINK + "~Common~Drafts~x?ver=15.1.0" and "items" not in made["rulesReference"]
    base = "ltm/policy/~Common~Drafts~x/rules"
    whole = api.get("ltm/policy/~Common~Drafts~x", expandSubcollections="true")
    rules = whole["rulesReference"]["items"]
    assert [(rule["name"], rule["ordinal"]) for rule in rules] == [("images", 1), ("rest", 2)]
    action = rules[0]["actionsReference"]["items"][0]
    assert (action["pool"], action["forward"], action["code"], "redirect" in action) == ("/Common/p", True, 0, False)
    assert action["kind"] == "tm:ltm:policy:rules:actions:actionsstate"
    assert rules[0]["conditionsReference"]["items"][0]["values"] == RULES[0]["conditions"][0]["values"]
    assert api.get(base)["kind"] == "tm:ltm:policy:rules:rulescollectionstate"
    assert [row["name"] for row in api.items(f"{base}/images/actions")] == ["0", "1"]
    assert [row["name"] for row in api.items(f"{base}/images/conditions")] == ["0"]
    assert api.get(f"{base}/images/actions/1")["message"] == "a {b} \"c\""
    api.post(f"{base}/rest/actions", {"name": "0", "httpReply": True, "redirect": True, "location": "/"})
    assert api.patch(f"{base}/rest/actions/0", {"location": "/new"})["location"] == "/new"
    assert api.patch(f"{base}/rest", {"ordinal": 9})["actionsReference"]["link"].startswith(LINK)
    assert [row["name"] for row in api.items(f"{base}/rest/actions")] == ["0"]
    api.delete(f"{base}/rest/actions/0")
    assert api.items(f"{base}/rest/actions") == []
    api.patch(f"{base}/images", {"actions": [{"name": "0", "reset": True}]})
    only = api.items(f"{base}/images/actions")
    assert len(only) == 1 and only[0]["reset"] is True and "forward" not in only[0]
    assert refused(api, "GET", f"{base}/none")[0] == 404
    assert refused(api, "GET", f"{base}/rest/actions/7")[0] == 404
    assert refused(api, "GET", f"{base}/none/actions")[0] == 404
    api.delete(f"{base}/images")
    assert [row["name"] for row in api.items(base)] == ["rest"]


def test_terraforms_body(api):
    """Terraform gives rules within references, and reads them level by level."""
    action = {"name": "0", "forward": True, "pool": "/Common/p"}
    body = {"name": "Drafts/t", "partition": "Common", "publishedCopy": "Drafts/t", "strategy": "first-match",
            "rulesReference": {"items": [{"name": "r", "ordinal": 0, "actionsReference": {"items": [action]},
                                          "conditionsReference": {}}]}}
    assert api.post("ltm/policy", body)["fullPath"] == "/Common/Drafts/t"
    publish(api, "t")
    assert api.items("ltm/policy/~Common~t/rules/r/actions")[0]["pool"] == "/Common/p"
    assert not api.exists("ltm/policy/~Common~Drafts~t")


def test_drafts(api):
    status, message = refused(api, "POST", "ltm/policy", {"name": "x", "partition": "Common"})
    assert status == 400 and message.startswith(
        "01071abb:3: Cannot create/modify published policy '/Common/x' directly, try specifying a draft folder")
    draft(api)
    assert publish(api)["command"] == "publish"
    before = api.get("ltm/policy/x", expandSubcollections="true")
    assert before["status"] == "published" and "subPath" not in before
    for method, path, body in (("PATCH", "x", {"description": "y"}), ("PUT", "x", {"description": "y"}),
                               ("PATCH", "x/rules/rest", {"ordinal": 4}), ("POST", "x/rules", {"name": "new"}),
                               ("DELETE", "x/rules/rest", None), ("PATCH", "x/rules/images/actions/0", {"code": 1}),
                               ("DELETE", "x/rules/images/conditions/0", None)):
        status, message = refused(api, method, f"ltm/policy/{path}", body)
        assert (status, "01071abb:3: Cannot create/modify published policy" in message) == (400, True), (method, path)
    assert api.get("ltm/policy/x", expandSubcollections="true") == before
    assert api.send("PATCH", "ltm/policy/x?options=create-draft").status_code == 200
    assert refused(api, "PATCH", "ltm/policy/x", {"createDraft": True})[0] == 400
    api.patch("ltm/policy/~Common~Drafts~x/rules/rest", {"description": "changed"})
    assert "description" not in api.get("ltm/policy/x/rules/rest")
    publish(api)
    assert api.get("ltm/policy/x/rules/rest")["description"] == "changed"
    assert [row["fullPath"] for row in api.items("ltm/policy")] == ["/Common/x"]
    assert refused(api, "POST", "ltm/policy", {"command": "publish", "name": "/Common/Drafts/none"})[0] == 404
    assert refused(api, "POST", "ltm/policy", {"command": "publish", "name": "/Common/x"})[0] == 400
    assert refused(api, "POST", "ltm/policy", {"command": "burn", "name": "/Common/x"})[0] == 400


def test_legacy(api):
    assert api.post("ltm/policy", {"name": "old", "legacy": True, "strategy": "best-match"})["status"] == "legacy"
    api.post("ltm/policy/old/rules", {"name": "r"})
    assert api.patch("ltm/policy/old", {"description": "d"})["description"] == "d"
    draft(api, "old")
    assert "legacy" in refused(api, "POST", "ltm/policy", {"command": "publish", "name": "/Common/Drafts/old"})[1]


def test_what_is_named_is_held(api):
    draft(api)
    status, message = refused(api, "DELETE", "ltm/pool/p")
    assert status == 400 and "/Common/Drafts/x images 0" in message
    status, message = refused(api, "PATCH", "ltm/policy/~Common~Drafts~x/rules/images/actions/1", {"pool": "/Common/no"})
    assert status in (400, 404) and "/Common/no" in message
    for field, value in (("redirct", True), ("code", -1), ("forward", "yes"), ("port", 70000)):
        status, message = refused(api, "PATCH", "ltm/policy/~Common~Drafts~x/rules/images/actions/0", {field: value})
        assert status == 400 and field in message
    publish(api)
    status, message = refused(api, "POST", "ltm/virtual", {"name": "v", "destination": "10.9.0.1:80", "ipProtocol": "tcp",
                                                          "policies": ["/Common/x"]})
    assert status == 400 and "/Common/x: policies are not carried out yet" in message
    api.post("ltm/virtual", {"name": "v", "destination": "10.9.0.1:80", "ipProtocol": "tcp"})
    assert "not carried out yet" in refused(api, "POST", "ltm/virtual/v/policies", {"name": "x", "partition": "Common"})[1]
    assert api.items("ltm/virtual/v/policies") == []


def test_transaction(api):
    number = api.post("transaction", {})["transId"]
    header = {"headers": {"X-F5-REST-Coordination-Id": str(number)}}
    api.call("POST", "ltm/policy", {"name": "Drafts/t", "partition": "Common"}, **header)
    api.call("POST", "ltm/policy/~Common~Drafts~t/rules", {"name": "r", "actions": [
        {"name": "0", "forward": True, "pool": "/Common/soon"}]}, **header)
    api.call("POST", "ltm/policy", {"command": "publish", "name": "/Common/Drafts/t"}, **header)
    api.call("POST", "ltm/pool", {"name": "soon"}, **header)
    assert not api.exists("ltm/policy/t")
    assert api.patch(f"transaction/{number}", {"state": "VALIDATING"})["state"] == "COMPLETED"
    assert api.get("ltm/policy/t/rules/r/actions/0")["pool"] == "/Common/soon"


def test_file_restart_and_roll_back(api):
    cp = api.weir
    draft(api)
    publish(api)
    api.patch("ltm/policy/x", {"createDraft": True})
    api.post("ltm/policy", {"name": "old", "legacy": True})
    generation = cp.status()["generation"]
    before = api.get("ltm/policy", expandSubcollections="true")["items"]
    cp.ask("save")
    text = cp.conf.read_text()
    cp.ask("load")
    cp.ask("save")
    assert cp.conf.read_text() == text
    api.patch("ltm/policy/~Common~Drafts~x/rules/images/actions/0", {"code": 7})
    api.delete("ltm/policy/~Common~Drafts~x/rules/images/conditions/0")
    api.delete("ltm/policy/~Common~Drafts~x/rules/rest")
    publish(api)
    api.delete("ltm/policy/old")
    changed = shape(api.get("ltm/policy", expandSubcollections="true")["items"])
    cp.restart(kill=True)
    api.admin.close()
    api.admin = api.log_in()
    assert shape(api.get("ltm/policy", expandSubcollections="true")["items"]) == changed
    cp.ask("rollback", generation=generation)
    assert shape(api.get("ltm/policy", expandSubcollections="true")["items"]) == shape(before)


def shape(rows):
    """Without what a change counts up."""
    if isinstance(rows, dict):
        return {key: shape(value) for key, value in rows.items() if key != "generation"}
    return [shape(row) for row in rows] if isinstance(rows, list) else rows


def test_words(api):
    cp = api.weir
    cp.edit("create", "ltm policy Drafts/w strategy best-match rules add { r { actions add { 0 { forward pool p } } } }")
    cp.edit("modify", "ltm policy Drafts/w rules modify { r { conditions add { 0 { http-host host values { a } } } } }")
    cp.edit("modify", "ltm policy Drafts/w rules modify { r { actions modify { 0 { pool none node 10.0.0.1 } } } }")
    cp.edit("modify", "ltm policy Drafts/w publish")
    rule = api.get("ltm/policy/w/rules/r", expandSubcollections="true")
    assert rule["actionsReference"]["items"][0]["node"] == "10.0.0.1"
    assert rule["conditionsReference"]["items"][0]["values"] == ["a"]
    with pytest.raises(ApiError, match="Cannot create/modify published policy"):
        cp.edit("modify", "ltm policy w rules modify { r { conditions none } }")
    cp.edit("modify", "ltm policy w create-draft")
    cp.edit("modify", "ltm policy Drafts/w rules modify { r { conditions none } }")
    rule = api.get("ltm/policy/~Common~Drafts~w/rules/r", expandSubcollections="true")
    assert "items" not in rule["conditionsReference"] and "items" in rule["actionsReference"]


def test_roles(api):
    draft(api)
    publish(api)
    api.send("PATCH", "ltm/policy/x?options=create-draft")
    api.post("auth/partition", {"name": "Other"})
    users = {"guest": "all-partitions", "operator": "all-partitions", "manager": "Other"}
    for role, partition in users.items():
        with contextlib.closing(add_user(api, f"u{role}", role, partition)) as session:
            base = "ltm/policy/~Common~Drafts~x"
            for method, path, body in (("PATCH", "", {"description": "d"}), ("POST", "/rules", {"name": "n"}),
                                       ("PATCH", "", {"publish": True}), ("PUT", "", {"publish": True}),
                                       ("PATCH", "/rules/images/actions/0", {"code": 3}),
                                       ("POST", "/rules/images/conditions", {"name": "5"}),
                                       ("DELETE", "/rules/images/actions/0", None), ("DELETE", "", None)):
                assert refused(session, method, base + path, body)[0] in (401, 403, 404), (role, method, path)
            assert refused(session, "POST", "ltm/policy", {"command": "publish", "name": "/Common/Drafts/x"})[0] in (401, 403, 404)
            if role != "manager":
                assert session.get(base + "/rules/images/actions/0")["pool"] == "/Common/p"
                continue
            session.post("ltm/policy", {"name": "own", "partition": "Other", "subPath": "Drafts", "rules": ["r"]})
            session.post("ltm/policy", {"command": "publish", "name": "/Other/Drafts/own"})
            assert session.get("ltm/policy/~Other~own/rules/r")["name"] == "r"
            session.delete("ltm/policy/~Other~own")
    for role in users:
        api.delete(f"auth/user/u{role}")
    api.delete("auth/partition/Other")


def test_ansible(api):
    assert api.play("policy").changed == ["Pool", "Policy", "Rule for images", "Rule for the rest", "Draft"]
    action = api.items("ltm/policy/site/rules/images/actions")[0]
    assert (action["forward"], action["pool"]) == (True, "/Common/images")
    assert api.items("ltm/policy/site/rules/rest/actions")[0]["location"] == "http://www.example.com/"
    assert api.get("ltm/policy/~Common~Drafts~later")["strategy"] == "/Common/best-match"
    generation = api.weir.status()["generation"]
    assert api.play("policy").changed == []
    assert api.weir.status()["generation"] == generation
    assert api.play("policy", text="pictures", paths=["/pictures"]).changed == ["Policy", "Rule for images"]
    values = [row.get("values") for row in api.items("ltm/policy/site/rules/images/conditions")]
    assert ["/pictures"] in values and api.get("ltm/policy/site")["description"] == "pictures"
    assert api.play("policy_delete").changed == ["Rule", "Policy", "Draft"]
    assert api.items("ltm/policy") == []
