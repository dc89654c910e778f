#!/usr/bin/env python3
"""Compares sinter_jit.torch_backend with PyTorch itself and with Inductor on the models of torch_models.py.

    PYTHONPATH=build/release/python taskset -c 0 python3 bench/torch_backend.py [--device cuda] [MODEL...]

Each implementation takes its turn in each of nine rounds; the ratios are medians over the rounds. Prints the table of
docs/torch.md. The Python that runs it needs PyTorch 2.9; Inductor needs a C++ compiler.
"""

import argparse
import logging
import pathlib
import statistics
import sys
import time
import warnings

import torch
from torch._inductor import metrics

import sinter_jit as sn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/python"))
from torch_models import MODELS  # noqa: E402

ROUNDS = 9


class Notes(logging.Handler):
    """What the backend says of each graph: (evaluations, PyTorch's own operations)."""

    def __init__(self):
        super().__init__()
        self.taken = []

    def emit(self, record):
        self.taken.append(record.args)


def wait():
    if torch.get_default_device().type == "cuda":
        torch.cuda.synchronize()


def seconds(function, inputs):
    """The mean over a twentieth of a second, of three calls at least. On a GPU calls are queued one after another."""
    wait()
    start = time.perf_counter()
    calls = 0
    while calls < 3 or time.perf_counter() < start + 0.05:
        function(*inputs)
        calls += 1
    wait()
    return (time.perf_counter() - start) / calls


def kernels_of(function, inputs):
    before = sn.jit_stats()["launches"]
    function(*inputs)
    return sn.jit_stats()["launches"] - before


def difference(made, expected):
    """The largest, relative where the expected element is larger than 1."""
    pairs = zip(*[results if isinstance(results, tuple) else (results,) for results in (made, expected)])
    return max(((a.double() - b.double()).abs() / b.double().abs().clamp(min=1)).max().item() for a, b in pairs)


def row(name, notes):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.manual_seed(0)
    notes.taken.clear()
    metrics.reset()
    model, inputs = MODELS[name]()
    fused = torch.compile(model, backend=sn.torch_backend)
    made = fused(*inputs)
    breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
    inductor = torch.compile(model)
    inductor(*inputs)
    functions = {"PyTorch": model, "Inductor": inductor, "Sinter": fused}
    times = {which: [] for which in functions}
    for _ in range(ROUNDS):
        for which, function in functions.items():
            times[which].append(seconds(function, inputs))
    ratios = [
        statistics.median(a / b for a, b in zip(times[which], times["Sinter"])) for which in ("PyTorch", "Inductor")
    ]
    ((evaluations, own),) = notes.taken
    cells = [
        name,
        breaks,
        own,
        evaluations,
        kernels_of(fused, inputs),
        metrics.generated_kernel_count,
        f"{difference(made, model(*inputs)):.0e}",
        *[f"{ratio:.2f}" for ratio in ratios],
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    arguments = parser.parse_args()
    torch.set_default_device(arguments.device)
    warnings.filterwarnings("ignore")
    notes = Notes()
    log = logging.getLogger("sinter_jit.torch_backend")
    log.addHandler(notes)
    log.setLevel(logging.INFO)
    print(
        "| model | graph breaks | PyTorch's own | evaluations | kernels | Inductor's | difference "
        "| PyTorch / Sinter | Inductor / Sinter |"
    )
    print("| --- |" + " --- |" * 8)
    with torch.no_grad():
        for name in arguments.models or MODELS:
            try:
                print(row(name, notes), flush=True)
            except Exception as error:  # the others may succeed
                print(f"| {name} | {type(error).__name__}: {str(error).splitlines()[0]} |", flush=True)


if __name__ == "__main__":
    main()
