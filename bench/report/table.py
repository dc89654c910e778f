"""The result as tables on a terminal. Ratios are the other's time over Sinter's: above 1, Sinter is ahead."""

from . import read
from .sections import first, growth, hits, start


def print_table(title, header, rows):
    print(f"\n{title}")
    rows = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for row in rows:
        print(
            "  "
            + "  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
        )


def ratio(a, b):
    return f"{a / b:.2f}" if a and b else "-"


def show(result):
    versions, machine = result["versions"], result["machine"]
    print(f"Sinter {versions.get('sinter', '')} ({versions['commit']}), {versions.get('compiler', '')}")
    print(f"{machine['processor']}, {machine['cores']} cores, {versions.get('gpus') or 'no GPU'}, {result['date']}")
    for executor in read.executors(result):
        show_expressions(result, executor)
    for executor in read.row_executors(result):
        for dtype in ("float32", "bfloat16"):
            show_rows(result, executor, dtype)
    for executor in read.product_executors(result):
        for dtype in ("float32", "bfloat16"):
            show_products(result, executor, dtype)
    for name, shown in SHOWN.items():
        if result["sections"].get(name):
            shown(result["sections"][name])
    for note in result["notes"]:
        print(f"note: {note}")


def show_expressions(result, executor):
    others = [name for name in read.implementations(result, executor) if name != "sinter"]
    rows = []
    for (expression, n), times in read.by_case(result, executor).items():
        sinter = times["sinter"]
        half_spread = (sinter["q3_ns"] - sinter["q1_ns"]) / sinter["median_ns"] / 2 if sinter["median_ns"] else 0
        share = sinter["limit_share"]
        rows.append(
            [expression, n, f"{sinter['median_ns']:.0f}", f"{half_spread:.0%}", f"{sinter['median_ns'] / n:.2f}"]
            + [ratio(times[other]["median_ns"], sinter["median_ns"]) if other in times else "-" for other in others]
            + [f"{share:.2f}" if share else "-"]
        )
    print_table(
        f"Expressions on {executor}: ns of an evaluation, half the distance of its quartiles, ns per element; the"
        " others' time\nover Sinter's; the share of the limit, a copy or triad of the same bytes",
        ["expression", "n", "ns", "+-", "each"] + others + ["limit"],
        rows,
    )


def show_rows(result, executor, dtype):
    others = [name for name in read.row_implementations(result, executor) if name != "sinter"]
    lines = []
    for (operation, columns), times in read.row_cases(result, executor, dtype).items():
        sinter = times["sinter"]
        half_spread = (sinter["q3_ns"] - sinter["q1_ns"]) / sinter["median_ns"] / 2
        copy = times.get("limit")
        lines.append(
            [operation, columns, f"{sinter['bytes'] / sinter['median_ns']:.2f}", f"{half_spread:.0%}"]
            + [f"{copy['bytes'] / copy['median_ns']:.2f}" if copy else "-"]
            + [f"{sinter['limit_share']:.2f}" if sinter["limit_share"] else "-"]
            + [ratio(times[other]["median_ns"], sinter["median_ns"]) if other in times else "-" for other in others]
        )
    if lines:
        print_table(
            f"Along rows and columns on {executor}, {dtype}: GB/s, half the distance of the quartiles, a copy's GB/s, the"
            " share of it;\nthe others' time over Sinter's",
            ["operation", "columns", "GB/s", "+-", "copy", "share"] + others,
            lines,
        )


def show_products(result, executor, dtype):
    others = [name for name in read.product_implementations(result, executor) if name != "sinter"]
    lines = []
    for (operation, shape), times in read.product_cases(result, executor, dtype).items():
        sinter = times["sinter"]
        half_spread = (sinter["q3_ns"] - sinter["q1_ns"]) / sinter["median_ns"] / 2
        lines.append(
            [operation, shape, f"{sinter['median_ns'] / 1e3:.1f}", f"{half_spread:.0%}"]
            + [f"{sinter['operations'] / sinter['median_ns']:.1f}"]
            + [f"{sinter['over_gemm']:.3f}" if sinter.get("over_gemm") else "-"]
            + [ratio(times[other]["median_ns"], sinter["median_ns"]) if other in times else "-" for other in others]
        )
    if lines:
        print_table(
            f"Products and networks on {executor}, {dtype}: us, half the distance of the quartiles, operations a ns;"
            " time over\nthe bare product's; the others' time over Sinter's (limit: the library called by itself)",
            ["operation", "shape", "us", "+-", "op/ns", "over gemm"] + others,
            lines,
        )


def show_hits(rows):
    at = {(r["driver"], r["what"], r["case"]): r["median_ns"] for r in rows}
    drivers = list(dict.fromkeys(r["driver"] for r in rows))
    kinds = ["gpu", "gpu_broadcast", "gpu_new"]

    def over_bare(driver, kind, n):
        both = at.get((driver, kind, str(n))), at.get((driver, "bare", str(n)))
        return f"{both[0] - both[1]:.0f}" if None not in both else "-"

    def whole(*case):  # "-" if the variant failed
        return f"{at[case]:.0f}" if case in at else "-"

    lines = [
        [n, budget]
        + [over_bare(driver, kind, n) for driver in drivers for kind in kinds]
        + [whole("null", kind, str(n)) for kind in ("cpu", "cpu_new")]
        for n, budget in hits.BUDGETS.items()
    ]
    header = [name for driver in drivers for name in (driver, "broadcast", "new result")]
    print_table(
        "Host time of a hit over the bare launch, ns (null: a driver that does nothing; the whole on the CPU)",
        ["operands", "budget"] + header + ["cpu", "new result"],
        lines,
    )
    print(
        f"  a block of memory from the pool and back, ns (budget: {hits.POOL_BUDGET}): "
        f"CPU {whole('null', 'pool', 'cpu')}, GPU {whole('null', 'pool', 'gpu')}"
    )
    reductions = ", ".join(
        f"{what} {whole('null', 'cpu_' + what, str(n))} and {whole('null', 'gpu_' + what, str(n))}"
        for what, n in hits.REDUCTIONS.items()
    )
    print(f"  the whole of a hit that reduces, on the CPU and with the driver that does nothing, ns: {reductions}")
    threads = {int(case): ns for (driver, what, case), ns in at.items() if driver == "null" and what == "threads"}
    scaling = ", ".join(f"{n}: {ratio(threads.get(1), ns)}" for n, ns in sorted(threads.items()) if n > 1)
    print(f"  evaluations a second by threads that share one expression (5 operands) over one thread's: {scaling}")


def show_first(rows):
    at = {(r["step"], r["operations"]): r["median_ns"] / 1e6 for r in rows}
    lines = [
        [f"{n} operations", budget] + [f"{at[step, n]:.3f}" if (step, n) in at else "-" for step in first.STEPS]
        for n, budget in first.BUDGETS.items()
    ]
    print_table(
        "The first evaluation of an expression on a GPU (sm_90), ms, NVRTC loaded; without loading the kernel",
        ["expression", "budget"] + first.STEPS,
        lines,
    )


def show_start(rows):
    at = {r["program"]: r for r in rows}
    ms = {program: row["median_ns"] / 1e6 for program, row in at.items()}
    print_table(
        f"A process from start to end, ms (budget: {start.BUDGETS['start_ms']} over the empty one)",
        ["program", "ms", "over empty"],
        [[text, f"{ms[name]:.2f}", f"{ms[name] - ms['empty']:.2f}"] for name, text in start.PROGRAMS.items()],
    )
    print(
        f"  a disk hit: {ms['disk_hit'] - ms['device']:.2f} ms beyond opening the GPU (budget:"
        f" {start.BUDGETS['disk_hit_ms']})"
    )
    resident = (at["evaluating"]["resident_kib"] - at["empty"]["resident_kib"]) / 1024
    print(
        f"  resident after one evaluation: {resident:.1f} MiB over the empty program (budget:"
        f" {start.BUDGETS['memory_mib']})"
    )


def show_growth(rows):
    at = {(r["step"], r["nodes"]): r["median_ns"] / r["nodes"] for r in rows}
    nodes = sorted({r["nodes"] for r in rows})
    print_table(
        "Growth: ns per node in expressions of many operations, or per reduction in those of many reductions, and the "
        "last over the one of 100 (1 is linear)",
        ["step"] + [str(n) for n in nodes] + ["growth"],
        [
            [step]
            + [f"{at[step, n]:.0f}" if (step, n) in at else "-" for n in nodes]
            + [ratio(at[step, max(n for s, n in at if s == step)], at.get((step, 100)))]
            for step in growth.measured_steps(rows)
        ],
    )


def show_compile(rows):
    at = {(r["library"], r["count"], r["operations"]): r for r in rows}
    peers = [library for library in dict.fromkeys(r["library"] for r in rows) if library != "sinter"]
    lines = []
    for count, operations in sorted({(r["count"], r["operations"]) for r in rows}, key=lambda case: (case[1], case[0])):
        ours = at["sinter", count, operations]
        headers = min(r["median_ns"] for r in rows if r["library"] == "sinter" and r["count"] == 0)
        each = f"{(ours['median_ns'] - headers) / count / 1e6:.0f}" if count else ""
        lines.append(
            [f"{count} of {operations} ops" if count else "the headers", f"{ours['median_ns'] / 1e9:.2f}", each]
            + [ratio(at[peer, count, operations]["median_ns"], ours["median_ns"]) for peer in peers]
            + [f"{ours['code_bytes'] / 1024:.1f}"]
            + [ratio(at[peer, count, operations]["code_bytes"], ours["code_bytes"]) for peer in peers]
        )
    print_table(
        "Compile time of a file of expressions (-O2, s), ms for each, the others' over Sinter's; size of its code, KiB",
        ["file", "s", "ms each"] + peers + ["KiB"] + peers,
        lines,
    )


SHOWN = {"hits": show_hits, "first": show_first, "start": show_start, "growth": show_growth, "compile": show_compile}
