# SPDX-License-Identifier: BSD-3-Clause
"""weir.conf as the lab and the tests write it: the only place where they spell its words."""


def join(address, port):
    """LTM's destination: 10.0.1.100:80, fd00:1::100.80; port 0 is any."""
    port = "any" if port == 0 else port
    return f"{address}.{port}" if ":" in address else f"{address}:{port}"


def block(head, lines):
    """An object: its first line, its fields indented."""
    body = "".join(f"    {line}\n" for text in lines for line in text.rstrip("\n").split("\n"))
    return f"{head} {{\n{body}}}\n"


def fields_of(fields):
    """{"idle_timeout": 3, "disabled": True} as lines; True is a bare word, None is left out."""
    lines = []
    for key, value in fields.items():
        word = key.replace("_", "-")
        if value is True:
            lines.append(word)
        elif value is not None:
            lines.append(f"{word} {value}")
    return lines


def vlan(name, interface, tag=None, number=None, mtu=None):
    """A VLAN on one interface, untagged unless tag is given (its 802.1Q number)."""
    kind = "tagged" if tag else "untagged"
    lines = [block("interfaces", [block(interface, [kind])])]
    if tag or number:
        lines.append(f"tag {tag or number}")
    if mtu:
        lines.append(f"mtu {mtu}")
    return block(f"net vlan {name}", lines)


def self_ip(name, address, vlan_name, allow=("none",)):
    """address with prefix; allow: "none", "all", "default", or services like "tcp:22"."""
    services = allow[0] if len(allow) == 1 and allow[0] in ("none", "all", "default") else \
        "{ " + " ".join(allow) + " }"
    return block(f"net self {name}", [f"address {address}", f"vlan {vlan_name}",
                                      f"allow-service {services}"])


def route(name, network, gateway):
    """network: prefix or "default" / "default-inet6"."""
    return block(f"net route {name}", [f"network {network}", f"gw {gateway}"])


def pool(name, members, mode="round-robin", **fields):
    """members: {("10.0.2.1", 80): {"ratio": 4}} or a list of (address, port). Shares are exact at once: no
    slow ramp unless the test asks for one."""
    fields.setdefault("slow_ramp_time", 0)
    if not isinstance(members, dict):
        members = {member: {} for member in members}
    rows = [block(join(*member), [f"address {member[0]}", *fields_of(extra)])
            for member, extra in members.items()]
    return block(f"ltm pool {name}", [f"load-balancing-mode {mode}", block("members", rows),
                                      *fields_of(fields)])


def node(name, address, **fields):
    return block(f"ltm node {name}", [f"address {address}", *fields_of(fields)])


def monitor(kind, name, **fields):
    """kind: "http", "tcp", "postgresql", ..."""
    return block(f"ltm monitor {kind} {name}", fields_of(fields))


def virtual_address(address, **fields):
    return block(f"ltm virtual-address {address}", [f"address {address}", *fields_of(fields)])


def db(name, value):
    """A system variable: arp.timeout, tm.rejectunmatched, ..."""
    return block(f"sys db {name}", [f"value {value}"])


def snatpool(name, addresses):
    return block(f"ltm snatpool {name}", [block("members", list(addresses))])


def profile(kind, name, **fields):
    """kind: "fastl4" or "udp"."""
    parent = {"fastl4": "fastL4", "udp": "udp"}[kind]
    return block(f"ltm profile {kind} {name}", [f"defaults-from {parent}", *fields_of(fields)])


def virtual(name, address, port, pool_name, proto="tcp", snat="automap", profiles=None, **fields):
    """snat: "none", "automap" or the name of a SNAT pool."""
    lines = [f"destination {join(address, port)}", f"ip-protocol {proto}"]
    if pool_name:
        lines.append(f"pool {pool_name}")
    names = profiles or (["fastL4"] if proto == "tcp" else ["udp"])
    lines.append(block("profiles", [f"{entry} {{ }}" for entry in names]))
    if snat in ("none", "automap"):
        lines.append(block("source-address-translation", [f"type {snat}"]))
    else:
        lines.append(block("source-address-translation", ["type snat", f"pool {snat}"]))
    lines += fields_of(fields)
    return block(f"ltm virtual {name}", lines)


def config(*parts):
    """The whole file."""
    return "".join(parts)
