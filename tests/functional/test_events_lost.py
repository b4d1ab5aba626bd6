# SPDX-License-Identifier: BSD-3-Clause
"""Receivers and daemons die and come back, and receivers are changed, while events come: nothing is lost."""
import itertools
import subprocess
import threading

import pytest
from events_lab import NAMES, SYSLOG, Receivers
from alert_lab import said  # noqa: F401  (a fixture)

from topo import standard, wait_until
from topo import weirconf as wc
from topo.picture import VIRTUAL
from topo.weir import ApiError

CHECK = wc.monitor("http", "web", interval=1, timeout=4, failures=1, send=r'"GET /health HTTP/1.0\r\n\r\n"', recv=r'"\\nok"')
STREAMS = 8


class Stream:
    """Virtual servers are disabled and enabled all the time: a record each, and a trap."""

    def __init__(self, weir):
        self.weir, self.count, self.over = weir, 0, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        for number in itertools.count():
            if self.over.wait(0.02):
                return
            try:
                word = "disabled" if number // STREAMS % 2 == 0 else "enabled"
                self.weir.edit("modify", f"ltm virtual v{number % STREAMS} {word}")
                self.count += 1
            except (ApiError, OSError):
                continue  # weir-cp is away

    def more(self, count=20):
        """Until so many more have been written."""
        goal = self.count + count
        wait_until(lambda: self.count >= goal, "the stream goes on", 30)

    def stop(self):
        self.over.set()
        self.thread.join()


@pytest.fixture
def told(said):  # noqa: F811
    with standard(servers=2) as topo:
        picture = topo.picture
        picture.start_nginx()
        made = Receivers(picture, said)
        made.start()
        weir = picture.start_weir(
            CHECK, wc.pool("web", picture.members(80), monitor="web"), wc.virtual("web", VIRTUAL[4], 80, "web"),
            *(wc.virtual(f"v{number}", VIRTUAL[4], 1000 + number, None) for number in range(STREAMS)), notify=True)
        made.configure(weir)
        wait_until(lambda: all(row["monitorStatus"] == "up" for row in weir.show("ltm pool members", owner="web")), "up", 20)
        made.nginx = picture.nginx
        made.taken()
        yield made
        made.stop()


def nothing_lost(told, begin, twice=0, seconds=90):
    """Each record after begin came to each log server, each trap, and each end of an incident; at most so many twice (of all, or by name)."""
    told.taken(seconds)
    rows = [row for row in told.journal(begin) if row["level"] != "debug"]
    assert len(rows) > 50, "a stream of them"
    for name in SYSLOG:
        wait_until(lambda name=name: {row["seq"] for row in rows} <= set(told.seqs(name, begin)),
                   lambda name=name: f"{name} lost {sorted({row['seq'] for row in rows} - set(told.seqs(name, begin)))[:20]}", 20)
        more = sum(count - 1 for count in told.seqs(name, begin).values())
        most = twice.get(name, 0) if isinstance(twice, dict) else twice
        assert more <= most, f"{name}: {more} twice"
    traps = [row["text"] for row in told.journal(0) if row["id"] in ("0e1f0001", "0e1f0002")]
    wait_until(lambda: all(told.trap_texts()[text] >= traps.count(text) for text in set(traps)),
               lambda: f"traps: {told.trap_texts()}, not {len(traps)}", 30)
    opened = {row["incident"] for row in rows if row.get("part") == "open"}
    closed = {row["incident"] for row in rows if row.get("part") == "close"} & opened
    # The end of one that opened again is told a minute later, when it has lasted.
    wait_until(lambda: opened <= set(told.incidents()) and all(True in told.incidents()[one] for one in closed),
               lambda: f"the command: {told.incidents()}, not {opened}", 150)
    wait_until(lambda: all(f"Incident: {one}\n" in told.bodies() for one in opened),
               lambda: f"mail: {told.bodies()}", 150)
    return opened


def fail(told, number=0):
    """A server fails: an incident."""
    told.nginx[number].sick()
    wait_until(lambda: told.weir.member("web", f"10.0.2.{11 + number}:80", "monitorStatus") == "down", "it is down", 30)


def mend(told, number=0):
    told.nginx[number].sick(False)
    wait_until(lambda: told.weir.member("web", f"10.0.2.{11 + number}:80", "monitorStatus") == "up", "it is up", 30)


def test_every_receiver_is_killed_and_brought_back(told):
    begin, stream = told.last(), Stream(told.weir)
    stream.more()
    for one in told.all():
        one.stop()
    fail(told)
    stream.more(60)
    wait_until(lambda: all(told.rows()[name]["error"] for name in NAMES if name != "alert:/Common/page"),
               lambda: f"the faults are told: {told.rows()}", 30)
    told.weir.notify.check_running()
    for one in told.all():
        one.start()
    stream.more()
    mend(told)
    stream.stop()
    assert len(nothing_lost(told, begin, twice=400)) == 1


@pytest.mark.parametrize("who", ["notify", "cp", "mon"])
def test_a_daemon_is_killed_in_between(told, who):
    begin, stream = told.last(), Stream(told.weir)
    for turn in range(3):
        stream.more()
        told.nginx[turn % 2].sick(turn < 2)
        daemon = getattr(told.weir, who)
        daemon.kill()
        if who != "cp":
            stream.more()
        daemon.start()
        stream.more()
    fail(told, 1)
    mend(told, 0)
    mend(told, 1)
    stream.stop()
    # In flight, and what was taken within 0.2 s before each kill.
    nothing_lost(told, begin, twice=3 * 100 if who == "notify" else 0)
    for daemon in told.weir.daemons():
        daemon.check_running()


def test_receivers_are_changed_under_a_stream(told):
    """Another receiver comes and goes, one gets another level and back, one another host: the others do not notice."""
    begin, stream = told.last(), Stream(told.weir)
    for turn in range(5):
        stream.more(10)
        told.weir.edit("modify", f"sys syslog remote-servers add {{ other{turn} {{ host 127.0.0.1 remote-port 9 protocol tcp }} }}")
        told.weir.edit("create", f"sys snmp traps other{turn} {{ host 127.0.0.1 port 9 community x version 2c }}")
        stream.more(5)
        told.weir.edit("modify", f"sys syslog remote-servers delete {{ other{turn} }}")
        told.weir.edit("delete", f"sys snmp traps other{turn}")
        told.weir.edit("modify", f"sys alert page args turn{turn}")
        told.weir.edit("modify", f"sys alert ops remind {turn + 10}")
    fail(told)
    told.weir.edit("modify", "sys syslog remote-servers modify { tcp { host 127.0.0.9 } }")
    stream.more()
    told.weir.edit("modify", "sys syslog remote-servers modify { tcp { host 127.0.0.1 } }")
    mend(told)
    stream.stop()
    # Its way was cut twice, with what had been written in the last 250 ms not yet sure.
    assert len(nothing_lost(told, begin, twice={"tcp": 200})) == 1


def test_the_state_directory_is_full(told):
    """What cannot be noted is not told to people either, and comes when there is room."""
    state = told.weir.run_dir / "notify"
    told.weir.notify.stop()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "none", state], check=True)
    try:
        told.weir.notify.start()
        wait_until(lambda: list(state.iterdir()), "weir-notify has begun", 10)
        subprocess.run(["dd", "if=/dev/zero", f"of={state}/fill", "bs=4k"], capture_output=True, check=False)
        begin, stream = told.last(), Stream(told.weir)
        stream.more(40)
        fail(told)
        wait_until(lambda: "No space left on device" in told.weir.notify.text(), "that is told", 10)
        (state / "fill").unlink()
        stream.more()
        mend(told)
        stream.stop()
        told.weir.notify.check_running()
        nothing_lost(told, begin)
    finally:
        told.weir.notify.stop()
        subprocess.run(["umount", "-l", state], check=True)
        told.weir.notify.start()
