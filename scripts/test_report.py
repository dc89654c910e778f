#!/usr/bin/env python3
"""What ctest's runs took, and what was skipped.

    scripts/test_report.py [--skips] build/dev-tests.xml...

Prints the ten slowest tests of each run. With --skips, fails where a test was skipped that tests/skips.txt does not list:
ctest counts these as passed. A line there is `RUN TEST  reason`: patterns of the file's name without -tests.xml, and of
GoogleTest's names or, for Python's tests, of ctest's.
"""
import argparse
import fnmatch
import pathlib
import re
import sys
import xml.etree.ElementTree

LISTED = pathlib.Path(__file__).resolve().parent.parent / "tests/skips.txt"


def tests_of(path):
    """(name, seconds, output, whether ctest reports it as skipped) of each test."""
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        yield case.get("name"), float(case.get("time", 0)), case.findtext("system-out") or "", case.get("status") in ("disabled", "notrun")


def skipped_in(name, output):
    """The skipped tests of one entry."""
    found = re.findall(r"^\[  SKIPPED \] (\S+) \(", output, re.MULTILINE)
    return found + ([name] if re.search(r"^OK \(.*skipped=", output, re.MULTILINE) else [])


def slowest(run, tests):
    rows = sorted(tests, key=lambda test: -test[1])[:10]
    total = sum(seconds for _, seconds, _, _ in tests)
    return [f"{run}: {len(tests)} tests, {total:.0f} s of them all; the slowest:"] + [f"{s:8.1f} s  {name}" for name, s, _, _ in rows]


def listed():
    """(pattern of the run, pattern of the test) for each line of tests/skips.txt."""
    for number, line in enumerate(LISTED.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split(None, 2)
        if not words or line[0] == "#":
            continue
        if len(words) < 3:
            sys.exit(f"error: {LISTED}:{number}: '{line}' has no reason; a line is `RUN TEST  reason`")
        yield words[:2]


def unlisted(run, tests):
    lines = list(listed())
    for name, _, output, not_run in tests:
        for skipped in [name] if not_run else skipped_in(name, output):
            if not any(fnmatch.fnmatch(run, a) and fnmatch.fnmatch(skipped, b) for a, b in lines):
                yield f"{run}: {skipped} ({name})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skips", action="store_true", help="fail on skips that are not listed")
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    wrong = []
    for path in arguments.results:
        run, tests = path.name.removesuffix("-tests.xml"), list(tests_of(path))
        print(*slowest(run, tests), sep="\n")
        wrong += unlisted(run, tests)
    if arguments.skips and wrong:
        print("error: skipped, and not in tests/skips.txt:", *wrong, sep="\n  ", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
