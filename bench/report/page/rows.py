"""Operations along rows and columns: bytes per second by width, compared with a copy of the same bytes."""

from .. import read
from . import svg
from .chart import WIDTH, Chart, css, end_labels, heading, name, polyline, shape, whisker, x_axis, y_axis
from .scale import Log, Linear, count, significant, times


class Widths(Log):
    """Ticks at the measured widths."""

    def __init__(self, columns, start, end):
        super().__init__(columns[0], columns[-1], start, end)
        self.columns = columns

    def ticks(self, most=6):
        return self.columns


def columns_of(n):
    """1024 -> 1Ki, 100 -> 100."""
    return f"{n // 1024}Ki" if n >= 1024 and n % 1024 == 0 else count(n)


def speed(row, key="median_ns"):
    """Gigabytes per second."""
    return row["bytes"] / row[key]


def panel(executor, operation, cases, order):
    """`cases`: {columns: {implementation: row}}."""
    columns = sorted(cases)
    present = [i for i in [*order, "limit"] if any(i in cases[n] for n in columns)]
    left, right, top, bottom = 46, WIDTH - 104, 24, 210
    fastest = max(speed(row) for rows in cases.values() for row in rows.values())
    x, y = Widths(columns, left, right), Linear(fastest * 1.1, bottom, top)
    parts = [
        heading(f"{operation}, GB/s"),
        y_axis(y, left, right, lambda value: f"{value:g}", 5),
        x_axis(x, bottom, top, columns_of, "columns"),
    ]
    ends = []
    for implementation in reversed(present):
        known = [(n, cases[n][implementation]) for n in columns if implementation in cases[n]]
        points = [(x(n), y(speed(row))) for n, row in known]
        parts.append(polyline(points, css(implementation)))
        for (_, row), (px, py) in zip(known, points):
            parts += [
                whisker(px, *(y(min(speed(row, q), fastest * 1.1)) for q in ("q1_ns", "q3_ns")), css(implementation)),
                svg.marker(shape(implementation), px, py, f"mark {css(implementation)}"),
            ]
        ends.append((points[-1][1], implementation, ""))
    parts.append(end_labels(ends, right, top + 4, bottom))
    shares = {n: cases[n]["sinter"]["limit_share"] for n in columns}
    said = ", ".join(f"{share:.0%} at {columns_of(n)}" for n, share in shares.items() if share)
    words = f"Gigabytes a second at {len(columns)} widths by {len(present)} implementations."
    words += f" Sinter's share of the copy's: {said} columns." if said else ""
    return svg.drawing(f"{operation}, {executor}", words, WIDTH, bottom + 36, *parts)


def beside(row, ours):
    return f"{significant(speed(row), 3)} ({times(row['median_ns'] / ours['median_ns'])})"


def line_of(case, rows, order):
    operation, columns = case
    ours = rows["sinter"]
    return (
        [operation, f"{columns:,}".replace(",", "\u2009"), significant(speed(ours), 3)]
        + [f"{ours['limit_share']:.0%}" if ours["limit_share"] else ""]
        + [beside(rows[i], ours) if i in rows else "" for i in order]
    )


def chart(result, executor, dtype, cases):
    others = [i for i in read.row_implementations(result, executor) if i != "sinter"]
    where = read.executor_name(executor, result)
    operations = list(dict.fromkeys(operation for operation, _ in cases))
    panels = [
        panel(where, operation, {n: rows for (o, n), rows in cases.items() if o == operation}, ["sinter", *others])
        for operation in operations
    ]
    return Chart(
        f"Along rows and columns: {where}, {dtype}",
        "Gigabytes a second, higher is faster, by the columns of a matrix of always about as many elements: inputs once"
        " and the result once, whatever an implementation moves. \u201climit\u201d copies as many bytes. The upright"
        " strokes are the quartiles of the repetitions.",
        panels,
        ["operation", "columns", "Sinter, GB/s", "share of the copy"]
        + [f"{name(i)}, GB/s (its time over Sinter's)" for i in others],
        [line_of(case, rows, others) for case, rows in cases.items()],
    )


def charts(result):
    found = []
    for executor in read.row_executors(result):
        for dtype in ("float32", "bfloat16"):
            if cases := read.row_cases(result, executor, dtype):
                found.append(chart(result, executor, dtype, cases))
    return found
