# SPDX-License-Identifier: BSD-3-Clause
"""Shares by ratio and the other methods, over every kind of port, worker count, family and protocol.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3 s4
"""
import collections

import pytest

from topo import UdpEcho, http_burst, udp_ask, wait_until
from topo import weirconf as wc
from topo.picture import server_address

RATIOS = [4, 3, 2, 1]


def web(picture, ip, mode="ratio-member", ratios=RATIOS, **fields):
    return (wc.pool("web", picture.members(80, ip.family, ratios), mode)
            + wc.virtual("web", ip.virtual, 80, "web", **fields))


def check_shares(order, ratios, what):
    """Within one of the share over the whole, and over any cycle of consecutive choices."""
    cycle = sum(ratios)
    names = [f"s{number}" for number in range(1, len(ratios) + 1)]
    for start in range(0, len(order) - cycle + 1):
        counts = collections.Counter(order[start:start + cycle])
        assert all(abs(counts[name] - ratio) <= 1 for name, ratio in zip(names, ratios)), \
            f"{what}: cycle at {start}: {counts}"
    counts = collections.Counter(order)
    for name, ratio in zip(names, ratios):
        assert abs(counts[name] - len(order) * ratio / cycle) <= 1, f"{what}: {counts}"


def test_http_by_ratio(topology, driver, workers, ip):
    """With two workers and ports of one queue every other packet arrives at the wrong worker: nothing may
    depend on that (iqiyi/dpvs#73, iqiyi/dpvs#738, iqiyi/dpvs#824)."""
    picture = topology()
    picture.start_nginx()
    picture.start_weir(web(picture, ip), driver=driver, workers=workers)
    burst = http_burst(picture.client, ip.virtual, 300)
    assert not burst.errors
    check_shares(burst.order, RATIOS, f"{driver}, {workers} workers, {ip.family}")


def test_http_by_ratio_while_many_are_under_way(topology, workers):
    picture = topology()
    picture.start_nginx()
    weir = picture.start_weir(wc.pool("web", picture.members(80, 4, RATIOS), "ratio-member")
                              + wc.virtual("web", "10.0.1.100", 80, "web"), workers=workers)
    burst = http_burst(picture.client, "10.0.1.100", 500, parallel=16)
    assert not burst.errors
    for number, ratio in enumerate(RATIOS, 1):
        assert abs(burst.counts[f"s{number}"] - 50 * ratio) <= 1, burst.counts
    members = {row["name"].rsplit("/", 1)[-1]: row for row in weir.show("ltm pool members", owner="web")}
    for number, ratio in enumerate(RATIOS, 1):
        row = members[f"{server_address(number)}:80"]
        assert row["serverside.totConns"] == burst.counts[f"s{number}"]
    if workers == 2:
        created = [row["flows-created"] for row in weir.show("sys worker")]
        assert min(created) > 50, f"one worker did it all: {created}"


def test_http_by_ratio_with_polling_workers(topology, ip4):
    picture = topology()
    picture.start_nginx()
    picture.start_weir(web(picture, ip4), workers=1, idle="poll")
    burst = http_burst(picture.client, ip4.virtual, 100)
    assert not burst.errors
    check_shares(burst.order, RATIOS, "poll")
    assert sum(row["sleeps"] for row in picture.weir.show("sys worker")) == 0


@pytest.mark.parametrize("mode, ratios, expected", [
    ("round-robin", [4, 3, 2, 1], [1, 1, 1, 1]),
    ("ratio-member", [5, 1], [5, 1])])
def test_rotation_is_smooth(topology, workers, ip4, mode, ratios, expected):
    """No server gets its whole share in one go: with 5 to 1 the single one comes once in any six."""
    picture = topology(servers=len(ratios))
    picture.start_nginx()
    picture.start_weir(web(picture, ip4, mode, ratios), workers=workers)
    burst = http_burst(picture.client, ip4.virtual, 60)
    assert not burst.errors
    check_shares(burst.order, expected, mode)


def test_ratio_node_is_shared_by_pools(topology, ip4):
    picture = topology(servers=2)
    picture.start_nginx()
    nodes = "".join(wc.node(server_address(n), server_address(n), ratio=r) for n, r in ((1, 3), (2, 1)))
    pools = "".join(wc.pool(name, picture.members(80), "ratio-node")
                    + wc.virtual(name, ip4.virtual, port, name) for name, port in (("a", 81), ("b", 82)))
    picture.start_weir(nodes, pools)
    for port in (81, 82):
        burst = http_burst(picture.client, ip4.virtual, 40, port)
        assert not burst.errors
        check_shares(burst.order, [3, 1], f"port {port}")


def test_least_connections(topology, workers, ip4):
    """Whoever has fewest open connections gets the next one."""
    picture = topology(servers=3)
    picture.start_nginx()
    picture.start_weir(web(picture, ip4, "least-connections-member", None), workers=workers)
    held = [picture.client.connect((ip4.virtual, 80)) for _ in range(9)]
    rows = picture.weir.show("ltm pool members", owner="web")
    assert [row["serverside.curConns"] for row in rows] == [3, 3, 3]
    gone = picture.weir.connections()
    target = gone[0]["ss-server-addr"]
    ports = {row["cs-client-port"] for row in gone if row["ss-server-addr"] == target}
    for sock in held:
        if sock.getsockname()[1] in ports:
            sock.close()
    name = f"s{int(target.rsplit('.', 1)[1]) - 10}"
    held = [sock for sock in held if sock.fileno() >= 0]
    assert len(held) == 6
    wait_until(lambda: picture.weir.member("web", f"{target}:80", "serverside.curConns") == 0, "they ended")
    burst = http_burst(picture.client, ip4.virtual, 3)
    assert burst.order == [name] * 3
    for sock in held:
        sock.close()


def test_udp_by_ratio(topology, workers, ip):
    picture = topology()
    for number, ns in enumerate(picture.servers, 1):
        picture.topo.add(UdpEcho(ns, f"s{number}", [(ip.server(number), 53)]))
    picture.start_weir(wc.pool("dns", picture.members(53, ip.family, RATIOS), "ratio-member")
                       + wc.virtual("dns", ip.virtual, 53, "dns", proto="udp"), workers=workers)
    order = [udp_ask(picture.client, ip.virtual, 53)[0] for _ in range(100)]
    check_shares(order, RATIOS, "udp")


def test_udp_socket_stays_with_its_server(topology, ip4):
    picture = topology()
    for number, ns in enumerate(picture.servers, 1):
        picture.topo.add(UdpEcho(ns, f"s{number}", [(ip4.server(number), 53)]))
    picture.start_weir(wc.pool("dns", picture.members(53)) + wc.virtual("dns", ip4.virtual, 53, "dns", proto="udp"))
    names = {udp_ask(picture.client, ip4.virtual, 53, source=(ip4.client, 40000))[0] for _ in range(10)}
    assert len(names) == 1


def test_tagged_trunk(topology, workers, ip):
    """One port carries both VLANs with 802.1Q tags; the link takes them apart."""
    picture = topology(tagged=True)
    picture.start_nginx()
    picture.start_weir(web(picture, ip), workers=workers)
    burst = http_burst(picture.client, ip.virtual, 100)
    assert not burst.errors
    check_shares(burst.order, RATIOS, "trunk")
    joins = picture.links[0].report()["joins"]
    assert [join["tag"] for join in joins] == [10, 20]
    assert all(join["up"]["tagged"] > 100 and join["down"]["untagged"] > 100 for join in joins)
