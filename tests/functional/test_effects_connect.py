# SPDX-License-Identifier: BSD-3-Clause
"""Connections that a server does not take: tried elsewhere, told, counted by passive monitors.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3 s4
"""
import collections
import concurrent.futures
import time

import pytest

from topo import http_get, wait_until
from topo import weirconf as wc
from topo.clients import wrk_end, wrk_start

# How a server's kernel meets a new connection; those that it has go on.
NEW = "tcp flags & (fin | syn | rst | ack) == syn"
REFUSALS = {"refused": f"{NEW} tcp dport 80 reject with tcp reset", "silent": f"{NEW} tcp dport 80 drop",
            "unreachable": f"{NEW} tcp dport 80 reject"}


def name(ip, number, port=80):
    return wc.join(ip.server(number), port)


def start(topology, ip, servers=4, **pool):
    picture = topology(servers=servers)
    picture.start_nginx()
    weir = picture.start_weir(
        wc.monitor("inband", "passive", failures=3, failure_interval=30, response_time=2, retry_time=2),
        wc.pool("web", picture.members(80, ip.family), **pool), wc.virtual("web", ip.virtual, 80, "web"),
        monitor=True, workers=2)
    return picture, weir


def refuse(server, how):
    """how: a key of REFUSALS, "gone", or None: as usual again."""
    server.run(["nft", "delete table inet refuse"], check=False)
    server.sysctl("net.ipv4.icmp_ratelimit", 0)
    if how == "gone":
        server.ip("link", "set", "dev", "eth0", "down")  # as a machine that is switched off
    elif how:
        server.run(["nft", "add table inet refuse; add chain inet refuse in { type filter hook input priority 0; }; "
                           f"add rule inet refuse in {REFUSALS[how]}"])


def status(weir, ip, number):
    return weir.member("web", name(ip, number), "monitorStatus")


def attempt(picture, ip, count, parallel=1):
    """So many connections at once; names of the servers that answered, None for those that failed in 3 s."""
    def one(_):
        try:
            return http_get(picture.client, ip.virtual, path="/name", timeout=3.5).server
        except (OSError, ValueError):
            return None
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        return collections.Counter(pool.map(one, range(count)))


def test_no_request_fails_with_reselect_tries(topology, ip4):
    """One after another of four servers takes no connection any more while wrk asks; no monitor watches."""
    picture, weir = start(topology, ip4, reselect_tries=3)
    load = wrk_start(picture.client, ip4.virtual, seconds=8, connections=8, close=True)
    for number, how in enumerate(REFUSALS, 1):
        def count():
            return weir.member("web", name(ip4, number), "serverside.totConns")
        wait_until(lambda: count() > 20, "it has its share", 5)
        refuse(picture.servers[number - 1], how)
        before = count()
        wait_until(lambda: count() > before + 5, "it was tried in vain", 5)
        if how != "silent":
            refuse(picture.servers[number - 1], None)
    result = wrk_end(load)
    assert result.errors == "" and result.requests > 60
    assert status(weir, ip4, 1) == "unchecked"
    assert all(f"connections failed: {word}" in weir.cp.text() for word in ("refused", "unreachable", "no answer"))


@pytest.mark.parametrize("how", ["refused", "silent"])
def test_passive_monitor_takes_it_out(topology, ip4, how):
    """failures within failure-interval: down; tried again after retry-time. Without reselect-tries exactly so many
    connections fail."""
    picture, weir = start(topology, ip4, servers=2, monitor="passive")
    refuse(picture.servers[0], how)
    assert attempt(picture, ip4, 6, 6) == {"s2": 3, None: 3}
    wait_until(lambda: status(weir, ip4, 1) == "down", "three failures make it down", 5)
    assert attempt(picture, ip4, 10) == {"s2": 10}
    refuse(picture.servers[0], None)
    wait_until(lambda: status(weir, ip4, 1) == "up", "it is tried again", 8)
    assert attempt(picture, ip4, 6) == {"s1": 3, "s2": 3}


@pytest.mark.parametrize("how", ["refused", "unreachable", "gone"])
def test_each_failure_counts_once(topology, ip4, how):
    """As many as failures says, neither one more nor one less; connections that were tried elsewhere count."""
    count = 2 if how == "gone" else 100
    picture, weir = start(topology, ip4, servers=2, reselect_tries=1, monitor="passive")
    weir.edit("modify", f"ltm monitor inband passive failures {count}")
    refuse(picture.servers[0], how)
    for number in range(count):
        assert status(weir, ip4, 1) != "down", f"{number} failures"
        assert attempt(picture, ip4, 1) == {"s2": 1}
    assert weir.member("web", name(ip4, 1), "serverside.totConns") == count
    wait_until(lambda: status(weir, ip4, 1) == "down", f"{count} failures make it down", 5)


def test_killed_server_under_load(topology, ip4):
    """kill -9 of one of four: only what it had in hand fails; with a passive monitor it is out within a second."""
    picture, weir = start(topology, ip4, reselect_tries=3, monitor="passive")
    load = wrk_start(picture.client, ip4.virtual, seconds=3, connections=8, close=True)
    wait_until(lambda: weir.member("web", name(ip4, 1), "serverside.totConns") > 20, "it has its share", 5)
    started = time.monotonic()
    picture.nginx[0].kill()
    wait_until(lambda: status(weir, ip4, 1) == "down", "it is out", 3)
    took = time.monotonic() - started
    failed = sum(int(word.rstrip(",")) for word in wrk_end(load).errors.split() if word.rstrip(",").isdigit())
    assert took < 1.5 and failed <= 8, (took, failed)
