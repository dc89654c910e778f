"""Kernels that a Triton user would write by hand: a program per row, held in a block of registers."""

import triton
import triton.language as tl

from .formulas import EPSILON

MOST = 65_536  # maximum columns per program
EPS = tl.constexpr(EPSILON)


@triton.jit
def loaded(x, columns, BLOCK: tl.constexpr, other: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0).to(tl.int64) * columns
    return tl.load(x + row + at, mask=at < columns, other=other).to(tl.float32), at, row


@triton.jit
def softmax(x, y, columns, LOG: tl.constexpr, BLOCK: tl.constexpr):
    values, at, row = loaded(x, columns, BLOCK, -float("inf"))
    below = values - tl.max(values, 0)
    total = tl.sum(tl.exp(below), 0)
    result = below - tl.log(total) if LOG else tl.exp(below) / total
    tl.store(y + row + at, result.to(y.dtype.element_ty), mask=at < columns)


@triton.jit
def rms_norm(x, gain, y, columns, BLOCK: tl.constexpr):
    values, at, row = loaded(x, columns, BLOCK, 0.0)
    by = 1 / tl.sqrt(tl.sum(values * values, 0) / columns + EPS)
    scale = tl.load(gain + at, mask=at < columns, other=0.0).to(tl.float32)
    tl.store(y + row + at, (values * by * scale).to(y.dtype.element_ty), mask=at < columns)


@triton.jit
def layer_norm(x, gain, shift, y, columns, BLOCK: tl.constexpr):
    values, at, row = loaded(x, columns, BLOCK, 0.0)
    centred = tl.where(at < columns, values - tl.sum(values, 0) / columns, 0.0)
    by = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + EPS)
    scale = tl.load(gain + at, mask=at < columns, other=0.0).to(tl.float32)
    offset = tl.load(shift + at, mask=at < columns, other=0.0).to(tl.float32)
    tl.store(y + row + at, (centred * by * scale + offset).to(y.dtype.element_ty), mask=at < columns)


@triton.jit
def logsumexp(x, y, columns, BLOCK: tl.constexpr):
    values, at, row = loaded(x, columns, BLOCK, -float("inf"))
    most = tl.max(values, 0)
    tl.store(y + tl.program_id(0), (tl.log(tl.sum(tl.exp(values - most), 0)) + most).to(y.dtype.element_ty))


@triton.jit
def sum_rows(x, y, columns, BLOCK: tl.constexpr):
    values, at, row = loaded(x, columns, BLOCK, 0.0)
    tl.store(y + tl.program_id(0), tl.sum(values, 0).to(y.dtype.element_ty))


def block(columns):
    """{number of elements for the compiler, warps}; raises if a row is too long for one program."""
    if columns > MOST:
        raise RuntimeError(f"a row of {columns} is too long for one program")
    size = triton.next_power_of_2(columns)
    return {"BLOCK": size, "num_warps": min(32, max(4, size // 512))}
