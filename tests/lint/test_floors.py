# SPDX-License-Identifier: BSD-3-Clause
"""A folder includes only lower floors and itself; no circles; DPDK stays where it may be."""
import pathlib
import re

import floors
import source

DPDK = re.compile(r"^\s*#\s*include\s+<(rte_[^>]+)>", re.M)
DPDK_FREE = ("dataplane/base/", "dataplane/wire/", "dataplane/api/", "controlplane/", "mgmt/")


def test_includes_go_down():
    wrong = []
    for path in source.with_suffix(".c", ".h"):
        for name, target in source.included(path):
            why = floors.fault(path, target) if target else None
            if why:
                wrong.append(f"{path} includes {name}: {why}")
    assert not wrong, "\n".join(wrong)


def test_includes_are_found():
    """A quoted include that no folder has is a generated header (model) or a mistake."""
    generated = re.compile(r"^model/|^generated/|_generated\.h$|^schema")
    wrong = [f"{path} includes {name}, which no folder has" for path in source.with_suffix(".c", ".h")
             for name, target in source.included(path) if not target and not generated.search(name)]
    assert not wrong, "\n".join(wrong)


def test_no_dpdk_outside():
    wrong = [f"{path} includes <{name}>" for path in source.with_suffix(".c", ".h")
             if str(path).startswith(DPDK_FREE) for name in DPDK.findall(source.text(path))]
    assert not wrong, "\n".join(wrong)


def circle(graph):
    """A list of nodes that form a circle, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for other in sorted(graph.get(node, ())):
            found = visit(other)
            if found:
                return found
        path.pop()
        done.add(node)
        return None

    return next((found for found in map(visit, sorted(graph)) if found), None)


def test_no_circles():
    headers, folders = {}, {}
    for path in source.with_suffix(".c", ".h"):
        for _, target in source.included(path):
            if not target:
                continue
            if path.suffix == ".h":
                headers.setdefault(str(path), set()).add(str(target))
            here, there = "/".join(floors.place(path)), "/".join(floors.place(target))
            if here != there:
                folders.setdefault(here, set()).add(there)
    for graph in (headers, folders):
        found = circle(graph)
        assert not found, "includes in a circle: " + " -> ".join(found)


def test_the_lint_sees_faults():
    assert floors.fault(pathlib.Path("dataplane/net/a.c"), pathlib.Path("dataplane/l4/l4.h"))
    assert floors.fault(pathlib.Path("dataplane/net/a.c"), pathlib.Path("dataplane/lb/lb.h"))
    assert floors.fault(pathlib.Path("dataplane/l4/a.c"), pathlib.Path("controlplane/ipc/ipc.h"))
    assert floors.fault(pathlib.Path("controlplane/model/a.c"), pathlib.Path("dataplane/core/worker.h"))
    assert floors.fault(pathlib.Path("controlplane/model/a.c"), pathlib.Path("controlplane/main/x.h"))
    assert floors.fault(pathlib.Path("mgmt/cli/a.c"), pathlib.Path("controlplane/store/store.h"))
    assert not floors.fault(pathlib.Path("dataplane/l4/a.c"), pathlib.Path("dataplane/flow/flow.h"))
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) and not circle({"a": {"b", "c"}, "b": {"c"}})
