"""Products and networks: the cases of bench/products for libraries with layers, and correct results in NumPy."""

import inspect
import math

from .formulas import dtype
from .rows import held

LOOKED_AT = 16  # number of rows to check
TOLERANCE = {"bfloat16": 4e-2, "float32": 1e-4}  # each operation rounds


def mlp(activation):
    def evaluate(m, x, w1, b1, w2, b2, w3, b3):
        f = getattr(m, activation)
        return m.linear(f(m.linear(f(m.linear(x, w1, b1)), w2, b2)), w3, b3)

    return evaluate


def block(m, x, gain1, shift1, wq, bq, wk, bk, wv, bv, wo, bo, gain2, shift2, w1, b1, w2, b2):
    normalized = m.layer_norm(x, gain1, shift1)
    q, k, v = (m.linear(normalized, w, b) for w, b in ((wq, bq), (wk, bk), (wv, bv)))
    y = x + m.linear(m.attention(q, k, v, heads_of(x.shape[-1])), wo, bo)
    return y + m.linear(m.gelu(m.linear(m.layer_norm(y, gain2, shift2), w1, b1)), w2, b2)


FORMULAS = {
    "gemm": lambda m, x, w: m.linear(x, w, None),
    "linear_gelu": lambda m, x, w, b: m.gelu(m.linear(x, w, b)),
    "linear_gelu_tanh": lambda m, x, w, b: m.gelu_tanh(m.linear(x, w, b)),
    "mlp_gelu": mlp("gelu"),
    "mlp_relu": mlp("relu"),
    "block": block,
}


def heads_of(width):
    return max(1, width // 64)


def shape_of(text):
    """ "linear:512x1024x1024" -> ("linear", 512, 1024, 1024), as in bench/products/cases.hpp."""
    kind, _, extents = text.partition(":")
    return kind, *map(int, extents.split("x"))


def parts(kind, a, b, c):
    """(shape, bound, middle) of x, then of weights (out, in) and biases in order of use."""

    def layer(out, into):
        return [((out, into), into**-0.5, 0), ((out,), into**-0.5, 0)]

    if kind == "linear":
        return [((a, b), 1, 0), *layer(c, b)]
    if kind == "mlp":
        return [((a, b), 1, 0), *layer(c, b), *layer(c, c), *layer(b, c)]
    norm = [((c,), 0.5, 1), ((c,), 0.5, 0)]
    return [((a, b, c), 1, 0), *norm, *(4 * layer(c, c)), *norm, *layer(4 * c, c), *layer(c, 4 * c)]


def name_of(expression):
    return expression.removesuffix("_bfloat16")


def count(expression):
    """Number of operands."""
    return len([p for p in inspect.signature(FORMULAS[name_of(expression)]).parameters if p != "m"])


def draw(part, number):
    import numpy

    shape, bound, middle = part
    generator = numpy.random.default_rng(number + 1)
    return (middle + bound * (2 * generator.random(shape, dtype=numpy.float32) - 1)).astype(numpy.float32)


def function(expression, library):
    """A function of only the operands, with its own code: torch.compile caches by a function's code."""
    names = ", ".join(f"a{i}" for i in range(count(expression)))
    space = {"formula": FORMULAS[name_of(expression)], "library": library}
    exec(f"def {expression}({names}):\n    return formula(library, {names})\n", space)
    return space[expression]


def step_of(rows):
    return max(1, rows // LOOKED_AT)


class InDouble:
    """The operations of the formulas, in NumPy's double precision."""

    def linear(self, x, w, b):
        return x @ w.T + (0 if b is None else b)

    def gelu(self, x):
        import numpy

        return 0.5 * x * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2)))

    def gelu_tanh(self, x):
        import numpy

        return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    def relu(self, x):
        return x * (x > 0)

    def layer_norm(self, x, gain, shift):
        import numpy

        centred = x - x.mean(-1, keepdims=True)
        return centred / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5) * gain + shift

    def attention(self, q, k, v, heads):
        """For one sequence, for some of its queries."""
        import numpy

        q, k, v = (t.reshape(len(t), heads, -1).transpose(1, 0, 2) for t in (q, k, v))
        powers = numpy.exp(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]))
        y = powers / powers.sum(-1, keepdims=True) @ v
        return y.transpose(1, 0, 2).reshape(y.shape[1], -1)

    def block(self, x, rows, gain1, shift1, wq, bq, wk, bk, wv, bv, wo, bo, gain2, shift2, w1, b1, w2, b2):
        """Some rows of one sequence."""
        normalized = self.layer_norm(x, gain1, shift1)
        q, k, v = self.linear(normalized[rows], wq, bq), self.linear(normalized, wk, bk), self.linear(normalized, wv, bv)
        y = x[rows] + self.linear(self.attention(q, k, v, heads_of(x.shape[-1])), wo, bo)
        return y + self.linear(self.gelu(self.linear(self.layer_norm(y, gain2, shift2), w1, b1)), w2, b2)


class Problem:
    """One shape's operands and the correct results."""

    def __init__(self, text):
        self.shape = shape_of(text)
        self.parts = parts(*self.shape)
        self.drawn, self.known = {}, {}

    def host(self, number):
        if number not in self.drawn:
            self.drawn[number] = draw(self.parts[number], number)
        return self.drawn[number]

    def part(self, expression, result):
        """The part of a library's result that is checked, so that no more is copied from a GPU."""
        kind, a, b, c = self.shape
        expected = {"linear": (a, c), "mlp": (a, b), "block": (a, b, c)}[kind]
        if tuple(result.shape) != expected:
            raise RuntimeError(f"it gives {tuple(result.shape)}")
        lines = result.reshape(-1, expected[-1])
        return lines[:: step_of(lines.shape[0])]

    def right(self, expression):
        kind, a, b, c = self.shape
        x, *others = (held(self.host(i), dtype(expression)) for i in range(count(expression)))
        if kind != "block":
            return FORMULAS[name_of(expression)](InDouble(), x[:: step_of(a)], *others)  # rows are independent
        import numpy

        found, step = [], step_of(a * b)
        for sequence in range(a):
            if rows := [row - sequence * b for row in range(0, a * b, step) if row // b == sequence]:
                found.append(InDouble().block(x[sequence], rows, *others))
        return numpy.concatenate(found)

    def fault(self, expression, part):
        """What is wrong with such a part, as a NumPy array; None if nothing is."""
        import numpy

        if str(part.dtype) != "float32":
            return f"it gives {part.dtype}"
        if expression not in self.known:
            self.known[expression] = self.right(expression)
        right = self.known[expression]
        typical = numpy.sqrt((right * right).mean(1, keepdims=True))
        off = numpy.abs(part - right) - TOLERANCE[dtype(expression)] * numpy.maximum(typical, abs(right))
        if numpy.all(off <= 0):
            return None
        worst = numpy.unravel_index(numpy.argmax(off), off.shape)
        return f"an element is {float(part[worst])}, not {float(right[worst])}"
