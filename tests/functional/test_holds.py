# SPDX-License-Identifier: BSD-3-Clause
"""Who keeps a server from being used: operators, agents and monitors side by side, told apart (requirement S0-24).

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import pytest

from topo import http_burst, standard, wait_until
from topo import weirconf as wc

CHECK = {"interval": 1, "timeout": 4, "failures": 2, "send": '"GET /health HTTP/1.0\\r\\n\\r\\n"',
         "recv": '"\\\\nok"'}
S1, S2 = "10.0.2.11:80", "10.0.2.12:80"


class Place:
    def __init__(self, picture):
        picture.start_nginx()
        picture.start_weir(wc.monitor("http", "web", **CHECK),
                           wc.monitor("http", "careful", **CHECK, manual_resume="enabled"),
                           wc.pool("web", {("10.0.2.11", 80): {"monitor": "careful"}, ("10.0.2.12", 80): {}},
                                   monitor="web"),
                           wc.virtual("web", "10.0.1.100", 80, "web"))
        self.client, self.weir, self.nginx = picture.client, picture.weir, picture.nginx
        for name in (S1, S2):
            self.until(name, "up")

    def of(self, name, what):
        return self.weir.member("web", name, what)

    def until(self, name, status):
        wait_until(lambda: self.of(name, "monitorStatus") == status,
                   lambda: f"{name} is {status}, not {self.of(name, 'monitorStatus')}")

    def edit(self, name, words):
        return self.weir.edit("modify", f"ltm pool web members modify {{ {name} {{ {words} }} }}")

    def served(self):
        burst = http_burst(self.client, "10.0.1.100", 8)
        assert not burst.errors
        return set(burst.counts)


@pytest.fixture(scope="module")
def place():
    with standard(servers=2) as topo:
        yield Place(topo.picture)


def test_a_server_that_waits_for_manual_resume(place):
    place.nginx[0].sick()
    place.until(S1, "down")
    place.nginx[0].sick(False)
    place.until(S1, "down-wait-for-manual-resume")
    assert place.of(S1, "status.availabilityState") == "offline" and place.of(S1, "holds") == []
    reason = "Its monitor waits for manual resume (/Common/careful: waits for manual resume)"
    assert place.of(S1, "status.statusReason") == reason
    assert reason in place.weir.weirsh("show ltm pool web members")
    assert "State          :  waits for manual resume for" in place.weir.weirsh("show ltm monitor http careful")
    assert place.served() == {"s2"}
    done = place.weir.weirsh_run(f"modify ltm pool web members modify {{ {S1} {{ session user-enabled }} }}")
    assert done.returncode == 0
    assert "note: /Common/10.0.2.11:80: it waited for manual resume, and is used again" in done.stderr
    assert place.of(S1, "monitorStatus") == "up" and "s1" in place.served()
    [resumed] = place.weir.ask("log", message="0e1f007d")[0]
    assert resumed["text"] == "/Common/10.0.2.11:80: resumed by root" and resumed["object"] == "/Common/10.0.2.11:80"
    assert (resumed["actor"]["class"], resumed["actor"]["name"]) == ("operator", "root")
    assert place.edit(S1, "session user-enabled")["note"] == "", "once"


def test_an_operators_hold_and_a_monitors_down_at_once(place):
    place.edit(S2, "session user-disabled")
    place.nginx[1].sick()
    place.until(S2, "down")
    assert [hold["class"] for hold in place.of(S2, "holds")] == ["operator"]
    assert place.of(S2, "sessionStatus") == "user-disabled" and place.of(S2, "status.availabilityState") == "offline"
    assert place.of(S2, "status.statusReason").startswith(
        "Disabled by operator; besides: Pool member has been marked down by a monitor (/Common/web: ")
    # Each goes alone.
    place.nginx[1].sick(False)
    place.until(S2, "up")
    assert place.of(S2, "status.statusReason") == "Disabled by operator" and place.served() == {"s1"}
    place.nginx[1].sick()
    place.until(S2, "down")
    assert place.edit(S2, "session user-enabled")["note"] == ""
    assert place.of(S2, "holds") == [] and place.of(S2, "monitorStatus") == "down" and place.served() == {"s1"}
    place.nginx[1].sick(False)
    place.until(S2, "up")


def test_a_reason_is_shown_where_the_hold_is(place):
    words = 'holds { operator { session user-disabled reason "a new disk" } }'
    place.weir.edit("modify", f"ltm pool web members modify {{ {S2} {{ {words} }} }}")
    assert place.of(S2, "holds") == [{"class": "operator", "session": "user-disabled", "state": "user-up",
                                      "reason": "a new disk"}]
    assert place.of(S2, "status.statusReason") == "Disabled by operator (a new disk)"
    assert "Disabled by operator (a new disk)" in place.weir.weirsh("show ltm pool web members")
    listed = place.weir.weirsh("list ltm pool web members holds")
    assert 'operator { session user-disabled reason "a new disk" }' in listed
    place.edit(S2, "session user-enabled")


def test_forced_offline_is_not_probed_and_starts_as_checking(place):
    place.edit(S2, "state user-down")
    assert place.of(S2, "monitorStatus") == "forced-down"
    assert place.of(S2, "status.statusReason") == "Forced offline by operator"
    names = [row["name"] for row in place.weir.show("ltm monitor instances", pool="web")]
    assert names == ["/Common/" + S1]
    place.nginx[1].sick()
    place.edit(S2, "state user-up")
    assert place.of(S2, "monitorStatus") in ("checking", "down") and place.served() == {"s1"}
    place.until(S2, "down")
    place.nginx[1].sick(False)
    place.until(S2, "up")
    assert place.served() == {"s1", "s2"}


def test_a_node_holds_its_members(place):
    place.weir.edit("modify", "ltm node 10.0.2.12 session user-disabled")
    assert place.of(S2, "status.enabledState") == "disabled-by-parent" and place.of(S2, "holds") == []
    assert place.of(S2, "status.statusReason") == \
        "The node is disabled: only persisted connections (disabled by operator)"
    assert place.served() == {"s1"}
    place.weir.edit("modify", "ltm node 10.0.2.12 session user-enabled")
    assert place.of(S2, "status.statusReason") == "Pool member is available"
