# SPDX-License-Identifier: BSD-3-Clause
"""The dataplane's control socket, played by a test: what weir-cp sends is kept, answers are as told."""
import array
import fcntl
import mmap
import os
import re
import select
import socket
import struct
import threading

from dpcontrol import (EINVAL, HEADER, HELLO, MSG_EVENTS, MSG_HELLO, MSG_LIVE, MSG_MEMORY, MSG_MEMORY_INFO,
                       MSG_NEIGHBOUR_ROWS, MSG_NEIGHBOURS, MSG_RESULT, MSG_SCAN, MSG_SCAN_ROWS, MSG_SNAPSHOT,
                       PORT, REASONS, RESULT)
from topo.weir import ROOT

ADD_SEALS, GET_SEALS, SEALS_ALL = 1033, 1034, 0xf  # fcntl(2); SEAL | SHRINK | GROW | WRITE
SNAP_HEADER = struct.Struct("=QIIQQQQ")  # magic, version, kinds, length, generation, origin, checksum
LIVE_ROW = struct.Struct("=IHHB3xII")
SCAN = struct.Struct("=B3xIQ")
FLOW = struct.Struct("=16s16s16s16sHHHHBBBxIIIII8x2Q2Q")
NEIGHBOUR = struct.Struct("=16sI6sBBI")
EVENT = struct.Struct("=IIIIQ16s6s2x")
SHARED = struct.Struct("=IIII")
WORKER_COUNTERS = len(re.findall(r"\bX\(\w+, \"", (ROOT / "dataplane/api/counters.h").read_text().split(
    "WORKER_COUNTER_LIST(X)")[1].split("#define")[0]))


def v4(text):
    return bytes(10) + b"\xff\xff" + socket.inet_aton(text)


def counter_file(workers, slots):
    """A counter file as api/counters.c lays it out: (descriptor, writable map, offset of shared lines)."""
    def padded(count):
        return (count + 7) // 8 * 8 * 8
    worker, drop = 128, 128 + workers * padded(WORKER_COUNTERS)
    shared = drop + workers * padded(len(REASONS))
    objects = shared + slots * 64
    length = objects + slots * workers * 8 * 8
    head = struct.pack("=QIIIIIIQQQQQ", 0x57454952434e5452, 1, workers, slots, WORKER_COUNTERS, len(REASONS), 8,
                       worker, drop, shared, objects, length)
    fd = os.memfd_create("fake-counters", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.ftruncate(fd, length)
    os.pwrite(fd, head, 0)
    fcntl.fcntl(fd, ADD_SEALS, 0x6)
    return fd, mmap.mmap(fd, length), shared


class FakeDp:
    """Listens on run_dir/dp.sock.

    snapshots: [(generation, origin, bytes)];  live: {id: row};  live_messages: rows of each message.
    refuse: reason given to snapshots, or None.  mute: types that are not answered.
    flows: how many connections a scan finds.
    """

    def __init__(self, run_dir, instance=1, slots=4096):
        self.path = run_dir / "dp.sock"
        self.instance, self.generation, self.origin = instance, 0, 0
        self.snapshots, self.live, self.live_messages, self.scans = [], {}, [], []
        self.refuse, self.mute, self.flows, self.page_limit_seen = None, set(), 0, 0
        self.virtual_of = lambda number: 0
        self.connections = 0
        self.counters_fd, self.counters, self.shared_at = counter_file(1, slots)
        self.peer, self.stopping = None, False
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.path.unlink(missing_ok=True)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def stop(self):
        if self.stopping:
            return
        self.stopping = True
        self.drop()
        self.listener.close()
        self.thread.join(10)
        self.path.unlink(missing_ok=True)
        os.close(self.counters_fd)

    def drop(self):
        """Closes the connection, as a dataplane that dies."""
        if self.peer:
            self.peer.shutdown(socket.SHUT_RDWR)

    def count(self, ident, current, maximum, connections):
        """Statistics of an object."""
        slot = ident & 0x3fffff
        self.counters[self.shared_at + slot * 64:self.shared_at + slot * 64 + 16] = SHARED.pack(
            ident, 0, current, maximum)
        objects = struct.unpack_from("=Q", self.counters, 56)[0]
        struct.pack_into("=Q", self.counters, objects + slot * 64 + 4 * 8, connections)

    def event(self, number, kind, ident, detail=0):
        row = EVENT.pack(kind, ident, detail, 0, number * 10**9, bytes(16), bytes(6))
        self._send(MSG_EVENTS, 0, struct.pack("=QII", number, 1, 0) + row)

    def _serve(self):
        while not self.stopping:
            if not select.select([self.listener], [], [], 0.05)[0]:
                continue
            try:
                self.peer, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            try:
                self._hello()
                while self._one():
                    pass
            except OSError:
                pass
            peer, self.peer = self.peer, None
            peer.close()

    def _send(self, kind, seq, payload, fds=()):
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.peer.sendmsg([HEADER.pack(kind, HEADER.size + len(payload), seq) + payload], ancillary)

    def _hello(self):
        port = PORT.pack(b"1.1", b"\x02\0\0\0\0\x01", 1, 0, b"net_fake")
        ports = port + bytes(PORT.size * 15)
        self._send(MSG_HELLO, 0, HELLO.pack(1, 1, self.generation, self.origin, self.instance, 1) + ports
                   + bytes(4), [self.counters_fd])

    def _result(self, seq, status=0, reason="", rows=0, cursor=0):
        self._send(MSG_RESULT, seq, RESULT.pack(status, rows, self.generation, cursor, reason.encode()))

    def _one(self):
        data, ancillary, _, _ = self.peer.recvmsg(65536, socket.CMSG_SPACE(16))
        if not data:
            return False
        fds = array.array("i")
        for _, _, payload in ancillary:
            fds.frombytes(payload)
        kind, length, seq = HEADER.unpack_from(data)
        assert length == len(data)
        handler = {MSG_SNAPSHOT: self._snapshot, MSG_LIVE: self._live, MSG_SCAN: self._scan,
                   MSG_NEIGHBOURS: self._neighbours, MSG_MEMORY: self._memory}[kind]
        if kind not in self.mute:
            handler(seq, data[HEADER.size:], fds)
        for fd in fds:
            os.close(fd)
        return True

    def _snapshot(self, seq, _, fds):
        assert len(fds) == 1 and fcntl.fcntl(fds[0], GET_SEALS) == SEALS_ALL
        data = os.pread(fds[0], os.fstat(fds[0]).st_size, 0)
        _, _, _, length, generation, origin, _ = SNAP_HEADER.unpack_from(data)
        assert length == len(data)
        if self.refuse:
            self._result(seq, -EINVAL, self.refuse)
            return
        self.generation, self.origin = generation, origin
        self.snapshots.append((generation, origin, data))
        self._result(seq)

    def _live(self, seq, payload, _):
        count = struct.unpack_from("=I", payload)[0]
        assert 1 <= count <= 1024 and len(payload) == 8 + count * LIVE_ROW.size
        rows = [LIVE_ROW.unpack_from(payload, 8 + i * LIVE_ROW.size) for i in range(count)]
        self.live.update({row[0]: row[1:] for row in rows})
        self.live_messages.append(rows)
        self._result(seq)

    def _scan(self, seq, payload, _):
        action, limit, cursor = SCAN.unpack_from(payload)
        self.scans.append((action, limit, cursor, payload[SCAN.size:]))
        end = min(self.flows, cursor + limit) if limit else self.flows
        for start in range(cursor, end, 256) if action == 0 else ():
            rows = [self._flow(number) for number in range(start, min(end, start + 256))]
            self._send(MSG_SCAN_ROWS, seq, struct.pack("=II", len(rows), 0) + b"".join(rows))
        self._result(seq, rows=end - cursor, cursor=end if end < self.flows else 0)

    def _flow(self, number):
        return FLOW.pack(v4("10.0.0.7"), v4("10.0.1.100"), v4("10.0.2.1"), v4("10.0.2.11"), number % 65536, 80,
                         2000, 80, 6, 3, 0, self.virtual_of(number), 0, number, 1, 300, 2, 3, 400, 500)

    def _neighbours(self, seq, _, __):
        row = NEIGHBOUR.pack(v4("10.0.2.11"), 0, b"\x02\0\0\0\0\x09", 1, 0, 12)
        self._send(MSG_NEIGHBOUR_ROWS, seq, struct.pack("=II", 1, 0) + row)
        self._result(seq)

    def _memory(self, seq, _, __):
        self._send(MSG_MEMORY_INFO, seq, struct.pack("=8Q", *range(10, 18)))
        self._result(seq)
