# SPDX-License-Identifier: BSD-3-Clause
"""What programs do with a BIG-IP's REST interface beside its objects: folders, files, a fresh start, facts."""
import contextlib
import os
import pathlib
import re

import pytest
from rest_alone import UPLOADS, add_user, refused, rest_alone, upload
from topo.api import Refused

FILES = "/mgmt/shared/file-transfer"
LINK = "https://localhost/mgmt/tm/"


@pytest.fixture(scope="module")
def api():
    with rest_alone() as api:
        yield api


def test_folders_within_partitions(api):
    """Templates put their objects into a folder of their own: ~Common~app.app~vs."""
    folder = api.post("sys/folder", {"name": "app.app", "partition": "Common", "description": "of a template"})
    assert (folder["fullPath"], folder["name"], folder["partition"]) == ("/Common/app.app", "app.app", "Common")
    assert api.get("sys/folder/~Common~app.app")["description"] == "of a template"
    pool = api.post("ltm/pool", {"name": "p", "partition": "Common", "subPath": "app.app"})
    assert (pool["fullPath"], pool["subPath"], pool["name"]) == ("/Common/app.app/p", "app.app", "p")
    assert pool["selfLink"] == LINK + "ltm/pool/~Common~app.app~p?ver=15.1.0"
    api.post("ltm/pool/~Common~app.app~p/members", {"name": "10.0.0.1:80", "partition": "Common"})
    virtual = api.post("ltm/virtual", {"name": "/Common/app.app/vs", "destination": "/Common/10.9.0.1:80",
                                       "pool": "/Common/app.app/p"})
    assert virtual["subPath"] == "app.app" and virtual["pool"] == "/Common/app.app/p"
    assert api.patch("ltm/virtual/~Common~app.app~vs", {"description": "x"})["description"] == "x"
    assert "status.availabilityState" in api.stats("ltm/virtual/~Common~app.app~vs")
    assert [row["fullPath"] for row in api.items("ltm/pool", **{"$filter": "partition eq Common"})] == ["/Common/app.app/p"]
    status, message = refused(api, "DELETE", "sys/folder/~Common~app.app")
    assert status == 400 and "is not empty" in message
    assert refused(api, "POST", "ltm/pool", {"name": "p", "partition": "Common", "subPath": "no"}) == (
        400, "01070734:3: Configuration error: /Common/no/p cannot be in /Common/no: the folder does not exist")
    assert refused(api, "GET", "ltm/pool/~Common~no~p")[0] == 404
    assert refused(api, "DELETE", "sys/folder/~Common")[0] == 400
    assert "sys folder /Common/app.app" in api.bash("tmsh list sys folder /Common/app.app")
    api.bash("tmsh save sys config")
    api.bash("tmsh load sys config")
    assert api.exists("ltm/virtual/~Common~app.app~vs")
    for path in ("ltm/virtual/~Common~app.app~vs", "ltm/pool/~Common~app.app~p", "sys/folder/~Common~app.app"):
        api.delete(path)
    assert not api.exists("sys/folder/~Common~app.app")


def test_folders_go_by_the_rights_in_their_partition(api):
    api.post("auth/partition", {"name": "A"})
    with contextlib.closing(add_user(api, "boss", "manager", "A")) as boss:
        boss.post("sys/folder", {"name": "app", "partition": "A"})
        boss.post("ltm/pool", {"name": "/A/app/p"})
        assert refused(boss, "POST", "sys/folder", {"name": "app", "partition": "Common"})[0] == 403
        assert refused(boss, "GET", "ltm/pool/~A~no")[0] == 404, "its own partition is there for him"
        boss.delete("ltm/pool/~A~app~p")
        boss.delete("sys/folder/~A~app")
    for path in ("auth/user/boss", "auth/partition/A"):
        api.delete(path)


def test_persistence_in_the_words_of_ltm(api):
    """Its form with a block means what the bare name means."""
    api.bash("tmsh create ltm persistence source-addr s")
    api.bash("tmsh create ltm virtual v destination 10.9.0.2:80")

    def said(words):
        return api.bash(f"tmsh modify ltm virtual v persist {words}")
    plain = said("{ s }")
    for words in ("{ s { default yes } }", "replace-all-with { s { default yes } }", "{ /Common/s { default yes } }"):
        assert said(words) == plain, words
    for words in ("{ s { default no } }", "{ s { priority 1 } }", "{ s { default yes default yes } }"):
        assert "persist: " in said(words) and said(words) != plain, words
    assert "brace" in said("{ s { default yes }") or "missing" in said("{ s { default yes }")
    api.delete("ltm/virtual/v")
    api.delete("ltm/persistence/source-addr/s")


@pytest.mark.parametrize("branch", ["downloads", "madm"])
def test_downloads(api, branch):
    """As f5-sdk reads a file: a piece at a time, the size from the first reply."""
    text = bytes(range(256)) * 10
    upload(api, "own.bin", text)
    assert api.call("GET", f"{FILES}/{branch}/own.bin").content == text
    got, size, start = b"", 2000, 0
    while start < size:
        end = min(start + 999, size - 1)
        reply = api.call("GET", f"{FILES}/{branch}/own.bin", headers={"Content-Range": f"{start}-{end}/{size}"})
        size = int(reply.headers["Content-Range"].split("/")[1])
        got, start = got + reply.content, end + 1
    assert got == text
    reply = api.send("GET", f"{FILES}/{branch}/own.bin", headers={"Content-Range": "0-9999/10000"})
    assert reply.status_code == 400 and reply.headers["Content-Range"] == f"0-{len(text) - 1}/{len(text)}"
    for name in ("none", "..%2Fx", "%2Fetc%2Fpasswd", ".hidden"):
        assert api.send("GET", f"{FILES}/{branch}/{name}").status_code in (400, 404), name
    assert api.send("PUT", f"{FILES}/{branch}/own.bin", {}).status_code == 405
    with contextlib.closing(add_user(api, "other")) as other:
        assert other.send("GET", f"{FILES}/{branch}/own.bin").status_code == 404
    api.delete("auth/user/other")
    assert api.send("GET", f"{FILES}/{branch}/own.bin", auth=("admin", "wrong"),
                    headers={"X-F5-Auth-Token": None}).status_code == 401


def memory_kib(process):
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1])


def test_slow_downloads_hold_no_memory(api):
    """Whole files to clients that do not read: each would hold its file in memory."""
    piece = os.urandom(4 << 20)
    for start in range(0, 10 * len(piece), len(piece)):
        api.call("POST", f"{UPLOADS}/large.bin", data=piece, headers={
            "Content-Type": "application/octet-stream",
            "Content-Range": f"{start}-{start + len(piece) - 1}/{10 * len(piece)}"})
    before = memory_kib(api.process)
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            reply = stack.enter_context(contextlib.closing(
                api.send("GET", f"{FILES}/downloads/large.bin", stream=True)))
            assert reply.status_code == 200 and reply.headers["Content-Length"] == str(10 * len(piece))
        assert memory_kib(api.process) - before < 40 << 10
        assert next(reply.iter_content(4096)) == piece[:4096]
    part = api.call("GET", f"{FILES}/downloads/large.bin",
                    headers={"Content-Range": f"{len(piece) + 7}-{len(piece) + 1006}/{10 * len(piece)}"})
    assert part.content == piece[7:1007]
    api.post("util/unix-rm", {"command": "run", "utilCmdArgs": "/var/config/rest/downloads/large.bin"})


def test_load_default(api):
    def build():
        api.post("ltm/pool", {"name": "gone", "members": ["10.0.0.1:80"]})
    build()
    load = {"command": "load", "name": "default"}
    assert refused(api, "POST", "sys/config", {**load, "options": [{"merge": True}]})[0] == 400
    assert refused(api, "POST", "sys/config", {"command": "load", "name": "other"})[0] == 400
    api.post("sys/config", {**load, "options": [{"verify": True}]})
    assert api.exists("ltm/pool/gone")
    assert api.post("sys/config", load)["command"] == "load"
    assert not api.exists("ltm/pool/gone") and not api.exists("ltm/node/10.0.0.1")
    assert api.exists("ltm/monitor/http/http")
    build()
    assert "Loading configuration" in api.bash("tmsh load sys config default")
    assert not api.exists("ltm/pool/gone")
    assert "default goes neither" in api.bash("tmsh load sys config default merge file /tmp/x")
    with contextlib.closing(api.log_in()) as again:
        assert again.get("sys/ready"), "admin still has his password"
    with pytest.raises(Refused):
        api.get("ltm/pool/gone")


def nested(reply, *path):
    """The entries behind links, one within the other."""
    for each in path:
        reply = reply["entries"][LINK + each]["nestedStats"]
    return reply["entries"]


def test_memory_and_processors(api):
    """As exporters, f5-sdk and telemetry read them; they say what the machine says."""
    said = dict(line.split(":") for line in open("/proc/meminfo"))
    total = int(said["MemTotal"].split()[0]) * 1024
    for path in ("sys/memory", "sys/memory/stats"):
        memory = nested(api.get(path), "sys/memory/memory-host", "sys/memory/memory-host/0")
        assert memory["memoryTotal"]["value"] == total and 0 < memory["memoryUsed"]["value"] < total
        assert memory["hostId"] == {"description": "0"} and memory["tmmMemoryUsed"]["value"] == 0, "no dataplane is there"
    assert api.get("sys/memory")["kind"] == "tm:sys:memory:memorystats"
    cpus = nested(api.get("sys/cpu"), "sys/cpu/0", "sys/cpu/0/cpuInfo")
    host = nested(api.get("sys/host-info"), "sys/host-info/0")
    assert host["memoryTotal"]["value"] == total and host["cpuCount"]["value"] == len(cpus) > 0
    assert len(host[LINK + "sys/hostInfo/0/cpuInfo"]["nestedStats"]["entries"]) == len(cpus)
    for cpu in cpus.values():
        entries = cpu["nestedStats"]["entries"]
        for span in ("fiveSec", "oneMin", "fiveMin"):
            parts = [entries[f"{span}Avg{part}"]["value"] for part in
                     ("User", "Niced", "System", "Idle", "Iowait", "Irq", "Softirq", "Stolen")]
            assert 95 <= sum(parts) <= 105 and min(parts) >= 0, (span, parts)
    assert refused(api, "POST", "sys/memory", {"command": "x"})[0] == 405
    assert refused(api, "GET", "sys/memory/nothing")[0] == 404


def test_neighbours_and_login_providers(api):
    assert "items" not in api.get("net/arp") and api.get("net/arp")["kind"] == "tm:net:arp:arpcollectionstate"
    for path in ("net/arp/stats", "net/ndp/stats"):
        assert api.send("GET", path).status_code == 503, "no dataplane is there"
    reply = api.send("GET", "/info/system?null", headers={"X-F5-Auth-Token": None})  # before anybody logs in
    provider, = reply.json()["providers"]
    assert provider["loginProviderName"] == "local" and provider["link"].startswith("https://localhost/mgmt/")
    for path in ("/info", "/info/other", "/mgmt/none"):
        message = refused(api, "GET", path)[1]
        assert message.startswith("Public URI path not registered: ")


def test_a_list_of_a_hundred_thousand(api):
    """At once, without pages, and without the memory for it."""
    def rss():
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{api.pid}/status").read_text())[1])
    count, step = 100_000, 20_000
    for first in range(0, count, step):
        nodes = "".join(f"ltm node n{n} {{\n    address 10.{n >> 16}.{n >> 8 & 255}.{n & 255}\n"
                        f"    description \"{'x' * 400}\"\n}}\n" for n in range(first, first + step))
        api.weir.ask("load", text=nodes, merge=True)
    before = rss()
    reply = api.call("GET", "ltm/node")
    assert rss() - before < 64 << 10, "KiB"
    assert len(reply.content) > 64 << 20 and int(reply.headers["Content-Length"]) == len(reply.content)
    items = reply.json()["items"]
    assert len(items) == count and items[-1]["description"] == "x" * 400


def run(api, name, args):
    """The result of a command of util/, None if there is none."""
    return api.post(f"util/{name}", {"command": "run", "utilCmdArgs": args}).get("commandResult")


def test_commands_fail_as_clients_look_for_it(api):
    """f5-common-python takes what begins with the command's name for an error and looks into its words."""
    gone = "/var/config/rest/downloads/gone"
    assert run(api, "unix-rm", gone) == f"/bin/rm: cannot remove '{gone}': No such file or directory\n"
    assert run(api, "unix-ls", gone) == f"/bin/ls: cannot access {gone}: No such file or directory\n"
    assert run(api, "unix-mv", f"{gone} /tmp/b") == f"/bin/mv: cannot move '{gone}': No such file or directory\n"
    assert run(api, "unix-mv", gone) == f"/bin/mv: missing destination file operand after '{gone}'\n"
    assert run(api, "unix-mv", "") == "/bin/mv: missing file operand\n"
    assert refused(api, "POST", "util/unix-ls", {"command": "run", "utilCmdArgs": "-9"}) == (
        400, "unix-ls does not support the option -9")
    for name in ("bash", "unix-ls", "clientssl-ciphers", "serverssl-ciphers"):
        status, message = refused(api, "POST", f"util/{name}", {"command": "run", "utilCmdArgs": '-c "df -k'})
        assert status == 400 and message.endswith(": quotes are not balanced")


def test_ciphers_of_a_string(api):
    for name in ("clientssl-ciphers", "serverssl-ciphers"):
        assert run(api, name, "") == f"Syntax: {name} '<cipher-string>'\n"
        assert "ECDHE-RSA-AES128-GCM-SHA256" in run(api, name, "DEFAULT")
        only = run(api, name, "'ECDHE-RSA-AES256-GCM-SHA384:!TLSv1.3'")
        assert "ECDHE-RSA-AES256-GCM-SHA384" in only and "ECDHE-RSA-AES128-GCM-SHA256" not in only
        assert run(api, name, "none-such") == 'Invalid ciphers: "none-such" names no suite of OpenSSL\n'


def test_types_that_weir_has_not_are_listed_empty(api):
    """Who looks for dependants reads every type; who makes one is told why not."""
    types = {item["reference"]["link"].split("?")[0].removeprefix(LINK) for item in api.items("ltm/monitor")}
    assert {"ltm/monitor/http", "ltm/monitor/mqtt", "ltm/monitor/none", "ltm/monitor/wmi"} <= types
    for path in ("ltm/monitor/mqtt", "ltm/monitor/wmi", "ltm/profile/smtp", "ltm/profile/websocket",
                 "ltm/profile/netflow"):
        assert api.items(path) == []
        status, message = refused(api, "POST", path, {"name": "x"})
        assert status == 400 and f"{path} is not supported: Weir has no " in message
        assert refused(api, "GET", f"{path}/~Common~x") == (
            404, f"01020036:3: The requested {path.split('/')[-1]} (/Common/x) was not found.")


def test_an_appliance_is_no_cluster(api):
    """f5-common-python asks for a chassis' cluster, and for its statistics."""
    assert refused(api, "GET", "sys/cluster/default") == (
        404, "01020036:3: The requested cluster (default) was not found.")
    assert api.get("sys/cluster/stats")["kind"] == "tm:sys:cluster:clustercollectionstats"


def test_the_folder_of_all_others(api):
    """f5-common-python loads the folder / by any of its names."""
    for path in ("sys/folder/~", "sys/folder/~/"):
        root = api.get(path)
        assert (root["kind"], root["name"], root["fullPath"]) == ("tm:sys:folder:folderstate", "/", "/")
        assert root["selfLink"] == LINK + "sys/folder/~?ver=15.1.0"
    assert refused(api, "DELETE", "sys/folder/~")[0] == 404


def test_snmp_has_what_clients_read(api):
    """Those who read sys snmp and write it back, f5-common-python among them, look for LTM's defaults."""
    snmp = api.get("sys/snmp")
    assert (snmp["sysContact"], snmp["sysLocation"]) == ("Customer Name <admin@customer.com>", "Network Closet 1")
    assert [snmp[name] for name in ("loadMax1", "loadMax5", "loadMax15", "trapSource")] == [12, 12, 12, "none"]
    api.put("sys/snmp", {**snmp, "sysLocation": "cellar"})
    assert api.get("sys/snmp")["sysLocation"] == "cellar"
    status, message = refused(api, "PATCH", "sys/snmp", {"loadMax1": 20})
    assert status == 400 and "loadMax1" in message
    api.patch("sys/snmp", {"sysLocation": snmp["sysLocation"]})
    user = {"name": "signed", "authProtocol": "sha", "authPassword": "Long-Enough-1"}
    assert api.post("sys/snmp/users", user)["securityLevel"] == "auth-no-privacy"
    api.delete("sys/snmp/users/~Common~signed")
    assert api.get("sys/db/setup.run")["value"] == "false"
