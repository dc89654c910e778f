"""A user's program with types: stub_test.py checks it with mypy and runs it."""
from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import numpy as np

import sinter_jit as sn
from sinter_jit import nn


def tensors() -> sn.Tensor:
    x: sn.Tensor = sn.from_numpy(np.ones((2, 3), dtype=np.float32))
    y: sn.Tensor = sn.tensor([[1, 2, 3], [4, 5, 6]], dtype="float32", device=sn.device("cpu"))
    z: sn.Tensor = sn.asarray(x, dtype=sn.float64, copy=True)
    same: sn.Tensor = sn.from_dlpack(x)
    moved: sn.Tensor = z.to("cpu", dtype=np.float32).to(np.dtype("float64")).to(sn.float16).to(bool)
    shape: tuple[int, ...] = moved.shape
    strides: tuple[int, ...] = y.contiguous().clone().strides
    kind: sn.dtype = x.dtype
    place: sn.device = same.device
    facts: tuple[str, int, str, int | None, int, int] = (kind.name, kind.itemsize, place.type, place.index, x.ndim, len(x))
    known: dict[sn.dtype, str] = {sn.bool: "bool", kind: kind.name, sn.dtype("int64"): "int64"}
    if kind == sn.float32 and known[kind] == facts[0] and shape == (2, 3) and strides == (3, 1) and y.is_contiguous():
        return y
    raise AssertionError(facts)


def operations(x: sn.Tensor) -> sn.Expression:
    e: sn.Expression = (x + 2).exp() * x / 3 - sn.where(x > 0, x, 0.0).sum(axis=-1, keepdim=True)
    e = 1 - e ** 2 + np.float32(2) * x // np.int64(3) + -abs(x) % 2 @ x.T.reshape(3, 2) @ x
    bits: sn.Expression = ~(x == 1) & (1 < x) | (x != x) ^ True
    count: sn.Expression = x.to("int64") << 1
    e = sn.clamp(e, min=0) + x.softmax(-1) + x.mean((0, 1)) + x.norm(p=1.5, axis=0) + x.var(correction=0)
    e += x.layer_norm(3, weight=x[0]) + x.amax(1).atan2(0.5)[:, None] + sn.max(x) + bits.any() + count.amax([0, 1])
    return e + sn.complex(x, x).real() + x.where(bits, 0)


def views(x: sn.Tensor) -> sn.Tensor:
    parts: list[sn.Tensor] = [x[0], x[:, ::-1], x[..., None, 1:], x[np.int64(1)], x.T, *x]
    assert all(type(part) is sn.Tensor for part in parts)
    picked: sn.Operand = x[x > 3]
    rows: sn.Operand = x[sn.tensor([1, 0])]
    view: sn.Operand = x.reshape((3, -1)).permute(1, 0).flatten().unsqueeze(0).squeeze().narrow(0, 1, 2).expand(2, 2)
    rows = sn.gather(sn.index_select(rows, 0, sn.tensor([0])), 1, sn.tensor([[2]])).select(0, -1)
    x[0] = x[1] * 2
    x[:, 1:][x[:, 1:] > 10] = np.float32(10)
    x.T[0][...] = 1
    x[[0, 1], 1:] = [[1, 2], [3, 4]]
    x[0, [True, False, True]] = x[1, sn.tensor([0, 1])] + np.ones(2, np.float32)
    x += 1
    x[x > 3] *= 2
    return sn.evaluate(*parts, picked, view, rows + view[0, 0])[0]


def results(x: sn.Tensor, e: sn.Expression) -> float:
    r: sn.Tensor = e.eval()
    one: sn.Tensor = sn.evaluate(e)
    several: tuple[sn.Tensor, ...] = sn.evaluate(e, e.sum(), x)
    a: np.ndarray[Any, Any] = several[1].numpy()
    b: np.ndarray[Any, Any] = np.asarray(one)
    total = float(e.sum()) + int(x[0, 0]) + complex(x[0, 0]).real + float(a.item()) + b.sum() + np.from_dlpack(x).sum() + one.sum().item()
    texts: list[str] = [r.explain(), e.cuda_source(), e.to_dot(), str(e.tolist()), sn.__version__]
    return float(total) if texts and bool((e > 0).any()) else sn.jit_stats()["launches"]


def kernels(x: sn.Tensor) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        sn.export_kernel("exp(x)", args="x: f32[n]", archs=[], out=pathlib.Path(folder), format="header")
    files = sn.export_kernel(x + 2, name="k", args={"x": x}, sizes={"x": ["n", "m"]}, numbers=["s"], archs=[], extra=["json"])
    return sorted(files)


def errors(x: sn.Tensor) -> tuple[int, str]:
    position = -1
    try:
        sn.parse("sofmax(x * s, -1)", x=x, s=2).eval()
    except sn.ParseError as error:
        position = error.position
    try:
        return position, repr(x + sn.tensor([1.0, 2.0]))
    except (sn.ShapeError, sn.IndexError, sn.OutOfMemoryError) as error:
        return position, str(error)


def functions(x: sn.Tensor) -> sn.Tensor:
    made: list[sn.Tensor] = [sn.zeros(2, 3, dtype="int32", device="cpu"), sn.full((2,), 1.5), sn.arange(3), sn.ones_like(x, dtype=np.float64)]
    joined: sn.Operand = sn.cat([x, x + 1], axis=1)
    parts: tuple[sn.Operand, ...] = joined.split([2, 4], 1) + sn.unbind(x) + x.chunk(2, axis=0)
    found: sn.ValuesAndIndices = x.max(1)
    largest: sn.Expression = x.max()
    both: sn.Expression = sn.max(x, x * 2)
    values, indices = x.sort(descending=True)
    low, high = x.aminmax()
    rows: sn.Tensor = x.nonzero()
    columns: tuple[sn.Tensor, ...] = x.nonzero(as_tuple=True)
    middle: sn.Operand = x.median()
    e: sn.Expression = sn.einsum("ij,kj->ik", x, x) + sn.outer(x[0], x[1]).sum() + sn.one_hot(indices, 3).sum(dtype=sn.float32)
    e = e.div(2, rounding_mode="floor") + x.gelu(approximate="tanh").sum() + sn.mse_loss(x, x + 1, reduction="sum") + largest + both.sum()
    drawn: sn.Tensor = sn.rand(3, generator=sn.Generator(5))
    written: sn.Tensor = x.clone().scatter_(1, indices, 1.0).fill_(2).index_put_([indices[:, 0] * 0], 5)
    sn.evaluate(*parts, values, found.values, found.indices, low, high, rows, *columns, middle, drawn, written.masked_fill(written > 1, 0), *made)
    return e.eval()


def networks(x: sn.Tensor) -> float:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 1))

        def forward(self, x: sn.Operand) -> sn.Expression:
            result: sn.Expression = self.layers(x)
            return result

    net = Net().to("float32").train()
    optimizer = sn.optim.AdamW(net.parameters(), lr=1e-2, betas=(0.9, 0.99))
    loss: sn.Tensor = sn.zeros(1)
    for (batch,) in sn.data.DataLoader(sn.data.TensorDataset(x), batch_size=2, shuffle=True):
        loss = optimizer.step(net(batch).square().mean())
    state: dict[str, sn.Tensor] = net.state_dict()
    with tempfile.TemporaryDirectory() as folder:
        sn.save_safetensors(pathlib.Path(folder) / "net.safetensors", state, {"format": "pt"})
        net.load_state_dict(sn.load_safetensors(pathlib.Path(folder) / "net.safetensors"))
    return float(loss)


def devices() -> list[str]:
    sn.synchronize()
    if sn.device_count():
        with sn.Stream(0) as stream:
            event: sn.Event = stream.record()
        event.synchronize()
    used: int = sn.memory_stats()["in_use"]
    assert used >= 0
    return [sn.device_name(i) for i in range(sn.device_count())]


def mistakes(x: sn.Tensor, e: sn.Expression, a: np.ndarray[Any, Any]) -> None:
    """Not run. Each line is an error; mypy reports an ignore comment that is not needed."""
    x.summ()  # type: ignore[attr-defined]
    x.sum(axis="0")  # type: ignore[arg-type]
    x.exp(2)  # type: ignore[call-arg]
    x.unsqueeze((0, 1))  # type: ignore[arg-type]
    x.max("1")  # type: ignore[call-overload]
    x.to(np.ones)  # type: ignore[arg-type]
    x + "1"  # type: ignore[operator]
    x @ 2  # type: ignore[operator]
    x["rows"]  # type: ignore[call-overload]
    x[{0}]  # type: ignore[call-overload]
    e[0] = 1  # type: ignore[index]
    sn.exp([a])  # type: ignore[arg-type]
    sn.zeros(2, dtype=1)  # type: ignore[arg-type]
    sn.mse_loss(x, 1)  # type: ignore[arg-type]
    sn.mse_loss(x, x, reduction="average")  # type: ignore[arg-type]
    x.div(2, "floor")  # type: ignore[misc]
    e.fill_(1)  # type: ignore[attr-defined]
    sn.cat(x, 0)  # type: ignore[arg-type]
    sn.evaluate(e, 2)  # type: ignore[call-overload]
    sn.export_kernel(e, format="so")  # type: ignore[arg-type]
    r: sn.Tensor = x + 1  # type: ignore[assignment]
    r.shape = (1,)  # type: ignore[misc]


def run() -> None:
    x = tensors()
    e = operations(x)
    assert type(x) is sn.Tensor and type(e) is sn.Expression
    results(x, e)
    views(x)
    kernels(x)
    functions(x)
    networks(x)
    errors(x)
    devices()
