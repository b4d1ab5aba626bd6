# SPDX-License-Identifier: BSD-3-Clause
"""Large transfers through bad cables on both sides: the contents come out equal.

    client --- [link] --- 1.1 Weir 1.2 --- [link] --- switch --- s1
"""
import hashlib
import threading

import pytest

from topo import weirconf as wc

BAD = {"delay": 1, "loss": 0.3, "reorder": 1, "duplicate": 0.5}
FAULTS = ("lost", "reordered", "duplicated")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def transfer(topology, size, **options):
    """Downloads and uploads size bytes at once through Weir and compares."""
    ip = options.pop("ip")
    picture = topology(servers=1, outside=BAD, inside=BAD)
    picture.start_nginx()
    picture.start_weir(wc.pool("web", picture.members(80, ip.family))
                       + wc.virtual("web", ip.virtual, 80, "web"), **options)
    served = picture.nginx[0].file("down", size)
    upload = picture.topo.dir / "up"
    with open(upload, "wb") as out, open("/dev/urandom", "rb") as source:
        for _ in range(0, size, 1 << 20):
            out.write(source.read(min(1 << 20, size)))
    host = f"[{ip.virtual}]" if ip.family == 6 else ip.virtual
    results = {}

    def curl(way, *words):
        done = picture.client.run(["curl", "-sSf", "-g", *words], check=False, timeout=3000)
        results[way] = done.stderr or "done"

    threads = [threading.Thread(target=curl, args=("down", "-o", picture.topo.dir / "got", f"http://{host}/files/down")),
               threading.Thread(target=curl, args=("up", "-T", upload, f"http://{host}/upload/up"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {"down": "done", "up": "done"}
    assert digest(picture.topo.dir / "got") == digest(served)
    assert digest(picture.nginx[0].uploaded("up")) == digest(upload)
    for fault in FAULTS:
        for join in picture.links[0].report()["joins"]:
            for way in ("up", "down"):
                assert join[way][fault] > 0, f"{join['a']} {way}: no {fault} frame, nothing is shown"


def test_both_ways_through_bad_cables(topology, workers, ip):
    transfer(topology, 32 << 20, ip=ip, workers=workers)


def test_both_ways_on_af_packet(topology, ip4):
    transfer(topology, 32 << 20, ip=ip4, driver="af_packet")


@pytest.mark.long
@pytest.mark.parametrize("driver, workers", [("af_xdp", 1), ("af_packet", 2)])
def test_one_gigabyte(topology, ip4, driver, workers):
    transfer(topology, 1 << 30, ip=ip4, driver=driver, workers=workers)
