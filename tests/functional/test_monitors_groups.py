# SPDX-License-Identifier: BSD-3-Clause
"""Priority groups whose servers go down one after the other, and back.

    client --- 1.1 Weir 1.2 --- switch --- s1 (priority 10) s2 (5) s3 (1)
"""
import time

import pytest
from monitored import INTERVAL, SETTLED, Lab, hurt, web

from topo import http_burst, standard
from topo.picture import VIRTUAL, server_address


def only(service, server, out):
    """Nobody else has answered requests that began in the last half second."""
    time.sleep(0.5)
    answers = service.fresh.answered(out + SETTLED)
    assert set(answers) == {server}, answers


@pytest.fixture(scope="module")
def lab():
    with standard(servers=3) as topo:
        topo.picture.members = lambda port: {(server_address(number), port): {"priority_group": priority}
                                             for number, priority in ((1, 10), (2, 5), (3, 1))}
        yield Lab(topo.picture, web(check={"failures": 1}, patience=5.0, min_active_members=1))


def test_who_is_down_is_skipped_and_nobody_left_is_told_at_once(lab):
    """github/glb-director#77: the primary is down, then the secondary too: neither gets anything. All down: clients are
    reset at once, and nothing is sent to a server that is known to be down."""
    weir, service = lab.weir, lab.services[0]
    with lab.asked(servers=1):
        for number, heir in ((1, "s2"), (2, "s3")):
            hurt(lab, "sick", number)
            _, out = lab.until(number, ["down"], INTERVAL + 1)[service]
            only(service, heir, out)
        assert not service.fresh.failures()
        hurt(lab, "sick", 3)
        lab.until(3, ["down"], INTERVAL + 1)
        time.sleep(SETTLED)
        begin = time.time()
        burst = http_burst(lab.picture.client, VIRTUAL[4], 5)
        assert not burst.order and all("Refused" in error for error in burst.errors), burst.errors
        time.sleep(0.3)
        assert not any(server.asked("/", begin) for server in service.servers)
        assert weir.drops()["no-member-available"] >= 5
        for number, heir in ((2, "s2"), (3, "s2"), (1, "s1")):
            hurt(lab, "sick", number, False)
            _, back = lab.until(number, ["up"], INTERVAL + 1)[service]
            only(service, heir, back)
        assert not service.kept.failures(), "connections stay where they are"
