# SPDX-License-Identifier: BSD-3-Clause
"""weir-mgmt as a server: TLS, addresses, replies, credentials, bodies, origin; every request here is a client's."""
import json
import re
import subprocess

import pytest
from mgmt_alone import GOOD, JSON, alone, status  # noqa: F401  (alone is a fixture)
from topo import build_dir
from topo.mgmt import basic
from topo.weir import program

PATH = "/mgmt/tm/ltm/pool"
WRONG = ("admin", "wrong")
WHO = {"token": "A" * 26}  # nobody's


def s_client(alone, *options):
    return alone.ns.run(["openssl", "s_client", "-connect", "127.0.0.1:8443", *options], check=False,
                        input="", timeout=10)


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_tls_versions_spoken(alone, version):
    done = s_client(alone, version)
    assert re.search(r"Cipher is (TLS_AES|TLS_CHACHA20|ECDHE-ECDSA-(AES|CHACHA20))", done.stdout)
    assert "Server Temp Key: X25519" in done.stdout


@pytest.mark.parametrize("options", [
    ["-tls1"], ["-tls1_1"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"], ["-tls1_2", "-cipher", "AES128-SHA"],
    ["-tls1_2", "-cipher", "aNULL"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-SHA"]], ids=" ".join)
def test_tls_refused(alone, options):
    done = s_client(alone, *(["-cipher", "ALL:@SECLEVEL=0"] if len(options) == 1 else []), *options)
    assert "Cipher is (NONE)" in done.stdout


def test_client_cannot_renegotiate(alone):
    done = alone.ns.run(["openssl", "s_client", "-tls1_2", "-connect", "127.0.0.1:8443"], check=False,
                        input="R\n", timeout=10)
    assert "RENEGOTIATING" in done.stdout + done.stderr
    assert alone.mgmt.request("GET", PATH).status == 401


def test_own_certificate(alone):
    text = alone.ns.run(["openssl", "x509", "-noout", "-text", "-in", alone.mgmt.tls / "server.crt"]).stdout
    host = alone.ns.run(["hostname"]).stdout.strip()
    for words in (f"Subject: CN = {host}", f"Issuer: CN = {host}", f"DNS:{host}", "DNS:localhost", "IP Address:127.0.0.1",
                  "IP Address:0:0:0:0:0:0:0:1", "NIST CURVE: P-256", "TLS Web Server Authentication", "CA:FALSE"):
        assert words in text
    key = alone.mgmt.tls / "server.key"
    assert key.stat().st_mode & 0o777 == 0o600 and key.owner() == "www-data"
    assert alone.mgmt.tls.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("listen", [0, 1], ids=["IPv4", "IPv6"])
def test_serves_each_address_with_a_certificate_that_fits(alone, listen):
    with alone.mgmt.connect(listen=listen) as sock:
        assert sock.version() == "TLSv1.3"
        sock.sendall(b"GET /mgmt HTTP/1.1\r\nHost: x\r\n\r\n")
        assert status(sock.recv(65536)) == 401


def test_privileges_are_gone(alone):
    text = (alone.ns.run(["cat", f"/proc/{alone.mgmt.pid}/status"])).stdout
    fields = dict(re.findall(r"^(\w+):[ \t]*(.*)$", text, re.M))
    assert fields["Uid"].split() == [str(alone.mgmt.tls.stat().st_uid)] * 4
    assert fields["CapPrm"] == fields["CapEff"] == "0" * 16
    assert fields["NoNewPrivs"] == "1"
    assert fields["Groups"].strip() == ""
    limits = alone.ns.run(["cat", f"/proc/{alone.mgmt.pid}/limits"]).stdout
    assert re.search(r"Max core file size\s+0\s+0", limits)


@pytest.mark.skipif(build_dir().name == "build-sanitize", reason="no filter with sanitizers")
def test_system_calls_are_filtered(alone):
    text = alone.ns.run(["cat", f"/proc/{alone.mgmt.pid}/status"]).stdout
    assert re.search(r"^Seccomp:\s*2$", text, re.M)


def test_reply_has_what_clients_and_browsers_need(alone):
    reply = alone.mgmt.request("GET", PATH)
    assert reply.headers["Content-Type"] == "application/json; charset=UTF-8"
    assert int(reply.headers["Content-Length"]) > 0
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
    assert "Strict-Transport-Security" not in reply.headers and "Access-Control-Allow-Origin" not in reply.headers


def test_no_credentials_are_answered_as_clients_expect(alone):
    """icontrol.md 1.4: the framework's form and the text that clients look for."""
    reply = alone.mgmt.request("GET", PATH)
    assert reply.status == reply.body["code"] == 401
    assert reply.body["message"].startswith(
        "Authorization failed: no user authentication header or token detected. Uri:/mgmt/tm/ltm/pool Referrer:127.0.0.1")
    assert reply.body["kind"] == ":resterrorresponse" and reply.body["referer"] == "127.0.0.1"
    assert reply.body["restOperationId"] > 0


def test_icontrol_is_challenged(alone):
    """icontrol.md 0, item 10: SOAP clients send credentials only then."""
    for path in ("/iControl/iControlPortal.cgi", "/iControl/iControlPortal.cgi?WSDL=LocalLB.Pool"):
        reply = alone.mgmt.request("GET", path)
        assert reply.status == 401 and reply.headers["WWW-Authenticate"] == 'Basic realm="BIG-IP"'
    soap = {"Content-Type": "text/xml; charset=utf-8", "SOAPAction": '"urn:iControl:LocalLB/Pool"'}
    reply = alone.mgmt.request("POST", "/iControl/iControlPortal.cgi", b"<x/>", soap)
    assert reply.status == 401 and reply.headers["WWW-Authenticate"] == 'Basic realm="BIG-IP"'


def test_browser_is_not_challenged(alone):
    """Or it would ask by itself, and then send what it was told with every request from anywhere."""
    reply = alone.mgmt.request("GET", PATH, headers={"Sec-Fetch-Site": "same-origin"})
    assert reply.status == 401 and "WWW-Authenticate" not in reply.headers


@pytest.mark.parametrize("headers", [
    {"Authorization": ""}, {"Authorization": "Basic"}, {"Authorization": "Basic "}, {"Authorization": "Basic Og=="},
    {"Authorization": basic("admin", "")}, {"Authorization": basic("", "x")}, {"Authorization": "Basic YWRtaW4="},
    {"Authorization": "Basic !!!!"}, {"Authorization": "Bearer abc"}, {"Authorization": "Digest username=admin"},
    {"Authorization": basic("a" * 64, "x")}, {"Authorization": basic("admin", "x" * 256)},
    {"X-F5-Auth-Token": ""}, {"X-F5-Auth-Token": "a b"}, {"X-F5-Auth-Token": "A" * 64},
    {"X-F5-Auth-Token": "", "Authorization": basic(*WRONG)}, {"X-F5-Auth-Token": "A" * 26, "Authorization": "Basic "}],
    ids=str)
def test_malformed_credentials(alone, headers):
    reply = alone.mgmt.request("GET", PATH, headers=headers)
    assert reply.status == 401 and reply.body["message"].startswith("Authorization failed: the ")


@pytest.mark.parametrize("headers", [
    {"Authorization": basic(*WRONG)}, {"X-F5-Auth-Token": "A" * 26},
    {"X-F5-Auth-Token": "A" * 26, "Authorization": basic(*WRONG)}], ids=["Basic", "token", "both"])
def test_wrong_credentials_are_judged_by_weir_cp(alone, headers):
    reply = alone.mgmt.request("GET", PATH, headers=headers)
    assert reply.status == 401 and reply.body["code"] == 401


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PROPFIND", "get"])
def test_methods_refused(alone, method):
    reply = alone.mgmt.request(method, PATH, **WHO)
    assert reply.status == 405 and "PATCH" in reply.headers["Allow"]


def test_head_has_no_body(alone):
    reply = alone.mgmt.request("HEAD", PATH)
    assert reply.status == 401 and reply.body == b"" and int(reply.headers["Content-Length"]) > 0


def test_unknown_paths(alone):
    for path in ("/", "/tmui/login.jsp", "/mgmtx", "/icontrol", "/favicon.ico"):
        reply = alone.mgmt.request("GET", path, **WHO)
        assert reply.status == 404 and reply.body["message"].startswith("Public URI path not registered")


def test_connection_serves_many_requests(alone):
    """The SDK keeps its connection; HTTP/1.0 does not."""
    with alone.mgmt.session() as session:
        numbers = [alone.mgmt.request("GET", PATH, session=session).body["restOperationId"] for _ in range(20)]
        assert numbers == sorted(set(numbers))
    data = alone.talk(b"GET /mgmt HTTP/1.0\r\n" + GOOD + b"\r\n", until_closed=True)
    assert status(data) and b"Connection: close" in data


def test_error_leaves_the_connection_usable(alone):
    """A body of moderate size is read to its end before it is refused, so that the client sees the answer."""
    with alone.mgmt.session() as session:
        for body, headers, expected in ((b"x" * 900_000, {"Content-Type": "text/plain"}, 415), (b"{}", {}, 401)):
            reply = alone.mgmt.request("POST", PATH, body, headers, session, **WHO)
            assert reply.status == expected


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                                  "application/jsonx", "text/xml", ""])
def test_bodies_of_other_types(alone, kind):
    reply = alone.mgmt.request("POST", PATH, b"{}", {"Content-Type": kind}, **WHO)
    assert reply.status == 415


def test_body_without_type(alone):
    """A foreign page can send one without asking."""
    data = alone.talk(b"POST /mgmt/tm HTTP/1.1\r\n" + GOOD + b"Content-Length: 2\r\n\r\n{}")
    assert status(data) == 415


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"])
def test_bodies_of_json(alone, kind):
    reply = alone.mgmt.request("POST", PATH, b"{}", {"Content-Type": kind}, **WHO)
    assert reply.status == 401


@pytest.mark.parametrize("headers, refused", [
    ({"Origin": "https://evil.example"}, True), ({"Origin": "null"}, True), ({"Origin": "http://127.0.0.1:8443"}, True),
    ({"Origin": "https://127.0.0.1:9443"}, True), ({"Sec-Fetch-Site": "cross-site"}, True),
    ({"Sec-Fetch-Site": "same-site"}, True), ({"Origin": "https://127.0.0.1:8443", "Sec-Fetch-Site": "cross-site"}, True),
    ({"Origin": "https://127.0.0.1:8443"}, False), ({"Origin": "https://127.0.0.1:8443", "Sec-Fetch-Site": "same-origin"}, False),
    ({"Referer": "https://evil.example/"}, False)], ids=str)
def test_origin(alone, headers, refused):
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        reply = alone.mgmt.request(method, PATH, {}, headers, **WHO)
        assert reply.status == (403 if refused else 401), method
    assert alone.mgmt.request("GET", PATH, headers=headers, **WHO).status == 401


def test_spaces_in_the_query(alone):
    """icontrol.md 1.3: some clients write $filter with plain spaces."""
    data = alone.talk(b"GET /mgmt/tm/ltm/pool?$filter=partition eq Common HTTP/1.1\r\n" + GOOD + b"\r\n")
    assert status(data) == 401 and b"Uri" not in data


def test_large_bodies(alone):
    assert alone.mgmt.request("POST", PATH, b" " * (1 << 20), **WHO).status == 401
    for size, more in (1 << 30, {}), ((1 << 20) + 1, {"Expect": "100-continue"}):
        head = f"Content-Length: {size}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in more.items())
        data = alone.talk(b"POST /mgmt HTTP/1.1\r\n" + GOOD + JSON + head.encode() + b"\r\n", until_closed=True)
        assert status(data) == 413
    done = alone.ns.run(["curl", "-sk", "-H", "X-F5-Auth-Token: wrong", "-H", "Content-Type: application/json", "-H", "Expect:",
                         "--data-binary", "@-", alone.mgmt.url + PATH], input="x" * (6 << 20))
    assert json.loads(done.stdout)["code"] == 413


def test_chunked_bodies(alone):
    head = b"POST /mgmt HTTP/1.1\r\n" + GOOD + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
    assert status(alone.talk(head + b"2\r\n{}\r\n0\r\n\r\n")) == 401
    known = head.replace(b"wrong", alone.login().encode())
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    assert status(alone.talk(known + piece * 16 + b"0\r\n\r\n")) == 400
    assert status(alone.talk(known + piece * 17 + b"0\r\n\r\n")) == 413


def test_strangers_send_no_bodies(alone):
    """Whoever is not known is told so before a byte of the body is read."""
    head = b"POST /mgmt/tm HTTP/1.1\r\n" + GOOD + JSON + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n"
    assert status(alone.talk(head, until_closed=True)) == 401
    data = alone.talk(head.replace(b"wrong", alone.login().encode()) + b" " * 9)
    assert b"HTTP/1.1 100 Continue" in data and b" 400 " in data


def test_both_credentials_must_be_right(alone):
    token, right = alone.login(), basic(**alone.admin)
    for headers, expected in (({"X-F5-Auth-Token": token}, 200), ({"Authorization": right}, 200),
                              ({"X-F5-Auth-Token": token, "Authorization": right}, 200),
                              ({"X-F5-Auth-Token": token, "Authorization": basic("nobody", "x")}, 401),
                              ({"X-F5-Auth-Token": "A" * 26, "Authorization": right}, 401),
                              ({"X-F5-Auth-Token": "", "Authorization": right}, 401),
                              ({"X-F5-Auth-Token": token, "Authorization": "Basic "}, 401)):
        assert alone.mgmt.request("GET", PATH, headers=headers).status == expected, headers


def test_connection_header_takes_no_credentials_away(alone):
    """CVE-2022-1388 turned round: what is named there still counts, whether it lets in or keeps out."""
    token = {"X-F5-Auth-Token": alone.login(), "Connection": "keep-alive, X-F5-Auth-Token"}
    assert alone.mgmt.request("GET", PATH, headers=token).status == 200
    wrong = {"X-F5-Auth-Token": "A" * 26, "Connection": "X-F5-Auth-Token", "Authorization": basic(**alone.admin)}
    assert alone.mgmt.request("GET", PATH, headers=wrong).status == 401


def test_address_of_the_client_is_judged(alone):
    """sys httpd allow is weir-cp's; the address is the socket's, not what a header says."""
    alone.cp.edit("modify", "sys httpd allow { 127.0.0.2 }")
    try:
        forged = {"X-Forwarded-For": "127.0.0.2", "Forwarded": "for=127.0.0.2", "X-Real-IP": "127.0.0.2"}
        assert alone.mgmt.request("GET", PATH, headers=forged, **alone.admin).status == 401
        with alone.mgmt.session(source=("127.0.0.2", 0)) as session:
            assert alone.mgmt.request("GET", PATH, session=session, **alone.admin).status == 200
    finally:
        alone.cp.edit("modify", "sys httpd allow { ALL }")


def test_curl_and_requests(alone):
    """Two clients' own ways, trusting the certificate by its file."""
    done = alone.ns.run(["curl", "-s", "--cacert", alone.mgmt.tls / "server.crt", "-H", "X-F5-Auth-Token: wrong", "-w",
                         "%{http_code} %{http_version}", "-o", "/dev/null", alone.mgmt.url + PATH])
    assert done.stdout == "401 1.1"
    script = ("import requests, sys; s = requests.Session(); s.trust_env = False; s.verify = sys.argv[1]; "
              "s.headers['X-F5-Auth-Token'] = 'wrong'; "
              "print(s.get(sys.argv[2] + '?$select=name').status_code, s.post(sys.argv[2], json={'a': 1}).status_code)")
    done = alone.ns.run(["/usr/bin/python3", "-c", script, alone.mgmt.tls / "server.crt", alone.mgmt.url + PATH])
    assert done.stdout.split() == ["401", "401"]


@pytest.mark.parametrize("words", [
    [], ["--run-dir", "/tmp"], ["--run-dir", "/tmp", "--tls-dir", "/tmp", "more"],
    ["--run-dir", "/tmp", "--tls-dir", "/tmp", "--connections", "0"],
    ["--run-dir", "/tmp", "--tls-dir", "/tmp", "--head-timeout", "x"]], ids=str)
def test_arguments_are_explained(words):
    done = subprocess.run([program("weir-mgmt"), *words], capture_output=True, text=True, timeout=10)
    assert done.returncode == 2 and done.stderr.startswith("weir-mgmt --run-dir")


@pytest.mark.parametrize("words, said", [
    (["--listen", "8443"], "is not ADDRESS:PORT"), (["--listen", "::1:8443"], "is not ADDRESS:PORT"),
    (["--listen", "127.0.0.1:0"], "is not ADDRESS:PORT"), (["--listen", "127.0.0.1:65536"], "is not ADDRESS:PORT"),
    (["--listen", "[::1:8443"], "is not ADDRESS:PORT"), (["--listen", "host:8443"], "is not ADDRESS:PORT"),
    (["--listen", "192.0.2.1:8443"], "cannot listen: Cannot assign"), (["--user", "no-such"], "there is no user no-such")])
def test_bad_start_says_why(tmp_path, words, said):
    done = subprocess.run([program("weir-mgmt"), "--run-dir", tmp_path, "--tls-dir", tmp_path / "tls", *words],
                          capture_output=True, text=True, timeout=10)
    assert done.returncode == 1 and said in done.stderr
    assert not (tmp_path / "tls").exists()
