# SPDX-License-Identifier: BSD-3-Clause
"""weir-dp forwards by a hand-written snapshot: the dataplane without control plane.

    client                     dp                      s1, s2 (one namespace)
    10.0.1.10  eth0 --- 1.1  10.0.1.1 | 10.0.2.1  1.2 --- eth0  10.0.2.11, 10.0.2.12
                       virtual 10.0.1.100:80
"""
import collections

import pytest
from dpcontrol import Control, Counters
from handsnap import SNAT_AUTOMAP, SNAT_NONE, Snapshot
from topo import TcpServer, Topology, wait_until
from topo.weir import Daemon

FAMILY = {
    4: ("10.0.1.10", "10.0.1.1", "10.0.2.1", "10.0.2.{}", "10.0.1.100", 24),
    6: ("fd00:1::10", "fd00:1::1", "fd00:2::1", "fd00:2::{}", "fd00:1::100", 64),
}


class Bench:
    """Client, weir-dp and two servers."""

    def __init__(self, topo, driver, workers, family, snat):
        client_ip, out_ip, in_ip, server_ip, self.virtual, prefix = FAMILY[family]
        self.client, self.dp, self.server = (topo.namespace(n) for n in ("client", "dp", "server"))
        topo.veth(self.client, "eth0", self.dp, "p1")
        topo.veth(self.server, "eth0", self.dp, "p2")
        self.client.address("eth0", f"{client_ip}/{prefix}")
        members = [server_ip.format(number) for number in (11, 12)]
        self.server.address("eth0", *(f"{ip}/{prefix}" for ip in members))
        self.client.route("default", via=out_ip)
        self.server.route("default", via=in_ip)
        self.servers = [topo.add(TcpServer(self.server, f"s{i}", [(ip, 80)], echo=True))
                        for i, ip in enumerate(members, 1)]
        run_dir = topo.dir / "run"
        run_dir.mkdir()
        words = ["--run-dir", run_dir, "--workers", workers, "--flows", 4096]
        for i in (1, 2):
            self.dp.hide_from_kernel(f"p{i}")
            words += ["--port", f"1.{i}=net_{driver},iface=p{i}"]
        self.daemon = topo.add(Daemon(self.dp, "weir-dp", words, run_dir))
        self.daemon.start()
        wait_until(lambda: "serving" in self.daemon.text(), "weir-dp serves", 20)
        self.control = Control(run_dir)
        self.counters = Counters(self.control.counters_fd)
        snapshot = Snapshot()
        snapshot.vlan("1.1", out_ip, prefix)
        snapshot.vlan("1.2", in_ip, prefix)
        pool = snapshot.pool([(members[0], 80, 3), (members[1], 80, 1)])
        snapshot.virtual(self.virtual, 80, pool, snat=snat)
        status, _, generation, _, reason = self.control.snapshot(snapshot)
        assert (status, generation, reason) == (0, 1, "")

    def ask(self):
        """One connection: name of the server and the client's address as that saw it."""
        with self.client.connect((self.virtual, 80)) as sock:
            stream = sock.makefile("rwb")
            name, address, _ = stream.readline().split()
            stream.write(b"hello\n")
            stream.flush()
            assert stream.readline() == b"hello\n"
            return name.decode(), address.decode()


@pytest.fixture
def bench():
    opened = []

    def build(*args):
        opened.append(Topology())
        return Bench(opened[-1], *args)

    yield build
    for topo in opened:
        topo.close()


@pytest.mark.parametrize("snat", [SNAT_NONE, SNAT_AUTOMAP])
@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("driver", ["af_xdp", "af_packet"])
def test_ratio(bench, driver, workers, family, snat):
    b = bench(driver, workers, family, snat)
    answers = [b.ask() for _ in range(40)]
    shares = collections.Counter(name for name, _ in answers)
    assert shares == {"s1": 30, "s2": 10}
    seen = FAMILY[family][0] if snat == SNAT_NONE else FAMILY[family][2]
    assert {address for _, address in answers} == {seen}
