# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp's local socket, played by a test: it records requests and answers what the test wants."""
import json
import socket
import struct
import subprocess
import threading

import pytest

from topo.weir import program


def frame(message):
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack("!I", len(data)) + data


class FakeCp:
    """answer(request) yields messages; bytes go out as they are; "close" closes the connection."""

    def __init__(self, run_dir):
        self.run_dir = run_dir
        self.requests = []
        self.answer = lambda request: [{"result": {}}]
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(run_dir / "cp.sock"))
        self.listener.listen()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    self._talk(connection)
                except OSError:
                    pass

    def _talk(self, connection):
        stream = connection.makefile("rb")
        while head := stream.read(4):
            request = json.loads(stream.read(struct.unpack("!I", head)[0]))
            self.requests.append(request)
            for message in self.answer(request):
                if message == "close":
                    return
                connection.sendall(message if isinstance(message, bytes) else frame(message))

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)

    def command(self, *words):
        return [program("weirsh"), "--run-dir", self.run_dir, *words]

    def weirsh(self, *words, stdin=b"", **options):
        """The finished weirsh WORDS..., output as bytes."""
        return subprocess.run(self.command(*words), input=stdin, capture_output=True, timeout=30,
                              check=False, **options)


@pytest.fixture
def fake(tmp_path):
    server = FakeCp(tmp_path)
    yield server
    server.close()
