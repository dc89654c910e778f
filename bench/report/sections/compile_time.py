#!/usr/bin/env python3
"""Compile time and object size of files with many distinct expressions, by Sinter, Eigen and xtensor.

A file holds one function for each expression; an expression is a random chain of operations, another one in each
function, so that no instantiation serves two. The time of a file without any is what the library's headers cost.
Runs are interleaved and the median is taken.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

HEADERS = {
    "sinter": "#include <sinter/sinter.hpp>\nnamespace lib = sinter;\nusing A = sinter::Tensor<float, sinter::Cpu>;\n",
    "eigen": "#include <Eigen/Core>\nusing A = Eigen::ArrayXf;\n",
    "xtensor": "#include <limits>\n#include <utility>\n#include <xtensor/xtensor.hpp>\n#include <xtensor/xmath.hpp>\n"
               "namespace lib = xt;\nusing A = xt::xtensor<float, 1>;\n",
}
LONG = 20  # seconds; what takes longer is not repeated
BINARY = ["({0} + {1})", "({0} * {1})", "({0} - {1})", "({0} / {1})"]
FUNCTIONS = ["exp", "tanh", "sqrt", "abs", "log"]


def unary(library, name, operand):
    return f"({operand}).{name}()" if library == "eigen" else f"lib::{name}({operand})"


def expression(library, ops, seed):
    """A tree of `ops` operations over the operands a, b, c and numbers; the same for each library."""
    choose = random.Random(seed)
    text = choose.choice("abc")
    for _ in range(ops):
        if choose.random() < 0.25:
            text = unary(library, choose.choice(FUNCTIONS), text)
        else:
            other = choose.choice(["a", "b", "c", f"{choose.randrange(1, 99)}.5f"])
            text = choose.choice(BINARY).format(text, other)
    return text


def source(library, count, ops):
    functions = [f"void f{i}(A& r, const A& a, const A& b, const A& c) {{ r = {expression(library, ops, 1000 * ops + i)}; }}\n"
                 for i in range(count)]
    return HEADERS[library] + "".join(functions)


def code_bytes(path):
    """What the object adds to a program: text and data, without symbols and debug information."""
    columns = subprocess.run(["size", path], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()
    return int(columns[0]) + int(columns[1])


def measure(compiler, includes, cases, repetitions):
    with tempfile.TemporaryDirectory() as folder:
        times, sizes = {case: [] for case in cases}, {}
        for library, count, ops in cases:
            with open(f"{folder}/{library}_{count}_{ops}.cpp", "w", encoding="utf-8") as file:
                file.write(source(library, count, ops))
        for repetition in range(repetitions):
            for case in random.Random(repetition).sample(cases, len(cases)):
                if sum(times[case]) > LONG:
                    continue
                library, count, ops = case
                name = f"{folder}/{library}_{count}_{ops}"
                before = os.times().children_user + os.times().children_system
                subprocess.run([compiler, "-std=c++20", "-O2", "-w", "-c", f"{name}.cpp", "-o", f"{name}.o", *includes], check=True)
                times[case].append(os.times().children_user + os.times().children_system - before)
                sizes[case] = code_bytes(f"{name}.o")
    return {case: (statistics.median(values), sizes[case]) for case, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--counts", type=int, nargs="+", default=[0, 1, 10, 100])
    parser.add_argument("--ops", type=int, nargs="+", default=[5, 20])
    arguments = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    includes = [f"-I{root}/{layer}/include" for layer in ("dsl", "jit", "runtime")] + ["-isystem", "/usr/include/eigen3"]
    cases = [(library, count, ops) for library in HEADERS for ops in arguments.ops for count in arguments.counts
             if count > 0 or ops == arguments.ops[0]]
    start = time.time()
    results = measure(arguments.compiler, includes, cases, arguments.repetitions)
    print(json.dumps({"seconds": time.time() - start,
                      "cases": [{"library": library, "count": count, "ops": ops, "seconds": seconds, "bytes": size}
                                for (library, count, ops), (seconds, size) in results.items()]}))


if __name__ == "__main__":
    sys.exit(main())
