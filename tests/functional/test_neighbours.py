# SPDX-License-Identifier: BSD-3-Clause
"""Echo, ARP and NDP: Weir owns the wire for its self IPs and virtual addresses.

    client 10.0.1.10 (and raw hosts beside it) --- 10.0.1.1 Weir 10.0.2.1 --- switch --- s1, s2
"""
import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import ARP, Ether

from topo import http_get, ping, wait_until
from topo import weirconf as wc
from topo.rawhost import RawHost


def start(picture, ip, *parts, **options):
    picture.start_nginx()
    return picture.start_weir(wc.pool("web", picture.members(80, ip.family))
                              + wc.virtual("web", ip.virtual, 80, "web"), *parts, **options)


@pytest.mark.parametrize("size", [0, 56, 1472])
def test_ping_of_virtual_and_self(topology, workers, driver, ip, size):
    picture = topology(servers=1)
    start(picture, ip, workers=workers, driver=driver)
    size = min(size, 1452) if ip.family == 6 else size
    assert ping(picture.client, ip.virtual, 5, size) == 5
    assert ping(picture.client, ip.self_out, 5, size) == 5
    assert ping(picture.servers[0], ip.self_in, 5, size) == 5


def test_echo_and_arp_can_be_switched_off(topology, ip):
    picture = topology(servers=1)
    other = ip.virtual + "1" if ip.family == 6 else "10.0.1.101"
    start(picture, ip, wc.virtual_address(ip.virtual, icmp_echo="disabled"),
          wc.virtual_address(other, arp="disabled"), wc.virtual("quiet", other, 80, "web"))
    assert ping(picture.client, ip.virtual, 2) == 0
    assert http_get(picture.client, ip.virtual).status == 200
    assert ping(picture.client, other, 2) == 0, "nobody says who has it"
    mac = picture.client.ip("neigh", "show", ip.virtual).split("lladdr ")[1].split()[0]
    picture.client.ip("neigh", "replace", other, "lladdr", mac, "dev", "eth0")
    assert http_get(picture.client, other).status == 200


def test_neighbours_answer_only_for_us(topology, ip4):
    picture = topology(servers=1)
    start(picture, ip4)
    host = picture.topo.add(RawHost(picture.client, addresses=["10.0.1.66"]))
    assert host.resolve(ip4.virtual) == host.resolve(ip4.self_out)
    for stranger in ("10.0.1.77", "10.0.2.11", ip4.self_in):
        with pytest.raises(AssertionError):
            host.resolve(stranger, 0.3)


def test_servers_new_mac_is_learned(topology, ip):
    """A replaced server's new hardware address: iqiyi/dpvs#202, projectcalico/vpp-dataplane#738."""
    picture = topology(servers=1)
    start(picture, ip, wc.db("arp.timeout", 2))
    assert http_get(picture.client, ip.virtual).status == 200
    server = picture.servers[0]
    server.ip("link", "set", "dev", "eth0", "address", "02:00:00:00:00:99")
    wait_until(lambda: http_get(picture.client, ip.virtual, timeout=1).status == 200,
               "the new address is used", 10)


def test_announced_mac_is_taken_at_once_also_by_flows(topology, ip4):
    """Cached layer-2 headers of a standing flow follow the neighbour: iqiyi/dpvs#278."""
    picture = topology(servers=1)
    start(picture, ip4)
    sock = picture.client.connect((ip4.virtual, 80))
    server = picture.servers[0]
    server.ip("link", "set", "dev", "eth0", "address", "02:00:00:00:00:99")
    announcer = picture.topo.add(RawHost(server))
    announcer.send_frame(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:99") /
                         ARP(op=1, hwsrc="02:00:00:00:00:99", psrc=ip4.server(1), pdst=ip4.server(1)))
    sock.sendall(b"GET /name HTTP/1.0\r\n\r\n")
    assert b"200 OK" in sock.recv(1000)
    sock.close()


def test_neighbours_age_and_are_probed(topology, ip):
    """The timeout counts and a silent neighbour is asked again before it is forgotten: iqiyi/dpvs#202."""
    picture = topology(servers=1)
    weir = start(picture, ip, wc.db("arp.timeout", 1))
    raw = ip.client[:-2] + "66"
    host = picture.topo.add(RawHost(picture.client, addresses=[raw]))
    what = "net arp" if ip.family == 4 else "net ndp"
    host.resolve(ip.self_out)

    def row():
        return next((r for r in weir.show(what) if r["address"] == ip.server(1)), None)

    assert http_get(picture.client, ip.virtual).status == 200
    mac = picture.servers[0].mac("eth0")
    wait_until(lambda: (seen := row()) and (seen["state"], seen["mac"]) == ("resolved", mac),
               "the server is known")
    picture.servers[0].ip("link", "set", "dev", "eth0", "down")
    wait_until(lambda: (seen := row()) is None or seen["state"] in ("failed", "incomplete"), "it ages out", 15)


def test_packets_wait_for_resolution(topology, workers, ip):
    """The first SYN towards an unknown server is held, not lost: no retransmission is needed."""
    picture = topology(servers=1)
    start(picture, ip, workers=workers)
    with picture.client.connect((ip.virtual, 80), timeout=0.9):
        pass


def test_unreachable_server_is_counted(topology, ip4):
    picture = topology(servers=1)
    weir = picture.start_weir(wc.pool("web", [("10.0.2.99", 80)]) + wc.virtual("web", ip4.virtual, 80, "web"))
    with pytest.raises(OSError):
        picture.client.connect((ip4.virtual, 80), timeout=4)
    wait_until(lambda: weir.drops().get("neighbour-unresolved"), "the drop has its name", 5)


def test_auto_last_hop(topology, ip4):
    """Answers go to the hardware address that asked, whatever the routes say."""
    picture = topology(servers=1)
    start(picture, ip4)
    host = picture.topo.add(RawHost(picture.client, addresses=["10.0.1.66"], mac="02:00:00:00:00:66"))
    via = host.resolve(ip4.virtual)
    host.send(IP(src="192.0.2.7", dst=ip4.virtual) / TCP(sport=4000, dport=80, flags="S", seq=1), via)
    frame = host.expect(lambda f: TCP in f and f[IP].dst == "192.0.2.7", "SYN-ACK to a client without route")
    assert frame.dst == "02:00:00:00:00:66" and frame[TCP].flags == "SA"
