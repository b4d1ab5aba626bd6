# SPDX-License-Identifier: BSD-3-Clause
"""What is malformed is dropped under its name, what is only wrong inside is carried as it is.

    raw host 10.0.1.66 --- 10.0.1.1 Weir 10.0.2.1 --- switch --- raw host 10.0.2.66
"""
import random
import struct

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

from topo import http_get, wait_until
from topo import weirconf as wc
from topo.rawhost import RawHost, ip_of


@pytest.fixture
def raws(topology):
    """raws(driver) gives weir, client and server raw hosts, and the way to send."""
    def build(driver="af_xdp", **options):
        picture = topology(servers=1)
        picture.start_nginx()
        parts = ""
        for tail, virtual, server in (("4", "10.0.1.100", "10.0.2.66"), ("6", "fd00:1::100", "fd00:2::66")):
            parts += (wc.pool("dns" + tail, [(server, 53)])
                      + wc.virtual("dns" + tail, virtual, 53, "dns" + tail, proto="udp")
                      + wc.pool("web" + tail, [(server, 80)])
                      + wc.virtual("web" + tail, virtual, 80, "web" + tail))
        parts += wc.pool("live", picture.members(80)) + wc.virtual("live", "10.0.1.100", 8080, "live")
        picture.start_weir(parts, driver=driver, **options)
        picture.raw = picture.topo.add(RawHost(picture.client, addresses=["10.0.1.66", "fd00:1::66"]))
        picture.ear = picture.topo.add(RawHost(picture.servers[0], addresses=["10.0.2.66", "fd00:2::66"]))
        picture.via = picture.raw.resolve("10.0.1.100")
        picture.raw.resolve("fd00:1::100")
        return picture
    return build


def ip4(**fields):
    return IP(**{"src": "10.0.1.66", "dst": "10.0.1.100", **fields})


def ip6(**fields):
    return IPv6(**{"src": "fd00:1::66", "dst": "fd00:1::100", **fields})


def patched(packet, offset, data):
    """The packet's bytes with some replaced, IPv4 header checksum made right again."""
    raw = bytearray(bytes(packet))
    raw[offset:offset + len(data)] = data
    if raw[0] >> 4 == 4 and offset < 20 and offset != 10:
        raw[10:12] = b"\0\0"
        total = sum(struct.unpack("!10H", raw[:20]))
        while total >> 16:
            total = (total & 0xffff) + (total >> 16)
        raw[10:12] = struct.pack("!H", total ^ 0xffff)
    return bytes(raw)


U4, U6 = ip4() / UDP(sport=4000, dport=53) / (b"x" * 64), ip6() / UDP(sport=4000, dport=53) / (b"x" * 64)
T4, T6 = ip4() / TCP(sport=4000, dport=80, flags="S"), ip6() / TCP(sport=4000, dport=80, flags="S")

MALFORMED = [
    ("ip4-total-length-lies-long", patched(U4, 2, struct.pack("!H", 1400)), {"truncated", "bad-total-length"}),
    ("ip4-total-length-lies-short", patched(U4, 2, struct.pack("!H", 10)), {"bad-total-length"}),
    ("ip4-header-length-small", patched(U4, 0, b"\x44"), {"bad-header-length"}),
    ("ip4-header-length-lies", patched(ip4() / b"abcd", 0, b"\x4f"), {"bad-header-length", "truncated", "bad-total-length"}),
    ("ip4-checksum", patched(U4, 10, b"\x12\x34"), {"bad-ip-checksum"}),
    ("ip4-version-5", patched(U4, 0, b"\x55"), {"bad-ip-version"}),
    ("ip6-version-7", patched(U6, 0, b"\x70"), {"bad-ip-version"}),
    ("ip6-length-lies", patched(U6, 4, struct.pack("!H", 1400)), {"truncated", "bad-total-length"}),
    ("ip6-cut-in-header", bytes(U6)[:30], {"truncated"}),
    ("ip4-cut-in-header", bytes(U4)[:12], {"truncated"}),
    ("udp-length-lies-long", patched(U4, 24, struct.pack("!H", 900)), {"bad-l4-header", "truncated"}),
    ("udp-length-lies-short", patched(U4, 24, struct.pack("!H", 3)), {"bad-l4-header"}),
    ("tcp-offset-small", patched(T4, 32, b"\x10"), {"bad-l4-header"}),
    ("tcp-offset-lies", patched(T4, 32, b"\xf0"), {"bad-l4-header", "truncated"}),
    ("tcp6-offset-lies", patched(T6, 52, b"\xf0"), {"bad-l4-header", "truncated"}),
    ("udp-without-header", bytes(ip4(proto=17) / b"abc"), {"bad-l4-header", "truncated"}),
    ("source-broadcast", bytes(ip4(src="255.255.255.255") / UDP(sport=1, dport=53)), {"martian"}),
    ("source-multicast", bytes(ip4(src="224.0.0.1") / UDP(sport=1, dport=53)), {"martian"}),
    ("source-loopback", bytes(ip4(src="127.0.0.1") / UDP(sport=1, dport=53)), {"martian"}),
    ("source-zero", bytes(ip4(src="0.0.0.0") / UDP(sport=1, dport=53)), {"martian"}),
    ("source-ourselves", bytes(ip4(src="10.0.1.1") / UDP(sport=1, dport=53)), {"martian"}),
    ("destination-loopback", bytes(ip4(dst="127.0.0.1") / UDP(sport=1, dport=53)), {"martian"}),
    ("ip6-source-multicast", bytes(ip6(src="ff02::1") / UDP(sport=1, dport=53)), {"martian"}),
    ("ip6-source-loopback", bytes(ip6(src="::1") / UDP(sport=1, dport=53)), {"martian"}),
    ("nobody-listens-udp", bytes(ip4() / UDP(sport=1, dport=9)), {"no-listener"}),
]

BACKGROUND = {"not-our-mac"}  # groups that the other kernels speak to now and then


def test_malformed_is_dropped_by_name(raws, driver):
    picture = raws(driver)
    wrong = []
    for name, packet, reasons in MALFORMED:
        before = picture.weir.drops()
        picture.raw.send(packet, picture.via)
        try:
            wait_until(lambda: any(picture.weir.drops().get(r, 0) > before.get(r, 0) for r in reasons), name, 1)
        except AssertionError:
            pass
        after = picture.weir.drops()
        grown = {reason for reason in after if after[reason] > before.get(reason, 0)} - BACKGROUND
        if not grown or not grown <= reasons:
            wrong.append(f"{name}: {grown or 'not counted'} instead of {reasons}")
    assert not wrong, "\n".join(wrong)
    assert picture.ear.silence(lambda f: UDP in f or TCP in f, 0.2), "nothing went through"
    assert http_get(picture.client, "10.0.1.100", 8080).status == 200


@pytest.mark.parametrize("frame, reasons", [
    (Ether(type=0x88b5) / b"local experiment", {"unknown-ethertype"}),
    (Ether(type=0x0800, dst="02:0a:0b:0c:0d:0e") / U4, {"not-our-mac"}),
    (Ether() / Dot1Q(vlan=999) / U4, {"unknown-vlan"}),
    (Ether(type=0x0806, dst="ff:ff:ff:ff:ff:ff") / bytes.fromhex("000108000504" + "0001" + "00" * 20), {"bad-arp"}),
    (Ether(type=0x0806, dst="ff:ff:ff:ff:ff:ff") / b"\0\1\x08\0", {"bad-arp", "truncated"})],
    ids=["ethertype", "mac", "vlan", "arp-hwlen", "arp-short"])
def test_wrong_frames_are_dropped_by_name(raws, frame, reasons):
    picture = raws()
    frame = frame.copy()
    frame.src = picture.raw.mac
    if "dst" not in frame.fields:
        frame.dst = picture.via
    before = picture.weir.drops()
    picture.raw.send_frame(frame)
    wait_until(lambda: any(picture.weir.drops().get(r, 0) > before.get(r, 0) for r in reasons), f"{reasons}", 2)


@pytest.mark.parametrize("packet", [U4, U6, ip4() / TCP(sport=4001, dport=80, flags="S"),
                                    ip6() / TCP(sport=4001, dport=80, flags="S")],
                         ids=["udp4", "udp6", "tcp4", "tcp6"])
def test_wrong_checksum_is_carried_never_repaired(raws, packet):
    picture = raws()
    packet = type(packet)(bytes(packet))
    kind = UDP if UDP in packet else TCP
    packet[kind].chksum = (packet[kind].chksum + 0x1111) % 0xfffe + 1
    picture.raw.send(packet, picture.via)
    got = ip_of(picture.ear.expect(lambda f: kind in f, "it arrives"))
    carried = got[kind].chksum
    fresh = type(got)(bytes(got))
    fresh[kind].chksum = None
    right = type(got)(bytes(fresh))[kind].chksum
    assert carried != right


def test_udp_checksum_zero_stays_zero(raws):
    """No checksum on IPv4 means none: nothing may be added to it (RFC 768)."""
    picture = raws()
    packet = IP(bytes(U4))
    packet[UDP].chksum = 0
    picture.raw.send(packet, picture.via)
    assert ip_of(picture.ear.expect(lambda f: UDP in f, "it arrives"))[UDP].chksum == 0


def test_expired_ttl_is_answered(raws):
    picture = raws()
    picture.raw.send(ip4(ttl=1) / UDP(sport=4000, dport=53) / b"x", picture.via)
    got = picture.raw.expect(lambda f: IP in f and f[IP].proto == 1, "time exceeded")
    assert bytes(got[IP].payload)[:2] == b"\x0b\x00"
    wait_until(lambda: picture.weir.drops().get("ttl-exceeded") == 1, "counted")


@pytest.mark.parametrize("workers", [1, 2])
def test_noise_kills_nothing(raws, workers):
    """Ten thousand packets with random damage, from a fixed seed."""
    picture = raws(workers=workers)
    dice = random.Random(2)
    seeds = [bytes(p) for p in (U4, U6, T4, T6)] + [p for _, p, _ in MALFORMED]
    for _ in range(10000):
        packet = bytearray(dice.choice(seeds))
        for _ in range(dice.randrange(1, 6)):
            packet[dice.randrange(len(packet))] = dice.randrange(256)
        cut = dice.randrange(1, len(packet) + 1) if dice.random() < 0.3 else len(packet)
        ethertype = dice.choice([0x0800, 0x86dd, 0x0806, 0x8100])
        picture.raw.send_frame(Ether(dst=picture.via, src=picture.raw.mac, type=ethertype) / bytes(packet[:cut]))
    assert http_get(picture.client, "10.0.1.100", 8080).status == 200
    assert sum(picture.weir.drops().values()) > 1000
