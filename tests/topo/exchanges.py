# SPDX-License-Identifier: BSD-3-Clause
"""What a client of each protocol asks, and how the answer tells which server gave it.

An exchange has kind (of socket), hello (sent first on a connection), request, and parse(data): the
server's name, None while the answer is not complete, ValueError if it is not what it should be.
"""
import re
import socket
import struct


def ber(tag, *parts):
    """One element of up to 127 bytes in BER, LDAP's encoding."""
    content = b"".join(parts)
    if len(content) > 127:
        raise ValueError(f"{len(content)} bytes need a longer length")
    return bytes([tag, len(content)]) + content


class Http:
    """GET of a page whose answer has X-Server; body: how it begins."""

    kind, hello = socket.SOCK_STREAM, b""

    def __init__(self, path="/name", body=b""):
        self.request, self.body = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), body

    def parse(self, data):
        head, mark, body = data.partition(b"\r\n\r\n")
        if not mark:
            return None
        if not head.startswith(b"HTTP/1.1 200"):
            raise ValueError(head[:40].decode("latin-1"))
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if len(body) < int(fields[b"content-length"]):
            return None
        if not body.startswith(self.body):
            raise ValueError(body[:80].decode("latin-1"))
        return fields[b"x-server"].decode()


class Redis:
    kind, hello, request = socket.SOCK_STREAM, b"", b"GET name\r\n"

    def parse(self, data):
        if not data.startswith(b"$"):
            raise ValueError(data[:80].decode("latin-1"))
        lines = data.split(b"\r\n")
        return lines[1].decode() if len(lines) == 3 else None


class PostgreSql:
    kind = socket.SOCK_STREAM
    hello = struct.pack("!II", 41, 3 << 16) + b"user\0postgres\0database\0postgres\0\0"
    request = b"Q" + struct.pack("!I", 24) + b"select name from me\0"

    def parse(self, data):
        name, at = None, 0
        while len(data) >= at + 5:
            kind, length = data[at:at + 1], struct.unpack_from("!I", data, at + 1)[0]
            content = data[at + 5:at + 1 + length]
            if kind == b"E":
                raise ValueError(content.decode("latin-1"))
            if kind == b"D":
                name = content[6:].decode()
            if kind == b"Z" and name:
                return name
            at += 1 + length
        return None


class Ldap:
    """A search of one entry without log-in."""

    kind, hello = socket.SOCK_STREAM, b""
    request = ber(0x30, ber(0x02, b"\1"),
                  ber(0x63, ber(0x04, b"dc=test"), ber(0x0a, b"\0"), ber(0x0a, b"\0"), ber(0x02, b"\0"),
                      ber(0x02, b"\0"), ber(0x01, b"\0"), ber(0x87, b"objectClass"), ber(0x30, ber(0x04, b"o"))))

    def parse(self, data):
        at = 0
        while len(data) >= at + 6:
            if data[at + 5] == 0x65:
                return self._name(data)
            at += 2 + data[at + 1]
        return None

    @staticmethod
    def _name(data):
        found = re.search(rb"\x04\x01o1.\x04(.)", data, re.DOTALL)
        if not found:
            raise ValueError(f"no entry: {data!r}")
        return data[found.end():found.end() + found[1][0]].decode()


class Dns:
    """The text of name.test."""

    kind, hello = socket.SOCK_DGRAM, b""
    request = bytes.fromhex("0701 0100 0001 0000 0000 0000 046e616d65 0474657374 00 0010 0001")

    def parse(self, data):
        if data[:2] != self.request[:2] or data[3] & 15:
            raise ValueError(f"rcode {data[3] & 15}")
        return data[len(self.request) + 13:].decode()
