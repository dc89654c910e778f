"""A tensor in a notebook: what it is, and a small picture of its elements by matplotlib where that is installed."""
import base64
import html
import io

from . import _core

MAX_POINTS = 400  # along an axis of the picture


def _thinned(x):
    """At most MAX_POINTS positions along each axis, as an array."""
    for axis, extent in enumerate(x.shape):
        x = x[(slice(None),) * axis + (slice(None, None, -(-extent // MAX_POINTS)),)]
    if x.dtype in (_core.bfloat16, _core.bool):
        x = x.to(_core.float32)
    return x.to("cpu").numpy()


def _axes_of(figure):
    axes = figure.add_subplot()
    axes.tick_params(labelsize=7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def _draw_line(figure, x, values, step):
    axes = _axes_of(figure)
    positions = range(0, step * len(values), step)
    style = {"linewidth": 1} if len(values) > 40 else {"linewidth": 1, "marker": ".", "markersize": 4}
    for part, label in [(values.real, "real"), (values.imag, "imag")] if values.dtype.kind == "c" else [(values, None)]:
        axes.plot(positions, part, label=label, **style)
    if values.dtype.kind == "c":
        axes.legend(fontsize=7)


def _draw_heat_map(figure, x, values):
    axes = _axes_of(figure)
    shown = abs(values) if values.dtype.kind == "c" else values
    extent = (-0.5, x.shape[1] - 0.5, x.shape[0] - 0.5, -0.5)
    aspect = "auto" if max(x.shape) > 4 * min(x.shape) else "equal"
    image = axes.imshow(shown, aspect=aspect, interpolation="nearest", extent=extent)
    bar = figure.colorbar(image, ax=axes, label="absolute value" if values.dtype.kind == "c" else None)
    bar.ax.tick_params(labelsize=7)


def _picture(x):
    """A PNG file; None if there is nothing to draw, or no matplotlib."""
    if x.ndim not in (1, 2) or x.size < 2:
        return None
    try:
        import numpy
        from matplotlib.figure import Figure
    except ImportError:
        return None
    values = _thinned(x)
    values = numpy.where(numpy.isfinite(values), values, numpy.nan)
    if numpy.isnan(values).all():
        return None
    figure = Figure(figsize=(3.6, 2.2), dpi=144, layout="constrained")
    if x.ndim == 1:
        _draw_line(figure, x, values, -(-x.shape[0] // MAX_POINTS))
    else:
        _draw_heat_map(figure, x, values)
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def repr_html(self):
    """For notebooks. An expression is not evaluated."""
    facts = f"<code>{self.dtype.name}</code>, shape <code>{self.shape}</code>, on <code>{self.device}</code>"
    if not isinstance(self, _core.Tensor):
        return f"<div><b>Expression</b> of {facts}, not evaluated</div>"
    picture = _picture(self)
    text = f"<pre>{html.escape(repr(self))}</pre>"
    if picture is None:
        return f"<div><b>Tensor</b> of {facts}{text}</div>"
    image = base64.b64encode(picture).decode()
    kind = "line" if self.ndim == 1 else "heat map"
    source = f"data:image/png;base64,{image}"
    return (f"<div><b>Tensor</b> of {facts}<br><img width=360 alt='The elements as a {kind}' src='{source}'>"
            f"<details><summary>Elements</summary>{text}</details></div>")
