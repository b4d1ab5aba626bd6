# SPDX-License-Identifier: BSD-3-Clause
"""The variants of the functional tests: a test names the ones it runs in."""
import pytest

from topo.picture import CLIENT, SELF_IN, SELF_OUT, VIRTUAL, server_address


class Addresses:
    """The picture's addresses in one family."""

    def __init__(self, family):
        self.family = family
        self.client, self.virtual = CLIENT[family], VIRTUAL[family]
        self.self_out, self.self_in = SELF_OUT[family], SELF_IN[family]
        self.host = 32 if family == 4 else 128

    def server(self, number):
        return server_address(number, self.family)


@pytest.fixture(params=[1, 2], ids=["1worker", "2workers"])
def workers(request):
    return request.param


@pytest.fixture(params=["af_xdp", "af_packet"])
def driver(request):
    return request.param


@pytest.fixture(params=[4, 6], ids=["ipv4", "ipv6"])
def ip(request):
    return Addresses(request.param)


@pytest.fixture
def ip4():
    return Addresses(4)


@pytest.fixture
def ip6():
    return Addresses(6)
