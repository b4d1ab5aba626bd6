# SPDX-License-Identifier: BSD-3-Clause
"""The restart table (docs/architecture.md, section 2) under traffic.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import time

import pytest

from topo import http_burst, http_get, wait_until, wrk_end, wrk_start
from topo import weirconf as wc


def start(topology, ip, **options):
    picture = topology(servers=2)
    picture.start_nginx()
    weir = picture.start_weir(wc.pool("web", picture.members(80, ip.family), "ratio-member")
                              + wc.virtual("web", ip.virtual, 80, "web"), **options)
    return picture, weir


def member(ip, number):
    return wc.join(ip.server(number), 80)


@pytest.mark.parametrize("save_delay", [0, 0.2], ids=["at-once", "later"])
def test_commit_survives_kill_of_cp(topology, workers, ip4, save_delay):
    """kill -9 right after a commit that nobody saved: it is still there, and no request fails."""
    picture, weir = start(topology, ip4, workers=workers)
    startup = weir.conf_path.read_text()
    held = picture.client.connect((ip4.virtual, 80))
    load = wrk_start(picture.client, ip4.virtual, seconds=6)
    wait_until(lambda: len(weir.connections()) >= 9, "wrk has its connections; it opens no more")
    weir.edit("modify", f"ltm pool web members modify {{ {member(ip4, 1)} {{ ratio 4 }} }}")
    weir.edit("modify", f"ltm node {ip4.server(2)} ratio 7")
    weir.edit("create", "ltm pool extra members add { 10.0.2.77:80 { } }")
    time.sleep(save_delay)
    weir.kill_cp()
    generation = None
    burst = http_burst(picture.client, ip4.virtual, 50)
    assert not burst.errors and burst.counts == {"s1": 40, "s2": 10}, "the last ratio is in force meanwhile"
    weir.start_cp()
    status = weir.status()
    generation = status["generation"]
    assert status["unsaved"] >= 3 and status["dataplane"]["generation"] == generation
    assert weir.conf_path.read_text() == startup
    text = weir.weirsh("list ltm pool")
    assert "extra" in text and "ratio 4" in text
    assert "ratio 7" in weir.weirsh("list ltm node")
    burst = http_burst(picture.client, ip4.virtual, 50)
    assert not burst.errors and burst.counts == {"s1": 40, "s2": 10}
    result = wrk_end(load)
    assert not result.errors and result.requests > 100
    held.sendall(b"GET / HTTP/1.0\r\n\r\n")
    assert b"200 OK" in held.recv(2000), "no flow moved"
    held.close()


def test_cp_pushes_only_what_differs(topology, ip4):
    """Same generation on both sides: the dataplane gets no new snapshot."""
    picture, weir = start(topology, ip4)
    before = weir.status()["dataplane"]
    weir.kill_cp()
    weir.start_cp()
    after = weir.status()["dataplane"]
    assert after["instance"] == before["instance"] and after["generation"] == before["generation"]
    assert "snapshot" not in weir.dp.text().rsplit("connected", 1)[-1].lower()
    assert http_get(picture.client, ip4.virtual).status == 200


def test_kill_of_dp(topology, workers, driver, ip4):
    """It restarts empty, has snapshot and states within 2 s, and resets what it no longer knows."""
    picture, weir = start(topology, ip4, workers=workers, driver=driver)
    weir.edit("modify", f"ltm pool web members modify {{ {member(ip4, 1)} {{ session user-disabled }} }}")
    weir.edit("modify", f"ltm pool web members modify {{ {member(ip4, 2)} {{ ratio 5 }} }}")
    held = picture.client.connect((ip4.virtual, 80))
    weir.kill_dp()
    wait_until(lambda: not weir.status()["dataplane"]["connected"], "weir-cp sees it")
    with pytest.raises(OSError):
        picture.client.connect((ip4.virtual, 80), timeout=0.5)
    started = time.monotonic()
    weir.start_dp()
    wait_until(lambda: http_get(picture.client, ip4.virtual, timeout=1).status == 200, "traffic flows again")
    assert time.monotonic() - started < (2 if "sanitize" not in str(weir.dp.process.args) else 10)
    burst = http_burst(picture.client, ip4.virtual, 10)
    assert not burst.errors and set(burst.order) == {"s2"}, "the hold outlived the dataplane"
    with pytest.raises(ConnectionResetError):
        held.sendall(b"GET / HTTP/1.0\r\n\r\n")
        held.recv(100)
    assert weir.member("web", member(ip4, 2), "ratio") == 5


def test_kill_of_dp_keeps_the_kernels_addresses(topology, ip4):
    """The taps are persistent: the appliance's own sockets survive."""
    picture, weir = start(topology, ip4)
    sock = picture.lb.connect((ip4.server(1), 80))
    weir.kill_dp()
    weir.start_dp()
    sock.settimeout(10)
    sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
    assert b"200 OK" in sock.recv(2000)
    sock.close()


def test_kill_of_both(topology, ip4):
    picture, weir = start(topology, ip4)
    weir.edit("modify", f"ltm pool web members modify {{ {member(ip4, 1)} {{ ratio 3 }} }}")
    weir.kill_cp()
    weir.kill_dp()
    weir.start()
    burst = http_burst(picture.client, ip4.virtual, 40)
    assert not burst.errors and burst.counts == {"s1": 30, "s2": 10}


def test_traffic_goes_on_while_cp_is_away(topology, ip4):
    picture, weir = start(topology, ip4)
    weir.kill_cp()
    assert not http_burst(picture.client, ip4.virtual, 200, parallel=4).errors
    weir.start_cp()
    assert weir.member("web", member(ip4, 1), "serverside.totConns") == 100
