"""The cold start: the first evaluation step by step, and a process from start to end."""

from ..sections import first, start
from . import bars
from .chart import Chart
from .scale import duration

STEPS = {"record": "record the graph", "schedule": "schedule", "print": "print CUDA text", "nvrtc": "compile (NVRTC)"}


def first_charts(result):
    rows = result["sections"].get("first")
    if not rows:
        return []
    panels, table = [], []
    for n, budget in first.BUDGETS.items():
        here = [r for r in rows if r["operations"] == n]
        if not here:
            continue
        total = sum(r["median_ns"] for r in here)
        whole = len(here) == len(first.STEPS)  # otherwise the sum is not that of a first evaluation
        listed = [(STEPS[r["step"]], r["median_ns"], "ahead", (r["q1_ns"], r["q3_ns"]), None) for r in here]
        if whole:
            listed.append(("in all", total, "total", None, budget * 1e6))
        panels.append(
            bars.value_bars(
                f"{n} operations",
                f"The steps of a first evaluation of {n} operations"
                + (f"; {duration(total)} in all." if whole else ", those that were measured."),
                listed,
                "logarithmic",
                log=True,
                low=100,
            )
        )
        table += [
            [f"{n} operations", STEPS[r["step"]], duration(r["median_ns"]), duration(r["q1_ns"]), duration(r["q3_ns"])]
            for r in here
        ]
        if whole:
            table.append([f"{n} operations", f"in all (budget {budget} ms)", duration(total), "", ""])
    if not panels:
        return []
    steps = {r["step"] for r in rows}
    missing = [words for step, words in STEPS.items() if step not in steps]
    return [
        Chart(
            "The first evaluation on a GPU",
            "Before a kernel is there: medians of each step for sm_90, with NVRTC loaded, without loading the kernel,"
            " which is the driver's. The axis is logarithmic."
            + (
                f" Not measured: {', '.join(missing)}."
                if missing
                else " Nearly all of it is NVRTC. The thick stroke is the budget."
            ),
            panels,
            ["expression", "step", "median", "first quartile", "third quartile"],
            table,
        )
    ]


def start_charts(result):
    rows = {r["program"]: r for r in result["sections"].get("start", [])}
    if not rows:
        return []
    names = {
        "empty": "empty program",
        "linked": "Sinter linked",
        "evaluating": "one evaluation",
        "device": "GPU opened",
        "disk_hit": "GPU, from disk",
    }
    empty = rows["empty"]["median_ns"]
    listed = [
        (
            names[p],
            r["median_ns"],
            "neutral" if p == "empty" else "ahead",
            (r["q1_ns"], r["q3_ns"]),
            empty + start.BUDGETS["start_ms"] * 1e6 if p == "evaluating" else None,
        )
        for p, r in rows.items()
        if p in names
    ]
    disk = rows["disk_hit"]["median_ns"] - rows["device"]["median_ns"]
    resident = (rows["evaluating"]["resident_kib"] - rows["empty"]["resident_kib"]) / 1024
    caption = (
        "Median time of a process from start to end; the GPU is a driver that does nothing. A kernel found on disk"
        f" costs {duration(disk)} beyond opening the GPU (budget: {start.BUDGETS['disk_hit_ms']} ms). After one"
        f" evaluation a program has {resident:.1f} MiB of memory more than an empty one (budget:"
        f" {start.BUDGETS['memory_mib']} MiB). The thick stroke is the budget: {start.BUDGETS['start_ms']} ms over the"
        " empty program."
    )
    table = [
        [
            start.PROGRAMS[p],
            duration(r["median_ns"]),
            duration(r["q1_ns"]),
            duration(r["q3_ns"]),
            duration(max(0, r["median_ns"] - empty)),
        ]
        for p, r in rows.items()
        if p in names
    ]
    return [
        Chart(
            "A process from start to end",
            caption,
            [bars.value_bars("from start to end", "Median time of five programs.", listed, "time")],
            ["program", "median", "first quartile", "third quartile", "over the empty program"],
            table,
        )
    ]
