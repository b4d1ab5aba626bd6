# SPDX-License-Identifier: BSD-3-Clause
"""tests/runner.py itself: a part that hangs or fails must be seen, and nothing of it may stay."""
import os
import pathlib
import sys

import pytest
import runner
from topo import wait_until


@pytest.fixture(autouse=True)
def logs(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    return tmp_path


def test_a_step_that_hangs_is_ended_with_its_children(logs):
    script = "trap '' TERM; (trap '' TERM; echo $$ >parent; sh -c 'echo $$' >child; exec sleep 300) & wait"
    step = runner.Step("hangs", ["sh", "-c", f"{script} "], 1)
    assert step.run() == (0, 1, 0) and step.late
    pid = int((logs / "parent").read_text())
    wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the hanging step is gone")


def test_a_step_that_leaves_children_behind_does_not_keep_them(logs):
    step = runner.Step("leaves", ["sh", "-c", "sleep 300 & echo $! >child"], 10)
    assert step.run() == (1, 0, 0)
    pid = int((logs / "child").read_text())
    wait_until(lambda: not os.path.exists(f"/proc/{pid}") or "Z" in pathlib.Path(f"/proc/{pid}/stat").read_text(),
               "the child that was left is gone")


def test_status_and_counts_are_both_believed(logs):
    assert runner.Step("fails", ["false"], 10).run() == (0, 1, 0)
    assert runner.Step("counts nothing but fails", ["false"], 10, runner.count_nothing).run() == (0, 1, 0)
    (logs / "test_two.py").write_text("import pytest\n"
                                      "def test_good(): pass\n"
                                      "def test_bad(): assert 0\n"
                                      "@pytest.mark.skip\n"
                                      "def test_not(): pass\n")
    step = runner.pytest_step("two", ["test_two.py"], 60, "build")
    assert step.run() == (1, 1, 1)


def test_a_test_runner_that_dies_is_a_failure(logs):
    (logs / "test_dies.py").write_text("import os\ndef test_dies(): os._exit(0)\n")
    assert runner.pytest_step("dies", ["test_dies.py"], 60, "build").run() == (0, 1, 0)


@pytest.mark.parametrize("name", ["lint", "unit", "functional", "fuzz"])
def test_parts_are_known(name):
    assert runner.steps_of(name, False) is not None
    assert runner.steps_of("no-such-part", False) is None
    assert sys.modules["runner"].__file__.endswith("tests/runner.py")


def test_a_group_is_every_file_of_its_patterns(logs):
    folder = logs / "tests" / "functional"
    folder.mkdir(parents=True)
    for name in ("monitors_http", "mon_link", "health", "money", "amonitors_x"):
        (folder / f"test_{name}.py").touch()
    names = [step.name for step in runner.steps_of("monitors", False)]
    assert names == ["build build", "health build", "mon_link build", "monitors_http build"]
    assert [step.name for step in runner.steps_of("money", False)] == ["build build", "money build"]


def test_steps_run_side_by_side_where_they_may(logs):
    wait = "until [ -e {} ]; do sleep 0.05; done"
    steps = [runner.Step("first", ["sh", "-c", "touch a; " + wait.format("b")], 10, beside=True),
             runner.Step("second", ["sh", "-c", "touch b; " + wait.format("a")], 10, beside=True),
             runner.Step("alone", ["sh", "-c", "rm a b"], 10)]
    ended = [(step.name, counts) for step, counts, _ in runner.results_of(steps)]
    assert sorted(ended[:2]) == [("first", (1, 0, 0)), ("second", (1, 0, 0))] and ended[2] == ("alone", (1, 0, 0))


def test_what_runs_side_by_side_is_ended_with_the_runner(logs):
    steps = [runner.Step("quick", ["true"], 10, beside=True),
             runner.Step("slow", ["sh", "-c", "echo $$ >pid; exec sleep 300"], 10, beside=True)]
    results = runner.results_of(steps)
    assert next(results)[0].name == "quick"
    wait_until((logs / "pid").exists, "the slow one runs")
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt())
    assert steps[1].child.poll() is not None
