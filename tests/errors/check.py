#!/usr/bin/env python3
"""Checks that a wrong program is refused in few and plain words.

A case is one C++ file that begins with a header of comments:
    // expect: a text that the compiler's output must contain (any number of such lines)
    // lines: g++ 8 clang 12       the most lines of output, by compiler; these numbers where there is no such line
Compiled as it stands it must fail like that. Compiled with -DOK it must succeed, which proves that nothing else is
wrong with it: the case keeps the mistake in `#ifdef OK ... #else ... #endif`.
"""
import argparse
import re
import subprocess
import sys


def header(path):
    """The texts to expect and the limit of lines of each compiler, from the comments at the top of a case."""
    expected, limits = [], {"g++": 8, "clang": 12}
    with open(path, encoding="utf-8") as case:
        for line in case:
            if not line.startswith("//"):
                break
            if found := re.match(r"// expect: (.+)", line):
                expected.append(found.group(1).strip())
            elif found := re.match(r"// lines: (.+)", line):
                limits.update((kind, int(most)) for kind, most in re.findall(r"(\S+) (\d+)", found.group(1)))
    return expected, limits


def compile_case(command, case, *options):
    run = subprocess.run([*command, "-fsyntax-only", *options, case], capture_output=True, text=True, timeout=100,
                         check=False, env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"})
    return run.returncode, run.stderr


def problems(case, kind, command):
    expected, limits = header(case)
    if not expected:
        yield "the case says nothing of the form `// expect: text`"
    status, output = compile_case(command, case)
    if status == 0:
        yield "it compiles, and must not"
    elif status < 0 or "internal compiler error" in output:
        yield f"the compiler crashed:\n{output}"
    else:
        for text in expected:
            if text not in output:
                yield f"the message does not say `{text}`:\n{output}"
        count = len(output.splitlines())
        most = limits["clang" if "clang" in kind else kind]
        if count > most:
            yield f"the message has {count} lines, and {most} at most are allowed:\n{output}"
    status, output = compile_case(command, case, "-DOK", "-Wall", "-Wextra", "-Werror", "-Wno-unused")
    if status != 0:
        yield f"with -DOK it must compile, and does not:\n{output}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", required=True, choices=["g++", "clang++"])
    parser.add_argument("case")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the compiler and its options")
    arguments = parser.parse_args()
    found = list(problems(arguments.case, arguments.kind, arguments.command))
    for problem in found:
        print(f"{arguments.case}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
