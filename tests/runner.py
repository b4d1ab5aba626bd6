# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests by parts, each with a time limit, and prints one line for each; called by ./test.

A part is a function that yields steps: a command, its limit in seconds, and how to count its results.
Whatever a step starts is in a session of its own and is ended with it, so that nothing can hang. Functional tests
mostly wait for timers of the daemons: a few files run side by side, each in namespaces of its own.
"""
import argparse
import concurrent.futures
import fnmatch
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
NORMAL, SANITIZE, FUZZ = "build", "build-sanitize", "build-fuzz"
SETUP = {
    NORMAL: [],
    SANITIZE: ["-Db_sanitize=address,undefined", "-Db_lundef=false"],
    FUZZ: ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dfuzz=true"],
}
COMMON = {"RUNTIME_DIRECTORY": str(ROOT / NORMAL / "runtime")}  # DPDK keeps a folder per process there
FUZZ_SECONDS, FUZZ_SECONDS_LONG = 10, 3600
LANES = 2  # functional files at once
ALONE = ("bulk", "floods", "provision", "run")  # need the machine, or the lab's names, for themselves
SANITIZED = ("bad_packets", "balance", "fragments", "members")


class Step:
    """One command. count(step) gives (passed, failed, skipped) after it has ended. beside: others may run meanwhile."""

    def __init__(self, name, command, limit, count=None, env=None, beside=False):
        self.beside = beside
        self.name, self.command, self.limit = name, [str(word) for word in command], limit
        self.count, self.env = count or count_status, env or {}
        self.log = ROOT / NORMAL / "test-logs" / (re.sub(r"\W+", "-", name) + ".log")
        self.status = self.child = None
        self.late = False

    def run(self):
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "wb") as log:
            child = self.child = subprocess.Popen(self.command, cwd=ROOT, stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log, start_new_session=True,
                                                  env={**os.environ, **COMMON, **self.env})
            try:
                self.status = child.wait(self.limit)
            except subprocess.TimeoutExpired:
                self.late = True
            finally:
                end_session(child)
        passed, failed, skipped = self.count(self)
        if (self.late or self.status != 0) and failed == 0:
            failed = 1
        return passed, failed, skipped

    def stop(self):
        """Ends it if it runs."""
        if self.child and self.child.poll() is None:
            end_session(self.child)


def end_session(child):
    """Politely first: a test runner that gets SIGTERM can still remove its namespaces."""
    for sign, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(child.pid, sign)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + patience
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
    child.wait()


def count_status(step):
    return (1, 0, 0) if step.status == 0 else (0, 1, 0)


def count_nothing(step):
    return 0, 0, 0


def count_meson(build):
    def count(step):
        passed = failed = skipped = 0
        log = ROOT / build / "meson-logs" / "testlog.json"
        for line in log.read_text().splitlines() if log.exists() else []:
            result = json.loads(line)["result"]
            passed += result in ("OK", "EXPECTEDFAIL")
            skipped += result == "SKIP"
            failed += result not in ("OK", "EXPECTEDFAIL", "SKIP")
        return passed, failed, skipped
    return count


def count_junit(path):
    def count(step):
        if not path.exists():
            return 0, 1, 0
        suite = xml.etree.ElementTree.parse(path).getroot().find("testsuite")
        number = {key: int(suite.get(key)) for key in ("tests", "errors", "failures", "skipped")}
        failed = number["errors"] + number["failures"]
        return max(number["tests"] - failed - number["skipped"], 0), failed, number["skipped"]
    return count


def compile_step(build):
    setup = "" if (ROOT / build / "build.ninja").exists() else f"meson setup {build} {' '.join(SETUP[build])} && "
    env = {"CC": "clang"} if build == FUZZ else {}
    target = "fuzzers" if build == FUZZ else "all"
    return Step(f"build {build}", ["sh", "-c", f"{setup}ninja -C {build} {target}"], 1200, count_nothing, env)


def unit_steps(build):
    yield compile_step(build)
    log = ROOT / build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    env = {"ASAN_OPTIONS": "detect_leaks=1",
           "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"} if build == SANITIZE else {}
    yield Step(f"unit {build}", ["meson", "test", "-C", build, "--no-rebuild", "--suite", "unit",
                                 "--print-errorlogs"], 300, count_meson(build), env)


def pytest_step(name, paths, limit, build, each=120, long=False, beside=False):
    xml_file = ROOT / NORMAL / "test-logs" / (re.sub(r"\W+", "-", name) + ".xml")
    xml_file.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--timeout={each}",
               f"--junitxml={xml_file}", *(["--long"] if long else []), *paths]
    env = {"WEIR_BUILD": str(ROOT / build)}
    return Step(name, command, limit, count_junit(xml_file), env, beside)


def part_lint(long):
    yield compile_step(NORMAL)
    yield pytest_step("lint", ["tests/lint"], 180, NORMAL)


def part_unit(long):
    for build in (NORMAL, SANITIZE):
        yield from unit_steps(build)


def functional_files():
    return sorted((ROOT / "tests" / "functional").glob("test_*.py"))


def functional_steps(files, build, long):
    yield compile_step(build)
    for path in sorted(files, key=lambda path: (path.stem[5:] in ALONE, path)):
        yield pytest_step(f"{path.stem[5:]} {build}", [path.relative_to(ROOT)],
                          7200 if long else 600, build, 3600 if long else 120, long,
                          not long and path.stem[5:] not in ALONE)


def part_functional(long):
    """All in the normal build; in the sanitizer build those that feed the daemons most, or all."""
    yield from functional_steps(functional_files(), NORMAL, long)
    sanitized = [path for path in functional_files() if long or path.stem[5:] in SANITIZED]
    yield from functional_steps(sanitized, SANITIZE, long)


def part_fuzz(long):
    """Each fuzzer starts from the committed corpus and keeps what it finds in the build folder."""
    seconds = FUZZ_SECONDS_LONG if long else FUZZ_SECONDS
    if not any((ROOT / "tests" / "fuzz").glob("fuzz_*.c")):
        return
    yield compile_step(FUZZ)
    for program in sorted((ROOT / FUZZ / "tests" / "fuzz").glob("fuzz_*[!.p]")):
        name = program.name[len("fuzz_"):]
        found = ROOT / FUZZ / "found" / name
        found.mkdir(parents=True, exist_ok=True)
        yield Step(f"fuzz {name}", [program, f"-max_total_time={seconds}", "-timeout=10",
                                    f"-artifact_prefix={found}/", "-close_fd_mask=1", found,
                                    ROOT / "tests" / "fuzz" / "corpus" / name], seconds + 60)


# Functional files that are called together by one name: patterns of their stems.
GROUPS = {"api": ("api_*", "mgmt_*", "rest*"),
          "events": ("alert*", "events*", "journal*", "notify*", "receiver*", "runbook", "snmp*"),
          "monitors": ("monitors_*", "mon_*", "health*", "effects_*", "state_table", "server_programs")}
PARTS = {"lint": part_lint, "unit": part_unit, "functional": part_functional, "fuzz": part_fuzz}


def steps_of(name, long):
    """The steps of a part, of a group, of one functional file ("l4" for tests/functional/test_l4.py), or None."""
    if name in PARTS:
        return PARTS[name](long)
    stem = pathlib.Path(name).stem.removeprefix("test_")
    files = [path for path in functional_files()
             if any(fnmatch.fnmatchcase(path.stem[5:], pattern) for pattern in GROUPS.get(stem, (stem,)))]
    return functional_steps(files, NORMAL, long) if files else None


def report(step, passed, failed, skipped, seconds):
    if step.count is count_nothing and not failed:
        print(f"{step.name:34} {'':30} {seconds:6.0f} s", flush=True)
        return
    counts = f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")
    print(f"{step.name:34} {counts:30} {seconds:6.0f} s", flush=True)
    if failed:
        why = f"ended after {step.limit} s, its limit" if step.late else f"status {step.status}"
        print(f"--- {step.name}: {why}; the end of {step.log.relative_to(ROOT)}:")
        print("\n".join(step.log.read_text(errors="replace").splitlines()[-60:]))
        print("---", flush=True)


def run_timed(step):
    start = time.monotonic()
    counts = step.run()
    return step, counts, time.monotonic() - start


def results_of(steps):
    """(step, counts, seconds) of each, as they end; neighbours that may run side by side do."""
    for beside, group in itertools.groupby(steps, lambda step: step.beside):
        if not beside:
            yield from map(run_timed, group)
            continue
        group = list(group)
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            running = [pool.submit(run_timed, step) for step in group]
            try:
                for ended in concurrent.futures.as_completed(running):
                    yield ended.result()
            except BaseException:  # Ctrl-C: what runs is ended, what waits is not begun
                pool.shutdown(wait=False, cancel_futures=True)
                for step in group:
                    step.stop()
                raise


def without_repeats(steps):
    """A build is made once."""
    built = set()
    for step in steps:
        if not step.name.startswith("build ") or step.name not in built:
            built.add(step.name)
            yield step


def main():
    parser = argparse.ArgumentParser(prog="./test", description="Runs the tests; without NAME all of them.")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"a part ({', '.join(PARTS)}), a group ({', '.join(GROUPS)}) or a functional test: "
                        + ", ".join(path.stem[5:] for path in functional_files()))
    parser.add_argument("--long", action="store_true", help="the long forms; fuzzers run an hour each")
    parser.add_argument("--no-install", action="store_true", help="never install packages")
    args = parser.parse_args()

    selected = []
    for name in args.names or PARTS:
        steps = steps_of(name, args.long)
        if steps is None:
            parser.error(f"no part or functional test is called '{name}'")
        selected.append(steps)

    shutil.rmtree(COMMON["RUNTIME_DIRECTORY"], ignore_errors=True)
    os.makedirs(COMMON["RUNTIME_DIRECTORY"])
    total = [0, 0, 0]
    for step, counts, seconds in results_of(without_repeats(itertools.chain.from_iterable(selected))):
        total = [a + b for a, b in zip(total, counts)]
        report(step, *counts, seconds)
        if step.name.startswith("build ") and counts[1]:
            break
    passed, failed, skipped = total
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
