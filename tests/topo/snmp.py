# SPDX-License-Identifier: BSD-3-Clause
"""weir-snmp with its snmpd, and net-snmp's tools that ask it."""
import re

from .poll import wait_until
from .weir import ROOT, Daemon

AGENT_USER, SNMPD_USER = "nobody", "games"  # in tests; nobody special
PORT = 161
BASE = "1.3.6.1.4.1.3375.2"
LTM = BASE + ".2"
SYSTEM = BASE + ".1"
MIBS = ROOT / "mgmt" / "snmp" / "mibs"


def index(*parts):
    """An index of strings (with their length in front) and numbers."""
    out = []
    for part in parts:
        out += [part] if isinstance(part, int) else [len(part.encode()), *part.encode()]
    return ".".join(map(str, out))


class Snmp(Daemon):
    """weir-snmp beside the weir-cp of a run directory, whose --snmp-user must be AGENT_USER.

    listen: where snmpd listens while sys snmp agent-addresses has its default.
    """

    def __init__(self, ns, run_dir, community, listen=None, options=()):
        self.address = (listen or f"udp:127.0.0.1:{PORT}").split(",")[0]
        self.community, self.run_dir = community, run_dir
        words = ["--run-dir", run_dir, "--user", AGENT_USER, "--snmpd-user", SNMPD_USER]
        words += ["--listen", listen] if listen else []
        super().__init__(ns, "weir-snmp", [*words, *options], run_dir)

    def start(self):
        super().start()
        wait_until(self.serving, "weir-snmp answers", 20)

    def serving(self):
        self.check_running()
        return self.get(f"{LTM}.5.1.1.0", timeout=1) is not None

    def tool(self, name, *words, version="2c", user=None, community=None, timeout=5, address=None):
        """One of net-snmp's tools; the finished process."""
        who = user or ["-v", version, "-c", self.community if community is None else community]
        return self.ns.run([name, *who, "-m", "", "-On", "-Oe", "-t", timeout, "-r", 0, address or self.address,
                            *words], check=False, timeout=120)

    def get(self, oid, **options):
        """The value of one identifier as text, None without answer or value."""
        done = self.tool("snmpget", "-OqvU", oid, **options)
        text = done.stdout.strip()
        if done.returncode or "No Such" in text or not text:
            return None
        return text[1:-1] if text.startswith('"') else text

    def walk(self, oid, bulk=True, **options):
        """{identifier behind oid: value}."""
        done = self.tool("snmpbulkwalk" if bulk else "snmpwalk", *(["-Cr50"] if bulk else []), "-OqU", oid, **options)
        assert done.returncode == 0, done.stderr + done.stdout
        found = re.findall(rf"^\.{re.escape(oid)}\.(\S+) (.*)$", done.stdout, re.M)
        return {name: value.strip('"') for name, value in found if not value.startswith("No ")}

    def snmpd(self):
        """Process id of snmpd."""
        return int(self._children()["snmpd"])

    def agent(self):
        return int(self._children()["weir-snmp"])

    def _children(self):
        out = self.ns.run(["ps", "--ppid", self.pid, "-o", "pid=,comm="]).stdout
        return {line.split()[1]: line.split()[0] for line in out.splitlines()}
