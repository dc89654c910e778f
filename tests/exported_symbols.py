#!/usr/bin/env python3
"""Checks what linked files let others see and do: libraries export names of namespace sinter alone, modules the function
that Python looks up; addresses are bound and read-only before main, and no stack can be executed.

    exported_symbols.py NM READELF FILE...
"""
import os
import re
import subprocess
import sys

# Mangled: what is of a variable, a function, a type or a local of ours; templates of others with types of ours are not.
SPECIAL = r"(G[VR]|T[VTISWHC]|Thn?\d+_|Tvn?\d+_n?\d+_|Tc[hv]?n?\d+_(n?\d+_)?[hv]?n?\d+_(n?\d+_)?)?"
OURS = re.compile(rf"_Z{SPECIAL}Z?N[rVK]*[RO]?6sinter|PyInit_\w+$")
NM, READELF, *FILES = sys.argv[1:]


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def problems(path):
    if ".so" in os.path.basename(path):
        exported = [line.split()[2] for line in lines(NM, "-D", "--defined-only", path)]
        yield from (f"exports {name}" for name in exported if not OURS.match(name))
        if not exported:
            yield "exports nothing"
        if not any("__stack_chk_fail" in line for line in lines(NM, "-D", "--undefined-only", path)):
            yield "does not look whether its stack was written over (-fstack-protector-strong)"
    dynamic, headers = "\n".join(lines(READELF, "-dW", path)), "\n".join(lines(READELF, "-lW", path))
    if not re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic):
        yield "binds addresses when they are used (-z now)"
    if "GNU_RELRO" not in headers:
        yield "can write to its table of addresses (-z relro)"
    stack = re.search(r"GNU_STACK.*", headers)
    if not stack or "E" in stack.group().split()[6]:
        yield "has a stack that can be executed (-z noexecstack)"
    if "TEXTREL" in dynamic:
        yield "writes to its code when it is loaded"


found = [f"{path}: {problem}" for path in FILES for problem in problems(path)]
print("\n".join(found[:50]))
sys.exit(1 if found else 0)
