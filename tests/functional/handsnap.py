# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots written by hand (dataplane/api/snapshot.h), for tests of weir-dp without weir-cp."""
import ctypes
import fcntl
import ipaddress
import os

MAGIC, VERSION, NIL = 0x5745495253534E50, 1, 0xFFFFFFFF
SEALS = 1 | 2 | 4 | 8  # SEAL, SHRINK, GROW, WRITE
ROUND_ROBIN, RATIO_MEMBER = 0, 1
SNAT_NONE, SNAT_AUTOMAP = 0, 1
TCP, UDP = 6, 17

u8, u16, u32, u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


class Address(ctypes.Structure):
    _fields_ = [("b", u64 * 2)]


class Live(ctypes.Structure):
    _fields_ = [("ratio", u16), ("dynamic_ratio", u16), ("avail", u8), ("reserved", u8 * 3),
                ("connection_limit", u32), ("rate_limit", u32)]


def _struct(name, text):
    """A ctypes structure from "type name; type name[n]"."""
    kinds = {"u8": u8, "u16": u16, "u32": u32, "u64": u64, "addr": Address, "live": Live,
             "name": ctypes.c_char * 16}
    fields = []
    for word in text.split(";"):
        kind, field = word.split()
        size = int(field[field.index("[") + 1:-1]) if "[" in field else 0
        field = field.split("[")[0]
        fields.append((field, kinds[kind] * size if size else kinds[kind]))
    return type(name, (ctypes.Structure,), {"_fields_": fields})


KINDS = [
    _struct("settings", "u8 auto_lasthop;u8 reset_unmatched;u8 r[2];u32 arp_timeout;u32 arp_retries;"
            "u32 maximum_arp"),
    _struct("interface", "u32 id;u8 enabled;u8 r[3];name name"),
    _struct("vlan", "u32 id;u16 tag;u16 mtu;u32 first_member;u32 members;name tap;u8 auto_lasthop;"
            "u8 r[3]"),
    _struct("vlan_member", "u32 interface;u8 tagged;u8 r[3]"),
    _struct("self", "u32 id;u32 vlan;addr addr;u8 prefix;u8 floating;u8 allow;u8 r;u32 first_service;"
            "u32 services;u32 r2"),
    _struct("service", "u8 proto;u8 r;u16 port"),
    _struct("route", "u32 id;u8 kind;u8 prefix;u16 mtu;u32 vlan;u32 r;addr network;addr gateway"),
    _struct("node", "u32 id;u32 r;addr addr;live live"),
    _struct("pool", "u32 id;u8 lb;u8 allow_snat;u16 min_active;u16 reselect_tries;u16 r;u32 slow_ramp;u32 first_member;u32 members"),
    _struct("member", "u32 id;u32 pool;u32 node;u16 port;u16 priority_group;live live"),
    _struct("vaddr", "u32 id;u32 r;addr addr;u8 prefix;u8 arp;u8 icmp_echo;u8 enabled;u32 r2"),
    _struct("virtual", "u32 id;u32 vaddr;u32 pool;u32 profile;u32 snatpool;u32 r;addr source;"
            "u8 source_prefix;u8 proto;u16 port;u8 type;u8 snat;u8 vlans;u8 source_port;"
            "u8 translate_address;u8 translate_port;u8 auto_lasthop;u8 r2;u32 first_vlan;"
            "u32 vlan_count;live live;u32 r3"),
    _struct("vlan_ref", "u32 vlan"),
    _struct("profile", "u32 id;u8 kind;u8 reset_on_timeout;u8 loose_initiation;u8 loose_close;"
            "u32 idle_timeout;u32 handshake_timeout;u32 close_timeout"),
    _struct("snatpool", "u32 id;u32 first_addr;u32 addrs"),
    _struct("snat_addr", "u32 id;u32 r;addr addr"),
]
NAMES = [kind.__name__ for kind in KINDS]


class Table(ctypes.Structure):
    _fields_ = [("offset", u64), ("count", u32), ("row", u32)]


class Header(ctypes.Structure):
    _fields_ = [("magic", u64), ("version", u32), ("kinds", u32), ("length", u64),
                ("generation", u64), ("origin", u64), ("checksum", u64),
                ("tables", Table * len(KINDS))]


def address(text):
    packed = ipaddress.ip_address(text)
    data = packed.packed if packed.version == 6 else b"\0" * 10 + b"\xff\xff" + packed.packed
    return Address.from_buffer_copy(data)


def live(ratio=1, avail=3, connection_limit=0, rate_limit=0):
    return Live(ratio=ratio, avail=avail, connection_limit=connection_limit, rate_limit=rate_limit)


def checksum(data):
    mask, prime = (1 << 64) - 1, 0x9E3779B97F4A7C15
    lane, whole = [1, 2, 3, 4], len(data) // 32 * 32
    for at in range(0, whole, 32):
        for i in range(4):
            word = int.from_bytes(data[at + i * 8:at + i * 8 + 8], "little")
            lane[i] = (lane[i] ^ word) * prime & mask
            lane[i] ^= lane[i] >> 29
    for byte in data[whole:]:
        lane[0] = (lane[0] ^ byte) * prime & mask
    total = len(data)
    for value in lane:
        total = (total ^ value) * prime & mask
        total ^= total >> 32
    return total


class Snapshot:
    """rows[table] are filled by add() or by hand; bytes() and descriptor() make the rest."""

    def __init__(self, generation=1):
        self.generation = generation
        self.rows = {name: [] for name in NAMES}
        self.next_id = 1
        self.add("settings", id=None, auto_lasthop=1, reset_unmatched=1, arp_timeout=300,
                 arp_retries=3, maximum_arp=2048)

    def add(self, table, id=0, **fields):
        """Appends a row with a new id; returns its index."""
        row = KINDS[NAMES.index(table)](**fields)
        if hasattr(row, "id"):
            row.id = id or self.next_id
            self.next_id += 1
        self.rows[table].append(row)
        return len(self.rows[table]) - 1

    def vlan(self, interface, self_ip, prefix=24, tap=None, tag=None):
        """A VLAN on one interface with one self IP; tagged on the wire if tag is given."""
        port = self.add("interface", enabled=1, name=interface.encode())
        number = tag or 100 + len(self.rows["vlan"])
        member = self.add("vlan_member", interface=port, tagged=tag is not None)
        vlan = self.add("vlan", tag=number, mtu=1500, first_member=member, members=1,
                        tap=(tap or f"tap{number}").encode())
        self.add("self", vlan=vlan, addr=address(self_ip), prefix=prefix,
                 first_service=len(self.rows["service"]))
        return vlan

    def pool(self, members, lb=RATIO_MEMBER):
        """members: (address, port, ratio) in order of address and port."""
        first = len(self.rows["member"])
        pool = self.add("pool", lb=lb, allow_snat=1, first_member=first, members=len(members))
        for ip, port, ratio in members:
            node = self.add("node", addr=address(ip), live=live())
            self.add("member", pool=pool, node=node, port=port, live=live(ratio))
        return pool

    def virtual(self, ip, port, pool, proto=TCP, snat=SNAT_NONE):
        profile = self.add("profile", kind=0, reset_on_timeout=1, idle_timeout=300,
                           handshake_timeout=5, close_timeout=5)
        vaddr = self.add("vaddr", addr=address(ip), prefix=ipaddress.ip_address(ip).max_prefixlen,
                         arp=1, icmp_echo=1, enabled=1)
        any_client = "0.0.0.0" if ipaddress.ip_address(ip).version == 4 else "::"
        return self.add("virtual", vaddr=vaddr, pool=pool, profile=profile, snatpool=NIL,
                        source=address(any_client), proto=proto, port=port, snat=snat,
                        translate_address=1, translate_port=1,
                        first_vlan=len(self.rows["vlan_ref"]), live=live())

    def bytes(self):
        header = Header(magic=MAGIC, version=VERSION, kinds=len(KINDS), generation=self.generation,
                        origin=1)
        body, at = b"", ctypes.sizeof(header)
        for index, name in enumerate(NAMES):
            pad = -at % 64
            body, at = body + b"\0" * pad, at + pad
            table = b"".join(bytes(row) for row in self.rows[name])
            header.tables[index] = Table(at, len(self.rows[name]), ctypes.sizeof(KINDS[index]))
            body, at = body + table, at + len(table)
        header.length, header.checksum = at, checksum(body)
        return bytes(header) + body

    def descriptor(self):
        """A sealed memory file; the caller closes it."""
        fd = os.memfd_create("snapshot", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        os.write(fd, self.bytes())
        fcntl.fcntl(fd, 1033, SEALS)  # F_ADD_SEALS
        return fd
