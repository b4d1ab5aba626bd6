# SPDX-License-Identifier: BSD-3-Clause
"""Kinds whose engine comes later, over REST: lists with their built-in rows, defaults, inheritance, refusals.

What Ansible's and Terraform's modules read of profiles before they write a virtual server
(docs of both: lists that must have a row, properties that must be there) is what is asked for here.
"""
import subprocess

import pytest

from topo import standard
from topo.api import Api, Refused
from topo.lab import request

BUILTIN = {
    "ltm/profile/tcp": {"tcp", "tcp-lan-optimized", "tcp-wan-optimized", "f5-tcp-lan", "f5-tcp-wan", "f5-tcp-mobile",
                        "f5-tcp-progressive"},
    "ltm/profile/fastl4": {"fastL4"}, "ltm/profile/udp": {"udp"},
    "ltm/profile/http": {"http", "http-explicit", "http-transparent"},
    "ltm/profile/client-ssl": {"clientssl", "clientssl-insecure-compatible"}, "ltm/profile/server-ssl": {"serverssl"},
    "ltm/profile/one-connect": {"oneconnect"}, "ltm/profile/fasthttp": {"fasthttp"},
    "ltm/profile/diameter": {"diameter"}, "ltm/profile/dhcpv4": {"dhcpv4"}, "ltm/profile/dhcpv6": {"dhcpv6"},
    "ltm/profile/sip": {"sip"}, "ltm/profile/http-compression": {"httpcompression"},
    "ltm/profile/web-acceleration": {"webacceleration"}, "ltm/profile/http2": {"http2"}, "ltm/profile/ftp": {"ftp"},
    "ltm/profile/dns": {"dns"}, "ltm/profile/stream": {"stream"}, "ltm/profile/analytics": {"analytics"},
    "ltm/message-routing/sip/profile/session": {"sipsession"},
    "ltm/persistence/cookie": {"cookie"}, "ltm/persistence/source-addr": {"source_addr"},
    "ltm/persistence/dest-addr": {"dest_addr"}, "ltm/persistence/hash": {"hash"}, "ltm/persistence/msrdp": {"msrdp"},
    "ltm/persistence/sip": {"sip_info"}, "ltm/persistence/ssl": {"ssl"}, "ltm/persistence/universal": {"universal"},
    "sys/file/ssl-cert": {"default.crt"}, "sys/file/ssl-key": {"default.key"},
    "ltm/data-group/internal": {"private_net"},
}
EMPTY = ["ltm/rule", "ltm/policy", "ltm/snat", "ltm/nat", "ltm/ifile", "ltm/data-group/external", "sys/file/data-group",
         "sys/file/external-monitor", "sys/file/ifile"]
# What clients decode into a number or a text (icontrol.md, 2.6 and 2.7).
TYPES = {
    "ltm/profile/tcp/~Common~tcp": {"idleTimeout": 300, "timeWaitTimeout": "2000", "ipTosToClient": "0",
                                    "finWait_2Timeout": 300, "keepAliveInterval": 1800, "initCwnd": 3},
    "ltm/profile/fastl4/~Common~fastL4": {"idleTimeout": "300", "clientTimeout": 30, "tcpHandshakeTimeout": "5",
                                          "keepAliveInterval": "disabled", "ipTtlV4": 255, "appService": "none"},
    "ltm/profile/udp/~Common~udp": {"idleTimeout": "60", "datagramLoadBalancing": "disabled"},
    "ltm/profile/http/~Common~http": {"fallbackHost": "none", "lwsWidth": 80, "serverAgentName": "BigIP",
                                      "defaultsFrom": "none", "xffAlternativeNames": []},
    "ltm/profile/client-ssl/~Common~clientssl": {"cert": "/Common/default.crt", "cacheSize": 262144,
                                                 "handshakeTimeout": "10", "cipherGroup": "none",
                                                 "alertTimeout": "indefinite", "sniDefault": "false"},
    "ltm/profile/server-ssl/~Common~serverssl": {"cert": "none", "secureRenegotiation": "require-strict"},
    "ltm/profile/one-connect/~Common~oneconnect": {"sourceMask": "any", "maxReuse": 1000,
                                                   "idleTimeoutOverride": "disabled"},
    "ltm/persistence/cookie/~Common~cookie": {"cookieName": "none", "expiration": "0", "timeout": "180",
                                              "hashLength": 0},
    "ltm/persistence/source-addr/~Common~source_addr": {"mask": "none", "mapProxies": "enabled"},
}
REFUSED = [
    ("ltm/virtual/~Common~v", {"profiles": ["/Common/tcp", "/Common/http"]}, "HTTP profiles are not carried out yet"),
    ("ltm/virtual/~Common~v", {"profiles": [{"name": "clientssl", "partition": "Common", "context": "clientside"}]},
     "/Common/clientssl: TLS is not carried out yet"),
    ("ltm/virtual/~Common~v", {"persist": [{"name": "cookie", "partition": "Common", "tmDefault": "yes"}]},
     "/Common/cookie: persistence is not carried out yet"),
    ("ltm/virtual/~Common~v", {"fallbackPersistence": "/Common/source_addr"}, "persistence is not carried out yet"),
    ("ltm/virtual/~Common~v", {"nat64": "enabled"}, "nat64"),
    ("ltm/virtual/~Common~v", {"gtmScore": 5}, "gtmScore"),
    ("net/vlan/~Common~outside", {"failsafeTimeout": 10}, "failsafeTimeout"),
]


@pytest.fixture(scope="module")
def api():
    with standard(servers=2) as topo:
        topo.picture.start_nginx()
        api = topo.add(Api(topo.picture.start_weir()))
        api.picture = topo.picture
        api.post("ltm/pool", {"name": "web", "members": ["10.0.2.11:80", "10.0.2.12:80"]})
        # as Ansible's module writes a standard virtual server
        api.post("ltm/virtual", {
            "name": "v", "partition": "Common", "destination": "/Common/10.0.1.100:80", "mask": "255.255.255.255",
            "ipProtocol": 6, "pool": "/Common/web", "sourceAddressTranslation": {"type": "automap"},
            "profiles": [{"name": "tcp", "partition": "Common", "fullPath": "/Common/tcp", "context": "all"}],
            "metadata": [{"name": "owner", "value": "shop", "persist": "true"}]})
        yield api


@pytest.mark.parametrize("path", BUILTIN)
def test_builtin_rows(api, path):
    rows = {row["name"]: row for row in api.items(path)}
    assert BUILTIN[path] <= rows.keys()
    assert all(row["fullPath"] == f"/Common/{name}" for name, row in rows.items())


@pytest.mark.parametrize("path", EMPTY)
def test_empty_lists(api, path):
    assert api.items(path) == []


@pytest.mark.parametrize("path", TYPES)
def test_types(api, path):
    row = api.get(path)
    assert {name: row.get(name) for name in TYPES[path]} == TYPES[path]


def test_tcp_profile_is_balanced(api):
    """A virtual server with the tcp profile alone serves clients."""
    names = {request(api.picture.client, "10.0.1.100") for _ in range(8)}
    assert names == {"s1", "s2"}
    row = api.get("ltm/virtual/~Common~v", expandSubcollections="true")
    assert [p["fullPath"] for p in row["profilesReference"]["items"]] == ["/Common/tcp"]
    assert row["metadata"] == [{"name": "owner", "persist": "true", "value": "shop"}]


@pytest.mark.parametrize("path, body, reason", REFUSED)
def test_refused(api, path, body, reason):
    before = api.get(path)
    with pytest.raises(Refused) as refused:
        api.patch(path, body)
    assert refused.value.status == 400 and reason in refused.value.message
    assert api.get(path) == before


def test_profile_inherits(api):
    parent = api.post("ltm/profile/http", {"name": "parent", "hsts": {"mode": "enabled"}, "insertXforwardedFor": "enabled"})
    assert parent["hsts"]["mode"] == "enabled" and parent["defaultsFrom"] == "/Common/http"
    api.post("ltm/profile/http", {"name": "child", "defaultsFrom": "/Common/parent", "lwsWidth": 90})
    child = api.get("ltm/profile/http/~Common~child")
    assert (child["insertXforwardedFor"], child["lwsWidth"], child["hsts"]["mode"]) == ("enabled", 90, "enabled")
    api.patch("ltm/profile/http/~Common~parent", {"insertXforwardedFor": "disabled"})
    assert api.get("ltm/profile/http/~Common~child")["insertXforwardedFor"] == "disabled"
    with pytest.raises(Refused):
        api.delete("ltm/profile/http/~Common~parent")
    api.delete("ltm/profile/http/~Common~child")
    api.delete("ltm/profile/http/~Common~parent")


def test_rule(api):
    text = "function client_accepted(c)\n\tlog('hello \"you\" {')\nend"
    assert api.post("ltm/rule", {"name": "r", "apiAnonymous": text})["apiAnonymous"] == text
    with pytest.raises(Refused) as tcl:
        api.patch("ltm/rule/~Common~r", {"apiAnonymous": "when CLIENT_ACCEPTED {\n  pool web\n}"})
    assert "Weir rules are Lua" in tcl.value.message and "docs/rules.md" in tcl.value.message
    with pytest.raises(Refused) as wrong:
        api.patch("ltm/rule/~Common~r", {"apiAnonymous": "function f("})
    assert "rule:1:" in wrong.value.message
    with pytest.raises(Refused):
        api.patch("ltm/virtual/~Common~v", {"rules": ["/Common/r"]})
    api.delete("ltm/rule/~Common~r")


def test_data_group(api):
    records = [{"name": "10.0.0.0/8", "data": "inside"}, {"name": "192.0.2.1", "data": ""}]
    assert api.post("ltm/data-group/internal", {"name": "d", "type": "ip", "records": records})["records"] == records
    assert api.patch("ltm/data-group/internal/~Common~d", {"records": []}).get("records", []) == []
    api.delete("ltm/data-group/internal/~Common~d")


def test_certificate(api, tmp_path):
    """The key is never shown, what the certificate says is."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "k", "-out",
                    tmp_path / "c", "-days", "30", "-subj", "/C=DE/CN=shop.example"], check=True, capture_output=True)
    cert = api.post("sys/file/ssl-cert", {"name": "shop.crt", "content": (tmp_path / "c").read_text()})
    assert cert["subject"] == "C=DE,CN=shop.example" and cert["certificateKeySize"] == 2048
    key = api.post("sys/file/ssl-key", {"name": "shop.key", "content": (tmp_path / "k").read_text()})
    assert key["keyType"] == "rsa-private" and "PRIVATE" not in str(key)
    chain = [{"name": "shop", "cert": "/Common/shop.crt", "key": "/Common/shop.key"}]
    profile = api.post("ltm/profile/client-ssl", {"name": "shop", "certKeyChain": chain})
    assert profile["certKeyChain"][0]["cert"] == profile["cert"] == "/Common/shop.crt"
    with pytest.raises(Refused) as used:
        api.delete("sys/file/ssl-cert/~Common~shop.crt")
    assert "in use by a profile (/Common/shop)" in used.value.message
    for path in ("ltm/profile/client-ssl/~Common~shop", "sys/file/ssl-cert/~Common~shop.crt",
                 "sys/file/ssl-key/~Common~shop.key"):
        api.delete(path)


def test_snat_is_refused(api):
    with pytest.raises(Refused) as refused:
        api.post("ltm/snat", {"name": "s", "origins": ["10.0.0.0/8"], "automap": True})
    assert "not carried out yet" in refused.value.message


def test_settings(api):
    assert api.patch("sys/global-settings", {"hostname": "lb.example"})["hostname"] == "lb.example"
    assert api.patch("sys/ntp", {"servers": ["192.0.2.1"]})["servers"] == ["192.0.2.1"]
    for path in ("sys/sshd", "sys/snmp", "sys/syslog", "ltm/global-settings/connection"):
        row = api.get(path)
        assert api.put(path, row).keys() == row.keys()


def test_saved(api):
    """What was set is in the file that is saved."""
    api.post("ltm/persistence/cookie", {"name": "keep", "cookieName": "k", "expiration": "1:0:0"})
    before = api.get("ltm/persistence/cookie/~Common~keep")
    api.post("sys/config", {"command": "save"})
    assert "cookie-name k" in api.weir.conf_path.read_text()
    assert api.get("ltm/persistence/cookie/~Common~keep") == before
    api.delete("ltm/persistence/cookie/~Common~keep")
