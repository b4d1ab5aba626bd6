# SPDX-License-Identifier: BSD-3-Clause
"""Fragments, extension headers, path MTU and ICMP errors through translation.

    client (raw host 10.0.1.66) --- 10.0.1.1 Weir 10.0.2.1 --- switch --- s1 (raw host 10.0.2.66)
"""
import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, fragment
from scapy.layers.inet6 import (ICMPv6DestUnreach, ICMPv6PacketTooBig, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                                IPv6ExtHdrHopByHop, PadN, fragment6)
from scapy.packet import Raw

from topo import UdpEcho, http_get, udp_ask, wait_until
from topo import weirconf as wc
from topo.rawhost import RawHost, ip_of

PAYLOAD = bytes(range(256)) * 12  # 3,072 bytes: three fragments


class Raws:
    """A UDP and a TCP virtual server with a raw host on each side."""

    def __init__(self, topology, ip, workers=1, driver="af_xdp", snat="automap"):
        self.ip = ip
        self.picture = topology(servers=1)
        client, server = ("10.0.1.66", "10.0.2.66") if ip.family == 4 else ("fd00:1::66", "fd00:2::66")
        self.weir = self.picture.start_weir(
            wc.pool("dns", [(server, 53)]) + wc.virtual("dns", ip.virtual, 53, "dns", proto="udp", snat=snat)
            + wc.pool("web", [(server, 80)]) + wc.virtual("web", ip.virtual, 80, "web", snat=snat),
            workers=workers, driver=driver)
        self.client = self.picture.topo.add(RawHost(self.picture.client, addresses=[client]))
        self.server = self.picture.topo.add(RawHost(self.picture.servers[0], addresses=[server]))
        self.client_via, self.server_via = self.client.resolve(ip.virtual), self.server.resolve(ip.self_in)
        self.client_address, self.server_address = client, server
        self.layer = IP if ip.family == 4 else IPv6

    def ask(self, port=4000, data=b"ask", **fields):
        return self.layer(src=self.client_address, dst=self.ip.virtual, **fields) / UDP(sport=port, dport=53) / data

    def to_server(self, packet):
        """Sends it as the client and returns what arrives at the server."""
        self.client.send(packet, self.client_via)
        return ip_of(self.server.expect(lambda f: UDP in f or TCP in f, "the server hears it"))

    def answer(self, asked, data):
        return (self.layer(src=self.server_address, dst=asked.src)
                / UDP(sport=53, dport=asked[UDP].sport) / data)


def reassembled(host, count, layer):
    """Payload behind the UDP header of count fragments heard by a host, however ordered."""
    parts = {}
    for _ in range(count):
        frame = host.expect(lambda f: ip_of(f) is not None and ip_of(f).nh == 44 if layer is IPv6
                            else IP in f and (f[IP].frag or f[IP].flags.MF), "a fragment arrives")
        if layer is IP:
            parts[frame[IP].frag * 8] = bytes(frame[IP].payload)[:frame[IP].len - 20]
        else:
            header = frame[IPv6ExtHdrFragment]
            parts[header.offset * 8] = bytes(header.payload)[:frame[IPv6].plen - 8]
    assert sorted(parts) == [sum(len(parts[o]) for o in sorted(parts)[:n]) for n in range(len(parts))]
    return b"".join(parts[offset] for offset in sorted(parts))


def pieces(packet, layer, ident=7):
    """The packet in fragments of about 1,200 bytes."""
    if layer is IP:
        packet[IP].id = ident
        return fragment(packet, 1200)
    whole = IPv6(bytes(packet))
    return fragment6(IPv6(src=whole.src, dst=whole.dst) / IPv6ExtHdrFragment(id=ident) / whole.payload, 1280)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=["inorder", "reverse", "lastfirst"])
def test_fragments_follow_the_first(topology, workers, ip, order):
    """Both ways, with rewrite on the first alone, in any order: iqiyi/dpvs#890, loxilb-io/loxilb#393."""
    raws = Raws(topology, ip, workers)
    asked = raws.to_server(raws.ask())
    sent = pieces(raws.ask(data=PAYLOAD), raws.layer)
    assert len(sent) == 3
    for number in order:
        raws.client.send(sent[number], raws.client_via)
    got = reassembled(raws.server, 3, raws.layer)
    assert got[8:] == PAYLOAD
    assert UDP(got[:8]).sport == asked[UDP].sport and UDP(got[:8]).len == len(PAYLOAD) + 8
    whole = raws.layer(src=asked.src, dst=asked.dst) / got
    if raws.layer is IP:
        whole.proto = 17
    else:
        whole.nh = 17
    check_udp_checksum(whole)
    back = pieces(raws.answer(asked, PAYLOAD[::-1]), raws.layer, 8)
    for number in order:
        raws.server.send(back[number], raws.server_via)
    assert reassembled(raws.client, 3, raws.layer)[8:] == PAYLOAD[::-1]


def check_udp_checksum(packet):
    """The checksum in the packet is the right one."""
    carried = type(packet)(bytes(packet))[UDP].chksum
    fresh = type(packet)(bytes(packet))
    fresh[UDP].chksum = None
    assert type(packet)(bytes(fresh))[UDP].chksum == carried


def test_large_datagrams_of_a_real_stack(topology, workers, ip):
    """DNS and SIP of 4 kB and more: loxilb-io/loxilb#393, cilium/cilium#10076.

    On af_xdp alone: af_packet's socket joins IPv4 fragments and cuts what is longer than its frames.
    """
    picture = topology(servers=1)
    picture.topo.add(UdpEcho(picture.servers[0], "s1", [(ip.server(1), 53)]))
    picture.start_weir(wc.pool("dns", picture.members(53, ip.family))
                       + wc.virtual("dns", ip.virtual, 53, "dns", proto="udp"), workers=workers)
    for size in (1400, 4000, 9000):
        assert udp_patiently(picture.client, ip.virtual, b"x" * size) == b"x" * size


def udp_patiently(ns, host, data):
    """Asks again like a resolver: while a neighbour is asked for its address few packets may wait."""
    for _ in range(2):
        try:
            return udp_ask(ns, host, 53, data, timeout=1)[2]
        except TimeoutError:
            pass
    return udp_ask(ns, host, 53, data)[2]


def test_lone_fragment_is_dropped_by_name(topology, ip4):
    raws = Raws(topology, ip4)
    raws.client.send(pieces(raws.ask(data=PAYLOAD), IP)[1], raws.client_via)
    wait_until(lambda: raws.weir.drops().get("fragment-timeout"), "it waits, then is dropped and counted", 40)


def test_extension_headers_are_walked(topology, ip6):
    """Hop-by-hop and destination options before UDP: cilium/cilium#24187, #4222."""
    raws = Raws(topology, ip6)
    options = IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)]) / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])
    packet = IPv6(src=raws.client_address, dst=ip6.virtual) / options / UDP(sport=4000, dport=53) / b"ask"
    got = raws.to_server(packet)
    assert IPv6ExtHdrHopByHop in got and IPv6ExtHdrDestOpt in got and bytes(got[Raw])[:3] == b"ask"
    assert got.dst == raws.server_address
    many = IPv6(src=raws.client_address, dst=ip6.virtual)
    for _ in range(20):
        many = many / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])
    raws.client.send(many / UDP(sport=4001, dport=53) / b"ask", raws.client_via)
    wait_until(lambda: raws.weir.drops().get("too-many-extension-headers") == 1, "beyond the limit: counted")


@pytest.mark.parametrize("snat", ["automap", "none"])
def test_servers_error_reaches_the_client(topology, workers, ip, snat):
    """Addresses, ports and checksums inside the error are the client's: loxilb-io/loxilb#359."""
    raws = Raws(topology, ip, workers, snat=snat)
    asked = raws.to_server(raws.ask(port=4321))
    if raws.layer is IP:
        error = IP(src=raws.server_address, dst=asked.src) / ICMP(type=3, code=4, nexthopmtu=1300) / bytes(asked)
    else:
        error = IPv6(src=raws.server_address, dst=asked.src) / ICMPv6PacketTooBig(mtu=1300) / bytes(asked)
    raws.server.send(error, raws.server_via)
    kind = ICMP if raws.layer is IP else ICMPv6PacketTooBig
    got = ip_of(raws.client.expect(lambda f: kind in f, "the client gets the error"))
    assert got.dst == raws.client_address
    assert (got[ICMP].nexthopmtu if raws.layer is IP else got[ICMPv6PacketTooBig].mtu) == 1300
    inner = raws.layer(bytes(got[kind].payload))
    assert (inner.src, inner.dst) == (raws.client_address, ip.virtual)
    assert (inner[UDP].sport, inner[UDP].dport) == (4321, 53)
    check_outer_checksum(got)
    if raws.layer is IP:
        carried = inner.chksum
        inner.chksum = None
        assert IP(bytes(inner)).chksum == carried


def check_outer_checksum(packet):
    """ICMP checksum of a heard packet, and the IPv4 header's."""
    layer = type(packet)
    fresh = layer(bytes(packet))
    inner = fresh[ICMP] if layer is IP else fresh.payload
    field = "chksum" if layer is IP else "cksum"
    carried = getattr(inner, field)
    delattr(inner, field)
    again = layer(bytes(fresh))
    assert getattr(again[ICMP] if layer is IP else again.payload, field) == carried


def test_clients_error_reaches_the_server(topology, workers, ip):
    """An error to the virtual address goes to the flow's server: cilium/cilium#21262."""
    raws = Raws(topology, ip, workers)
    asked = raws.to_server(raws.ask(port=4322))
    raws.server.send(raws.answer(asked, b"back"), raws.server_via)
    heard = ip_of(raws.client.expect(lambda f: UDP in f, "the answer"))
    if raws.layer is IP:
        error = IP(src=raws.client_address, dst=ip.virtual) / ICMP(type=3, code=3) / bytes(heard)
        kind = ICMP
    else:
        error = IPv6(src=raws.client_address, dst=ip.virtual) / ICMPv6DestUnreach(code=4) / bytes(heard)
        kind = ICMPv6DestUnreach
    raws.client.send(error, raws.client_via)
    got = ip_of(raws.server.expect(lambda f: kind in f, "the server gets the error"))
    assert got.dst == raws.server_address
    inner = raws.layer(bytes(got[kind].payload))
    assert (inner.src, inner.dst) == (raws.server_address, asked.src)
    assert (inner[UDP].sport, inner[UDP].dport) == (53, asked[UDP].sport)
    check_outer_checksum(got)


def test_error_without_flow_is_counted(topology, ip4):
    raws = Raws(topology, ip4)
    stray = IP(src=ip4.virtual, dst=raws.client_address) / UDP(sport=53, dport=9999) / b"never"
    raws.client.send(IP(src=raws.client_address, dst=ip4.virtual) / ICMP(type=3, code=3) / bytes(stray),
                     raws.client_via)
    wait_until(lambda: raws.weir.drops().get("icmp-error-without-flow") == 1, "counted by name")


def narrow(picture):
    """VLANs with the servers' one at 1,300 bytes."""
    text = picture.network()
    return text.replace("net vlan inside {\n", "net vlan inside {\n    mtu 1300\n")


def test_too_big_with_df_is_answered(topology, ip):
    """A fresh, valid error with the exact MTU: DPDK/grout#336, iqiyi/dpvs#793, facebookincubator/katran#206."""
    raws = RawsNarrow(topology, ip)
    packet = raws.ask(data=b"x" * 1400, **({"flags": "DF"} if ip.family == 4 else {}))
    raws.client.send(packet, raws.client_via)
    kind = ICMP if ip.family == 4 else ICMPv6PacketTooBig
    got = ip_of(raws.client.expect(lambda f: kind in f, "too big"))
    if ip.family == 4:
        assert (got[ICMP].type, got[ICMP].code, got[ICMP].nexthopmtu) == (3, 4, 1300)
        assert got.frag == 0
    else:
        assert got[ICMPv6PacketTooBig].mtu == 1300
    inner = raws.layer(bytes(got[kind].payload))
    assert (inner.src, inner.dst) == (raws.client_address, ip.virtual)
    check_outer_checksum(got)


class RawsNarrow(Raws):
    """The same with an MTU of 1,300 bytes in the servers' VLAN."""

    def __init__(self, topology, ip):
        def build(**options):
            picture = topology(**options)
            text = narrow(picture)
            picture.network = lambda: text
            return picture
        super().__init__(build, ip)


def test_too_big_without_df_is_fragmented(topology, ip4):
    """DPDK/grout#336: no DF, so the packet is cut, not dropped."""
    raws = RawsNarrow(topology, ip4)
    raws.client.send(raws.ask(data=b"y" * 1400), raws.client_via)
    got = reassembled(raws.server, 2, IP)
    assert got[8:] == b"y" * 1400


def test_path_mtu_of_tcp(topology, ip):
    """A client with a large MTU uploads through the narrow side: the kernel lowers its path MTU."""
    picture = topology(servers=1)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family)) + wc.virtual("web", ip.virtual, 80, "web"),
                       network=narrow(picture))
    host = f"[{ip.virtual}]" if ip.family == 6 else ip.virtual
    path = picture.topo.dir / "upload"
    path.write_bytes(PAYLOAD * 100)
    picture.client.run(["curl", "-sf", "-g", "-m", "20", "-T", path, f"http://{host}/upload/x"])
    assert picture.nginx[0].uploaded("x").read_bytes() == PAYLOAD * 100
    assert picture.weir.counter("icmp-sent") >= 1
    assert http_get(picture.client, ip.virtual).status == 200
