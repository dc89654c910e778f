"""NumPy's protocols: its ufuncs and functions of tensors and expressions, as Sinter's operations."""
import inspect

from . import _core
from ._numpy_functions import FUNCTIONS

# NumPy's names of operations, where Sinter has no such name.
UFUNCS = {"fabs": "abs", "rint": "round"}
REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all",
              "logical_or": "any"}
PAIRS = {"divmod": ("floor_divide", "remainder"), "modf": ("frac", "trunc")}
OPERATIONS = {name for name, *_ in _core._operations()}
WITHOUT_EFFECT = {"order", "subok", "casting"}


def _without_counterpart(name):
    return TypeError(f"Sinter has no counterpart of {name}: {name}(numpy.asarray(x)) computes it with NumPy")


def _is_known(value):
    return isinstance(value, (_core.Operand, bool, int, float, complex, list, tuple)) or hasattr(value, "__dlpack__") \
        or type(value).__module__ == "numpy"


def _operand(value):
    return _core.asarray(value) if isinstance(value, (list, tuple)) else value


def _check_options(name, options):
    for option, value in options.items():
        if option in WITHOUT_EFFECT or value is None or (option == "where" and value is True):
            continue
        advice = ": use sinter_jit.where(condition, value, other)" if option == "where" else ""
        raise TypeError(f"{name}: the argument '{option}' is not supported for Sinter's tensors{advice}")


def stored(name, value, out):
    """What a function returns that was given `out`, to which the value is written."""
    if out is None:
        return value
    if isinstance(out, tuple):
        out, = out
    if isinstance(out, _core.Tensor):
        out[...] = value
    elif isinstance(out, _core.Operand):
        raise TypeError(f"{name}: 'out' must be a tensor or an array, because an expression has no memory to write to")
    else:
        import numpy
        numpy.copyto(out, value.numpy(), casting="same_kind")
    return out


def _called(ufunc, inputs, dtype):
    operands = [_operand(value) for value in inputs]
    if dtype is not None:
        operands = [value.to(dtype) if isinstance(value, _core.Operand) else value for value in operands]
    if ufunc in PAIRS:
        return tuple(_core._call(name, False, tuple(operands), {}) for name in PAIRS[ufunc])
    return _core._call(UFUNCS.get(ufunc, ufunc), False, tuple(operands), {})


def _reduced(ufunc, value, dtype, axis=0, keepdims=False):
    value = _operand(value)
    if dtype is not None:
        value = value.to(dtype)
    return _core._call(REDUCTIONS[ufunc], False, (value, axis), {"keepdim": bool(keepdims)})


def _outer(ufunc, a, b, dtype):
    a, b = _core.asarray(a), _core.asarray(b)
    return _called(ufunc, (a.reshape(a.shape + (1,) * b.ndim), b), dtype)


def array_ufunc(self, ufunc, method, *inputs, out=None, dtype=None, **options):
    """numpy.sin(x), numpy.add(x, array, out=y), array * x, numpy.add.reduce(x)."""
    if not all(_is_known(value) for value in inputs):
        return NotImplemented
    name = f"numpy.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
    along = ("axis", "keepdims") if method == "reduce" else ()
    positions = {option: options.pop(option) for option in along if option in options}
    _check_options(name, options)
    is_there = UFUNCS.get(ufunc.__name__, ufunc.__name__) in OPERATIONS or ufunc.__name__ in PAIRS
    if method == "__call__" and is_there:
        value = _called(ufunc.__name__, inputs, dtype)
    elif method == "reduce" and ufunc.__name__ in REDUCTIONS:
        value = _reduced(ufunc.__name__, *inputs, dtype, **positions)
    elif method == "outer" and is_there and ufunc.nin == 2:
        value = _outer(ufunc.__name__, *inputs, dtype)
    else:
        raise _without_counterpart(name)
    if not isinstance(value, tuple):
        return stored(name, value, out)
    return tuple(stored(name, one, to) for one, to in zip(value, out or (None,) * len(value)))


def array_function(self, function, types, args, kwargs):
    """numpy.sum(x, axis=0), numpy.concatenate([x, y])."""
    name = ".".join([function.__module__, function.__name__])
    known = FUNCTIONS.get(name.partition(".")[2])
    if known is None:
        raise _without_counterpart(name)
    try:
        given = inspect.signature(known).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name} of Sinter's tensors: {error}") from None
    out = given.arguments.pop("out", None)
    value = known(*given.args, **given.kwargs)
    return stored(name, value, out)
