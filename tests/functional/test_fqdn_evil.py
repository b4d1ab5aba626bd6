# SPDX-License-Identifier: BSD-3-Clause
"""Name servers that mean harm, or are broken: nothing they send ends weir-cp or makes a server of what is none."""
import random
import struct

import pytest

from cp_alone import Cp
from test_fqdn import DNS, member, node, pool
from topo import Topology, wait_until
from topo import weirconf as wc
from topo.servers_dns import ScriptedDns, answer_to, question_of

GOOD = "10.0.2.11"


@pytest.fixture
def evil():
    """make(reply) starts weir-cp against a name server that answers so; gives weir-cp and the server."""
    with Topology() as topo:
        ns, made = topo.namespace("cp"), []

        def make(reply, *parts):
            made.append(topo.add(ScriptedDns(ns, reply)))
            cp = Cp(ns, topo.dir, wc.config(DNS, node(), pool(member()), *parts))
            made.append(cp)
            cp.start()
            return cp, made[0]
        try:
            yield make
        finally:
            if len(made) > 1 and made[1].daemon.process:
                made[1].stop()


def reason(cp):
    row = cp.show("ltm node", name="web.test")[0]
    return row["monitorStatus"] + " " + row["status.statusReason"]


def servers(cp):
    return sorted(row["name"].split("_")[-1] for row in cp.show("ltm node") if row["ephemeral"] == "true")


def test_addresses_that_no_server_may_have(evil):
    bad = ["0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", "169.254.1.1", "10.0.1.1", "10.0.1.100", "10.0.1.101"]
    parts = (wc.vlan("external", "1.1"), wc.self_ip("e", "10.0.1.1/24", "external"), wc.virtual("web", "10.0.1.100", 80, "web"),
             wc.snatpool("out", ["10.0.1.101"]))
    cp, _ = evil(lambda query, udp: [answer_to(query, [*bad, GOOD])], *parts)
    wait_until(lambda: servers(cp) == [GOOD], "the good one is used", 5)
    assert "refused: 0.0.0.0 is the address of no host, 127.0.0.1 is a loopback address, 224.0.0.1 is a multicast address and 5 more" in reason(cp)


def test_own_addresses_alone_leave_what_was_there(evil):
    answers = [[GOOD]]
    parts = (wc.vlan("external", "1.1"), wc.self_ip("e", "10.0.1.1/24", "external"), wc.virtual("web", "10.0.1.100", 80, "web"))
    cp, _ = evil(lambda query, udp: [answer_to(query, answers[-1])], *parts)
    wait_until(lambda: servers(cp) == [GOOD], "the good one is used", 5)
    answers.append(["10.0.1.1", "10.0.1.100"])
    wait_until(lambda: "fqdn-up-no-addr the answer has no address that can be used; refused: 10.0.1.1 is a self IP, "
                       "10.0.1.100 is a virtual address" in reason(cp), "they are refused and told", 5)
    assert servers(cp) == [GOOD]


def test_a_thousand_addresses_come_by_tcp(evil):
    many = [f"10.{i // 250}.1.{1 + i % 250}" for i in range(1000)]
    cp, dns = evil(lambda query, udp: [answer_to(query, many, truncated=udp)])
    wait_until(lambda: len(servers(cp)) == 64, "64 are used", 5)
    assert "1000 addresses are more than the 64 used" in reason(cp)
    first = servers(cp)
    random.shuffle(many)
    asked = len(dns.asked)
    wait_until(lambda: len(dns.asked) > asked + 2, "it was asked again", 6)
    assert servers(cp) == first  # whatever their order


def test_forged_and_damaged_answers_are_not_believed(evil):
    rng = random.Random(3)

    def damage(message):
        """Its header, question or end; the record itself would be as good as any."""
        data = bytearray(message)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(2, question_of(message)[2])] = rng.randrange(256)
        return bytes(data[:rng.randrange(3, len(data) + 1)])

    def reply(query, udp):
        forged = answer_to(query, ["10.66.66.66"])
        wrong_id = struct.pack("!H", struct.unpack("!H", query[:2])[0] ^ 1) + forged[2:]
        wrong_name = forged[:13] + b"xxx" + forged[16:]
        chaff = [b"", query[:2], query[:11], query, wrong_id, wrong_name, bytes(rng.randrange(256) for _ in range(200)), b"\xff" * 512]
        return [*chaff, answer_to(query, [GOOD])] if rng.random() < 0.5 else [damage(answer_to(query, [GOOD])), answer_to(query, [GOOD])]

    cp, dns = evil(reply)
    cp.edit("create", "ltm node again fqdn { name again.test interval 1 down-interval 1 }")
    wait_until(lambda: servers(cp) == [GOOD], "the good one is used", 10)
    asked = len(dns.asked)
    wait_until(lambda: len(dns.asked) > asked + 8, "it was asked again and again", 15)
    assert "10.66.66.66" not in servers(cp)
    # Each question comes from a port of its own.
    assert len({port for _, port in dns.asked}) > len(dns.asked) / 2


def test_endless_aliases_and_records_of_other_names(evil):
    def reply(query, udp):
        name, kind, end = question_of(query)
        loop = struct.pack("!HHHIH", 0xc00c, 5, 1, 1, 2) + b"\xc0\x0c"
        other = b"\4evil\4test\0" + struct.pack("!HHIH", kind, 1, 1, 4) + bytes([10, 66, 66, 66])
        pointer = struct.pack("!H", 0xc000 | end) + struct.pack("!HHIH", kind, 1, 1, 4) + bytes([10, 66, 66, 66])
        body = {"loop.test": (2, loop * 2), "other.test": (1, other), "pointer.test": (1, pointer)}.get(name)
        if not body:
            return [answer_to(query, [GOOD])]
        return [query[:2] + struct.pack("!HHHHH", 0x8580, 1, body[0], 0, 0) + query[12:end] + body[1]]

    cp, _ = evil(reply)
    for name in ("loop", "other", "pointer"):
        cp.edit("create", f"ltm node {name} fqdn {{ name {name}.test interval 1 down-interval 1 }}")
    status = lambda name: cp.show("ltm node", name=name)[0]["monitorStatus"]
    wait_until(lambda: all(status(name) in ("fqdn-down", "fqdn-up-no-addr") for name in ("loop", "other", "pointer")), "none is believed", 12)
    assert servers(cp) == [GOOD]
