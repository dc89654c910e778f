"""A user's program with types: stub_test.py checks it with mypy and runs it."""
from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import numpy as np

import sinter


def tensors() -> sinter.Tensor:
    x: sinter.Tensor = sinter.from_numpy(np.ones((2, 3), dtype=np.float32))
    y: sinter.Tensor = sinter.tensor([[1, 2, 3], [4, 5, 6]], dtype="float32", device=sinter.device("cpu"))
    z: sinter.Tensor = sinter.asarray(x, dtype=sinter.float64, copy=True)
    same: sinter.Tensor = sinter.from_dlpack(x)
    moved: sinter.Tensor = z.to("cpu", dtype=np.float32).to(np.dtype("float64")).to(sinter.float16).to(bool)
    shape: tuple[int, ...] = moved.shape
    strides: tuple[int, ...] = y.contiguous().clone().strides
    kind: sinter.dtype = x.dtype
    place: sinter.device = same.device
    facts: tuple[str, int, str, int | None, int, int] = (kind.name, kind.itemsize, place.type, place.index, x.ndim, len(x))
    known: dict[sinter.dtype, str] = {sinter.bool: "bool", kind: kind.name, sinter.dtype("int64"): "int64"}
    if kind == sinter.float32 and known[kind] == facts[0] and shape == (2, 3) and strides == (3, 1) and y.is_contiguous():
        return y
    raise AssertionError(facts)


def operations(x: sinter.Tensor) -> sinter.Expression:
    e: sinter.Expression = (x + 2).exp() * x / 3 - sinter.where(x > 0, x, 0.0).sum(axis=-1, keepdim=True)
    e = 1 - e ** 2 + np.float32(2) * x // np.int64(3) + -abs(x) % 2 @ x.T.reshape(3, 2) @ x
    bits: sinter.Expression = ~(x == 1) & (1 < x) | (x != x) ^ True
    count: sinter.Expression = x.to("int64") << 1
    e = sinter.clamp(e, min=0) + x.softmax(-1) + x.mean((0, 1)) + x.norm(p=1.5, axis=0) + x.var(correction=0)
    e += x.layer_norm(3, weight=x[0]) + x.amax(1).atan2(0.5)[:, None] + sinter.max(x) + bits.any() + count.amax([0, 1])
    return e + sinter.complex(x, x).real() + x.where(bits, 0)


def views(x: sinter.Tensor) -> sinter.Tensor:
    parts: list[sinter.Tensor] = [x[0], x[:, ::-1], x[..., None, 1:], x[np.int64(1)], x.T, *x]
    assert all(type(part) is sinter.Tensor for part in parts)
    picked: sinter.Operand = x[x > 3]
    rows: sinter.Operand = x[sinter.tensor([1, 0])]
    view: sinter.Operand = x.reshape((3, -1)).permute(1, 0).flatten().unsqueeze(0).squeeze().narrow(0, 1, 2).expand(2, 2)
    rows = sinter.gather(sinter.index_select(rows, 0, sinter.tensor([0])), 1, sinter.tensor([[2]])).select(0, -1)
    x[0] = x[1] * 2
    x[:, 1:][x[:, 1:] > 10] = np.float32(10)
    x.T[0][...] = 1
    return sinter.evaluate(*parts, picked, view, rows + view[0, 0])[0]


def results(x: sinter.Tensor, e: sinter.Expression) -> float:
    r: sinter.Tensor = e.eval()
    one: sinter.Tensor = sinter.evaluate(e)
    several: tuple[sinter.Tensor, ...] = sinter.evaluate(e, e.sum(), x)
    a: np.ndarray[Any, Any] = several[1].numpy()
    b: np.ndarray[Any, Any] = np.asarray(one)
    total = float(e.sum()) + int(x[0, 0]) + complex(x[0, 0]).real + a.item() + b.sum() + np.from_dlpack(x).sum() + one.sum().item()
    texts: list[str] = [r.explain(), e.cuda_source(), e.to_dot(), str(e.tolist()), sinter.__version__]
    return float(total) if texts and bool((e > 0).any()) else sinter.jit_stats()["launches"]


def kernels(x: sinter.Tensor) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        sinter.export_kernel("exp(x)", args="x: f32[n]", archs=[], out=pathlib.Path(folder), format="header")
    files = sinter.export_kernel(x + 2, name="k", args={"x": x}, sizes={"x": ["n", "m"]}, numbers=["s"], archs=[], extra=["json"])
    return sorted(files)


def errors(x: sinter.Tensor) -> tuple[int, str]:
    position = -1
    try:
        sinter.parse("sofmax(x * s, -1)", x=x, s=2).eval()
    except sinter.ParseError as error:
        position = error.position
    try:
        return position, repr(x + sinter.tensor([1.0, 2.0]))
    except (sinter.ShapeError, sinter.IndexError, sinter.OutOfMemoryError) as error:
        return position, str(error)


def devices() -> list[str]:
    sinter.synchronize()
    return [sinter.device_name(i) for i in range(sinter.device_count())]


def mistakes(x: sinter.Tensor, e: sinter.Expression, a: np.ndarray[Any, Any]) -> None:
    """Not run. Each line is an error; mypy reports an ignore comment that is not needed."""
    x.summ()  # type: ignore[attr-defined]
    x.sum(axis="0")  # type: ignore[arg-type]
    x.exp(2)  # type: ignore[call-arg]
    x.unsqueeze((0, 1))  # type: ignore[arg-type]
    x.max(1)  # type: ignore[arg-type]
    x.to(np.ones)  # type: ignore[arg-type]
    x + "1"  # type: ignore[operator]
    x @ 2  # type: ignore[operator]
    x["rows"]  # type: ignore[call-overload]
    x[x > 0, 0]  # type: ignore[index]
    e[0] = 1  # type: ignore[index]
    sinter.exp(a)  # type: ignore[arg-type]
    sinter.evaluate(e, 2)  # type: ignore[call-overload]
    sinter.export_kernel(e, format="so")  # type: ignore[arg-type]
    r: sinter.Tensor = x + 1  # type: ignore[assignment]
    r.shape = (1,)  # type: ignore[misc]


def run() -> None:
    x = tensors()
    e = operations(x)
    assert type(x) is sinter.Tensor and type(e) is sinter.Expression
    results(x, e)
    views(x)
    kernels(x)
    errors(x)
    devices()
