"""Horizontal bars with their values next to them."""

from . import svg
from .chart import WIDTH, heading
from .scale import Linear, Log, duration, power, tick_duration
from .svg import label, line, tag

ROW = 19


def ratio_bars(title, description, bars, low, high, write):
    """Bars from 1: larger ratios to the right, smaller ones to the left. `bars` is [(name, ratio)]."""
    left, right, top = 104, WIDTH - 50, 22
    bottom = top + ROW * len(bars)
    scale = Log(low, high, left, right)
    parts = [heading(title)]
    for value in scale.ticks(5):
        parts += [
            line(scale(value), top, scale(value), bottom, "grid"),
            label(scale(value), bottom + 14, power(value), "middle", "tick"),
        ]
    for i, (name, ratio) in enumerate(bars):
        y = top + ROW * i
        parts.append(label(left - 6, y + 14, name, "end"))
        if ratio is None:
            parts.append(label(scale(1) + 4, y + 14, "not measured", class_="tick"))
            continue
        begin, end = sorted((scale(1), scale(min(max(ratio, low), high))))
        parts += [
            tag(
                "rect",
                x=begin,
                y=float(y + 4),
                width=max(1.0, end - begin),
                height=float(ROW - 7),
                class_="ahead" if ratio >= 1 else "behind",
            ),
            label(WIDTH, y + 14, write(ratio), "end", "value"),
        ]
    parts += [
        line(scale(1), top - 3, scale(1), bottom, "one"),
        label(left, bottom + 29, "\u2190 Sinter slower", "start", "axis"),
        label(right, bottom + 29, "Sinter faster \u2192", "end", "axis"),
    ]
    return svg.drawing(title, description, WIDTH, bottom + 34, *parts)


def value_bars(title, description, bars, axis, log=False, low=None):
    """Bars of durations from the left edge: [(name, value, class, (first, third quartile) or None, budget or None)]."""
    left, right, top = 128, WIDTH - 62, 22
    bottom = top + ROW * len(bars)
    high = max([v for _, v, _, _, _ in bars] + [budget or 0 for *_, budget in bars]) * 1.05
    scale = Log(low or min(v for _, v, *_ in bars) / 2, high * 1.5, left, right) if log else Linear(high, left, right)
    parts = [heading(title)]
    for value in scale.ticks(3):
        parts += [
            line(scale(value), top, scale(value), bottom, "grid"),
            label(scale(value), bottom + 14, tick_duration(value), "middle", "tick"),
        ]
    for i, (name, value, class_, quartiles, budget) in enumerate(bars):
        y = top + ROW * i
        parts += [
            label(left - 6, y + 14, name, "end"),
            tag(
                "rect",
                x=float(left),
                y=float(y + 4),
                width=max(1.0, scale(value) - left),
                height=float(ROW - 7),
                class_=class_,
            ),
            label(WIDTH, y + 14, duration(value), "end", "value"),
        ]
        if quartiles:
            begin, end = (min(right + 4, scale(max(q, 0.1))) for q in quartiles)
            if end - begin > 2:
                parts.append(line(begin, y + 10.5, end, y + 10.5, "spread"))
        if budget:
            parts.append(line(scale(budget), y + 1, scale(budget), y + ROW - 1, "budget"))
    parts.append(label((left + right) / 2, bottom + 29, axis, "middle", "axis"))
    return svg.drawing(title, description, WIDTH, bottom + 34, *parts)
