"""The tests that run on real GPUs, several files at once, each with a time limit."""

import concurrent.futures
import os
import re
import subprocess
import sys
import time

from .result import ROOT

AT_ONCE = 12  # test files that share the GPU; compiling kernels takes most of their time, on one core
LIMIT_S = 120  # per file


def needing_two_gpus():
    """[name] of the tests that fail on a single GPU."""
    lines = (ROOT / "tests/two_gpus.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def files():
    """[(suite, file)]"""
    return [line.split() for line in (ROOT / "tests/files.txt").read_text(encoding="utf-8").splitlines()]


def run_test(suite, file, seconds, logs, left_out=()):
    """Runs a suite's tests of one file: {program, status, seconds, passed, skipped, failed: names}."""
    name = file.replace("/", "_")
    if seconds <= 0:
        return {"program": name, "status": "not run: no time was left", "seconds": 0, "passed": 0, "skipped": 0, "failed": []}
    begin = time.monotonic()
    environment = {**os.environ, "SINTER_TEST_GPU": "1", "SINTER_CACHE_DIR": str(ROOT / "kernels")}
    command = [str(ROOT / "bin" / suite), file]
    if left_out:
        command.append(f"--gtest_filter=-{':'.join(left_out)}")
    with (logs / f"{name}.log").open("w+", encoding="utf-8", errors="replace") as log:  # a killed run leaves it behind
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, timeout=seconds, check=False
            )
            status = "passed" if done.returncode == 0 else f"failed ({done.returncode})"
        except subprocess.TimeoutExpired:
            status = "ran out of time"
        log.seek(0)
        output = log.read()
    counted = {
        word: sum(map(int, re.findall(rf"^\[  {word} +\] (\d+) tests?", output, re.MULTILINE)))
        for word in ("PASSED", "SKIPPED")
    }
    failed = sorted(set(re.findall(r"^\[  FAILED  \] (\S+?),? *(?:where .*)?(?:\(\d+ ms\))?$", output, re.MULTILINE)))
    return {
        "program": name,
        "status": status,
        "seconds": round(time.monotonic() - begin, 1),
        "passed": counted["PASSED"],
        "skipped": counted["SKIPPED"],
        "failed": failed,
    }


def run_all(deadline, out, gpus):
    """One entry per file; tests that need two GPUs are skipped if there is one."""
    logs = out / "tests"
    logs.mkdir(parents=True, exist_ok=True)
    left_out = needing_two_gpus() if gpus < 2 else []
    workers = min(AT_ONCE, len(os.sched_getaffinity(0)))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(lambda test: run_test(*test, min(LIMIT_S, deadline.left()), logs, left_out), files()))
    for test in found:
        if test["status"] != "passed":
            print(f"  {test['program']}: {test['status']}", *test["failed"], sep="\n    ", file=sys.stderr)
    return found


def summary(tests):
    """One line."""
    passed = sum(1 for t in tests if t["status"] == "passed")
    return (
        f"GPU tests: {passed} of {len(tests)} files passed, {sum(t['passed'] for t in tests)} tests passed, "
        f"{sum(t['skipped'] for t in tests)} were skipped"
    )
