# SPDX-License-Identifier: BSD-3-Clause
"""PostgreSQL and Redis, each holding its own name, so that an answer tells who gave it."""
import pathlib
import shutil
import subprocess
import threading

from .servers_program import Program

PG_CONF = """
listen_addresses = '{host}'
port = {port}
unix_socket_directories = '{dir}'
fsync = off
synchronous_commit = off
full_page_writes = off
max_connections = 60
shared_buffers = 1MB
max_wal_size = 32MB
min_wal_size = 32MB
autovacuum = off
max_wal_senders = 0
wal_level = minimal
max_worker_processes = 0
max_logical_replication_workers = 0
"""


def postgres(name):
    """Path of one of PostgreSQL's programs, which Debian keeps out of PATH."""
    places = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not places:
        raise FileNotFoundError(f"{name}: is the package postgresql installed?")
    return places[-1]


class PostgreSql(Program):
    """Table "me" has one row: name, state ("ok"). Everybody is the superuser postgres without password."""

    kind = "postgresql"
    user = "postgres"
    _making = threading.Lock()

    def template(self):
        """initdb takes a second: the first cluster made in a directory is copied for the others."""
        place = self.dir.parent / "postgresql-template"
        with self._making:
            if not place.exists():
                place.mkdir()
                shutil.chown(place, self.user)
                subprocess.run(["runuser", "-u", self.user, "--", postgres("initdb"), "-D", place, "-A", "trust",
                                "--no-sync", "--no-locale", "-E", "UTF8"], check=True, capture_output=True)
        return place

    def prepare(self):
        self.data = self.dir / "data"
        shutil.copytree(self.template(), self.data)
        host, port = self.address
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write(PG_CONF.format(host=host, port=port, dir=self.dir))
        with open(self.data / "pg_hba.conf", "a") as hba:
            hba.write("host all all 0.0.0.0/0 trust\n")
        for path in [self.dir, *self.dir.rglob("*")]:
            shutil.chown(path, self.user)
        self._single(f"create table me as select '{self.name}'::text as name, 'ok'::text as state;\n")

    def _single(self, statement):
        """One statement without a server."""
        subprocess.run(["runuser", "-u", self.user, "--", postgres("postgres"), "--single", "-D", self.data, "postgres"],
                       input=statement, text=True, check=True, capture_output=True)

    def argv(self):
        (self.data / "postmaster.pid").unlink(missing_ok=True)  # of one that was killed
        return [postgres("postgres"), "-D", self.data]

    def ready(self):
        return self.sql("select name from me") == self.name

    def sql(self, statement):
        """The first field of the answer."""
        done = self.ns.run(["psql", "-h", self.dir, "-p", self.address[1], "-U", "postgres", "-XAtqc", statement], check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def wrong(self, yes=True):
        """The row that the monitor asks for says another state."""
        self.sql(f"update me set state = '{'failed' if yes else 'ok'}'")


class Redis(Program):
    """Key "name" is its name, "state" is "ok"."""

    kind = "redis"
    user = "nobody"

    def argv(self):
        host, port = self.address
        return ["redis-server", "--bind", host, "--port", port, "--save", "", "--dir", self.dir, "--protected-mode", "no"]

    def ready(self):
        self._ask(f"SET name {self.name}", "SET state ok")
        return True

    def _ask(self, *commands):
        with self.ns.connect(self.address, 1.0) as sock:
            for command in commands:
                sock.sendall(command.encode() + b"\r\n")
                answer = sock.recv(100)
                assert answer == b"+OK\r\n", answer

    def wrong(self, yes=True):
        self._ask(f"SET state {'failed' if yes else 'ok'}")
