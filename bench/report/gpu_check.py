"""What a machine with a GPU has to tell, in a folder that bench/report/carry.py gathered: phases that share the time.

libraries and one kernel of each kind; tests; the Python package; rows beside PyTorch and Triton; the suite, beside the
Python peers; ncu; compute-sanitizer. What is known is written as it comes: check.json, result.json, page.html, logs, and all of them as one
archive.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import signal
import sys
import time

from . import gpu_python, gpu_tests, gpu_tools, machine, programs, run
from .archive import Archive
from .clocks import Clocks
from .deadline import Deadline
from .result import ROOT, commit

END_S = 10  # for the page and the table
PROBE_S = 30  # takes about 10 s
SIZES = [30_000_000, 1000]  # the most informative first, in case time runs out
COLUMNS = [4096, 1024, 32_768, 262_144]
SHARES = {"probe": 0.5, "tests": 1.5, "python": 2, "rows": 1.5, "suite": 5, "ncu": 1, "sanitizer": 1}  # relative shares of time, in this order


def use_libraries_of_this_python():
    """Sets VIRTUAL_ENV to this interpreter's folder if its packages include NVIDIA's libraries, to find them there."""
    if "VIRTUAL_ENV" not in os.environ and any(pathlib.Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/*/lib")):
        os.environ["VIRTUAL_ENV"] = sys.prefix


class Check:
    def __init__(self, out, seconds, only):
        self.out, self.deadline = out, Deadline(seconds - END_S)
        self.waiting = [name for name in SHARES if name in only]
        self.known = {"commit": commit(), "machine": machine.describe(), "python": sys.version.split()[0], "phases": []}

    def save(self):
        text = json.dumps(self.known, indent=1) + "\n"
        (self.out / "check.json").write_text(text, encoding="utf-8")

    def phase(self, name, clocks, work):
        """Runs a phase, if it is asked for, in its share of the remaining time; errors are reported, and the next phase
        follows."""
        if name not in self.waiting:
            return {}
        deadline = self.deadline.share(sum(SHARES[each] for each in self.waiting), SHARES[name])
        self.waiting.remove(name)
        print(f"{name}: {deadline.left():.0f} s at most", file=sys.stderr, flush=True)
        begin = time.monotonic()
        entry = {"phase": name, "status": "began"}
        self.known["phases"].append(entry)
        self.save()
        try:
            found = work(deadline) or {}
            entry.update({"status": "done", **found})
        except Exception as error:  # such a machine's time is expensive: the next phase may succeed
            entry["status"] = f"failed: {programs.brief(error)}"
            print(f"  {entry['status']}", file=sys.stderr, flush=True)
        finally:
            end = time.monotonic()
            entry.update(seconds=round(end - begin, 1), clocks=clocks.between(begin, end))
            self.save()
        return entry

    def is_right(self):
        phases = {entry["phase"]: entry for entry in self.known["phases"]}
        return (
            phases.get("probe", {}).get("status", "done") == "done"
            and all(step["ok"] for step in phases.get("probe", {}).get("steps", []))
            and all(test["status"] == "passed" for test in phases.get("tests", {}).get("files", []))
            and not any(entry["status"].startswith("failed") for entry in phases.values())
        )


def probe(deadline, out):
    """The steps of bench/probe, each recorded as soon as it is done."""
    log = out / "probe.jsonl"
    status = gpu_tools.ended([ROOT / "bench/probe"], min(PROBE_S, deadline.left()), log)
    steps = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            steps.append(json.loads(line))
        except ValueError:
            print(f"  {line}", file=sys.stderr)
    for step in steps:
        mark = "" if step["ok"] else "FAILED: "
        print(f"  {step['step']:9} {step['seconds']:6.2f} s  {mark}{step['said']}", file=sys.stderr, flush=True)
    if status is None:
        return {"steps": steps, "status": "ran out of time"}
    return {"steps": steps} if status in (0, 1) and steps else {"steps": steps, "status": f"failed ({status})"}


def tests(deadline, out, gpus):
    found = gpu_tests.run_all(deadline, out, gpus)
    print(f"  {gpu_tests.summary(found)}", file=sys.stderr)
    left_out = gpu_tests.needing_two_gpus() if gpus < 2 else []
    return {"files": found, "left_out_with_one_gpu": left_out}


def compared_rows(deadline, out):
    """One width, with torch.compile, whose first evaluations take most of the time."""
    for peer in ("torch", "triton"):
        if importlib.util.find_spec(peer) is None:
            return {"status": f"{peer} is not installed"}
    command = [sys.executable, "-m", "bench.report.row_peers", "--columns=4096", f"--out={out / 'rows.json'}"]
    log = out / "rows.log"
    return {"status": gpu_tools.said(gpu_tools.ended(command, deadline.left(), log), log)}


def suite(deadline, out, gpus, found):
    arguments = argparse.Namespace(
        build=ROOT,
        out=out,
        short=False,
        seconds=deadline.left(),
        only=["expressions", "rows", "products", "hits", "first"],
        executors=[f"cuda:{i}" for i in range(gpus)],
        sizes=SIZES,
        columns=COLUMNS,
        elements=None,
        no_peers=False,
    )
    run.run(arguments, found)


def gpus():
    """Names of the real GPUs that Sinter sees."""
    os.environ.pop("SINTER_VIRTUAL_GPUS", None)
    context = programs.ask(ROOT / "bench/expressions")
    return [name for name in context["gpus"].split(", ") if name]


def check(arguments, found, clocks):
    all_of_it = Check(arguments.out, arguments.seconds, arguments.only)
    all_of_it.phase("probe", clocks, lambda deadline: probe(deadline, arguments.out))
    tested = all_of_it.phase("tests", clocks, lambda deadline: tests(deadline, arguments.out, len(found)))
    files = tested.setdefault("files", [])
    all_of_it.phase("python", clocks, lambda deadline: gpu_python.run(deadline, arguments.out))
    all_of_it.phase("rows", clocks, lambda deadline: compared_rows(deadline, arguments.out))
    all_of_it.phase("suite", clocks, lambda deadline: suite(deadline, arguments.out, len(found), files))
    all_of_it.phase("ncu", clocks, lambda deadline: gpu_tools.counters(deadline, arguments.out))
    all_of_it.phase("sanitizer", clocks, lambda deadline: gpu_tools.sanitizer(deadline, arguments.out, gpu_tests.files()))
    print(gpu_tests.summary(files))
    return all_of_it


def end(_signal, _frame):
    raise SystemExit("ended by a signal; the archive has what was known")


def main():
    parser = argparse.ArgumentParser(prog="scripts/gpu-check", description=__doc__)
    out = pathlib.Path("gpu-check")
    parser.add_argument("--out", type=pathlib.Path, default=out, help="where check.json, result.json, page.html and logs go")
    parser.add_argument("--archive", type=pathlib.Path, help="all of these as one file; OUT.tar.gz otherwise")
    parser.add_argument("--seconds", type=float, default=540, help="all of it, at most")
    parser.add_argument("--only", nargs="+", choices=SHARES, default=list(SHARES), metavar="PHASE", help=", ".join(SHARES))
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, end)
    use_libraries_of_this_python()
    try:
        found = gpus()
    except programs.ProgramFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not found:
        print(
            "error: there is no GPU that Sinter can use here: no CUDA driver (libcuda.so.1), or no device; see nvidia-smi",
            file=sys.stderr,
        )
        return 2
    print(f"GPUs: {', '.join(found)}", file=sys.stderr)
    archive = arguments.archive or arguments.out.with_name(arguments.out.name + ".tar.gz")
    with Archive(arguments.out, archive), Clocks(arguments.out / "clocks.csv") as clocks:
        done = check(arguments, found, clocks)
    print(f"written: {archive}")
    return 0 if done.is_right() else 1


if __name__ == "__main__":
    sys.exit(main())
