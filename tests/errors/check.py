#!/usr/bin/env python3
"""Checks that wrong programs are refused in few and plain words.

A case is a C++ file beside this one that begins with a header of comments:
    // expect: a text that the compiler's output must contain (any number of such lines)
    // lines: g++ 8 clang 12       the most lines of output, by compiler; these numbers where there is no such line
    // options: -std=c++17         what to compile it with
Compiled as it stands it must fail like that. Compiled with -DOK it must succeed, which proves that nothing else is
wrong with it: the case keeps the mistake in `#ifdef OK ... #else ... #endif`.

Compiling Sinter's headers takes most of the time. So they are precompiled in every run, and with -DOK all cases are
compiled as one file. One case by itself:
    check.py --kind g++ --case devices_auto g++ -std=c++20 -Ibuild/dev/jit/include -Idsl/include -Ijit/include -Iruntime/include
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused"]


def header(path):
    """The texts to expect, the limit of lines of each compiler and the options, from the comments at the top of a case."""
    expected, limits, options = [], {"g++": 8, "clang": 12}, []
    with open(path, encoding="utf-8") as case:
        for line in case:
            if not line.startswith("//"):
                break
            if found := re.match(r"// expect: (.+)", line):
                expected.append(found.group(1).strip())
            elif found := re.match(r"// lines: (.+)", line):
                limits.update((kind, int(most)) for kind, most in re.findall(r"(\S+) (\d+)", found.group(1)))
            elif found := re.match(r"// options: (.+)", line):
                options = found.group(1).split()
    return expected, limits, options


def includes(case):
    return re.findall(r"^#include <.+>$", case.read_text(encoding="utf-8"), re.MULTILINE)


def run(command, *arguments):
    """The compiler's exit status and output."""
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=100, check=False,
                          env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"})
    return done.returncode, done.stderr


def precompile(command, kind, cases, folder):
    """The command that compiles one of the cases, with what they include precompiled."""
    prefix = folder / "prefix.hpp"
    lines = sorted({line for case in cases for line in includes(case)})
    prefix.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ["-fpch-instantiate-templates"] if kind == "clang" else []
    status, output = run(command, *WARNINGS, *options, "-x", "c++-header", prefix, "-o", f"{prefix}.gch")
    if status != 0:
        sys.exit(f"the headers do not compile:\n{output}")
    return [*command, "-fsyntax-only", "-include", prefix]


def lines_of(output, kind):
    """How many lines of a message count."""
    count, quotes = 0, False
    for line in output.splitlines():
        # Where users see a line with the place of their #include, g++ names the prefix in it, clang in one line more.
        if kind == "clang" and "/prefix.hpp:" in line:
            continue
        # Newer versions of g++ quote the source under each "required from" too.
        is_quote = bool(re.match(r" +\d* \| ", line))
        if kind == "g++" and quotes and is_quote:
            continue
        quotes = bool(re.search(r":\d+:   +required (from|by)", line))
        count += 1
    return count


def refusal_problems(command, precompiled, kind, case):
    expected, limits, options = header(case)
    if not expected:
        yield "the case says nothing of the form `// expect: text`"
    status, output = run(*([command, "-fsyntax-only", *options, case] if options else [precompiled, case]))
    if status == 0:
        yield "it compiles, and must not"
    elif status < 0 or "internal compiler error" in output:
        yield f"the compiler crashed:\n{output}"
    else:
        for text in expected:
            if text not in output:
                yield f"the message does not say `{text}`:\n{output}"
        count = lines_of(output, kind)
        if count > limits[kind]:
            yield f"the message has {count} lines, and {limits[kind]} at most are allowed:\n{output}"


def problems(command, kind, cases, folder):
    """What is wrong with cases that include the same headers of Sinter's."""
    precompiled = precompile(command, kind, cases, folder)
    for case in cases:
        for problem in refusal_problems(command, precompiled, kind, case):
            yield f"{case}: {problem}"
    together = folder / "together.cpp"
    together.write_text("".join(f'namespace {case.stem} {{\n#include "{case}"\n}}\n' for case in cases),
                        encoding="utf-8")
    status, output = run(precompiled, "-DOK", *WARNINGS, together)
    if status != 0:
        yield f"with -DOK every case must compile, and these do not:\n{output}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", required=True, choices=["g++", "clang"])
    parser.add_argument("--case", default="*", help="the name of a case, or a pattern: devices_*")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the compiler and its options")
    arguments = parser.parse_args()
    groups = {}
    for case in sorted(pathlib.Path(__file__).resolve().parent.glob(f"{arguments.case}.cpp")):
        groups.setdefault(tuple(line for line in includes(case) if "<sinter/" in line), []).append(case)
    if not groups:
        sys.exit(f"no case is called {arguments.case}")
    status = 0
    for cases in groups.values():
        with tempfile.TemporaryDirectory() as folder:
            for problem in problems(arguments.command, arguments.kind, cases, pathlib.Path(folder)):
                print(problem)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
