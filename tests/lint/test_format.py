# SPDX-License-Identifier: BSD-3-Clause
"""C is as clang-format writes it; `clang-format -i FILE` puts a file right."""
import subprocess

import source


def test_clang_format():
    paths = [str(path) for path in source.with_suffix(".c", ".h")]
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *paths], cwd=source.ROOT,
                          capture_output=True, text=True)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if ": error:" in line})
    assert done.returncode == 0 and not wrong, "clang-format -i " + " ".join(wrong)
