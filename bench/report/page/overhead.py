"""Host overhead besides the arithmetic: cache hits, growth with the expression, compile time of user code."""

from .. import read
from ..sections import growth as growth_section
from ..sections import hits
from . import bars, svg
from .chart import WIDTH, Chart, heading, polyline, x_axis, y_axis
from .scale import Log, apart, count, duration, significant, tick_duration

DRIVERS = {"null": "a driver that does nothing", "virtual": "a virtual GPU", "real": "the GPU"}
KINDS = {
    "gpu": ("same shape", "into an existing result"),
    "gpu_broadcast": ("broadcast", "broadcast operands"),
    "gpu_new": ("new result", "into a new result"),
}


def hit_charts(result):
    rows = result["sections"].get("hits")
    if not rows:
        return []
    at = {(r["driver"], r["what"], r["case"]): r for r in rows}
    panels, table = [], []
    for driver in dict.fromkeys(r["driver"] for r in rows):
        listed = []
        for n, budget in hits.BUDGETS.items():
            for kind, (brief, words) in KINDS.items():
                if (driver, "bare", str(n)) not in at or (driver, kind, str(n)) not in at:
                    continue
                bare, row = at[driver, "bare", str(n)]["median_ns"], at[driver, kind, str(n)]
                over = max(0.0, row["median_ns"] - bare)
                listed.append(
                    (
                        f"{n}, {brief}",
                        over,
                        "ahead",
                        (max(0, row["q1_ns"] - bare), max(0, row["q3_ns"] - bare)),
                        budget if driver != "virtual" else None,
                    )
                )
                table.append([DRIVERS[driver], f"{n} operands, {words}", duration(over), duration(bare), str(budget)])
        if not listed:
            continue
        panels.append(
            bars.value_bars(
                f"over the launch, {DRIVERS[driver]}",
                f"Host time of a hit beyond the bare launch with {DRIVERS[driver]}.",
                listed,
                "operands and result; host time, less is better",
            )
        )
    panels += cpu_panels(at, table)
    if not panels:
        return []
    return [
        Chart(
            "Host time of a hit",
            "An evaluation whose kernel is ready, of 9 elements, so that the arithmetic costs nothing. The thick stroke"
            " across a bar is the budget, the thin one along it the quartiles. A virtual GPU checks every launch, so it"
            " has no budget: it shows that the path is the same and says nothing about speed.",
            panels,
            ["where", "what", "over the launch", "bare launch", "budget, ns"],
            table,
        )
    ]


def cpu_panels(at, table):
    listed = []
    for n in hits.BUDGETS:
        for kind, words in (("cpu", "same shape"), ("cpu_new", "new result")):
            if not (row := at.get(("null", kind, str(n)))):
                continue
            listed.append((f"{n}, {words}", row["median_ns"], "ahead", (row["q1_ns"], row["q3_ns"]), None))
            table.append(["the CPU, in all", f"{n} operands, {words}", duration(row["median_ns"]), "", ""])
    for device in ("cpu", "gpu"):
        if not (row := at.get(("null", "pool", device))):
            continue
        listed.append(
            (f"pool, {device.upper()}", row["median_ns"], "ahead", (row["q1_ns"], row["q3_ns"]), hits.POOL_BUDGET)
        )
        table.append(
            ["the pool", f"a block and back, {device.upper()}", duration(row["median_ns"]), "", str(hits.POOL_BUDGET)]
        )
    if not listed:
        return []
    panel = bars.value_bars(
        "in all, on the CPU; the pool",
        "Whole time of a hit on the CPU, and of a block of memory from the pool and back.",
        listed,
        "operands and result; less is better",
    )
    return [panel]


SERIES = ["i-sinter", "i-eager", "i-eigen", "i-xtensor", "i-torch", "i-jax-jit"]
MARKS = ["circle", "square", "diamond", "up", "plus", "down"]


def growth_charts(result):
    rows = result["sections"].get("growth")
    if not rows:
        return []
    each = {(r["step"], r["nodes"]): r["median_ns"] / r["nodes"] for r in rows}
    nodes = sorted({n for _, n in each})
    panels = [
        growth_panel(title, [s for s in growth_section.STEPS if s.startswith(prefix)], each, nodes)
        for title, prefix in (("making a kernel", "graph_"), ("a Lazy expression", "lazy_"))
    ]
    table = [
        [step.replace("_", " ").replace("/", ": ")]
        + [f"{each[step, n]:.0f}" if (step, n) in each else "-" for n in nodes]
        for step in growth_section.measured_steps(rows)
    ]
    return [
        Chart(
            "Growth with the expression",
            "Time for each node of expressions of 1 to 10\u2009000 nodes, medians. Level is linear growth, which is "
            "the aim.",
            panels,
            ["step, ns each"] + [f"{n} nodes" for n in nodes],
            table,
        )
    ]


def growth_panel(title, steps, each, nodes):
    left, right, top, bottom = 52, WIDTH - 108, 24, 200
    values = [each[step, n] for step in steps for n in nodes]
    x, y = Log(nodes[0], nodes[-1], left, right), Log(min(values) / 2, max(values) * 2, bottom, top)
    parts = [heading(title), y_axis(y, left, right, tick_duration), x_axis(x, bottom, top, count, "nodes")]
    ends = []
    for step, class_, mark in zip(steps, SERIES, MARKS):
        points = [(x(n), y(each[step, n])) for n in nodes]
        parts += [polyline(points, class_), *(svg.marker(mark, px, py, f"mark {class_}") for px, py in points)]
        ends.append((points[-1][1], step.partition("_")[2], class_))
    parts.append(named_ends(ends, right, top, bottom))
    factor = max(each[step, nodes[-1]] / each[step, 100] for step in steps if (step, 100) in each)
    return svg.drawing(
        f"Growth: {title}",
        f"From 100 to {nodes[-1]} nodes no step takes more than {significant(factor)} times as long for each node.",
        WIDTH,
        bottom + 36,
        *parts,
    )


def named_ends(ends, right, top, bottom):
    places = apart([y for y, *_ in ends], 14, top, bottom)
    return "".join(
        svg.line(right + 4, y, right + 14, place, f"leader {class_}")
        + svg.tag("text", svg.text(name), x=float(right + 17), y=float(place + 4), class_=f"series-name {class_}")
        for (y, name, class_), place in zip(ends, places)
    )


def compile_charts(result):
    rows = result["sections"].get("compile")
    if not rows:
        return []
    panels, table = [], []
    for count_, operations in sorted({(r["count"], r["operations"]) for r in rows}, key=lambda c: (c[1], c[0])):
        what = f"{count_} expressions of {operations} operations" if count_ else "the headers alone"
        here = [r for r in rows if (r["count"], r["operations"]) == (count_, operations)]
        listed = [
            (
                read.NAMES.get(r["library"], r["library"]),
                r["median_ns"],
                "ahead" if r["library"] == "sinter" else "neutral",
                (r["q1_ns"], r["q3_ns"]),
                None,
            )
            for r in here
        ]
        panels.append(
            bars.value_bars(what, f"Compile time of a file with {what}.", listed, "processor time of the compiler")
        )
        table += [
            [
                what,
                read.NAMES.get(r["library"], r["library"]),
                duration(r["median_ns"]),
                f"{r['code_bytes'] / 1024:.1f} KiB",
            ]
            for r in here
        ]
    return [
        Chart(
            "What a user's file costs to compile",
            "One translation unit, by the compiler that $CXX named, else g++, at -O2; medians. Every function holds"
            " another expression, the same for each library.",
            panels,
            ["file", "library", "time", "code"],
            table,
            folded=True,
        )
    ]
