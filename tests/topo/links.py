# SPDX-License-Identifier: BSD-3-Clause
"""The link simulator tests/topo/link, started in a namespace that holds the cables' far ends."""
import json
import pathlib
import signal
import subprocess

from .poll import wait_until
from .weir import program


class Link:
    """Joins interfaces of namespace ns in user space and spoils the traffic from a seed.

    joins: list of (interface a, interface b, options). Options hold for both directions, or for one
    when prefixed "up_" (a to b) or "down_" (b to a):
      delay (ms), jitter (ms), rate (Mbit/s), queue (ms of waiting at that rate, default 50),
      loss, reorder, duplicate, corrupt (percent), gap (ms a reordered frame is late, default 2),
      mtu (bytes of an IP packet; longer ones are dropped), tag (frames carry this 802.1Q id on side b;
      several joins with the same b make a trunk).
    """

    def __init__(self, ns, joins, directory, seed=1):
        self.ns = ns
        self.report_path = pathlib.Path(directory) / f"link-{ns.name}.json"
        self.log = self.report_path.with_suffix(".log")
        argv = [program("link"), "--seed", seed, "--report", self.report_path]
        for interface in sorted({name for a, b, _ in joins for name in (a, b)}):
            ns.hide_from_kernel(interface)
        for a, b, options in joins:
            words = [f"{key.replace('_', '.', 1)}={value}" for key, value in options.items()]
            argv += ["--join", ",".join([a, b, *words])]
        with open(self.log, "wb") as log:
            self.process = ns.popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        if self.process.stdout.readline() != b"ready\n":
            self.process.wait(5)
            raise RuntimeError(f"link did not start: {self.log.read_text()}")

    def report(self):
        """What it did so far: {"joins": [{"a":, "b":, "up": {...}, "down": {...}}]}, counts of frames:
        received, sent, lost, reordered, duplicated, corrupted, queue_dropped, too_long, send_failed,
        bytes; of tagged joins also tagged and untagged; at the top unknown_tag, unfinished_checksum."""
        self.report_path.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        wait_until(self.report_path.exists, "link reports")
        return json.loads(self.report_path.read_text())

    def total(self, count):
        """Sum of one count over all joins and directions."""
        return sum(join[way].get(count, 0) for join in self.report()["joins"] for way in ("up", "down"))

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(10)
        if self.process.returncode:
            raise AssertionError(f"link ended with {self.process.returncode}: {self.log.read_text()}")
