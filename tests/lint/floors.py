# SPDX-License-Identifier: BSD-3-Clause
"""Which folder may include which: docs/architecture.md, section 3, as data."""
import pathlib

# A folder of the dataplane includes lower floors and itself. Folders on one floor do not see each other.
DATAPLANE = {"base": 1, "wire": 1, "api": 2, "core": 3, "port": 4, "flow": 4, "net": 5, "lb": 5,
             "tcp": 6, "l4": 6, "app": 7, "rule": 8, "proxy": 9, "main": 10}
# wire may use base's types (addresses); they share the floor and must not form a circle.
SAME_FLOOR = {("wire", "base")}

CONTROLPLANE = {"ipc": 1, "child": 1, "model": 2, "state": 3, "store": 4, "compile": 5, "kernel": 6, "dataplane_link": 7,
                "monitor": 8, "health": 9, "resolve": 9, "drain": 9, "auth": 9, "event": 10, "alert": 11, "notify": 12,
                "ha": 12, "main": 13}
CONTROLPLANE_SEES = {"base", "wire", "api"}  # of the dataplane

MGMT = {"main", "http", "auth", "files", "rest", "soap", "ui", "cli", "snmp", "agent", "observe"}
MGMT_SEES = {("dataplane", "base"), ("dataplane", "wire"), ("dataplane", "api"), ("controlplane", "ipc"),
             ("controlplane", "model")}


def place(path):
    """(wing, folder) of a file: ("dataplane", "flow"); folder "" at a wing's top."""
    parts = pathlib.PurePath(path).parts
    return parts[0], parts[1] if len(parts) > 2 else ""


def fault(source, target):
    """Why source may not include target, or None. Both are paths from the top of the tree."""
    wing, folder = place(source)
    other_wing, other = place(target)
    if (wing, folder) == (other_wing, other) or wing not in ("dataplane", "controlplane", "mgmt"):
        return None
    if wing == "dataplane":
        return dataplane_fault(folder, other_wing, other)
    if wing == "controlplane":
        return controlplane_fault(folder, other_wing, other)
    if other_wing == "mgmt" or (other_wing, other) in MGMT_SEES:
        return None
    return f"mgmt may not know {other_wing}/{other}"


def dataplane_fault(folder, other_wing, other):
    if other_wing != "dataplane":
        return f"the dataplane may not know {other_wing}"
    if folder not in DATAPLANE or other not in DATAPLANE:
        return f"dataplane/{other if folder in DATAPLANE else folder} has no floor"
    if DATAPLANE[other] < DATAPLANE[folder] or (folder, other) in SAME_FLOOR:
        return None
    return f"dataplane/{other} (floor {DATAPLANE[other]}) is not below dataplane/{folder} ({DATAPLANE[folder]})"


def controlplane_fault(folder, other_wing, other):
    if other_wing == "dataplane" and other in CONTROLPLANE_SEES:
        return None
    if other_wing != "controlplane":
        return f"the control plane may not know {other_wing}/{other}"
    if folder not in CONTROLPLANE or other not in CONTROLPLANE:
        return f"controlplane/{other if folder in CONTROLPLANE else folder} has no floor"
    if CONTROLPLANE[other] < CONTROLPLANE[folder]:
        return None
    return f"controlplane/{other} is not below controlplane/{folder}"
