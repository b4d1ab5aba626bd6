# SPDX-License-Identifier: BSD-3-Clause
"""SNMP: who may ask, what is answered, and that polling outlives restarts."""
import pytest
from topo import Topology, wait_until
from topo import weirconf as wc
from topo.snmp import AGENT_USER, LTM, PORT, SYSTEM, Snmp, index
from cp_alone import Cp, error_of

COMMUNITY = "Three-Loaves"
SETTINGS = f"""
sys snmp {{
    sys-contact "the desk"
    sys-location cellar
    allowed-addresses {{ 127.0.0.0/8 }}
}}
sys snmp communities desk {{ community-name {COMMUNITY} }}
sys snmp communities other {{ community-name Elsewhere source 10.9.0.0/16 }}
sys snmp communities part {{ community-name Part oid-subset 1.3.6.1.2.1.1 }}
sys snmp users sealed {{
    security-level auth-privacy
    auth-protocol sha256
    auth-password Long-Enough-1
    privacy-protocol aes
    privacy-password Long-Enough-2
}}
sys snmp users signed {{ security-level auth-no-privacy auth-protocol sha512 auth-password Long-Enough-3 }}
"""
SEALED = ["-v", "3", "-u", "sealed", "-l", "authPriv", "-a", "SHA-256", "-A", "Long-Enough-1", "-x", "AES",
          "-X", "Long-Enough-2"]
SIGNED = ["-v", "3", "-u", "signed", "-l", "authNoPriv", "-a", "SHA-512", "-A", "Long-Enough-3"]
CONF = wc.config(
    wc.vlan("external", "1.1", number=10), wc.vlan("internal", "1.2", number=20),
    wc.self_ip("e", "10.0.1.1/24", "external"), wc.self_ip("i", "10.0.2.1/24", "internal"),
    wc.pool("web", {("10.0.2.11", 80): {"ratio": 4}, ("10.0.2.12", 80): {}}, "ratio-member"),
    wc.pool("a-pool-with-a-long-name", {("fd00:2::11", 443): {}}, "least-connections-member"),
    wc.virtual("web", "10.0.1.100", 80, "web"), wc.virtual("web6", "fd00:1::100", 443, "a-pool-with-a-long-name"),
    SETTINGS)
SYS_NAME = "1.3.6.1.2.1.1"


class Alone:
    """weir-cp without a dataplane, and weir-snmp."""

    def __init__(self, topo, config=CONF):
        topo.dir.chmod(0o755)
        self.ns = topo.namespace("snmp")
        self.cp = topo.add(Cp(self.ns, topo.dir, config))
        self.cp.daemon.arguments += ["--snmp-user", AGENT_USER]
        self.cp.start()
        self.snmp = topo.add(Snmp(self.ns, topo.dir, COMMUNITY))
        self.snmp.start()


@pytest.fixture(scope="module")
def alone():
    with Topology() as topo:
        yield Alone(topo)


def test_system_group(alone):
    snmp = alone.snmp
    assert snmp.get(f"{SYS_NAME}.2.0").startswith(".1.3.6.1.4.1.3375.2.1.3.4.")
    assert snmp.get(f"{SYS_NAME}.4.0") == "the desk" and snmp.get(f"{SYS_NAME}.6.0") == "cellar"
    assert snmp.get(f"{SYS_NAME}.1.0").startswith("Weir ") and snmp.get(f"{SYS_NAME}.7.0") == "78"
    assert snmp.get(f"{SYSTEM}.4.1.0") == "Weir"
    assert snmp.get(f"{SYSTEM}.14.1.1.0") == "6" and snmp.get(f"{SYSTEM}.14.3.1.0") == "4"
    assert int(snmp.get(f"{SYSTEM}.7.1.1.0")) == 1024 * int(snmp.get(f"{SYSTEM}.7.1.3.0")) > 0
    cpus = int(snmp.get(f"{SYSTEM}.1.2.20.4.0"))
    assert len(snmp.walk(f"{SYSTEM}.7.5.2.1.11")) == cpus
    assert 0 <= int(snmp.get(f"{SYSTEM}.7.5.2.1.19.1.48.0")) <= 100


def test_who_may_ask(alone):
    snmp = alone.snmp
    count = f"{LTM}.5.1.1.0"
    assert snmp.get(count) == "2"
    for wrong in ("public", "private", "Elsewhere", ""):
        assert snmp.get(count, community=wrong, timeout=1) is None
    assert snmp.get(count, community="Part") is None and snmp.get(f"{SYS_NAME}.4.0", community="Part") == "the desk"
    assert snmp.get(count, user=SEALED) == "2" and snmp.get(count, user=SIGNED) == "2"
    assert snmp.get(count, user=[*SEALED[:-1], "Long-Enough-9"], timeout=1) is None
    weaker = [word.replace("authPriv", "authNoPriv") for word in SEALED[:-4]]
    assert snmp.get(count, user=weaker, timeout=1) is None
    assert snmp.get(count, user=["-v", "3", "-u", "sealed", "-l", "noAuthNoPriv"], timeout=1) is None
    changed = snmp.tool("snmpset", f"{SYS_NAME}.4.0", "s", "mine")
    assert changed.returncode and snmp.get(f"{SYS_NAME}.4.0") == "the desk"


def test_files_and_rights(alone):
    conf = alone.snmp.run_dir / "snmp" / "snmpd.conf"
    assert conf.stat().st_mode & 0o777 == 0o600
    assert COMMUNITY in conf.read_text()
    for pid in (alone.snmp.snmpd(), alone.snmp.agent()):
        status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status").read().splitlines() if ":\t" in line)
        assert "0" not in status["Uid"].split() and status["NoNewPrivs"] == "1"
        assert int(status["CapEff"], 16) & ~(1 << 10) == 0  # low ports
    assert COMMUNITY not in alone.snmp.text() and "Long-Enough" not in alone.snmp.text()


def test_indices(alone):
    """A string has its length in front; IPv6 and long names too."""
    snmp = alone.snmp
    names = snmp.walk(f"{LTM}.5.1.2.1.1")
    assert names == {index(f"/Common/{name}"): f"/Common/{name}" for name in ("web", "a-pool-with-a-long-name")}
    member = index("/Common/web", "/Common/10.0.2.11", 80)
    assert snmp.get(f"{LTM}.5.3.2.1.6.{member}") == "4"
    six = index("/Common/a-pool-with-a-long-name", "/Common/fd00:2::11", 443)
    assert snmp.get(f"{LTM}.5.3.2.1.4.{six}") == "443" and snmp.get(f"{LTM}.5.3.2.1.2.{six}") == "2"
    raw = snmp.tool("snmpget", "-Oqvx", f"{LTM}.5.3.2.1.3.{six}").stdout
    assert bytes.fromhex(raw.strip().strip('"')) == bytes.fromhex("fd000002000000000000000000000011")
    assert list(snmp.walk(f"{LTM}.5.3.2.1.1")) == [member, index("/Common/web", "/Common/10.0.2.12", 80), six]


def test_tables_equal_show(alone):
    snmp, cp = alone.snmp, alone.cp
    colours = {"available": "1", "unavailable": "2", "offline": "3", "unknown": "4"}
    for what, table in (("ltm pool", f"{LTM}.5.5.2.1"), ("ltm virtual", f"{LTM}.10.13.2.1")):
        for row in cp.show(what):
            at = index(row["name"])
            assert snmp.get(f"{table}.2.{at}") == colours[row["status.availabilityState"]]
            assert snmp.get(f"{table}.5.{at}") == row["status.statusReason"]
    for row in cp.show("ltm node"):
        at = index(row["name"])
        assert snmp.get(f"{LTM}.4.3.2.1.3.{at}") == colours[row["status.availabilityState"]]
        assert snmp.get(f"{LTM}.4.1.2.1.4.{at}") == str(row["ratio"])
    virtual = index("/Common/web")
    assert snmp.get(f"{LTM}.10.1.2.1.6.{virtual}") == "80" and snmp.get(f"{LTM}.10.1.2.1.19.{virtual}") == "/Common/web"
    assert snmp.get(f"{LTM}.5.1.2.1.2.{index('/Common/web')}") == "1"
    assert snmp.get(f"{LTM}.10.2.3.1.7.{virtual}") is None, "no counters without a dataplane"


def test_order_and_walk(alone):
    """GETNEXT and GETBULK see the same, in the order of the identifiers."""
    plain, bulk = (alone.snmp.walk(LTM, bulk=kind) for kind in (False, True))
    assert list(plain) == list(bulk) and len(plain) > 300
    order = [tuple(map(int, name.split("."))) for name in plain]
    assert order == sorted(order)


def test_change_of_state_and_settings(alone):
    """A commit reaches the answers; snmpd reads its file again and keeps its sub-agent. acassen/keepalived#1605"""
    snmp, cp = alone.snmp, alone.cp
    at = f"{LTM}.5.6.2.1.6.{index('/Common/web', '/Common/10.0.2.12', 80)}"
    assert snmp.get(at) == "1"
    cp.edit("modify", "ltm pool web members modify { 10.0.2.12:80 { session user-disabled } }")
    wait_until(lambda: snmp.get(at) == "2", "the state", 10)
    cp.edit("modify", "ltm pool web members modify { 10.0.2.12:80 { session user-enabled } }")
    pid = snmp.snmpd()
    cp.edit("modify", "sys snmp sys-location attic")
    cp.edit("create", "sys snmp communities more community-name Five-Loaves")
    wait_until(lambda: snmp.get(f"{SYS_NAME}.6.0") == "attic", "the location", 10)
    wait_until(lambda: snmp.get(f"{LTM}.5.1.1.0", community="Five-Loaves", timeout=1) == "2", "the community", 10)
    cp.edit("delete", "sys snmp communities more")
    wait_until(lambda: snmp.get(f"{LTM}.5.1.1.0", community="Five-Loaves", timeout=1) is None, "it is gone", 10)
    assert snmp.snmpd() == pid and snmp.get(f"{LTM}.5.1.1.0") == "2"
    cp.edit("modify", "sys snmp users signed auth-password Long-Enough-4")
    fresh = [*SIGNED[:-1], "Long-Enough-4"]
    wait_until(lambda: snmp.get(f"{LTM}.5.1.1.0", user=fresh, timeout=1) == "2", "the new password", 15)
    assert snmp.get(f"{LTM}.5.1.1.0", user=SIGNED, timeout=1) is None


def listening(snmp):
    """{address:port} of snmpd, UDP and TCP."""
    out = snmp.ns.run(["ss", "-Htuln"]).stdout
    return {line.split()[4] for line in out.splitlines()}


def test_where_it_listens(alone):
    """LTM's default is everywhere; here that is only where weir-snmp was started for: itself, unless told otherwise."""
    snmp, cp = alone.snmp, alone.cp
    count, own = f"{LTM}.5.1.1.0", f"127.0.0.1:{PORT}"
    assert listening(snmp) == {own} and snmp.get(count, address=f"tcp:{own}") == "2"
    cp.edit("modify", "sys snmp agent-addresses { udp:127.0.0.2:1161 tcp6:[::1]:1162 }")
    wait_until(lambda: listening(snmp) == {"127.0.0.2:1161", "[::1]:1162"}, "the addresses as given", 15)
    wait_until(lambda: snmp.get(count, address="udp:127.0.0.2:1161", timeout=1) == "2", "it answers there", 15)
    cp.edit("modify", "sys snmp agent-addresses { tcp6:161 udp6:161 }")
    wait_until(lambda: listening(snmp) == {own}, "where it was", 15)
    wait_until(lambda: snmp.get(count, timeout=1) == "2", "it answers there", 15)


@pytest.mark.parametrize("words, reason", [
    ("agent-addresses { unix:/tmp/x }", "is not as udp:192.0.2.5:161"),
    ("agent-addresses { udp:[::1]:161 }", "is not as udp:192.0.2.5:161"),
    ("agent-addresses { udp:70000 }", "is not as udp:192.0.2.5:161"),
    ("agent-addresses none", "needs one at least"),
    ("allowed-addresses { everybody }", "is no address or network"),
    ("auth-trap enabled", "snmpd does not say whom it refused"),
])
def test_refused_settings(alone, words, reason):
    before = alone.cp.list("sys snmp")
    error = error_of(alone.cp.edit, "modify", f"sys snmp {words}")
    assert reason in str(error) and alone.cp.list("sys snmp") == before


def agent_records(cp):
    told = {"0e1f0094": "started", "0e1f0095": "stopped"}
    return [told[row["id"]] for row in cp.ask("log", type="system", limit=10000)[0] if row["id"] in told]


def test_starts_and_stops_are_told(alone):
    """As records, which traps 1 and 2 are made from; not while agent-trap is disabled."""
    snmp, cp = alone.snmp, alone.cp
    wait_until(lambda: agent_records(cp)[-1:] == ["started"], "its start", 10)
    before = len(agent_records(cp))
    snmp.stop()
    assert agent_records(cp)[before:] == ["stopped"]
    cp.edit("modify", "sys snmp agent-trap disabled")
    snmp.start()
    snmp.stop()
    assert agent_records(cp)[before:] == ["stopped"]
    cp.edit("modify", "sys snmp agent-trap enabled")
    snmp.start()
    wait_until(lambda: agent_records(cp)[before:] == ["stopped", "started"], "its start", 10)


def test_restarts(alone):
    """acassen/keepalived#349"""
    snmp, cp = alone.snmp, alone.cp
    count = f"{LTM}.5.1.1.0"
    pid = snmp.snmpd()
    cp.daemon.kill()
    assert snmp.get(count) == "2", "what was known is told while weir-cp is away"
    cp.start()
    cp.edit("create", "ltm pool third")
    wait_until(lambda: snmp.get(count) == "3", "the new pool", 15)
    cp.edit("delete", "ltm pool third")
    assert snmp.snmpd() == pid
    snmp.ns.run(["kill", "-9", pid])
    wait_until(lambda: snmp.get(count, timeout=1) == "2", "another snmpd, with its sub-agent", 20)
    snmp.kill()
    wait_until(lambda: not snmp.ns.run(["ps", "-C", "snmpd", "-o", "args="], check=False).stdout.count(str(snmp.run_dir)),
               "snmpd ends with weir-snmp", 5)
    snmp.start()
    assert snmp.get(count) == "2"


def test_hostile_packets(alone):
    """Damaged requests, from a seed: nothing dies."""
    import random
    import socket
    chance = random.Random(1)
    snmp = alone.snmp
    good = bytes.fromhex("302f02010104") + bytes([len(COMMUNITY)]) + COMMUNITY.encode() + \
        bytes.fromhex("a11c0204000000010201000201003000") + bytes(20)
    pids = snmp.snmpd(), snmp.agent()
    with snmp.ns.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _ in range(3000):
            packet = bytearray(good)
            for _ in range(chance.randrange(1, 6)):
                packet[chance.randrange(len(packet))] = chance.randrange(256)
            sock.sendto(packet[:chance.randrange(len(packet) + 1)], ("127.0.0.1", PORT))
    for oid in (LTM, f"{LTM}.5.1.2.1.1.4294967295", f"{LTM}.5.3.2.1.1.11" + ".47" * 100, "2.999", f"{LTM}.5.4.3.1.5.3.1"):
        snmp.tool("snmpget", oid)
        snmp.tool("snmpgetnext", oid)
    assert (snmp.snmpd(), snmp.agent()) == pids and snmp.get(f"{LTM}.5.1.1.0") == "2"
