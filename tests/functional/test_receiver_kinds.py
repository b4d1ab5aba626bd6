# SPDX-License-Identifier: BSD-3-Clause
"""Objects of those who are told of events: log servers, SNMP, mail servers, alerts, and who may change them.

Ansible's modules for them run unmodified: what they make is not changed by a second run.
"""
import pytest

from topo import standard
from topo.api import Api, Refused

REFUSED = [
    ("sys/syslog", {"remoteServers": [{"name": "a", "host": "no name"}]}, "neither an address nor a name"),
    ("sys/syslog", {"remoteServers": [{"name": "a", "host": "192.0.2.1", "remotePort": 70000}]}, "between 1 and 65535"),
    ("sys/syslog", {"remoteServers": [{"name": "a", "host": "192.0.2.1", "localIp": "::1"}]}, "address family"),
    ("sys/syslog", {"remoteServers": [{"name": "a", "host": "192.0.2.1", "protocol": "sctp"}]}, "udp, tcp, tls"),
    ("sys/syslog", {"remoteServers": [{"name": "a", "host": "192.0.2.1", "modules": "ltm gtm"}]}, "ltm, net, sys"),
    ("sys/syslog", {"remoteServers": [{"name": "a", "host": "192.0.2.1", "serverName": "x"}]}, "need protocol tls"),
    ("sys/syslog", {"remoteServers": [{"name": "a", "host": "192.0.2.1", "protocol": "tls",
                                       "cert": "/Common/default.crt"}]}, "cert and key go together"),
    ("sys/syslog", {"remoteServers": [{"name": "a", "host": "192.0.2.1", "protocol": "tls",
                                       "caFile": "/Common/gone.crt"}]}, "was not found"),
    ("sys/db/log.journal.size", {"value": "0"}, "not between 1 and 65536"),
]
WRONG = [
    ("sys/snmp/communities", {"name": "c"}, "community-name: is missing"),
    ("sys/snmp/communities", {"name": "c", "communityName": "x", "access": "rw"}, "SNMP only reads"),
    ("sys/snmp/communities", {"name": "c", "communityName": "x y"}, "no blanks"),
    ("sys/snmp/communities", {"name": "c", "communityName": "x", "source": "2001:db8::/32"}, "does not fit source"),
    ("sys/snmp/users", {"name": "u", "securityLevel": "auth-privacy", "authProtocol": "sha"}, "auth-password: is needed"),
    ("sys/snmp/users", {"name": "u", "authPassword": "short"}, "fewer than 8 bytes"),
    ("sys/snmp/users", {"name": "u", "authProtocol": "md5"}, "invalid property value"),
    ("sys/snmp/traps", {"name": "t", "host": "192.0.2.1"}, "community: is needed"),
    ("sys/snmp/traps", {"name": "t", "host": "192.0.2.1", "version": "1", "community": "x"}, "invalid property value"),
    ("sys/snmp/traps", {"name": "t", "host": "192.0.2.1", "version": "3"}, "security-name: is needed"),
    ("sys/smtp-server", {"name": "s"}, "smtp-server-host-name"),
    ("sys/smtp-server", {"name": "s", "smtpServerHostName": "192.0.2.1", "authenticationEnabled": True,
                         "username": "u", "passwordEncrypted": "p"}, "needs encrypted-connection"),
    ("sys/alert", {"name": "a", "method": "mail", "to": ["ops@shop.example"]}, "smtp-servers: are needed"),
    ("sys/alert", {"name": "a", "method": "command"}, "script: is needed"),
    ("sys/alert", {"name": "a", "smtpServers": ["/Common/mx"]}, "to: is needed"),
    ("sys/alert", {"name": "a", "smtpServers": ["/Common/mx"], "to": ["nobody"]}, "no mail address"),
    ("sys/alert", {"name": "a", "smtpServers": ["/Common/mx"], "to": ["a@b.example"]}, "has no from-address"),
    ("sys/alert", {"name": "a", "smtpServers": ["/Common/mx"], "to": ["a@b.example"], "from": "l@b.example",
                   "quietFrom": "22:00"}, "go together"),
    ("sys/alert", {"name": "a", "smtpServers": ["/Common/mx"], "to": ["a@b.example"], "from": "l@b.example",
                   "quietFrom": "22:00", "quietTo": "25:00"}, "no time"),
    ("sys/alert", {"name": "a", "smtpServers": ["/Common/mx"], "to": ["a@b.example"], "from": "l@b.example",
                   "quietFrom": "22:00", "quietTo": "06:00", "quietDays": ["someday"]}, "none of: sun"),
]
SECRETS = ("secret-one", "secret-two", "secret-three", "watch-me")


@pytest.fixture(scope="module")
def api():
    with standard(servers=1) as topo:
        yield topo.add(Api(topo.picture.start_weir(network="")))


def test_ansible(api):
    assert api.play("receivers").idle == []
    servers = {row["name"]: row for row in api.get("sys/syslog")["remoteServers"]}
    assert (servers["/Common/central"]["host"], servers["/Common/central"]["remotePort"]) == ("192.0.2.10", 1514)
    assert (servers["/Common/192.0.2.11"]["protocol"], servers["/Common/192.0.2.11"]["level"]) == ("udp", "notice")
    assert api.play("receivers").changed == []


def test_secrets_are_not_shown(api):
    """The community, which tools compare, is for those who may change it; passwords are for nobody."""
    assert api.get("sys/snmp/communities/~Common~reading")["communityName"] == "watch-me"
    seen = "".join(str(api.get(path)) for path in ("sys/snmp/users", "sys/snmp/traps", "sys/smtp-server"))
    assert not any(secret in seen for secret in SECRETS[:3])
    api.post("auth/user", {"name": "eve", "password": "only-looks-on",
                           "partitionAccess": [{"name": "all-partitions", "role": "guest"}]})
    eve = api.log_in("eve", "only-looks-on")
    assert not any(secret in str(eve.get(path)) for secret in SECRETS
                   for path in ("sys/snmp/communities", "sys/snmp/traps", "sys/snmp/users", "sys/smtp-server"))
    with pytest.raises(Refused) as refused:
        eve.patch("sys/smtp-server/~Common~relay", {"smtpServerPort": 25})
    assert refused.value.status in (401, 403)
    shown = api.weir.weirsh("list sys")
    api.weir.weirsh("save sys config")
    assert not any(secret in text for secret in SECRETS for text in (shown, api.weir.conf_path.read_text()))
    eve.close()


def test_delete(api):
    assert api.play("receivers_delete").idle == []
    assert api.play("receivers_delete").changed == []
    assert [row["name"] for row in api.get("sys/syslog")["remoteServers"]] == ["/Common/192.0.2.11"]
    for path in ("sys/snmp/communities", "sys/snmp/users", "sys/snmp/traps", "sys/smtp-server"):
        assert api.items(path) == []


@pytest.mark.parametrize("path, body, reason", REFUSED)
def test_refused(api, path, body, reason):
    before = api.get(path)
    with pytest.raises(Refused) as refused:
        api.patch(path, body)
    assert refused.value.status in (400, 404) and reason in refused.value.message
    assert api.get(path) == before


@pytest.mark.parametrize("path, body, reason", WRONG)
def test_not_created(api, path, body, reason):
    if not api.exists("sys/smtp-server/~Common~mx"):
        api.post("sys/smtp-server", {"name": "mx", "smtpServerHostName": "192.0.2.30"})
    with pytest.raises(Refused) as refused:
        api.post(path, body)
    assert refused.value.status == 400 and reason in refused.value.message
    assert not api.exists(f"{path}/~Common~{body['name']}")


def test_alert(api):
    """Mail servers keep their order; what an alert uses cannot be deleted; scripts are the administrator's."""
    for name in ("mx2", "mx1"):
        api.post("sys/smtp-server", {"name": name, "smtpServerHostName": "mail.shop.example",
                                     "fromAddress": "lb@shop.example"})
    made = api.post("sys/alert", {"name": "ops", "smtpServers": ["/Common/mx2", "/Common/mx1"],
                                  "to": ["ops@shop.example"], "quietFrom": "22:00", "quietTo": "06:30"})
    assert made["smtpServers"] == ["/Common/mx2", "/Common/mx1"]
    assert (made["level"], made["digest"], made["recovery"], made["quietLevel"]) == ("notice", 5, "enabled", "alert")
    with pytest.raises(Refused) as used:
        api.delete("sys/smtp-server/~Common~mx1")
    assert "in use" in used.value.message
    api.post("sys/file/alert-script", {"name": "page.sh", "content": "#!/bin/sh\nexit 0\n"})
    api.post("sys/alert", {"name": "pager", "method": "command", "script": "/Common/page.sh", "args": "-v"})
    api.post("auth/user", {"name": "net", "password": "runs-the-network",
                           "partitionAccess": [{"name": "all-partitions", "role": "resource-admin"}]})
    net = api.log_in("net", "runs-the-network")
    api.post("auth/user", {"name": "looker", "password": "only-looks-on",
                           "partitionAccess": [{"name": "all-partitions", "role": "operator"}]})
    looker = api.log_in("looker", "only-looks-on")  # a script may hold the password of what it speaks to
    assert looker.items("sys/file/alert-script") == [] and not looker.exists("sys/file/alert-script/~Common~page.sh")
    assert "#!/bin/sh" in net.get("sys/file/alert-script/~Common~page.sh")["content"]
    looker.close()
    with pytest.raises(Refused) as refused:
        net.patch("sys/file/alert-script/~Common~page.sh", {"content": "#!/bin/sh\nid\n"})
    assert refused.value.status in (401, 403)
    assert net.patch("sys/alert/~Common~pager", {"level": "err"})["level"] == "err"
    net.close()


def test_saved(api):
    before = {path: api.items(path) for path in ("sys/alert", "sys/smtp-server", "sys/file/alert-script")}
    text = api.weir.weirsh("list sys alert ops")
    assert "smtp-servers { mx2 mx1 }" in " ".join(text.split())
    api.weir.weirsh("save sys config")
    api.weir.weirsh("load sys config")
    after = {path: api.items(path) for path in before}
    for row in (row for rows in (*before.values(), *after.values()) for row in rows):
        del row["generation"]
    assert after == before
