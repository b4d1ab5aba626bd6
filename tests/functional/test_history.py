# SPDX-License-Identifier: BSD-3-Clause
"""What commits changed, and the way back.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2
"""
import contextlib
import random
import re
import threading
import time

from cp_alone import cp, error_of  # noqa: F401

from topo import http_burst, wrk_end, wrk_start
from topo import weirconf as wc
from topo.weir import ApiError


def everything(cp):
    return "".join(cp.ask("list", form="conf", all=True)[0])


def difference(cp, generation):
    return cp.show("sys history", generation=generation)[0]["difference"]


def test_what_a_commit_changed(cp):
    cp.start()
    cp.edit("create", "ltm monitor http h username u password verysecret")
    result = cp.edit("modify", "ltm pool web members modify { 10.0.2.12:80 { description \"rack 7\" } }")
    assert difference(cp, result["generation"]).splitlines() == [
        " ltm pool /Common/web {", "     members {", "         /Common/10.0.2.12:80 {",
        "             address 10.0.2.12", "+            description \"rack 7\"", "         }", "     }", " }"]
    gone = cp.edit("delete", "ltm virtual web")
    assert "\n-    destination /Common/10.0.1.100:80\n" in difference(cp, gone["generation"])
    changed = cp.edit("modify", "ltm monitor http h password other")
    text = difference(cp, changed["generation"])
    assert "-    password ***\n+    password ***\n" in text and "$W$" not in text
    row = cp.show("sys history")[0]
    assert row["author"] == "root" and row["address"] == "" and not row["live"]
    assert "verysecret" not in (cp.store / "history").read_bytes().decode("latin-1")


def test_roll_back(cp):
    cp.start()
    before, start = everything(cp), cp.status()["generation"]
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { ratio 9 } } description changed")
    cp.edit("delete", "ltm virtual web")
    middle, between = everything(cp), cp.status()["generation"]
    cp.edit("create", "ltm pool other members add { 10.0.2.13:80 }")
    cp.edit("delete", "ltm pool web")
    result = cp.ask("rollback", generation=between)[1]
    assert everything(cp) == middle
    assert result["generation"] == between + 3 and result["changes"] > 3
    assert cp.show("sys history")[0]["what"] == f"load sys config rollback {between}"
    result = cp.ask("rollback", generation=start)[1]
    assert "ratio 9" in cp.list("ltm pool"), "ratio is live and stays"
    assert everything(cp).replace("ratio 9", "ratio 4") == before
    cp.ask("rollback", **{"generation": start, "with-live": True})
    assert everything(cp) == before
    cp.ask("rollback", generation=between + 2)
    assert "ltm pool /Common/other" in everything(cp), "a roll-back is a commit like any other"
    cp.ask("rollback", generation=start)
    cp.restart(kill=True)
    assert everything(cp).replace("ratio 9", "ratio 4") == before
    cp.ask("rollback", generation=between)
    assert "description changed" in everything(cp)


WALK = {
    "create": ["ltm pool p{n} members add {{ 10.3.0.{m}:80 {{ ratio {r} }} }} monitor tcp", "ltm pool p{n}",
               "ltm node n{n} address 10.3.1.{m}", "ltm virtual v{n} destination 10.4.0.{m}:80 ip-protocol tcp pool p{n}",
               "ltm virtual v{n} destination 10.4.0.{m}:{r} ip-protocol udp", "ltm monitor http h{n} interval {r} username u password s{m}",
               "ltm profile fastl4 f{n} idle-timeout {m}", "ltm profile fastl4 f{n} defaults-from f{m} idle-timeout {m}",
               "ltm snatpool s{n} members add {{ 10.5.0.{m} }}", "auth partition part{n}", "ltm pool /part{n}/q members add {{ 10.3.2.{m}:81 }}",
               "auth user u{n} description d partition-access add {{ all-partitions {{ role guest }} }}",
               "ltm data-group internal g{n} type string records add {{ a{m} {{ data x }} }}",
               "ltm persistence source-addr pe{n} timeout {m}0"],
    "modify": ["ltm pool p{n} members add {{ 10.3.0.{m}:80 }}", "ltm pool p{n} members delete {{ 10.3.0.{m}:80 }}",
               "ltm pool p{n} members modify {{ 10.3.0.{m}:80 {{ ratio {r} description d{r} }} }}",
               "ltm pool p{n} members modify {{ 10.3.0.{m}:80 {{ state user-down }} }}", "ltm pool p{n} monitor h{m}",
               "ltm pool p{n} members replace-all-with {{ 10.3.0.{m}:80 10.3.0.{r}:80 }}", "ltm pool p{n} min-active-members {m}",
               "ltm virtual v{n} pool p{m}", "ltm virtual v{n} pool none", "ltm virtual v{n} profiles replace-all-with {{ f{m} }}",
               "ltm virtual v{n} source-address-translation {{ type snat pool s{m} }}", "ltm virtual v{n} disabled",
               "ltm virtual v{n} enabled", "ltm virtual v{n} destination 10.4.0.{m}:{r}", "ltm node n{n} session user-disabled",
               "ltm node n{n} session user-enabled ratio {r}", "ltm monitor http h{n} password other{m}",
               "ltm profile fastl4 f{n} idle-timeout {m}{r}", "ltm snatpool s{n} members add {{ 10.5.0.{m} }}",
               "auth user u{n} password correct-horse-{m}-Battery", "auth user u{n} partition-access add {{ part{m} {{ role manager }} }}",
               "ltm data-group internal g{n} records modify {{ a{m} {{ data y }} }}", "sys db tm.rejectunmatched value false",
               "sys db tm.rejectunmatched value true", "ltm virtual-address 10.4.0.{n} arp disabled", "ltm virtual v{n} vlans-disabled",
               "ltm default-node-monitor rule icmp", "ltm default-node-monitor rule none"],
    "delete": ["ltm pool p{n}", "ltm node n{n}", "ltm node 10.3.0.{n}", "ltm virtual v{n}", "ltm monitor http h{n}",
               "ltm profile fastl4 f{n}", "ltm snatpool s{n}", "auth partition part{n}", "ltm pool /part{n}/q", "auth user u{n}",
               "ltm data-group internal g{n}", "ltm persistence source-addr pe{n}"],
}


def test_any_generation_of_a_lively_configuration(cp):
    """Whatever was made, changed and deleted: each generation comes back as it was, live fields too."""
    cp.start()
    rng = random.Random(7)
    states = {}
    while len(states) < 120:
        verb = rng.choice(["create", "create", "modify", "modify", "modify", "delete"])
        text = rng.choice(WALK[verb]).format(n=rng.randint(1, 4), m=rng.randint(1, 4), r=rng.randint(2, 6))
        with contextlib.suppress(ApiError):
            cp.edit(verb, text)
            states.setdefault(cp.status()["generation"], passwordless(cp))
    newest = max(states)
    for _ in range(40):
        target = rng.choice(sorted(states))
        cp.ask("rollback", **{"generation": target, "with-live": True})
        assert passwordless(cp) == states[target], f"generation {target}"
    cp.restart()
    cp.ask("rollback", **{"generation": newest, "with-live": True})
    assert passwordless(cp) == states[newest]


def passwordless(cp):
    """Everything but secrets, whose text is another each time, and passwords of users, which stay."""
    return re.sub(r"\$W\$1\$\S+|(?<=encrypted-password )\S+", "***", everything(cp))


def test_passwords_stay(cp):
    """Nobody can log in with a password of before, and nobody is locked out."""
    cp.start()
    start = cp.status()["generation"]
    cp.edit("modify", "auth user admin password Seven-Gates-of-7hebes")
    cp.edit("create", "auth user bob password Five-Rings-of-g0ld description a "
            "partition-access add { all-partitions { role guest } }")
    here = cp.status()["generation"]
    cp.edit("modify", "auth user bob password Four-Calling-b1rds description b")

    def may(user, password):
        try:
            return cp.ask("whoami", **{"as": {"user": user, "password": password, "address": "192.0.2.1"}})
        except ApiError:
            return False
    cp.ask("rollback", generation=here)
    assert "description a" in cp.list("auth user")
    assert may("bob", "Four-Calling-b1rds") and not may("bob", "Five-Rings-of-g0ld")
    cp.ask("rollback", generation=start)
    assert may("admin", "Seven-Gates-of-7hebes") and not may("bob", "Four-Calling-b1rds")


def test_roll_back_refused(cp):
    cp.start()
    now = cp.status()["generation"]
    assert error_of(cp.ask, "rollback")["code"] == 400
    assert error_of(cp.ask, "rollback", generation="x")["field"] == "generation"
    assert "later than the newest" in error_of(cp.ask, "rollback", generation=now + 1)["reason"]
    cp.edit("create", "ltm pool a")
    if now > 1:
        assert error_of(cp.ask, "rollback", generation=now - 1)["code"] == 404
    assert error_of(cp.show, "sys history", generation=now)["code"] == 404
    text = everything(cp)
    checked = cp.ask("rollback", generation=now, verify=True)[1]
    assert checked["generation"] == now + 1 and everything(cp) == text
    assert cp.ask("rollback", generation=now + 1)[1]["changes"] == 0
    cp.stop()
    (cp.store / "history").write_bytes(b"rubbish")
    cp.start()
    assert everything(cp) == text
    assert "goes back to" in error_of(cp.ask, "rollback", generation=now)["reason"]


def test_difference_to_saved(cp):
    cp.start()
    assert cp.show("sys config difference")[0]["difference"] == ""
    cp.edit("modify", "ltm pool web members modify { 10.0.2.11:80 { ratio 7 } } description x")
    row = cp.show("sys config difference")[0]
    assert row["unsaved"] == 1
    assert "-            ratio 4\n+            ratio 7\n" in row["difference"]
    assert "+    description x\n" in row["difference"] and "virtual" not in row["difference"]
    cp.ask("save")
    assert cp.show("sys config difference")[0]["difference"] == ""


def test_killed_while_rolling_back(cp):
    """Whatever moment weir-cp dies at: what was answered is there, and no commit is there by half."""
    cp.start()
    rng = random.Random(5)
    states = {cp.status()["generation"]: everything(cp)}
    for number in range(6):
        done = cp.edit("modify", f"ltm pool web description d{number} members add {{ 10.0.3.{number + 1}:80 }}")
        states[done["generation"]] = everything(cp)
    first = min(states)
    for _ in range(5):
        target, answered = rng.choice(sorted(states)), []

        def roll(target=target, answered=answered):
            try:
                answered.append(cp.ask("rollback", generation=target)[1]["generation"])
            except (OSError, EOFError, ConnectionError):
                pass
        before = everything(cp)
        thread = threading.Thread(target=roll)
        thread.start()
        time.sleep(rng.random() * 0.01)
        cp.daemon.kill()
        thread.join()
        cp.start()
        now = everything(cp)
        assert now in ([states[target]] if answered else [before, states[target]])
    cp.ask("rollback", generation=first)
    assert everything(cp) == states[first]


def test_roll_back_under_traffic(topology, ip4):
    """No request fails, and a connection that is not concerned stays where it is."""
    picture = topology(servers=2)
    picture.start_nginx()
    weir = picture.start_weir(wc.pool("web", picture.members(80), "ratio-member")
                              + wc.virtual("web", ip4.virtual, 80, "web"))
    start = weir.status()["generation"]
    held = picture.client.connect((ip4.virtual, 80))
    load = wrk_start(picture.client, ip4.virtual, seconds=4)
    for number in range(8):
        weir.edit("create", f"ltm pool p{number} members add {{ 10.0.2.77:{number + 1} }}")
        weir.edit("modify", f"ltm virtual web description d{number}")
    weir.edit("modify", f"ltm node {ip4.server(1)} ratio 5")
    weir.weirsh(f"load sys config rollback {start + 6}")
    weir.weirsh(f"load sys config rollback {start}")
    assert weir.status()["dataplane"]["generation"] == weir.status()["generation"]
    result = wrk_end(load)
    assert not result.errors and result.requests > 100
    held.sendall(b"GET / HTTP/1.0\r\n\r\n")
    assert b"200 OK" in held.recv(2000), "no flow moved"
    held.close()
    assert "p0" not in weir.weirsh("list ltm pool") and "ratio 5" in weir.weirsh("list ltm node")
    assert not http_burst(picture.client, ip4.virtual, 20).errors


def test_weirsh(topology, ip4):
    picture = topology(servers=2)
    weir = picture.start_weir(wc.pool("web", picture.members(80)) + wc.virtual("web", ip4.virtual, 80, "web"))
    assert weir.weirsh("show sys config diff") == "Nothing differs from what was saved\n"
    done = weir.edit("modify", "ltm virtual web description changed")
    shown = weir.weirsh(f"show sys history {done['generation']}")
    assert shown.startswith(f"Sys::History: {done['generation']}\n") and "+    description changed\n" in shown
    assert "+    description changed\n" in weir.weirsh("show sys config diff")
    weir.weirsh(f"load sys config rollback {done['generation'] - 1} verify")
    assert "description" in weir.weirsh("list ltm virtual web")
    weir.weirsh(f"load sys config rollback {done['generation'] - 1}")
    assert "description" not in weir.weirsh("list ltm virtual web")
    for words, why in [("show sys history x", "is not the number"), ("load sys config rollback", "which generation"),
                       ("load sys config rollback 1 2", "too much"), ("show sys config verify", "too much"),
                       ("load sys config rollback 999999", "later than the newest")]:
        run = weir.weirsh_run(words)
        assert run.returncode and why in run.stderr, words
