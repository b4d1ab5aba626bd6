# SPDX-License-Identifier: BSD-3-Clause
"""The journal as people and programs see it: weirsh show sys log, REST, and in LTM's place as lines of text.

    client --- 1.1 Weir 1.2 --- switch --- s1
"""
import json
import re
import signal
import subprocess

import pytest

from topo import standard
from topo.api import Api, Refused
from topo.weir import program

# As the log parsers of BIG-IP users look for it.
LINE = re.compile(r"^[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d [\w-]+ (?P<level>[a-z]+) [\w-]+\[\d+\]: "
                  r"(?P<id>[0-9a-f]{8}):(?P<severity>[0-7]): (?P<text>.+)$")


@pytest.fixture(scope="module")
def api():
    with standard(servers=1) as topo:
        api = topo.add(Api(topo.picture.start_weir()))
        for name in ("web", "other"):
            api.post("ltm/pool", {"name": name, "members": ["10.0.2.11:80"]})
        api.patch("ltm/pool/~Common~web", {"description": "made for the log"})
        yield api


def lines(api, words=""):
    return api.weir.weirsh(f"show sys log {words}").splitlines()


def test_lines(api):
    """LTM's form, so that what reads LTM's log reads this."""
    found = [LINE.match(line) for line in lines(api)]
    assert found and all(found)
    assert any(m["id"] == "01070417" and m["severity"] == "5" and m["level"] == "notice" for m in found)


def test_chosen(api):
    rows = api.weir.ask("log", limit=10000)[0]
    changed = [row for row in rows if row["id"] == "01070417"]
    assert len(lines(api, "message 01070417 lines 10000")) == len(changed) >= 3
    assert len(lines(api, "lines 2")) == 2
    assert lines(api, "level emerg") == []
    assert lines(api, "since 1d lines 10000") == lines(api, "lines 10000")
    assert lines(api, "until 1d") == [] and lines(api, "since 2001-01-01 until 2001-01-02T10:00") == []
    assert all("admin" in line for line in lines(api, "audit actor admin message 01070417"))
    by_number = json.loads("[" + ",".join(api.weir.weirsh("--json show sys log message 01070417").splitlines()) + "]")
    assert [row["seq"] for row in by_number] == [row["seq"] for row in changed]


def test_detail(api):
    text = api.weir.weirsh("show sys log message 01070417 lines 1 detail")
    assert LINE.match(text.splitlines()[0]) and "    type: config" in text and "    hash: " in text


@pytest.mark.parametrize("words, reason", [
    ("since yesterday", "is no time"), ("lines many", "is no number"), ("lines 20000", "from 1 to 10000"),
    ("level loud", "emerg, alert"), ("colour red", "is not selected by"), ("object", "its value is missing"),
    ("lines 1 lines 2", "given twice")])
def test_wrong_words(api, words, reason):
    done = api.weir.weirsh_run(f"show sys log {words}")
    assert done.returncode in (1, 2) and reason in done.stderr and done.stdout == ""


def test_follow(api):
    process = api.weir.ns.popen([program("weirsh"), "--run-dir", api.weir.run_dir, "show", "sys", "log", "lines", "1",
                                 "follow"], stdout=subprocess.PIPE, text=True)
    try:
        assert LINE.match(process.stdout.readline())
        api.patch("ltm/pool/~Common~other", {"description": "while somebody looks"})
        line = LINE.match(process.stdout.readline())
        assert line["id"] == "01070417"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        process.stdout.close()


def test_verify(api):
    assert "are as they were written" in api.weir.weirsh("verify sys log")
    done = api.weir.weirsh_run("verify sys log now")
    assert done.returncode == 2 and "too much" in done.stderr


def test_rest(api):
    """GET /mgmt/weir/log: the same words; pages by number."""
    page = api.get("/mgmt/weir/log", lines=2)
    assert len(page["items"]) == 2
    older = api.get("/mgmt/weir/log", lines=2, before=page["items"][0]["seq"])
    assert older["items"][-1]["seq"] == page["items"][0]["seq"] - 1
    newer = api.get("/mgmt/weir/log", lines=1, after=page["items"][0]["seq"])
    assert newer["items"][0] == page["items"][1] and newer["next"] == page["items"][1]["seq"]
    assert all(row["actor"]["name"] == "admin" for row in
               api.get("/mgmt/weir/log", audit="true", actor="admin", message="01070417")["items"])
    for query in ({"since": "soon"}, {"colour": "red"}, {"lines": "0"}):
        with pytest.raises(Refused) as refused:
            api.get("/mgmt/weir/log", **query)
        assert refused.value.status == 400


def test_rest_as_ltm_has_it(api):
    """GET tm/sys/log/ltm/stats?options=lines,N."""
    reply = api.get("sys/log/ltm/stats", options="lines,3")
    text = reply["apiRawValues"]["apiAnonymous"]
    assert len(text.splitlines()) == 3 and all(map(LINE.match, text.splitlines()))
    assert "01070417" in api.get("sys/log/audit/stats")["apiRawValues"]["apiAnonymous"]
    with pytest.raises(Refused) as refused:
        api.get("sys/log/gtm/stats")
    assert refused.value.status == 404


def test_who_sees_what(api):
    """A guest sees no changes of the configuration and no log-ins."""
    api.post("auth/user", {"name": "eve", "password": "only-looks-on",
                           "partitionAccess": [{"name": "all-partitions", "role": "guest"}]})
    eve = api.log_in("eve", "only-looks-on")
    assert not any(row["type"] in ("config", "login", "system") for row in eve.get("/mgmt/weir/log")["items"])
    assert "01070417" not in eve.get("sys/log/ltm/stats")["apiRawValues"]["apiAnonymous"]
    eve.close()
