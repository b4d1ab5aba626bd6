# SPDX-License-Identifier: BSD-3-Clause
"""shellcheck on every shell script."""
import subprocess

import source


def test_shellcheck():
    scripts = [str(path) for path in source.files()
               if path.suffix == ".sh" or (path.suffix == "" and "sh" in source.lines(path)[0]
                                           and source.lines(path)[0].startswith("#!"))]
    assert scripts
    done = subprocess.run(["shellcheck", "--severity=warning", *scripts], cwd=source.ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
