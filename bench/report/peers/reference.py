"""Element i of every expression in Python floats, independent of the peers; `v(name, i)` is an operand's element."""

import math

from .formulas import dtype


def chain(operations):
    def value(v, i, _rows, _columns):
        result = v("x", i)
        for step in range(1, operations + 1):
            result = math.tanh(result) if step % 5 == 0 else result * v("x", i) if step % 2 == 0 else result + v("y", i)
        return result

    return value


def gelu(v, i, _rows, _columns):
    x = v("x", i)
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def black_scholes(v, i, _rows, _columns):
    s, k, t = v("spot", i), v("strike", i), v("time", i)
    d1 = (math.log(s / k) + (0.02 + 0.3**2 / 2) * t) / (0.3 * math.sqrt(t))

    def cdf(d):
        return 0.5 * math.erfc(-d / math.sqrt(2))

    return s * cdf(d1) - k * math.exp(-0.02 * t) * cdf(d1 - 0.3 * math.sqrt(t))


def normalise(v, i, _rows, columns):
    row, column = i // columns, i % columns
    return (v("x", i) - v("mean", row)) / math.sqrt(v("variance", row) + 1e-5) * v("gain", column) + v("shift", column)


def residual(v, i, _rows, columns):
    y = v("y", i)
    return v("x", i) + v("gain", i % columns) * y / (1 + math.exp(-y))


def axpy(v, i, _rows, _columns):
    return 1.5 * v("x", i) + v("y", i)


VALUES = {
    **{f"chain_{operations}": chain(operations) for operations in (1, 2, 5, 10, 20, 40)},
    "example": lambda v, i, r, c: math.exp(v("x", i) + 2) * v("y", i),
    "axpy": axpy,
    "gelu": gelu,
    "swish": lambda v, i, r, c: v("x", i) / (1 + math.exp(-v("x", i))),
    "distance": lambda v, i, r, c: math.hypot(v("x", i) - v("spot", i), v("y", i) - v("strike", i)),
    "black_scholes": black_scholes,
    "transposed": lambda v, i, r, c: v("x", i % c * r + i // c) + v("y", i),
    "every_second": lambda v, i, r, c: v("wide", 2 * i) * v("y", i),
    "add_row": lambda v, i, r, c: v("x", i) + v("row", i % c),
    "outer": lambda v, i, r, c: v("column", i // c) * v("row", i % c),
    "normalise": normalise,
    "residual": residual,
    "axpy_half": axpy,
    "gelu_half": gelu,
    "residual_half": residual,
    "transposed_half": lambda v, i, r, c: v("x", i % c * r + i // c) + v("y", i),
    "axpy_bfloat16": axpy,
    "gelu_bfloat16": gelu,
    "residual_bfloat16": residual,
    "every_second_bfloat16": lambda v, i, r, c: v("wide", 2 * i) * v("y", i),
    "image": lambda v, i, r, c: (v("pixels", i) / 255 - 0.45) / 0.225,
}
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-4}  # each operation rounds


def fault(expression, inputs, result, rows, columns):
    """What is wrong with a flat NumPy result; None if nothing is. Checks 200 elements, spread over all."""

    def element(name, i):
        return float(inputs[name][i])

    count = rows * columns
    if result.size != count or str(result.dtype) != "float32":
        return f"it gives {result.size} elements of {result.dtype}"
    for i in {*range(0, count, max(1, count // 200)), count - 1}:
        right = VALUES[expression](element, i, rows, columns)
        if not abs(float(result[i]) - right) <= TOLERANCE[dtype(expression)] * max(1.0, abs(right)):
            return f"element {i} is {float(result[i])}, not {right}"
    return None
