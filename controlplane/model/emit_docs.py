# SPDX-License-Identifier: BSD-3-Clause
"""The reference pages: one per kind of object, and an index."""

NOTE = "<!-- Generated from controlplane/model/schema: do not edit. -->\n"


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
    return {"string": f"text, up to {f.get('max', 64)} bytes", "ip": "IP address",
            "prefix": "address/length", "mask": "network mask", "services": "`none`, `all`, `default`, or "
            "protocol:port", "endpoint": "address:port, IPv6 address.port", "holds": "see below"}[f["type"]]


def default(f):
    if f["type"] == "flag":
        return f"`{f['name']}`" if f["default"] else f"`{f['opposite']}`" if f.get("opposite") else "off"
    if f.get("required"):
        return "required"
    return f"`{f['default']}`" if f.get("default") not in (None, "") else "none"


def page(k):
    out = [NOTE, f"# {k['kind']}\n", k["sentence"] + "\n"]
    if k.get("owner"):
        out.append(f"Stands in the block `{k['block']}` of [{k['owner']}]({k['owner'].replace(' ', '-')}.md).\n")
    if k.get("child"):
        out.append(f"Holds [{k['child']}]({k['child'].replace(' ', '-')}.md).\n")
    if k.get("fixed"):
        out.append("Comes with Weir: it can be changed, not created or deleted.\n")
    out.append(f"REST: `/mgmt/tm/{k['rest']}`. Created and deleted by: {k['who']}.\n" if not k.get("owner")
               else f"REST: sub-collection `{k['rest']}`. Created and deleted by: {k['who']}.\n")
    out.append("| field | REST | values | default | class | who | meaning |\n|---|---|---|---|---|---|---|")
    for f in k["fields"]:
        if f.get("hidden"):
            continue
        name = f"{f['group']} {f['name']}" if f.get("group") else f["name"]
        rest = f"{f['rest_group']}.{f['rest']}" if f.get("group") else f["rest"]
        only = " Only the default is supported yet." if f.get("accept") == "default" else ""
        out.append(f"| `{name}` | `{rest}` | {values(f)} | {default(f)} | {f['class']} | {f['who']} | "
                   f"{f['sentence']}{only} |")
    if k.get("variables"):
        out.append("\n| variable | values | default | meaning |\n|---|---|---|---|")
        for v in k["variables"]:
            text = ", ".join(f"`{x}`" for x in v["values"]) if "values" in v else \
                f"{v['min']} to {v['max']}" + (f" {v['unit']}" if v.get("unit") else "")
            out.append(f"| `{v['name']}` | {text} | `{v['default']}` | {v['sentence']} |")
    return "\n".join(out) + "\n"


def pages(kinds):
    index = NOTE + "\n# Reference\n\nEvery kind of object, by LTM's words. Class `live` fields change in " \
        "milliseconds, without a commit.\n\n" + \
        "".join(f"- [{k['kind']}]({page_name(k)}): {k['sentence']}\n" for k in kinds)
    return {"index.md": index, **{page_name(k): page(k) for k in kinds}}
