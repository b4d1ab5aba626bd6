# SPDX-License-Identifier: BSD-3-Clause
"""OpenAPI 3.0 of the REST interface: a path for each kind and its objects, and what stands beside them."""
import json

ERROR = {"description": "Refused.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/error"}}}}
NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"},
        "description": "Its name, or its full path with ~ for /: ~Common~web."}
OWNER = {"name": "owner", "in": "path", "required": True, "schema": {"type": "string"},
         "description": "Name or full path of the object that it belongs to."}
QUERY = [{"name": "$select", "in": "query", "schema": {"type": "string"}, "description": "These properties alone: a,b."},
         {"name": "$filter", "in": "query", "schema": {"type": "string"},
          "description": "FIELD eq VALUE, several joined by \"and\"."},
         {"name": "$top", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "So many at most."},
         {"name": "$skip", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "Behind so many."},
         {"name": "expandSubcollections", "in": "query", "schema": {"type": "boolean"},
          "description": "Children too, as items in their reference."}]
LOG = {"lines": "So many at most (100).", "object": "About this object or what belongs to it.", "actor": "Done by this user.",
       "address": "Asked for from this address.", "level": "Of this level or worse.", "type": "Of this type.",
       "module": "Of this module.", "message": "With this message id.", "incident": "Of this incident.",
       "since": "Not before this time: local, or s since 1970, or 10m, 2h, 3d.", "until": "Not after it.",
       "after": "With a higher number.", "before": "With a lower number.", "audit": "true: what people and agents did."}
COORDINATION = {"name": "X-F5-REST-Coordination-Id", "in": "header", "schema": {"type": "integer"},
                "description": "The change belongs to this transaction."}


def strings(description, **more):
    return {"type": "array", "items": {"type": "string"}, "description": description, **more}


def number(f):
    """A number, and the words that some of them have."""
    if f.get("rest-type") == "string":
        return {"type": "string"}
    whole = {"type": "integer", "format": "int64", "minimum": min([f["min"], *f["words"].values()]),
             "maximum": max([f["max"], *f["words"].values()])}
    return {"oneOf": [whole, {"type": "string", "enum": sorted(f["words"])}]} if f["words"] else whole


def rows(f):
    columns = {c["rest"]: {"type": "integer" if "max" in c else "string", **({"enum": c["values"]} if c.get("values") else {})} for c in f["columns"]}
    columns.update({c["rest"] + "Reference": {"$ref": "#/components/schemas/reference"}
                    for c in f["columns"] if c.get("refs")})
    return {"type": "array", "maxItems": f["max"],
            "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, **columns}}}


def shape(f):
    """The schema of one field's value."""
    kind = f["type"]
    if kind == "int":
        return number(f)
    if kind == "enum":
        common = ["/Common/" + value for value in f["supported"]] if f.get("rest-folder") else []
        return {"type": "string", "enum": common + f["supported"]}
    if kind == "flag":
        return {"type": "boolean"}
    if kind == "rows":
        return rows(f)
    if kind in ("refs", "strings"):
        return {"oneOf": [{"type": "array", "items": {"type": "string"}, "maxItems": f["max"]}, {"type": "string"}]}
    if kind == "services":
        return {"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}
    return {"type": "string"}


def described(f):
    out = {**shape(f), "description": f["sentence"] + (f" Unit: {f['unit']}." if f.get("unit") else "")}
    if f["class"] == "read-only" or f.get("derived"):
        out["readOnly"] = True
    if f.get("password"):
        out["writeOnly"] = True
    if f["type"] in ("int", "enum") and "default" in f and f.get("rest-type") != "string":
        out["default"] = f["default"]
    return out


def session_or_state(f, out):
    """What is given is more than what is taken: monitors have their say."""
    more = {"session": ["monitor-enabled", "monitor-disabled"],
            "state": ["checking", "down", "fqdn-checking", "fqdn-down", "fqdn-up", "fqdn-up-no-addr", "unchecked", "up"]}
    if f.get("hold"):
        out["enum"] = f["supported"] + more[f["name"]]
        out["description"] += f" {' and '.join(f['supported'])} are taken; the others are what monitors say."
    return out


def fields(k):
    """Properties of a kind's own, those of a group within it."""
    properties = {}
    for f in k["fields"]:
        if f.get("hidden") or f["type"] == "holds":
            continue
        place = properties
        if f.get("group"):
            group = properties.setdefault(f["rest_group"], {"type": "object", "properties": {}})
            place = group["properties"]
        place[f["rest"]] = session_or_state(f, described(f))
        if f["type"] == "flag" and f.get("opposite"):
            other = f.get("rest_opposite") or camel(f["opposite"])
            place[other] = {"type": "boolean", "description": f"The opposite of {f['rest']}."}
        if f.get("rest-reference"):
            link = {"$ref": "#/components/schemas/reference"}
            place[f["rest"] + "Reference"] = {"type": "array", "items": link} if f["type"] == "refs" else link
    return properties


FACTS = {"cm device"}  # which clients look at for what they know of LTM's machines


def camel(name):
    first, *rest = name.split("-")
    return first + "".join(word.capitalize() for word in rest)


def component(k):
    return k["kind"].replace(" ", "_")


def object_schema(k, kinds):
    text = {"type": "string", "readOnly": True}
    properties = {"kind": text, "name": {"type": "string"}, "partition": {"type": "string"}, "subPath": {"type": "string"},
                  "fullPath": text, "generation": {"type": "integer", "format": "int64"}, "selfLink": text,
                  **fields(k)}
    if k.get("inline"):
        properties["nameReference"] = {"$ref": "#/components/schemas/reference"}
    for child in (c for c in kinds if c["kind"] in k.get("children", [])):
        if child.get("inline"):
            properties[child["rest"]] = {"type": "array", "items": {"$ref": f"#/components/schemas/{component(child)}"}}
            continue
        properties[child["rest"] + "Reference"] = {"$ref": "#/components/schemas/children"}
        properties[child["rest"]] = {"type": "array", "writeOnly": True, "items": {
            "oneOf": [{"type": "string"}, {"$ref": f"#/components/schemas/{component(child)}"}]}}
    more = {"additionalProperties": True} if k["kind"] in FACTS else {}
    return {"type": "object", "description": k["sentence"], "properties": properties, **more}


def content(schema):
    return {"application/json": {"schema": schema}}


def ok(schema=None):
    return {"200": {"description": "Done.", **({"content": content(schema)} if schema else {})}, "default": ERROR}


def operation(k, verb, what, answer, **more):
    return {"operationId": f"{verb}_{component(k)}", "tags": [k["kind"].split()[0]], "summary": what,
            "description": f"Least role: {more.pop('who')}.", "responses": ok(answer), **more}


def collection(k, ref, owner):
    items = {"type": "object", "properties": {"kind": {"type": "string"}, "selfLink": {"type": "string"},
                                              "items": {"type": "array", "items": ref}}}
    out = {"get": operation(k, "list", f"Lists: {k['sentence']}", items, who="guest", parameters=owner + QUERY)}
    if not k.get("fixed"):
        out["post"] = operation(k, "create", "Creates one.", ref, who=k["who"], parameters=owner + [COORDINATION],
                                requestBody={"required": True, "content": content(ref)})
    return out


def item(k, ref, owner):
    names = owner if k["name"] == "single" else owner + [NAME]
    body = {"requestBody": {"required": True, "content": content(ref)}}
    who = min((f["who"] for f in k["fields"]), key=["guest", "operator", "manager", "resource-admin", "admin"].index)
    out = {"get": operation(k, "read", "Reads one.", ref, who="guest", parameters=names + QUERY[:1] + QUERY[-1:]),
           "patch": operation(k, "modify", "Changes what is given.", ref, who=who, parameters=names + [COORDINATION], **body),
           "put": operation(k, "replace", "Changes what is given, all else gets its default.", ref, who=who,
                            parameters=names + [COORDINATION], **body)}
    if not k.get("fixed"):
        out["delete"] = operation(k, "delete", "Deletes it.", None, who=k["who"], parameters=names + [COORDINATION])
    return out


STATS = {"ltm node", "ltm pool", "ltm pool members", "ltm virtual", "ltm virtual-address", "net interface"}


def kind_paths(k, kinds):
    ref = {"$ref": f"#/components/schemas/{component(k)}"}
    owner = next((o for o in kinds if o["kind"] == k.get("owner")), None)
    first = next((o for o in kinds if owner and o["kind"] == owner.get("owner")), None)
    base = f"/mgmt/tm/{owner['rest']}/{{owner}}/{k['rest']}" if owner else f"/mgmt/tm/{k['rest']}"
    above = [OWNER] if owner else []
    if first:
        base = f"/mgmt/tm/{first['rest']}/{{first}}/{owner['rest']}/{{owner}}/{k['rest']}"
        above = [{**OWNER, "name": "first"}, OWNER]
    if k["name"] == "single":
        return {base: item(k, ref, above)}
    out = {base: collection(k, ref, above), base + "/{name}": item(k, ref, above)}
    if k["kind"] in STATS:
        stats = {"$ref": "#/components/schemas/statistics"}
        out[base + "/stats"] = {"get": operation(k, "stats_of_all", "Statistics of all.", stats, who="guest", parameters=above)}
        out[base + "/{name}/stats"] = {"get": operation(k, "stats_of", "Statistics of one.", stats, who="guest",
                                                        parameters=above + [NAME])}
    return out


def beside(method, operation_id, tag, summary, schema=None, body=None, media="application/json", parameters=()):
    out = {"operationId": operation_id, "tags": [tag], "summary": summary, "responses": {
        "200": {"description": "Done.", "content": {media: {"schema": schema or {"type": "object"}}}}, "default": ERROR}}
    if body:
        out["requestBody"] = {"required": True, "content": content(body)}
    if parameters:
        out["parameters"] = list(parameters)
    return {method: out}


def fixed_paths():
    text = {"type": "string"}
    numbers = ("lines", "incident", "after", "before")
    number_of = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    login = {"type": "object", "required": ["username", "password"], "properties": {
        "username": text, "password": {**text, "format": "password"}, "loginProviderName": text}}
    token = {"name": "token", "in": "path", "required": True, "schema": text}
    after = [{"name": "after", "in": "query", "schema": {"type": "integer"}, "description": "Id of the last event that is known."},
             {"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer"}, "description": "The same."}]
    command = {"type": "object", "required": ["command"], "properties": {
        "command": {"type": "string", "enum": ["save", "load"]}, "options": {"type": "array", "items": {"type": "object"}}}}
    logged_in = beside("post", "log_in", "log-in", "Gives a token.", body=login)
    logged_in["post"]["security"] = []
    return {
        "/mgmt/weir/metrics": beside("get", "metrics", "weir", "Metrics for Prometheus.", text, media="text/plain"),
        "/mgmt/weir/events": beside("get", "events", "weir", "Events as they happen (server-sent events).", text,
                                    media="text/event-stream", parameters=after),
        "/mgmt/weir/log": beside("get", "log", "weir", "Records of the journal, the newest, oldest first.", parameters=[
            {"name": name, "in": "query", "schema": {"type": "integer"} if name in numbers else text, "description": meaning}
            for name, meaning in LOG.items()]),
        **{f"/mgmt/tm/sys/log/{name}/stats": beside("get", f"log_{name}", "sys", "The newest records as lines of text.", parameters=[
            {"name": "options", "in": "query", "schema": text, "description": "lines,N: so many."}]) for name in ("ltm", "audit")},
        "/mgmt/weir/receivers": beside("get", "receivers", "weir", "Who is told of events, and how far each is."),
        "/mgmt/weir/openapi.json": beside("get", "openapi", "weir", "This description."),
        "/mgmt/shared/authn/login": logged_in,
        "/mgmt/shared/authz/tokens": beside("get", "tokens", "log-in", "The caller's tokens."),
        "/mgmt/shared/authz/tokens/{token}": {
            **beside("get", "token", "log-in", "One token.", parameters=[token]),
            **beside("delete", "log_out", "log-in", "Ends it.", parameters=[token])},
        "/mgmt/tm/transaction": beside("post", "begin_transaction", "transaction", "Begins one.", body={"type": "object"}),
        "/mgmt/tm/transaction/{id}": {
            **beside("get", "transaction", "transaction", "Its state.", parameters=[number_of]),
            **beside("patch", "submit_transaction", "transaction", "Makes all its changes, or none.", parameters=[number_of],
                     body={"type": "object", "required": ["state"], "properties": {
                         "state": {"type": "string", "enum": ["VALIDATING"]}, "validateOnly": {"type": "boolean"}}}),
            **beside("delete", "drop_transaction", "transaction", "Throws it away.", parameters=[number_of])},
        "/mgmt/tm/sys/config": beside("post", "config", "sys", "Saves or loads the configuration.", body=command),
        "/mgmt/tm/sys/ucs": {**beside("get", "archives", "sys", "Archives of the configuration."),
                             **beside("post", "archive", "sys", "Makes or loads one.", body={"type": "object"})},
        "/mgmt/tm/sys/ready": beside("get", "ready", "sys", "Whether it is ready."),
        "/mgmt/tm/sys/version": beside("get", "version", "sys", "Product and version."),
    }


COMPONENTS = {
    "error": {"type": "object", "required": ["code", "message"], "properties": {
        "code": {"type": "integer"}, "message": {"type": "string"}, "apiError": {"type": "integer"},
        "errorStack": strings("More about it."), "referer": {"type": "string"}, "restOperationId": {"type": "integer"},
        "kind": {"type": "string"}}},
    "reference": {"type": "object", "properties": {"link": {"type": "string", "readOnly": True}}},
    "children": {"type": "object", "properties": {
        "link": {"type": "string", "readOnly": True}, "isSubcollection": {"type": "boolean"},
        "items": {"type": "array", "items": {"type": "object"}}}},
    "statistics": {"type": "object", "properties": {
        "kind": {"type": "string"}, "selfLink": {"type": "string"}, "generation": {"type": "integer"},
        "entries": {"type": "object", "additionalProperties": {"type": "object"}}}},
}


def document(kinds, version):
    kinds = [k for k in kinds if not k.get("refused")]
    paths = {}
    for k in kinds:
        if not k.get("inline"):
            paths.update(kind_paths(k, kinds))
    paths.update({path: methods for path, methods in fixed_paths().items() if path not in paths})
    return {
        "openapi": "3.0.3",
        "info": {"title": "Weir", "version": version, "license": {"name": "BSD-3-Clause"},
                 "description": "The REST interface of Weir, a load balancer, in the words of BIG-IP LTM's."},
        "servers": [{"url": "/"}],
        "security": [{"password": []}, {"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"password": {"type": "http", "scheme": "basic"},
                                "token": {"type": "apiKey", "in": "header", "name": "X-F5-Auth-Token"}},
            "schemas": {**COMPONENTS, **{component(k): object_schema(k, kinds) for k in kinds}}},
    }


def source(kinds, version):
    """C: the document as a text, in pieces that compilers take."""
    text = json.dumps(document(kinds, version), ensure_ascii=True, separators=(",", ":"))
    pieces = [text[i:i + 100] for i in range(0, len(text), 100)]
    lines = ['\t"' + piece.replace("\\", "\\\\").replace('"', '\\"') + '"' for piece in pieces]
    return ("/* SPDX-License-Identifier: BSD-3-Clause */\n/* Generated from controlplane/model/schema: do not edit. */\n"
            "extern const char openapi_text[];\n\nconst char openapi_text[] =\n" + "\n".join(lines) + ";\n")
