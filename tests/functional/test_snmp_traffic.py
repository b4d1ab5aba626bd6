# SPDX-License-Identifier: BSD-3-Clause
"""SNMP's counters under traffic, and many members."""
import time

import pytest
from test_snmp import COMMUNITY, SETTINGS, Alone
from topo import Topology, standard, wait_until
from topo import weirconf as wc
from topo.api import Api
from topo.picture import VIRTUAL
from topo.snmp import AGENT_USER, LTM, SYSTEM, Snmp, index

REQUESTS = 20
MANY = 10000


@pytest.fixture(scope="module")
def place():
    with standard(servers=2) as topo:
        picture = topo.picture
        picture.start_nginx()
        weir = picture.start_weir(wc.pool("web", picture.members()), wc.virtual("web", VIRTUAL[4], 80, "web"), SETTINGS,
                                  cp_options=["--snmp-user", AGENT_USER])
        topo.dir.chmod(0o755)
        weir.run_dir.chmod(0o755)
        snmp = topo.add(Snmp(picture.lb, weir.run_dir, COMMUNITY))
        snmp.start()
        yield picture, weir, snmp, topo.add(Api(weir))


def test_counters_equal_show(place):
    picture, weir, snmp, _ = place
    for _ in range(REQUESTS):
        with picture.client.connect((VIRTUAL[4], 80)) as sock:
            sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while sock.recv(65536):
                pass
    wait_until(lambda: weir.show("ltm virtual")[0]["clientside.curConns"] == 0, "all connections ended", 20)
    columns = ("pktsIn", "bitsIn", "pktsOut", "bitsOut", "maxConns", "totConns", "curConns")

    def values(row, side):
        return [row[f"{side}.{name}"] // (8 if name.startswith("bits") else 1) for name in columns]

    def same(table, first, at, what, name, side):
        found = [snmp.get(f"{LTM}.{table}.{first + i}.{at}") for i in range(len(columns))]
        row, = [row for row in weir.show(what) if row["name"] == name]
        return found == [str(value) for value in values(row, side)]

    virtual, = weir.show("ltm virtual")
    assert virtual["clientside.totConns"] == REQUESTS
    wait_until(lambda: same("10.2.3.1", 6, index("/Common/web"), "ltm virtual", "/Common/web", "clientside"),
               "the virtual server", 15)
    assert same("5.2.3.1", 2, index("/Common/web"), "ltm pool", "/Common/web", "serverside")
    for row in weir.show("ltm pool members"):
        at = index("/Common/web", row["nodeName"], row["port"])
        assert same("5.4.3.1", 5, at, "ltm pool members", row["name"], "serverside")
        assert row["serverside.totConns"] == REQUESTS // 2
        assert same("4.2.3.1", 3, index(row["nodeName"]), "ltm node", row["nodeName"], "serverside")
    address, = weir.show("ltm virtual-address")
    assert same("10.11.3.1", 3, index(address["name"]), "ltm virtual-address", address["name"], "clientside")
    assert snmp.get(f"{SYSTEM}.1.2.1.7.0") == str(REQUESTS) == snmp.get(f"{SYSTEM}.1.2.1.14.0")
    gauge = snmp.tool("snmpget", f"{LTM}.10.2.3.1.12.{index('/Common/web')}").stdout
    assert "Gauge32" in gauge and "Counter64" in snmp.tool("snmpget", f"{SYSTEM}.1.2.1.7.0").stdout


def test_counters_equal_rest(place):
    """As a station sees it that asks both: bits of the statistics are bytes here."""
    picture, _, snmp, api = place
    columns = ("pktsIn", "bitsIn", "pktsOut", "bitsOut", "maxConns", "totConns", "curConns")
    server = next(iter(picture.members()))[0]
    for path, side, table, first, at in (
            ("ltm/virtual/~Common~web", "clientside", "10.2.3.1", 6, index("/Common/web")),
            ("ltm/pool/~Common~web", "serverside", "5.2.3.1", 2, index("/Common/web")),
            (f"ltm/node/~Common~{server}", "serverside", "4.2.3.1", 3, index(f"/Common/{server}"))):
        stats = api.stats(path)
        wanted = [stats[f"{side}.{name}"] // (8 if name.startswith("bits") else 1) for name in columns]
        assert wanted[5] > 0 and all(stats[f"{side}.{name}"] % 8 == 0 for name in ("bitsIn", "bitsOut"))
        found = [int(snmp.get(f"{LTM}.{table}.{first + n}.{at}")) for n in range(len(columns))]
        assert found == wanted, path


def test_many_members():
    members = [(f"10.{20 + n // 65000}.{n // 250 % 250}.{n % 250 + 1}", 80) for n in range(MANY)]
    pools = [wc.pool(f"p{n}", members[n * 1000:(n + 1) * 1000]) for n in range(MANY // 1000)]
    conf = wc.config(wc.vlan("external", "1.1", number=10), wc.self_ip("e", "10.0.1.1/24", "external"), *pools, SETTINGS)
    with Topology() as topo:
        alone = Alone(topo, conf)
        start = time.monotonic()
        states = alone.snmp.walk(f"{LTM}.5.6.2.1.5")
        took = time.monotonic() - start
        assert len(states) == MANY and set(states.values()) == {"4"}
        assert took < 20, f"a column of {MANY} rows took {took:.1f} s"
        slowest = max(timed(alone.cp.status) for _ in range(20))
        assert slowest < 1, "weir-cp answers others meanwhile"


def timed(call):
    start = time.monotonic()
    call()
    return time.monotonic() - start
