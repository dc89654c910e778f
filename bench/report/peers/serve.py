"""A peer's process: python3 -m bench.report.peers.serve NAME EXECUTOR, then requests on standard input."""

import json
import os
import sys
import time

from . import formulas, products, reference, rows
from .inputs import draw, extent
from .libraries import LIBRARIES


class Server:
    def __init__(self, name, executor):
        self.library = LIBRARIES[name](executor)
        self.batch = 32 if executor.startswith("cuda") else 1  # evaluations per wait, as in bench/expressions
        self.compiled, self.drawn, self.operands, self.ready = {}, {}, {}, {}
        self.rows, self.problem = rows.Reference(), None

    def hello(self):
        return {
            "versions": self.library.versions,
            "implementations": list(self.library.implementations),
            "notes": list(self.library.notes),
        }

    def host(self, name, shape):
        name = {"tall": "x", "matrix_x": "x", "matrix_y": "y"}.get(name, name)
        if name not in self.drawn:
            chosen = {"classes": rows.classes, "places": rows.places}.get(name)
            self.drawn[name] = chosen(*shape) if chosen else draw(name, *shape)
        return self.drawn[name]

    def operand(self, name, shape, dtype):
        if (name, dtype) not in self.operands:
            self.operands[name, dtype] = self.make_operand(name, shape, dtype)
        return self.operands[name, dtype]

    def make_operand(self, name, shape, dtype):
        height, width = shape
        library = self.library

        def array(values):
            made = library.array(values)
            return made if str(values.dtype) in (dtype, "uint8", "int64") else library.cast(made, dtype)

        if name in ("matrix_x", "matrix_y"):
            return array(self.host(name, shape).reshape(shape))
        if name in ("column", "mean", "variance"):
            return array(self.host(name, shape).reshape(height, 1))
        if name == "tall":
            return library.transposed_input(array(self.host(name, shape).reshape(width, height)))
        if name == "wide":
            return library.every_second_input(array(self.host(name, shape)))
        return array(self.host(name, shape))

    def function(self, expression, implementation):
        key = expression, implementation
        if key not in self.compiled:
            written = formulas if self.problem is None else products
            self.compiled[key] = self.library.implementations[implementation](
                written.function(expression, self.library)
            )
        return self.compiled[key]

    def prepare(self, expression, implementation, min_time, n=None, columns=None, shape=None):
        """`columns`: those of a matrix of n elements, by default as square as possible. `shape`: that of products."""
        if shape is not None:
            return self.prepare_product(expression, implementation, min_time, shape)
        if expression == "black_scholes" and self.library.erf is None:
            raise RuntimeError("there is no erf")
        shape = extent(n) if columns is None else (max(1, n // columns), columns)
        names, dtype = formulas.operands(expression), formulas.dtype(expression)
        arrays = [self.operand(name, shape, dtype) for name in names]
        function = self.function(expression, implementation)
        result = function(*arrays)
        self.library.wait(result)
        if dtype not in str(result.dtype):
            raise RuntimeError(f"it gives {result.dtype}")
        part = result if columns is None else self.rows.part(expression, result, *shape)
        values = self.library.numpy(self.library.to_float32(part))
        if columns is not None:
            fault = self.rows.fault(expression, lambda name: self.host(name, shape), values, *shape)
        else:
            fault = reference.fault(expression, self.drawn, values.ravel(), *shape)
        return self.keep(expression, implementation, function, arrays, min_time, fault)

    def prepare_product(self, expression, implementation, min_time, shape):
        self.problem = self.problem or products.Problem(shape)
        arrays = [self.part(i, formulas.dtype(expression)) for i in range(products.count(expression))]
        function = self.function(expression, implementation)
        result = function(*arrays)
        self.library.wait(result)
        if formulas.dtype(expression) not in str(result.dtype):
            raise RuntimeError(f"it gives {result.dtype}")
        part = self.library.numpy(self.library.to_float32(self.problem.part(expression, result)))
        fault = self.problem.fault(expression, part)
        return self.keep(expression, implementation, function, arrays, min_time, fault)

    def part(self, number, dtype):
        if (number, dtype) not in self.operands:
            made = self.library.array(self.problem.host(number))
            self.operands[number, dtype] = made if dtype == "float32" else self.library.cast(made, dtype)
        return self.operands[number, dtype]

    def keep(self, expression, implementation, function, arrays, min_time, fault):
        """Prepares a correct implementation for measuring, with a number of evaluations that takes about `min_time`."""
        if fault:
            raise RuntimeError(f"a wrong result: {fault}")
        iterations = self.batch
        while (taken := self.time(function, arrays, iterations)) < min_time and iterations < 1 << 24:
            iterations = max(2 * iterations, int(iterations * min_time / max(taken, 1e-7)) // self.batch * self.batch)
        self.ready[expression, implementation] = function, arrays, iterations
        return {}

    def time(self, function, arrays, iterations):
        begin = time.perf_counter()
        for _ in range(iterations // self.batch):
            for _ in range(self.batch):
                result = function(*arrays)
            self.library.wait(result)
        return time.perf_counter() - begin

    def measure(self, expression, implementation):
        function, arrays, iterations = self.ready[expression, implementation]
        return {"ns": self.time(function, arrays, iterations) / iterations * 1e9}

    def forget(self):
        self.ready.clear()
        self.operands.clear()
        self.drawn.clear()
        self.rows, self.problem = rows.Reference(), None
        self.compiled.clear()
        self.library.forget()
        return {}


def serve(name, executor):
    # Libraries' output must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        server = Server(name, executor)
    except Exception as error:  # any failure of a peer is its answer
        say({"error": f"{type(error).__name__}: {str(error).strip()[:300]}"})
        return
    say(server.hello())
    for line in sys.stdin:
        question = json.loads(line)
        action = {"prepare": server.prepare, "measure": server.measure, "forget": server.forget}[question.pop("do")]
        try:
            say(action(**question))
        except Exception as error:
            say({"error": f"{type(error).__name__}: {str(error).strip()[:300]}"})


if __name__ == "__main__":
    serve(*sys.argv[1:])
