#!/usr/bin/env python3
"""Compares a line of three operations on three elements, where only overhead counts, with NumPy, PyTorch and JAX.

    PYTHONPATH=build/release/python python3 bench/line.py

Each library takes its turn in each of 25 rounds. Prints the medians of the times and of their ratios to NumPy's in the
same round, as a table for docs/benchmarks.md. The Python that runs it is the one whose packages are compared.
"""

import statistics
import timeit

import numpy as np

import sinter_jit as sn

ROUNDS, CALLS = 25, 2000


def lines():
    """{library: (the line, what it does)}"""
    a, b = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    x, y = sn.from_numpy(a), sn.from_numpy(b)
    found = {
        "NumPy": (lambda: np.exp(a + 2) * b, "np.exp(x + 2) * y"),
        "Sinter": (lambda: ((x + 2).exp() * y).numpy(), "((x + 2).exp() * y).numpy()"),
    }
    try:
        import torch

        t, u = torch.from_numpy(a), torch.from_numpy(b)
        found["PyTorch"] = lambda: ((t + 2).exp() * u).numpy(), "((x + 2).exp() * y).numpy()"
    except ImportError:
        pass
    try:
        import jax

        p, q = jax.numpy.asarray(a), jax.numpy.asarray(b)
        found["JAX"] = lambda: np.asarray(jax.numpy.exp(p + 2) * q), "np.asarray(jnp.exp(x + 2) * y)"
        compiled = jax.jit(lambda p, q: jax.numpy.exp(p + 2) * q)
        found["jax.jit"] = lambda: np.asarray(compiled(p, q)), "np.asarray(jitted(x, y))"
    except ImportError:
        pass
    return found


def main():
    found = lines()
    for line, _ in found.values():
        np.testing.assert_allclose(line(), found["NumPy"][0](), rtol=1e-6)
    times = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name, (line, _) in found.items():
            times[name].append(timeit.timeit(line, number=CALLS) / CALLS * 1e6)
    print("| | line | µs | NumPy = 1 |\n| --- | --- | --- | --- |")
    for name, (_, text) in found.items():
        ratio = statistics.median(t / n for t, n in zip(times[name], times["NumPy"]))
        print(f"| {name} | `{text}` | {statistics.median(times[name]):.1f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
