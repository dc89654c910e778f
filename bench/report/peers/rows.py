"""Correct results along rows and columns: the cases of bench/rows, in NumPy's double precision."""

import numpy

from .formulas import EPSILON, dtype

SOME = 1 << 20  # elements to check
AT_ONCE = 1 << 22  # elements converted to double precision at a time
TOLERANCE = {"bfloat16": 3e-2, "float32": 2e-4}  # each operation rounds
CANCEL = {"layer_norm", "rms_norm", "sum_all", "sum_rows", "sum_columns", "cumsum"}  # nearly 0 beside their terms


def classes(rows, columns):
    return numpy.arange(rows, dtype=numpy.int64) * 7919 % columns


def places(rows, _columns):
    return numpy.arange(rows, dtype=numpy.int64) * 7919 % rows


def held(values, kind):
    """Rounded to the dtype, in double precision; to the nearest bfloat16, ties to even."""
    if kind == "bfloat16":
        bits = values.view(numpy.uint32)
        values = ((bits + (0x7FFF + (bits >> 16 & 1))) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)
    return values.astype(numpy.float64)


def right_of_rows(name, x, gain, shift, of_class):
    """For some rows: as many rows with all columns, or one number per row."""
    if name in ("softmax", "log_softmax", "cross_entropy"):
        logarithms = x - numpy.log(numpy.exp(x).sum(1, keepdims=True))
        if name == "cross_entropy":
            return -logarithms[numpy.arange(len(x)), of_class]
        return logarithms if name == "log_softmax" else numpy.exp(logarithms)
    if name == "layer_norm":
        return (x - x.mean(1, keepdims=True)) / numpy.sqrt(x.var(1, keepdims=True) + EPSILON) * gain + shift
    if name == "rms_norm":
        return x / numpy.sqrt((x * x).mean(1, keepdims=True) + EPSILON) * gain
    of = {
        "logsumexp": lambda: numpy.log(numpy.exp(x).sum(1)),
        "argmax": lambda: numpy.argmax(x, 1).astype(numpy.float64),
        "cumsum": lambda: numpy.cumsum(x, 1),
        "sort": lambda: numpy.sort(x, 1),
        "dropout": lambda: 2 * x,
        "embedding": lambda: x,
    }
    return of.get(name, lambda: x.sum(1))()


def shape_of(name, rows, columns):
    shapes = {"sum_all": (), "cross_entropy": (), "sum_rows": (rows,), "sum_columns": (columns,)}
    shapes.update(logsumexp=(rows,), argmax=(rows,))
    return shapes.get(name, (rows, columns))


def looked_at(name, rows, columns):
    """The places to check in a result; for a matrix some rows."""
    if name in ("sum_all", "cross_entropy"):
        return ...
    lines, length = (columns, rows) if name == "sum_columns" else (rows, columns)
    return slice(None, None, max(1, lines // max(2, SOME // length)))


class Reference:
    """Correct results for one shape's operands; results over all elements are computed once."""

    def __init__(self):
        self.of_all = {}

    def part(self, expression, result, rows, columns):
        """The part of a library's result that is checked, so that no more is copied from a GPU."""
        name = expression.removesuffix("_bfloat16")
        if tuple(result.shape) != shape_of(name, rows, columns):
            raise RuntimeError(f"it gives {tuple(result.shape)}")
        return result[looked_at(name, rows, columns)]

    def fault(self, expression, host, part, rows, columns):
        """What is wrong with such a part, as a NumPy array; None if nothing is. `host` returns operands by name."""
        name, kind = expression.removesuffix("_bfloat16"), dtype(expression)
        right = self.right(name, kind, host, rows, columns)
        if str(part.dtype) != "float32":
            return f"it gives {part.dtype}"
        terms = {"sum_all": rows * columns, "sum_rows": columns, "sum_columns": rows, "cumsum": columns}.get(name, 1)
        # The error of a sum scales with the expected magnitude of the sum of its terms, which are uniform in [-3, 3].
        least = terms**0.5 if name in CANCEL else 0
        off = numpy.abs(part.astype(numpy.float64) - right) - TOLERANCE[kind] * numpy.maximum(least, abs(right))
        if name == "dropout":
            off = numpy.where(part == 0, 0, off)
        if numpy.all(off <= 0):
            return None
        worst = numpy.unravel_index(numpy.argmax(numpy.nan_to_num(off, nan=numpy.inf)), off.shape)
        return f"an element is {float(part[worst])}, not {float(numpy.asarray(right)[worst])}"

    def right(self, name, kind, host, rows, columns):
        x, where = host("matrix_x").reshape(rows, columns), looked_at(name, rows, columns)
        if name == "sum_columns":
            return held(numpy.ascontiguousarray(x[:, where]), kind).sum(0)

        def of(some):
            gain, shift = (held(host(vector), kind) for vector in ("gain", "shift"))
            chosen = places(rows, columns)[some] if name == "embedding" else some
            lines = held(numpy.ascontiguousarray(x[chosen]), kind)
            return right_of_rows(name, lines, gain, shift, classes(rows, columns)[some])

        if name in ("sum_all", "cross_entropy"):
            if (name, kind) not in self.of_all:
                step = max(1, AT_ONCE // columns)
                total = sum(of(slice(first, first + step)).sum() for first in range(0, rows, step))
                self.of_all[name, kind] = total / (rows if name == "cross_entropy" else 1)
            return numpy.float64(self.of_all[name, kind])
        return of(where)
