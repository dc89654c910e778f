#!/usr/bin/env python3
"""Checks that includes go one way: runtime <- jit <- dsl, and that the CPU's loops see no code of the standard library."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ["runtime", "jit", "dsl"]
# The loops are compiled for newer instruction sets: an inline function in them could stand in for the same one elsewhere.
LOOP_HEADERS = {"cstdint", "type_traits", "immintrin.h", "sleef.h"}


def includes(path):
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE)


def problems():
    for level, layer in enumerate(LAYERS):
        for path in sorted((ROOT / layer).rglob("*.[ch]*")):
            for quote, target in includes(path):
                if quote == '"':
                    target = str((path.parent / target).resolve().relative_to(ROOT)) if (path.parent / target).exists() else target
                for above in LAYERS[level + 1:]:
                    if re.match(rf"(sinter/)?{above}[./]", target) or target == "sinter/sinter.hpp":
                        yield f"{path.relative_to(ROOT)} includes {target}, which is above {layer}/"
    for path in sorted((ROOT / "jit/cpu/rows").glob("*.cpp")):
        for quote, target in includes(path):
            if quote == "<" and not target.startswith("sinter/") and target not in LOOP_HEADERS:
                yield f"{path.relative_to(ROOT)} includes <{target}>"


found = list(problems())
print("\n".join(found))
sys.exit(1 if found else 0)
