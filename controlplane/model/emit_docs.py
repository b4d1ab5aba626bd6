# SPDX-License-Identifier: BSD-3-Clause
"""The reference pages: one per kind of object, and an index."""

NOTE = "<!-- Generated from controlplane/model/schema: do not edit. -->\n"

INDEX = r"""Fields of class `config` are changed by commits; `live` ones in
milliseconds, without a commit; `read-only` ones never; `secret` ones are shown and saved encrypted under the
key of the machine (`machine-key` in the directory of the running store), plain text is taken. "Who" is the least role that may change it.

Names stand in the partition `/Common`, which may be left out. A name may hold every byte above a blank but
`{}"'\#~/,;|` and has at most 200 bytes. A pool member is `address:port` or `node:port`, with an IPv6
address `address.port`; ports may be names (`http`) or `any`. Addresses may end in `%0`.

`weir.conf` and `weirsh` share their syntax: words and blocks in braces; what has blanks, braces, quotes or
control characters stands in double quotes, with the escapes `\\` `\"` `\n` `\r` `\t` `\xHH`; a line that
starts with `#` is a comment. Nothing is expanded or included. The bare word `none` empties a text or a list.

```
ltm pool web {
    load-balancing-mode ratio-member
    members {
        10.0.0.1:80 { ratio 3 }
        10.0.0.2:80 { }
    }
}
```

"""

HOLDS = """`session` and `state` show what all holds make together. A hold belongs to a class (operator, agent,
monitor, rule, system) and has a reason; whoever sets `user-enabled` or `user-up` clears what its own class
holds, an operator clears everybody's. A file may say it in full:

```
holds {
    agent { session user-disabled reason "heap is full" }
}
```
"""


RULES = "`none`, names of monitors joined by `and`, or `min 1 of { a b }`"


def page_name(k):
    return k["kind"].replace(" ", "-") + ".md"


def values(f):
    if f["type"] == "int":
        text = f"{f['min']} to {f['max']}" + (f" {f['unit']}" if f.get("unit") else "")
        return ", ".join([text, *(f"`{w}`" for w in f["words"])])
    if f["type"] == "enum":
        text = ", ".join(f"`{v}`" for v in f["supported"])
        later = [v for v in f["values"] if v not in f["supported"]]
        return text + (f"; not supported yet: {', '.join(f'`{v}`' for v in later)}" if later else "")
    if f["type"] == "flag":
        return f"`{f['name']}`" + (f" or `{f['opposite']}`" if f.get("opposite") else "")
    if f["type"] in ("ref", "refs"):
        several = "names of " if f["type"] == "refs" else "name of "
        return several + " or ".join(f["refs"])
    if f["type"] == "rows":
        inner = ", ".join(f"`{c['name']}`" + (" (" + ", ".join(f"`{v}`" for v in c["values"]) + ")" if c.get("values") else
                                               f" (name of {' or '.join(c['refs'])})" if c.get("refs") else "")
                          for c in f["columns"])
        return f"up to {f['max']} entries, each a name" + (f" with {inner}" if inner else "")
    if f.get("pairs"):
        return f"name and text, all up to {f['max']} bytes"
    later = ", encrypted when taken" if f["class"] == "secret" else ""
    if f["type"] == "strings":
        return f"`none`, or up to {f['max']} of {f['unit']}"
    return {"string": f"text, up to {f.get('max', 64)} bytes" + later, "ip": "IP address",
            "prefix": "address/length", "mask": "network mask", "services": "`none`, `all`, `default`, or "
            "protocol:port", "endpoint": "address:port, IPv6 address.port", "holds": "see below",
            "monitor-rule": RULES if f.get("default") == "none" else "`default`, " + RULES,
            "destination": "`*` or an address" if f.get("host") else
            "`*:*`, `*:port`, address:port, IPv6 address.port"}[f["type"]]


def default(f):
    if f["type"] == "flag":
        return f"`{f['name']}`" if f["default"] else f"`{f['opposite']}`" if f.get("opposite") else "off"
    if f.get("required"):
        return "required"
    if f["type"] == "destination":
        return "`*`" if f.get("host") else "`*:*`"
    return f"`{f['default']}`" if f.get("default") not in (None, "") else "none"


def page(k):
    out = [NOTE, f"# {k['kind']}\n", k["sentence"] + "\n"]
    if k.get("owner"):
        out.append(f"Stands in the block `{k['block']}` of [{k['owner']}]({k['owner'].replace(' ', '-')}.md).\n")
    if k.get("children"):
        links = [f"[{name}]({name.replace(' ', '-')}.md)" for name in k["children"]]
        out.append(f"Holds {' and '.join(links)}.\n")
    if k.get("later"):
        out.append(f"Objects are kept and checked, but no virtual server can use one: {k['later']}.\n")
    if k.get("refused"):
        out.append(f"None can be created: {k['refused']}.\n")
    if k.get("builtin"):
        out.append("Built in: " + ", ".join(f"`{r['name']}`" for r in k["builtin"]["rows"]) + ".\n")
    if k.get("fixed"):
        out.append("Comes with Weir: it can be changed, not created or deleted.\n")
    out.append(f"REST: `/mgmt/tm/{k['rest']}`. Created and deleted by: {k['who']}.\n" if not k.get("owner")
               else f"REST: {'list' if k.get('inline') else 'sub-collection'} `{k['rest']}`. Created and deleted by: {k['who']}.\n")
    out.append("| field | REST | values | default | class | who | meaning |\n|---|---|---|---|---|---|---|")
    for f in k["fields"]:
        if f.get("hidden"):
            continue
        name = f"{f['group']} {f['name']}" if f.get("group") else f["name"]
        rest = f"{f['rest_group']}.{f['rest']}" if f.get("group") else f["rest"]
        only = " Only the default is supported yet." if f.get("accept") == "default" else ""
        out.append(f"| `{name}` | `{rest}` | {values(f)} | {default(f)} | {f['class']} | {f['who']} | "
                   f"{f['sentence']}{only} |")
    if any(f["type"] == "holds" for f in k["fields"]):
        out.append("\n" + HOLDS)
    if k.get("variables"):
        out.append("\n| variable | values | default | meaning |\n|---|---|---|---|")
        for v in k["variables"]:
            text = ", ".join(f"`{x}`" for x in v["values"]) if "values" in v else \
                f"{v['min']} to {v['max']}" + (f" {v['unit']}" if v.get("unit") else "")
            out.append(f"| `{v['name']}` | {text} | `{v['default']}` | {v['sentence']} |")
    return "\n".join(out) + "\n"


def pages(kinds):
    index = NOTE + "\n# Reference\n\nEvery kind of object, by LTM's words. " + INDEX + \
        "".join(f"- [{k['kind']}]({page_name(k)}): {k['sentence']}\n" for k in kinds)
    return {"index.md": index, **{page_name(k): page(k) for k in kinds}}
