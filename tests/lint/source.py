# SPDX-License-Identifier: BSD-3-Clause
"""The tree as the lints see it: tracked and new files, without what git ignores."""
import functools
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


@functools.cache
def files():
    """Paths of the project's files, relative to its top. Works without git as well (an unpacked archive)."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others",
               "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True) if shutil.which("git") else None
    if listed and listed.returncode == 0:
        names = [name for name in listed.stdout.decode().split("\0") if name]
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if not any(part.startswith("build") or part in (".git", "__pycache__")
                            for part in path.relative_to(ROOT).parts)]
    return sorted(pathlib.Path(name) for name in set(names) if (ROOT / name).is_file())


def with_suffix(*suffixes):
    return [path for path in files() if path.suffix in suffixes]


@functools.cache
def text(path):
    return (ROOT / path).read_text(errors="replace")


def lines(path):
    return text(path).split("\n")


def is_code(path):
    """C, headers, Python, shell, meson: what must carry a licence line and keep the small rules."""
    if path.suffix in (".c", ".h", ".py", ".sh") or path.name in ("meson.build", "meson_options.txt"):
        return True
    return path.suffix == "" and text(path).startswith("#!")


def included(path):
    """Files that a C file includes with quotes, as (name as written, path in the tree or None)."""
    for name in INCLUDE.findall(text(path)):
        beside = path.parent / name
        candidates = [pathlib.Path("dataplane") / name, pathlib.Path("controlplane") / name,
                      pathlib.Path("mgmt") / name, beside]
        yield name, next((found for found in candidates if (ROOT / found).is_file()), None)
