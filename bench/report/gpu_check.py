"""All GPU tests and the suite on this machine's GPUs, in a folder that bench/report/carry.py gathered."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

from . import programs, run
from .result import ROOT, Unreadable

TEST_SHARE = 0.4  # of all the time, at most
END_S = 10  # for the page and the table
AT_ONCE = 4  # test files that share the GPU
SIZES = [30_000_000, 100_000, 1000, 3]  # the most telling first, should time run out


def gpus():
    """Names of the real GPUs that Sinter sees."""
    os.environ.pop("SINTER_VIRTUAL_GPUS", None)
    context = programs.ask(ROOT / "bench/expressions")
    return [name for name in context["gpus"].split(", ") if name]


def run_test(suite, file, seconds, logs):
    """{program, status, seconds, passed, skipped, failed: names} of a suite's tests of one file."""
    name = file.replace("/", "_")
    if seconds <= 0:
        return {
            "program": name,
            "status": "not run: no time was left",
            "seconds": 0,
            "passed": 0,
            "skipped": 0,
            "failed": [],
        }
    begin = time.monotonic()
    environment = {**os.environ, "SINTER_TEST_GPU": "1", "SINTER_CACHE": "memory"}
    try:
        done = subprocess.run(
            [str(ROOT / "bin" / suite), file],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
        output, status = done.stdout, "passed" if done.returncode == 0 else f"failed ({done.returncode})"
    except subprocess.TimeoutExpired as late:
        output, status = (late.stdout or b"").decode(errors="replace"), "ran out of time"
    (logs / f"{name}.log").write_text(output, encoding="utf-8")
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


def run_tests(seconds, out):
    logs = out / "tests"
    logs.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        tests = [line.split() for line in (ROOT / "tests/files.txt").read_text(encoding="utf-8").splitlines()]
        found = list(pool.map(lambda test: run_test(*test, min(120, end - time.monotonic()), logs), tests))
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


def arguments_for_run(seconds, out, devices):
    executors = [f"cuda:{i}" for i in range(devices)] + ["cpu"]
    return argparse.Namespace(
        build=ROOT,
        out=out,
        short=False,
        seconds=seconds,
        only=["expressions", "rows", "products", "hits", "first"],
        executors=executors,
        sizes=SIZES,
        elements=None,
        no_peers=False,
    )


def main():
    parser = argparse.ArgumentParser(prog="scripts/gpu-check", description=__doc__)
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("gpu-check"), help="where result.json, page.html and logs go"
    )
    parser.add_argument("--seconds", type=float, default=540, help="all of it, at most")
    arguments = parser.parse_args()
    begin = time.monotonic()
    try:
        found = gpus()
        if not found:
            print(
                "error: there is no GPU that Sinter can use here: no CUDA driver (libcuda.so.1), or no device; see"
                " nvidia-smi",
                file=sys.stderr,
            )
            return 2
        print(f"GPUs: {', '.join(found)}", file=sys.stderr)
        tests = run_tests(arguments.seconds * TEST_SHARE, arguments.out)
        print(summary(tests), file=sys.stderr)
        left = arguments.seconds - (time.monotonic() - begin) - END_S
        run.run(arguments_for_run(left, arguments.out, len(found)), tests)
    except (programs.ProgramFailed, Unreadable) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(summary(tests))
    return 0 if all(t["status"] == "passed" for t in tests) else 1


if __name__ == "__main__":
    sys.exit(main())
