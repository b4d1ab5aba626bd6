#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads schema/*.json (and schema/include/, lists of fields that several kinds share) and writes the model's C (structs, tables, libconfuse grammar) or its reference.

usage: generate.py c SCHEMA_DIR OUT_DIR | generate.py docs SCHEMA_DIR OUT_DIR
       generate.py openapi SCHEMA_DIR OUT_FILE VERSION
       generate.py check SCHEMA_DIR DOCS_DIR   (fails if the pages in DOCS_DIR are not up to date)
"""
import fnmatch
import json
import os
import re
import sys

import emit_c
import emit_docs
import emit_openapi

TYPES = {"int", "enum", "flag", "string", "ip", "prefix", "mask", "ref", "refs", "services", "strings", "endpoint",
         "holds", "monitor-rule", "destination", "rows"}
CLASSES = {"config", "live", "secret", "read-only"}
EFFECTS = {"none", "snapshot", "live"}
ROLES = {"guest", "operator", "manager", "resource-admin", "admin"}
MONITORS = "ltm monitor "
MONITOR_TYPES = ["tcp", "tcp-half-open", "tcp-echo", "udp", "http", "https", "icmp", "gateway-icmp", "inband",
                 "external", "dns", "smtp", "ftp", "nntp", "pop3", "imap", "redis", "sip", "radius", "mysql",
                 "postgresql", "ldap", "snmp-dca", "agent-check"]
PROFILES = "ltm profile "
PROFILE_TYPES = ["fastl4", "udp", "tcp", "http", "client-ssl", "server-ssl", "one-connect", "fasthttp", "diameter",
                 "dhcpv4", "dhcpv6", "sip", "http-compression", "web-acceleration", "http2", "ftp", "dns", "stream",
                 "analytics"]
PERSISTENCE_TYPES = ["cookie", "source-addr", "dest-addr", "hash", "msrdp", "sip", "ssl", "universal"]
SETTINGS = ["global-settings", "ntp", "sshd", "snmp", "syslog"]
# What is named stands in weir.conf before what names it.
ORDER = ["auth partition", "auth password-policy", "auth user", "sys folder", "sys file ssl-cert", "sys file ssl-key", "sys file data-group",
         "sys file external-monitor", "sys file alert-script", "sys file ifile", "cm device", "cm traffic-group", "sys db", "sys dns", "sys httpd",
         *("sys " + t for t in SETTINGS), "sys snmp communities", "sys snmp users", "sys snmp traps",
         "sys smtp-server", "sys alert", "net route-domain",
         "net interface", "net vlan", "net self", "net route", *(MONITORS + t for t in MONITOR_TYPES),
         "ltm default-node-monitor", "ltm node", "ltm pool", *(PROFILES + t for t in PROFILE_TYPES),
         "ltm message-routing sip profile session", *("ltm persistence " + t for t in PERSISTENCE_TYPES),
         "ltm global-settings connection", "ltm ifile", "ltm data-group internal", "ltm data-group external", "ltm rule", "ltm policy", "ltm snat-translation", "ltm snatpool", "ltm snat", "ltm nat", "ltm virtual-address", "ltm virtual"]
KIND_KEYS = {"kind", "c", "title", "rest", "name", "who", "fixed", "sentence", "fields", "children", "items", "owner",
             "block", "alias", "variables", "include", "change", "inline", "builtin", "later", "refused", "rest-none"}
KINDS_MAX = 255  # object.kind
FIELDS_MAX = 128  # bits of field_mask
BUILTIN_SLOTS = [(24, 128), (176, 256)]  # of ids, beside those that model.c hands out
FIELD_KEYS = {"name", "c", "group", "type", "rest", "opposite", "unit", "default", "min", "max", "values",
              "supported", "words", "refs", "class", "effect", "who", "hold", "required", "create-only",
              "accept", "derived", "hidden", "key", "host", "rest-type", "rest-reference", "read-only",
              "sentence", "own", "pattern", "pairs", "probe", "folder", "password", "hash", "rest-empty", "columns", "reveal",
              "default-entry", "action", "rest-folder"}

COLUMN_KEYS = {"name", "rest", "default", "values", "refs", "min", "max"}


def camel(name):
    """load-balancing-mode -> loadBalancingMode"""
    return re.sub(r"-(.)", lambda m: m.group(1).upper(), name)


def fail(kind, field, reason):
    sys.exit(f"schema: {kind}: {field + ': ' if field else ''}{reason}")


def complete_field(kind, f):
    """Fills what a field leaves out, and refuses what it says wrong."""
    where = (kind["kind"], f.get("name", "?"))
    unknown = set(f) - FIELD_KEYS
    if unknown:
        fail(*where, f"unknown keys {sorted(unknown)}")
    for key in ("name", "type", "sentence"):
        if key not in f:
            fail(*where, f"no {key}")
    if f["type"] not in TYPES:
        fail(*where, f"unknown type {f['type']}")
    group = f.get("group")
    f.setdefault("c", f["name"].replace("-", "_"))
    f.setdefault("rest", camel(f["name"]))
    f["rest_group"] = camel(group) if group else None
    f.setdefault("class", "config")
    if f.get("read-only"):
        f["class"] = "read-only"
    f.setdefault("effect", "snapshot")
    f.setdefault("who", kind["who"])
    if f["class"] not in CLASSES or f["effect"] not in EFFECTS or f["who"] not in ROLES:
        fail(*where, "unknown class, effect or role")
    if f["type"] == "int":
        if not 0 <= f["min"] <= f["max"] <= 0xffffffff:
            fail(*where, "range")
        words = f.setdefault("words", {})
        top = max([f["max"], *words.values()])
        f["bits"] = 8 if top < 256 else 16 if top < 65536 else 32
        f.setdefault("default", 0)
        value = words.get(f["default"], f["default"])
        if not isinstance(value, int) or not (f["min"] <= value <= f["max"] or value in words.values()):
            fail(*where, "default out of range")
        f["default_value"] = value
    elif f["type"] == "enum":
        f.setdefault("supported", f["values"])
        if f["default"] not in f["supported"] or not set(f["supported"]) <= set(f["values"]):
            fail(*where, "default or supported values are not among the values")
    elif f["type"] == "flag":
        f.setdefault("default", False)
    elif f["type"] in ("ref", "refs", "endpoint") and not f.get("refs"):
        fail(*where, "no refs")
    for c in f.get("columns", []):
        c.setdefault("rest", camel(c["name"]))
        if set(c) - COLUMN_KEYS or (c.get("values") and c.get("default") not in c["values"]):
            fail(*where, f"column {c['name']}")
    if f["type"] == "monitor-rule":
        f.setdefault("default", "none")
    if f["type"] in ("refs", "strings") and f["max"] > 64:
        fail(*where, "more entries than MODEL_LIST_MAX")


def shared(folder, name):
    with open(os.path.join(folder, "include", name + ".json"), encoding="utf-8") as f:
        return json.load(f)


def all_fields(folder, kind):
    """Those it shares with others, as it changes them, then its own."""
    fields = [f for name in kind.get("include", []) for f in shared(folder, name)] + kind["fields"]
    change = kind.get("change", {})
    for name in set(change) - {f["name"] for f in fields}:
        fail(kind["kind"], name, "is changed but not there")
    return [{**f, **change.get(f["name"], {})} for f in fields]


def named(kind, names, f):
    """The kinds a field may name: "this" is its own, "ltm profile *" all profiles."""
    if f["type"] == "monitor-rule":
        return [name for name in names if name.startswith(MONITORS)]
    refs = [kind["kind"] if ref == "this" else ref for ref in f.get("refs", [])]
    return [name for ref in refs for name in (fnmatch.filter(names, ref) if ref.endswith("*") else [ref])]


def load(folder):
    kinds = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                kinds.append(json.load(f))
    names = [k["kind"] for k in kinds]
    if len(kinds) > KINDS_MAX:
        fail("all", "", f"more than {KINDS_MAX} kinds")
    for k in kinds:
        unknown = set(k) - KIND_KEYS
        if unknown:
            fail(k["kind"], "", f"unknown keys {sorted(unknown)}")
        k.setdefault("name", "path")
        seen = set()
        k["fields"] = all_fields(folder, k)
        if len(k["fields"]) > FIELDS_MAX:
            fail(k["kind"], "", f"more than {FIELDS_MAX} fields")
        for f in k["fields"]:
            f["refs"] = named(k, names, f)
            complete_field(k, f)
            if (f.get("group"), f["name"]) in seen:
                fail(k["kind"], f["name"], "twice")
            seen.add((f.get("group"), f["name"]))
            for ref in f["refs"]:
                if ref not in names:
                    fail(k["kind"], f["name"], f"refers to unknown kind {ref}")
        for other in (k.get("owner"), *k.get("children", [])):
            if other and other not in names:
                fail(k["kind"], "", f"unknown kind {other}")
        if not k.get("owner") and k["kind"] not in ORDER:
            fail(k["kind"], "", "has no place in ORDER")
    check_builtins(kinds)
    # Owners keep their place, children stand behind them.
    place = {name: i for i, name in enumerate(ORDER)}
    return sorted(kinds, key=lambda k: (place[owners(kinds, k)[0]["kind"]], len(owners(kinds, k))))


def owners(kinds, k):
    """Those it belongs to, the outermost first, and itself."""
    above = next((o for o in kinds if o["kind"] == k.get("owner")), None)
    return [*(owners(kinds, above) if above else []), k]


def check_builtins(kinds):
    """Their ids stay the same: each has its slot, none has two objects."""
    taken = {}
    for k in kinds:
        builtin = k.get("builtin", {"slot": 0, "rows": []})
        for slot, row in enumerate(builtin["rows"], builtin["slot"]):
            if slot in taken or not any(low <= slot < high for low, high in BUILTIN_SLOTS):
                fail(k["kind"], row["name"], f"slot {slot} is not free")
            taken[slot] = row["name"]
            for name in set(row) - {"name"} - {f["name"] for f in k["fields"] if not f.get("group")}:
                fail(k["kind"], name, "is no field")


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    action, schema, out = sys.argv[1:4]
    kinds = load(schema)
    if action == "c":
        write(os.path.join(out, "model_kinds.h"), emit_c.header(kinds))
        write(os.path.join(out, "model_kinds.c"), emit_c.tables(kinds))
        write(os.path.join(out, "model_grammar.c"), emit_c.grammar(kinds))
        return 0
    if action == "openapi":
        write(out, emit_openapi.source(kinds, sys.argv[4]))
        return 0
    pages = emit_docs.pages(kinds)
    if action == "docs":
        os.makedirs(out, exist_ok=True)
        for name, text in pages.items():
            write(os.path.join(out, name), text)
        return 0
    stale = []
    for name, text in pages.items():
        path = os.path.join(out, name)
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            stale.append(name)
    stale += sorted(set(os.listdir(out) if os.path.isdir(out) else []) - set(pages))
    if stale:
        print(f"not up to date in {out}: {', '.join(stale)}; run: ninja -C build reference-docs")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
