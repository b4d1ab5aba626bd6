# SPDX-License-Identifier: BSD-3-Clause
"""The link simulator itself: two hosts, one spoiled cable.

    a 10.9.0.1/24 eth0 --- a [link] b --- eth0 10.9.0.2/24 b
"""
import hashlib
import json
import re
import subprocess
import threading

import pytest

from topo import Link, TcpServer, Topology


@pytest.fixture
def cable():
    """cable(options, seed) joins the hosts and returns (topo, a, b, link)."""
    opened = []

    def build(seed=1, tagged=False, **options):
        topo = Topology()
        opened.append(topo)
        a, b, wire = (topo.namespace(name) for name in ("a", "b", "wire"))
        for ns in (a, b, wire):
            ns.sysctl("net.ipv6.conf.default.disable_ipv6", 1)  # only the test's own frames are counted
        topo.veth(a, "eth0", wire, "a")
        topo.veth(b, "eth0", wire, "b")
        joins = [("a", "b", options)]
        if tagged:
            topo.veth(wire, "t1", wire, "t2", 1504)
            joins = [("a", "t1", {"tag": 7}), ("b", "t2", {"tag": 7})]
        a.address("eth0", "10.9.0.1/24")
        b.address("eth0", "10.9.0.2/24")
        return topo, a, b, topo.add(Link(wire, joins, topo.dir, seed))

    yield build
    for topo in opened:
        topo.close()


def ping(ns, count, *words):
    """(answers, duplicates, mean ms) of count pings."""
    text = ns.run(["ping", "-n", "-i", "0.005", "-c", count, "-W", "1", *words, "10.9.0.2"], check=False).stdout
    mean = re.search(r"= [\d.]+/([\d.]+)", text)
    doubles = re.search(r"\+(\d+) duplicates", text)
    return (int(re.search(r"(\d+) received", text)[1]), int(doubles[1]) if doubles else 0,
            float(mean[1]) if mean else None)


def test_clean_cable_loses_nothing(cable):
    _, a, _, link = cable()
    answers, doubles, mean = ping(a, 100)
    assert (answers, doubles) == (100, 0) and mean < 5
    report = link.report()
    assert report["unfinished_checksum"] == 0
    assert link.total("sent") == link.total("received") >= 200
    assert link.total("lost") == link.total("reordered") == link.total("send_failed") == 0


def test_delay_loss_and_duplication(cable):
    _, a, _, link = cable(delay=10, up_loss=20, down_duplicate=30)
    answers, doubles, mean = ping(a, 200)
    assert 20 <= mean < 30
    assert link.total("lost") >= 200 - answers > 15
    assert doubles > 20 and link.total("duplicated") >= doubles


def test_same_seed_loses_the_same_frames(cable):
    lost = []
    for seed in (5, 5, 6):
        _, a, b, _ = cable(seed=seed, up_loss=50)
        b.ip("neigh", "replace", "10.9.0.1", "lladdr", a.mac("eth0"), "dev", "eth0", "nud", "permanent")
        a.ip("neigh", "replace", "10.9.0.2", "lladdr", b.mac("eth0"), "dev", "eth0", "nud", "permanent")
        text = a.run(["ping", "-n", "-i", "0.005", "-c", "64", "-W", "1", "10.9.0.2"], check=False).stdout
        lost.append(re.findall(r"icmp_seq=(\d+)", text))
    assert lost[0] == lost[1] != lost[2] and len(lost[0]) > 10


def test_mtu_and_rate(cable):
    _, a, _, link = cable(mtu=1000, rate=1)
    assert ping(a, 2, "-s", "972")[0] == 2
    assert ping(a, 2, "-s", "973")[0] == 0
    assert link.total("too_long") == 2
    assert ping(a, 3, "-s", "900")[2] > 14, "900 bytes take 7.5 ms each way at 1 Mbit/s"


def test_trunk_carries_tags(cable):
    _, a, _, link = cable(tagged=True)
    assert ping(a, 20)[0] == 20
    for join in link.report()["joins"]:
        assert join["up"]["tagged"] >= 20 and join["down"]["untagged"] >= 20
        assert join["up"]["tagged"] == join["up"]["sent"]


def test_tcp_survives_a_bad_cable(cable):
    """The receiver's checksum drops what was corrupted; the contents come out equal."""
    topo, a, b, link = cable(delay=1, rate=100, loss=1, reorder=2, duplicate=1, corrupt=0.5)
    server = topo.add(TcpServer(b, "b", [("10.9.0.2", 80)], greet=False))
    content = hashlib.shake_256(b"cable").digest(5 << 20)
    sock = a.connect(("10.9.0.2", 80), 30)
    peer, _ = server.take()
    sender = threading.Thread(target=lambda: (sock.sendall(content), sock.close()))
    sender.start()
    got = b"".join(iter(lambda: peer.recv(1 << 16), b""))
    sender.join()
    assert got == content
    for fault in ("lost", "reordered", "duplicated", "corrupted"):
        assert link.total(fault) > 5, f"no {fault} frames: the test has shown nothing"


def test_bad_options_are_refused(cable):
    topo, a, _, link = cable()
    program = link.process.args[4]
    for words in ("a,b,los=1", "a,b,loss=200", "a,b,tag=5000", "a,nosuch", "a"):
        done = a.run([program, "--report", topo.dir / "x", "--join", words], check=False)
        assert done.returncode == 1 and done.stderr.startswith("link: "), words
