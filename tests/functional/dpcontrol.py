# SPDX-License-Identifier: BSD-3-Clause
"""weir-dp's control socket and counter file (dataplane/api/message.h, counters.h), as weir-cp uses them."""
import array
import mmap
import os
import pathlib
import re
import socket
import struct

_LIST = (pathlib.Path(__file__).parents[2] / "dataplane/api/counters.h").read_text().split(
    "DROP_REASON_LIST(X)")[1].split("enum ")[0]
REASONS = re.findall(r'X\(\w+, "([^"]+)"\)', _LIST)

HEADER = struct.Struct("=IIQ")
HELLO = struct.Struct("=IIQQQI")
PORT = struct.Struct("=16s6sBB24s")
RESULT = struct.Struct("=iIQQ256s")
MSG_HELLO, MSG_SNAPSHOT, MSG_LIVE, MSG_SCAN, MSG_NEIGHBOURS, MSG_MEMORY = 1, 2, 3, 4, 6, 8
MSG_MEMORY_INFO, MSG_EVENTS, MSG_RESULT = 9, 10, 11
MSG_SCAN_ROWS, MSG_NEIGHBOUR_ROWS = 5, 7
EINVAL = 22


class Control:
    """A client of dp.sock."""

    def __init__(self, run_dir):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(10)
        self.sock.connect(str(run_dir / "dp.sock"))
        self.hello, fds = self.receive()
        assert len(fds) == 1
        self.counters_fd = fds[0]

    def receive(self):
        data, ancillary, flags, _ = self.sock.recvmsg(65536, socket.CMSG_SPACE(64))
        fds = array.array("i")
        for level, kind, payload in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(payload)
        return data, list(fds)

    def send(self, data, fds=()):
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.sock.sendmsg([data], ancillary)

    def ask(self, data, fds=()):
        """(messages before the result, (status, rows, generation, cursor, reason), seq); no events."""
        self.send(data, fds)
        before = []
        while True:
            message, _ = self.receive()
            kind, length, seq = HEADER.unpack_from(message)
            assert length == len(message)
            if kind == MSG_RESULT:
                status, rows, generation, cursor, reason = RESULT.unpack_from(message, HEADER.size)
                return before, (status, rows, generation, cursor, reason.rstrip(b"\0").decode()), seq
            if kind != MSG_EVENTS:
                before.append(message)

    def snapshot(self, snapshot):
        """Puts a handsnap.Snapshot in force; the answer (status, rows, generation, cursor, reason)."""
        fd = snapshot.descriptor()
        _, result, _ = self.ask(HEADER.pack(MSG_SNAPSHOT, HEADER.size, snapshot.generation), [fd])
        os.close(fd)
        return result

    def ports(self):
        fields = HELLO.unpack_from(self.hello, HEADER.size)
        at = HEADER.size + HELLO.size
        rows = [PORT.unpack_from(self.hello, at + i * PORT.size) for i in range(fields[5])]
        return {row[0].rstrip(b"\0").decode(): (row[1], row[2], row[4].rstrip(b"\0").decode())
                for row in rows}

    def close(self):
        self.sock.close()
        os.close(self.counters_fd)


class Counters:
    """The two per-worker sections of the counter file (api/counters.h)."""

    def __init__(self, fd):
        self.map = mmap.mmap(fd, 4096 * 4, mmap.MAP_SHARED, mmap.PROT_READ)
        fields = struct.unpack_from("=QIIIIIIQQQQQ", self.map)
        self.workers, self.counts, self.drops = fields[2], fields[4], fields[5]
        self.worker_at, self.drop_at = fields[7], fields[8]

    def _sum(self, at, row, index):
        stride = (row + 7) // 8 * 8
        return sum(struct.unpack_from("=Q", self.map, at + (w * stride + index) * 8)[0]
                   for w in range(self.workers))

    def received(self):
        return self._sum(self.worker_at, self.counts, 0)

    def received_bytes(self):
        return self._sum(self.worker_at, self.counts, 1)

    def named_drops(self):
        """{reason: count}, zeros left out."""
        counts = {name: self._sum(self.drop_at, self.drops, i) for i, name in enumerate(REASONS)}
        return {name: count for name, count in counts.items() if count}

    def turns(self):
        return self._sum(self.worker_at, self.counts, 6)

    def all_drops(self):
        return sum(self._sum(self.drop_at, self.drops, i) for i in range(self.drops))
