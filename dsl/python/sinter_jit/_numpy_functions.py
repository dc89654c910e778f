"""NumPy's functions of tensors and expressions, with NumPy's parameters, by name: FUNCTIONS["linalg.norm"]."""
from . import _core

FUNCTIONS = {}
REDUCTIONS = {"sum": "sum", "prod": "prod", "mean": "mean", "nansum": "nansum", "nanmean": "nanmean", "any": "any",
              "all": "all", "count_nonzero": "count_nonzero"}
EXTREMES = {"max": "amax", "amax": "amax", "min": "amin", "amin": "amin", "argmax": "argmax", "argmin": "argmin",
            "nanmax": "nanmax", "nanmin": "nanmin"}
ELEMENTWISE = {"real": "real", "imag": "imag", "fix": "trunc", "isposinf": "isposinf", "isneginf": "isneginf",
               "sinc": "sinc", "i0": "i0"}
# They read elements, whatever the device, and return no array.
READERS = ["save", "savez", "savez_compressed", "savetxt", "array2string", "array_repr", "array_str", "result_type",
           "can_cast", "common_type", "min_scalar_type", "iscomplexobj", "isrealobj", "shares_memory",
           "may_share_memory"]


def _call(name, *args, **kwargs):
    return _core._call(name, False, args, kwargs)


def _function(*names):
    def register(function):
        FUNCTIONS.update(dict.fromkeys(names, function))
        return function
    return register


def _tensor(value, dtype=None):
    value = value if isinstance(value, _core.Operand) else _core.asarray(value)
    return value if dtype is None else value.to(dtype)


def _check_order(order):
    if order not in ("C", "K", "A"):
        raise TypeError(f"order={order!r} is not supported for Sinter's tensors: their elements are read in row-major "
                        "order")


def _reduction(name):
    def reduced(a, axis=None, dtype=None, out=None, keepdims=False):
        return _call(name, _tensor(a, dtype), axis, keepdim=keepdims)
    return reduced


def _extreme(name):
    def reduced(a, axis=None, out=None, keepdims=False):
        return _call(name, _tensor(a), axis, keepdim=keepdims)
    return reduced


def _spread(name):
    def reduced(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        return _call(name, _tensor(a, dtype), axis, correction=ddof, keepdim=keepdims)
    return reduced


def _elementwise(name):
    return lambda x, out=None: _call(name, x)


def _array(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(_array, value))
    return value.to("cpu").numpy() if isinstance(value, _core.Operand) else value


def _reader(name):
    def read(*args, **kwargs):
        import numpy
        return getattr(numpy, name)(*map(_array, args), **{key: _array(value) for key, value in kwargs.items()})
    return read


for table, maker in [(REDUCTIONS, _reduction), (EXTREMES, _extreme), ({"std": "std", "var": "var"}, _spread),
                     (ELEMENTWISE, _elementwise), (dict(zip(READERS, READERS)), _reader)]:
    FUNCTIONS.update({theirs: maker(ours) for theirs, ours in table.items()})


# Shapes.

@_function("reshape")
def _reshape(a, shape, order="C"):
    _check_order(order)
    return _tensor(a).reshape(shape)


@_function("ravel")
def _ravel(a, order="C"):
    _check_order(order)
    return _tensor(a).flatten()


@_function("transpose", "permute_dims")
def _transpose(a, axes=None):
    return a.T if axes is None else a.permute(axes)


@_function("swapaxes")
def _swapaxes(a, axis1, axis2):
    return a.transpose(axis1, axis2)


@_function("moveaxis")
def _moveaxis(a, source, destination):
    return _call("movedim", a, source, destination)


@_function("squeeze")
def _squeeze(a, axis=None):
    return _call("squeeze", a, axis)


@_function("expand_dims")
def _expand_dims(a, axis):
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    for one in sorted(one % (a.ndim + len(axes)) for one in axes):
        a = a.unsqueeze(one)
    return a


@_function("broadcast_to")
def _broadcast_to(array, shape, subok=False):
    return array.broadcast_to(shape)


@_function("flip")
def _flip(m, axis=None):
    return m.flip(tuple(range(m.ndim)) if axis is None else axis)


@_function("flipud")
def _flipud(m):
    return m.flip(0)


@_function("fliplr")
def _fliplr(m):
    return m.flip(1)


@_function("diagonal")
def _diagonal(a, offset=0, axis1=0, axis2=1):
    return a.diagonal(offset, axis1, axis2)


@_function("trace")
def _trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return _tensor(a.diagonal(offset, axis1, axis2), dtype).sum(-1)


@_function("shape")
def _shape(a):
    return a.shape


@_function("ndim")
def _ndim(a):
    return a.ndim


@_function("size")
def _size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


@_function("copy")
def _copy(a, order="K", subok=False):
    return _core.asarray(a, copy=True)


# Several tensors, and orders.

def _alike(tensors, dtype=None):
    """Of one dtype, as tensors."""
    tensors = [_tensor(x) for x in tensors]
    if dtype is None:
        from .array_api import result_type
        dtype = result_type(*tensors)
    return [x.to(dtype) for x in tensors]


@_function("concatenate", "concat")
def _concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    tensors = _alike(arrays, dtype)
    return _call("cat", tensors if axis is not None else [x.flatten() for x in tensors], axis or 0)


@_function("stack")
def _stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    return _call("stack", _alike(arrays, dtype), axis)


def _at_least(ndim, tensors):
    return [x.reshape((1,) * (ndim - x.ndim) + x.shape) if x.ndim < ndim else x for x in tensors]


@_function("vstack")
def _vstack(tup, *, dtype=None, casting="same_kind"):
    return _call("cat", _at_least(2, _alike(tup, dtype)), 0)


@_function("hstack")
def _hstack(tup, *, dtype=None, casting="same_kind"):
    tensors = _at_least(1, _alike(tup, dtype))
    return _call("cat", tensors, 0 if tensors[0].ndim == 1 else 1)


@_function("column_stack")
def _column_stack(tup):
    return _call("cat", [x if x.ndim > 1 else x.reshape(-1, 1) for x in _alike(tup)], 1)


@_function("split", "array_split")
def _split(ary, indices_or_sections, axis=0):
    extent = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        short, longer = divmod(extent, indices_or_sections)
        sizes = [short + 1] * longer + [short] * (indices_or_sections - longer)
        return list(_call("split", ary, sizes, axis))
    places = [0, *(slice(place).indices(extent)[1] for place in indices_or_sections), extent]
    return list(_call("split", ary, [max(b - a, 0) for a, b in zip(places, places[1:])], axis))


@_function("repeat")
def _repeat(a, repeats, axis=None):
    return _call("repeat", a, repeats, axis=axis)


@_function("tile")
def _tile(A, reps):
    return _call("tile", A, reps)


@_function("roll")
def _roll(a, shift, axis=None):
    return _call("roll", a, shift, axis)


@_function("sort")
def _sort(a, axis=-1, kind=None, order=None, *, stable=None):
    return _call("sort", *((a.flatten(), 0) if axis is None else (a, axis)))[0]


@_function("argsort")
def _argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    return _call("argsort", *((a.flatten(), 0) if axis is None else (a, axis)))


@_function("cumsum")
def _cumsum(a, axis=None, dtype=None, out=None):
    return _call("cumsum", *((a.flatten(), 0) if axis is None else (a, axis)), dtype=dtype)


@_function("cumprod")
def _cumprod(a, axis=None, dtype=None, out=None):
    return _call("cumprod", *((a.flatten(), 0) if axis is None else (a, axis)), dtype=dtype)


@_function("nonzero")
def _nonzero(a):
    return _call("nonzero", a, as_tuple=True)


@_function("argwhere")
def _argwhere(a):
    return _call("nonzero", a)


@_function("flatnonzero")
def _flatnonzero(a):
    return _call("nonzero", a.flatten()).flatten()


@_function("take_along_axis")
def _take_along_axis(arr, indices, axis=-1):
    return _call("take_along_dim", *((arr, indices, axis) if axis is not None else (arr.flatten(), indices, 0)))


def _filled(value):
    def filled(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
        extents = a.shape if shape is None else shape
        return _call("full", extents, value, dtype=dtype or a.dtype, device=device or a.device)
    return filled


FUNCTIONS.update(zeros_like=_filled(0), ones_like=_filled(1), empty_like=_filled(0))


@_function("full_like")
def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _filled(fill_value)(a, dtype, order, subok, shape, device=device)


@_function("einsum")
def _einsum(subscripts, *operands, out=None, optimize=False):
    return _call("einsum", subscripts, *operands)


@_function("tril")
def _tril(m, k=0):
    from .array_api import tril
    return tril(m, k=k)


@_function("triu")
def _triu(m, k=0):
    from .array_api import triu
    return triu(m, k=k)


@_function("diff")
def _diff(a, n=1, axis=-1, prepend=None, append=None):
    from .array_api import diff
    return diff(a, n=n, axis=axis, prepend=prepend, append=append)


@_function("tensordot")
def _tensordot(a, b, axes=2):
    from .array_api import tensordot
    return tensordot(_tensor(a), _tensor(b), axes=axes)


# Elements.

@_function("where")
def _where(condition, x, y):
    return _call("where", condition, x, y)


@_function("clip")
def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    return _call("clamp", a, min if a_min is None else a_min, max if a_max is None else a_max)


@_function("round", "around", "round_")
def _round(a, decimals=0, out=None):
    return _call("round", a, decimals)


@_function("angle")
def _angle(z, deg=False):
    return _call("rad2deg", _call("angle", z)) if deg else _call("angle", z)


@_function("nan_to_num")
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if not copy:
        x[...] = _call("nan_to_num", x, nan, posinf, neginf)
        return x
    return _call("nan_to_num", x, nan, posinf, neginf)


@_function("isclose")
def _isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return _call("isclose", a, b, rtol, atol, equal_nan)


@_function("allclose")
def _allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return bool(_isclose(a, b, rtol, atol, equal_nan).all())


@_function("array_equal")
def _array_equal(a1, a2, equal_nan=False):
    a1, a2 = _tensor(a1), _tensor(a2)
    if a1.shape != a2.shape:
        return False
    equal = a1 == a2
    return bool((equal | (a1 != a1) & (a2 != a2) if equal_nan else equal).all())


@_function("copyto")
def _copyto(dst, src, casting="same_kind", where=True):
    if not isinstance(dst, _core.Tensor):
        import numpy
        return numpy.copyto(dst, src.numpy(), casting=casting, where=_array(where))
    dst[...] = src if where is True else _call("where", where, src, dst)


@_function("take")
def _take(a, indices, axis=None, out=None, mode="raise"):
    if mode != "raise":
        raise TypeError(f"mode={mode!r} is not supported for Sinter's tensors: an index out of range is an error")
    indices = _tensor(indices)
    if axis is None:
        return _tensor(a).take(indices)
    axis %= a.ndim
    taken = a.index_select(axis, indices.flatten())
    return taken.reshape(a.shape[:axis] + indices.shape + a.shape[axis + 1:])


# Products.

@_function("dot")
def _dot(a, b, out=None):
    a, b = _tensor(a), _tensor(b)
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim > 2:
        raise TypeError(f"the dot product with a tensor of {b.ndim} axes is not supported: use matmul, or reshape the "
                        "tensor first")
    return a @ b


@_function("inner")
def _inner(a, b):
    a, b = _tensor(a), _tensor(b)
    return a * b if not a.ndim or not b.ndim else _dot(a, b if b.ndim == 1 else b.transpose(-1, -2))


@_function("vdot")
def _vdot(a, b):
    a, b = _tensor(a), _tensor(b)
    return (_call("conj", a.flatten()) * b.flatten()).sum()


@_function("outer")
def _outer(a, b, out=None):
    return _tensor(a).flatten().unsqueeze(1) * _tensor(b).flatten()


@_function("linalg.norm")
def _norm(x, ord=None, axis=None, keepdims=False):
    if ord not in (None, "fro") and (axis is None and x.ndim != 1 or isinstance(axis, tuple)):
        raise TypeError(f"ord={ord!r} of a matrix is not supported: norm(x.flatten(), ord) is the norm of all elements")
    return _call("norm", x, 2 if ord in (None, "fro") else ord, axis, keepdim=keepdims)
