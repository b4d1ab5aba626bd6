# SPDX-License-Identifier: BSD-3-Clause
"""The journal on the disk: what was answered is there, what was tampered with is noticed, and it stays within bounds."""
import json
import shutil
import threading

import pytest
from cp_alone import cp, milliseconds  # noqa: F401

from topo import wait_until


def folder(cp):
    return cp.store / "journal"


def segments(cp):
    return sorted(folder(cp).glob("*.log"))


def filled(cp, count=60):
    """Some segments of small size; weir-cp is stopped."""
    cp.start()
    cp.edit("modify", "sys db log.journal.size value 1")
    text = "x" * 120
    while len(segments(cp)) < 3:
        cp.ask("transaction", requests=[{"op": "edit", "verb": "modify", "text": f"ltm pool web description {text}"},
                                        {"op": "edit", "verb": "modify", "text": f"ltm pool web description {len(text)}"}])
        text = text[1:] or "x" * 120
    assert cp.ask("verify-log")[1]["intact"]
    cp.stop()


def test_nothing_answered_is_missing_after_a_kill_in_a_storm(cp):
    cp.start()
    answered = []

    def push(number):
        try:
            for n in range(10000):
                cp.edit("modify", f"ltm pool web description p{number}-{n}")
                answered.append(f"modify ltm pool web description p{number}-{n}")
        except (OSError, EOFError):
            pass
    threads = [threading.Thread(target=push, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(answered) > 300, "a storm", 30)
    cp.daemon.kill()
    for thread in threads:
        thread.join()
    cp.start()
    seen, after = set(), 0
    while rows := cp.ask("log", after=after, type="config", limit=10000)[0]:
        seen |= {row["cause"] for row in rows}
        after = rows[-1]["seq"]
    assert set(answered) <= seen
    assert cp.ask("verify-log")[1]["intact"]


def test_a_torn_last_line_is_cut_off(cp):
    cp.start()
    cp.edit("modify", "ltm pool web description x")
    cp.daemon.kill()
    with segments(cp)[-1].open("ab") as file:
        file.write(b'{"seq":4,"time":17')
    cp.start()
    assert [row["seq"] for row in cp.ask("log")[0]] == [1, 2, 3]
    result = cp.ask("verify-log")[1]
    assert result["intact"] and result["records"] == 3


def tamper_byte(cp):
    path = segments(cp)[0]
    data = bytearray(path.read_bytes())
    data[data.index(b"description") + 1] ^= 1
    path.write_bytes(data)


def tamper_line(cp):
    path = segments(cp)[1]
    lines = path.read_bytes().splitlines(True)
    path.write_bytes(b"".join(lines[:5] + lines[6:]))


def tamper_end(cp):
    path = segments(cp)[-1]
    path.write_bytes(b"".join(path.read_bytes().splitlines(True)[:-3]))


def tamper_file(cp):
    segments(cp)[-1].unlink()


def tamper_oldest(cp):
    segments(cp)[0].unlink()


def tamper_swap(cp):
    first, second = segments(cp)[:2]
    shutil.copy(first, folder(cp) / "x")
    shutil.copy(second, first)
    shutil.move(folder(cp) / "x", second)


@pytest.mark.parametrize("tamper", [tamper_byte, tamper_line, tamper_end, tamper_file, tamper_oldest, tamper_swap])
def test_what_is_tampered_with_is_noticed(cp, tamper):
    filled(cp)
    tamper(cp)
    cp.start()
    result = cp.ask("verify-log")[1]
    said = cp.ask("log", message="0e1f0077")[0]
    assert not result["intact"] and result["seq"] and result["reason"], result
    if tamper is tamper_oldest:
        assert "oldest records are missing" in said[0]["text"]
        assert (result["seq"], result["reason"]) == (1, "is missing")
    cp.edit("modify", "ltm pool web description afterwards")
    assert cp.ask("log", limit=1)[0][0]["cause"].endswith("afterwards"), "it goes on"


def test_a_head_that_was_deleted_with_the_end(cp):
    """The chain alone cannot show it."""
    filled(cp)
    (folder(cp) / "head").unlink()
    tamper_file(cp)
    cp.start()
    [said] = cp.ask("log", message="0e1f0077")[0]
    assert "its head is missing" in said["text"]
    cp.restart()
    assert len(cp.ask("log", message="0e1f0077")[0]) == 1


def test_a_file_deleted_under_a_running_daemon(cp):
    """It is missed at once, after a restart too, and until what is behind it would have been deleted anyway."""
    filled(cp)
    cp.start()
    segments(cp)[0].unlink()
    assert not cp.ask("verify-log")[1]["intact"]
    cp.restart(kill=True)
    cp.restart()
    result = cp.ask("verify-log")[1]
    assert (result["intact"], result["seq"], result["reason"]) == (False, 1, "is missing")


@pytest.mark.parametrize("content", [b"", b"\n\n\n", b"\0" * 5000, b"{" * 40000, b'{"seq":99999999999999999999,', bytes(range(256)) * 99])
def test_any_file_is_survived(cp, content):
    cp.start()
    cp.edit("modify", "ltm pool web description x")
    cp.daemon.kill()
    for path in (*segments(cp), folder(cp) / "head", folder(cp) / "incidents"):
        path.write_bytes(content)
    cp.start()
    cp.edit("modify", "ltm pool web description y")
    rows = cp.ask("log", limit=5)[0]
    assert rows[-1]["cause"].endswith("description y")
    cp.ask("verify-log")


def test_it_stays_within_its_size(cp):
    cp.start()
    cp.edit("modify", "sys db log.journal.size value 1")
    for n in range(4000):
        cp.edit("modify", f"ltm pool web description {n % 7}{'x' * 100}")
    _, result = cp.ask("log")
    assert result["oldest"] > 1

    def size():
        return sum(path.stat().st_size for path in segments(cp))
    wait_until(lambda: size() <= 1 << 20, lambda: f"{size()} bytes", 5)
    assert cp.ask("log", after=0, limit=1)[1]["gone"] == cp.ask("log")[1]["oldest"] - 1
    assert cp.ask("verify-log")[1]["intact"]
    cp.restart(kill=True)
    assert cp.ask("verify-log")[1]["intact"]


def test_a_folder_that_cannot_be_written_stops_nothing(cp):
    cp.start()
    folder(cp).rename(cp.store / "aside")
    (cp.store / "journal").write_text("a file in its place")
    cp.edit("modify", "sys db log.journal.size value 1")
    for n in range(2000):  # until the file that is open is full
        cp.edit("modify", f"ltm pool web description {n % 7}{'x' * 100}")
    assert "cannot be written" in cp.daemon.text()
    (cp.store / "journal").unlink()
    cp.edit("modify", "ltm pool web description back")
    [lost] = cp.ask("log", message="0e1f0076")[0]
    assert lost["count"] > 100


def test_a_million_records(cp, request):
    """--long: a million; else 60,000. Others are answered while they are looked through."""
    count = 1_000_000 if request.config.getoption("--long", default=False) else 60_000
    cp.start()
    cp.edit("modify", "sys db log.journal.size value 1024")
    cp.stop()
    line = json.loads(segments(cp)[0].read_text().splitlines()[1])
    write_chain(cp, line, count)
    cp.start()
    before = memory(cp)
    slowest, done = [0.0], threading.Event()

    def ask():
        while not done.is_set():
            slowest.append(milliseconds(cp.status))
    thread = threading.Thread(target=ask)
    thread.start()
    rows, before_seq = [], None
    while before_seq is None or before_seq > 1:
        more = {"before": before_seq} if before_seq else {}
        part, result = cp.ask("log", actor="nobody", limit=10000, **more)
        rows += part
        before_seq = result["next"] if result["next"] != before_seq else 1
    verified = cp.ask("verify-log")[1]
    done.set()
    thread.join()
    assert rows == [] and verified["records"] >= count and verified["intact"], verified
    assert max(slowest) < 250, f"slowest answer {max(slowest):.0f} ms"
    assert memory(cp) - before < 20 << 20
    print(f"{count} records: slowest other answer {max(slowest):.1f} ms, {memory(cp) - before} bytes more")


def memory(cp):
    with open(f"/proc/{cp.daemon.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def write_chain(cp, like, count):
    """Records after those that are there, with right hashes, as weir-cp would have written them."""
    import hashlib
    last = segments(cp)[-1]
    newest = json.loads(last.read_text().splitlines()[-1])
    digest, seq = newest["hash"], newest["seq"]
    like = {key: value for key, value in like.items() if key not in ("hash", "previous")}
    file, written = last.open("a"), last.stat().st_size
    for _ in range(count):
        seq += 1
        like["seq"] = seq
        row = dict(like)
        if written > 8_000_000:
            file.close()
            file, written = (folder(cp) / f"{seq:020}.log").open("w"), 0
            row["previous"] = digest
        body = json.dumps(row, separators=(",", ":"))[:-1]
        digest = hashlib.sha256((digest + body).encode()).hexdigest()
        written += file.write(f'{body},"hash":"{digest}"}}\n')
    file.close()
