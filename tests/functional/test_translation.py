# SPDX-License-Identifier: BSD-3-Clause
"""What servers and clients see of each other's addresses and ports.

    client 10.0.1.10 --- 10.0.1.1 Weir 10.0.2.1 --- switch --- s1 10.0.2.11, s2 10.0.2.12
"""
import pytest

from topo import UdpEcho, http_get, udp_ask
from topo import weirconf as wc

POOL = {4: ["10.0.2.201", "10.0.2.202"], 6: ["fd00:2::201", "fd00:2::202"]}


def seen(answer):
    """Address and port of the client as the server saw them."""
    return answer.echo["client"], int(answer.echo["port"])


def test_no_snat_shows_the_client(topology, workers, ip):
    picture = topology(servers=2)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family))
                       + wc.virtual("web", ip.virtual, 80, "web", snat="none"), workers=workers)
    for number in range(20):
        source = (ip.client, 30000 + number)
        assert seen(http_get(picture.client, ip.virtual, path="/echo", source=source)) == source


def test_automap_shows_a_self_ip_of_the_servers_vlan(topology, workers, ip):
    picture = topology(servers=2)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family))
                       + wc.virtual("web", ip.virtual, 80, "web", snat="automap"), workers=workers)
    for _ in range(20):
        address, port = seen(http_get(picture.client, ip.virtual, path="/echo"))
        assert address == ip.self_in
        assert 1024 <= port <= 49151, "the rest are the kernel's own (architecture, port partition)"


def test_snat_pool_uses_all_its_addresses(topology, workers, ip):
    picture = topology(servers=2)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family)) + wc.snatpool("out", POOL[ip.family])
                       + wc.virtual("web", ip.virtual, 80, "web", snat="out"), workers=workers)
    addresses = {seen(http_get(picture.client, ip.virtual, path="/echo"))[0] for _ in range(20)}
    assert addresses == set(POOL[ip.family])


def test_udp_snat(topology, ip):
    picture = topology(servers=1)
    picture.topo.add(UdpEcho(picture.servers[0], "s1", [(ip.server(1), 53)]))
    picture.start_weir(wc.pool("dns", picture.members(53, ip.family))
                       + wc.virtual("dns", ip.virtual, 53, "dns", proto="udp", snat="automap")
                       + wc.virtual("raw", ip.virtual, 54, "dns", proto="udp", snat="none"))
    name, (address, port), data = udp_ask(picture.client, ip.virtual, 53, b"x" * 1000)
    assert (name, address, data) == ("s1", ip.self_in, b"x" * 1000)
    assert 1024 <= port <= 49151
    assert udp_ask(picture.client, ip.virtual, 54, source=(ip.client, 40001))[1] == (ip.client, 40001)


def test_pool_that_forbids_snat(topology, ip4):
    picture = topology(servers=1)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80), allow_snat="no")
                       + wc.virtual("web", ip4.virtual, 80, "web", snat="automap"))
    assert seen(http_get(picture.client, ip4.virtual, path="/echo"))[0] == ip4.client


def test_port_translation(topology, ip):
    picture = topology(servers=1)
    picture.start_nginx(8080)
    picture.start_weir(wc.pool("web", picture.members(8080, ip.family))
                       + wc.virtual("on", ip.virtual, 80, "web")
                       + wc.virtual("off", ip.virtual, 8080, "web", translate_port="disabled"))
    for port in (80, 8080):
        answer = http_get(picture.client, ip.virtual, port, "/echo")
        assert answer.echo["local"] == f"{ip.server(1)} 8080"


def test_port_translation_off_keeps_the_clients_port(topology, ip4):
    """A member on port 80, asked for on 8080: without port translation it is asked on 8080."""
    picture = topology(servers=1)
    picture.start_nginx(8080)
    picture.start_weir(wc.pool("web", picture.members(80))
                       + wc.virtual("web", ip4.virtual, 8080, "web", translate_port="disabled"))
    assert http_get(picture.client, ip4.virtual, 8080, "/echo").echo["local"].endswith(" 8080")


def test_address_translation_off(topology, ip):
    """The servers own the virtual address themselves, unannounced."""
    picture = topology(servers=2)
    for server in picture.servers:
        server.address("lo", f"{ip.virtual}/{ip.host}")
    picture.start_nginx(8080)
    for nginx in picture.nginx:
        nginx.stop()
        host = f"[{ip.virtual}]" if ip.family == 6 else ip.virtual
        conf = nginx.dir / "nginx.conf"
        conf.write_text(conf.read_text().replace("listen", f"listen {host}:80; listen", 1))
        nginx.start()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family))
                       + wc.virtual("web", ip.virtual, 80, "web", snat="none", translate_address="disabled"))
    names = set()
    for _ in range(4):
        answer = http_get(picture.client, ip.virtual, path="/echo")
        assert answer.echo["local"] == f"{ip.virtual} 80" and answer.echo["client"] == ip.client
        names.add(answer.server)
    assert names == {"s1", "s2"}


@pytest.mark.parametrize("mode", ["preserve", "change"])
def test_source_port(topology, ip4, mode):
    """Preserve keeps the client's port where this worker may use it; change does not depend on it."""
    picture = topology(servers=1)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80))
                       + wc.virtual("web", ip4.virtual, 80, "web", snat="out", source_port=mode)
                       + wc.snatpool("out", ["10.0.2.201"]))
    kept = sum(seen(http_get(picture.client, ip4.virtual, path="/echo",
                             source=(ip4.client, 20000 + n)))[1] == 20000 + n for n in range(20))
    assert kept == 20 if mode == "preserve" else kept < 20


def test_virtual_for_some_clients_wins_by_longer_source(topology, ip4):
    picture = topology(servers=2)
    picture.start_nginx()
    picture.client.address("eth0", "10.0.1.11/24")
    one = [wc.pool(f"p{n}", [(ip4.server(n), 80)]) for n in (1, 2)]
    picture.start_weir(*one, wc.virtual("others", ip4.virtual, 80, "p1"),
                       wc.virtual("some", ip4.virtual, 80, "p2", source="10.0.1.11/32"))
    assert http_get(picture.client, ip4.virtual).server == "s1"
    assert http_get(picture.client, ip4.virtual, source=("10.0.1.11", 0)).server == "s2"
