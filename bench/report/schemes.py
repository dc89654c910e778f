"""Times of operations along rows under other schemes, beside the one that is chosen: python3 -m bench.report.schemes

The kernels of all schemes are compiled first, several programs at once; then each scheme is measured alone.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from .result import ROOT

# TEAM,BLOCK,VECTORS,KIND: see bench/row_schemes.cpp. VECTORS follows from the row in registers.
SCHEMES = [
    *[f"{team},256,1,registers" for team in (4, 8, 16, 32)],
    *[f"32,{block},1,registers" for block in (64, 128, 512)],
    *[f"0,{block},1,registers" for block in (64, 128, 256, 512, 1024)],
    *[f"0,{block},{vectors},loop" for block, vectors in ((256, 2), (256, 4), (512, 2), (512, 4), (1024, 2), (1024, 4))],
    *[f"0,{block},{vectors},cache" for block, vectors in ((256, 4), (512, 2), (512, 4), (1024, 2))],
]
COLUMNS = [64, 256, 1024, 4096, 8192, 32768, 65536, 262144]
AT_ONCE = 12


def measured(program, scheme, elements, columns, kernels):
    """{(operation, dtype, columns): microseconds, or what failed}"""
    environment = {**os.environ, "SINTER_CACHE": "on", "SINTER_CACHE_DIR": str(kernels)}
    command = [str(program), scheme, str(elements), *map(str, columns)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{scheme}: {done.stderr.strip()}", file=sys.stderr)
    found = {}
    for line in done.stdout.splitlines():
        operation, dtype, width, rest = line.split(" ", 3)
        found[operation, dtype, int(width)] = rest if rest.startswith("failed") else float(rest)
    return found


def listed(times):
    return [[scheme, *case, us] for scheme, found in times.items() for case, us in found.items()]


def show(times):
    print(f"{'operation':14} {'dtype':9} {'columns':>8} {'copy us':>8} {'chosen us':>9}   best schemes: their time over the chosen one's")
    for case, chosen in times["chosen"].items():
        if case[0] == "copy" or not isinstance(chosen, float) or not chosen:
            continue
        others = {s: found.get(case) for s, found in times.items() if s != "chosen"}
        ranked = sorted((us / chosen, s) for s, us in others.items() if isinstance(us, float))
        best = "  ".join(f"{ratio:.2f} {scheme}" for ratio, scheme in ranked[:4])
        print(f"{case[0]:14} {case[1]:9} {case[2]:8} {times['chosen'].get(('copy', *case[1:]), 0):8.1f} {chosen:9.1f}   {best}")


def main():
    parser = argparse.ArgumentParser(prog="bench.report.schemes", description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "bench/row_schemes")
    parser.add_argument("--elements", type=int, default=1 << 26)
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS)
    parser.add_argument("--schemes", nargs="+", default=SCHEMES)
    parser.add_argument("--kernels", type=pathlib.Path, help="a folder that keeps the compiled kernels")
    parser.add_argument("--out", type=pathlib.Path, help="all times, as JSON")
    arguments = parser.parse_args()
    schemes = ["chosen", *arguments.schemes]
    with contextlib.nullcontext(arguments.kernels) if arguments.kernels else tempfile.TemporaryDirectory() as kernels:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda s: measured(arguments.program, s, arguments.elements, arguments.columns, kernels), schemes))
        times = {s: measured(arguments.program, s, arguments.elements, arguments.columns, kernels) for s in schemes}
    if arguments.out:
        arguments.out.write_text(json.dumps(listed(times)), encoding="utf-8")
    show(times)


if __name__ == "__main__":
    main()
