# SPDX-License-Identifier: BSD-3-Clause
"""messages.json -> enum event_message and its table.  event_messages.py messages.json OUTDIR"""
import json
import pathlib
import sys

LEVELS = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"]
PARTS = ["none", "open", "also", "close"]
TYPES = ["state", "hold", "ratio", "config", "login", "limit", "drain", "system"]
MODULES = ["ltm", "net", "sys", "auth", "cm"]
HEAD = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made from messages.json. */\n"


def check(messages):
    for key in ("name", "id"):
        values = [one[key] for one in messages]
        assert len(set(values)) == len(values), f"two messages have the same {key}"
    for one in messages:
        int(one["id"], 16)
        assert len(one["id"]) == 8 and one["id"] == one["id"].lower(), one["id"]
        assert one["level"] in LEVELS and one["incident"] in PARTS, one["name"]
        assert one["type"] in TYPES and one["module"] in MODULES, one["name"]


def constant(name):
    return "MESSAGE_" + name.upper().replace("-", "_")


def row(one):
    return (f"\t[{constant(one['name'])}] = {{.name = \"{one['name']}\", .id = \"{one['id']}\", "
            f".level = {LEVELS.index(one['level'])}, .module = \"{one['module']}\", .type = \"{one['type']}\", "
            f".trap = {one.get('trap', 0)}, .own_trap = {one.get('own-trap', 0)}, "
            f".part = {PARTS.index(one['incident'])}, .sentence = {json.dumps(one['sentence'])}}},\n")


def main():
    messages = json.loads(pathlib.Path(sys.argv[1]).read_text())
    out = pathlib.Path(sys.argv[2])
    check(messages)
    names = "".join(f"\t{constant(one['name'])},\n" for one in messages)
    (out / "event_message_generated.h").write_text(
        HEAD + "#ifndef WEIR_EVENT_MESSAGE_GENERATED_H\n#define WEIR_EVENT_MESSAGE_GENERATED_H\n\n"
        f"enum event_message {{\n{names}\tEVENT_MESSAGES\n}};\n\n#endif\n")
    (out / "event_message_table.c").write_text(
        HEAD + "#include \"event/event_message.h\"\n\n"
        "const struct event_message_row event_messages[EVENT_MESSAGES] = {\n"
        + "".join(row(one) for one in messages) + "};\n")


main()
