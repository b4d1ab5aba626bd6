# SPDX-License-Identifier: BSD-3-Clause
"""A server that flaps, commits and idle servers: what a change of one thing must not do to all others.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3 (nginx)
"""
import time

import pytest
from monitored import INTERVAL, Lab, hurt, hurting, web

from topo import standard, stays
from topo import weirconf as wc
from topo.picture import server_address

CHECK = {"failures": 1}  # down by the first wrong answer


def name(number):
    return wc.join(server_address(number), 80)


def hold(weir, number, words):
    weir.edit("modify", f"ltm pool web members modify {{ {name(number)} {{ {words} }} }}")


def since(weir):
    """When the verdicts of s2 and s3 last changed."""
    return [weir.member("web", name(number), "monitorSince") for number in (2, 3)]


def flows(weir):
    return {(row["cs-client-port"], row["ss-server-addr"], row["ss-client-port"]) for row in weir.connections()
            if row["state"] == "established"}


@pytest.fixture(scope="module")
def lab():
    with standard(servers=3) as topo:
        yield Lab(topo.picture, web(check=CHECK, patience=5.0))


@pytest.mark.parametrize("period, times", [(2.0, 3), pytest.param(2.0, 60, marks=pytest.mark.long)])
def test_a_flapping_server_flaps_nobody_and_moves_no_flow(lab, period, times):
    """cilium/cilium#42170: readiness that comes and goes disrupts no connection, neither of others nor its own."""
    weir, service = lab.weir, lab.services[0]
    with lab.asked():
        standing, before = flows(weir), since(weir)
        for _ in range(times):
            for sick, word in ((True, "down"), (False, "up")):
                begin = time.monotonic()
                hurt(lab, "sick", yes=sick)
                lab.until(1, [word], INTERVAL + 1)
                while time.monotonic() - begin < period:
                    assert {service.member(weir, number) for number in (2, 3)} == {"up"}
                    time.sleep(0.1)
        assert since(weir) == before
        kept = {one.port for one in service.kept.outcomes}
        assert not service.fresh.failures() and not service.kept.failures()
        assert {flow for flow in standing if flow[0] in kept} <= flows(weir)


COMMITS = [("create", "ltm monitor tcp other-check interval 1 timeout 4"),
           ("create", "ltm pool other monitor other-check members add {{ 10.0.2.13:81 {{ address 10.0.2.13 }} }}"),
           ("create", "ltm virtual other destination 10.0.1.100:81 ip-protocol tcp pool other"),
           ("modify", "ltm pool web description word{}"),
           ("modify", "ltm pool web members modify {{ 10.0.2.12:80 {{ ratio {} }} }}"),
           ("delete", "ltm virtual other"), ("delete", "ltm pool other"), ("delete", "ltm monitor tcp other-check")]


def verdicts(lab):
    return [lab.services[0].member(lab.weir, number) for number in (1, 2, 3)]


def gaps(times):
    return [after - before for before, after in zip(times, times[1:])]


def test_a_commit_touches_only_what_differs(lab):
    """acassen/keepalived#349, acassen/keepalived#1605: monitors keep their rhythm, connections go on, counters count on."""
    weir, service = lab.weir, lab.services[0]
    with lab.asked():
        begin, before = time.time(), {number: weir.member("web", name(number), "serverside.totConns") for number in (1, 2, 3)}
        start, moment, verdicts = time.monotonic(), time.monotonic(), since(weir)
        for number in range(3 * len(COMMITS)):
            verb, text = COMMITS[number % len(COMMITS)]
            weir.edit(verb, text.format(number % 5 + 1))
            assert {service.member(weir, member) for member in (1, 2, 3)} == {"up"}
            moment += 0.2
            time.sleep(max(0, moment - time.monotonic()))
        after = {number: weir.member("web", name(number), "serverside.totConns") for number in (1, 2, 3)}
        assert since(weir) == verdicts
        answers = service.fresh.answered(start, moment - 0.3)
        assert not service.fresh.failures() and not service.kept.failures()
    for number in (1, 2, 3):
        assert after[number] - before[number] >= answers[f"s{number}"]
        rhythm = gaps(service.servers[number - 1].asked("/health", begin))
        assert len(rhythm) >= 3 and all(0.6 < gap < 1.5 for gap in rhythm), rhythm


def test_a_changed_monitor_keeps_its_verdicts(lab):
    """A slower rhythm is taken at once, and nobody is checked anew (acassen/keepalived#381)."""
    weir, service = lab.weir, lab.services[0]
    with hurting(lab, "sick", number=3):
        lab.until(3, ["down"], INTERVAL + 1)
        begin = time.time()
        weir.edit("modify", "ltm monitor http web-check up-interval 3 timeout 9")
        stays(lambda: verdicts(lab) == ["up", "up", "down"], "verdicts", 6)
        assert gaps(service.servers[0].asked("/health", begin))[-1] > 2.5
        weir.edit("modify", "ltm monitor http web-check up-interval 0 timeout 4")
    lab.until(3, ["up"], 5)


def test_a_reload_neither_brings_a_failed_server_back_nor_loses_it(lab):
    """acassen/keepalived#608, acassen/keepalived#1163, acassen/keepalived#106 (a patch): what is known of a server
    outlives the reload, and its return is noticed after it as before."""
    weir, service = lab.weir, lab.services[0]
    text = weir.conf_path.read_text()
    more = wc.monitor("tcp", "more", interval=1) + wc.pool("more", [(server_address(3), 80)], monitor="more")
    with lab.asked():
        with hurting(lab, "sick", number=3):
            _, out = lab.until(3, ["down"], INTERVAL + 1)[service]
            for config in (text, text + more, text, more + text, text):
                weir.ask("load", text=config, file="again")
                stays(lambda: verdicts(lab) == ["up", "up", "down"], "verdicts", 0.5, 0.1)
            assert set(service.fresh.answered(out + 0.1)) == {"s1", "s2"}
        lab.until(3, ["up"], INTERVAL + 1)
        lab.wait_answered(service.fresh)
        assert not service.fresh.failures() and not service.kept.failures()


def test_a_server_that_is_out_churns_nothing(lab):
    """github/glb-director#71: a disabled server's checks go on and change no table; one that is forced offline is
    not even asked, and comes back as one that must prove itself."""
    weir, service = lab.weir, lab.services[0]
    hold(weir, 3, "session user-disabled")
    with lab.asked(servers=2):
        before = weir.status()["generation"], weir.show("sys dataplane")[0]["generation"]
        for sick, word in ((True, "down"), (False, "up"), (True, "down")):
            hurt(lab, "sick", number=3, yes=sick)
            lab.until(3, [word], INTERVAL + 1)
        assert (weir.status()["generation"], weir.show("sys dataplane")[0]["generation"]) == before
        hold(weir, 3, "session user-disabled state user-down")
        begin = time.time() + 0.2
        time.sleep(2.5 * INTERVAL)
        assert service.servers[2].asked("/health", begin) == []
        hold(weir, 3, "session user-enabled state user-up")
        time.sleep(INTERVAL)
        assert service.member(weir, 3) in ("checking", "down")
        assert set(service.fresh.answered()) == {"s1", "s2"}
        hurt(lab, "sick", number=3, yes=False)
        lab.until(3, ["up"], INTERVAL + 1)
        assert not service.fresh.failures() and not service.kept.failures()
