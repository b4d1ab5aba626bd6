# SPDX-License-Identifier: BSD-3-Clause
"""What all Python tests share; tests/ is the import root, so `import topo` works."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from topo import standard  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also the long forms")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; only with --long")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if "long" in item.keywords and not config.getoption("--long"):
            item.add_marker(pytest.mark.skip(reason="only with --long"))


@pytest.fixture(scope="session", autouse=True)
def as_root():
    if os.geteuid():
        pytest.exit("the tests make network namespaces: run them as root", 2)


@pytest.fixture
def topology():
    """topology(servers=2, ...) builds picture.standard() and returns its Picture; removed at the end."""
    opened = []

    def build(**options):
        opened.append(standard(**options))
        return opened[-1].picture

    yield build
    for topo in reversed(opened):
        topo.close()
