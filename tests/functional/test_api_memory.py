# SPDX-License-Identifier: BSD-3-Clause
"""A hundred thousand calls of the management API, a million with --long: no daemon grows.

iqiyi/dpvs#382, #588, #875: control messages leaked at each call.
"""
import pathlib
import re

import pytest

from topo import standard
from topo import weirconf as wc
from topo.api import Api
from topo.weir import build_dir

GROWTH_KB = 1024
FIRST = 10_000
# Of ten calls seven read, two push a live field, one commits.
CALLS = """
local calls = {
    {"GET", "ltm/pool/~Common~web?expandSubcollections=true"}, {"GET", "ltm/virtual/stats"},
    {"PATCH", "ltm/pool/~Common~web/members/~Common~10.0.2.11:80", '{"ratio": %d}'},
    {"GET", "ltm/node"}, {"GET", "ltm/pool/~Common~none"}, {"GET", "sys/version"},
    {"PATCH", "ltm/node/~Common~10.0.2.11", '{"ratio": %d}'},
    {"GET", "ltm/pool/~Common~web/members/stats"}, {"GET", "ltm/monitor/http"},
    {"PATCH", "ltm/pool/~Common~web", '{"description": "number %d"}'}}
local number = 0
request = function()
    number = number + 1
    local call = calls[number % #calls + 1]
    return wrk.format(call[1], "/mgmt/tm/" .. call[2], nil, call[3] and string.format(call[3], number % 90 + 1))
end
"""


@pytest.fixture
def api(tmp_path):
    with standard(servers=1) as topo:
        picture = topo.picture
        weir = picture.start_weir(wc.pool("web", picture.members(80)) + wc.virtual("web", "10.0.1.100", 80, "web"))
        api = topo.add(Api(weir))
        api.script = tmp_path / "calls.lua"
        api.script.write_text(CALLS)
        yield api


def calls(api, count):
    """So many or a few more; the answers that were errors."""
    done = errors = 0
    while done < count:
        run = api.ns.run(["wrk", "-t1", "-c4", "-d5s", "-s", api.script, "-H", f"X-F5-Auth-Token: {api.admin.token}",
                          "-H", "Content-Type: application/json", api.url], timeout=60)
        assert "Socket errors" not in run.stdout, run.stdout
        done += int(re.search(r"(\d+) requests in", run.stdout)[1])
        errors += int((re.search(r"Non-2xx or 3xx responses: (\d+)", run.stdout) or [0, 0])[1])
    return done, errors


def resident_kb(api):
    return {name: int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
            for name, pid in (("weir-mgmt", api.process.pid), ("weir-cp", api.weir.cp.process.pid),
                              ("weir-dp", api.weir.dp.process.pid))}


@pytest.mark.skipif(build_dir().name == "build-sanitize", reason="a sanitizer keeps what was freed")
@pytest.mark.timeout(3600)
def test_no_daemon_grows(api, request):
    count = 1_000_000 if request.config.getoption("--long") else 100_000
    calls(api, FIRST)
    before = resident_kb(api)
    done, errors = calls(api, count - FIRST)
    after = resident_kb(api)
    print(f"{done} calls: {before} kB, then {after} kB")
    assert errors == pytest.approx(done / 10, rel=0.02), "the one in ten that names no pool"
    assert all(after[name] - before[name] < GROWTH_KB for name in before), (before, after)
