"""The top of the page: key figures, and Sinter against everything else in one picture per executor."""

import dataclasses
import math

from .. import read
from . import svg
from .chart import WIDTH, Chart, css, end_labels, heading, name, polyline, shape, x_axis, y_axis
from .scale import Log, count, duration, times
from .svg import line


@dataclasses.dataclass
class Mean:
    """The geometric mean of the ratios of `known` of `all` expressions."""

    ratio: float
    known: int
    all: int

    def part(self):
        """A note on the mean: "" if it covers all expressions."""
        return "" if self.known == self.all else f"{self.known} of {self.all}"


def mean_ratio(result, executor, other, n):
    """A Mean over the expressions that both have; None if the other was not measured."""
    cases = [rows for (_, size), rows in read.by_case(result, executor).items() if size == n]
    ratios = [rows[other]["median_ns"] / rows["sinter"]["median_ns"] for rows in cases if other in rows]
    return Mean(math.exp(sum(map(math.log, ratios)) / len(ratios)), len(ratios), len(cases)) if ratios else None


def panel(result, executor, means):
    others = [i for i in read.implementations(result, executor) if i != "sinter"]
    sizes = read.sizes(result, executor)
    partial = any(mean.part() for mean in means.values() if mean)
    left, right, top, bottom = 46, WIDTH - (164 if partial else 104), 24, 230
    values = [mean.ratio for mean in means.values() if mean] + [1]
    x, y = Log(sizes[0], sizes[-1], left, right), Log(min(values) / 1.4, max(values) * 1.4, bottom, top)
    where = read.executor_name(executor, result)
    parts = [
        heading(where),
        y_axis(y, left, right, lambda v: f"{v:g}\u00d7"),
        x_axis(x, bottom, top, count, "elements", 5),
        line(left, y(1), right, y(1), "one"),
    ]
    ends = []
    for other in reversed(others):
        known = [(n, means[other, n]) for n in sizes if means[other, n]]
        if not known:
            continue
        points = [(x(n), y(mean.ratio)) for n, mean in known]
        parts += [
            polyline(points, css(other)),
            *(svg.marker(shape(other), px, py, f"mark {css(other)}") for px, py in points),
        ]
        ends.append((points[-1][1], other, known[-1][1].part()))
    parts.append(end_labels(ends, right, top + 4, bottom))
    words = "; ".join(f"over {name(o)} {said(means[o, sizes[-1]])}" for o in others if means[o, sizes[-1]])
    return svg.drawing(
        f"Speed-up by size, {where}", f"At {count(sizes[-1])} elements: {words}.", WIDTH, bottom + 36, *parts
    )


def said(mean):
    return times(mean.ratio) + (f" ({mean.part()} expressions)" if mean.part() else "")


def charts(result):
    panels, table = [], []
    for executor in read.executors(result):
        others = [i for i in read.implementations(result, executor) if i != "sinter"]
        sizes = read.sizes(result, executor)
        means = {(o, n): mean_ratio(result, executor, o, n) for o in others for n in sizes}
        panels.append(panel(result, executor, means))
        table += [
            [
                read.executor_name(executor, result),
                name(o),
                f"{n:,}".replace(",", "\u2009"),
                times(means[o, n].ratio),
                f"{means[o, n].known} of {means[o, n].all}",
            ]
            for o in others
            for n in sizes
            if means[o, n]
        ]
    if not panels:
        return []
    return [
        Chart(
            "Sinter against the others, by size",
            "Geometric mean of the speed-ups: how many times as long the others take. It is over all expressions, but"
            " where a number beside a name says of how many at the last size (the table says it of each). Above the"
            " line at 1, Sinter is faster. Both axes are logarithmic. Spread: see the size sweeps.",
            panels,
            ["executor", "over", "elements", "speed-up", "expressions"],
            table,
        )
    ]


def tiles(result):
    """[(figure, description)], at most six."""
    found = []
    for executor in read.executors(result):
        sizes = read.sizes(result, executor)
        where = read.executor_name(executor, result)
        fused = mean_ratio(result, executor, "eager", sizes[-1])
        if fused:
            of = f" of {fused.part()} expressions" if fused.part() else ""
            what = f"fused over eager, {where}, {count(sizes[-1])} elements (geometric mean{of})"
            found.append((times(fused.ratio), what))
        shares = sorted(
            rows["sinter"]["limit_share"]
            for (_, n), rows in read.by_case(result, executor).items()
            if n == sizes[-1] and rows["sinter"]["limit_share"] and rows["sinter"]["operations"] <= 4
        )
        if shares:
            found.append(
                (
                    f"{shares[len(shares) // 2]:.0%}",
                    (
                        f"of the limit, median of the expressions of up to 4 operations, {where}, "
                        f"{count(sizes[-1])} elements"
                    ),
                )
            )
    at = {(r["driver"], r["what"], r["case"]): r["median_ns"] for r in result["sections"].get("hits", [])}
    if ("null", "gpu", "5") in at and ("null", "bare", "5") in at:
        found.append(
            (
                duration(at["null", "gpu", "5"] - at["null", "bare", "5"]),
                "host time of a hit over the bare launch, 5 operands",
            )
        )
    first = [r["median_ns"] for r in result["sections"].get("first", []) if r["operations"] == 5]
    if len(first) == 4:
        found.append((duration(sum(first)), "first evaluation of 5 operations on a GPU, without loading the kernel"))
    return found
