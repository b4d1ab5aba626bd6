# SPDX-License-Identifier: BSD-3-Clause
"""Real servers of six kinds go down under load, in every way: found in time, and nobody else suffers.

    client --- 1.1 Weir 1.2 --- switch --- s1 s2 s3    each runs nginx, Tomcat, PostgreSQL, Redis, dnsmasq and slapd

Each way hits all servers of s1 at once, while clients of all six kinds go on.
"""
import pytest
from monitored import REFUSING, SILENT, WAYS, Lab, Service, fall_and_return, web

from topo import exchanges, standard
from topo.servers_db import PostgreSql, Redis
from topo.servers_java import HEALTH_REQUEST, Tomcat
from topo.servers_names import OK, Dnsmasq, Slapd


def services():
    return [
        web("/health", b"ok"),
        Service("app", Tomcat, 8080, exchanges.Http("/health.jsp", b"ok"),
                ("http", {"send": HEALTH_REQUEST, "recv": r'"\\nok"'}), patience=2.0),
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


@pytest.mark.parametrize("way", ["freeze", "deaf", "wrong", "kill", "sick"])
def test_one_server_of_each_kind_goes_down(lab, way):
    names = ["web", "app"] if way == "sick" else [service.name for service in lab.services]
    bound = dict.fromkeys(names, WAYS[way])
    if WAYS[way] == REFUSING:
        bound["names"] = SILENT  # kernels hold back most "port unreachable", so that it may seem silent
    fall_and_return(lab, way, bound)
