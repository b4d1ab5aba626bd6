# SPDX-License-Identifier: BSD-3-Clause
"""The small rules that hold for every file."""
import collections
import re

import source

WIDTH = 130  # of C; clang-format keeps code within 100 and leaves comments alone
LINES_MAX = 1000
FUNCTION_MAX = 100
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
CONFLICT = re.compile(r"^(<{7}|>{7}) ", re.M)
MACHINE = re.compile(r"(?<![\w.])/(work|home|root/|Users)/\w")


def code():
    return [path for path in source.files() if source.is_code(path)]


def test_unique_base_names():
    """Two files of one name are a nuisance in every editor; a header and its .c are one part."""
    places = collections.defaultdict(list)
    for path in source.with_suffix(".c", ".h"):
        places[path.name].append(str(path))
    wrong = [", ".join(paths) for paths in places.values() if len(paths) > 1]
    assert not wrong, "\n".join(wrong)
    stems = collections.defaultdict(set)
    for path in source.with_suffix(".c", ".h"):
        stems[path.stem].add(str(path.parent))
    wrong = [f"{stem}: {', '.join(sorted(folders))}" for stem, folders in stems.items() if len(folders) > 1]
    assert not wrong, "\n".join(wrong)


def test_spdx():
    wrong = [str(path) for path in code() if SPDX not in "\n".join(source.lines(path)[:2])]
    assert not wrong, "no licence line at the head of: " + ", ".join(wrong)


def test_no_conflict_is_left():
    wrong = [str(path) for path in source.files() if "corpus" not in path.parts and CONFLICT.search(source.text(path))]
    assert not wrong, "a merge is not finished in: " + ", ".join(wrong)


def test_length_of_files():
    wrong = [f"{path}: {len(source.lines(path))} lines" for path in code()
             if len(source.lines(path)) > LINES_MAX]
    assert not wrong, "\n".join(wrong)


def functions(path):
    """(name, lines) of each function of a C file: from its opening brace in column 0 to the closing one."""
    name, start = "?", None
    for number, line in enumerate(source.lines(path)):
        if start is None and re.match(r"^[A-Za-z_].*\(", line):
            name = re.search(r"(\w+)\s*\(", line).group(1)
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            yield name, number - start + 1
            start = None


def test_length_of_functions():
    wrong = [f"{path}: {name} has {length} lines" for path in source.with_suffix(".c")
             for name, length in functions(path) if length > FUNCTION_MAX]
    assert not wrong, "\n".join(wrong)


def test_whitespace():
    wrong = []
    for path in code():
        if source.text(path) and not source.text(path).endswith("\n"):
            wrong.append(f"{path}: no newline at the end")
        for number, line in enumerate(source.lines(path), 1):
            if line != line.rstrip():
                wrong.append(f"{path}:{number}: blanks at the end")
            if path.suffix in (".c", ".h") and len(line.expandtabs(8)) > WIDTH:
                wrong.append(f"{path}:{number}: {len(line.expandtabs(8))} columns")
            if path.suffix in (".c", ".h") and re.match(r"^\t* {8}", line):
                wrong.append(f"{path}:{number}: indented with blanks")
    assert not wrong, "\n".join(wrong)


def test_nothing_left_for_later():
    wrong = [f"{path}:{number}: {line.strip()}" for path in code()
             for number, line in enumerate(source.lines(path), 1) if LATER.search(line)]
    assert not wrong, "\n".join(wrong)


def test_no_machine_paths():
    wrong = [f"{path}:{number}: {line.strip()}" for path in source.files()
             if source.is_code(path) or path.suffix in (".md", ".json", ".conf", ".list")
             for number, line in enumerate(source.lines(path), 1) if MACHINE.search(line)]
    assert not wrong, "\n".join(wrong)


def test_unit_tests_are_registered():
    """Every x_test.c is built and run by its folder's meson.build."""
    wrong = []
    for path in source.files():
        if path.suffix == ".c" and path.stem.endswith("_test"):
            build = path.parent / "meson.build"
            listed = source.text(build) if (source.ROOT / build).exists() else ""
            stem = path.stem.removesuffix("_test")
            if path.name not in listed and f"'{stem}'" not in listed:
                wrong.append(str(path))
    assert not wrong, "not in their meson.build: " + ", ".join(wrong)
