# SPDX-License-Identifier: BSD-3-Clause
"""Changes under load: no request fails, and memory comes back to its level.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import pytest

from topo import wait_until, wrk_end, wrk_start
from topo import weirconf as wc
from topo.weir import ApiError


def start(topology, ip, **options):
    picture = topology(servers=2)
    picture.start_nginx()
    weir = picture.start_weir(wc.pool("web", picture.members(80, ip.family), "ratio-member")
                              + wc.profile("fastl4", "quick", tcp_close_timeout=1, idle_timeout=10)
                              + wc.virtual("web", ip.virtual, 80, "web", profiles=["quick"]), **options)
    return picture, weir


def levels(weir):
    """Memory that must come back: name -> value."""
    return {row["name"]: row["value"] for row in weir.show("sys memory")}


def empty(weir):
    """levels() once the flow table is empty."""
    wait_until(lambda: levels(weir)["flows"] == 0, "all flows have left", 30)
    return levels(weir)


def change(weir, ratios, commits, ip):
    """Ratio changes (live) and commits (snapshots), interleaved."""
    every = max(1, ratios // max(1, commits))
    for number in range(ratios):
        weir.edit("modify", f"ltm pool web members modify {{ {ip.server(1)}:80 {{ ratio {number % 9 + 1} }} }}")
        if number % every == 0:
            weir.edit("modify", f"ltm virtual web description \"change {number}\" source-port "
                      + ("preserve" if number // every % 2 else "change"))


def run(topology, ip, ratios, commits, seconds, **options):
    """Servers keep no TIME_WAIT: with a connection per request one SNAT address comes back to a port
    within its minute, and a client whose timestamps are behind then waits for its second SYN."""
    picture, weir = start(topology, ip, **options)
    for server in picture.servers:
        server.sysctl("net.ipv4.tcp_max_tw_buckets", 1)
    for close in (False, True):
        warm = wrk_start(picture.client, ip.virtual, seconds=1, close=close)
        assert not wrk_end(warm).errors
    change(weir, 20, 4, ip)
    before = empty(weir)
    loads = [wrk_start(picture.client, ip.virtual, seconds=seconds, connections=4, close=close)
             for close in (False, True)]
    change(weir, ratios, commits, ip)
    for load in loads:
        result = wrk_end(load)
        assert not result.errors and result.requests > 100
    after = empty(weir)
    assert after["mbufs-free"] >= before["mbufs-free"] - 64, "two bursts may be with the drivers"
    assert after["heap-bytes"] <= before["heap-bytes"] * 1.01 + 65536


def test_changes_under_load(topology, workers, ip4):
    """Commands under full traffic are safe, and entries leave on time: iqiyi/dpvs#93."""
    run(topology, ip4, 500, 50, 6, workers=workers)


@pytest.mark.long
@pytest.mark.parametrize("driver", ["af_xdp", "af_packet"])
def test_ten_thousand_ratios_and_a_thousand_commits(topology, ip4, driver):
    run(topology, ip4, 10000, 1000, 120, workers=2, driver=driver)


def resident(pid):
    """Memory of a process in kB."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@pytest.mark.parametrize("edits", [3000, pytest.param(100000, marks=pytest.mark.long)])
def test_control_messages_leave_no_memory(topology, ip4, edits, monkeypatch):
    """iqiyi/dpvs#382, #588, #875: what each call leaked there."""
    # a sanitizer keeps freed memory for a while: little of it
    monkeypatch.setenv("ASAN_OPTIONS", "quarantine_size_mb=1:thread_local_quarantine_size_kb=64")
    picture, weir = start(topology, ip4)

    def calls(count):
        for number in range(count):
            weir.edit("modify", f"ltm pool web members modify {{ {ip4.server(1)}:80 {{ ratio {number % 9 + 1} }} }}")
            if number % 10 == 0:
                weir.edit("create", "ltm pool passing members add { 10.0.2.99:80 { } }")
                weir.show("ltm pool members")
                weir.edit("delete", "ltm pool passing")
                weir.edit("delete", "ltm node 10.0.2.99")

    calls(300)
    before = resident(weir.cp.pid), resident(weir.dp.pid), levels(weir)
    calls(edits)
    after = resident(weir.cp.pid), resident(weir.dp.pid), levels(weir)
    assert after[0] - before[0] < 2048, "weir-cp grew by kB"
    assert after[1] - before[1] < 2048, "weir-dp grew by kB"
    assert after[2]["heap-blocks"] <= before[2]["heap-blocks"] + 16


def test_wrong_commit_changes_nothing(topology, ip4):
    picture, weir = start(topology, ip4)
    before = weir.status(), weir.weirsh("list ltm")
    for words, said in (
            ("ltm pool web members modify { 10.0.2.11:80 { ratio 0 } }", "ratio"),
            ("ltm pool web load-balancing-mode fastest-node", "load-balancing-mode"),
            ("ltm pool nosuch description x", "nosuch"),
            ("ltm virtual web pool nosuch", "nosuch"),
            ("ltm virtual web destination 10.0.1.300:80", "destination")):
        done = weir.weirsh_run(*("modify " + words).split())
        assert done.returncode != 0 and said in done.stderr, words
    with pytest.raises(ApiError):
        weir.edit("delete", "ltm pool web")
    assert (weir.status()["generation"], weir.weirsh("list ltm")) == (before[0]["generation"], before[1])


def test_wrong_file_is_refused_with_its_place(topology, ip4, tmp_path):
    picture, weir = start(topology, ip4)
    bad = tmp_path / "bad.conf"
    bad.write_text(weir.conf_path.read_text().replace("load-balancing-mode ratio-member",
                                                      "load-balancing-mode ratio-membre"))
    line = next(n for n, text in enumerate(bad.read_text().splitlines(), 1) if "ratio-membre" in text)
    done = weir.weirsh_run("load", "sys", "config", "file", str(bad))
    assert done.returncode != 0
    for part in (f"bad.conf:{line}", "ltm pool", "web", "load-balancing-mode"):
        assert part in done.stderr, done.stderr
    assert weir.weirsh("load sys config verify") is not None
