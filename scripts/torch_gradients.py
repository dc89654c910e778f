#!/usr/bin/env python3
"""Makes tests/data/gradients.tsv from PyTorch: the derivatives with which tests compare Sinter's.

    scripts/torch_gradients.py [folder, tests/data by default]

All numbers are float64, or complex128 as pairs of parts, as bits in hex.

values, NAME, bits...               the elements of a set
slope, operation, parameters, set of each operand, operand, order, bits...
                                    the derivative with respect to an operand, at all combinations of the sets' elements, the last one
                                    changing fastest; of order 2: that of its sum by the same operand
reduction, operation, parameter, axes, keepdim, shape, elements, bits...
                                    the gradient of sum(w * op(elements)), where w is 1, -2, 3, -4, ...
optimizer, class, options, bits...  two parameters (of 2 and 3 elements, one after the other) after each of five steps
                                    along the loss sum((p - target)^4), p = 1, -2, 0.5 | 3, -1, target = 0.1 k
"""
import math
import pathlib
import sys

import torch

from torch_tables import OPS, PARAMETERS, arity, float_set, tensor_bits, write_rows

INF, NAN = math.inf, math.nan
SETS = {
    "unary": float_set("float64", 1),
    "binary": [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 2.0, -0.7, 1e-20, INF, -INF, NAN],
    "ternary": [0.0, 1.0, -1.5, 2.0, INF, NAN],
}
COMPLEX = [complex(a, b) for a in (0.0, 0.6, -1.3, 2.0) for b in (0.0, 0.8, -0.4)]
# PyTorch gives no gradient, or Sinter has none.
SKIPPED = {"nextafter", "digamma", "i0", "isclose", "heaviside", "floor_divide", "gcd", "lcm", "real", "imag", "complex", "polar"}
COMPLEX_OPS = ["add", "sub", "mul", "div", "neg", "abs", "square", "reciprocal", "sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log2", "log10",
               "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sinc", "sigmoid", "silu",
               "pow", "real", "imag", "conj", "angle", "sgn"]


def combinations(values, count):
    grids = torch.meshgrid(*[torch.arange(len(values))] * count, indexing="ij")
    return [values[g.reshape(-1)].clone() for g in grids]


def bits_of(t):
    t = torch.zeros(t.shape, dtype=t.dtype) if t._is_zerotensor() else t.detach().resolve_conj()
    return " ".join(tensor_bits(torch.view_as_real(t).contiguous() if t.is_complex() else t))


def derivative(op, operands, parameters, which, order):
    x = operands[which].requires_grad_()
    value = OPS[op](*operands, *parameters)
    if not value.requires_grad:
        return None
    seed = torch.ones_like(value)
    (slope,) = torch.autograd.grad(value, x, seed, create_graph=order == 2)
    if order == 1:
        return slope
    if not slope.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(slope.sum(), x, allow_unused=True)[0]


def slope_row(op, parameters, name, values, which, order):
    count = arity(op)
    operands = combinations(values, count)
    if op == "where":
        operands[0] = operands[0] > 0
        if which == 0:
            return None
    try:
        slope = derivative(op, operands, parameters, which, order)
    except (RuntimeError, NotImplementedError):
        return None
    if slope is None:
        return None
    return ["slope", op, ",".join(map(str, parameters)) or "-", name, str(which), str(order), bits_of(slope)]


def slope_rows():
    for op in OPS:
        if op in SKIPPED:
            continue
        name = "unary" if arity(op) == 1 else "binary" if arity(op) == 2 else "ternary"
        for parameters in PARAMETERS[op][1] if op in PARAMETERS else [()]:
            for which in range(arity(op)):
                for order in (1, 2):
                    yield slope_row(op, parameters, name, torch.tensor(SETS[name], dtype=torch.float64), which, order)
    for op in COMPLEX_OPS:
        for which in range(arity(op)):
            yield slope_row(op, (), "complex", torch.tensor(COMPLEX, dtype=torch.complex128), which, 1)


ELEMENTS = {
    "plain": [0.3, -1.2, 2.5, 0.7, 1.9, -0.4, 0.0, 3.1, -2.2, 1.1, 0.9, -0.6],
    "ties": [1.0, 2.0, 2.0, -1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 0.0, 3.0, 3.0],
    "zeros": [0.0, 2.0, 3.0, 1.5, 0.0, 0.0, -1.0, 2.0, 4.0, 0.0, 1.0, 2.0],
    "special": [INF, 1.0, 2.0, -INF, 0.5, NAN, 0.0, -INF, -INF, 1.0, INF, INF],
}
REDUCTIONS = {
    "sum": torch.sum, "nansum": torch.nansum, "mean": torch.mean, "nanmean": torch.nanmean, "prod": torch.prod, "amax": torch.amax,
    "amin": torch.amin, "logsumexp": torch.logsumexp, "softmax": torch.softmax, "log_softmax": torch.log_softmax, "var": torch.var,
    "std": torch.std}
ROWS = [("var", 0), ("var", 1), ("std", 0), ("std", 1)]
ONE_AXIS = ["prod", "softmax", "log_softmax"]


def reduction_row(op, parameter, axes, keep, elements):
    x = torch.tensor(ELEMENTS[elements], dtype=torch.float64).reshape(2, 2, 3).requires_grad_()
    options = {} if op in ("softmax", "log_softmax") else {"keepdim": keep}
    if op in ("var", "std"):
        options["correction"] = parameter
    value = REDUCTIONS[op](x, axes[0] if op in ONE_AXIS else axes, **options)
    w = torch.arange(1, value.numel() + 1, dtype=torch.float64)
    w = torch.where(w % 2 == 0, -w, w).reshape(value.shape)
    (value * w).sum().backward()
    text = [op, "-" if parameter is None else str(parameter), ",".join(map(str, axes)), str(int(keep))]
    return ["reduction", *text, elements, bits_of(x.grad)]


def reduction_rows():
    for op in REDUCTIONS:
        for parameter in (0, 1) if op in ("var", "std") else (None,):
            for axes in ([0], [1], [2]) if op in ONE_AXIS else ([0], [2], [0, 2], [0, 1, 2]):
                for keep in (False, True):
                    for elements in ELEMENTS:
                        yield reduction_row(op, parameter, axes, keep, elements)


OPTIMIZERS = [
    ("SGD", {"lr": 0.01}), ("SGD", {"lr": 0.01, "momentum": 0.9}), ("SGD", {"lr": 0.01, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), ("SGD", {"lr": 0.01, "weight_decay": 0.2}),
    ("Adam", {"lr": 0.1}), ("Adam", {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.01}), ("AdamW", {"lr": 0.1, "betas": (0.7, 0.9), "weight_decay": 0.3}),
    ("RMSprop", {"lr": 0.05}), ("RMSprop", {"lr": 0.05, "alpha": 0.8, "weight_decay": 0.1, "momentum": 0.5}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "max_norm": 1.5}), ("AdamW", {"lr": 0.1, "weight_decay": 0.01, "max_norm": 0.3}),
]


def optimizer_row(kind, options):
    a = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([0.5, 3.0, -1.0], dtype=torch.float64, requires_grad=True)
    target = [torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([0.3, 0.4, 0.5], dtype=torch.float64)]
    known = {name: value for name, value in options.items() if name != "max_norm"}
    optimizer, found = getattr(torch.optim, kind)([a, b], **known), []
    for _ in range(5):
        optimizer.zero_grad()
        (((a - target[0]) ** 4).sum() + ((b - target[1]) ** 4).sum()).backward()
        if "max_norm" in options:
            torch.nn.utils.clip_grad_norm_([a, b], options["max_norm"])
        optimizer.step()
        found += [bits_of(a.detach()), bits_of(b.detach())]
    flat = {n: v for name, value in options.items() for n, v in (zip(("beta1", "beta2"), value) if name == "betas" else [(name, value)])}
    return ["optimizer", kind, ",".join(f"{name}={float(value)!r}" for name, value in flat.items()), " ".join(found)]


def value_rows():
    for name, values in SETS.items():
        yield ["values", name, bits_of(torch.tensor(values, dtype=torch.float64))]
    yield ["values", "complex", bits_of(torch.tensor(COMPLEX, dtype=torch.complex128))]
    for name, values in ELEMENTS.items():
        yield ["values", name, bits_of(torch.tensor(values, dtype=torch.float64))]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "tests" / "data")
    rows = [*value_rows(), *(row for row in slope_rows() if row), *reduction_rows(),
            *(optimizer_row(*o) for o in OPTIMIZERS)]
    write_rows(folder / "gradients.tsv", "Derivatives, as bits.", rows)


if __name__ == "__main__":
    main()
