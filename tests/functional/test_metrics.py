# SPDX-License-Identifier: BSD-3-Clause
"""What is below /mgmt/weir: metrics for Prometheus, events, and the description of the REST interface.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2          weir-mgmt beside it
"""
import collections
import contextlib
import json
import re
import select

import jsonschema
import pytest

from topo import http_burst, standard, wait_until
from topo import weirconf as wc
from topo.api import Api
from topo.weir import build_dir

METRICS, EVENTS, OPENAPI = "/mgmt/weir/metrics", "/mgmt/weir/events", "/mgmt/weir/openapi.json"
PASSWORD = "Two-Loaves-0f-bread"


@pytest.fixture(scope="module")
def api():
    with standard(servers=2) as topo:
        topo.picture.start_nginx()
        weir = topo.picture.start_weir(wc.pool("web", topo.picture.members(80), "ratio-member"),
                                       wc.virtual("web", "10.0.1.100", 80, "web"))
        api = topo.add(Api(weir))
        api.client = topo.picture.client
        weir.edit("create", "auth partition p1")
        weir.edit("create", "ltm pool /p1/mine members add { 10.0.2.77:80 }")
        for user, access in [("guest1", "all-partitions { role guest }"), ("guest2", "p1 { role guest }"),
                             ("nobody1", "all-partitions { role no-access }")]:
            weir.edit("create", f"auth user {user} password {PASSWORD} partition-access add {{ {access} }}")
        yield api
        weir.cp.check_running()
        api.check_running()


# --- metrics ----------------------------------------------------------------------------------------------

SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\n]|\\[\\\"n])*\",?)*)\})? "
                    r"(\d+(?:\.\d+)?)\Z")
LABEL = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\n]|\\[\\\"n])*)\"")


def parse(text):
    """{(name, ((label, value), ...)): number} of a text that keeps every rule of the format."""
    assert text.endswith("\n")
    samples, types, current = {}, {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current, sentence = line.removeprefix("# HELP ").split(" ", 1)
            assert current not in types and sentence, line
            types[current] = None
        elif line.startswith("# TYPE "):
            name, kind = line.removeprefix("# TYPE ").split(" ")
            assert name == current and types[name] is None and kind in ("counter", "gauge"), line
            assert name.endswith("_total") == (kind == "counter"), line
            types[name] = kind
        else:
            found = SAMPLE.match(line)
            assert found and found[1] == current and types[current], f"{current}: {line}"
            assert current.startswith("weir_")
            key = current, tuple(sorted(LABEL.findall(found[2] or "")))
            assert key not in samples, f"twice: {line}"
            samples[key] = float(found[3])
    return samples


def scrape(session):
    reply = session.send("GET", METRICS)
    assert reply.status_code == 200, reply.text
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    reply.encoding = "utf-8"
    return parse(reply.text)


def value(samples, name, **labels):
    return samples[f"weir_{name}", tuple(sorted(labels.items()))]


def test_metrics_tell_traffic_and_states(api):
    before = scrape(api)
    burst = http_burst(api.client, "10.0.1.100", 20)
    assert not burst.errors
    web = {"virtual_server": "/Common/web"}

    def counted():
        return value(scrape(api), "virtual_server_connections_total", **web) == \
            value(before, "virtual_server_connections_total", **web) + 20
    wait_until(counted, "20 connections are counted", 10)
    now = scrape(api)
    members = [dict(labels) for name, labels in now if name == "weir_pool_member_connections_total"
               and dict(labels)["pool"] == "/Common/web"]
    assert sum(value(now, "pool_member_connections_total", **m) for m in members) == \
        value(now, "pool_connections_total", pool="/Common/web") == value(now, "virtual_server_connections_total", **web)
    assert value(now, "pool_member_in_bytes_total", **members[0]) > 0
    assert value(now, "dataplane_connected") == 1 and value(now, "pool_members", pool="/Common/web") == 2
    assert sum(number for (name, labels), number in now.items() if name == "weir_worker_rx_packets_total") > 40
    assert ("weir_dropped_packets_total", (("reason", "no-route"),)) in now
    api.weir.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { state user-down } }")
    now = scrape(api)
    down = {"pool": "/Common/web", "member": "/Common/10.0.2.11:80"}
    assert value(now, "pool_member_availability", state="offline", **down) == 1
    assert value(now, "pool_member_availability", state="unknown", **down) == 0
    assert value(now, "pool_member_enabled", **down) == 0 and value(now, "pool_member_monitor_status", **down) == 4
    assert value(now, "pool_members_available", pool="/Common/web") == 1
    api.weir.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { state user-up } }")


def test_metrics_of_many_in_bounded_memory(api):
    """Three thousand pools: the text comes whole, in order, and memory goes back."""
    api.weir.ask("transaction", requests=[
        {"op": "edit", "verb": "create", "text": f"ltm pool many{n} members add {{ 10.0.3.1:{n + 1} }}"} for n in range(3000)])
    scrape(api)
    with open(f"/proc/{api.process.pid}/status") as status:
        before = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    for _ in range(3):
        now = scrape(api)
    assert value(now, "pool_members", pool="/Common/many2999") == 1
    with open(f"/proc/{api.process.pid}/status") as status:
        after = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    assert after < before + (4096 if build_dir().name == "build" else 400000), "a sanitizer keeps what was freed"
    api.weir.ask("transaction", requests=[{"op": "edit", "verb": "delete", "text": f"ltm pool many{n}"} for n in range(3000)])


def test_who_sees_which_metrics(api):
    with contextlib.closing(api.log_in("guest1", PASSWORD, token=False)) as guest:
        now = scrape(guest)
        assert value(now, "pool_members", pool="/Common/web") == 2 and value(now, "dataplane_connected") == 1
        assert ("weir_pool_members", (("pool", "/p1/mine"),)) in now
        assert guest.send("POST", METRICS, {}).status_code == 405
    with contextlib.closing(api.log_in("nobody1", PASSWORD, token=False)) as nobody:
        assert nobody.send("GET", METRICS).status_code in (401, 403)
        assert nobody.send("GET", OPENAPI).status_code in (401, 403)
    for path in (METRICS, EVENTS, OPENAPI):
        assert api.request("GET", path, user="nobody2", password="x").status == 401
        with api.session() as connection:
            connection.request("GET", path)
            assert connection.getresponse().status == 401


def test_metrics_without_a_dataplane(api):
    api.weir.kill_dp()
    wait_until(lambda: value(scrape(api), "dataplane_connected") == 0, "it is missed", 10)
    now = scrape(api)
    assert not [name for name, labels in now if "connections" in name and "limit" not in name]
    assert value(now, "pool_members", pool="/Common/web") == 2
    api.weir.start_dp()
    api.weir.wait_ready()


# --- events -----------------------------------------------------------------------------------------------

class Stream:
    """Server-sent events as a browser reads them."""

    def __init__(self, session, last=None):
        self.reply = session.send("GET", EVENTS, stream=True, headers={"Last-Event-ID": str(last)} if last else {})
        assert self.reply.status_code == 200, self.reply.text
        assert self.reply.headers["Content-Type"] == "text/event-stream"
        self.events, self.rest = [], b""
        self.socket = self.reply.raw._fp.fp.raw._sock

    def read(self):
        """False at the end."""
        answer = self.reply.raw._fp
        while answer.fp and (self.socket.pending() or select.select([self.socket], [], [], 0)[0]):
            part = answer.read1(65536)
            if not part:
                return False
            self.rest += part
        *blocks, self.rest = self.rest.split(b"\n\n")
        for block in blocks:
            fields = dict(line.split(b": ", 1) for line in block.splitlines() if not line.startswith(b":"))
            if b"data" in fields:
                event = json.loads(fields[b"data"])
                assert int(fields[b"id"]) == event["id"] and fields[b"event"].decode() == event["type"]
                self.events.append(event)
        return bool(answer.fp)

    def wait(self, condition, what):
        def found():
            self.read()
            return [event for event in self.events if condition(event)]
        wait_until(found, lambda: f"{what}; there are {self.events}", 10)
        return found()[0]

    def close(self):
        self.reply.close()


def test_events(api):
    with contextlib.closing(api.log_in()) as session, contextlib.closing(Stream(session)) as stream:
        api.weir.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { session user-disabled } }")
        event = stream.wait(lambda e: e["type"] == "state", "the state")
        assert event["object"] == "/Common/10.0.2.11:80" and event["new"]["holds"] == {"operator": "disabled"}
        api.patch("ltm/pool/web", {"description": "seen"})
        commit = stream.wait(lambda e: e["type"] == "commit", "the commit")
        assert commit["actor"] == {"class": "operator", "name": "admin", "address": "127.0.0.1"}
    api.weir.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { session user-enabled } }")
    with contextlib.closing(api.log_in()) as session, contextlib.closing(Stream(session, commit["id"])) as stream:
        event = stream.wait(lambda e: e["type"] == "state", "what came while nobody read")
        assert event["new"]["holds"] == {} and stream.events[0]["id"] > commit["id"]
    assert api.send("GET", EVENTS, headers={"Last-Event-ID": "x"}).status_code == 400


def test_events_for_those_who_may_read(api):
    with contextlib.closing(api.log_in("guest2", PASSWORD)) as session, contextlib.closing(Stream(session)) as stream, \
            contextlib.closing(api.log_in()) as chief, contextlib.closing(Stream(chief)) as all_of_it:
        api.weir.edit("modify", "ltm pool web description secret")
        api.weir.edit("modify", "ltm pool /p1/mine members modify { 10.0.2.77:80 { state user-down } }")
        stream.wait(lambda e: e["kind"] == "ltm pool", "the pool that he may read")
        all_of_it.wait(lambda e: e["type"] == "commit", "the commit")
        assert not [e for e in stream.events if e["type"] == "commit"]
        api.weir.edit("modify", "auth user guest2 password Three-Loaves-0f-bread")
        wait_until(lambda: stream.read() is False, "he is another user now: the stream ends", 10)
    api.weir.edit("modify", f"auth user guest2 password {PASSWORD}")


def test_going_back_by_tmsh(api):
    """util/bash knows the way back too, and never takes it for a load of the startup file."""
    start = api.weir.status()["generation"]
    api.patch("ltm/pool/web", {"description": "first"})
    api.patch("ltm/pool/web", {"description": "second"})
    row = api.weir.show("sys history")[0]
    assert (row["author"], row["address"], row["generation"]) == ("admin", "127.0.0.1", start + 2)
    assert "+    description second" in api.bash(f"tmsh show sys history {start + 2}")
    assert api.bash(f"tmsh load sys config rollback {start + 1} verify") == "Loading configuration...\n"
    assert api.get("ltm/pool/web")["description"] == "second"
    assert api.bash(f"tmsh load sys config rollback {start + 1}") == "Loading configuration...\n"
    assert api.get("ltm/pool/web")["description"] == "first"
    assert "later than the newest" in api.bash("tmsh load sys config rollback 99999")
    with contextlib.closing(api.log_in("guest1", PASSWORD, token=False)) as guest:
        assert guest.send("POST", "util/bash", {"command": "run", "utilCmdArgs": "-c 'tmsh load sys config rollback 1'"}) \
            .status_code == 403


# --- the description --------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def document(api):
    return api.call("GET", OPENAPI).json()


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_description_keeps_the_rules_of_openapi(document):
    assert document["openapi"] == "3.0.3" and document["info"]["title"] and document["info"]["version"]
    identities = collections.Counter(operation["operationId"] for _, _, operation in operations(document))
    assert len(identities) > 300 and identities.most_common(1)[0][1] == 1
    for path, method, operation in operations(document):
        assert path.startswith("/mgmt/") and method in ("get", "post", "put", "patch", "delete")
        assert operation["responses"] and operation["summary"], path
        given = [p["name"] for p in operation.get("parameters", []) if p["in"] == "path"]
        assert sorted(given) == sorted(re.findall(r"\{(\w+)\}", path)), path
        assert all(p.get("required") for p in operation.get("parameters", []) if p["in"] == "path")
        assert method not in ("get", "delete") or "requestBody" not in operation
    text = json.dumps(document)
    for target in set(re.findall(r"\"#/components/schemas/([^\"]+)\"", text)):
        assert target in document["components"]["schemas"], target
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft4Validator.check_schema(schema)


def validator(document, name):
    def strict(schema):
        """A property that the description does not have is an error, in objects whose properties it lists."""
        if isinstance(schema, dict):
            out = {key: strict(part) for key, part in schema.items()}
            if "properties" in out and isinstance(out["properties"], dict):
                out.setdefault("additionalProperties", False)
            return out
        return [strict(part) for part in schema] if isinstance(schema, list) else schema
    schemas = strict(document["components"]["schemas"])
    return jsonschema.Draft4Validator({**schemas[name], "components": {"schemas": schemas}})


def test_replies_are_as_described(api, document):
    """Every object that a fresh Weir has, of every kind."""
    api.post("ltm/monitor/http", {"name": "m", "interval": 5, "timeout": 16, "username": "u", "password": "p"})
    api.post("ltm/pool", {"name": "described", "monitor": "/Common/m", "members": [{"name": "10.0.3.9:80", "ratio": 2}]})
    api.post("ltm/policy", {"name": "described", "legacy": True, "strategy": "first-match", "rules": [
        {"name": "one", "conditions": [{"name": "0", "httpUri": True, "path": True, "values": ["/"]}],
         "actions": [{"name": "0", "forward": True, "select": True, "pool": "/Common/described"}]}]})
    owners = {"ltm/pool": "~Common~described", "ltm/policy": "~Common~described", "ltm/policy/{first}/rules": "one", "auth/user": "admin", "ltm/virtual": "~Common~web",
              "net/vlan": api.items("net/vlan")[0]["fullPath"].replace("/", "~")}
    seen, wrong = set(), []
    for path, methods in document["paths"].items():
        get = methods.get("get", {})
        if not path.startswith("/mgmt/tm/") or not get.get("operationId", "").startswith(("list_", "read_")):
            continue
        if get["operationId"].startswith("read_") and "{name}" in path:
            continue
        name = get["operationId"].split("_", 1)[1]
        owner = owners.get(path.partition("/{owner}")[0].removeprefix("/mgmt/tm/"), "")
        reply = api.get(path.replace("{owner}", owner).replace("{first}", "~Common~described"))
        for row in reply.get("items", [reply] if get["operationId"].startswith("read_") else []):
            seen.add(name)
            wrong += [f"{name} {row.get('name')}: {'/'.join(map(str, e.path))}: {e.message[:200]}"
                      for e in validator(document, name).iter_errors(row)]
    assert not wrong, "\n".join(wrong[:20])
    assert {"ltm_pool", "ltm_pool_members", "ltm_monitor_http", "ltm_virtual", "ltm_node", "net_self", "sys_db",
            "ltm_policy_rules_actions"} <= seen
    assert len(seen) > 60
    api.delete("ltm/policy/described")
    api.delete("ltm/pool/described")
    api.delete("ltm/monitor/http/m")
