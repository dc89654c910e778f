"""Operands as in bench/expressions/inputs.cpp: the same ranges, and the same for every peer."""

import numpy

RANGES = {"x": (-3, 3), "wide": (-3, 3), "spot": (50, 150), "strike": (50, 150), "time": (0.1, 2), "variance": (0.5, 2), "pixels": (0, 256)}
NAMES = ["x", "y", "spot", "strike", "time", "wide", "row", "gain", "shift", "column", "mean", "variance", "pixels"]


def extent(n):
    """(rows, columns) of n elements as a matrix."""
    rows = max(r for r in range(1, int(n**0.5) + 1) if n % r == 0)
    return rows, n // rows


def draw(name, rows, columns):
    n = rows * columns
    length = {
        "wide": 2 * n,
        "row": columns,
        "gain": columns,
        "shift": columns,
        "column": rows,
        "mean": rows,
        "variance": rows,
    }.get(name, n)
    low, high = RANGES.get(name, (-1, 1))
    generator = numpy.random.default_rng(NAMES.index(name) + 1)
    values = (low + (high - low) * generator.random(length, dtype=numpy.float32)).astype(numpy.float32)
    return numpy.minimum(values, 255).astype(numpy.uint8) if name == "pixels" else values
