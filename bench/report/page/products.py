"""Products and networks: the time of Linear and GELU over the bare product, and the others' time over Sinter's."""

from .. import read
from . import svg
from .chart import WIDTH, Chart, css, heading, name, shape
from .scale import Linear, Log, duration, power, significant, times
from .svg import label, line

ROW = 19
OVER_GEMM = {"linear_gelu": "Linear and GELU", "linear_gelu_tanh": "Linear and GELU (tanh)"}
TITLES = {**OVER_GEMM, "gemm": "product", "mlp_relu": "MLP, ReLU", "mlp_gelu": "MLP, GELU", "block": "transformer block"}
LEFT, RIGHT = 104, WIDTH - 64
CUT = 4  # relative to the bare product
LEAST, MOST = 0.02, 100  # relative to Sinter's time


def title_of(operation):
    return TITLES.get(operation, operation)


def legend(implementations):
    parts, at = [], 0.0
    for implementation in implementations:
        parts += [
            svg.marker(shape(implementation), at + 5, 26, f"mark {css(implementation)}"),
            label(at + 13, 30, name(implementation), class_="tick"),
        ]
        at += 30 + 6.4 * len(name(implementation))
    return "".join(parts)


def panel(title, where, words, x, write, lines, implementations, ends=()):
    """A line per shape, with a mark and quartiles for each implementation.

    `lines` is [(extents, {implementation: (first quartile, median, third)}, text at the right)].
    """
    top = 40
    bottom = top + ROW * len(lines)
    parts = [heading(title), legend(implementations)]
    for value in x.ticks(5):
        parts.append(line(x(value), top, x(value), bottom, "grid"))
        parts.append(label(x(value), bottom + 14, write(value), "middle", "tick"))
    parts.append(line(x(1), top - 3, x(1), bottom, "one"))
    for i, (extents, found, said) in enumerate(lines):
        y = top + ROW * i + 10.5
        parts += [label(LEFT - 6, y + 4, extents, "end"), label(WIDTH, y + 4, said, "end", "value")]
        for implementation in reversed(implementations):
            if implementation in found:
                first, median, third = (min(max(x(v), LEFT), RIGHT) for v in found[implementation])
                if third - first > 2:
                    parts.append(line(first, y, third, y, f"whisker {css(implementation)}"))
                parts.append(svg.marker(shape(implementation), median, y, f"mark {css(implementation)}"))
    for place, anchor, text in ends:
        parts.append(label(place, bottom + 29, text, anchor, "axis"))
    return svg.drawing(f"{title}, {where}", words, WIDTH, bottom + (34 if ends else 20), *parts)


def by_operation(cases):
    """{operation: {extents: rows}}."""
    found = {}
    for (operation, extents), rows in cases.items():
        found.setdefault(operation, {})[extents] = rows
    return found


def over_gemm_panel(where, operation, shapes, order):
    lines = []
    for extents, rows in shapes.items():
        alone = rows["sinter"]["median_ns"] / rows["sinter"]["over_gemm"]
        quartiles = {i: [rows[i][q] / alone for q in ("q1_ns", "median_ns", "q3_ns")] for i in order if i in rows}
        lines.append((extents, quartiles, f"{rows['sinter']['over_gemm']:.2f}\u00d7"))
    highest = max([1.2, *(median for _, found, _ in lines for _, median, _ in found.values())])
    said = ", ".join(f"{significant(rows['sinter']['over_gemm'], 3)} at {extents}" for extents, rows in shapes.items())
    return panel(
        f"{TITLES[operation]}, times the bare product",
        where,
        f"The time of Sinter over its bare product's: {said}.",
        Linear(min(CUT, highest * 1.05), LEFT, RIGHT),
        lambda value: f"{value:g}",
        lines,
        order,
    )


def over_gemm_charts(result, executor, dtype, cases, order):
    """None if the result lacks a bare product."""
    where = f"{read.executor_name(executor, result)}, {dtype}"
    panels, lines = [], []
    for operation, shapes in by_operation(cases).items():
        known = {extents: rows for extents, rows in shapes.items() if rows["sinter"].get("over_gemm")}
        if operation not in OVER_GEMM or not known:
            continue
        panels.append(over_gemm_panel(where, operation, known, order))
        for extents, rows in known.items():
            shares = [significant(rows[i]["over_gemm"], 3) if i in rows and rows[i].get("over_gemm") else "" for i in order]
            lines.append([f"{TITLES[operation]} {extents}", *shares])
    if not panels:
        return []
    return [
        Chart(
            f"Linear and GELU beside the bare product: {where}",
            "The time over that of Sinter's matmul alone of the same extents (rows × elements of each × columns of the"
            " result) in the same run; at the line the bias and GELU cost nothing. The numbers at the right are Sinter's."
            f" What takes more than {CUT} times as long is drawn at the edge. Strokes are the quartiles.",
            panels,
            ["case"] + [name(i) for i in order],
            lines,
        )
    ]


def speed_panel(where, operation, shapes, others, scale):
    lines, said = [], []
    for extents, rows in shapes.items():
        ours = rows["sinter"]["median_ns"]
        found = {i: [rows[i][q] / ours for q in ("q1_ns", "median_ns", "q3_ns")] for i in others if i in rows}
        lines.append((extents, found, duration(ours)))
        said += [f"{name(i)} {times(found[i][1])} at {extents}" for i in found]
    return panel(
        title_of(operation),
        where,
        f"The others' time over Sinter's: {', '.join(said) or 'none was measured'}.",
        scale,
        power,
        lines,
        [i for i in others if any(i in found for _, found, _ in lines)],
        [(LEFT, "start", "\u2190 Sinter slower"), (RIGHT, "end", "Sinter faster \u2192")],
    )


def speed_chart(result, executor, dtype, cases, order):
    where = f"{read.executor_name(executor, result)}, {dtype}"
    others = [i for i in order if i != "sinter" and any(i in rows for rows in cases.values())]
    ratios = {
        (case, other): rows[other]["median_ns"] / rows["sinter"]["median_ns"]
        for case, rows in cases.items()
        for other in others
        if other in rows
    }
    low, high = max(LEAST, min([0.5, *ratios.values()])), min(MOST, max([2, *ratios.values()]))
    panels = [
        speed_panel(where, operation, shapes, others, Log(low / 1.1, high * 1.1, LEFT, RIGHT))
        for operation, shapes in by_operation(cases).items()
    ]
    lines = []
    for case, rows in cases.items():
        ours = rows["sinter"]
        lines.append(
            [f"{title_of(case[0])} {case[1]}", duration(ours["median_ns"])]
            + [significant(ours["operations"] / ours["median_ns"], 3)]
            + [times(ratios[case, other]) if (case, other) in ratios else "" for other in others]
        )
    blas = result["versions"]["libraries"].get("cublas" if executor.startswith("cuda") else "blas")
    return Chart(
        f"Products and networks: {where}",
        "The other's median time over Sinter's; the line is 1, where both take as long, and at the right is Sinter's time."
        f" Logarithmic, cut at {LEAST} and {MOST}. An MLP of three layers: rows × elements of each × width of the hidden"
        " layers; a block of a transformer: sequences × length × width. \u201climit\u201d is OpenBLAS called by itself."
        + (f" Products by {blas}." if blas else ""),
        panels,
        ["case", "Sinter", "operations a ns"] + [f"over {name(other)}" for other in others],
        lines,
    )


def charts(result):
    found = []
    for executor in read.product_executors(result):
        order = read.product_implementations(result, executor)
        for dtype in ("float32", "bfloat16"):
            if cases := read.product_cases(result, executor, dtype):
                found += over_gemm_charts(result, executor, dtype, cases, [i for i in order if i != "limit"])
                found.append(speed_chart(result, executor, dtype, cases, order))
    return found
