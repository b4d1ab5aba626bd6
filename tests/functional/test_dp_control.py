# SPDX-License-Identifier: BSD-3-Clause
"""What weir-cp asks of a weir-dp under traffic: live state, lists of flows, events, memory, commits."""
import collections
import contextlib
import ctypes
import struct
import time

from dpbench import opened
from dpcontrol import (HEADER, MSG_EVENTS, MSG_LIVE, MSG_MEMORY, MSG_MEMORY_INFO, MSG_NEIGHBOURS,
                       MSG_NEIGHBOUR_ROWS, MSG_SCAN, MSG_SCAN_ROWS, Control)
from handsnap import Address, address, live, u32, u64
from topo import wait_until

LIST, DELETE, COUNT = 0, 1, 2
EVENT_CONNECTIONS_ZERO = 1


class Filter(ctypes.Structure):
    _fields_ = [("client", Address), ("virtual", Address), ("local", Address), ("server", Address),
                ("small", ctypes.c_uint8 * 4), ("ports", ctypes.c_uint16 * 4), ("ids", u32 * 4),
                ("ages", u32 * 3)]


class Scan(ctypes.Structure):
    _fields_ = [("type", u32), ("length", u32), ("seq", u64), ("action", u32), ("limit", u32),
                ("cursor", u64), ("filter", Filter)]


class FlowRow(ctypes.Structure):
    _fields_ = [("client", Address), ("virtual", Address), ("local", Address), ("server", Address),
                ("ports", ctypes.c_uint16 * 4), ("kind", ctypes.c_uint8 * 4), ("ids", u32 * 2),
                ("times", u32 * 3), ("reserved", u32 * 2), ("packets", u64 * 2), ("bytes", u64 * 2)]


def scan(control, action, limit=0, cursor=0, seq=9, **filters):
    """(rows, matches, cursor to go on from)."""
    request = Scan(MSG_SCAN, ctypes.sizeof(Scan), seq, action, limit, cursor, Filter(**filters))
    messages, (status, matches, _, more, reason), answered = control.ask(bytes(request))
    assert (status, reason, answered) == (0, "", seq)
    rows = []
    for message in messages:
        kind, length, _ = HEADER.unpack_from(message)
        assert kind == MSG_SCAN_ROWS
        count, = struct.unpack_from("=I", message, HEADER.size)
        assert length == 24 + count * ctypes.sizeof(FlowRow)
        rows += [FlowRow.from_buffer_copy(message, 24 + i * ctypes.sizeof(FlowRow))
                 for i in range(count)]
    return rows, matches, more


def set_live(control, *rows):
    """rows: (id, Live)."""
    body = b"".join(struct.pack("=I", number) + bytes(state) for number, state in rows)
    length = HEADER.size + 8 + len(body)
    _, result, _ = control.ask(HEADER.pack(MSG_LIVE, length, 3) + struct.pack("=II", len(rows), 0) + body)
    assert result[0] == 0, result


def memory(control):
    messages, result, _ = control.ask(HEADER.pack(MSG_MEMORY, HEADER.size, 4))
    assert result[0] == 0 and HEADER.unpack_from(messages[0])[0] == MSG_MEMORY_INFO
    names = "mbufs mbufs_free flows flows_max flow_bytes heap_bytes heap_blocks malloc_bytes"
    return dict(zip(names.split(), struct.unpack_from("=8Q", messages[0], HEADER.size)))


def test_ratio_changes_at_once(workers):
    """The first connection after the answer follows the new ratio; the answer takes milliseconds."""
    with opened() as build:
        bench = build(workers=workers)
        ids = [row.id for row in bench.commit(2).rows["member"]]
        held = contextlib.ExitStack()
        with held:
            sockets = bench.hold(held, 4)
            start = time.monotonic()
            set_live(bench.control, (ids[0], live(1)), (ids[1], live(4)))
            assert time.monotonic() - start < 0.05
            shares = collections.Counter(bench.ask()[0] for _ in range(10))
            assert shares == {"s1": 2, "s2": 8}
            set_live(bench.control, (ids[0], live(1, avail=0)))
            assert {bench.ask()[0] for _ in range(5)} == {"s2"}
            # Nobody's connection was touched.
            for sock in sockets:
                sock.sendall(b"still there\n")
                assert sock.recv(100) == b"still there\n"
        # An object that the dataplane does not know is skipped.
        set_live(bench.control, (4000, live(9)))


def test_flows_are_listed_in_parts(workers):
    with opened() as build, contextlib.ExitStack() as stack:
        bench = build(workers=workers)
        sockets = bench.hold(stack, 300)
        rows, matches, more = scan(bench.control, LIST)
        assert (len(rows), matches, more) == (300, 300, 0)
        ports = {sock.getsockname()[1] for sock in sockets}
        assert {row.ports[0] for row in rows} == ports
        assert {bytes(row.virtual) for row in rows} == {bytes(address(bench.virtual))}
        parts, cursor = [], 0
        while True:
            rows, matches, cursor = scan(bench.control, LIST, limit=70, cursor=cursor)
            assert matches == len(rows) <= 70
            parts += rows
            if not cursor:
                break
        assert sorted(row.ports[0] for row in parts) == sorted(ports)
        some = min(ports)
        one = (ctypes.c_uint16 * 4)(some)
        assert [row.ports[0] for row in scan(bench.control, LIST, ports=one)[0]] == [some]


def test_flows_are_counted_and_deleted(workers):
    with opened() as build, contextlib.ExitStack() as stack:
        bench = build(workers=workers)
        sockets = bench.hold(stack, 40)
        to_second = address(bench.members[1])
        assert scan(bench.control, COUNT)[1] == 40
        assert scan(bench.control, COUNT, server=to_second)[1] == 10
        assert scan(bench.control, DELETE, limit=4, server=to_second)[1] == 4
        assert scan(bench.control, DELETE, server=to_second)[1] == 6
        assert scan(bench.control, COUNT)[1] == 30
        alive = 0
        for sock in sockets:
            with contextlib.suppress(ConnectionError):
                sock.sendall(b"x\n")
                alive += sock.recv(10) == b"x\n"
        assert alive == 30


def test_neighbours_are_listed():
    with opened() as build:
        bench = build(workers=2)
        bench.ask()
        messages, (status, count, *_), _ = bench.control.ask(
            HEADER.pack(MSG_NEIGHBOURS, HEADER.size, 1))
        assert status == 0 and count > 0
        assert {HEADER.unpack_from(m)[0] for m in messages} == {MSG_NEIGHBOUR_ROWS}


def test_bad_scan_is_refused():
    with opened() as build:
        bench = build()
        for request in (Scan(MSG_SCAN, ctypes.sizeof(Scan), 1, 99, 0, 0),
                        Scan(MSG_SCAN, ctypes.sizeof(Scan), 1, LIST, 0, 7 << 32)):
            _, (status, *_, reason), _ = bench.control.ask(bytes(request))
            assert status == -22 and reason.startswith("scan")
        # A place that no table has is the end of that worker's part.
        assert scan(bench.control, LIST, cursor=4_000_000_000)[0] == []


def test_event_when_connections_end():
    with opened() as build:
        bench = build()
        ids = [row.id for row in bench.commit(2).rows["member"]]
        bench.ask()
        seen, numbers = set(), []
        bench.control.sock.settimeout(20)
        while ids[0] not in seen:
            message, _ = bench.control.receive()
            assert HEADER.unpack_from(message)[0] == MSG_EVENTS
            first, count = struct.unpack_from("=QI", message, HEADER.size)
            numbers.append((first, count))
            for i in range(count):
                kind, number = struct.unpack_from("=II", message, 32 + i * 48)
                if kind == EVENT_CONNECTIONS_ZERO:
                    seen.add(number)
        for (first, count), (following, _) in zip(numbers, numbers[1:]):
            assert following == first + count


def test_peer_that_does_not_read():
    """It fills its own queue, nothing else: traffic goes on, and the next connection is served."""
    with opened() as build, contextlib.ExitStack() as stack:
        bench = build()
        bench.hold(stack, 100)
        request = bytes(Scan(MSG_SCAN, ctypes.sizeof(Scan), 1, LIST))
        bench.control.sock.setblocking(False)
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while sent < 100000:
                bench.control.send(request)
                sent += 1
        assert 0 < sent < 100000
        assert bench.ask()[0] in ("s1", "s2")
        other = Control(bench.run_dir)
        assert scan(other, COUNT)[1] >= 100
        assert memory(other)["malloc_bytes"] < 64 << 20
        other.close()


def test_commits_leave_no_trace(workers):
    """Hundreds of commits under traffic: nothing fails, every memory level comes back."""
    with opened() as build, contextlib.ExitStack() as stack:
        bench = build(workers=workers)
        sockets = bench.hold(stack, 4)

        def storm(first):
            for generation in range(first, first + 150):
                bench.commit(generation, (1 + generation % 3, 1))
                sockets[generation % 4].sendall(b"x")
                assert sockets[generation % 4].recv(10) == b"x"

        storm(2)
        before = memory(bench.control)
        storm(152)
        after = memory(bench.control)
        assert after["flows"] == before["flows"] == 4
        assert after["heap_blocks"] == before["heap_blocks"]
        assert abs(after["malloc_bytes"] - before["malloc_bytes"]) < 4096
        # Buffers on their way are few; those in the drivers' rings come and go in bursts.
        wait_until(lambda: memory(bench.control)["mbufs_free"] >= before["mbufs_free"] - 64,
                   "buffers are back")
