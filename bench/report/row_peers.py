"""Operations along rows on a GPU by Sinter, PyTorch, torch.compile and Triton, timed alike by the GPU's events.

python3 -m bench.report.row_peers [--columns 1024 4096] [--out FILE]

The quick sibling of the suite's section `rows`: each library once, one after another, and few operations.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from . import schemes
from .peers.libraries import Torch, Triton
from .result import ROOT

ROUNDS, LEAST_MS = 3, 2  # as bench/row_schemes.cpp
OPERATIONS = ("softmax", "layer_norm", "rms_norm", "sum", "logsumexp", "cross_entropy")
TOLERANCE = {"float32": 1e-4, "bfloat16": 3e-2}


def time_us(torch, evaluate):
    """The median of some rounds, of one evaluation."""

    def elapsed_ms(times):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(times):
            evaluate()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    evaluate()
    times = min(1000, max(5, int(LEAST_MS / max(elapsed_ms(3) / 3, 1e-3))))
    return 1000 * statistics.median(elapsed_ms(times) for _ in range(ROUNDS)) / times


def operands(torch, elements, columns, dtype):
    def random(*shape):
        return torch.randn(shape, device="cuda").to(getattr(torch, dtype))

    x, gain, shift = random(elements // columns, columns), random(columns), random(columns)
    classes = torch.randint(0, columns, (elements // columns,), device="cuda")
    more = {"layer_norm": (gain, shift), "rms_norm": (gain,), "sum": (1,), "cross_entropy": (classes,)}
    return {name: (x, *more.get(name, ())) for name in OPERATIONS}


def measured(elements, columns, compiles):
    """{implementation: {(operation, dtype, columns): microseconds, or what failed}}"""
    eager, triton = Torch("cuda:0"), Triton("cuda:0")
    torch = eager.module
    found = {name: {} for name in ("torch", "triton", *(["torch.compile"] if compiles else []))}
    for width in columns:
        for dtype in TOLERANCE:
            for operation, arguments in operands(torch, elements, width, dtype).items():
                functions = {"torch": getattr(eager, operation), "triton": getattr(triton, operation)}
                if compiles:
                    torch._dynamo.reset()
                    functions["torch.compile"] = torch.compile(functions["torch"], dynamic=False)
                right = functions["torch"](*arguments).float()
                for name, function in functions.items():
                    try:
                        torch.testing.assert_close(
                            function(*arguments).float(), right, rtol=TOLERANCE[dtype], atol=100 * TOLERANCE[dtype]
                        )
                        us = time_us(torch, lambda: function(*arguments))
                    except Exception as error:  # the others may succeed
                        us = f"failed: {str(error).splitlines()[0]}"
                    found[name][operation, dtype, width] = us
    return found


def show(times):
    others = [name for name in times if name != "sinter"]
    print(f"{'operation':14} {'dtype':9} {'columns':>8} {'copy us':>8} {'sinter':>8} " + " ".join(f"{o:>13}" for o in others))
    for case, ours in times["sinter"].items():
        if case[0] == "copy" or not isinstance(ours, float):
            continue
        cells = []
        for other in others:
            us = times[other].get(case)
            cells.append(f"{us:7.1f} {us / ours:5.2f}" if isinstance(us, float) else f"{'-':>13}")
        copy = times["sinter"].get(("copy", *case[1:]), 0)
        print(f"{case[0]:14} {case[1]:9} {case[2]:8} {copy:8.1f} {ours:8.1f} " + " ".join(f"{c:>13}" for c in cells))


def main():
    parser = argparse.ArgumentParser(prog="bench.report.row_peers", description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "bench/row_schemes")
    parser.add_argument("--elements", type=int, default=1 << 26)
    parser.add_argument("--columns", type=int, nargs="+", default=[256, 1024, 4096, 8192, 32_768])
    parser.add_argument("--no-compile", action="store_true", help="without torch.compile, which takes seconds for each")
    parser.add_argument("--out", type=pathlib.Path, help="all times, as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as kernels:
        ours = schemes.measured(arguments.program, "chosen", arguments.elements, arguments.columns, kernels)
    times = {"sinter": ours, **measured(arguments.elements, arguments.columns, not arguments.no_compile)}
    if arguments.out:
        arguments.out.write_text(json.dumps(schemes.listed(times)), encoding="utf-8")
    show(times)


if __name__ == "__main__":
    sys.exit(main())
