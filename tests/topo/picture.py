# SPDX-License-Identifier: BSD-3-Clause
"""The picture that the lab and most tests use:

      client                        lb (Weir)                     lan              s1 ... sN
    10.0.1.10/24   eth0 --- 1.1  10.0.1.1 | 10.0.2.1  1.2 --- switch --- eth0  10.0.2.11 ... 10.0.2.1N
    fd00:1::10/64              fd00:1::1 | fd00:2::1                            fd00:2::11 ...
                                virtual 10.0.1.100, fd00:1::100

Servers and client have Weir's self IPs as default gateways. With tagged=True one port 1.1 carries both
VLANs with 802.1Q tags (10 and 20) to a link that takes them apart. With link options the cables of
client and servers pass through a link simulator.
"""
from . import weirconf as wc
from .links import Link
from .netns import Topology
from .servers import Nginx
from .weir import Weir

CLIENT = {4: "10.0.1.10", 6: "fd00:1::10"}
VIRTUAL = {4: "10.0.1.100", 6: "fd00:1::100"}
SELF_OUT = {4: "10.0.1.1", 6: "fd00:1::1"}
SELF_IN = {4: "10.0.2.1", 6: "fd00:2::1"}
PREFIX = {4: 24, 6: 64}


def server_address(number, family=4):
    """Address of server number 1, 2, ..."""
    return f"10.0.2.{10 + number}" if family == 4 else f"fd00:2::{10 + number}"


class Picture:
    """What standard() built.

    topo, client, lb, lan, servers (namespaces), links; weir and nginx after start_weir(), start_nginx().
    """

    def __init__(self, topo, servers, tagged, outside, inside, mtu):
        self.topo, self.tagged = topo, tagged
        self.client, self.lb, self.lan = (topo.namespace(name) for name in ("client", "lb", "lan"))
        self.servers = [topo.namespace(f"s{number}") for number in range(1, servers + 1)]
        self.links, self.nginx, self.weir = [], [], None
        self._cable(outside, inside, mtu)
        self._addresses()

    def _cable(self, outside, inside, mtu):
        topo = self.topo
        self.lan.sysctl("net.ipv6.conf.default.disable_ipv6", 1)  # the switch itself is silent
        for server in self.servers:
            topo.veth(server, "eth0", self.lan, server.name.rsplit("-", 1)[1], mtu)
        uplink = [server.name.rsplit("-", 1)[1] for server in self.servers] + ["uplink"]
        if self.tagged or outside or inside:
            wire = topo.namespace("wire")
            topo.veth(self.client, "eth0", wire, "client", mtu)
            topo.veth(self.lan, "uplink", wire, "lan", mtu)
            joins = [("client", "p1", outside or {}), ("lan", "p2", inside or {})]
            if self.tagged:
                topo.veth(self.lb, "p1", wire, "p1", mtu + 4)
                joins = [("client", "p1", {**(outside or {}), "tag": 10}),
                         ("lan", "p1", {**(inside or {}), "tag": 20})]
            else:
                topo.veth(self.lb, "p1", wire, "p1", mtu)
                topo.veth(self.lb, "p2", wire, "p2", mtu)
            self.lan.bridge("br0", uplink)
            self.links.append(topo.add(Link(wire, joins, topo.dir)))
        else:
            topo.veth(self.client, "eth0", self.lb, "p1", mtu)
            topo.veth(self.lan, "uplink", self.lb, "p2", mtu)
            self.lan.bridge("br0", uplink)
        self.ports = {"1.1": "p1"} if self.tagged else {"1.1": "p1", "1.2": "p2"}

    def _addresses(self):
        self.client.address("eth0", *(f"{CLIENT[f]}/{PREFIX[f]}" for f in (4, 6)))
        for f in (4, 6):
            self.client.route("default" if f == 4 else "::/0", via=SELF_OUT[f])
        for number, server in enumerate(self.servers, 1):
            server.address("eth0", *(f"{server_address(number, f)}/{PREFIX[f]}" for f in (4, 6)))
            for f in (4, 6):
                server.route("default" if f == 4 else "::/0", via=SELF_IN[f])

    def network(self, **vlan_fields):
        """weir.conf of VLANs outside and inside with their self IPs."""
        inside = "1.1" if self.tagged else "1.2"
        parts = [wc.vlan("outside", "1.1", tag=10 if self.tagged else None, **vlan_fields),
                 wc.vlan("inside", inside, tag=20 if self.tagged else None, **vlan_fields)]
        for f in (4, 6):
            parts += [wc.self_ip(f"outside{f}", f"{SELF_OUT[f]}/{PREFIX[f]}", "outside"),
                      wc.self_ip(f"inside{f}", f"{SELF_IN[f]}/{PREFIX[f]}", "inside")]
        return "".join(parts)

    def members(self, port=80, family=4, ratios=None):
        """{(address, port): {"ratio": r}} for wc.pool()."""
        return {(server_address(number, family), port): ({"ratio": ratios[number - 1]} if ratios else {})
                for number in range(1, len(self.servers) + 1)}

    def start_nginx(self, port=80, **options):
        """One nginx per server, named s1, s2, ..., on both families."""
        for number, ns in enumerate(self.servers, 1):
            listens = [f"{server_address(number)}:{port}", f"[{server_address(number, 6)}]:{port}"]
            self.nginx.append(self.topo.add(Nginx(ns, f"s{number}", listens, self.topo.dir, **options)))
        return self.nginx

    def start_weir(self, *parts, network=None, **options):
        """Weir with network() and the given parts of weir.conf."""
        text = wc.config(network if network is not None else self.network(), *parts)
        self.weir = self.topo.add(Weir(self.lb, self.topo.dir / "weir", text, self.ports, **options))
        return self.weir


def standard(prefix=None, servers=4, tagged=False, outside=None, inside=None, mtu=1500, directory=None):
    """A Topology with the picture above as its .picture; use it in a with statement.

    outside, inside: options of the link on the client's or the servers' cable (see Link), None = cable.
    """
    topo = Topology(prefix, directory)
    try:
        topo.picture = Picture(topo, servers, tagged, outside, inside, mtu)
    except BaseException:
        topo.close()
        raise
    return topo
