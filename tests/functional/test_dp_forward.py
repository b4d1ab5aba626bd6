# SPDX-License-Identifier: BSD-3-Clause
"""weir-dp forwards by a hand-written snapshot: the dataplane without control plane."""
import collections

import pytest
from dpbench import FAMILY, opened
from handsnap import SNAT_AUTOMAP, SNAT_NONE


@pytest.mark.parametrize("snat", [SNAT_NONE, SNAT_AUTOMAP], ids=["plain", "automap"])
@pytest.mark.parametrize("family", [4, 6], ids=["ipv4", "ipv6"])
def test_ratio(driver, workers, family, snat):
    with opened() as build:
        bench = build(driver=driver, workers=workers, family=family, snat=snat)
        answers = [bench.ask() for _ in range(40)]
    shares = collections.Counter(name for name, _ in answers)
    assert shares == {"s1": 30, "s2": 10}
    seen = FAMILY[family][0] if snat == SNAT_NONE else FAMILY[family][2]
    assert {address for _, address in answers} == {seen}
