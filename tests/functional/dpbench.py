# SPDX-License-Identifier: BSD-3-Clause
"""weir-dp without control plane, between a client and two servers, by a hand-written snapshot.

    client                     dp                      s1, s2 (one namespace)
    10.0.1.10  eth0 --- 1.1  10.0.1.1 | 10.0.2.1  1.2 --- eth0  10.0.2.11, 10.0.2.12
                       virtual 10.0.1.100:80, ratio 3:1
"""
import contextlib

from dpcontrol import Control, Counters
from handsnap import SNAT_NONE, Snapshot
from topo import TcpServer, Topology, wait_until
from topo.weir import Daemon

FAMILY = {
    4: ("10.0.1.10", "10.0.1.1", "10.0.2.1", "10.0.2.{}", "10.0.1.100", 24),
    6: ("fd00:1::10", "fd00:1::1", "fd00:2::1", "fd00:2::{}", "fd00:1::100", 64),
}


class Bench:
    """Client, weir-dp and two servers; control and counters as weir-cp would have them."""

    def __init__(self, topo, driver="af_xdp", workers=1, family=4, snat=SNAT_NONE):
        client_ip, self.out_ip, self.in_ip, server_ip, self.virtual, self.prefix = FAMILY[family]
        self.snat = snat
        self.client, self.dp, self.server = (topo.namespace(n) for n in ("client", "dp", "server"))
        topo.veth(self.client, "eth0", self.dp, "p1")
        topo.veth(self.server, "eth0", self.dp, "p2")
        self.client.address("eth0", f"{client_ip}/{self.prefix}")
        self.members = [server_ip.format(number) for number in (11, 12)]
        self.server.address("eth0", *(f"{ip}/{self.prefix}" for ip in self.members))
        self.client.route("default", via=self.out_ip)
        self.server.route("default", via=self.in_ip)
        self.servers = [topo.add(TcpServer(self.server, f"s{i}", [(ip, 80)], echo=True))
                        for i, ip in enumerate(self.members, 1)]
        self.run_dir = topo.dir / "run"
        self.run_dir.mkdir()
        words = ["--run-dir", self.run_dir, "--workers", workers, "--flows", 4096]
        for i in (1, 2):
            self.dp.hide_from_kernel(f"p{i}")
            words += ["--port", f"1.{i}=net_{driver},iface=p{i}"]
        self.daemon = topo.add(Daemon(self.dp, "weir-dp", words, self.run_dir))
        self.daemon.start()
        wait_until(lambda: "serving" in self.daemon.text(), "weir-dp serves", 20)
        self.control = Control(self.run_dir)
        self.counters = Counters(self.control.counters_fd)
        self.commit(1)

    def commit(self, generation, ratios=(3, 1)):
        """Puts the picture's snapshot in force; returns it."""
        s = Snapshot(generation)
        s.vlan("1.1", self.out_ip, self.prefix)
        s.vlan("1.2", self.in_ip, self.prefix)
        pool = s.pool([(ip, 80, ratio) for ip, ratio in zip(self.members, ratios)])
        s.virtual(self.virtual, 80, pool, snat=self.snat)
        status, _, now, _, reason = self.control.snapshot(s)
        assert (status, now, reason) == (0, generation, "")
        return s

    def ask(self):
        """One connection: name of the server and the client's address as that saw it."""
        with self.client.connect((self.virtual, 80)) as sock:
            return self.talk(sock)

    def talk(self, sock):
        stream = sock.makefile("rwb")
        name, address, _ = stream.readline().split()
        stream.write(b"hello\n")
        stream.flush()
        assert stream.readline() == b"hello\n"
        return name.decode(), address.decode()

    def hold(self, stack, count):
        """count connections that stay open until the ExitStack closes."""
        held = []
        for _ in range(count):
            held.append(stack.enter_context(contextlib.closing(self.client.connect((self.virtual, 80)))))
            self.talk(held[-1])
        return held


@contextlib.contextmanager
def opened():
    """A function that makes Benches; they are removed at the end."""
    topologies = []

    def build(**options):
        topologies.append(Topology())
        return Bench(topologies[-1], **options)

    try:
        yield build
    finally:
        for topo in topologies:
            topo.close()
