#!/usr/bin/env python3
"""Makes the tables in tests/data from PyTorch and NumPy, with which tests compare Sinter.

    scripts/torch_tables.py [folder, tests/data by default]

Needs PyTorch and NumPy; each table's first line names the versions that it was made with. Two runs with the same
versions give the same bytes: every random number comes from one seed, and PyTorch uses its portable kernels.

print.tsv           what PyTorch prints. Columns: dtype, device, shape, print options, elements, text. Shape is "2,3",
                    "" for 0-d. Options are precision, threshold, edgeitems, linewidth, sci_mode (auto, 0 or 1).
                    Elements are bits in hex; if there are fewer than the shape holds, they repeat. In the text, \\n is
                    a new line. The dtype suffix is dtype=float64 instead of dtype=torch.float64; the device suffix is
                    added where PyTorch would, since a machine without a GPU has no such tensor.
promotion.tsv       dtypes of results. Columns: operation, operands, result. An operand is a dtype, or *bool, *int or
                    *float for a Python scalar. The result is a dtype, "raises", or "lacks" for an operation (with
                    operands "-") that PyTorch does not have. If a PyTorch function takes only tensors, a scalar is
                    passed as a 0-d tensor of its default dtype, which PyTorch promotes in the same way. Parameters that
                    PyTorch takes only as numbers are the last operands, *int or *float.
special_values.tsv  results at special values. "values, set, dtype, bits..." lists the elements of a set; "result,
                    operation, operands' sets, dtype, bits..." the results for all combinations, the last operand
                    changing fastest. A set is dtype/arity; the numbers that PyTorch takes as parameters follow. "x"
                    marks results that PyTorch does not define (it raises, or they depend on the processor). NaN is
                    always 7fc00000 or 7ff8000000000000.
reductions.tsv      "input, name, dtype, shape, bits..." are operands. "result, operation, parameter, input, axes,
                    keepdim, dtype, shape, bits..." are results. Axes are "0,2", or "all". 16-bit floats are reduced in
                    float32 and rounded once, as on PyTorch's GPUs. For a dtype that PyTorch does not support, "raises".
losses.tsv          "input, name, dtype, shape, bits..." as before; "result, name, dtype, shape, bits..." for calls of
                    losses and of normalizing layers, which tests/dsl/loss_test.cpp and normalize_test.cpp make under
                    these names.
order.tsv           sorts and scans. Columns: call, dtype, shape, axis ("-" for all elements), k (or descending; "-" if
                    there is none), elements, the results' shape, their dtype, their elements, their indices ("-" if
                    there are none; "x" if equal elements leave them open). What PyTorch's CPU lacks for float16 is
                    computed in float32 and rounded.
npy/                small files by numpy.save, and files.tsv: name, dtype, shape, elements in row-major order.
"""
import itertools
import math
import os
import pathlib
import random
import struct
import sys

os.environ["ATEN_CPU_CAPABILITY"] = "default"  # results must not depend on the machine's vector instructions

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.backends.mkldnn.set_flags(False)  # its gelu is a polynomial with an error of 1e-7
DTYPES = {"bool": torch.bool, "uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64,
          "float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}
COMPLEX = {"complex64": torch.complex64, "complex128": torch.complex128}
NAMES = {v: k for k, v in (DTYPES | COMPLEX).items()} | {torch.complex32: "complex32"}
WIDE = ["bool", "int32", "int64", "float32", "float64"]  # the compute dtypes
STORED = [d for d in DTYPES if d not in WIDE]
FORMAT = {"bool": "?", "uint8": "B", "int8": "b", "int16": "<h", "int32": "<i", "int64": "<q", "uint16": "<H", "uint32": "<I", "uint64": "<Q", "float16": "<e", "float32": "<f",
          "float64": "<d"}
NAN = {"float16": "7e00", "bfloat16": "7fc0", "float32": "7fc00000", "float64": "7ff8000000000000"}


def bits(value, dtype):
    """The bits of a Python number in a dtype, as hex of fixed width."""
    if dtype in NAN and math.isnan(value):
        return NAN[dtype]
    if dtype == "bfloat16":
        return bits(value, "float32")[:4]
    return struct.pack(FORMAT[dtype], value)[::-1].hex()


def tensor_bits(t):
    return [bits(v, NAMES[t.dtype]) for v in t.reshape(-1).tolist()]


def write_rows(path, comment, rows):
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.write(f"# {comment} Made by scripts/{pathlib.Path(sys.argv[0]).name} with PyTorch {torch.__version__}, NumPy {np.__version__}.\n")
        for row in rows:
            f.write("\t".join(row) + "\n")


# ---- print.tsv

DEVICE = [""]
original_add_suffixes = torch._tensor_str._add_suffixes


def add_suffixes(text, suffixes, indent, force_newline):
    """PyTorch's own wrapping, applied to Sinter's suffixes."""
    suffixes = [s.replace("dtype=torch.", "dtype=") for s in suffixes]
    if DEVICE[0] != "cpu":
        suffixes.insert(0, f"device='{DEVICE[0]}'")
    return original_add_suffixes(text, suffixes, indent, force_newline)


torch._tensor_str._add_suffixes = add_suffixes

SHAPES = [(), (1,), (2,), (3,), (7,), (13,), (20,), (81,), (0,), (0, 3), (2, 0), (3, 0, 2), (1, 0, 1, 0), (1, 1), (1, 5), (5, 1),
          (2, 3), (3, 4), (5, 12), (2, 40), (2, 2, 3), (3, 1, 4), (1, 1, 1), (4, 3, 2), (2, 3, 2, 2), (1, 1, 1, 1), (2, 1, 3, 1, 2),
          (1, 2, 1, 2, 1, 2, 1, 2), (2, 2, 2, 2, 2, 2, 2, 2), (1000,), (1001,), (2500,), (1500, 1), (1, 1500), (10, 101), (6, 170),
          (7, 150), (150, 7), (150, 6), (12, 10, 10), (2, 2, 500), (500, 2, 2), (7, 6, 30), (7, 7, 7, 7), (6, 6, 6, 5), (3, 3, 3, 3, 2, 2, 2, 1)]
INF, NANV = math.inf, math.nan
FLOAT_LISTS = [
    [0.0], [-0.0], [0.0, -0.0], [1.0], [-1.0], [1.5], [NANV], [INF], [-INF], [NANV, INF, -INF], [NANV, 1.0], [INF, 1.0, -2.0], [NANV, 1.5],
    [-INF, 0.25, 1e10], [NANV, 0.0, INF], [1.0, 2.0, 3.0], [1.0, 10.0, 100.0, 1000.0], [1.0, 10.0, 100.0, 1001.0], [1.0, 1000.0, 1000.5],
    [0.5, 500.0], [0.5, 500.5], [1e8], [1e8, 1e7], [100000008.0], [99999992.0, 99999992.0], [1e8 + 8, 1e8], [1e-4, 1e-3], [0.00009999, 0.001],
    [1e-5], [-1e-5, 2e-5], [0.1, 0.2, 0.3], [1.00005, 2.00015, 3.00025], [0.12345, 0.123450001], [2.5, 0.00005, 0.00015], [0.99995, 9.99995],
    [0.99994, 9.99994], [99999.5, 12345.678], [123456.789, 234567.0], [1e-45, 3e-45], [1.17549435e-38, 1e-38], [3.4028234663852886e38],
    [-3.4028234663852886e38, 1.0], [1e38, -1e-38], [16777216.0, 16777217.0], [-5.0, 3.25, NANV, 0.0], [-100.5, 3.0], [1e6, 1e6 + 1, 999999.0],
    [1234567.0, -7654321.0], [20.0855, 109.1963, 445.2395], [-0.5, 0.5], [-0.0, 1.0, -1.0], [-0.0, 0.5], [1e5, 2e5, 0.0], [1e-3, 1.0], [9e-4, 1.0],
    [1.0000001], [0.99999994], [8388609.0, 8388610.5], [4503599627370497.5], [NANV, 1e-10], [INF, 1e9, -1e9], [-INF, 2000.0, 1.0],
]
INT_LISTS = [[0], [1], [-1], [1, 22, 333], [-1, 22, -333], [2**31 - 1, -(2**31)], [7, -7, 70], [1000000], [5, 50, 500, -5000, 50000]]
LONG_LISTS = INT_LISTS + [[2**63 - 1, -(2**63)], [2**53 + 1], [10**18, 1]]


def random_values(rng, dtype, count):
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if dtype == "uint8":
        return [rng.getrandbits(rng.choice([3, 8])) for _ in range(count)]
    if dtype.startswith("int"):
        width = rng.choice({"int8": [4, 8], "int16": [4, 16], "int32": [4, 8, 16, 31], "int64": [4, 16, 40, 63]}[dtype])
        return [rng.getrandbits(width) - (1 << (width - 1)) for _ in range(count)]
    kind = rng.randrange(7)
    scale = 10.0 ** rng.randint(-6, 9)
    if kind == 0:
        return [rng.gauss(0, 1) for _ in range(count)]
    if kind == 1:
        return [rng.random() for _ in range(count)]
    if kind == 2:
        return [float(rng.randint(-999, 999)) for _ in range(count)]
    if kind == 3:
        return [rng.gauss(0, 1) * scale for _ in range(count)]
    if kind == 4:
        return [rng.choice([rng.gauss(0, 1), 0.0, -0.0, NANV, INF, -INF]) for _ in range(count)]
    if kind == 5:
        return [rng.choice([rng.randint(-99, 99) * 1.0, NANV, -INF]) for _ in range(count)]
    return [rng.choice([-1, 1]) * 10.0 ** rng.uniform(-9, 9) for _ in range(count)]


def print_row(dtype, shape, values, device="cpu", precision=4, threshold=1000, edgeitems=3, linewidth=80, sci_mode=None):
    count = math.prod(shape)
    flat = torch.tensor([values[i % len(values)] for i in range(count)], dtype=DTYPES[dtype])
    t = flat.reshape(shape)
    torch.set_printoptions(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth, sci_mode=sci_mode)
    DEVICE[0] = device
    text = repr(t)
    torch.set_printoptions(profile="default")
    sci = "auto" if sci_mode is None else str(int(sci_mode))
    stored = tensor_bits(flat[: len(values)])
    return [dtype, device, ",".join(map(str, shape)), f"{precision},{threshold},{edgeitems},{linewidth},{sci}", " ".join(stored),
            text.replace("\n", "\\n")]


def print_rows():
    rng = random.Random(20)
    rows = []
    for dtype in WIDE:
        for shape in SHAPES:
            device = "cuda:0" if rng.random() < 0.15 else "cpu"
            count = min(math.prod(shape), 61)
            rows.append(print_row(dtype, shape, random_values(rng, dtype, max(count, 1)), device))
    for dtype in ("float32", "float64"):
        for values in FLOAT_LISTS:
            rows.append(print_row(dtype, (len(values),), values))
            rows.append(print_row(dtype, rng.choice([(), (2, 2), (30,), (2, 1, 3), (1200,)]), values, rng.choice(["cpu", "cuda:1"])))
    for dtype, lists in (("int32", INT_LISTS), ("int64", LONG_LISTS)):
        for values in lists:
            for shape in [(), (len(values),), (3, 17)]:
                rows.append(print_row(dtype, shape, values))
    for i in range(260):
        dtype = rng.choice(WIDE + ["float32", "float64"])
        shape = rng.choice(SHAPES + [tuple(rng.randint(1, 9) for _ in range(rng.randint(1, 4)))])
        values = random_values(rng, dtype, 37)
        options = {}
        if i < 90 or rng.random() < 0.3:
            options["linewidth"] = rng.choice([1, 10, 20, 31, 40, 60, 79, 81, 100, 120, 200])
        if i >= 90 or rng.random() < 0.3:
            options["precision"] = rng.choice([0, 1, 2, 3, 6, 8, 10, 17])
        if rng.random() < 0.3:
            options["threshold"] = rng.choice([0, 1, 5, 10, 100, 100000])
        if rng.random() < 0.3:
            options["edgeitems"] = rng.choice([1, 2, 4, 10])
        if rng.random() < 0.4:
            options["sci_mode"] = rng.random() < 0.5
        rows.append(print_row(dtype, shape, values, rng.choice(["cpu", "cpu", "cuda:0", "cuda:12"]), **options))
    # Suffixes near the end of the line.
    for count in range(1, 20):
        for device in ("cpu", "cuda:0"):
            rows.append(print_row("float64", (count,), [1.25], device))
            rows.append(print_row("int32", (count, 1), [10**rng.randint(0, 9)], device, linewidth=rng.randint(16, 60)))
    for dtype in STORED:
        for shape in [(), (0,), (7,), (20,), (0, 3), (2, 3), (5, 12), (2, 2, 3), (1001,), (7, 150)]:
            rows.append(print_row(dtype, shape, random_values(rng, dtype, 37), rng.choice(["cpu", "cpu", "cuda:0"])))
    for dtype in ("float16", "bfloat16"):
        rows += [print_row(dtype, (len(values),), values) for values in FLOAT_LISTS]
    return rows


COMPLEX_LISTS = [[1 + 2j, -0.0 - 1j], [0j], [1.5 - 0.25j, 1000 + 2j], [complex(NANV, 1), complex(1, NANV)], [complex(INF, -INF), 1 + 1j],
                 [1e10 + 1j, 1 + 1e-10j], [1e-5 + 2j, 1 - 1e-5j], [123456.789 - 0.001j, 1j], [-1 - 1j, 10 + 100j], [complex(-0.0, -0.0), 0.5 + 0j]]


def complex_print_rows():
    rng, rows = random.Random(11), []
    DEVICE[0] = "cpu"
    lists = COMPLEX_LISTS + [[complex(rng.uniform(-10, 10), rng.gauss(0, 10.0 ** rng.randint(-3, 4))) for _ in range(23)] for _ in range(8)]
    for name, dtype in COMPLEX.items():
        for values in lists:
            for shape in ((), (len(values),), (3, 5), (2, 1, 3), (0,), (2, 0), (12, 30)):
                for threshold, sci in ((1000, None), (10, None), (1000, True), (1000, False)):
                    count = math.prod(shape)
                    flat = torch.tensor([values[i % len(values)] for i in range(count)], dtype=dtype)
                    torch.set_printoptions(profile="default", threshold=threshold, sci_mode=sci)
                    text = str(flat.reshape(shape)).replace("dtype=torch.", "dtype=")
                    parts = " ".join(f"{p!r}" for v in flat[: len(values)].tolist() for p in (v.real, v.imag))
                    rows.append([name, ",".join(map(str, shape)), str(threshold), str(sci), parts, text.replace("\n", "\\n")])
    torch.set_printoptions(profile="default")
    return rows


# ---- The operations, by the names of jit/ops/ops.def

OPS = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "floor_divide": torch.floor_divide,
    "remainder": torch.remainder, "fmod": torch.fmod, "pow": torch.pow, "neg": torch.neg, "abs": torch.abs, "sign": torch.sign,
    "square": torch.square, "reciprocal": torch.reciprocal, "lerp": torch.lerp, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "log": torch.log, "log2": torch.log2, "log10": torch.log10,
    "log1p": torch.log1p, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos,
    "atan": torch.atan, "atan2": torch.atan2, "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh, "hypot": torch.hypot,
    "erf": torch.erf, "erfc": torch.erfc, "sigmoid": torch.sigmoid, "silu": F.silu, "relu": torch.relu, "gelu": F.gelu,
    "gelu_tanh": lambda a: F.gelu(a, approximate="tanh"), "floor": torch.floor, "ceil": torch.ceil,
    "trunc": torch.trunc, "round": torch.round, "maximum": torch.maximum, "minimum": torch.minimum, "fmax": torch.fmax,
    "fmin": torch.fmin, "clamp": torch.clamp, "copysign": torch.copysign, "eq": torch.eq, "ne": torch.ne, "lt": torch.lt,
    "le": torch.le, "gt": torch.gt, "ge": torch.ge, "isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite,
    "where": torch.where, "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
    "logical_not": torch.logical_not, "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor, "bitwise_not": torch.bitwise_not,
    "trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc"), "float_power": torch.float_power, "positive": torch.positive, "stop_gradient": lambda a: a.detach(),
    "heaviside": torch.heaviside, "deg2rad": torch.deg2rad, "rad2deg": torch.rad2deg, "gcd": torch.gcd, "lcm": torch.lcm,
    "logaddexp": torch.logaddexp, "logaddexp2": torch.logaddexp2, "xlogy": torch.xlogy, "ldexp": torch.ldexp, "asinh": torch.asinh,
    "acosh": torch.acosh, "atanh": torch.atanh, "sinc": torch.sinc, "lgamma": torch.lgamma, "digamma": torch.digamma,
    "erfinv": torch.erfinv, "i0": torch.i0, "relu6": F.relu6, "selu": F.selu, "mish": F.mish, "softsign": F.softsign,
    "hardsigmoid": F.hardsigmoid, "logsigmoid": F.logsigmoid, "hardswish": F.hardswish, "frac": torch.frac, "nextafter": torch.nextafter, "isposinf": torch.isposinf,
    "isneginf": torch.isneginf, "signbit": torch.signbit, "bitwise_left_shift": torch.bitwise_left_shift,
    "bitwise_right_shift": torch.bitwise_right_shift, "addcmul": lambda a, b, c, d: torch.addcmul(a, b, c, value=number(d)),
    "addcdiv": lambda a, b, c, d: torch.addcdiv(a, b, c, value=number(d)),
    "logit": lambda a, b: torch.logit(a, None if number(b) < 0 else number(b)),
    "leaky_relu": lambda a, b: F.leaky_relu(a, number(b)), "elu": lambda a, b: F.elu(a, number(b)),
    "celu": lambda a, b: F.celu(a, number(b)), "softplus": lambda a, b, c: F.softplus(a, number(b), number(c)),
    "hardtanh": lambda a, b, c: F.hardtanh(a, number(b), number(c)), "threshold": lambda a, b, c: F.threshold(a, number(b), number(c)),
    "hardshrink": lambda a, b: F.hardshrink(a, number(b)), "nan_to_num": lambda a, b: torch.nan_to_num(a, number(b)),
    "nan_to_num_posinf": lambda a, b, c: torch.nan_to_num(a, number(b), number(c)),
    "nan_to_num_infinities": lambda a, b, c, d: torch.nan_to_num(a, number(b), number(c), number(d)),
    "isclose": lambda a, b, c, d, e: torch.isclose(a, b, number(c), number(d), bool(number(e))),
    "real": torch.real, "imag": torch.imag, "complex": torch.complex, "polar": torch.polar, "conj": lambda a: torch.conj(a).resolve_conj(),
    "angle": torch.angle, "sgn": torch.sgn,
}
BINARY = ["add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "atan2", "hypot", "maximum", "minimum", "fmax", "fmin",
          "copysign", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
          "bitwise_xor", "trunc_divide", "float_power", "heaviside", "gcd", "lcm", "logaddexp", "logaddexp2", "xlogy", "ldexp", "nextafter",
          "bitwise_left_shift", "bitwise_right_shift", "complex", "polar"]
TERNARY = ["lerp", "clamp", "where"]
# Operations whose last operands are Python numbers: how many operands are tensors, and the numbers in the tables.
PARAMETERS = {
    "addcmul": (3, [(-2,)]), "addcdiv": (3, [(-0.5,)]), "logit": (1, [(-1.0,), (0.0,), (1e-3,)]),
    "softplus": (1, [(1.0, 20.0), (0.5, 3.0), (-2.0, 1.0)]), "leaky_relu": (1, [(0.01,), (-2.0,)]), "elu": (1, [(1.0,), (0.3,)]),
    "celu": (1, [(1.0,), (0.3,), (-2.0,)]), "hardtanh": (1, [(-1, 1), (-3, 100)]), "threshold": (1, [(0, 7), (3, -5)]),
    "hardshrink": (1, [(0.5,), (2.0,), (0.0,)]), "nan_to_num": (1, [(0,), (2,)]), "nan_to_num_posinf": (1, [(1, 5)]), "nan_to_num_infinities": (1, [(1, 5, -7), (0, 2, 3)]),
    "isclose": (2, [(1e-5, 1e-8, 0), (0.5, 0.25, 1), (0.0, 0.0, 0)]),
}
LACKING = ["fma", "random_uniform", "random_uniform_double", "random_normal", "random_normal_double", "random_bits",
           "mul_high", "axis_offset", "class_index", "cross_entropy_term", "norm_term", "norm_root", "norm_sqrt"]


def number(t):
    return t.item() if torch.is_tensor(t) else t


def arity(op):
    if op in PARAMETERS:
        return PARAMETERS[op][0]
    return 2 if op in BINARY else 3 if op in TERNARY else 1


# ---- promotion.tsv

SCALARS = {"*bool": True, "*int": 1, "*float": 1.0}


def result_dtype(op, operands, parameters=()):
    args = [SCALARS[o] if o[0] == "*" else torch.ones(2, dtype=(DTYPES | COMPLEX)[o]) for o in operands]
    try:
        try:
            return NAMES[OPS[op](*args, *parameters).dtype]
        except TypeError:
            return NAMES[OPS[op](*[a if torch.is_tensor(a) else torch.tensor(a) for a in args], *parameters).dtype]
    except (RuntimeError, TypeError, IndexError) as e:
        # What PyTorch's CPU kernels lack but its GPUs support: the dtypes are those of bfloat16.
        if "not implemented for 'Half'" in str(e) and "bfloat16" not in operands:
            found = result_dtype(op, ["bfloat16" if o == "float16" else o for o in operands], parameters)
            return "float16" if found == "bfloat16" else found
        return "raises"


def promotion_rows():
    operands = list(DTYPES) + list(SCALARS)
    some = ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float64"] + list(SCALARS)
    combinations = {1: [(a,) for a in operands], 2: [(a, b) for a in operands for b in operands],
                    3: [(a, b, c) for a in some for b in some for c in some]}
    rows = [[op, "-", "lacks"] for op in LACKING]
    for op in OPS:
        for c in combinations[arity(op)]:
            if all(o[0] == "*" for o in c) or (op == "where" and (c[0][0] == "*" or (c[1][0] == "*" and c[2][0] == "*"))):
                continue
            if op == "where" and c[0] == "uint8":  # PyTorch's former bools, deprecated
                continue
            parameters = PARAMETERS[op][1][0] if op in PARAMETERS else ()
            kinds = tuple("*float" if isinstance(p, float) else "*int" for p in parameters)
            rows.append([op, ",".join(c + kinds), result_dtype(op, c, parameters)])
    return rows


def complex_promotion_rows():
    """Like promotion_rows, with at least one complex operand."""
    dtypes = ["bool", "int64", "float16", "bfloat16", "float32", "float64"]
    operands = dtypes + list(COMPLEX) + ["*bool", "*int", "*float", "*complex"]
    some = ["int64", "float16", "float64", *COMPLEX, "*int", "*complex"]
    SCALARS["*complex"] = 1j
    rows = []
    for op in OPS:
        for c in itertools.product(*[some if arity(op) == 3 else operands] * arity(op)):
            if op == "where":
                c = ("bool",) + c[1:]
            values = c[1:] if op == "where" else c
            if not any("complex" in o for o in values) or all(o[0] == "*" for o in values):
                continue
            parameters = PARAMETERS[op][1][0] if op in PARAMETERS else ()
            kinds = tuple("*float" if isinstance(p, float) else "*int" for p in parameters)
            row = [op, ",".join(c + kinds), result_dtype(op, c, parameters)]
            if row not in rows[-400:]:
                rows.append(row)
    return rows


# ---- special_values.tsv


def float_set(dtype, count):
    """Special values of a float dtype: many for unary operations, fewer for pairs and triples."""
    big, tiny, denormal, eps = {"float16": (65504.0, 2.0**-14, 2.0**-24, 2.0**-10), "bfloat16": (3.3895313892515355e38, 2.0**-126, 2.0**-133, 2.0**-7),
                                "float32": (3.4028234663852886e38, 2.0**-126, 2.0**-149, 2.0**-23),
                                "float64": (1.7976931348623157e308, 2.0**-1022, 2.0**-1074, 2.0**-52)}[dtype]
    signed3 = [1.0, INF]
    signed2 = signed3 + [0.5, 2.0, 3.0, 1.5, 7.0, 0.1, 1e-20, 1e20, big, tiny, denormal]
    signed1 = signed2 + [2.5, 3.5, 4.5, 0.25, 0.75, 0.9, 0.99, 1 + eps, 1 - eps / 2, 0.5 + eps / 2, 0.5 - eps / 4, 1.1, 10.0, 1e-3, 1e-4,
                         1e-5, 1e-8, 1e-30, math.pi / 4, math.pi / 2, math.pi, 4.0, 5.0, 6.0, 8.0, 9.0, 12.0, 17.0, 19.99, 20.0, 20.01, 27.0,
                         37.0, 50.0, 87.0, 88.5, 88.72, 88.73, 88.73, 89.5, 90.0, 100.0, 103.9, 104.5, 126.0, 127.0, 127.5, 128.0, 149.0,
                         150.0, 355.0, 709.7, 709.79, 710.4, 711.0, 745.0, 746.0, 1000.0, 1022.5, 1024.0, 1074.0, 1075.0, 12345.678, 1e5,
                         1e7, 2.0**22 + 0.5, 2.0**23 - 0.5, 2.0**23 + 1, 2.0**24, 2.0**31, 2.0**32, 2.0**52 - 0.5, 2.0**53, 2.0**63, 1e10,
                         1e15, 1e25, big / 2, tiny - denormal, 2 * denormal, 8.5, 0.3, 0.6931471805599453, 2.718281828459045]
    signed = {1: signed1, 2: signed2, 3: signed3}[count]
    rest = [0.5, 2.0, big, denormal] if count == 3 else []
    return [0.0, -0.0, NANV] + [s * v for v in signed for s in (1, -1)] + rest


def int_set(dtype, count):
    if dtype == "uint8":
        return [0, 1, 2, 7, 128, 255] if count == 3 else [0, 1, 2, 3, 7, 10, 64, 127, 128, 200, 254, 255]
    top = torch.iinfo(DTYPES[dtype]).max
    if dtype in STORED:
        small = [0, 1, -1, 2, -7, top, -top - 1]
        return small if count == 3 else small + [-2, 3, -3, 7, 10, 64, top - 1, -top]
    small = [0, 1, -1, 2, -7, top, -top - 1]
    if count == 3:
        return small
    pair = small + [-2, 3, -3, 7, 10, 31, 64, top - 1, -top, 46341 if dtype == "int32" else 3037000500]
    return pair if count == 2 else pair + [100, -100, 65535, 65536, 2**24 + 1] + ([2**53 + 1, 2**62, -(2**40)] if dtype == "int64" else [])


def value_set(dtype, count):
    values = [False, True] if dtype == "bool" else int_set(dtype, count) if "int" in dtype else float_set(dtype, count)
    return torch.tensor(values, dtype=DTYPES[dtype])


def defined(op, operands):
    """Where PyTorch's integer division does not trap, and C++ defines the integer operation."""
    a, b = operands[0], operands[-1]
    everywhere = torch.ones_like(a, dtype=torch.bool)
    if a.is_floating_point() or a.dtype == torch.bool:
        return everywhere
    lowest = torch.iinfo(a.dtype).min
    if op in ("floor_divide", "trunc_divide", "remainder", "fmod"):
        return (b != 0) & ~((a == lowest) & (b == -1))
    if op in ("gcd", "lcm"):
        return (a != lowest) & (b != lowest)
    if op == "softsign":  # its integer sum wraps
        return (a > -(2**24)) & (a < 2**24)
    if op in ("bitwise_left_shift", "bitwise_right_shift"):
        return (b >= 0) & (b < torch.iinfo(a.dtype).bits)
    return everywhere


def result_row(op, sets, results, mask):
    tokens = iter(tensor_bits(results))
    return ["result", op, ",".join(sets), NAMES[results.dtype], " ".join(next(tokens) if m else "x" for m in mask.tolist())]


OF_THE_DTYPE = ["nan_to_num", "nan_to_num_posinf", "nan_to_num_infinities"]  # they need its largest number


def half_result(op, operands, parameters):
    """As on PyTorch's GPUs: in float32, rounded once."""
    result = OPS[op](*[o.float() if o.dtype != torch.bool else o for o in operands], *parameters)
    return result.to(operands[-1].dtype) if result.dtype == torch.float32 else result


def result_of(op, operands, parameters):
    half = operands[-1].dtype in (torch.float16, torch.bfloat16) and op not in OF_THE_DTYPE
    return half_result(op, operands, parameters) if half else OPS[op](*operands, *parameters)


def operation_row(op, sets, parameters=()):
    count = len(sets)
    values = [value_set(s.split("/")[0], count) for s in sets]
    grids = torch.meshgrid(*[torch.arange(len(v)) for v in values], indexing="ij")
    operands = [v[g.reshape(-1)] for v, g in zip(values, grids)]
    mask = defined(op, operands)
    try:
        results = result_of(op, [o[mask].contiguous() for o in operands], parameters)
    except (RuntimeError, TypeError):
        return None
    return result_row(op, sets + [str(p) for p in parameters], results, mask)


def cast_row(source, target):
    values = value_set(source, 1)
    mask = torch.ones_like(values, dtype=torch.bool)
    if values.is_floating_point() and "int" in target:
        about = torch.iinfo(DTYPES[target])
        wide = values.double()
        mask = wide.isfinite() & (wide >= float(about.min) if target == "int64" else wide > about.min - 1.0) & (wide < about.max + 1.0)
    return result_row("cast", [f"{source}/1"], values[mask].to(DTYPES[target]), mask)


NO_HALF = ["nextafter"]  # the next number in float32 is not the next 16-bit one


def special_value_rows():
    rows = [["values", f"{d}/{n}", d, " ".join(tensor_bits(value_set(d, n)))] for d in DTYPES for n in (1, 2, 3)]
    for op in OPS:
        if op in ("real", "imag", "complex", "polar"):  # complex numbers have their own tables
            continue
        for dtype in DTYPES:
            if op in NO_HALF and dtype in ("float16", "bfloat16"):
                continue
            n = arity(op)
            sets = [f"bool/{n}" if op == "where" and i == 0 else f"{dtype}/{n}" for i in range(n)]
            for parameters in PARAMETERS[op][1] if op in PARAMETERS else [()]:
                row = operation_row(op, sets, parameters)
                if row:
                    rows.append(row)
    return rows + [cast_row(a, b) for a in DTYPES for b in DTYPES if a != b]


# ---- reductions.tsv, losses.tsv

REDUCTIONS = {
    "sum": torch.sum, "nansum": torch.nansum, "mean": torch.mean, "nanmean": torch.nanmean, "prod": torch.prod, "amax": torch.amax,
    "amin": torch.amin, "argmax": torch.argmax, "argmin": torch.argmin, "all": torch.all, "any": torch.any, "logsumexp": torch.logsumexp,
    "count_nonzero": torch.count_nonzero, "softmax": torch.softmax, "log_softmax": torch.log_softmax,
    "var": torch.var, "std": torch.std, "norm": torch.linalg.vector_norm}
REDUCTION_PARAMETERS = {"var": [0, 1, 2], "std": [0, 1], "norm": [2, 1, INF, -INF, 0, 3]}
ONE_AXIS = ["prod", "argmax", "argmin", "all", "any", "softmax", "log_softmax"]  # accept no list of axes
NO_KEEPDIM = ["count_nonzero", "softmax", "log_softmax"]
OF_ALL_DTYPES = ["sum", "nansum", "prod", "amax", "amin", "all", "any", "count_nonzero"]
NOT_OF_LARGE = ["var", "std", "norm", "prod"]  # depend on how they are computed


def reduction_input(rng, dtype, shape):
    """Values with exact sums, so that their order does not matter."""
    count = math.prod(shape)
    if dtype == "bool":
        values = [rng.random() < 0.6 for _ in range(count)]
    elif "int" in dtype:
        values = [rng.randint(0 if dtype == "uint8" else -5, 5) for _ in range(count)]
    else:
        values = [rng.randint(-16, 16) / 4 for _ in range(count)]
    return torch.tensor(values, dtype=DTYPES[dtype]).reshape(shape)


def reduction_inputs():
    rng = random.Random(6)
    for dtype in DTYPES:
        for shape in [(), (1,), (7,), (0,), (3, 4), (2, 0), (0, 3), (2, 3, 4)]:
            yield f"{dtype}_{'x'.join(map(str, shape)) or 'scalar'}", reduction_input(rng, dtype, shape)
        if "float" in dtype:
            rows = [[NANV, 1.0, 2.0, -3.0], [INF, 1.0, -2.0, 0.5], [-INF] * 4, [INF, -INF, 1.0, 2.0], [-0.0, 0.0, -0.0, 0.0], [NANV] * 4,
                    [2.0, INF, NANV, 1.0], [3.0, 3.0, -1.0, -1.0]]
            yield f"{dtype}_special", torch.tensor(rows, dtype=DTYPES[dtype])
            most = torch.finfo(DTYPES[dtype]).max
            yield f"{dtype}_large", torch.tensor([[most, most, 1.0, 1.0], [most, -2.0, -2.0, 4.0]], dtype=DTYPES[dtype])
        elif dtype != "bool":
            about = torch.iinfo(DTYPES[dtype])
            yield f"{dtype}_large", torch.tensor([[about.max, about.max, 1, 3], [about.min, about.min, 2, 1]], dtype=DTYPES[dtype])


def reduced(op, parameter, x, axes, keep):
    f, half = REDUCTIONS[op], x.dtype in (torch.float16, torch.bfloat16)
    operand = x.float() if half and op not in ("all", "any", "count_nonzero", "argmax", "argmin") else x
    if op in ("all", "any"):
        operand = x.bool()  # uint8 would remain uint8
    arguments, options = [operand] + ([parameter] if op == "norm" else []), {} if op in NO_KEEPDIM else {"keepdim": keep}
    if op in ("var", "std"):
        options["correction"] = parameter
    if op in ("logsumexp", "norm", "var", "std", "amax", "amin") or axes is not None:
        axes = axes if axes is not None else tuple(range(x.dim()))
        options["dim"] = axes[0] if op in ONE_AXIS else axes
    elif op in ("prod", "all", "any", "argmax", "argmin") and axes is None:
        options = {}
    elif op in ("softmax", "log_softmax"):
        raise IndexError("no axis")
    elif axes is None:
        options = {} if op not in ("sum", "mean", "nansum", "nanmean") else {"keepdim": keep, "dim": tuple(range(x.dim()))}
    result = f(*arguments, **options)
    return result.to(x.dtype) if half and result.dtype == torch.float32 else result


def input_row(name, t):
    return ["input", name, NAMES[t.dtype], ",".join(map(str, t.shape)), " ".join(tensor_bits(t))]


def reduction_rows():
    rows, keep = [], False
    for name, x in reduction_inputs():
        rows.append(input_row(name, x))
        lists = [None] + [(a,) for a in range(x.dim())] + ([(0, 2), (1, 2)] if x.dim() == 3 else []) + ([(0,)] if x.dim() == 0 else [])
        for op in REDUCTIONS:
            for parameter in REDUCTION_PARAMETERS.get(op, [0]):
                if name.endswith("large") and (op in NOT_OF_LARGE or op == "mean" and "float" not in name):
                    continue
                if x.numel() == 0 and "float" not in name and op not in OF_ALL_DTYPES:
                    continue  # rejected if there are elements
                for axes in lists:
                    if axes is not None and len(axes) > 1 and op in ONE_AXIS:
                        continue
                    keep = not keep and op not in NO_KEEPDIM and not (axes is None and op in ("prod", "all", "any", "argmax", "argmin"))
                    try:
                        t = reduced(op, parameter, x, axes, keep)
                    except (RuntimeError, IndexError) as e:
                        if isinstance(e, IndexError) or x.numel() == 0:
                            continue  # no elements, or no axis
                        rows.append(["result", op, str(parameter), name, "all", "0", "raises", "", ""])
                        break
                    rows.append(["result", op, str(parameter), name, "all" if axes is None else ",".join(map(str, axes)), str(int(keep)),
                                 NAMES[t.dtype], ",".join(map(str, t.shape)), " ".join(tensor_bits(t))])
    return rows


def loss_calls():
    """Names, new inputs, and results."""
    rng = torch.Generator().manual_seed(3)
    x, y = torch.randn(4, 5, generator=rng), torch.randn(4, 5, generator=rng)
    p, z = torch.rand(4, 5, generator=rng), (torch.rand(4, 5, generator=rng) > 0.5).float()
    cube, image = torch.randn(2, 3, 4, generator=rng), torch.randn(2, 6, 2, 2, generator=rng)
    classes, cells = torch.tensor([1, 4, 0, 1]), torch.tensor([[0, 2, 1, 1], [2, 2, 0, 1]])
    w5, w3, w6, b6, b5 = (torch.rand(n, generator=rng) + 0.5 for n in (5, 3, 6, 6, 5))
    shares = torch.softmax(torch.randn(4, 5, generator=rng), 1)
    p[0, 0], p[0, 1] = 0, 1
    inputs = {"x": x, "y": y, "p": p, "z": z, "cube": cube, "image": image, "classes": classes, "cells": cells, "w5": w5, "w3": w3, "w6": w6,
              "b6": b6, "b5": b5, "shares": shares}
    calls = {}
    for kind in ("none", "mean", "sum"):
        r = {"reduction": kind}
        calls |= {f"mse_loss {kind}": F.mse_loss(x, y, **r), f"l1_loss {kind}": F.l1_loss(x, y, **r),
                  f"huber_loss {kind}": F.huber_loss(x, y, delta=0.7, **r), f"smooth_l1_loss {kind}": F.smooth_l1_loss(x, y, beta=0.7, **r),
                  f"binary_cross_entropy {kind}": F.binary_cross_entropy(p, z, **r),
                  f"binary_cross_entropy weight {kind}": F.binary_cross_entropy(p, z, weight=w5, **r),
                  f"binary_cross_entropy_with_logits {kind}": F.binary_cross_entropy_with_logits(x, z, **r),
                  f"binary_cross_entropy_with_logits weights {kind}":
                      F.binary_cross_entropy_with_logits(x, z, weight=w5, pos_weight=b5, **r),
                  f"nll_loss {kind}": F.nll_loss(x, classes, **r), f"nll_loss weight {kind}": F.nll_loss(x, classes, weight=w5, **r),
                  f"nll_loss cells {kind}": F.nll_loss(cube, cells, weight=w3, ignore_index=2, **r),
                  f"cross_entropy {kind}": F.cross_entropy(x, classes, **r),
                  f"cross_entropy weight {kind}": F.cross_entropy(x, classes, weight=w5, **r),
                  f"cross_entropy ignore {kind}": F.cross_entropy(x, classes, ignore_index=1, **r),
                  f"cross_entropy smoothing {kind}": F.cross_entropy(x, classes, label_smoothing=0.2, ignore_index=4, **r),
                  f"cross_entropy weight smoothing {kind}": F.cross_entropy(x, classes, weight=w5, label_smoothing=0.2, ignore_index=0, **r),
                  f"cross_entropy cells {kind}": F.cross_entropy(cube, cells, weight=w3, **r),
                  f"cross_entropy one {kind}": F.cross_entropy(x[0], classes[0], **r),
                  f"cross_entropy shares {kind}": F.cross_entropy(x, shares, **r),
                  f"cross_entropy shares weight smoothing {kind}": F.cross_entropy(x, shares, weight=w5, label_smoothing=0.1, **r)}
    calls |= {"layer_norm": F.layer_norm(x, (5,)), "layer_norm weight": F.layer_norm(x, (5,), w5), "layer_norm bias": F.layer_norm(x, (5,), w5, b5),
              "layer_norm two axes": F.layer_norm(cube, (3, 4), eps=0.1), "rms_norm": x * torch.rsqrt(x.square().mean(-1, True) + 1e-6),
              "rms_norm weight": x * torch.rsqrt(x.square().mean(-1, True) + torch.finfo(torch.float32).eps) * w5,
              "group_norm": F.group_norm(image, 3), "group_norm bias": F.group_norm(image, 2, w6, b6), "group_norm rows": F.group_norm(x.t(), 2),
              "normalize": F.normalize(x), "normalize 1": F.normalize(x, p=1.0, dim=0), "normalize 3": F.normalize(x, p=3.0, dim=-1),
              "cosine_similarity": F.cosine_similarity(x, y), "cosine_similarity 0": F.cosine_similarity(x, y[0], dim=1),
              "softmin": F.softmin(x, 1)}
    return inputs, calls


def loss_rows():
    inputs, calls = loss_calls()
    return [input_row(name, t) for name, t in inputs.items()] + \
           [["result", name, NAMES[t.dtype], ",".join(map(str, t.shape)), " ".join(tensor_bits(t))] for name, t in calls.items()]
# ---- order.tsv


def order_inputs(dtype):
    rng = random.Random(f"order {dtype}")
    if dtype in NAN:
        line = [2.5, -0.0, 0.0, -1.0, INF, 3.0, 3.0, -INF, 1.5, -2.0, 0.5, -0.0, 1e-3]
        yield line, (13,)
        yield [1.0, NANV, -3.0, 2.0, NANV, INF, 0.0], (7,)
        yield [NANV] * 3, (3,)
        yield [-0.0, -0.0, 0.0, -0.0], (4,)
        yield [INF, -INF, 1.0, -INF], (4,)
        yield [-INF, -INF, -INF, -1.0], (4,)
        yield [NANV if rng.random() < 0.1 else rng.randint(-8, 8) / 4 for _ in range(24)], (2, 3, 4)
    elif dtype == "bool":
        yield [True, False, True, True, False, False], (6,)
        yield [rng.random() < 0.5 for _ in range(24)], (2, 3, 4)
    else:
        about = torch.iinfo(DTYPES[dtype])
        yield [about.max, about.min, 0, 1, about.max, about.min, 3, 3], (8,)
        yield [rng.randint(0 if dtype == "uint8" else -9, 9) for _ in range(24)], (2, 3, 4)
    yield [1], ()
    yield [1], (1, 1)
    yield [], (0,)
    yield [], (2, 0, 3)


def order_row(call, dtype, values, shape, axis, k, function):
    x = torch.tensor(values, dtype=DTYPES[dtype]).reshape(shape)
    try:
        result = function(x)
    except (RuntimeError, IndexError):
        if dtype != "float16":
            return None
        try:
            result = function(x.float())
        except (RuntimeError, IndexError):
            return None
    found, indices = (result, None) if torch.is_tensor(result) else (result[0], result[1])
    if found.dtype == torch.float32:
        found = found.to(x.dtype)
    places = "-"
    if indices is not None:
        open_ones = torch.zeros_like(indices, dtype=torch.bool)
        if call in ("topk", "kthvalue", "median", "nanmedian") and x.dim() > 0 and x.numel() > 0:
            along = found.reshape(indices.shape) if call == "topk" else found.unsqueeze(axis)
            equal = (x.movedim(axis, -1).unsqueeze(-2) == along.movedim(axis, -1).unsqueeze(-1)).sum(-1).movedim(-1, axis)
            nan = along != along
            open_ones = (equal > 1) | (nan & (call != "median"))
            open_ones = open_ones if call == "topk" else open_ones.squeeze(axis)
        places = " ".join("x" if o else str(i) for o, i in zip(open_ones.reshape(-1).tolist(), indices.reshape(-1).tolist()))
    return [call, dtype, ",".join(map(str, shape)), str(axis), str(k), " ".join(tensor_bits(x)), ",".join(map(str, found.shape)), NAMES[found.dtype],
            " ".join(tensor_bits(found)), places]


def order_rows():
    rows = []
    for dtype in DTYPES:
        for values, shape in order_inputs(dtype):
            add = lambda *case: rows.append(order_row(case[0], dtype, values, shape, *case[1:]))
            for axis in range(max(len(shape), 1)):
                n = shape[axis] if shape else 1
                for d in (0, 1):
                    add("sort", axis, d, lambda x: torch.sort(x, dim=axis, descending=bool(d), stable=True))
                for k in sorted({0, 1, 2, n - 1, n} & set(range(n + 1)) - ({0} if not shape else set())):
                    add("topk", axis, k, lambda x: torch.topk(x, k, axis))
                    add("topk_smallest", axis, k, lambda x: torch.topk(x, k, axis, largest=False).values)
                for k in {1, n // 2, n} & set(range(1, n + 1)):
                    add("kthvalue", axis, k, lambda x: torch.kthvalue(x, k, axis))
                add("median", axis, "-", lambda x: torch.median(x, axis))
                add("nanmedian", axis, "-", lambda x: torch.nanmedian(x, axis))
                for call in ("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"):
                    add(call, axis, "-", lambda x: getattr(torch, call)(x, axis))
            if values or dtype in NAN:
                add("median", "-", "-", torch.median)
                add("nanmedian", "-", "-", torch.nanmedian)
    return [row for row in rows if row]


# ---- npy/


def npy_arrays():
    floats = np.array([1.5, -0.0, np.nan, np.inf, -2.25, 1e-30], dtype="<f4")
    yield "f4", floats
    yield "f8_matrix", np.arange(6, dtype="<f8").reshape(2, 3) / 3
    yield "i4_cube", np.arange(24, dtype="<i4").reshape(2, 3, 4) - 12
    yield "i8", np.array([0, -1, 2**63 - 1, -(2**63)], dtype="<i8")
    yield "u1", np.array([0, 1, 128, 255], dtype="u1")
    for size in (2, 4, 8):
        yield f"u{size}", np.array([0, 1, 128, 2 ** (8 * size) - 1], dtype=f"<u{size}")
    yield "i1", np.array([[0, -1], [127, -128]], dtype="i1")
    yield "i2", np.array([0, -1, 2**15 - 1, -(2**15)], dtype="<i2")
    yield "f2", np.array([1.5, -0.0, np.nan, -np.inf, 65504, 2.0**-24], dtype="<f2")
    yield "big_f2", np.array([1.5, -2.25, 1e-3], dtype=">f2")
    yield "big_i2", np.array([1, -2, 300], dtype=">i2")
    yield "b1", np.array([[True, False, True], [False, False, True]])
    yield "scalar", np.array(3.25, dtype="<f8")
    yield "empty", np.zeros((0,), dtype="<f4")
    yield "empty_matrix", np.zeros((3, 0, 2), dtype="<i8")
    yield "fortran", np.asfortranarray(np.arange(6, dtype="<f4").reshape(2, 3))
    yield "fortran_cube", np.asfortranarray(np.arange(24, dtype="<i8").reshape(2, 3, 4))
    yield "big_f4", floats.astype(">f4")
    yield "big_f8", (np.arange(4, dtype="<f8") / 7).astype(">f8")
    yield "big_i4", np.array([1, -2, 2**31 - 1], dtype=">i4")
    yield "big_i8_fortran", np.asfortranarray(np.arange(6, dtype=">i8").reshape(3, 2))
    yield "eight_axes", np.arange(16, dtype="<i4").reshape(1, 2, 1, 2, 1, 2, 1, 2)
    yield "ones", np.ones((1, 1, 1), dtype="<f4")
    yield "long_extents", np.zeros((0, 12345, 67, 8910, 1, 11, 12), dtype="<i4")


def write_npy(folder):
    (folder / "complex").mkdir(parents=True, exist_ok=True)
    rows = []
    for name, array in npy_arrays():
        np.save(folder / f"{name}.npy", array)
        dtype = array.dtype.newbyteorder("=").name
        rows.append([name, dtype, ",".join(map(str, array.shape)), " ".join(bits(v, dtype) for v in array.reshape(-1).tolist())])
    for version, name in (((2, 0), "format2"), ((3, 0), "format3")):
        array = np.arange(5, dtype="<f4")
        with open(folder / f"{name}.npy", "wb") as f:
            np.lib.format.write_array(f, array, version=version)
        rows.append([name, "float32", "5", " ".join(bits(v, "float32") for v in array.tolist())])
    # Their elements are in tests/dsl/complex_files_test.cpp.
    numbers = np.array([[1 + 2j, complex(-0.5, -0.0), complex(np.inf, np.nan)], [0, 1e-30j, -3.25 + 1j]])
    np.save(folder / "complex" / "c8.npy", numbers.astype("<c8"))
    np.save(folder / "complex" / "c16_fortran.npy", np.asfortranarray(numbers))
    np.save(folder / "complex" / "big_c8.npy", numbers.astype(">c8"))
    np.save(folder / "complex" / "big_c16.npy", numbers.astype(">c16"))
    # What Sinter rejects, each with the word that the message must contain.
    refused = [("float128", np.zeros(2, "<f16"), "float128"), ("complex256", np.zeros(2, "<c32"), "complex256"),
               ("text", np.array(["ab"]), "str"), ("record", np.zeros(2, [("x", "<f4"), ("y", "<i4")]), "structured"),
               ("object", np.array([None]), "object"), ("nine_axes", np.zeros((1,) * 9, "<f4"), "8 dimensions")]
    for name, array, word in refused:
        np.save(folder / f"refused_{name}.npy", array)
        rows.append([f"refused_{name}", "-", "-", word])
    write_rows(folder / "files.tsv", "Files by numpy.save: name, dtype, shape, elements row-major; or the word of the refusal.", rows)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "tests" / "data")
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "print.tsv", "dtype, device, shape, options, elements, text.", print_rows())
    write_rows(folder / "promotion.tsv", "Operation, operands, result.", promotion_rows())
    write_rows(folder / "special_values.tsv", "Values and results, as bits.", special_value_rows())
    write_rows(folder / "complex_promotion.tsv", "Operation, operands, result.", complex_promotion_rows())
    write_rows(folder / "complex_print.tsv", "dtype, shape, threshold, sci_mode, parts, text.", complex_print_rows())
    write_rows(folder / "reductions.tsv", "Operands and results of reductions, as bits.", reduction_rows())
    write_rows(folder / "losses.tsv", "Operands and results of losses and layers, as bits.", loss_rows())
    write_rows(folder / "order.tsv", "Sorts and scans.", order_rows())
    write_npy(folder / "npy")


if __name__ == "__main__":
    main()
