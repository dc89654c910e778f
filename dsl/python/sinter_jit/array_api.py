"""The namespace of the Python array API standard, 2025.12: what `x.__array_namespace__()` returns.

Results are expressions, as everywhere in Sinter: they are evaluated when their values are needed. docs/python.md lists
the differences from the standard.
"""
import builtins as _builtins
import itertools as _itertools
import math as _math
from typing import NamedTuple as _NamedTuple

from . import _core
from ._array_api_types import (__array_namespace_info__, astype, can_cast, dtypes as _dtypes, finfo, iinfo, isdtype,
                               result_type)

__array_api_version__ = "2025.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
e, inf, nan, pi, newaxis = _math.e, _math.inf, _math.nan, _math.pi, None
globals().update(_dtypes)

# Functions of one and of two arrays, by the names of the standard.
_UNARY = {"abs": "abs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan",
          "atanh": "atanh", "bitwise_invert": "bitwise_not", "ceil": "ceil", "conj": "conj", "cos": "cos",
          "cosh": "cosh", "exp": "exp", "expm1": "expm1", "floor": "floor", "imag": "imag", "isfinite": "isfinite",
          "isinf": "isinf", "isnan": "isnan", "log": "log", "log1p": "log1p", "log2": "log2", "log10": "log10",
          "logical_not": "logical_not", "negative": "neg", "positive": "positive", "real": "real",
          "reciprocal": "reciprocal", "signbit": "signbit", "sin": "sin", "sinh": "sinh", "square": "square",
          "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "trunc": "trunc"}
_BINARY = {"add": "add", "atan2": "atan2", "bitwise_and": "bitwise_and",
           "bitwise_left_shift": "bitwise_left_shift", "bitwise_or": "bitwise_or",
           "bitwise_right_shift": "bitwise_right_shift", "bitwise_xor": "bitwise_xor", "copysign": "copysign",
           "divide": "div", "equal": "eq", "floor_divide": "floor_divide", "greater": "gt", "greater_equal": "ge",
           "hypot": "hypot", "less": "lt", "less_equal": "le", "logaddexp": "logaddexp",
           "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
           "maximum": "maximum", "minimum": "minimum", "multiply": "mul", "nextafter": "nextafter",
           "not_equal": "ne", "pow": "pow", "remainder": "remainder", "subtract": "sub"}
_REDUCTIONS = {"max": "amax", "min": "amin", "argmax": "argmax", "argmin": "argmin", "mean": "mean", "all": "all",
               "any": "any", "count_nonzero": "count_nonzero"}


def _call(name, *args, **kwargs):
    return _core._call(name, False, args, kwargs)


def _unary(name):
    return lambda x, /: _call(name, x)


def _binary(name):
    return lambda x1, x2, /: _call(name, x1, x2)


def _reduction(name):
    return lambda x, /, *, axis=None, keepdims=False: _reduced(name, x, axis, keepdims)


def _reduced(name, x, axis, keepdims, **options):
    if axis == ():  # of each element alone; to Sinter it would mean all axes
        return _call(name, x.unsqueeze(0), 0, **options)
    return _call(name, x, axis, keepdim=keepdims, **options)


def _publish(table, maker):
    for name, operation in table.items():
        function = maker(operation)
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"The standard's {name}."
        globals()[name] = function


for _table, _maker in [(_UNARY, _unary), (_BINARY, _binary), (_REDUCTIONS, _reduction)]:
    _publish(_table, _maker)


# Elements.

def round(x, /):
    if not isdtype(x.dtype, "complex floating"):
        return _call("round", x)
    return _call("complex", _call("round", _call("real", x)), _call("round", _call("imag", x)))


def sign(x, /):
    made = _call("sgn", x)
    return _call("where", x == x, made, x) if isdtype(x.dtype, "real floating") else made  # NaN stays


# Creation.

def asarray(obj, /, *, dtype=None, device=None, copy=None):
    return _core.asarray(obj, dtype=dtype, device=device, copy=copy)


from_dlpack = _core.from_dlpack


def zeros(shape, *, dtype=None, device=None):
    return _call("zeros", shape, dtype=dtype, device=device)


def ones(shape, *, dtype=None, device=None):
    return _call("ones", shape, dtype=dtype, device=device)


def empty(shape, *, dtype=None, device=None):
    return _call("empty", shape, dtype=dtype, device=device)


def full(shape, fill_value, *, dtype=None, device=None):
    fill_value = fill_value.item() if isinstance(fill_value, _core.Operand) else fill_value
    return _call("full", shape, fill_value, dtype=dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    return empty(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    start, stop = (0, start) if stop is None else (start, stop)
    if (stop - start) * step < 0:
        stop = start  # no elements
    return _call("arange", start, stop, step, dtype=dtype, device=device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    if not endpoint:
        stop = start + (stop - start) * (num - 1) / num if num else stop
    return _call("linspace", start, stop, num, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    n_cols = n_rows if n_cols is None else n_cols
    made = _core.asarray(zeros((n_rows, n_cols), dtype=dtype, device=device))
    if -n_rows < k < n_cols:
        made.diagonal(k)[...] = 1
    return made


def meshgrid(*arrays, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', but got {indexing!r}")
    count = len(arrays)
    axes = list(range(count))
    if indexing == "xy" and count > 1:
        axes[:2] = 1, 0
    placed = [x.reshape([-1 if axis == at else 1 for axis in range(count)]) for x, at in zip(arrays, axes)]
    return tuple(broadcast_arrays(*placed))


def _triangle(x, k, lower):
    rows, columns = x.shape[-2:]
    distance = arange(columns, device=x.device) - arange(rows, device=x.device).unsqueeze(1)
    return _call("where", distance <= k if lower else distance >= k, x, 0)


def tril(x, /, *, k=0):
    return _triangle(x, k, True)


def triu(x, /, *, k=0):
    return _triangle(x, k, False)


# Shapes.

def broadcast_to(x, /, shape):
    return x.broadcast_to(shape)


def broadcast_shapes(*shapes):
    for extent in _itertools.chain(*shapes):
        if not hasattr(type(extent), "__index__"):
            raise TypeError(f"broadcast_shapes takes tuples of integers, but one holds {_core._describe(extent)}")
    extents = []
    for along in _itertools.zip_longest(*map(reversed, shapes), fillvalue=1):
        found = {extent for extent in along if extent != 1}
        if len(found) > 1:
            raise _core.ShapeError(f"the shapes {', '.join(map(str, shapes))} do not broadcast")
        extents.append(found.pop() if found else 1)
    return tuple(reversed(extents))


def broadcast_arrays(*arrays):
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(x.broadcast_to(shape) for x in arrays)


def concat(arrays, /, *, axis=0):
    if axis is None:
        arrays, axis = [x.flatten() for x in arrays], 0
    dtype = result_type(*arrays)
    return _call("cat", [x.to(dtype) for x in arrays], axis)


def stack(arrays, /, *, axis=0):
    dtype = result_type(*arrays)
    return _call("stack", [x.to(dtype) for x in arrays], axis)


def unstack(x, /, *, axis=0):
    return _call("unbind", x, axis)


def expand_dims(x, /, axis=0):
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = x.ndim + len(axes)
    for one in axes:
        if not -ndim <= one < ndim:
            raise _core.IndexError(f"expand_dims: the axis {one} is out of range for a result of {ndim} axes")
    for one in sorted(one % ndim for one in axes):
        x = x.unsqueeze(one)
    return x


def squeeze(x, /, axis):
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not_one := [one for one in axes if -x.ndim <= one < x.ndim and x.shape[one] != 1]:
        raise _core.ShapeError(f"squeeze: axis {not_one[0]} has {x.shape[not_one[0]]} elements, not one")
    return _call("squeeze", x, axis)


def flip(x, /, *, axis=None):
    axis = tuple(range(x.ndim)) if axis is None else axis
    return x.flip(axis) if axis != () else x


def moveaxis(x, source, destination, /):
    return _call("movedim", x, source, destination)


def permute_dims(x, /, axes):
    return x.permute(axes)


def matrix_transpose(x, /):
    if x.ndim < 2:
        raise _core.ShapeError(f"matrix_transpose takes two axes or more, but got shape {x.shape}")
    return x.transpose(-1, -2)


def reshape(x, /, shape, *, copy=None):
    made = x.reshape(shape)
    return _core.asarray(made, copy=True) if copy else made


def repeat(x, repeats, /, *, axis=None):
    return _call("repeat", x, repeats.tolist() if isinstance(repeats, _core.Operand) else repeats, axis=axis)


def tile(x, repetitions, /):
    return _call("tile", x, repetitions)


def roll(x, /, shift, *, axis=None):
    return _call("roll", x, shift, axis)


# Searching, sorting, sets.

def where(condition, x1, x2, /):
    return _call("where", condition, x1, x2)


def nonzero(x, /):
    if x.ndim == 0:
        raise _core.ShapeError("nonzero takes one axis or more, but the tensor has none")
    return _call("nonzero", x, as_tuple=True)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', but got {side!r}")
    x1 = x1 if sorter is None else take(x1, sorter)
    values = x2.unsqueeze(-1)
    return _call("count_nonzero", x1 < values if side == "left" else x1 <= values, -1)


def isin(x1, x2, /, *, invert=False):
    found = _call("any", x1.unsqueeze(-1) == (x2.flatten() if isinstance(x2, _core.Operand) else x2), -1)
    return ~found if invert else found


def sort(x, /, *, axis=-1, descending=False, stable=True):
    return _call("sort", x, axis, descending)[0]


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return _call("argsort", x, axis, descending)


class _UniqueAll(_NamedTuple):
    values: _core.Operand
    indices: _core.Operand
    inverse_indices: _core.Operand
    counts: _core.Operand


class _UniqueCounts(_NamedTuple):
    values: _core.Operand
    counts: _core.Operand


class _UniqueInverse(_NamedTuple):
    values: _core.Operand
    inverse_indices: _core.Operand


def unique_all(x, /):
    flat = x.flatten()
    if not flat.size:
        none = empty(0, dtype=int64, device=x.device)
        return _UniqueAll(flat, none, none.reshape(x.shape), none)
    values, order = _call("sort", flat, 0)
    is_first = concat([ones(1, dtype=bool, device=x.device), values[1:] != values[:-1]])
    starts = nonzero(is_first)[0]
    inverse = _core.asarray(zeros(flat.size, dtype=int64, device=x.device))
    inverse[order] = _call("cumsum", is_first.to(int64), 0) - 1
    ends = concat([starts[1:], asarray([flat.size], device=x.device)])
    return _UniqueAll(values[starts], order[starts], inverse.reshape(x.shape), ends - starts)


def unique_counts(x, /):
    values, _, _, counts = unique_all(x)
    return _UniqueCounts(values, counts)


def unique_inverse(x, /):
    values, _, inverse, _ = unique_all(x)
    return _UniqueInverse(values, inverse)


def unique_values(x, /):
    return unique_all(x).values


# Indexing.

def take(x, indices, /, *, axis=None):
    if axis is None and x.ndim != 1:
        raise TypeError(f"take: the axis must be given for a tensor of {x.ndim} axes")
    axis = 0 if axis is None else axis % x.ndim
    taken = x.index_select(axis, indices.flatten())
    return taken if indices.ndim == 1 else taken.reshape(x.shape[:axis] + indices.shape + x.shape[axis + 1:])


def take_along_axis(x, indices, /, *, axis=-1):
    return _call("take_along_dim", x, indices, axis)


# Statistics.

def _accumulated(name, x, axis, dtype, keepdims):
    made = _reduced(name, x, axis, keepdims, dtype=dtype)
    return made if dtype is None else made.to(dtype)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    return _accumulated("sum", x, axis, dtype, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    return _accumulated("prod", x, axis, dtype, keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return _reduced("std", x, axis, keepdims, correction=correction)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    return _reduced("var", x, axis, keepdims, correction=correction)


def _cumulative(name, start, x, axis, dtype, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"the axis must be given for a tensor of {x.ndim} axes")
        axis = 0
    made = _call(name, x, axis, dtype=dtype)
    if not include_initial:
        return made
    shape = [1 if i == axis % x.ndim else extent for i, extent in enumerate(x.shape)]
    return concat([full(shape, start, dtype=made.dtype, device=x.device), made], axis=axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumsum", 0, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumprod", 1, x, axis, dtype, include_initial)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    parts = [part for part in (prepend, x, append) if part is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        length = _builtins.max(x.shape[axis] - 1, 0)
        after, before = x.narrow(axis, x.shape[axis] - length, length), x.narrow(axis, 0, length)
        x = after != before if x.dtype == bool else after - before
    return x


def clip(x, /, min=None, max=None):
    return x if min is None and max is None else _call("clamp", x, min, max)


# Products.

def matmul(x1, x2, /):
    if isdtype(x1.dtype, "integral") and isdtype(x2.dtype, "integral"):
        return _product_of_integers(x1, x2)
    dtype = result_type(x1, x2)
    return _call("matmul", x1.to(dtype), x2.to(dtype))


def _product_of_integers(x1, x2):
    """As a sum of elementwise products, because libraries multiply only matrices of floats."""
    dtype = result_type(x1, x2)
    rows = x1 if x1.ndim > 1 else x1.unsqueeze(0)
    columns = x2 if x2.ndim > 1 else x2.unsqueeze(1)
    if not x1.ndim or not x2.ndim or rows.shape[-1] != columns.shape[-2]:
        raise _core.ShapeError(f"matmul: the shapes {x1.shape} and {x2.shape} do not fit")
    made = (rows.unsqueeze(-1) * columns.unsqueeze(-3)).sum(-2).to(dtype)
    made = made if x1.ndim > 1 else made.squeeze(-2)
    return made if x2.ndim > 1 else made.squeeze(-1)


def tensordot(x1, x2, /, *, axes=2):
    if isinstance(axes, int):
        axes = range(x1.ndim - axes, x1.ndim), range(axes)
    own, others = ([axis % x.ndim for axis in some] for x, some in zip((x1, x2), axes))
    kept1 = [axis for axis in range(x1.ndim) if axis not in own]
    kept2 = [axis for axis in range(x2.ndim) if axis not in others]
    shape = [x1.shape[axis] for axis in kept1] + [x2.shape[axis] for axis in kept2]
    length = _math.prod(x1.shape[axis] for axis in own)
    left = x1.permute(kept1 + own).reshape(_math.prod(x1.shape[axis] for axis in kept1), length)
    right = x2.permute(others + kept2).reshape(length, _math.prod(x2.shape[axis] for axis in kept2))
    return matmul(left, right).reshape(shape)


def vecdot(x1, x2, /, *, axis=-1):
    x1, x2 = (x.movedim(axis, -1) for x in (x1, x2))
    return (_call("conj", x1) * x2).sum(-1).to(result_type(x1, x2))


__all__ = [name for name in globals() if not name.startswith("_")]
