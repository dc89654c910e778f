#!/usr/bin/env python3
"""Checks that includes go one way, and prints the ways: runtime <- jit <- dsl, and jit's folders as the pipeline they are.

Also that the CPU's loops see no code of the standard library.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ["runtime", "jit", "dsl"]
# Each folder of jit/ may include those before it: from the tables of operations to what users call.
PIPELINE = {
    "ops": "the tables of operations and their facts",
    "stats": "counters and the history of kernels",
    "graph": "graphs, and how expressions become them",
    "functions": "device functions: definitions, and their text",
    "infer": "shapes of values, and messages where operands do not go together",
    "passes": "graph to graph: simplify, merge, lower to what executors have",
    "plan": "graph to kernels, loop nests and kernel classes",
    "loops": "kernels to the loop IR",
    "dialects": "the loop IR as text of C-like languages",
    "cache": "kernels in memory and on disk",
    "cpu": "executes kernels on the CPU",
    "cuda": "what CUDA calls things, and the functions that kernels call",
    "hip": "what HIP calls otherwise",
    "run": "checks, compiles and launches on one device",
    "mesh": "the same on several",
    "library": "sort, scan, scatter, compact: CUDA beside CPU",
    "evaluate": "what an expression does when it is evaluated",
    "autodiff": "gradients as further nodes of a graph",
    "inspect": "explain, DOT, reports, figures",
    "export": "kernels as C for other programs",
}
# The loops are compiled for newer instruction sets: an inline function in them could stand in for the same one elsewhere.
LOOP_HEADERS = {"cstdint", "type_traits", "immintrin.h", "sleef.h"}


def includes(path):
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE)


def local(path, quote, target):
    """The included file from the root, where it is one beside or above the including one."""
    return str((path.parent / target).resolve().relative_to(ROOT)) if quote == '"' and (path.parent / target).exists() else target


def layer_problems():
    for level, layer in enumerate(LAYERS):
        for path in sorted((ROOT / layer).rglob("*.[ch]*")):
            for target in (local(path, *include) for include in includes(path)):
                for above in LAYERS[level + 1 :]:
                    if re.match(rf"(sinter/)?{above}[./]", target) or target == "sinter/sinter.hpp":
                        yield f"{path.relative_to(ROOT)} includes {target}, which is above {layer}/"


def pipeline_problems():
    order = list(PIPELINE)
    folders = {path.name for path in (ROOT / "jit").iterdir() if path.is_dir()} - {"include"}
    for folder in sorted(folders ^ set(order)):
        yield f"jit/{folder}: tests/layers.py has its place in the pipeline, or there is no such folder"
    for level, folder in enumerate(order):
        for path in sorted((ROOT / "jit" / folder).rglob("*.[cdhi]*")):
            for target in (local(path, *include) for include in includes(path)):
                found = re.match(r"jit/([a-z]+)/", target)
                if found and found[1] in order[level + 1 :]:
                    yield f"{path.relative_to(ROOT)} includes {target}; {found[1]} comes after {folder}"


def loop_problems():
    for path in sorted((ROOT / "jit/cpu/simd").glob("*.cpp")):
        for quote, target in includes(path):
            if quote == "<" and not target.startswith("sinter/") and target not in LOOP_HEADERS:
                yield f"{path.relative_to(ROOT)} includes <{target}>"


print(" <- ".join(LAYERS))
for number, (folder, what) in enumerate(PIPELINE.items(), 1):
    print(f"{number:3}  jit/{folder:9} {what}")
problems = [*layer_problems(), *pipeline_problems(), *loop_problems()]
print(*problems, sep="\n", end="")
sys.exit(1 if problems else 0)
