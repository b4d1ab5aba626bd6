# SPDX-License-Identifier: BSD-3-Clause
"""The C of the model: structs and accessors, tables, libconfuse grammar."""
import ipaddress

HEAD = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Generated from controlplane/model/schema: do not edit. */\n"
BOOLEANS = (["disabled", "enabled"], ["no", "yes"], ["false", "true"])
C_TYPES = {"enum": "uint8_t", "flag": "uint8_t", "string": "uint32_t", "ip": "struct ip_addr",
           "prefix": "struct model_prefix", "mask": "uint8_t", "ref": "uint32_t",
           "refs": "struct model_list", "services": "struct model_list", "strings": "struct model_list", "rows": "uint32_t",
           "endpoint": "struct model_endpoint", "holds": "struct holds",
           "monitor-rule": "struct model_monitor_rule", "destination": "struct model_destination"}


def upper(text):
    return text.upper().replace("-", "_").replace(".", "_").replace(" ", "_")


def quote(text):
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def c_type(f):
    return f"uint{f['bits']}_t" if f["type"] == "int" else C_TYPES[f["type"]]


def kind_id(kinds, name):
    return "KIND_" + upper(next(k["c"] for k in kinds if k["kind"] == name))


def stored(k, part):
    """Fields of the conf or the live struct. Holds stand for session and state."""
    return [f for f in k["fields"] if not f.get("hold") and (f["class"] == "live") == (part == "live")]


def member(f):
    return ("live." if f["class"] == "live" else "conf.") + ("holds" if f.get("hold") else f["c"])


def has_enum(f):
    return f["type"] == "enum" and f["values"] not in BOOLEANS and len(f["values"]) > 1


def structs(k):
    out = []
    for f in k["fields"]:
        if has_enum(f):
            prefix = f"{k['c']}_{f['c']}"
            out.append(f"enum {prefix} {{\n" +
                       "".join(f"\t{upper(prefix)}_{upper(v)},\n" for v in f["values"]) + "};\n")
    for part in ("conf", "live"):
        fields = stored(k, part)
        if not fields:
            continue
        out.append(f"struct {k['c']}_{part} {{")
        for f in sorted(fields, key=lambda f: f["type"] in ("holds",)):
            note = f["unit"] if f.get("unit") else ""
            if has_enum(f):
                note = f"enum {k['c']}_{f['c']}"
            elif f["type"] == "enum":
                note = "/".join(f["values"])
            elif f["type"] in ("ref", "refs", "endpoint"):
                note = ", ".join(f["refs"])
            out.append(f"\t{c_type(f)} {f['c']};" + (f" /* {note} */" if note else ""))
        out.append("};\n")
    live = f"\tstruct {k['c']}_live live;\n" if stored(k, "live") else ""
    out.append(f"struct {k['c']} {{\n\tstruct {k['c']}_conf conf;\n{live}}};\n")
    out.append(f"/* NULL unless o is a {k['kind']}. */\n"
               f"static inline const struct {k['c']} *model_{k['c']}(const struct object *o)\n{{\n"
               f"\treturn o && o->kind == KIND_{upper(k['c'])} ? o->data : NULL;\n}}\n")
    return "\n".join(out)


def header(kinds):
    ids = "".join(f"\tKIND_{upper(k['c'])},\n" for k in kinds)
    return (HEAD + "#ifndef WEIR_MODEL_KINDS_H\n#define WEIR_MODEL_KINDS_H\n\n"
            f"enum model_kind {{\n{ids}\tMODEL_KINDS\n}};\n\n" + "\n".join(structs(k) for k in kinds) +
            "\n#endif\n")


def initial(f):
    """C initializer of a field's default, or None for all zero."""
    if f["type"] == "int":
        return f"{f['default_value']}u" if f["default_value"] else None
    if f["type"] == "enum":
        return str(f["values"].index(f["default"])) if f["values"].index(f["default"]) else None
    if f["type"] == "flag":
        return "1" if f["default"] else None
    if f["type"] == "mask":
        return "MODEL_MASK_HOST"
    if f["type"] == "monitor-rule" and f["default"] == "default":
        return "{.mode = RULE_DEFAULT}"
    if f["type"] == "prefix" and f.get("default"):
        net = ipaddress.ip_network(f["default"])
        raw = net.network_address.packed
        raw = bytes(10) + b"\xff\xff" + raw if net.version == 4 else raw
        return "{.addr = {.b = {" + ", ".join(map(str, raw)) + f"}}}}, .len = {net.prefixlen}}}"
    return None


def words(k, f):
    name = f"words_{k['c']}_{f['c']}"
    if f["type"] == "enum":
        rows = [(v, i, v in f["supported"]) for i, v in enumerate(f["values"])]
    elif f["type"] == "int" and f["words"]:
        rows = [(w, v, True) for w, v in f["words"].items()]
    else:
        return None, ""
    body = "".join(f"\t{{{quote(w)}, {v}u, {str(ok).lower()}}},\n" for w, v, ok in rows)
    return name, f"static const struct field_word {name}[] = {{\n{body}\t{{NULL, 0, false}},\n}};\n"


def columns(kinds, k, f):
    """Table of the columns of rows."""
    if f["type"] != "rows":
        return None, ""
    name = f"columns_{k['c']}_{f['c']}"
    body = ""
    for c in f["columns"]:
        texts = "".join(quote(v) + ", " for v in c.get("values", []))
        refs = ", ".join(kind_id(kinds, r) for r in c.get("refs", []))
        body += f"\t{{.name = {quote(c['name'])}, .rest = {quote(c['rest'])}, .default_text = {quote(c.get('default', ''))}"
        body += f",\n\t .words = (const char *const[]){{{texts}NULL}}" if texts else ""
        body += f",\n\t .refs = (const uint8_t[]){{{refs}}}, .ref_count = {len(c['refs'])}" if refs else ""
        body += f", .min = {c['min']}u, .max = {c['max']}u" if "max" in c else ""
        body += "},\n"
    return name, f"static const struct column {name}[] = {{\n{body}\t{{0}},\n}};\n"


def field_row(kinds, k, f, word_table, column_table):
    default = f.get("default")
    if isinstance(default, bool):
        default = f["name"] if default else f.get("opposite")
    flags = [("required", "required"), ("create-only", "create_only"), ("derived", "derived"),
             ("hidden", "hidden"), ("key", "key"), ("host", "host"), ("rest-reference", "rest_reference"),
             ("own", "own"), ("pattern", "pattern"), ("pairs", "pairs"), ("password", "password"), ("hash", "hash"), ("reveal", "reveal"),
             ("default-entry", "default_entry"), ("action", "action"), ("rest-folder", "rest_folder")]
    row = {
        "name": quote(f["name"]), "opposite": quote(f.get("opposite")), "group": quote(f.get("group")),
        "rest": quote(f["rest"]), "rest_opposite": quote(f["opposite"].replace("-d", "D").replace("-e", "E"))
        if f.get("opposite") else None, "rest_group": quote(f["rest_group"]) if f["rest_group"] else None,
        "unit": quote(f.get("unit")), "sentence": quote(f["sentence"]),
        "default_text": quote(None if default is None else str(default)),
        "type": "TYPE_" + upper(f["type"]), "class": "FIELD_" + upper(f["class"]),
        "effect": "EFFECT_" + upper(f["effect"]), "who": "ROLE_" + upper(f["who"]),
        "offset": f"offsetof(struct {k['c']}, {member(f)})",
        "size": f"sizeof(((struct {k['c']} *)0)->{member(f)})",
        "min": f"{f.get('min', 0)}u" if f.get("min") else None,
        "max": f"{f.get('max', 64)}u", "words": word_table,
        "hold": "HOLD_" + upper(f["hold"]) if f.get("hold") else None,
        "refs": f"(const uint8_t[]){{{', '.join(kind_id(kinds, r) for r in f['refs'])}}}" if f["refs"] else None,
        "ref_count": str(len(f["refs"])) if f["refs"] else None,
        "columns": column_table,
        "probe": quote(f.get("probe")), "folder": quote(f.get("folder")),
        "rest_empty": quote(f.get("rest-empty")),
        "rest_string": "true" if f.get("rest-type") == "string" else None,
        "default_only": "true" if f.get("accept") == "default" else None,
    }
    row.update({c: "true" for key, c in flags if f.get(key)})
    return "\t{" + ",\n\t ".join(f".{key} = {v}" for key, v in row.items() if v not in (None, "NULL")) + "},\n"


def variables(kinds):
    out = ""
    for k in kinds:
        for v in k.get("variables", []):
            values = v.get("values", [])
            low, high = (quote(values[0]), quote(values[-1])) if values else ("NULL", "NULL")
            out += (f"\t{{{quote(v['name'])}, {quote(v['default'])}, {low}, {high}, {v.get('min', 0)}u, "
                    f"{v.get('max', 0)}u, {quote(v['sentence'])}}},\n")
    return f"const struct db_variable model_db_variables[] = {{\n{out}\t{{0}},\n}};\n"


def builtin_values(k, row):
    """Field and text, a list entry by entry."""
    index = {f["name"]: i for i, f in enumerate(k["fields"]) if not f.get("group")}
    return [(index[name], str(text)) for name, value in row.items() if name != "name"
            for text in (value if isinstance(value, list) else [value])]


def builtins(kinds):
    """What schema/ says that comes with Weir; the parents of all others first."""
    out, rows = "", ""
    for k in kinds:
        builtin = k.get("builtin", {"slot": 0, "rows": []})
        for slot, row in enumerate(builtin["rows"], builtin["slot"]):
            values = "".join(f"\t{{{i}, {quote(text)}}},\n" for i, text in builtin_values(k, row))
            name = f"builtin_{slot}" if values else "NULL"
            if values:
                out += f"static const struct builtin_value {name}[] = {{\n{values}\t{{0, NULL}},\n}};\n"
            path = row["name"] if k["name"] != "path" else "/Common/" + row["name"]
            rows += f"\t{{KIND_{upper(k['c'])}, {slot}, {quote(path)}, {name}}},\n"
    return out + f"const struct builtin_row model_builtins[] = {{\n{rows}\t{{0}},\n}};\n"


NAMES = {"path": "NAME_PATH", "plain": "NAME_PLAIN", "folder": "NAME_FOLDER", "member": "NAME_MEMBER",
         "interface": "NAME_INTERFACE", "profile": "NAME_PROFILE", "single": "NAME_SINGLE"}


def kind_row(kinds, k):
    c = k["c"]
    rest = k["rest"]
    parts = rest
    owner = next((o for o in kinds if o["kind"] == k.get("owner")), None)
    siblings = owner["children"] if owner else []
    next_of = dict(zip(siblings, siblings[1:]))
    while owner:
        parts = owner["rest"] + "/" + parts
        owner = next((o for o in kinds if o["kind"] == owner.get("owner")), None)
    rest_kind = "tm:" + parts.replace("/", ":") + ":" + parts.split("/")[-1] + "state"
    order = [o["kind"] for o in kinds].index(k["kind"])
    key = next((f"&fields_{c}[{i}]" for i, f in enumerate(k["fields"]) if f.get("key")), "NULL")
    live = (f"offsetof(struct {c}, live.holds)" if any(f["type"] == "holds" for f in k["fields"]) else "0")
    return (f"\t[KIND_{upper(c)}] = {{\n\t\t.words = {quote(k.get('block') or k['kind'])}, "
            f".title = {quote(k['title'])}, .full = {quote(k['kind'])},\n\t\t.rest = {quote(rest)}, "
            f".rest_kind = {quote(rest_kind)},\n\t\t.section = {quote(k.get('block') or k['kind'].replace(' ', '-'))},\n"
            f"\t\t.sentence = {quote(k['sentence'])},\n"
            f"\t\t.fields = fields_{c}, .field_count = {len(k['fields'])}, .size = sizeof(struct {c}),\n"
            f"\t\t.defaults = &defaults_{c}, .who = ROLE_{upper(k['who'])},\n"
            f"\t\t.owner = {kind_id(kinds, k['owner']) if k.get('owner') else -1}, "
            f".child = {kind_id(kinds, k['children'][0]) if k.get('children') else -1}, "
            f".sibling = {kind_id(kinds, next_of[k['kind']]) if k['kind'] in next_of else -1},\n"
            f"\t\t.items = {str(bool(k.get('items'))).lower()},\n"
            f"\t\t.fixed = {str(bool(k.get('fixed'))).lower()}, .inlined = {str(bool(k.get('inline'))).lower()}, "
            f".monitor = {str(k['kind'].startswith('ltm monitor ')).lower()}, "
            f".profile = {str(k['kind'].startswith('ltm profile ')).lower()}, "
            f".later = {quote(k.get('later'))}, .refused = {quote(k.get('refused'))}, .rest_none = {str(bool(k.get('rest-none'))).lower()},\n\t\t"
            f".in_partition = {str(k['name'] == 'path').lower()}, .name_form = {NAMES[k['name']]},\n"
            f"\t\t.holds = {live}, .order = {order}, .key = {key},\n\t}},\n")


def tables(kinds):
    out = [HEAD, '#include "model/model.h"\n#include "model/model_internal.h"\n']
    for k in kinds:
        rows = ""
        for f in k["fields"]:
            name, text = words(k, f)
            out.append(text)
            column_table, text = columns(kinds, k, f)
            out.append(text)
            rows += field_row(kinds, k, f, name, column_table)
        inits = {part: ", ".join(f".{f['c']} = {initial(f)}" for f in stored(k, part)
                                 if initial(f) is not None) for part in ("conf", "live")}
        body = ", ".join(f".{part} = {{{text}}}" for part, text in inits.items() if text)
        out.append(f"static const struct {k['c']} defaults_{k['c']} = {{{body or '0'}}};\n")
        out.append(f"static const struct field fields_{k['c']}[] = {{\n{rows}}};\n")
    out.append("const struct kind model_kinds[MODEL_KINDS] = {\n" +
               "".join(kind_row(kinds, k) for k in kinds) + "};\n")
    out.append(variables(kinds))
    out.append(builtins(kinds))
    aliases = "".join(f"\t{{{quote(a)}, KIND_{upper(k['c'])}}},\n" for k in kinds for a in k.get("alias", []))
    out.append(f"const struct kind_alias model_kind_aliases[] = {{\n{aliases}\t{{NULL, 0}},\n}};\n")
    return "\n".join(x for x in out if x)


def option(f):
    listed = f["type"] in ("refs", "services", "strings")
    return f"\tCONF_{'LIST' if listed else 'VALUE'}({quote(f['name'])}),\n"


def grammar_of(kinds, k):
    """One libconfuse option table: verb and name first, then the fields, groups and children."""
    c, out, rows = k["c"], "", "\tCONF_VERB,\n\tCONF_NAME,\n"
    groups = []
    for f in k["fields"]:
        group = f.get("group")
        if f["type"] == "holds":
            rows += "\tCONF_HOLDS,\n"
        elif not group:
            rows += option(f)
        elif group not in groups:
            groups.append(group)
            inner = "".join(option(g) for g in k["fields"] if g.get("group") == group)
            table = f"group_{c}_{group.replace('-', '_')}"
            out += f"static cfg_opt_t {table}[] = {{\n{inner}\tCFG_END(),\n}};\n\n"
            rows += f"\tCONF_GROUP({quote(group)}, {table}),\n"
    for name in k.get("children", []):
        child = next(x for x in kinds if x["kind"] == name)
        rows += f"\tCONF_OBJECT({quote(child['block'])}, conf_{child['c']}),\n"
    return out + f"static cfg_opt_t conf_{c}[] = {{\n{rows}\tCONF_STORE,\n\tCFG_END(),\n}};\n"


MANY = ("ltm node", "ltm pool", "ltm virtual-address", "ltm virtual")


def grammar(kinds):
    order = [k for k in reversed(kinds) if k.get("owner")] + [k for k in kinds if not k.get("owner")]
    # libconfuse looks through them in order: those of which there are many come first
    top = "".join(f"\tCONF_OBJECT({quote(k['kind'].replace(' ', '-'))}, conf_{k['c']}),\n"
                  for k in sorted(kinds, key=lambda k: k["kind"] not in MANY) if not k.get("owner"))
    return (HEAD + '#include "model/conf_grammar.h"\n\n' + "\n".join(grammar_of(kinds, k) for k in order) +
            f"\ncfg_opt_t conf_grammar[] = {{\n{top}\tCONF_MODEL,\n\tCFG_END(),\n}};\n")
