"""Compile time and object size of files with many distinct expressions, by Sinter, Eigen and xtensor.

A file holds one function for each expression; an expression is a random chain of operations, another one in each
function, so that no instantiation serves two. The time of a file without any is what the library's headers cost.
Runs are interleaved; each time is one of a processor, of all that the compiler starts.
"""

import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from ..spread import spread

HEADERS = {
    "sinter": "#include <sinter/sinter.hpp>\nnamespace lib = sinter;\nusing A = sinter::Tensor<float, sinter::Cpu>;\n",
    "eigen": "#include <Eigen/Core>\nusing A = Eigen::ArrayXf;\n",
    "xtensor": (
        "#include <limits>\n#include <utility>\n#include <xtensor/xtensor.hpp>\n#include <xtensor/xmath.hpp>\n"
        "namespace lib = xt;\nusing A = xt::xtensor<float, 1>;\n"
    ),
}
PROBES = {"sinter": "sinter/sinter.hpp", "eigen": "Eigen/Core", "xtensor": "xtensor/xtensor.hpp"}
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
    functions = [
        f"void f{i}(A& r, const A& a, const A& b, const A& c) {{ r = {expression(library, ops, 1000 * ops + i)}; }}\n"
        for i in range(count)
    ]
    return HEADERS[library] + "".join(functions)


def code_bytes(path):
    """What the object adds to a program: text and data, without symbols and debug information."""
    columns = subprocess.run(["size", path], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()
    return int(columns[0]) + int(columns[1])


def compile_once(compiler, includes, folder, case):
    """Processor time in ns."""
    name = f"{folder}/{'_'.join(map(str, case))}"
    before = os.times().children_user + os.times().children_system
    subprocess.run([compiler, "-std=c++20", "-O2", "-w", "-c", f"{name}.cpp", "-o", f"{name}.o", *includes], check=True)
    return (os.times().children_user + os.times().children_system - before) * 1e9


def compile_all(compiler, includes, cases, repetitions):
    """(times in ns, bytes of code) of each case."""
    with tempfile.TemporaryDirectory() as folder:
        times, sizes = {case: [] for case in cases}, {}
        for case in cases:
            with open(f"{folder}/{'_'.join(map(str, case))}.cpp", "w", encoding="utf-8") as file:
                file.write(source(*case))
        for repetition in range(repetitions):
            for case in random.Random(repetition).sample(cases, len(cases)):
                if sum(times[case]) < LONG * 1e9:
                    times[case].append(compile_once(compiler, includes, folder, case))
                    sizes[case] = code_bytes(f"{folder}/{'_'.join(map(str, case))}.o")
    return times, sizes


def has_header(compiler, includes, header):
    done = subprocess.run(
        [compiler, "-E", "-x", "c++", "-", *includes],
        input=f"#include <{header}>\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0


def measure(context):
    """Rows: library, expressions in the file, operations of each, bytes of code. Needs source tree and compiler."""
    root = pathlib.Path(__file__).resolve().parents[3]
    compiler = os.environ.get("CXX", "g++")
    if not shutil.which(compiler) or not (root / "dsl/include").exists():
        context.notes.append("compile time: there is no compiler or no source tree here")
        return []
    includes = [f"-I{root}/{layer}/include" for layer in ("dsl", "jit", "runtime")] + [
        f"-I{context.folder.parent}/jit/include",  # lists that the build makes
        "-isystem",
        "/usr/include/eigen3",
    ]
    libraries = [library for library, header in PROBES.items() if has_header(compiler, includes, header)]
    counts, operations = ([0, 1], [5]) if context.short else ([0, 1, 10, 100], [5, 20])
    cases = [
        (library, count, ops)
        for library in libraries
        for ops in operations
        for count in counts
        if count > 0 or ops == operations[0]
    ]
    times, sizes = compile_all(compiler, includes, cases, 1 if context.short else 3)
    return [
        {
            "library": library,
            "count": count,
            "operations": ops,
            **spread(times[library, count, ops]),
            "code_bytes": sizes[library, count, ops],
        }
        for library, count, ops in cases
    ]
