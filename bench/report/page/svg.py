"""SVG and HTML elements as text, and the frame of a chart."""

import itertools
from xml.sax.saxutils import escape, quoteattr

_ids = itertools.count(1)


def tag(name, /, *children, **attributes):
    """An element. Children are already markup; `text` converts plain text. class_ is class, x_y is x-y."""
    listed = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(short(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(children)
    return f"<{name}{listed}>{inner}</{name}>" if inner or name not in VOID else f"<{name}{listed}/>"


VOID = {"line", "rect", "circle", "path", "polyline", "meta", "br"}


def short(value):
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def text(value):
    return escape(str(value))


def label(x, y, value, anchor="start", class_=None):
    return tag("text", text(value), x=float(x), y=float(y), text_anchor=anchor, class_=class_)


def line(x1, y1, x2, y2, class_):
    return tag("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def drawing(title, description, width, height, *body):
    """One panel: a picture with a name and a description for screen readers."""
    number = next(_ids)
    return tag(
        "svg",
        tag("title", text(title), id=f"t{number}"),
        tag("desc", text(description), id=f"d{number}"),
        *body,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_labelledby=f"t{number} d{number}",
    )


def marker(shape, x, y, class_, size=3.6):
    """One point. Known implementations differ in shape (chart.SHAPES), not only in color."""
    points = {
        "circle": None,
        "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        "diamond": [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)],
        "up": [(0, -1.3), (1.3, 1), (-1.3, 1)],
        "down": [(0, 1.3), (1.3, -1), (-1.3, -1)],
        "bar": [(-1.5, -0.5), (1.5, -0.5), (1.5, 0.5), (-1.5, 0.5)],
        "post": [(-0.5, -1.5), (0.5, -1.5), (0.5, 1.5), (-0.5, 1.5)],
        "left": [(-1.3, 0), (1, -1.3), (1, 1.3)],
        "right": [(1.3, 0), (-1, -1.3), (-1, 1.3)],
        "hourglass": [(-1.1, -1.3), (1.1, -1.3), (-1.1, 1.3), (1.1, 1.3)],
        "cross": [
            (-1.3, -0.7),
            (-0.7, -1.3),
            (0, -0.6),
            (0.7, -1.3),
            (1.3, -0.7),
            (0.6, 0),
            (1.3, 0.7),
            (0.7, 1.3),
            (0, 0.6),
            (-0.7, 1.3),
            (-1.3, 0.7),
            (-0.6, 0),
        ],
        "plus": [
            (-0.45, -1.4),
            (0.45, -1.4),
            (0.45, -0.45),
            (1.4, -0.45),
            (1.4, 0.45),
            (0.45, 0.45),
            (0.45, 1.4),
            (-0.45, 1.4),
            (-0.45, 0.45),
            (-1.4, 0.45),
            (-1.4, -0.45),
            (-0.45, -0.45),
        ],
    }[shape]
    if points is None:
        return tag("circle", cx=float(x), cy=float(y), r=size, class_=class_)
    path = "M" + "L".join(f"{x + size * dx:.1f} {y + size * dy:.1f}" for dx, dy in points) + "Z"
    return tag("path", d=path, class_=class_)
