"""Operations of scripts/sass as Triton programs, written as in Triton's tutorials: a block of elements, or a row, each."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def chain(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n).to(tl.float32)
    b = tl.load(y + i, mask=i < n).to(tl.float32)
    tl.store(out + i, tl.exp(a + 2) * b, mask=i < n)


@triton.jit
def axpy(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n).to(tl.float32)
    b = tl.load(y + i, mask=i < n).to(tl.float32)
    tl.store(out + i, 2.5 * a + b, mask=i < n)


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(out + i, 0.5 * a * (1 + tl.erf(a * 0.7071067811865476)), mask=i < n)


@triton.jit
def gelu_tanh(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.store(out + i, 0.5 * a * (1 + libdevice.tanh(0.7978845608028654 * (a + 0.044715 * a * a * a))), mask=i < n)


@triton.jit
def dropout(x, out, n, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(tl.rand(seed, i) >= 0.1, a / 0.9, 0.0), mask=i < n)


@triton.jit
def row(x, b, out, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0) * columns
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + first + c, mask=c < columns).to(tl.float32)
    tl.store(out + first + c, a + tl.load(b + c, mask=c < columns).to(tl.float32), mask=c < columns)


@triton.jit
def transposed(x, y, out, rows, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = (r < rows) & (c < columns)
    a = tl.load(x + r * columns + c, mask=inside)
    b = tl.load(y + c * rows + r, mask=inside)
    tl.store(out + r * columns + c, a + b, mask=inside)


@triton.jit
def embedding(weight, ids, out, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    id = tl.load(ids + r)
    tl.store(out + r * columns + c, tl.load(weight + id * columns + c, mask=c < columns), mask=c < columns)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * columns
    c = tl.arange(0, BLOCK)
    a = tl.load(x + first + c, mask=c < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(a - tl.max(a, axis=0))
    tl.store(out + first + c, e / tl.sum(e, axis=0), mask=c < columns)


@triton.jit
def log_softmax(x, out, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * columns
    c = tl.arange(0, BLOCK)
    a = tl.load(x + first + c, mask=c < columns, other=-float("inf")).to(tl.float32)
    a -= tl.max(a, axis=0)
    tl.store(out + first + c, a - tl.log(tl.sum(tl.exp(a), axis=0)), mask=c < columns)


@triton.jit
def logsumexp(x, out, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    a = tl.load(x + r * columns + c, mask=c < columns, other=-float("inf")).to(tl.float32)
    most = tl.max(a, axis=0)
    tl.store(out + r, most + tl.log(tl.sum(tl.exp(a - most), axis=0)))


@triton.jit
def layer_norm(x, out, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * columns
    c = tl.arange(0, BLOCK)
    a = tl.load(x + first + c, mask=c < columns, other=0).to(tl.float32)
    centered = tl.where(c < columns, a - tl.sum(a, axis=0) / columns, 0)
    scale = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / columns + 1e-5)
    tl.store(out + first + c, centered * scale, mask=c < columns)


@triton.jit
def layer_norm_affine(x, w, b, out, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * columns
    c = tl.arange(0, BLOCK)
    a = tl.load(x + first + c, mask=c < columns, other=0).to(tl.float32)
    centered = tl.where(c < columns, a - tl.sum(a, axis=0) / columns, 0)
    scale = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / columns + 1e-5)
    gain, shift = tl.load(w + c, mask=c < columns).to(tl.float32), tl.load(b + c, mask=c < columns).to(tl.float32)
    tl.store(out + first + c, centered * scale * gain + shift, mask=c < columns)


@triton.jit
def rms_norm(x, out, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * columns
    c = tl.arange(0, BLOCK)
    a = tl.load(x + first + c, mask=c < columns, other=0).to(tl.float32)
    tl.store(out + first + c, a / tl.sqrt(tl.sum(a * a, axis=0) / columns + 1e-5), mask=c < columns)


@triton.jit
def row_sum(x, out, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    tl.store(out + r, tl.sum(tl.load(x + r * columns + c, mask=c < columns, other=0).to(tl.float32), axis=0))


@triton.jit
def amax(x, out, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    tl.store(out + r, tl.max(tl.load(x + r * columns + c, mask=c < columns, other=-float("inf")), axis=0))


@triton.jit
def argmax(x, out, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    a = tl.load(x + r * columns + c, mask=c < columns, other=-float("inf")).to(tl.float32)
    tl.store(out + r, tl.argmax(a, axis=0).to(tl.int64))


@triton.jit
def columns_sum(x, out, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """A part of the rows, whose sums another kernel adds."""
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[None, :]
    sums = tl.zeros((ROWS, BLOCK), tl.float32)
    for first in range(tl.program_id(1) * ROWS, rows, tl.num_programs(1) * ROWS):
        r = first + tl.arange(0, ROWS)[:, None]
        sums += tl.load(x + r * columns + c, mask=(r < rows) & (c < columns), other=0).to(tl.float32)
    tl.store(out + tl.program_id(1) * columns + c, tl.sum(sums, axis=0)[None, :], mask=c < columns)


@triton.jit
def cumsum(x, out, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0) * columns
    c = tl.arange(0, BLOCK)
    tl.store(out + first + c, tl.cumsum(tl.load(x + first + c, mask=c < columns), axis=0), mask=c < columns)
