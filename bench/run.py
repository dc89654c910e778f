#!/usr/bin/env python3
"""Runs the benchmarks of a build folder and prints what they say as ratios and against the budgets of docs/design.md.

Every figure is the median of interleaved repetitions. Ratios are the other's time over Sinter's: above 1, Sinter is
ahead. Nothing here passes or fails by a time; the exit status tells whether everything ran.
"""
import argparse
import json
import os
import subprocess
import sys

SIZES = [3, 1000, 100_000, 10_000_000]
PEERS = ["eager", "plain", "eigen", "xtensor"]
# Arrays read and written by each expression; the STREAM triad has three.
ARRAYS = {"example": 3, "axpy": 3, "gelu": 2, "black_scholes": 4}
HIT_BUDGET = {2: 200, 5: 250, 10: 400}


class Runner:
    def __init__(self, build, short):
        self.folder = os.path.join(build, "bench")
        self.short = short

    def run(self, program, environment=None, one_thread=False, only=None):
        """Median real time in ns by benchmark name."""
        command = [os.path.join(self.folder, program), "--benchmark_format=json",
                   f"--benchmark_min_time={0.001 if self.short else 0.05}"]
        if not self.short:
            command += ["--benchmark_repetitions=7", "--benchmark_enable_random_interleaving=true"]
        if only:
            command.append(f"--benchmark_filter={only}")
        pin = (lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})) if one_thread else None
        done = subprocess.run(command, env={**os.environ, **(environment or {})}, preexec_fn=pin, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
        times, unit = {}, {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
        for entry in json.loads(done.stdout)["benchmarks"]:
            if entry.get("error_occurred"):
                sys.exit(f"{program}: {entry['name']}: {entry['error_message']}")
            if entry.get("aggregate_name", "median") == "median" and (self.short or entry["run_type"] == "aggregate"):
                times[entry["run_name"].removesuffix("/real_time")] = entry["real_time"] * unit[entry["time_unit"]]
        return times


def table(title, header, rows):
    print(f"\n{title}")
    rows = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for row in rows:
        print("  " + "  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]))


def ratio(a, b):
    return f"{a / b:.2f}" if a and b else "-"


def hits(runner):
    null = runner.run("hit", {"SINTER_CUDA_DRIVER": os.path.join(runner.folder, "null_driver.so")})
    virtual = runner.run("hit", {"SINTER_VIRTUAL_GPUS": "1"})
    rows = []
    for n, budget in HIT_BUDGET.items():
        over = [times[f"{kind}/{n}"] - times[f"bare/{n}"] for times in (null, virtual) for kind in ("gpu", "gpu_broadcast", "gpu_new")]
        rows.append([n, budget] + [f"{value:.0f}" for value in over] + [f"{null[f'{kind}/{n}']:.0f}" for kind in ("cpu", "cpu_new")])
    table("Host time of a hit over the bare launch, ns (a driver that does nothing; a virtual GPU; the whole on the CPU)",
          ["operands", "budget", "null", "broadcast", "new result", "virtual", "broadcast", "new result", "cpu", "new result"], rows)
    print(f"  a block of memory from the pool and back, ns (budget: 100): CPU {null['pool/cpu']:.0f}, GPU {null['pool/gpu']:.0f}")
    one = null["threads/real_time/threads:1"]
    scaling = ", ".join(f"{n}: {one / null[f'threads/real_time/threads:{n}']:.2f}" for n in (2, 4, 8))
    print(f"  evaluations a second by threads that share one expression (5 operands) over one thread's: {scaling}; "
          f"{len(os.sched_getaffinity(0))} processors")


def first(runner):
    times = runner.run("first")
    steps = ["record", "schedule", "print", "nvrtc"]
    rows = [[f"{n} operations", budget] + [f"{times[f'{step}/{n}'] / 1e6:.2f}" for step in steps] +
            [f"{sum(times[f'{step}/{n}'] for step in steps) / 1e6:.1f}"] for n, budget in ((5, 80), (40, 150))]
    table("The first evaluation of an expression on a GPU (sm_90), ms, NVRTC loaded; without loading the kernel",
          ["expression", "budget"] + steps + ["in all"], rows)


def expressions(runner):
    only = None if not runner.short else "/(3|1000|100000)/"
    one = runner.run("expressions", one_thread=True, only=only)
    every = runner.run("expressions", only="/(sinter|all_threads)/" + ("" if not runner.short else "(3|1000|100000)/"))
    rows = []
    for name, arrays in ARRAYS.items():
        for n in SIZES:
            sinter = one.get(f"{name}/sinter/{n}")
            if sinter is None:
                continue
            past_cache = n >= 10_000_000
            stream = ratio(one[f"triad/one_thread/{n}"] * arrays / 3, sinter) if past_cache else ""
            threads = every[f"{name}/sinter/{n}"]
            stream_all = ratio(every[f"triad/all_threads/{n}"] * arrays / 3, threads) if past_cache else ""
            rows.append([name, n, f"{sinter / n:.2f}"] + [ratio(one.get(f"{name}/{peer}/{n}"), sinter) for peer in PEERS] +
                        [stream, f"{threads / n:.2f}", stream_all])
    table("Expressions on the CPU: ns per element with one thread, then the others' time over Sinter's, and the share of the\n"
          "STREAM triad's bandwidth; peers are compiled with -O3 -march=native, Sinter's user is not",
          ["expression", "n", "ns"] + PEERS + ["triad", "ns, all threads", "triad"], rows)


def compile_times(runner):
    command = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile_time.py")]
    if runner.short:
        command += ["--repetitions", "1", "--counts", "0", "1", "--ops", "5"]
    cases = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)["cases"]
    found = {(c["library"], c["count"], c["ops"]): c for c in cases}
    rows = []
    for count, ops in sorted({(c["count"], c["ops"]) for c in cases}, key=lambda case: (case[1], case[0])):
        sinter = found["sinter", count, ops]
        row = [f"{count} of {ops} ops" if count else "the headers", f"{sinter['seconds']:.2f}"]
        if count:
            headers = found["sinter", 0, min(o for (_, k, o) in found if k == 0)]["seconds"]
            row.append(f"{(sinter['seconds'] - headers) / count * 1000:.0f}")
        else:
            row.append("")
        row += [ratio(found[peer, count, ops]["seconds"], sinter["seconds"]) for peer in ("eigen", "xtensor")]
        row += [f"{sinter['bytes'] / 1024:.1f}"] + [ratio(found[peer, count, ops]["bytes"], sinter["bytes"]) for peer in ("eigen", "xtensor")]
        rows.append(row)
    table("Compile time of a file of expressions (g++ -O2, s), ms for each, the others' over Sinter's; size of its code, KiB",
          ["file", "s", "ms each", "eigen", "xtensor", "KiB", "eigen", "xtensor"], rows)


def starts(runner):
    times = runner.run("start")
    memory = {name: int(subprocess.check_output([os.path.join(runner.folder, name), "memory"])) for name in ("empty", "linked")}
    rows = [[what, f"{times[name] / 1e6:.2f}", f"{(times[name] - times['process/empty']) / 1e6:.2f}"]
            for what, name in (("empty program", "process/empty"), ("with Sinter linked", "process/linked"),
                               ("and one evaluation", "process/evaluating"))]
    table("A process from start to end, ms (budget: 5 over the empty one)", ["program", "ms", "over empty"], rows)
    print(f"  resident after one evaluation: {(memory['linked'] - memory['empty']) / 1024:.1f} MiB over the empty program (budget: 20)")


def growth(runner):
    times = runner.run("growth")
    sizes = [10, 100, 1000, 10_000]
    names = ["graph_record", "graph_simplify", "graph_schedule", "graph_print", "lazy_grow", "lazy_evaluate"]
    rows = [[name] + [f"{times[f'{name}/{n}'] / n:.0f}" for n in sizes] + [ratio(times[f"{name}/10000"] / 10_000, times[f"{name}/100"] / 100)]
            for name in names]
    table("Growth: ns per node in expressions of many operations, and the last over the second (1 is linear)",
          ["step"] + [str(n) for n in sizes] + ["10000/100"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="a build folder with SINTER_BENCHMARKS=ON")
    parser.add_argument("--short", action="store_true", help="run everything once and briefly")
    parser.add_argument("--only", choices=["hits", "first", "expressions", "compile", "start", "growth"])
    arguments = parser.parse_args()
    runner = Runner(arguments.build, arguments.short)
    parts = {"hits": hits, "first": first, "expressions": expressions, "start": starts, "growth": growth, "compile": compile_times}
    for name, part in parts.items():
        if arguments.only in (None, name):
            part(runner)


if __name__ == "__main__":
    sys.exit(main())
