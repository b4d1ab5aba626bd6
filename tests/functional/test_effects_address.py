# SPDX-License-Identifier: BSD-3-Clause
"""A virtual address answers ARP, NDP and echo by the state of its virtual servers.

    client and a raw host on its cable --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
from topo import http_get, wait_until
from topo import weirconf as wc
from topo.rawhost import RawHost

NEIGHBOUR = {4: "10.0.1.77", 6: "fd00:1::77"}
HOLD = {False: "session user-disabled state user-down", True: "session user-enabled state user-up"}


def start(topology, ip, address, *parts, pool=None, monitor=False):
    """Two virtual servers on one address: pools web (s1) and other (s2)."""
    picture = topology(servers=2)
    picture.start_nginx()
    weir = picture.start_weir(
        *parts, wc.virtual_address(ip.virtual, **address),
        wc.pool("web", [(ip.server(1), 80)], **(pool or {})), wc.pool("other", [(ip.server(2), 80)], **(pool or {})),
        wc.virtual("web", ip.virtual, 80, "web"), wc.virtual("other", ip.virtual, 81, "other"), monitor=monitor)
    host = picture.topo.add(RawHost(picture.client, addresses=[NEIGHBOUR[ip.family]]))
    return picture, weir, host


def answers(host, address):
    try:
        return bool(host.resolve(address, 0.3))
    except AssertionError:
        return False


def usable(weir, ip, number, yes):
    pool = {1: "web", 2: "other"}[number]
    weir.edit("modify", f"ltm pool {pool} members modify {{ {wc.join(ip.server(number), 80)} {{ {HOLD[yes]} }} }}")


def shown(weir):
    return weir.show("ltm virtual-address")[0]["status.availabilityState"]


# Which of the two virtual servers are available -> is the address, by its server-scope?
SCOPES = {"any": {(True, True): True, (False, True): True, (False, False): False, (True, False): True},
          "all": {(True, True): True, (False, True): False, (False, False): False, (True, False): False},
          "none": {(True, True): True, (False, True): True, (False, False): True, (True, False): True}}


def test_selective_address_follows_its_virtual_servers(topology, ip):
    """By server-scope; what answers and what is shown are the same."""
    picture, weir, host = start(topology, ip, {"arp": "selective", "icmp_echo": "selective"})
    for scope, table in SCOPES.items():
        weir.edit("modify", f"ltm virtual-address {ip.virtual} server-scope {scope}")
        for (first, second), available in table.items():
            usable(weir, ip, 1, first)
            usable(weir, ip, 2, second)
            state = f"{scope}: {first}, {second}"
            assert answers(host, ip.virtual) is available, state
            assert (shown(weir) != "offline") is available, state
    weir.edit("modify", f"ltm virtual-address {ip.virtual} server-scope any")
    usable(weir, ip, 1, False)
    weir.edit("modify", "ltm virtual other disabled")
    assert not answers(host, ip.virtual) and shown(weir) == "offline"
    weir.edit("modify", "ltm virtual other enabled")
    usable(weir, ip, 2, True)
    assert answers(host, ip.virtual) and shown(weir) != "offline"


def test_arp_and_echo_are_told_apart(topology, ip4):
    picture, weir, host = start(topology, ip4, {})
    picture.client.run(["ip", "neigh", "replace", ip4.virtual, "lladdr", host.resolve(ip4.self_out), "dev", "eth0"])
    for arp, echo in (("enabled", "enabled"), ("enabled", "selective"), ("disabled", "enabled"),
                      ("selective", "disabled"), ("selective", "enabled")):
        weir.edit("modify", f"ltm virtual-address {ip4.virtual} arp {arp} icmp-echo {echo}")
        for available in (True, False):
            wanted = {"enabled": True, "disabled": False, "selective": available}
            for number in (1, 2):
                usable(weir, ip4, number, available)
            assert answers(host, ip4.virtual) is wanted[arp], (arp, available)
            assert pings(picture.client, ip4.virtual) is wanted[echo], (echo, available)


def pings(client, address):
    return "1 received" in client.run(["ping", "-n", "-c", "1", "-W", "0.3", address], check=False).stdout


def test_monitors_decide_and_the_return_is_announced(topology, ip):
    """The switch and the neighbours learn at once where the address is again: acassen/keepalived#166."""
    picture, weir, host = start(
        topology, ip, {"arp": "selective"}, wc.monitor("http", "quick", interval=1, timeout=2,
                                                       send='"GET /health HTTP/1.0\\r\\n\\r\\n"', recv="ok"),
        pool={"monitor": "quick"}, monitor=True)
    heard = host._macs  # what it has heard of neighbours, also unasked
    wait_until(lambda: answers(host, ip.virtual), "it is available when the first check is good", 10)
    for nginx in picture.nginx:
        nginx.sick()
    wait_until(lambda: not answers(host, ip.virtual), "it goes with its last virtual server", 10)
    assert shown(weir) == "offline"
    heard.pop(ip.virtual, None)
    picture.nginx[1].sick(False)
    wait_until(lambda: heard.get(ip.virtual), "it is announced", 10)
    assert answers(host, ip.virtual) and shown(weir) == "available"
    assert http_get(picture.client, ip.virtual, 81).status == 200


def test_thousands_of_virtual_servers_cost_a_verdict_little(topology, ip4):
    """A member of a pool that 2,000 virtual servers of one address use: found by index, worked out once."""
    count = 2000
    picture = topology(servers=1)
    picture.start_nginx()
    weir = picture.start_weir(
        wc.virtual_address(ip4.virtual, arp="selective"), wc.pool("web", [(ip4.server(1), 80)]),
        *(wc.virtual(f"v{number}", ip4.virtual, 1000 + number, "web") for number in range(count)))
    host = picture.topo.add(RawHost(picture.client, addresses=[NEIGHBOUR[4]]))
    member = f"ltm pool web members modify {{ {wc.join(ip4.server(1), 80)} {{ %s }} }}"
    before = cpu_ms(weir.cp.pid)
    for number in range(50):
        weir.edit("modify", member % HOLD[bool(number % 2)])
    assert (cpu_ms(weir.cp.pid) - before) / 50 < 20, "ms of weir-cp for a change"
    assert answers(host, ip4.virtual)
    weir.edit("modify", member % HOLD[False])
    assert not answers(host, ip4.virtual)


def cpu_ms(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 10
