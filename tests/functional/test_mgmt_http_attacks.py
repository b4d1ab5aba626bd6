# SPDX-License-Identifier: BSD-3-Clause
"""What was published against the management interface of BIG-IP in 2020-2022, and its relatives: all refused.

Each request is sent as it was published, with the local interface of weir-cp watched: none may come in as anybody.
"""
import pathlib

import pytest
from mgmt_alone import alone, status  # noqa: F401  (alone is a fixture)

BASH = b'{"command": "run", "utilCmdArgs": "-c id"}'


def raw(method, target, *headers, body=b"", kind="application/json"):
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1:8443", *headers]
    if body:
        lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


# K52145254, CVE-2020-5902: two programs read the same path differently.
TMUI = ["/tmui/login.jsp/..;/tmui/locallb/workspace/fileRead.jsp?fileName=/etc/passwd",
        "/tmui/login.jsp/..;/tmui/locallb/workspace/tmshCmd.jsp?command=list+auth+user+admin",
        "/tmui/login.jsp/..;/tmui/locallb/workspace/directoryList.jsp?directoryPath=/usr/local/www/",
        "/tmui/login.jsp/%2e%2e;/tmui/locallb/workspace/fileRead.jsp?fileName=/etc/hosts",
        "/hsqldb;", "/hsqldb%0a", "/hsqldb%3b"]

# The same idea against our own tree: whatever is open must not lead to what is not.
PATHS = ["/mgmt/shared/authn/login/../../../tm/util/bash", "/mgmt/shared/authn/login/..;/..;/..;/tm/util/bash",
         "/mgmt/shared/authn/login/%2e%2e/%2e%2e/%2e%2e/tm/util/bash", "/mgmt/shared/authn/login/..%2f..%2f..%2ftm/util/bash",
         "/mgmt/shared/authn/login;/../tm/util/bash", "/mgmt/shared/authn/login%00/../tm/util/bash", "/./mgmt/tm/util/bash",
         "/mgmt/shared/authn/login/%252e%252e/%252e%252e/tm/util/bash", "/mgmt/shared/authn/login/..\\..\\..\\tm/util/bash",
         "/mgmt/shared/authn/login/..%5c..%5ctm/util/bash", "/mgmt/shared/authn/login/%c0%ae%c0%ae/%c0%ae%c0%ae/tm/util/bash",
         "/mgmt/shared/authn/login/%e0%80%ae%e0%80%ae/tm/util/bash", "/mgmt%2f..%2fmgmt/tm/util/bash", "/mgmt/tm/~..~..~util/bash",
         "/mgmt/tm/util/bash;.css", "/mgmt/tm/util/bash%3f.js", "/mgmt/tm/util/bash#/mgmt/shared/authn/login",
         "//mgmt//tm/util//bash", "/MGMT/TM/UTIL/BASH", "/mgmt/tm/util/bash/.", "/%6dgmt/tm/util/bash"]

# K03009991, CVE-2021-22986: the log-in that trusted what its caller said, and an empty token that let Basic pass unseen.
LOGIN = "/mgmt/shared/authn/login"
REFERENCE = (b'{"username": "admin", "userReference": {}, "loginReference": {"link": "http://localhost/mgmt/shared/gossip"}}')
ADMIN = "Authorization: Basic YWRtaW46"  # admin and an empty password
TOKENS = [("X-F5-Auth-Token:", ADMIN), ("X-F5-Auth-Token:",), ("X-F5-Auth-Token: ", "Authorization: Basic YWRtaW46QVNhc1M="),
          (ADMIN,), ("Authorization: Basic OmFkbWlu",), ("Authorization: Basic",)]

# K23605346, CVE-2022-1388: Connection made a proxy drop the header that would have been looked at.
HOP = [("Connection: keep-alive, X-F5-Auth-Token", "X-F5-Auth-Token: a", ADMIN),
       ("Connection: X-F5-Auth-Token", "X-F5-Auth-Token: ", ADMIN), ("Connection: close, X-F5-Auth-Token, Content-Length", "X-F5-Auth-Token: x", ADMIN),
       ("Connection: X-F5-Auth-Token, Authorization", "X-F5-Auth-Token: x"),
       ("Connection: keep-alive, X-F5-Auth-Token, X-Forwarded-Host", "X-F5-Auth-Token: x", ADMIN)]

# Headers by which the parts of that product told each other who had logged in, and proxies' words.
INTERNAL = ["X-F5-Auth-User: admin", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-User: admin", "Remote-User: admin",
            "X-F5-REST-Coordination-Id: 1", "X-Forwarded-Host: localhost", "Forwarded: for=127.0.0.1", "Host: localhost",
            "X-F5-New-Authtok-Reqd: false", "X-Real-IP: 127.0.0.1", "X-F5-Gossip: enabled", "Local-Ip-From-Httpd: 127.0.0.1",
            "X-Original-URL: /mgmt/shared/authn/login", "X-Rewrite-URL: /mgmt/shared/authn/login", "Referer: https://localhost/mgmt",
            "X-HTTP-Method-Override: GET", "Cookie: BIGIPAuthCookie=x; BIGIPAuthUsernameCookie=admin"]


@pytest.mark.parametrize("path", TMUI)
def test_cve_2020_5902(alone, path):
    data = alone.talk(raw("GET", path))
    assert status(data) in (400, 404)
    assert b"root:" not in data


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_around_the_check(alone, path):
    for method, body in (("GET", b""), ("POST", BASH)):
        data = alone.talk(raw(method, path, body=body))
        assert status(data) in (400, 401, 404, 405) and b"uid=" not in data


@pytest.mark.parametrize("headers", TOKENS, ids=str)
@pytest.mark.parametrize("path", ["/mgmt/tm/util/bash", LOGIN])
def test_cve_2021_22986_empty_credentials(alone, path, headers):
    data = alone.talk(raw("POST", path, *headers, body=BASH))
    assert status(data) == 401 and b"uid=" not in data


def test_cve_2021_22986_login_by_reference(alone):
    for headers in ((), (ADMIN,), ("X-F5-Auth-Token: ", ADMIN)):
        data = alone.talk(raw("POST", LOGIN, *headers, body=REFERENCE))
        assert status(data) in (400, 401) and b'"token"' not in data


@pytest.mark.parametrize("headers", HOP, ids=str)
def test_cve_2022_1388(alone, headers):
    data = alone.talk(raw("POST", "/mgmt/tm/util/bash", *headers, body=BASH))
    assert status(data) == 401 and b"uid=" not in data and b"commandResult" not in data


def test_connection_header_removes_nothing(alone):
    """A token that is named there is still the one that is judged: it does not exist."""
    for names in ("X-F5-Auth-Token", "close, x-f5-auth-token"):
        data = alone.talk(raw("GET", "/mgmt/tm/sys", f"Connection: {names}", "X-F5-Auth-Token: " + "A" * 26))
        assert status(data) == 401 and b"no user authentication header" not in data


@pytest.mark.parametrize("header", INTERNAL)
def test_no_header_makes_an_identity(alone, header):
    request = raw("POST", "/mgmt/tm/util/bash", header, body=BASH)
    if header.startswith("Host:"):
        request = request.replace(b"Host: 127.0.0.1:8443\r\n", b"")
    assert status(alone.talk(request)) == 401


def test_address_is_the_socket_s(alone):
    """What a client says of its address is not believed."""
    data = alone.talk(raw("GET", "/mgmt/tm/sys", "X-Forwarded-For: 192.0.2.9", "Forwarded: for=192.0.2.9"))
    assert b'"referer":"127.0.0.1"' in data and b"192.0.2.9" not in data


# CVE-2020-5903, 2021-23026, 2022-41622: a browser that is logged in, sent by a foreign page.
@pytest.mark.parametrize("headers", [("Origin: https://evil.example",), ("Origin: null",), ("Sec-Fetch-Site: cross-site",)],
                         ids=str)
def test_foreign_pages(alone, headers):
    soap = b'<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"/>'
    for path, body, kind in (("/iControl/iControlPortal.cgi", soap, "text/xml"), ("/mgmt/tm/util/bash", BASH, "application/json")):
        data = alone.talk(raw("POST", path, *headers, "Authorization: Basic YWRtaW46eA==", body=body, kind=kind))
        assert status(data) == 403


def test_a_form_is_no_request(alone):
    """The body of CVE-2022-41622's page: a form that any page can send without being asked first."""
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        data = alone.talk(raw("POST", "/iControl/iControlPortal.cgi", "Authorization: Basic YWRtaW46eA==", body=b"<a=", kind=kind))
        assert status(data) == 415


def test_no_process_was_ever_started(alone):
    """Last: weir-mgmt has no children, and none of the above made one that outlived it."""
    pid = alone.mgmt.pid
    assert not pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
