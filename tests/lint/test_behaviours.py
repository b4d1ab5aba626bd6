# SPDX-License-Identifier: BSD-3-Clause
"""What operators of load balancers stumble over (members, weights, drain, monitors, reload): a test cites each source."""
import re

import source

SOURCES = {
    "acassen/keepalived": {106, 349, 381, 608, 1163, 1228, 1605},
    "cilium/cilium": {14844, 20407, 27096, 42170},
    "F5Networks/f5-ansible": {872, 1668, 2082},
    "facebookincubator/katran": {80},
    "github/glb-director": {71, 77},
    "haproxy/haproxy": {918, 1683, 2085, 3298},
    "iqiyi/dpvs": {214, 838, 931},
}
# owner/repository#1, #2 and #3
CITATION = re.compile(r"([\w.-]+/[\w.-]+)(#\d+(?:(?:,| and|, and)?\s+#\d+)*)")


def test_every_source_is_cited_by_a_test():
    cited = {repository: set() for repository in SOURCES}
    for path in source.with_suffix(".py"):
        if path.parts[0] == "tests" and path.parts[1] != "lint":
            for repository, numbers in CITATION.findall(source.text(path)):
                cited.setdefault(repository, set()).update(int(number) for number in re.findall(r"\d+", numbers))
    missing = [f"{repository}#{number}" for repository, numbers in SOURCES.items()
               for number in sorted(numbers - cited[repository])]
    assert not missing, "no test cites " + ", ".join(missing)
