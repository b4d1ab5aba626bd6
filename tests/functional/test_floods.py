# SPDX-License-Identifier: BSD-3-Clause
"""More flows than places, more connections than SNAT ports: counted, named, and over when the flood is.

    raw host 10.0.1.66 and client 10.0.1.10 --- 10.0.1.1 Weir 10.0.2.1 --- switch --- s1
"""
import struct

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

from topo import http_get, udp_ask, UdpEcho, wait_until
from topo import weirconf as wc
from topo.rawhost import RawHost


def flood(host, via, packet, count):
    """count copies of an IPv4 packet, each from another client port and, every 50,000, another address.

    The checksum over the changed fields is not kept right: Weir carries it as it is.
    """
    frame = bytearray(bytes(Ether(dst=via, src=host.mac) / packet))
    for number in range(count):
        struct.pack_into("!H", frame, 34, 10000 + number % 50000)
        source = 66 + number // 50000
        frame[29], total = source, struct.unpack_from("!H", frame, 24)[0]
        if number % 50000 == 0 and number:
            total = (total ^ 0xffff) + 1
            struct.pack_into("!H", frame, 24, total ^ 0xffff)
        host.send_frame(frame)


def test_full_flow_table_refuses_new_and_keeps_old(topology, workers, ip4):
    """An established flow is not evicted by embryonic ones: facebookincubator/katran#80, #106."""
    picture = topology(servers=1)
    picture.start_nginx()
    weir = picture.start_weir(
        wc.pool("web", picture.members(80)) + wc.pool("hole", [("10.0.2.66", 80)])
        + wc.profile("fastl4", "quick", tcp_handshake_timeout=2)
        + wc.virtual("web", ip4.virtual, 80, "web")
        + wc.virtual("hole", ip4.virtual, 81, "hole", profiles=["quick"]), flows=1024, workers=workers)
    picture.topo.add(RawHost(picture.servers[0], addresses=["10.0.2.66"]))
    held = [picture.client.connect((ip4.virtual, 80)) for _ in range(20)]
    host = picture.topo.add(RawHost(picture.client, addresses=["10.0.1.66"]))
    via = host.resolve(ip4.virtual)
    flood(host, via, IP(src="10.0.1.66", dst=ip4.virtual) / TCP(sport=1, dport=81, flags="S"), 4000)
    wait_until(lambda: weir.drops().get("flow-table-full", 0) + weir.counter("flows-evicted") > 500,
               "the refused ones are counted")
    for sock in held:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert b"200 OK" in sock.recv(2000)
        sock.close()
    wait_until(lambda: http_get(picture.client, ip4.virtual, timeout=1).status == 200, "places are free again", 10)


def test_exhausted_snat_ports_are_counted(topology, ip4):
    """Counted and said, not silent: iqiyi/dpvs#682; and over with the flows: #93."""
    picture = topology(servers=1)
    picture.topo.add(UdpEcho(picture.servers[0], "s1", [(ip4.server(1), 53)]))
    weir = picture.start_weir(
        wc.pool("dns", picture.members(53)) + wc.snatpool("one", ["10.0.2.201"])
        + wc.profile("udp", "short", idle_timeout=8)
        + wc.virtual("dns", ip4.virtual, 53, "dns", proto="udp", snat="one", profiles=["short"]), flows=98304)
    host = picture.topo.add(RawHost(picture.client, addresses=[f"10.0.1.{n}" for n in (66, 67)]))
    via = host.resolve(ip4.virtual)
    packet = IP(src="10.0.1.66", dst=ip4.virtual) / UDP(sport=1, dport=53) / b"x"

    def exhausted():
        """Again if need be: a slow build loses some packets before it sees them."""
        flood(host, via, packet, 75000)
        return weir.drops().get("snat-ports-exhausted", 0) > 2000

    wait_until(exhausted, "refusals are counted", 40)
    refused = weir.drops()["snat-ports-exhausted"]
    row, = weir.show("ltm virtual", name="dns")
    assert row["refused"] >= refused
    wait_until(lambda: udp_ask(picture.client, ip4.virtual, 53, timeout=1)[0] == "s1", "ports are free again", 30)
