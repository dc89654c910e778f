#!/usr/bin/env python3
"""The tests that a change touches, as a regular expression for ctest -R.

    scripts/changed_tests.py BUILD [BASE]

The change is everything that differs from the merge base with the commit BASE (by default HEAD), including new files.
The selected tests are those whose compilation read a changed file, according to ninja; those named after a changed
source of the library, or that include its header; and those labeled by the folder of a file that no compiler reads.
Since every test runs the library, others are added at random for a minute. Tests that check every memory access, and
those of late work and of all kernels, are left to scripts/test.
"""
import functools
import json
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LATER = {"strict", "late", "errors", "kernels", "install"}  # slow kinds
SAMPLE_S = 60
QUICK = {"docs", "layers"}  # for files that no compiler reads


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout


def changed_files(base):
    named = output_of("git", "diff", "--name-only", "--no-renames", "--merge-base", base)
    return {str(ROOT / name) for name in (named + output_of("git", "ls-files", "--others", "--exclude-standard")).splitlines()}


def objects_of(build):
    """The files in the tree that were read for each object."""
    resolved = functools.cache(lambda name: str((build / name).resolve()))
    found = {}
    for line in output_of("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line and not line[0].isspace():
            current = found.setdefault(line.split(":")[0], set())
        elif line.strip() and (path := resolved(line.strip())).startswith(str(ROOT)):
            current.add(path)
    return found


def tests_of(build):
    """{name: (labels, files that the command names, seconds of the last run)}"""
    costs = build / "Testing/Temporary/CTestCostData.txt"
    seconds = dict(re.findall(r"^(\S+) \d+ (\S+)$", costs.read_text(), re.MULTILINE)) if costs.exists() else {}
    found = {}
    for test in json.loads(output_of("ctest", "--test-dir", str(build), "--show-only=json-v1"))["tests"]:
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        words = [word.split("=")[-1] for word in test.get("command", [])]
        sources = {str(ROOT / "tests" / f"{word}.cpp") for word in words[1:2]}
        files = {w for w in sources | set(words) if w.startswith(str(ROOT)) and pathlib.Path(w).is_file()}
        found[test["name"]] = (set(labels), files, float(seconds.get(test["name"], 1)))
    return found


def is_library(path):
    """Whether the file belongs to the library that every test runs."""
    return pathlib.Path(path).relative_to(ROOT).parts[0] in ("runtime", "jit", "dsl")


def compiled_from(changed, objects):
    """The sources of the objects that read a changed file, or a header named after a changed source."""
    stems = {pathlib.Path(path).stem for path in changed if path.endswith(".cpp")}
    beside = {h for read in objects.values() if read & changed for h in read if h.endswith(".hpp") and pathlib.Path(h).stem in stems}
    return {path for read in objects.values() if read & (changed | beside) for path in read if path.endswith(".cpp")}


def named_after(changed, tests):
    stems = {pathlib.Path(path).stem for path in changed if is_library(path)}
    names = re.compile(rf"({'|'.join(map(re.escape, stems))})(_.*)?_test") if stems else None
    return {n for n, (_, files, _) in tests.items() if names and any(names.fullmatch(pathlib.Path(f).stem) for f in files)}


def labelled(changed, objects, tests):
    """Tests labeled by the folders of files that no compiler reads: dsl/python/stubs.py selects the label python."""
    read = set().union(*objects.values())
    labels = set().union(*(kinds for kinds, _, _ in tests.values()))
    wanted = set()
    for path in changed - read:
        folders = pathlib.Path(path).relative_to(ROOT).parts[-2::-1]
        wanted |= {next((folder for folder in folders if folder in labels), "")}
    return {n for n, (kinds, _, _) in tests.items() if kinds & wanted}


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
    compiled = compiled_from(changed, objects) | changed
    direct = {name for name, (_, files, _) in tests.items() if files & compiled} | named_after(changed, tests)
    direct |= labelled(changed, objects, all_tests) - {n for n, t in all_tests.items() if t[0] & (LATER - {"errors"})}
    direct |= QUICK & set(tests)
    pages = all(path.endswith(".md") for path in changed)
    drawn = set() if pages else sample(set(tests) - direct, tests, output_of("git", "rev-parse", "HEAD").strip())
    print(f"{len(changed)} files changed: {len(direct)} tests are theirs, {len(drawn)} of {len(set(tests) - direct)} others are drawn",
          file=sys.stderr)
    print("^(" + "|".join(map(re.escape, sorted(direct | drawn))) + ")$")


if __name__ == "__main__":
    main(*sys.argv[1:])
