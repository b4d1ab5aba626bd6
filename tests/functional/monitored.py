# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of servers behind virtual servers, watched by monitors, and the fall of one server of each.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3        every server runs one of each kind

Two sorts of clients ask every kind all the time: "fresh" ones with a connection per request, and "kept"
ones that each stay on one connection, so that it is known whose users they are.
"""
import concurrent.futures
import contextlib
import time

from topo import Load, Nginx, exchanges, wait_until
from topo import weirconf as wc
from topo.picture import VIRTUAL, server_address

INTERVAL, TIMEOUT = 1, 4
# From a fault to down at most (docs/monitor-protocol.md, "When is it down?"), for a server that is silent
# or answers wrongly, and for one that refuses.
SILENT, REFUSING = INTERVAL + TIMEOUT - INTERVAL, INTERVAL
SLACK = 1.0  # for a machine that is busy with other things
SETTLED = 0.1  # a request that began this long after "down" was shown must not fail

WAYS = {"kill": REFUSING, "freeze": SILENT, "deaf": SILENT, "unplug": SILENT, "sick": SILENT, "wrong": SILENT}

# The answer's last line, so that "200 OK" is not taken for it.
HTTP_CHECK = {"send": r'"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"', "recv": r'"\\nok"'}


class Service:
    """One kind of server: how to make one, and its monitor, pool, virtual server and clients.

    make(ns, name, address, directory): a topo.servers_program.Program. port: of servers and virtual server.
    monitor: (kind, fields), called NAME-check, or None. pool: more fields of it.
    patience: of clients, in s; whose SYN is lost needs one more than others.
    """

    def __init__(self, name, make, port, exchange, monitor, proto="tcp", patience=1.5, **pool):
        self.name, self.make, self.port, self.exchange, self.monitor = name, make, port, exchange, monitor
        self.proto, self.patience, self.pool = proto, patience, pool
        self.servers, self.fresh, self.kept = [], None, None

    def start_server(self, picture, number):
        server = self.make(picture.servers[number - 1], f"s{number}", (server_address(number), self.port), picture.topo.dir)
        return picture.topo.add(server)

    def config(self, picture):
        text, rule = "", None
        if self.monitor:
            kind, fields = self.monitor
            rule = f"{self.name}-check"
            timing = {} if kind == "inband" else {"interval": INTERVAL, "timeout": TIMEOUT}
            text = wc.monitor(kind, rule, **{**timing, **fields})
        return (text + wc.pool(self.name, picture.members(self.port), monitor=rule, **self.pool)
                + wc.virtual(self.name, VIRTUAL[4], self.port, self.name, proto=self.proto))

    def start_clients(self, picture):
        """Kept ones first, while nobody else takes turns, so that each server has as many of them."""
        ask = (picture.client, self.exchange, (VIRTUAL[4], self.port))
        self.kept = Load(*ask, clients=9, pause=0.2, timeout=self.patience, keep=True)
        wait_until(lambda: len({one.port for one in self.kept.outcomes}) >= 9, f"{self.name}: all are connected")
        self.fresh = Load(*ask, clients=6, pause=0.04, timeout=self.patience)

    def stop_clients(self):
        for load in (self.kept, self.fresh):
            if load:
                load.stop()
        self.kept = self.fresh = None

    def member(self, weir, number, what="monitorStatus"):
        return weir.member(self.name, f"{server_address(number)}:{self.port}", what)


def nginx(ns, name, address, directory):
    return Nginx(ns, name, ["{}:{}".format(*address)], directory, access_log=True)


def web(path="/name", body=b"", monitor="http", check=None, **options):
    """nginx; its monitor asks for /health, the clients for path."""
    fields = {**HTTP_CHECK, **(check or {})} if monitor == "http" else check or {}
    return Service("web", nginx, 80, exchanges.Http(path, body), monitor and (monitor, fields), **options)


class Lab:
    """Weir and some services on the servers of a picture, all up."""

    def __init__(self, picture, *services, **options):
        self.picture, self.services = picture, services
        self.start_servers()
        self.weir = picture.start_weir(*(service.config(picture) for service in services), **options)
        for number in range(1, len(picture.servers) + 1):
            self.until(number, ("up", "unchecked"), 15)

    def start_servers(self):
        """Several at a time: they wait for themselves most of it."""
        numbers = range(1, len(self.picture.servers) + 1)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for service in self.services:
                service.servers = [pool.submit(service.start_server, self.picture, number) for number in numbers]
        for service in self.services:
            service.servers = [started.result() for started in service.servers]

    def named(self, names):
        """Those services; all if names is None."""
        return [service for service in self.services if names is None or service.name in names]

    @contextlib.contextmanager
    def asked(self, servers=None):
        """While clients of every service ask, and every server (or the first so many) has answered both sorts of them."""
        for number in range(1, (servers or len(self.picture.servers)) + 1):
            self.until(number, ("up", "unchecked"), 15)
        try:
            for service in self.services:
                service.start_clients(self.picture)
            for service in self.services:
                self.wait_answered(service.fresh, servers)
                self.wait_answered(service.kept, servers)
            yield
        finally:
            for service in self.services:
                service.stop_clients()

    def wait_answered(self, load, servers=None):
        """Each server has answered since now."""
        count = servers or len(self.picture.servers)
        begin, names = time.monotonic(), {f"s{number}" for number in range(1, count + 1)}

        def answered():
            assert set(load.answered(begin)) == names, f"{load.answered(begin)}, failed: {load.failures(begin)[:3]}"
            return True
        wait_until(answered, f"{sorted(names)} answer")

    def until(self, number, verdict, seconds, names=None):
        """Waits until server number of each service (of those named) shows that; {service: (seconds it took, when)}."""
        begin, seen, services = time.monotonic(), {}, self.named(names)

        def all_show_it():
            for service in services:
                if service not in seen and service.member(self.weir, number) in verdict:
                    now = time.monotonic()
                    seen[service] = (now - begin, now)
            return len(seen) == len(services)
        wait_until(all_show_it, lambda: f"s{number} is {verdict}: {[one.name for one in services if one not in seen]}",
                   seconds, 0.02)
        return seen


def hurt(lab, way, number=1, yes=True, names=None):
    """Does that to server number of every service (of those named), or undoes it."""
    if way == "deaf":
        lab.services[0].servers[number - 1].deaf(yes)
        return
    if way == "unplug":
        lab.picture.lan.ip("link", "set", f"s{number}", "down" if yes else "up")
        return
    for service in lab.named(names):
        server = service.servers[number - 1]
        if way == "kill":
            server.kill() if yes else server.start()
        elif way == "freeze":
            server.freeze() if yes else server.thaw()
        else:
            getattr(server, way)(yes)


@contextlib.contextmanager
def hurting(lab, way, number=1, names=None):
    """Meanwhile server number of the services is hurt. Gives the moment from which it wholly is."""
    try:
        hurt(lab, way, number, True, names)
        yield time.monotonic()
    finally:
        hurt(lab, way, number, False, names)


def fall_and_return(lab, way, bound):
    """Server s1 of each service in bound goes down and comes back; checks what users may and may not notice.

    bound: {service name: longest time to down, in s}.
    """
    watch = 0.5 + max(service.patience for service in lab.named(bound))  # until who was caught by the fault is free
    with lab.asked():
        with hurting(lab, way, names=bound) as begin:
            down = lab.until(1, ["down"], max(bound.values()) + SLACK, bound)
            time.sleep(watch)
        report = {}
        for service, (took, when) in down.items():
            limit = bound[service.name] + SLACK
            assert took <= limit, f"{service.name}: {way} was noticed after {took:.1f} s, at most {limit}"
            report[service.name] = f"{took:.1f} s, {len(service.fresh.failures(begin))} failed"
            check_users(service, "s1", begin, when + SETTLED, when + watch)
        lab.until(1, ["up"], 15, bound)
        back = time.monotonic()
        for service in lab.named(bound):
            lab.wait_answered(service.fresh)
            assert not service.fresh.failures(back), f"{service.name}: after its return: {service.fresh.failures(back)[:3]}"
            assert not service.kept.failures(back)
    print(way, report)


def check_users(service, victim, begin, out, end):
    """From out to end no request that begins fails, and users of other servers see nothing from begin on."""
    late = [one for one in service.fresh.failures(out) if one.start < end]
    assert not late, f"{service.name}: {len(late)} requests failed after detection: {late[:3]}"
    answers = service.fresh.answered(out, end)
    assert victim not in answers and len(answers) == len(service.servers) - 1, f"{service.name}: {answers}"
    others = [one for one in service.kept.failures(begin) if one.server not in (victim, None)]
    assert not others, f"{service.name}: users of other servers: {others[:3]}"
    assert not [one for one in service.kept.failures(out) if one.server is None and one.start < end], f"{service.name}: new users"
