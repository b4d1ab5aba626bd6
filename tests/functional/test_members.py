# SPDX-License-Identifier: BSD-3-Clause
"""Members enabled, disabled, forced offline, at their limit; ratio changes (reference/ltm.md, section 5).

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import threading
import time

import pytest

from topo import TcpServer, http_burst, http_get, wait_until
from topo import weirconf as wc


def name(ip, number, port=80):
    return wc.join(ip.server(number), port)


def start(topology, ip, servers=2, mode="round-robin", virtual=None, ratios=None, **options):
    picture = topology(servers=servers)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family, ratios), mode)
                       + wc.virtual("web", ip.virtual, 80, "web", **(virtual or {})), **options)
    return picture, picture.weir


HOLDS = {"disabled": "session user-disabled", "offline": "session user-disabled state user-down"}
CLEAR = "session user-enabled state user-up"


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("where", ["member", "node"])
def test_held_server_gets_nothing_new_and_keeps_its_own(topology, workers, ip4, hold, where):
    """acassen/keepalived#1228: existing connections go on, no new one comes."""
    picture, weir = start(topology, ip4, workers=workers)
    socks = [picture.client.connect((ip4.virtual, 80)) for _ in range(4)]
    target = (f"ltm pool web members modify {{ {name(ip4, 1)} {{ %s }} }}" if where == "member"
              else f"ltm node {ip4.server(1)} %s")
    weir.weirsh("modify " + target % HOLDS[hold])
    burst = http_burst(picture.client, ip4.virtual, 20)
    assert not burst.errors and set(burst.order) == {"s2"}
    answers = []
    for sock in socks:
        sock.sendall(b"GET /name HTTP/1.1\r\nHost: x\r\n\r\n")
        answers.append(sock.recv(2000).rsplit(b"\r\n\r\n", 1)[1])
        sock.close()
    assert sorted(answers) == [b"s1\n", b"s1\n", b"s2\n", b"s2\n"]
    wait_until(lambda: weir.member("web", name(ip4, 1), "serverside.curConns") == 0, "it drains to 0")
    weir.weirsh("modify " + target % CLEAR)
    burst = http_burst(picture.client, ip4.virtual, 20)
    assert not burst.errors and burst.counts == {"s1": 10, "s2": 10}


def test_no_member_left_resets(topology, ip):
    picture, weir = start(topology, ip, servers=1)
    weir.weirsh(f"modify ltm pool web members modify {{ {name(ip, 1)} {{ {HOLDS['disabled']} }} }}")
    with pytest.raises(ConnectionRefusedError):
        picture.client.connect((ip.virtual, 80), timeout=2)
    assert weir.drops()["no-member-available"] >= 1


def test_disabled_virtual_takes_no_new_connections(topology, ip4):
    picture, weir = start(topology, ip4)
    sock = picture.client.connect((ip4.virtual, 80))
    weir.weirsh("modify ltm virtual web disabled")
    with pytest.raises(OSError):
        picture.client.connect((ip4.virtual, 80), timeout=1)
    sock.sendall(b"GET /name HTTP/1.0\r\n\r\n")
    assert b"200 OK" in sock.recv(2000)
    assert weir.drops()["virtual-disabled"] >= 1
    weir.weirsh("modify ltm virtual web enabled")
    assert http_get(picture.client, ip4.virtual).status == 200


@pytest.mark.parametrize("where", ["member", "node", "virtual"])
def test_connection_limit(topology, workers, ip4, where):
    """Over all workers, exactly, and given back at a connection's end."""
    picture, weir = start(topology, ip4, workers=workers)
    command = {"member": f"ltm pool web members modify {{ {name(ip4, 1)} {{ connection-limit 3 }} }}",
               "node": f"ltm node {ip4.server(1)} connection-limit 3",
               "virtual": "ltm virtual web connection-limit 5"}[where]
    weir.weirsh("modify " + command)
    socks = []
    for _ in range(12):
        try:
            socks.append(picture.client.connect((ip4.virtual, 80), timeout=1))
        except OSError:
            pass
    if where == "virtual":
        assert len(socks) == 5
    else:
        assert len(socks) == 12
        assert weir.member("web", name(ip4, 1), "serverside.curConns") == 3
        assert weir.member("web", name(ip4, 2), "serverside.curConns") == 9
    for sock in socks:
        sock.close()
    wait_until(lambda: sum(row["serverside.curConns"] for row in weir.show("ltm pool members", owner="web")) == 0,
               "given back")
    assert not http_burst(picture.client, ip4.virtual, 4).errors


def test_ratio_change_moves_no_flow_and_counts_at_once(topology, workers, ip4):
    """facebookincubator/katran#80: shares move, connections do not; effective within 10 ms."""
    picture, weir = start(topology, ip4, mode="ratio-member", ratios=[1, 1], workers=workers)
    socks = [picture.client.connect((ip4.virtual, 80)) for _ in range(8)]
    before = {(row["cs-client-port"], row["ss-server-addr"], row["ss-client-port"]) for row in weir.connections()}
    started = time.monotonic()
    weir.edit("modify", f"ltm pool web members modify {{ {name(ip4, 1)} {{ ratio 9 }} }}")
    took = time.monotonic() - started
    burst = http_burst(picture.client, ip4.virtual, 100)
    assert not burst.errors and abs(burst.counts["s1"] - 90) <= 1 and abs(burst.counts["s2"] - 10) <= 1
    assert took < 0.5, "the answer of a live change"
    after = {(row["cs-client-port"], row["ss-server-addr"], row["ss-client-port"]) for row in weir.connections()}
    assert before <= after
    for sock in socks:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert b"200 OK" in sock.recv(2000)
        sock.close()


def test_flapping_member_disrupts_nobody(topology, workers, ip4):
    """Readiness that comes and goes changes new selections alone: cilium/cilium#20407, #42170."""
    picture, weir = start(topology, ip4, workers=workers)
    held = [picture.client.connect((ip4.virtual, 80)) for _ in range(8)]
    bursts = []
    traffic = threading.Thread(target=lambda: bursts.append(http_burst(picture.client, ip4.virtual, 400, parallel=4)))
    traffic.start()
    for number in range(100):
        session = "user-disabled" if number % 2 == 0 else "user-enabled"
        weir.edit("modify", f"ltm pool web members modify {{ {name(ip4, 1)} {{ session {session} }} }}")
    traffic.join()
    assert not bursts[0].errors and len(bursts[0].order) == 400
    for sock in held:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert b"200 OK" in sock.recv(2000)
        sock.close()


def test_adding_and_removing_members_moves_no_flow(topology, ip4):
    """cilium/cilium#14844: what is removed gets nothing new, and its connections are not reset."""
    picture, weir = start(topology, ip4, servers=3)
    weir.weirsh(f"modify ltm pool web members delete {{ {name(ip4, 3)} }}")
    socks = [picture.client.connect((ip4.virtual, 80)) for _ in range(6)]
    weir.weirsh(f"modify ltm pool web members add {{ {name(ip4, 3)} {{ }} }}")
    burst = http_burst(picture.client, ip4.virtual, 9)
    assert not burst.errors and burst.counts == {"s1": 3, "s2": 3, "s3": 3}
    weir.weirsh(f"modify ltm pool web members delete {{ {name(ip4, 1)} }}")
    assert set(http_burst(picture.client, ip4.virtual, 4).order) == {"s2", "s3"}
    for sock in socks:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert b"200 OK" in sock.recv(2000), "service-down-action none: connections continue"
        sock.close()


def test_same_address_on_two_ports_are_two_members(topology, ip4):
    """Identity is address and port: F5Networks/f5-ansible#1668; a node goes only by itself: #2082."""
    picture = topology(servers=1)
    server = picture.servers[0]
    for port in (81, 82):
        picture.topo.add(TcpServer(server, f"p{port}", [(ip4.server(1), port)]))
    weir = picture.start_weir(wc.pool("web", [(ip4.server(1), 81), (ip4.server(1), 82)])
                              + wc.virtual("web", ip4.virtual, 80, "web"))

    def greeting():
        with picture.client.connect((ip4.virtual, 80)) as sock:
            return sock.recv(100).split()[0]

    assert {greeting() for _ in range(4)} == {b"p81", b"p82"}
    weir.weirsh(f"modify ltm pool web members delete {{ {name(ip4, 1, 81)} }}")
    assert {greeting() for _ in range(4)} == {b"p82"}
    assert ip4.server(1) in weir.weirsh("list ltm node")
