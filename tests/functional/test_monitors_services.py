# SPDX-License-Identifier: BSD-3-Clause
"""PostgreSQL, Redis, DNS and LDAP servers that go down under load: found in time, and nobody else suffers.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3        each runs PostgreSQL, Redis, dnsmasq and slapd

Each way of going down hits s1's four servers at once, while clients of all four protocols go on.
"""
import pytest
from monitored import REFUSING, SILENT, Lab, Service, fall_and_return

from topo import exchanges, standard
from topo.servers_db import PostgreSql, Redis
from topo.servers_names import OK, Dnsmasq, Slapd


def services():
    return [
        Service("sql", PostgreSql, 5432, exchanges.PostgreSql(), ("postgresql", {
            "username": "postgres", "database": "postgres", "send": '"select state from me"', "recv": '"^ok$"'})),
        Service("cache", Redis, 6379, exchanges.Redis(), ("redis", {"send": "state", "recv": "ok"})),
        Service("names", Dnsmasq, 53, exchanges.Dns(), ("dns", {"qname": "www.app.test", "recv": OK}), proto="udp",
                # Else a datagram whose port was used lately follows the flow of that time.
                service_down_action="reset"),
        Service("directory", Slapd, 3890, exchanges.Ldap(), ("ldap", {
            "base": '"dc=test"', "filter": '"cn=health"', "username": '"cn=admin,dc=test"', "password": "secret",
            "mandatory-attributes": "yes"})),
    ]


@pytest.fixture(scope="module")
def lab():
    with standard(servers=3) as topo:
        yield Lab(topo.picture, *services())


@pytest.mark.parametrize("way", ["freeze", "deaf", "wrong", "kill"])
def test_one_server_of_each_goes_down(lab, way):
    bound = dict.fromkeys(("sql", "cache", "names", "directory"), REFUSING if way == "kill" else SILENT)
    bound["names"] = SILENT  # kernels hold back most "port unreachable", so that it may seem silent
    fall_and_return(lab, way, bound)
