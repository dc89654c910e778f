#!/usr/bin/env python3
"""Compares the first evaluation of expressions on the CPU, which compiles, with torch.compile's and jax.jit's.

    PYTHONPATH=build/release/python python3 bench/first_call.py [expression ...]

Prints milliseconds of the first call with 10,000 elements, for Sinter with and without compiled loops (SINTER_CPU_JIT
"always" and "off"), as a table for docs/benchmarks.md. Each library runs in a process of its own, which has compiled
another expression before, and finds no kernel on disk. The Python that runs it is the one whose packages are compared.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from bench.report.peers import formulas, inputs  # noqa: E402
from bench.report.peers.libraries import LIBRARIES, Library  # noqa: E402
from bench.report.peers.serve import Server  # noqa: E402

ELEMENTS = 10_000
EXPRESSIONS = ["example", "axpy", "gelu", "chain_10", "chain_40", "distance", "black_scholes", "normalise", "residual"]
ROWS = ["sum_rows", "softmax", "layer_norm", "logsumexp"]
NO_DISK = {"SINTER_CACHE": "memory", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
COLUMNS = {
    "Sinter, compiled": ("sinter", "sinter", {"SINTER_CPU_JIT": "always"}),
    "Sinter, tiles": ("sinter", "sinter", {"SINTER_CPU_JIT": "off"}),
    "torch.compile": ("torch", "torch.compile", {}),
    "jax.jit": ("jax", "jax.jit", {}),
}


class Sinter(Library):
    def __init__(self, _executor):
        import sinter_jit

        super().__init__(sinter_jit)
        self.erf = sinter_jit.erf
        self.implementations = {"sinter": lambda f: lambda *arrays: f(*arrays).numpy()}

    def array(self, values):
        return self.module.from_numpy(values)

    def softmax(self, x):
        return self.module.softmax(x, 1)

    def layer_norm(self, x, gain, shift):
        return self.module.layer_norm(x, gain.shape, gain, shift)

    def logsumexp(self, x):
        return self.module.logsumexp(x, 1)


def milliseconds(library, implementation, expressions):
    """{expression: ms of its first call}."""
    LIBRARIES["sinter"] = Sinter
    server, shape = Server(library, "cpu"), inputs.extent(ELEMENTS)

    def first_call(expression):
        server.forget()  # torch.compile gives up after a few functions of the same code
        operands = [server.operand(name, shape, "float32") for name in formulas.operands(expression)]
        begin = time.perf_counter()
        server.library.wait(server.function(expression, implementation)(*operands))
        return (time.perf_counter() - begin) * 1e3

    first_call("swish")
    return {expression: first_call(expression) for expression in expressions}


def in_own_process(library, implementation, environment, expressions):
    command = [sys.executable, __file__, "--times", library, implementation, *expressions]
    done = subprocess.run(command, env={**os.environ, **NO_DISK, **environment}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{implementation} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def main(arguments):
    if arguments[:1] == ["--times"]:
        print(json.dumps(milliseconds(arguments[1], arguments[2], arguments[3:])))
        return
    expressions = arguments or EXPRESSIONS + ROWS
    times = {column: in_own_process(*how, expressions) for column, how in COLUMNS.items()}
    print("| ms | " + " | ".join(times) + " |\n| --- |" + " --- |" * len(times))
    for e in expressions:
        print(f"| {e} | " + " | ".join(f"{of[e]:.3g}" for of in times.values()) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
