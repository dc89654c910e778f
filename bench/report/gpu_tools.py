"""NVIDIA's tools, if installed: hardware counters of some kernels, and out-of-bounds accesses."""

import glob
import os
import shutil
import subprocess
import sys

from .result import ROOT

PLACES = ["/usr/local/cuda*/bin", "/opt/cuda/bin", "/opt/nvidia/nsight-compute/*", "/usr/local/cuda*/nsight-compute*"]
KERNELS = 15
# Bytes of device memory, utilization of memory and multiprocessors, and limits of occupancy.
METRICS = [
    "gpu__time_duration.sum",
    "dram__bytes.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block",
    "l1tex__data_bank_conflicts_pipe_lsu.sum",
    "smsp__inst_executed_op_local_ld.sum",
]
# A row kept in registers and one in shared memory, along columns; fused operations; indices.
CHECKED = ["dsl/cached_rows_test", "dsl/indexing_test", "jit/nest_test", "dsl/scan_test"]
PARTS = 8  # of each file's tests one part runs: they take about 20 times as long


def find(name):
    """The program's path, or None."""
    found = shutil.which(name)
    return found or next((path for place in PLACES for path in sorted(glob.glob(f"{place}/{name}"), reverse=True)), None)


def ended(command, seconds, log, environment=None):
    """The exit status, or None if it ran out of time. The log has its output in either case."""
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env={**os.environ, "SINTER_CACHE": "memory", **(environment or {})},
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # both tools start the program as a child
        )
        try:
            return process.wait(timeout=max(1, seconds))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return None


def said(status, log):
    return "ran out of time" if status is None else "done" if status == 0 else f"failed ({status}), see {log.name}"


def counters(deadline, out):
    """ncu on the second launch of some kernels; the figures are a table in out/ncu.csv."""
    ncu = find("ncu")
    if ncu is None:
        return {"status": "ncu is not installed"}
    log = out / "ncu.csv"
    tool = [ncu, "--csv", "--page=raw", "--clock-control=none", f"--metrics={','.join(METRICS)}"]
    which = ["--kernel-id=:::2", f"--launch-count={KERNELS}", "--kill=yes"]
    program = [ROOT / "bench/rows", "--sizes=16777216", "--columns=8192,50000", "--device=cuda:0"]
    filtered = ["--benchmark_filter=/sinter/", "--benchmark_min_time=0.001"]
    status = ended([*tool, *which, *program, *filtered], deadline.left(), log)
    measured = sum(line.startswith('"') for line in log.read_text(encoding="utf-8", errors="replace").splitlines())
    rows = max(0, measured - 2)  # one line of names and one of units
    # --kill ends the program, which is not a failure.
    return {"status": said(0 if rows >= KERNELS else status, log), "kernels": rows, "ncu": ncu}


def sanitizer(deadline, out, files):
    """compute-sanitizer on a part of some test files."""
    tool = find("compute-sanitizer")
    if tool is None:
        return {"status": "compute-sanitizer is not installed"}
    suites, found = {file: suite for suite, file in files}, {}
    for file in CHECKED:
        if file not in suites:
            continue
        if deadline.is_past():
            found[file] = "not run: no time was left"
            continue
        log = out / f"sanitizer_{file.replace('/', '_')}.log"
        environment = {"SINTER_TEST_GPU": "1", "GTEST_TOTAL_SHARDS": str(PARTS), "GTEST_SHARD_INDEX": "0"}
        command = [tool, "--tool=memcheck", "--error-exitcode=86", ROOT / "bin" / suites[file], file]
        found[file] = said(ended(command, deadline.left() / 2, log, environment), log)
        print(f"  compute-sanitizer, {file}: {found[file]}", file=sys.stderr, flush=True)
    bad = [file for file, status in found.items() if status.startswith("failed")]
    return {"status": f"failed: {', '.join(bad)}" if bad else "done", "files": found, "compute-sanitizer": tool}
