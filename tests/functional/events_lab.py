# SPDX-License-Identifier: BSD-3-Clause
"""All of Weir's daemons, and one receiver of each kind beside them, in Weir's own namespace.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 ...        weir-notify --- rsyslogd (UDP, TCP, TLS)
                                                                        --- snmptrapd
                                                                        --- exim4
                                                                        --- a command
"""
import collections
import json
import re

from alert_lab import MAIL, Smtpd
from log_servers import PORT, TRAP_PORT, LogServer, TrapReceiver, certificates

from topo import wait_until

SEQ = re.compile(r' seq="(\d+)"')
SYSLOG = {"udp": PORT, "tcp": PORT + 1, "tls": PORT + 2}
NAMES = (*(f"syslog:{name}" for name in SYSLOG), "trap:/Common/nms", "alert:/Common/ops", "alert:/Common/page")


class Receivers:
    """Of every kind, as they are configured. said: where the command writes to (alert_lab.Said)."""

    def __init__(self, picture, said):
        self.topo, self.ns, self.dir, self.said = picture.topo, picture.lb, picture.topo.dir, said
        self.dir.chmod(0o755)
        self.ns.address("lo", f"{MAIL}/32")
        self.tls = certificates(self.dir / "tls")
        self.logs = {name: LogServer(self, name, self.tls if name == "tls" else None, port, f"log-{name}")
                     for name, port in SYSLOG.items()}
        self.traps = TrapReceiver(self, {"version": "2c"})
        self.mail = Smtpd(self.dir, self.ns)
        self.weir = None

    def all(self):
        return [*self.logs.values(), self.traps, self.mail]

    def start(self):
        for one in self.all():
            one.start()

    def stop(self):
        for one in self.all():
            one.stop()

    def configure(self, weir, digest=2):
        """After Weir's start."""
        self.weir = weir
        weir.ask("create", kind="sys file ssl-cert", name="logs", body={"content": (self.tls / "ca.pem").read_text()})
        weir.ask("create", kind="sys file alert-script", name="say", body={
            "content": f'#!/bin/sh\n{{ cat; printf "\\nend\\n"; }} > {self.said.path} 2>&1\n'})
        servers = " ".join(f"{name} {{ host 127.0.0.1 remote-port {port} protocol {name} level info "
                           f"{'ca-file logs' if name == 'tls' else ''} }}" for name, port in SYSLOG.items())
        weir.edit("modify", f"sys syslog remote-servers replace-all-with {{ {servers} }}")
        weir.edit("create", f"sys snmp traps nms {{ host 127.0.0.1 port {TRAP_PORT} version 2c community secret "
                            "notify-type inform level info }")
        weir.edit("create", f"sys smtp-server office {{ smtp-server-host-name {MAIL} from-address lb@example.com }}")
        weir.edit("create", "sys alert ops { smtp-servers { office } to { ops@example.com } level notice "
                            f"digest {digest} }}")
        weir.edit("create", f"sys alert page {{ method command script say level notice digest {digest} }}")
        self.known()

    def rows(self):
        return {row["name"]: row for row in self.weir.show("sys receiver")}

    def known(self):
        wait_until(lambda: all("delivered" in self.rows().get(name, {}) for name in NAMES),
                   lambda: f"all receivers are known: {self.rows()}", 20)

    def taken(self, seconds=60, names=NAMES):
        """Until nothing waits any more."""
        def idle():
            rows, last = self.rows(), self.last()
            return all(rows[name].get("waiting") == 0 and rows[name]["delivered"] >= last and not rows[name]["error"]
                       for name in names)
        wait_until(idle, lambda: f"all is taken: {self.rows()}", seconds)

    def last(self):
        return self.weir.ask("log", limit=1)[1]["last"]

    def journal(self, after):
        return self.weir.ask("log", after=after, limit=10000)[0]

    def seqs(self, name, after=0):
        """How often each record came to a log server."""
        found = (int(SEQ.search(line)[1]) for line in self.logs[name].lines() if SEQ.search(line))
        return collections.Counter(seq for seq in found if seq > after)

    def trap_texts(self):
        return collections.Counter(re.findall(r'STRING: "(Virtual \S+ is \S+)"', self.traps.text()))

    def line(self, name, *words, after=0):
        """The lines at a log server that have all these words, of records after one."""
        return [line for line in self.logs[name].lines() if all(word in line for word in words)
                and (number := SEQ.search(line)) and int(number[1]) > after]

    def calls(self):
        return [json.loads(call) for call in self.said.calls()]

    def incidents(self):
        """What the command was told of: {incident: [whether closed, ...]}."""
        told = collections.defaultdict(list)
        for call in self.calls():
            for row in call["incidents"]:
                told[row["incident"]].append(row["closed"])
        return told

    def bodies(self):
        return "\n".join(message.get_content() for message in self.mail.mails())
