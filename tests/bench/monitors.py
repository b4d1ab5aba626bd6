# SPDX-License-Identifier: BSD-3-Clause
"""What probes cost: weir-mon's CPU time with many instances, and how evenly they are spread.

    weir-mon --- veth --- nginx, one process, ten addresses

./bench monitors [--instances N] [--interval S] [--seconds S] [--kind tcp|http|tcp-half-open|icmp|https]...
"""
import argparse
import json
import os
import pathlib
import resource
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "functional")]

from fake_mon_cp import SERVERS, Lab  # noqa: E402

from topo import Topology, wait_until  # noqa: E402
from topo.servers import Nginx  # noqa: E402

FIELDS = {"http": {"send": "GET /health HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", "recv": "200 OK"}}
TICKS = os.sysconf("SC_CLK_TCK")


def cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def switches(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("nonvoluntary_ctxt_switches:")[1].split()[0])


def report(name, value, unit, **more):
    print(json.dumps({"name": f"monitors.{name}", "value": round(value, 3), "unit": unit, **more}), flush=True)


def measure(kind, options):
    with Topology() as top:
        lab = Lab(top, "nobody")
        lab.start()
        top.add(lab.daemon)
        top.add(Nginx(lab.far, "n", [f"{address}:80" for address in SERVERS], top.dir))
        cp, count = lab.cp, options.instances
        cp.monitor(1, kind, interval=options.interval, timeout=3 * options.interval + 1, **FIELDS.get(kind, {}))
        for number in range(count):
            cp.instance(number + 1, 1, SERVERS[number % len(SERVERS)], 80 if kind != "icmp" else 0)
        wait_until(lambda: len(cp.verdicts) == count, "every instance has a verdict", 120, 0.5)
        time.sleep(1.5 * options.interval)
        pid = lab.daemon.pid

        def total():
            return sum(row["probes"] for row in cp.stats())
        probes, spent, preempted, start = total(), cpu(pid), switches(pid), time.monotonic()
        time.sleep(options.seconds)
        spent, wall = cpu(pid) - spent, time.monotonic() - start
        preempted = switches(pid) - preempted
        rows = cp.stats()
        probes = sum(row["probes"] for row in rows) - probes
        up = sum(row["verdict"] == "up" for row in rows)
        step = options.interval * 1000 / 50
        share = [0] * 50
        late = sum(row["next-probe-ms"] == 0 for row in rows)
        for row in rows:
            share[min(49, int(row["next-probe-ms"] / step))] += 1
        memory = int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])
        cp.close()
    what = {"kind": kind, "instances": count, "interval": options.interval}
    report("cores", spent / wall, "cores", **what, up=up, probes_per_second=round(probes / wall),
           preempted=preempted)
    report("us_per_probe", spent / probes * 1e6, "us", **what)
    report("spread", max(share) / (count / 50), "largest share / even share", **what, late=late)
    report("memory", memory / 1024, "MiB", **what)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--instances", type=int, default=20000)
    parser.add_argument("--interval", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--kind", action="append")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for kind in options.kind or ["tcp", "http", "icmp"]:
        measure(kind, options)


if __name__ == "__main__":
    main()
