"""Fused compared with eager and with each peer: one panel each, at a size within the caches and at a larger one."""

from .. import read
from . import bars
from .chart import Chart, name
from .scale import count, times


def shown_sizes(sizes):
    """A size at which overhead is negligible but data fits the caches, and the largest one."""
    inside = [n for n in sizes if 10_000 <= n <= 200_000] or sizes
    return list(dict.fromkeys([inside[-1], sizes[-1]]))


def chart(result, executor, n):
    cases = {expression: rows for (expression, size), rows in read.by_case(result, executor).items() if size == n}
    others = [
        other
        for other in read.implementations(result, executor)
        if other != "sinter" and any(other in r for r in cases.values())
    ]
    ratios = {
        (expression, other): rows[other]["median_ns"] / rows["sinter"]["median_ns"]
        for expression, rows in cases.items()
        for other in others
        if other in rows
    }
    low, high = min([0.5, *ratios.values()]), max([2, *ratios.values()])
    where = f"{read.executor_name(executor, result)}, {count(n)} elements"
    panels = []
    for other in others:
        listed = [(expression, ratios.get((expression, other))) for expression in cases]
        ahead = sum(1 for _, ratio in listed if ratio and ratio >= 1)
        known = sum(1 for _, ratio in listed if ratio)
        panels.append(
            bars.ratio_bars(
                f"over {name(other)}",
                f"{where}: Sinter is faster than {name(other)} in {ahead} of {known} expressions.",
                listed,
                max(low, 0.02),
                min(high, 100),
                times,
            )
        )
    rows = [
        [expression] + [times(ratios[expression, other]) if (expression, other) in ratios else "" for other in others]
        for expression in cases
    ]
    return Chart(
        f"Speed-up: {where}",
        "The other's median time over Sinter's; the line is 1, where both take as long. Logarithmic; bars past 0.02 and"
        " 100 are cut, their values are not.",
        panels,
        ["expression"] + [f"over {name(other)}" for other in others],
        rows,
    )


def charts(result):
    return [
        chart(result, executor, n)
        for executor in read.executors(result)
        for n in shown_sizes(read.sizes(result, executor))
    ]
