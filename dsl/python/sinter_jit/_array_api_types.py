"""The data types of the array API standard: their properties, kinds and promotion."""
import math
from types import SimpleNamespace

from . import _core

KINDS = {"bool": ("bool",), "signed integer": ("int8", "int16", "int32", "int64"), "unsigned integer": ("uint8",),
         "real floating": ("float32", "float64"), "complex floating": ("complex64", "complex128")}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]
dtypes = {name: getattr(_core, name) for kind in ("bool", "numeric") for name in KINDS[kind]}
MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
EXPONENT = {"float16": 5, "bfloat16": 8, "float32": 8, "float64": 11}


def _dtype_of(type):
    return type.dtype if isinstance(type, _core.Operand) else _core.dtype(type)


def isdtype(dtype, kind):
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, _core.dtype):
        return dtype == kind
    if kind not in KINDS:
        raise ValueError(f"isdtype: there is no kind {kind!r}; the kinds are {', '.join(KINDS)}")
    floats = ("float16", "bfloat16") if kind in ("real floating", "numeric") else ()
    return dtype.name in KINDS[kind] + floats


def finfo(type, /):
    dtype = _dtype_of(type)
    part = _core.dtype({"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype))
    if part.name not in MANTISSA:
        raise TypeError(f"finfo takes floating-point dtypes, but got {dtype.name}")
    mantissa, exponent = MANTISSA[part.name], EXPONENT[part.name]
    bias = 2 ** (exponent - 1) - 1
    largest = math.ldexp(2 - 2.0 ** -mantissa, bias)
    return SimpleNamespace(bits=8 * part.itemsize, eps=2.0 ** -mantissa, max=largest, min=-largest,
                           smallest_normal=2.0 ** (1 - bias), dtype=part)


def iinfo(type, /):
    dtype = _dtype_of(type)
    if not isdtype(dtype, "integral"):
        raise TypeError(f"iinfo takes integer dtypes, but got {dtype.name}")
    bits = 8 * dtype.itemsize
    smallest = 0 if dtype.name.startswith("u") else -2 ** (bits - 1)
    return SimpleNamespace(bits=bits, min=smallest, max=smallest + 2 ** bits - 1, dtype=dtype)


def _promoted(a, b):
    """By an operation of two empty arrays."""
    made = [_core.asarray([], dtype=dtype) for dtype in (a, b)]
    return _core._call("where", False, (_core.asarray([], dtype="bool"), *made), {}).dtype


def result_type(*arrays_and_dtypes):
    numbers = [value for value in arrays_and_dtypes if isinstance(value, (bool, int, float, complex))]
    found = [_dtype_of(value) for value in arrays_and_dtypes if not isinstance(value, (bool, int, float, complex))]
    if not found:
        raise ValueError("result_type takes at least one array or dtype")
    result = found[0]
    for dtype in found[1:]:
        result = _promoted(result, dtype)
    for number in numbers:
        result = (_core.asarray([], dtype=result) * number).dtype
    return result


def can_cast(from_, to, /):
    from_ = _dtype_of(from_)
    is_within = isdtype(from_, "integral") == isdtype(to, "integral") and isdtype(from_, "bool") == isdtype(to, "bool")
    return is_within and _promoted(from_, to) == to


def astype(x, dtype, /, *, copy=True, device=None):
    if isdtype(x.dtype, "complex floating") and not isdtype(dtype, ("complex floating", "bool")):
        raise _core.DTypeError(f"astype: complex numbers cannot be converted to {dtype.name}: take real(x), "
                                "imag(x) or abs(x)")
    if device is not None and device != x.device:
        return x.to(device, dtype=dtype)
    if x.dtype == dtype:
        return _core.asarray(x, copy=True) if copy else x
    return x.to(dtype)


class __array_namespace_info__:
    """What this implementation of the standard supports."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self):
        return _core.device("cpu")

    def default_dtypes(self, *, device=None):
        return {"real floating": _core.float32, "complex floating": _core.complex64, "integral": _core.int64,
                "indexing": _core.int64}

    def dtypes(self, *, device=None, kind=None):
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        return {name: getattr(_core, name) for one in kinds for name in KINDS[one]}

    def devices(self):
        return [_core.device("cpu"), *map(_core.device, range(_core.device_count()))]
