# SPDX-License-Identifier: BSD-3-Clause
"""The appliance's own traffic through the kernel taps, beside automap on the same self IP.

    client 10.0.1.10 --- 10.0.1.1 Weir (taps: kernel of lb) 10.0.2.1 --- switch --- s1
"""
import concurrent.futures
import socket

import pytest

from topo import http_burst, http_get, ping
from topo import weirconf as wc


def start(topology, ip, **options):
    picture = topology(servers=1)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family))
                       + wc.virtual("web", ip.virtual, 80, "web", snat="automap"), **options)
    return picture


def test_probes_and_automap_share_a_self_ip(topology, workers, driver, ip):
    """Each connection gets its own answers; the port tells whose it is (architecture, section 5)."""
    picture = start(topology, ip, workers=workers, driver=driver)

    def probe(_):
        return http_get(picture.lb, ip.server(1), path="/echo")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        traffic = pool.submit(http_burst, picture.client, ip.virtual, 300, 80, 8, "/echo")
        probes = list(pool.map(probe, range(100)))
        burst = traffic.result()
    assert not burst.errors and len(burst.order) == 300
    for answer in probes:
        assert answer.echo["client"] == ip.self_in
        assert int(answer.echo["port"]) >= 49152
    row = picture.weir.show("ltm pool members", owner="web")[0]
    assert row["serverside.totConns"] == 300, "the appliance's own connections are no member's traffic"


def test_kernel_pings_out_and_udp_works(topology, ip):
    picture = start(topology, ip)
    assert ping(picture.lb, ip.server(1)) == 3
    assert ping(picture.lb, ip.client) == 3


@pytest.mark.parametrize("allow, open_ports", [(("none",), ()), (("tcp:22",), (22,)), (("all",), (22, 23))])
def test_allow_service(topology, ip, allow, open_ports):
    """Inbound to a self IP is refused unless it is listed."""
    picture = topology(servers=1)
    network = picture.network().replace("allow-service none", "allow-service " + (
        allow[0] if allow[0] in ("none", "all") else "{ " + " ".join(allow) + " }"))
    picture.start_weir(network=network)
    for port in (22, 23):
        listener = picture.lb.socket(socket.AF_INET6 if ip.family == 6 else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ip.self_out, port))
        listener.listen()
        if port in open_ports:
            picture.client.connect((ip.self_out, port), timeout=2).close()
        else:
            with pytest.raises(OSError):
                picture.client.connect((ip.self_out, port), timeout=1)
            assert picture.weir.drops().get("self-ip-service-not-allowed", 0) >= 1
        listener.close()


def test_no_forwarding_between_networks(topology, ip4):
    """Weir is no router: nobody reaches a server but through a virtual server."""
    picture = start(topology, ip4)
    with pytest.raises(OSError):
        picture.client.connect((ip4.server(1), 80), timeout=1)


def test_forwarding_virtual(topology, ip4):
    picture = start(topology, ip4)
    picture.weir.weirsh("create ltm virtual forward destination 10.0.2.0:any mask 255.255.255.0 ip-forward "
                        "profiles add { fastL4 { } } ip-protocol any")
    answer = http_get(picture.client, ip4.server(1), path="/echo")
    assert answer.echo["client"] == ip4.client
