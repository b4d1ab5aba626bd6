# SPDX-License-Identifier: BSD-3-Clause
"""Application servers behind Weir: nginx, a UDP echo, and a TCP server under the test's control."""
import os
import pathlib
import selectors
import socket
import subprocess
import threading

from .poll import wait_until
from .servers_program import Program

NGINX_CONF = """
daemon off;
master_process on;
user www-data;
worker_processes 1;
pid {dir}/nginx.pid;
error_log {dir}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    log_format line '$msec $remote_addr $remote_port $request $status $body_bytes_sent';
    access_log {access};
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    keepalive_timeout {keepalive};
    keepalive_requests 1000000;
    client_max_body_size 0;
    sendfile on;
    default_type text/plain;
    server {{
{listen}
        add_header X-Server {name} always;
        location = / {{ return 200 "{name}\\n"; }}
        location = /name {{ return 200 "{name}\\n"; }}
        location = /echo {{
            return 200 "server {name}\\nclient $remote_addr\\nport $remote_port\\nlocal $server_addr $server_port\\nx-forwarded-for $http_x_forwarded_for\\n";
        }}
        location /files/ {{ alias {dir}/files/; }}
        location /upload/ {{
            alias {dir}/upload/;
            dav_methods PUT;
            create_full_put_path on;
        }}
        location /slow {{ alias {dir}/files/; limit_rate 20k; }}
        location = /health {{
            if (-f {dir}/sick) {{ return 503 "sick\\n"; }}
            if (-f {dir}/wrong) {{ return 200 "out of order\\n"; }}
            if (-f {dir}/drain) {{ return 200 "drain\\n"; }}
            return 200 "ok\\n";
        }}
    }}
}}
"""


class Nginx(Program):
    """An nginx of its own in a namespace.

    listens: ["10.0.2.1:80", "[fd00:2::1]:80"]. It answers:
      /, /name        its name, also in the header X-Server of every answer
      /echo           lines "client ADDR", "port PORT", "local ADDR PORT", "x-forwarded-for ..."
      /files/NAME     a file put by file()
      /upload/NAME    PUT of any size, found at uploaded(NAME)
      /slow/NAME      the same file at 20 kB/s
      /health         200 "ok"; 503 while sick(), 200 "out of order" while wrong(), "drain" while drain()
    """

    kind = "nginx"

    def __init__(self, ns, name, listens, directory, keepalive=75, access_log=False):
        self.listens, self.keepalive, self.access_log = list(listens), keepalive, access_log
        host, port = self.listens[0].rsplit(":", 1)
        super().__init__(ns, name, (host.strip("[]"), int(port)), directory)

    def prepare(self):
        self.config = NGINX_CONF.format(
            dir=self.dir, name=self.name, keepalive=self.keepalive,
            access=f"{self.dir}/access.log line" if self.access_log else "off",
            listen="\n".join(f"        listen {address} backlog=1024;" for address in self.listens))
        for part in ("files", "upload", "body", "logs"):
            (self.dir / part).mkdir()
            (self.dir / part).chmod(0o777)
        (self.dir / "nginx.conf").write_text(self.config)

    def argv(self):
        return ["nginx", "-p", self.dir, "-c", self.dir / "nginx.conf", "-e", self.dir / "error.log"]

    def ready(self):
        for listen in self.listens:
            host, port = listen.rsplit(":", 1)
            self.ns.connect((host.strip("[]"), int(port)), 1.0).close()
        return True

    def file(self, name, size=0, content=None):
        """Puts a file for /files/NAME; content, or size bytes that differ all along. Returns its path."""
        path = self.dir / "files" / name
        if content is not None:
            path.write_bytes(content)
            return path
        with open(path, "wb") as out:
            left = size
            while left > 0:
                left -= out.write(os.urandom(min(left, 1 << 20)))
        return path

    def uploaded(self, name):
        return self.dir / "upload" / name

    def sick(self, yes=True):
        """/health answers 503; everything else goes on."""
        self._flag("sick", yes)

    def wrong(self, yes=True):
        """/health answers 200 with another text; everything else goes on."""
        self._flag("wrong", yes)

    def drain(self, yes=True):
        """/health answers 200 "drain"; everything else goes on."""
        self._flag("drain", yes)

    def _flag(self, name, yes):
        if yes:
            (self.dir / name).touch()
        else:
            (self.dir / name).unlink(missing_ok=True)

    def asked(self, path, since=0.0):
        """When (time.time()) a page was asked for; needs access_log."""
        lines = (line.split() for line in (self.dir / "access.log").read_text().splitlines())
        return [float(line[0]) for line in lines if line[4] == path and float(line[0]) >= since]

    def stop(self):
        """At once; open connections are closed."""
        if self.running():
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()


class _Reactor:
    """One thread that serves non-blocking sockets of one server."""

    def __init__(self, ns, name, addresses, kind):
        self.ns, self.name = ns, name
        self.selector = selectors.DefaultSelector()
        self.sockets = []
        for host, port in addresses:
            sock = ns.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((host, port))
            if kind == socket.SOCK_STREAM:
                sock.listen(256)
            sock.setblocking(False)
            self.sockets.append(sock)
            self.selector.register(sock, selectors.EVENT_READ)
        self._wake_r, self._wake_w = os.pipe()
        self.selector.register(self._wake_r, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self):
        while True:
            for key, _ in self.selector.select():
                if key.fd == self._wake_r:
                    return
                self.ready(key.fileobj)

    def ready(self, sock):
        raise NotImplementedError

    def stop(self):
        if not self._thread.is_alive():
            return
        os.write(self._wake_w, b"x")
        self._thread.join(5)
        for sock in self.sockets:
            sock.close()
        self.selector.close()
        os.close(self._wake_r)
        os.close(self._wake_w)


class UdpEcho(_Reactor):
    """Answers each datagram from (host, port) with "NAME CLIENT-ADDRESS CLIENT-PORT " + the datagram.

    received: list of (client, bytes); raw=True echoes the datagram alone.
    """

    def __init__(self, ns, name, addresses, raw=False):
        self.received, self.raw = [], raw
        super().__init__(ns, name, addresses, socket.SOCK_DGRAM)

    def ready(self, sock):
        try:
            data, client = sock.recvfrom(65535)
            self.received.append((client, data))
            head = b"" if self.raw else f"{self.name} {client[0]} {client[1]} ".encode()
            sock.sendto(head + data, client)
        except OSError:
            pass  # an ICMP error of an earlier answer, or the client's address is gone


class TcpServer(_Reactor):
    """Accepts and greets with "NAME CLIENT-ADDRESS CLIENT-PORT\\n", then leaves all to the test.

    accepted: list of (socket, client address) in order; take() waits for the next one.
    echo=True: sends back what it gets until the peer closes. greet=False: says nothing first.
    """

    def __init__(self, ns, name, addresses, echo=False, greet=True):
        self.accepted, self.echo, self.greet = [], echo, greet
        self._taken = 0
        super().__init__(ns, name, addresses, socket.SOCK_STREAM)

    def ready(self, sock):
        if sock in self.sockets:
            connection, client = sock.accept()
            self.accepted.append((connection, client))
            if self.greet:
                connection.sendall(f"{self.name} {client[0]} {client[1]}\n".encode())
            if self.echo:
                self.selector.register(connection, selectors.EVENT_READ)
            return
        try:
            data = sock.recv(65536)
            if data:
                sock.sendall(data)
                return
        except OSError:
            pass  # reset by the peer
        self.selector.unregister(sock)
        sock.close()

    def take(self, seconds=5.0):
        """The next accepted connection that was not taken yet: (socket, client address)."""
        wait_until(lambda: len(self.accepted) > self._taken, f"{self.name} accepts", seconds)
        self._taken += 1
        return self.accepted[self._taken - 1]

    def stop(self):
        super().stop()
        for connection, _ in self.accepted:
            connection.close()
