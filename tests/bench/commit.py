# SPDX-License-Identifier: BSD-3-Clause
"""Commits and pushed ratios with a large configuration, against the real dataplane.

Each figure is the time from request to answer, and the answer says that the dataplane has it in force.
floor: a request that changes nothing, in the same run.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from topo import Topology, wait_until  # noqa: E402
from topo import weirconf as wc  # noqa: E402
from topo.weir import Weir  # noqa: E402


def address(number, first):
    """A host address of 2^24 in first.0.0.0/8, without the last bytes 0 and 255."""
    return f"{first}.{number // 254 >> 8 & 255}.{number // 254 & 255}.{number % 254 + 1}"


def configuration(virtuals, members):
    each = members // virtuals
    parts = [wc.vlan("outside", "1.1"), wc.vlan("inside", "1.2"),
             wc.self_ip("outside", "10.0.1.1/24", "outside"), wc.self_ip("inside", "10.0.2.1/24", "inside")]
    for number in range(virtuals):
        servers = {(address(number * each + n, 11), 80): {"ratio": n + 1} for n in range(each)}
        parts += [wc.pool(f"p{number}", servers, "ratio-member"),
                  wc.virtual(f"v{number}", address(number, 12), 80, f"p{number}")]
    return wc.config(*parts)


def measure(call, count):
    """Milliseconds of each call(n), sorted."""
    times = []
    for number in range(count):
        start = time.monotonic()
        result = call(number)
        times.append((time.monotonic() - start) * 1000)
        assert not (isinstance(result, dict) and result.get("warnings")), result
    return sorted(times)


def report(name, times, floor, **more):
    print(json.dumps({"name": f"commit.{name}", "value": round(statistics.median(times), 2), "unit": "ms",
                      "p99": round(times[min(len(times) - 1, len(times) * 99 // 100)], 2), "count": len(times),
                      "floor": round(floor, 2), "ratio": round(statistics.median(times) / floor, 1), **more}),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--virtuals", type=int, default=10000)
    parser.add_argument("--members", type=int, default=100000)
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--ratios", type=int, default=500)
    options = parser.parse_args()
    size = {"virtuals": options.virtuals, "members": options.members}
    with Topology() as topo:
        lb, wire = topo.namespace("lb"), topo.namespace("wire")
        topo.veth(wire, "a", lb, "p1")
        topo.veth(wire, "b", lb, "p2")
        weir = topo.add(Weir(lb, topo.dir / "weir", configuration(options.virtuals, options.members),
                             {"1.1": "p1", "1.2": "p2"}, start=False))
        weir.start_dp(wait=False)
        wait_until(lambda: (weir.run_dir / "dp.sock").exists(), "weir-dp listens", 30)
        start = time.monotonic()
        weir.start_cp(wait=False)
        weir.wait_ready(120)
        load = (time.monotonic() - start) * 1000
        floor = statistics.median(measure(lambda n: weir.status(), 100))
        report("start", [load], floor, **size)
        server = address(5, 11)
        report("ratio-member", measure(lambda n: weir.edit(
            "modify", f"ltm pool p0 members modify {{ {server}:80 {{ ratio {n % 9 + 1} }} }}"), options.ratios),
            floor, **size)
        report("ratio-node", measure(lambda n: weir.edit(
            "modify", f"ltm node {server} ratio {n % 9 + 1}"), options.ratios), floor, **size)
        report("one-object", measure(lambda n: weir.edit(
            "modify", f"ltm virtual v{n} description \"commit {n}\""), options.commits), floor, **size)
        report("one-member", measure(lambda n: weir.edit(
            "create" if n % 2 == 0 else "delete", "ltm pool extra" + " members add { 11.255.0.1:80 }" * (n % 2 == 0)),
            options.commits), floor, **size)
        report("all-pools", measure(lambda n: weir.edit(
            "modify", f"ltm pool all description \"all {n}\""), 5), floor, **size)
        text = weir.conf_path.read_text()
        report("whole-file", measure(lambda n: weir.ask("load", text=text)[1], 3), floor, **size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
