"""Products and networks: what Linear and GELU take over the bare product, and the others' time over Sinter's."""

from .. import read
from . import bars, svg
from .chart import WIDTH, Chart, css, heading, name, shape
from .scale import Linear, duration, significant, times
from .svg import label, line

ROW = 19
OVER_GEMM = {"linear_gelu": "Linear and GELU", "linear_gelu_tanh": "Linear and GELU (tanh)"}
TITLES = {**OVER_GEMM, "gemm": "product", "mlp_relu": "MLP, ReLU", "mlp_gelu": "MLP, GELU", "block": "transformer block"}
SHORT = {"gemm": "product", "linear_gelu": "+ GELU", "linear_gelu_tanh": "+ tanh", "mlp_relu": "ReLU", "mlp_gelu": "GELU"}
LEFT = 148  # what these and extents need
CUT = 4  # times as long as the bare product


def marks(row, alone, x, y, implementation):
    """One implementation's time over the product's, and its quartiles."""
    first, median, third = (x(min(row[q] / alone, x.high)) for q in ("q1_ns", "median_ns", "q3_ns"))
    spread = line(first, y, third, y, f"whisker {css(implementation)}") if third - first > 2 else ""
    return spread + svg.marker(shape(implementation), median, y, f"mark {css(implementation)}")


def over_gemm_panel(where, operation, cases, order):
    """`cases`: {shape: {implementation: row}}."""
    left, right, top = 104, WIDTH - 50, 40
    bottom = top + ROW * len(cases)
    known = [r["over_gemm"] for rows in cases.values() for r in rows.values() if r.get("over_gemm")]
    x = Linear(min(CUT, max([1.2, *known]) * 1.05), left, right)
    title = f"{TITLES[operation]}, times the bare product"
    parts = [heading(title)]
    at = 0
    for implementation in order:  # the legend
        parts += [
            svg.marker(shape(implementation), at + 5, 26, f"mark {css(implementation)}"),
            label(at + 13, 30, name(implementation), class_="tick"),
        ]
        at += 28 + 6.4 * len(name(implementation))
    for value in x.ticks(5):
        parts += [line(x(value), top, x(value), bottom, "grid"), label(x(value), bottom + 14, f"{value:g}", "middle", "tick")]
    parts.append(line(x(1), top - 3, x(1), bottom, "one"))
    for i, (extents, rows) in enumerate(cases.items()):
        y = top + ROW * i + 10.5
        alone = rows["sinter"]["median_ns"] / rows["sinter"]["over_gemm"]
        parts.append(label(left - 6, y + 4, extents, "end"))
        parts += [marks(rows[other], alone, x, y, other) for other in reversed(order) if other in rows]
        parts.append(label(WIDTH, y + 4, times(rows["sinter"]["over_gemm"]), "end", "value"))
    said = ", ".join(f"{significant(rows['sinter']['over_gemm'], 3)} at {extents}" for extents, rows in cases.items())
    words = f"The time of Sinter over its bare product's: {said}."
    return svg.drawing(f"{title}, {where}", words, WIDTH, bottom + 20, *parts)


def over_gemm_chart(result, executor, dtype, cases, order):
    where = f"{read.executor_name(executor, result)}, {dtype}"
    panels, lines = [], []
    order = [i for i in order if i != "limit"]
    for operation in OVER_GEMM:
        here = {s: rows for (o, s), rows in cases.items() if o == operation and rows["sinter"].get("over_gemm")}
        if here:
            panels.append(over_gemm_panel(where, operation, here, order))
        for extents, rows in here.items():
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


def speed_chart(result, executor, dtype, cases, order):
    where = f"{read.executor_name(executor, result)}, {dtype}"
    others = [i for i in order if i != "sinter" and any(i in rows for rows in cases.values())]
    ratios = {
        (case, other): rows[other]["median_ns"] / rows["sinter"]["median_ns"]
        for case, rows in cases.items()
        for other in others
        if other in rows
    }
    low, high = max(0.02, min([0.5, *ratios.values()])), min(100, max([2, *ratios.values()]))
    panels = [speed_panel(where, other, cases, ratios, low, high) for other in others]
    lines = []
    for case, rows in cases.items():
        ours = rows["sinter"]
        lines.append(
            [f"{TITLES.get(case[0], case[0])} {case[1]}", duration(ours["median_ns"])]
            + [significant(ours["operations"] / ours["median_ns"], 3)]
            + [times(ratios[case, other]) if (case, other) in ratios else "" for other in others]
        )
    return Chart(
        f"Products and networks: {where}",
        "The other's median time over Sinter's; the line is 1, where both take as long. Logarithmic. An MLP of three"
        " layers: rows × elements of each × width of the hidden layers; a block of a transformer: sequences × length ×"
        " width. \u201climit\u201d is the library for products called by itself."
        + (f" OpenBLAS: {blas}." if (blas := result["versions"]["libraries"].get("blas")) and executor[:4] != "cuda" else ""),
        panels,
        ["case", "Sinter", "operations a ns"] + [f"over {name(other)}" for other in others],
        lines,
    )


def speed_panel(where, other, cases, ratios, low, high):
    listed = [(case, ratios[case, other]) for case in cases if (case, other) in ratios]
    ahead = sum(1 for _, ratio in listed if ratio >= 1)
    words = f"{where}: Sinter is faster than {name(other)} in {ahead} of {len(listed)} cases."
    titled = [(f"{SHORT.get(case[0], case[0])} {case[1]}", ratio) for case, ratio in listed]
    return bars.ratio_bars(f"over {name(other)}", words, titled, low, high, times, left=LEFT)


def charts(result):
    found = []
    for executor in read.product_executors(result):
        order = read.product_implementations(result, executor)
        for dtype in ("float32", "bfloat16"):
            if cases := read.product_cases(result, executor, dtype):
                found += over_gemm_chart(result, executor, dtype, cases, order)
                found.append(speed_chart(result, executor, dtype, cases, order))
    return found
