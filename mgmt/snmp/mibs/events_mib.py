#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""WEIR-EVENTS-MIB from controlplane/event/messages.json: events_mib.py write|check MESSAGES MODULE"""
import json
import pathlib
import sys

HEAD = """-- SPDX-License-Identifier: BSD-3-Clause
-- From controlplane/event/messages.json by: ninja -C build mib-modules
WEIR-EVENTS-MIB DEFINITIONS ::= BEGIN

IMPORTS
    MODULE-IDENTITY, OBJECT-TYPE, NOTIFICATION-TYPE, enterprises FROM SNMPv2-SMI
    LongDisplayString FROM WEIR-COMPAT-MIB;

weirEventsMib MODULE-IDENTITY
    LAST-UPDATED "202611300000Z"
    ORGANIZATION "Weir"
    CONTACT-INFO "See the documentation of Weir."
    DESCRIPTION "Notifications that LTM does not have, in the part of net-snmp's branch that is for private use."
    ::= { enterprises 8072 9999 9999 1 }

weirEvents OBJECT IDENTIFIER ::= { weirEventsMib 0 }
weirEventObjects OBJECT IDENTIFIER ::= { weirEventsMib 1 }
"""
OBJECTS = (("weirEventMessage", "What happened, in words."),
           ("weirEventObject", "Path of the object that it is about; empty if there is none."),
           ("weirEventId", "Id of the message, as in the journal and in the runbook."),
           ("weirEventIncident", "Number of the incident that it belongs to; 0 if there is none."))
OBJECT = """
{} OBJECT-TYPE
    SYNTAX LongDisplayString
    MAX-ACCESS accessible-for-notify
    STATUS current
    DESCRIPTION "{}"
    ::= {{ weirEventObjects {} }}
"""
NOTIFICATION = """
{} NOTIFICATION-TYPE
    OBJECTS {{ {} }}
    STATUS current
    DESCRIPTION "{}"
    ::= {{ weirEvents {} }}
"""


def symbol(name):
    """pool-empty: weirPoolEmpty."""
    return "weir" + "".join(word.capitalize() for word in name.split("-"))


def module(messages):
    objects = ", ".join(name for name, _ in OBJECTS)
    own = sorted((message for message in messages if "own-trap" in message), key=lambda message: message["own-trap"])
    return "".join([HEAD, *(OBJECT.format(name, sentence, number) for number, (name, sentence) in enumerate(OBJECTS, 1)),
                    *(NOTIFICATION.format(symbol(message["name"]), objects, message["sentence"].replace('"', "'"),
                                          message["own-trap"]) for message in own), "\nEND\n"])


def main(what, messages, path):
    text, path = module(json.loads(pathlib.Path(messages).read_text())), pathlib.Path(path)
    if what == "write":
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path.name} is not up to date; run: ninja -C build mib-modules")


if __name__ == "__main__":
    main(*sys.argv[1:])
