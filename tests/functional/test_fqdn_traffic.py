# SPDX-License-Identifier: BSD-3-Clause
"""Servers that are known by name, under traffic: the name server is asked through a kernel tap.

    client --- 1.1 Weir 1.2 --- switch --- s1 (web, DNS) s2 s3 (web)
"""
import threading

from topo import http_burst, http_get, stays, wait_until
from topo import weirconf as wc
from topo.picture import server_address
from topo.servers_dns import Knot

A = [None] + [server_address(number) for number in (1, 2, 3)]


def name(number):
    return f"_auto_{A[number]}:80"


def start(topology, numbers=(1, 2), **options):
    picture = topology(servers=3)
    picture.start_nginx()
    dns = picture.topo.add(Knot(picture.servers[0], picture.topo.dir, (A[1], 53), {"web": (1, [A[n] for n in numbers])}))
    picture.start_weir(f"sys dns {{ name-servers {{ {A[1]} }} }}\n",
                       "ltm node web.test { fqdn { name web.test autopopulate enabled interval ttl down-interval 1 } }\n",
                       "ltm pool web { slow-ramp-time 0 members { web.test:80 { fqdn { autopopulate enabled } } } }\n",
                       wc.virtual("web", "10.0.1.100", 80, "web"), **options)
    weir = picture.weir
    until(weir, {name(n): "user-enabled" for n in numbers})
    return picture, weir, dns


def members(weir):
    return {row["name"].split("/")[-1]: row["session"] for row in weir.show("ltm pool members", owner="web") if row["ephemeral"] == "true"}


def until(weir, wanted, seconds=10):
    wait_until(lambda: members(weir) == wanted, f"members are {wanted}", seconds, 0.1)


def test_servers_come_and_go_with_the_name(topology):
    picture, weir, dns = start(topology)
    assert http_burst(picture.client, "10.0.1.100", 20).counts == {"s1": 10, "s2": 10}
    kept = picture.client.connect(("10.0.1.100", 80))
    try:
        kept.sendall(b"GET /id HTTP/1.1\r\nHost: x\r\n\r\n")
        first = kept.recv(4096)
        mine = 1 if b"s1" in first else 2
        other = 3 - mine
        # The address of the server that has a connection vanishes: it is held, the connection goes on.
        dns.set("web", [A[other], A[3]])
        until(weir, {name(mine): "user-disabled", name(other): "user-enabled", name(3): "user-enabled"})
        assert set(http_burst(picture.client, "10.0.1.100", 20).counts) == {f"s{other}", "s3"}
        stays(lambda: members(weir).get(name(mine)) == "user-disabled", "as long as it has a connection", 3.2)
        kept.sendall(b"GET /id HTTP/1.1\r\nHost: x\r\n\r\n")
        assert f"s{mine}".encode() in kept.recv(4096)
        # It comes back before it is gone: the same member, in use again.
        before = {row["name"]: row["id"] for row in weir.show("ltm pool members", owner="web")}
        dns.set("web", [A[1], A[2], A[3]])
        until(weir, {name(n): "user-enabled" for n in (1, 2, 3)})
        assert {row["name"]: row["id"] for row in weir.show("ltm pool members", owner="web")} == before
    finally:
        kept.close()
    dns.set("web", [A[3]])
    until(weir, {name(3): "user-enabled"})
    assert [row["name"] for row in weir.show("ltm node") if row["ephemeral"] == "true"] == [f"/Common/_auto_{A[3]}"]
    assert http_burst(picture.client, "10.0.1.100", 9).counts == {"s3": 9}


def test_no_request_fails_while_the_name_changes(topology):
    picture, weir, dns = start(topology, (1, 2, 3))
    failed, done, seen = [], threading.Event(), set()

    def ask():
        while not done.is_set():
            try:
                seen.add(http_get(picture.client, "10.0.1.100").server)
            except (OSError, ValueError) as error:
                failed.append(repr(error))

    client = threading.Thread(target=ask)
    client.start()
    try:
        for numbers in ((1, 2), (2, 3), (3,), (1, 2, 3), ()):
            dns.set("web", [A[n] for n in numbers])
            if numbers:
                wait_until(lambda: {n for n, session in members(weir).items() if session == "user-enabled"} == {name(n) for n in numbers},
                           "the name's servers are in use", 8)
        wait_until(lambda: weir.show("ltm node", name="web.test")[0]["monitorStatus"] == "fqdn-down", "the name is gone", 8)
        dns.kill()
        weir.kill_cp()
        weir.start_cp()
        reason = lambda: weir.show("ltm node", name="web.test")[0]["status.statusReason"]
        wait_until(lambda: "the 3 addresses from before the start stay in use" in reason(), "the start without DNS is over", 12)
        assert set(members(weir).values()) == {"user-enabled"} and len(members(weir)) == 3
    finally:
        done.set()
        client.join(10)
    assert not failed, failed
    assert seen == {"s1", "s2", "s3"}


def test_monitor_of_the_template_checks_each_server(topology):
    picture, weir, dns = start(topology, (1, 2), monitor=True)
    weir.edit("create", 'ltm monitor http quick defaults-from http interval 1 timeout 3 send "GET /health HTTP/1.0\\r\\n\\r\\n" recv "\\nok"')
    weir.edit("modify", "ltm pool web members modify { web.test:80 { monitor quick } }")
    up = lambda number: weir.member("web", name(number), "monitorStatus") == "up"
    wait_until(lambda: up(1) and up(2), "both are checked", 8)
    # A new address takes no connections until it is known to be up.
    picture.nginx[2].sick()
    dns.set("web", [A[1], A[2], A[3]])
    wait_until(lambda: name(3) in members(weir), "the third is there", 8)
    assert set(http_burst(picture.client, "10.0.1.100", 10).counts) == {"s1", "s2"}
    picture.nginx[2].sick(False)
    wait_until(lambda: up(3), "the third is up", 8)
    assert http_burst(picture.client, "10.0.1.100", 9).counts == {"s1": 3, "s2": 3, "s3": 3}
