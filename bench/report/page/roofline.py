"""Roofline: operations per second by operations per byte, under the machine's two roofs, memory and arithmetic."""

from .. import read
from . import svg
from .chart import Chart, css, heading, x_axis, y_axis
from .scale import Log, count, power, significant
from .svg import label, line, tag

WIDE, HIGH = 440, 390


def work(row):
    """Operations per evaluation."""
    return row["operations"] * row["n"]


def places_for(x, y, length):
    """Candidate places of a label next to its point, best first: (left edge, baseline)."""
    wide = length * 6.3
    for dy in (0, -13, 13, -24, 24, -36, 36, -48, 48, 60, -60):
        yield x + 8, y + 4 + dy, wide
        yield x - 8 - wide, y + 4 + dy, wide


def free(box, taken):
    left, top, right, bottom = box
    return all(right < l or r < left or bottom < t or b < top for l, t, r, b in taken)


def place_labels(points, bounds):
    """(left edge, baseline) of each label, without overlaps of labels or points."""
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    placed = []
    for x, y, name in points:
        chosen = None
        for left, base, wide in places_for(x, y, len(name)):
            box = (left, base - 10, left + wide, base + 3)
            inside = bounds[0] <= box[0] and box[2] <= bounds[2] and bounds[1] <= box[1] and box[3] <= bounds[3]
            if inside and free(box, taken):
                chosen = (left, base, wide)
                taken.append(box)
                break
        placed.append(chosen)
    return placed


def panel(result, executor, n, rows):
    limit, peak = read.limits(result, executor).get(n), read.peak(result, executor)
    bandwidth = limit["bytes"] / limit["median_ns"]  # bytes per ns
    intensity = {e: work(r["sinter"]) / r["sinter"]["bytes"] for e, r in rows.items()}
    speed = {(e, i): work(r[i]) / r[i]["median_ns"] for e, r in rows.items() for i in ("sinter", "eager") if i in r}
    left, right, top, bottom = 48, WIDE - 12, 44, HIGH - 40
    highest = max(*speed.values(), peak or 0)
    x = Log(min(intensity.values()) / 1.6, max(max(intensity.values()) * 4, (peak or 0) / bandwidth * 1.5), left, right)
    y = Log(min(speed.values()) / 1.6, highest * 1.8, bottom, top)
    title = f"{read.executor_name(executor, result)}, {count(n)} elements"
    parts = [
        heading(title),
        label(0, 34, "10⁹ operations a second", class_="axis"),
        y_axis(y, left, right, power),
        x_axis(x, bottom, top, power, "operations for each byte"),
    ]
    parts.append(roofs(x, y, bandwidth, peak, left, right))
    points = []
    for e in rows:
        px = x(intensity[e])
        if (e, "eager") in speed:
            parts += [
                line(px, y(speed[e, "eager"]), px, y(speed[e, "sinter"]), "leader i-eager"),
                svg.marker("square", px, y(speed[e, "eager"]), f"mark {css('eager')}", 3),
            ]
        parts.append(svg.marker("circle", px, y(speed[e, "sinter"]), f"mark {css('sinter')}", 4))
        points.append((px, y(speed[e, "sinter"]), e))
    for (px, py, e), place in zip(points, place_labels(points, (left, top, right, bottom))):
        if place:
            parts += [leader(px, py, place), label(place[0], place[1], e, class_="point")]
    words = (
        f"{len(rows)} expressions. Memory gives {significant(bandwidth, 3)} GB/s; Sinter's nearest to its roof is "
        f"{best_of(rows)}."
    )
    return svg.drawing(f"Roofline, {title}", words, WIDE, HIGH, *parts)


def leader(px, py, place):
    """A thin line to a label that did not fit next to its point."""
    left, base, wide = place
    return (
        line(px, py, left - 1 if left > px else left + wide + 1, base - 4, "leader") if abs(base - 4 - py) > 8 else ""
    )


def roofs(x, y, bandwidth, peak, left, right):
    corner = min(right, x(peak / bandwidth)) if peak else right

    def value_at(place):
        return bandwidth * 10 ** (x.low + (place - x.start) / (x.end - x.start) * (x.high - x.low))

    start = left if value_at(left) > 10**y.low else x(10**y.low / bandwidth)
    parts = [line(start, y(value_at(start)), corner, y(value_at(corner)), "roof")]
    if peak:
        parts += [
            line(corner, y(peak), right, y(peak), "roof"),
            label(right, y(peak) - 5, f"multiply-adds: {significant(peak, 3)} Gop/s", "end", "axis"),
        ]
    place = min(start + (corner - start) * 0.82, right - 120)  # right of the slope, where there is space
    text = svg.text(f"memory: {significant(bandwidth, 3)} GB/s")
    parts.append(tag("text", text, x=float(place + 12), y=float(y(value_at(place)) + 12), class_="axis"))
    return "".join(parts)


def best_of(rows):
    shares = {e: r["sinter"]["limit_share"] or 0 for e, r in rows.items()}
    best = max(shares, key=shares.get)
    return f"{best}, at {shares[best]:.0%} of the limit for its bytes"


def charts(result):
    panels, table = [], []
    for executor in read.executors(result):
        n = read.sizes(result, executor)[-1]
        rows = {e: r for (e, size), r in read.by_case(result, executor).items() if size == n}
        if n not in read.limits(result, executor):
            continue
        panels.append(panel(result, executor, n, rows))
        for e, r in rows.items():
            ours = r["sinter"]
            eager = significant(work(r["eager"]) / r["eager"]["median_ns"], 3) if "eager" in r else ""
            table.append(
                [
                    read.executor_name(executor, result),
                    e,
                    f"{work(ours) / ours['bytes']:.3f}",
                    significant(work(ours) / ours["median_ns"], 3),
                    eager,
                    significant(ours["bytes"] / ours["median_ns"], 3),
                    f"{ours['limit_share']:.0%}" if ours["limit_share"] else "",
                ]
            )
    if not panels:
        return []
    return [
        Chart(
            "Roofline at the largest size",
            "Discs: Sinter. Squares: the same, operation by operation (eager). The slope is the measured bandwidth, the"
            " level the measured rate of multiply-adds, each of which counts as two operations. A function such as exp"
            " counts as one operation and costs many, so expressions with functions stay far below the level. Bytes are"
            " those that must be moved once, so eager's moves do not count for it.",
            panels,
            [
                "executor",
                "expression",
                "operations a byte",
                "Sinter, Gop/s",
                "eager, Gop/s",
                "Sinter, GB/s",
                "share of the limit",
            ],
            table,
        )
    ]
