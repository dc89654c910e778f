#!/usr/bin/env python3
"""The tests that a change touches, as a regular expression for ctest -R.

    scripts/changed_tests.py BUILD [BASE]

The change is what differs from the commit BASE, HEAD where none is named, with new files. What the compiler read for each
object, which ninja keeps, says which test files were compiled from it. A source of the library touches every test when it
runs: those that include its header are taken, and of the others as many as fit into a minute, drawn by chance. Tests with
every access checked, of late work and of all kernels are left to scripts/test.
"""
import json
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LATER = {"strict", "late", "errors", "kernels", "install"}  # kinds that take long
SAMPLE_S = 60
QUICK = {"docs", "layers"}  # of files that no compiler reads


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def changed_files(base):
    named = output_of("git", "diff", "--name-only", "--no-renames", base) + output_of("git", "ls-files", "--others", "--exclude-standard")
    return {str(ROOT / name) for name in named.splitlines()}


def objects_of(build):
    """What was read for each object, of the files in the tree."""
    found = {}
    for line in output_of("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line and not line[0].isspace():
            current = found.setdefault(line.split(":")[0], set())
        elif line.strip():
            current.add(str((build / line.strip()).resolve()))
    return found


def tests_of(build):
    """{name: (label, test file or script, seconds of the last run)}"""
    costs = build / "Testing/Temporary/CTestCostData.txt"
    seconds = dict(re.findall(r"^(\S+) \d+ (\S+)$", costs.read_text(), re.MULTILINE)) if costs.exists() else {}
    found = {}
    for test in json.loads(output_of("ctest", "--test-dir", str(build), "--show-only=json-v1"))["tests"]:
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        words = test.get("command", [])
        source = ROOT / "tests" / f"{words[1]}.cpp" if len(words) == 2 else pathlib.Path("none")
        read = {str(source)} if source.exists() else {w for w in words if w.startswith(str(ROOT))}
        found[test["name"]] = (set(labels), read, float(seconds.get(test["name"], 1)))
    return found


def headers_of(source, objects):
    """The headers that a source of the library stands behind: those of its name that it includes."""
    stem = pathlib.Path(source).stem
    return {h for read in objects.values() if source in read for h in read if pathlib.Path(h).stem == stem and h.endswith(".hpp")}


def is_library(path):
    return pathlib.Path(path).relative_to(ROOT).parts[0] in ("runtime", "jit", "dsl") and path.endswith((".cpp", ".hpp", ".def", ".cuh", ".h", ".c"))


def touched(changed, objects, tests):
    wanted = changed | {h for path in changed if path.endswith(".cpp") for h in headers_of(path, objects)}
    read_with = [read for read in objects.values() if read & wanted]
    compiled = set().union(*read_with) if read_with else set()
    return {name for name, (_, read, _) in tests.items() if read & compiled and any(r.endswith("_test.cpp") for r in read) or read & changed}


def sample(candidates, tests, seed):
    chosen, left = set(), SAMPLE_S
    for name in random.Random(seed).sample(sorted(candidates), len(candidates)):
        if tests[name][2] <= left:
            chosen.add(name)
            left -= tests[name][2]
    return chosen


def main(build, base="HEAD"):
    build, changed = pathlib.Path(build).resolve(), changed_files(base)
    objects, all_tests = objects_of(build), tests_of(build)
    tests = {name: test for name, test in all_tests.items() if not test[0] & LATER}
    direct = touched(changed, objects, tests) | (QUICK & set(tests))
    drawn = set()
    if any(is_library(path) for path in changed):
        seed = output_of("git", "rev-parse", "HEAD").strip()
        drawn = sample(set(tests) - direct, tests, seed)
    print(f"{len(changed)} files changed: {len(direct)} tests read them, {len(drawn)} of {len(tests) - len(direct)} others are drawn",
          file=sys.stderr)
    print("^(" + "|".join(sorted(direct | drawn)) + ")$")


if __name__ == "__main__":
    main(*sys.argv[1:])
