# SPDX-License-Identifier: BSD-3-Clause
"""The management API of a Weir, a REST client, and Ansible.

    api = topo.add(Api(weir))                 # weir-mgmt beside it; admin has a password
    api.post("ltm/pool", {"name": "web"})     # as admin, with a token; Refused unless it is 200
    run = api.play("site", servers=[...])     # with Ansible; no task failed
    assert run.changed == []
"""
import collections
import json
import os
import pathlib
import re
import socket

import requests
import requests.adapters
import urllib3.connection
import urllib3.connectionpool

from .mgmt import Mgmt, basic

ADMIN, PASSWORD = "admin", "Seven-Gates-of-7hebes"
PLAYBOOKS = pathlib.Path(__file__).resolve().parents[1] / "functional" / "playbooks"


class Refused(AssertionError):
    """A reply other than 200; code, message and body are the error's."""

    def __init__(self, reply):
        self.status, self.body = reply.status_code, reply.text
        if reply.headers.get("Content-Type", "").startswith("application/json"):
            self.body = reply.json()
        self.message = self.body.get("message", "") if isinstance(self.body, dict) else self.body
        super().__init__(f"{reply.request.method} {reply.request.path_url}: {self.status} {self.message}")


class _Inside(requests.adapters.HTTPAdapter):
    """Connections are made in a namespace."""

    def __init__(self, ns):
        class Connection(urllib3.connection.HTTPSConnection):
            def _new_conn(self):
                sock = ns.connect((self.host, self.port), 30)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as urllib3 does by itself
                return sock

        class Pool(urllib3.connectionpool.HTTPSConnectionPool):
            ConnectionCls = Connection

        self._pool = Pool
        super().__init__()

    def init_poolmanager(self, *words, **options):
        super().init_poolmanager(*words, **options)
        self.poolmanager.pool_classes_by_scheme = {"https": self._pool}


class Session:
    """REST as one user. Paths are below /mgmt/tm/ unless they begin with '/'.

    token: log in first, as most clients do; else the password goes with each request.
    """

    def __init__(self, mgmt, user=ADMIN, password=PASSWORD, token=True):
        self.mgmt = mgmt
        self.http = requests.Session()
        self.http.trust_env = False
        self.http.verify = str(mgmt.tls / "server.crt")
        self.http.mount("https://", _Inside(mgmt.ns))
        if token:
            login = self.call("POST", "/mgmt/shared/authn/login", {
                "username": user, "password": password, "loginProviderName": "tmos"}).json()
            self.token = login["token"]["token"]
            self.http.headers["X-F5-Auth-Token"] = self.token
        else:
            self.http.headers["Authorization"] = basic(user, password)

    def send(self, method, path, body=None, **options):
        """The reply, whatever it is."""
        url = self.mgmt.url + (path if path.startswith("/") else f"/mgmt/tm/{path}")
        if body is not None:
            options["json"] = body
        return self.http.request(method, url, timeout=60, **options)

    def call(self, method, path, body=None, **options):
        reply = self.send(method, path, body, **options)
        if reply.status_code != 200:
            raise Refused(reply)
        return reply

    def get(self, path, **query):
        return self.call("GET", path, params=query).json()

    def items(self, path, **query):
        """Of a collection; none is an empty list."""
        return self.get(path, **query).get("items", [])

    def post(self, path, body):
        return self.call("POST", path, body).json()

    def patch(self, path, body):
        return self.call("PATCH", path, body).json()

    def put(self, path, body):
        return self.call("PUT", path, body).json()

    def delete(self, path):
        self.call("DELETE", path)

    def exists(self, path):
        reply = self.send("GET", path)
        if reply.status_code == 404:
            return False
        if reply.status_code != 200:
            raise Refused(reply)
        return True

    def stats(self, path):
        """Entries of one object's statistics: {"status.availabilityState": "available", ...}."""
        entries = self.get(f"{path}/stats")["entries"]
        assert len(entries) == 1, entries.keys()
        nested = next(iter(entries.values()))["nestedStats"]["entries"]
        return {name: value.get("value", value.get("description")) for name, value in nested.items()}

    def bash(self, command):
        """The result of a command that the closed table of util/bash knows, None if it has none."""
        return self.post("util/bash", {"command": "run", "utilCmdArgs": f"-c '{command}'"}).get("commandResult")

    def close(self):
        self.http.close()


class Api(Mgmt):
    """weir-mgmt beside a Weir (or anything with ns, run_dir and edit), started, with a session as admin.

    What is said to it as get, post, ... goes through that session.
    """

    def __init__(self, weir, options=()):
        super().__init__(weir.ns, weir.run_dir, options=["--upload-dir", weir.run_dir / "uploads", *options],
                         user=ADMIN, password=PASSWORD)
        self.weir = weir
        weir.run_dir.chmod(0o755)  # for a user that is not root
        weir.edit("modify", f"auth user {ADMIN} password {PASSWORD}")
        self.start()
        try:
            self.admin = Session(self)
        except BaseException:
            self.stop()
            raise

    def __getattr__(self, name):
        if name.startswith("_") or "admin" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.admin, name)

    def log_in(self, user=ADMIN, password=PASSWORD, token=True):
        return Session(self, user, password, token)

    def stop(self):
        if "admin" in self.__dict__:
            self.admin.close()
        super().stop()

    def ansible(self, name, **variables):
        """Runs one of PLAYBOOKS in the namespace, which has no way out of the machine; a Run. Its files: in run_dir."""
        address, port = self.listens[0]
        place = self.weir.run_dir
        variables = {"provider": {"server": address, "server_port": port, "user": self.user, "password": self.password,
                                  "validate_certs": False, "no_f5_teem": True}, "place": str(place), **variables}
        return run_playbook(self.ns, PLAYBOOKS / f"{name}.yml", place, variables)

    def play(self, name, **variables):
        """The same where no task may fail."""
        run = self.ansible(name, **variables)
        assert not run.failed, "\n".join(run.failed)
        return run


Task = collections.namedtuple("Task", "name module changed failed result")


class Run:
    """What a playbook did: tasks in order, and names of those that changed something, did not, or failed."""

    def __init__(self, done):
        start = done.stdout.find("{")
        assert start >= 0, f"ansible-playbook said {done.returncode}: {done.stdout}{done.stderr}"
        self.tasks = [self._task(task) for play in json.loads(done.stdout[start:])["plays"] for task in play["tasks"]]
        self.status = done.returncode
        self.changed = [task.name for task in self.tasks if task.changed]
        self.idle = [task.name for task in self.tasks if not task.changed]
        self.failed = [f"{task.name}: {self._why(task)}" for task in self.tasks if task.failed]
        if self.status and not self.failed:
            self.failed = [f"ansible-playbook ended with {self.status}: {done.stderr}"]

    @staticmethod
    def _task(task):
        result = task["hosts"].get("localhost", {})
        return Task(task["task"]["name"], result.get("action", ""), bool(result.get("changed")),
                    bool(result.get("failed") or result.get("unreachable")), result)

    @staticmethod
    def _why(task):
        lines = re.sub(r"\s+", " ", str(task.result.get("module_stderr", "")))[-600:]
        return f"{task.result.get('msg', '')} {task.result.get('results', '')} {lines}".strip()

    def result(self, name):
        return next(task.result for task in self.tasks if task.name == name)


def run_playbook(ns, playbook, directory, variables, timeout=600):
    home = directory / "ansible"
    home.mkdir(exist_ok=True)
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "F5_TELEMETRY_OFF": "true",
        "ANSIBLE_HOME": str(home), "ANSIBLE_LOCAL_TEMP": str(home / "local"),
        "ANSIBLE_REMOTE_TEMP": str(home / "remote"), "ANSIBLE_STDOUT_CALLBACK": "json",
        "ANSIBLE_PIPELINING": "true", "ANSIBLE_DEPRECATION_WARNINGS": "false",
        "ANSIBLE_RETRY_FILES_ENABLED": "false"}
    words = ["ansible-playbook", "-i", "localhost,", "-c", "local", "-e", json.dumps(variables),
             "-e", "ansible_python_interpreter=/usr/bin/python3", str(playbook)]
    with open(os.devnull) as nothing:
        return Run(ns.run(words, check=False, timeout=timeout, env=environment, stdin=nothing))
