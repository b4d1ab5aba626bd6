# SPDX-License-Identifier: BSD-3-Clause
"""weir-mgmt and a client of it."""
import base64
import collections
import contextlib
import http.client
import json
import socket
import ssl
import subprocess

from .poll import wait_until
from .weir import MGMT_USER, Daemon

PORT = 8443

Reply = collections.namedtuple("Reply", "status headers body")


class Host:
    """The machine's own network, for what must be reached from outside the namespaces."""

    def popen(self, argv, **options):
        return subprocess.Popen([str(word) for word in argv], **options)

    def run(self, argv, check=True, timeout=60):
        return subprocess.run([str(word) for word in argv], check=check, timeout=timeout, capture_output=True, text=True)

    def connect(self, address, timeout=5.0, source=None):
        return socket.create_connection(address, timeout, source)


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Mgmt(Daemon):
    """weir-mgmt beside the weir-cp of a run directory, which must be open to MGMT_USER.

    ns: a Namespace or Host.  listens: (address, port) pairs; requests go to the first.
    user, password: whom request() is from unless it is told otherwise.
    """

    def __init__(self, ns, run_dir, listens=(("127.0.0.1", PORT),), options=(), user=None, password=None):
        self.tls, self.listens = run_dir / "tls", listens
        self.user, self.password = user, password
        words = ["--run-dir", run_dir, "--tls-dir", self.tls, "--user", MGMT_USER]
        for address, port in listens:
            words += ["--listen", f"[{address}]:{port}" if ":" in address else f"{address}:{port}"]
        super().__init__(ns, "weir-mgmt", [*words, *options], run_dir)

    @property
    def url(self):
        address, port = self.listens[0]
        return f"https://[{address}]:{port}" if ":" in address else f"https://{address}:{port}"

    def start(self):
        super().start()
        wait_until(self._serving, "weir-mgmt serves", 10)

    def _serving(self):
        self.check_running()
        with contextlib.suppress(OSError):
            return self.request("GET", "/").status
        return False

    def context(self):
        """Trusts its certificate alone."""
        context = ssl.create_default_context(cafile=str(self.tls / "server.crt"))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context

    def connect(self, timeout=10.0, context=None, listen=0, source=None):
        """A TLS connection."""
        address = self.listens[listen]
        plain = self.ns.connect(address, timeout, source)
        try:
            return (context or self.context()).wrap_socket(plain, server_hostname=address[0])
        except BaseException:
            plain.close()
            raise

    @contextlib.contextmanager
    def session(self, **options):
        """An http.client connection for several requests."""
        connection = http.client.HTTPSConnection(*self.listens[0])
        connection.sock = self.connect(**options)
        try:
            yield connection
        finally:
            connection.close()

    def headers(self, user=None, password=None, token=None):
        if token:
            return {"X-F5-Auth-Token": token}
        user, password = user or self.user, password or self.password
        return {"Authorization": basic(user, password)} if user else {}

    def request(self, method, path, body=None, headers=None, session=None, **who):
        """One request; body: something for JSON, or bytes. A Reply, its body parsed where it is JSON."""
        headers = {**self.headers(**who), **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None and not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/json"
        with contextlib.nullcontext(session) if session else Mgmt.session(self, timeout=30.0) as connection:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            data = reply.read()
        if data and reply.headers.get("Content-Type", "").startswith("application/json"):
            data = json.loads(data)
        return Reply(reply.status, reply.headers, data)
