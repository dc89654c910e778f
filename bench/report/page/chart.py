"""The structure of a chart, and what most charts share."""

import dataclasses

from .. import read
from .scale import apart
from .svg import label, line, tag, text

WIDTH = 360  # of a panel; text is 12 units high, so 400 pixels show it at its natural size

SHAPES = {
    "sinter": "circle",
    "eager": "square",
    "plain": "bar",
    "eigen": "diamond",
    "xtensor": "up",
    "numpy": "down",
    "torch": "plus",
    "torch.compile": "cross",
    "jax.jit": "right",
    "cupy": "left",
    "cupy.fuse": "hourglass",
    "limit": "post",
}


@dataclasses.dataclass
class Chart:
    """Panels, a note on how to read them, and the same numbers as a table."""

    title: str
    caption: str
    panels: list
    header: list
    rows: list
    folded: bool = False


def css(implementation):
    return "i-" + implementation.replace(".", "-")


def shape(implementation):
    return SHAPES.get(implementation, "circle")


def name(implementation):
    return read.NAMES.get(implementation, implementation)


def heading(title):
    return label(0, 13, title, class_="title")


def x_axis(scale, y, top, write, title, most=6):
    """Grid lines at the ticks, their values, and the axis title."""
    parts = []
    for value in scale.ticks(most):
        parts += [
            line(scale(value), top, scale(value), y, "grid"),
            label(scale(value), y + 14, write(value), "middle", "tick"),
        ]
    middle = (scale.start + scale.end) / 2
    return "".join(parts) + label(middle, y + 29, title, "middle", "axis")


def y_axis(scale, left, right, write, most=6):
    return "".join(
        line(left, scale(value), right, scale(value), "grid")
        + label(left - 5, scale(value) + 4, write(value), "end", "tick")
        for value in scale.ticks(most)
    )


def whisker(x, y_low, y_high, class_):
    """The quartiles."""
    return line(x, y_low, x, y_high, f"whisker {class_}") if abs(y_low - y_high) > 1 else ""


def polyline(points, class_):
    return tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_=f"series {class_}")


def end_labels(ends, x, low, high):
    """Each series' name at its end, moved apart, with a line to the series: [(y, implementation, note)]."""
    places = apart([y for y, *_ in ends], 13, low, high)
    parts = []
    for (y, implementation, note), place in zip(ends, places):
        parts += [
            line(x + 4, y, x + 14, place, f"leader {css(implementation)}"),
            tag(
                "text",
                text(f"{name(implementation)} {note}".rstrip()),
                x=float(x + 17),
                y=float(place + 4),
                class_=f"series-name {css(implementation)}",
            ),
        ]
    return "".join(parts)


def table(header, rows):
    head = tag("tr", *(tag("th", text(cell), scope="col") for cell in header))
    body = "".join(
        tag("tr", tag("th", text(row[0]), scope="row"), *(tag("td", text(cell)) for cell in row[1:])) for row in rows
    )
    return tag("table", tag("thead", head), tag("tbody", body))
