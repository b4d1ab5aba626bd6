# SPDX-License-Identifier: BSD-3-Clause
"""Links in the pages lead somewhere; commands and files that they name exist."""
import re

import pytest
import source

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_PATH = re.compile(r"`((?:\./)?(?:dataplane|controlplane|mgmt|tests|docs|image|lua-scripts|\.ci)/"
                       r"[\w./*-]*|\./\w+)`")


def pages():
    return [path for path in source.files() if path.suffix == ".md"]


def anchors(path):
    """GitHub's form of each heading."""
    for line in source.lines(path):
        if line.startswith("#"):
            yield re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")


@pytest.mark.parametrize("page", pages(), ids=str)
def test_links(page):
    wrong = []
    for target in LINK.findall(source.text(page)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name) if name else page
        if not (source.ROOT / path).exists():
            wrong.append(target)
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            wrong.append(target)
    assert not wrong, f"{page}: links to nowhere: {', '.join(wrong)}"


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "SECURITY.md", "docs/operators-guide.md",
                                  "docs/core-principles.md", "docs/threat-model.md", "docs/performance.md"])
def test_named_paths_exist(page):
    """architecture.md also names what will be built later; the other pages speak of what is there."""
    wrong = []
    for name in CODE_PATH.findall(source.text(page)):
        if not any(source.ROOT.glob(name.removeprefix("./").rstrip("/"))):
            wrong.append(name)
    assert not wrong, f"{page} names what is not there: {', '.join(wrong)}"


def test_every_shared_word_is_listed():
    """Whoever uses an atomic operation shares something; docs/core-principles.md must say what."""
    page = source.text(source.pathlib.Path("docs/core-principles.md"))
    wrong = [str(path) for path in source.with_suffix(".c", ".h")
             if str(path).startswith("dataplane/") and not path.stem.endswith("_test")
             and re.search(r"\b(__atomic_|atomic_|rte_atomic)", source.text(path)) and path.name not in page]
    assert not wrong, "not in docs/core-principles.md: " + ", ".join(wrong)
