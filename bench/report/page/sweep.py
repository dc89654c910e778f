"""Time per element by size: one panel per expression."""

from .. import read
from . import svg
from .chart import WIDTH, Chart, css, end_labels, heading, name, polyline, shape, whisker, x_axis, y_axis
from .scale import Log, count, duration, significant, tick_duration

LEADING = ["chain_1", "chain_10", "example", "gelu", "black_scholes", "normalise"]


def panel(result, executor, expression, cases):
    sizes = sorted(cases)
    present = [i for i in [*read.implementations(result, executor), "limit"] if any(i in cases[n] for n in sizes)]
    each = [row["median_ns"] / n for n in sizes for row in cases[n].values()]
    left, right, top, bottom = 52, WIDTH - 108, 24, 210
    x, y = Log(sizes[0], sizes[-1], left, right), Log(min(each) / 1.5, max(each) * 1.5, bottom, top)
    parts = [heading(expression), y_axis(y, left, right, tick_duration), x_axis(x, bottom, top, count, "elements", 5)]
    ends = []
    for implementation in reversed(present):
        rows = [(n, cases[n][implementation]) for n in sizes if implementation in cases[n]]
        points = [(x(n), y(row["median_ns"] / n)) for n, row in rows]
        parts.append(polyline(points, css(implementation)))
        for (n, row), (px, py) in zip(rows, points):
            parts += [
                whisker(px, y(row["q1_ns"] / n), y(row["q3_ns"] / n), css(implementation)),
                svg.marker(shape(implementation), px, py, f"mark {css(implementation)}"),
            ]
        ends.append((points[-1][1], implementation, ""))
    parts.append(end_labels(ends, right, top + 4, bottom))
    last = cases[sizes[-1]]["sinter"]
    words = (
        f"Time for each element from {count(sizes[0])} to {count(sizes[-1])} elements by {len(present)}"
        f" implementations. Sinter takes {duration(last['median_ns'] / sizes[-1])} at the largest."
    )
    return svg.drawing(f"{expression}, {read.executor_name(executor, result)}", words, WIDTH, bottom + 36, *parts)


def with_limit(result, executor, found):
    """Adds the limit's row with the same bytes to each case."""
    limits = {(row["n"], row["bytes"]): row for row in read.of(result, executor) if row["implementation"] == "limit"}
    for n, rows in found.items():
        if limit := limits.get((n, rows["sinter"]["bytes"])):
            rows["limit"] = limit
    return found


def chart(result, executor, expressions, folded):
    panels, table, header = [], [], None
    order = [*read.implementations(result, executor), "limit"]
    header = ["expression", "elements"] + [f"{name(i)}, ns each" for i in order]
    cases = read.by_case(result, executor)
    for expression in expressions:
        found = with_limit(result, executor, {n: rows for (e, n), rows in cases.items() if e == expression})
        panels.append(panel(result, executor, expression, found))
        for n, rows in found.items():
            cells = [
                (
                    f"{significant(rows[i]['median_ns'] / n, 3)} ({significant(rows[i]['q1_ns'] / n, 3)} to "
                    f"{significant(rows[i]['q3_ns'] / n, 3)})"
                    if i in rows
                    else ""
                )
                for i in order
            ]
            table.append([expression, f"{n:,}".replace(",", "\u2009")] + cells)
    more = "the other expressions" if folded else "leading expressions"
    return Chart(
        f"Size sweep: {read.executor_name(executor, result)}, {more}",
        "Time for each element, median; the upright strokes are the quartiles of the repetitions. Both axes are"
        " logarithmic, lower is faster. \u201climit\u201d moves the same bytes and computes next to nothing: the STREAM"
        " triad on a CPU, the driver's copy on a GPU.",
        panels,
        header,
        table,
        folded,
    )


def charts(result):
    found = []
    for executor in read.executors(result):
        all_of_them = list(dict.fromkeys(expression for expression, _ in read.by_case(result, executor)))
        leading = [e for e in all_of_them if e in LEADING]
        others = [e for e in all_of_them if e not in LEADING]
        found += [chart(result, executor, part, folded) for part, folded in ((leading, False), (others, True)) if part]
    return found
