"""Networks: modules with tensors as parameters, printed as PyTorch prints them.

    net = nn.Sequential(nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 10))
    net(x)    # an Expression: the operations between two matrix products are one kernel

A class of its own derives from Module and has a method forward. Its attributes that are tensors are parameters, those
that are modules are submodules.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, Literal

import sinter_jit as sn

from .. import Mesh, Operand, Tensor
from .modules import Module, ModuleList, Sequential

__all__ = ["Module", "Sequential", "ModuleList", "Linear", "Embedding", "LayerNorm", "RMSNorm", "GroupNorm",
           "Dropout", "Flatten", "Identity", "ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "Softmax", "LogSoftmax",
           "LeakyReLU", "ELU", "Softplus", "MSELoss", "L1Loss", "HuberLoss", "SmoothL1Loss", "BCELoss",
           "BCEWithLogitsLoss", "NLLLoss", "CrossEntropyLoss", "DataParallel"]

_Approximation = Literal["none", "tanh"]
_Reduction = Literal["mean", "sum", "none"]


def _uniform(shape: tuple[int, ...], bound: float, dtype: Any, device: Any) -> Tensor:
    return (sn.rand(shape, dtype=dtype, device=device) * (2 * bound) - bound).eval()


class Linear(Module):
    """x times the transposed weight (out, in), plus the bias. Both start uniform in +-1 / sqrt(in)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, dtype: Any = None,
                 device: Any = None) -> None:
        bound = 1 / sqrt(in_features) if in_features > 0 else 0.0
        self.weight = _uniform((out_features, in_features), bound, dtype, device)
        self.bias = _uniform((out_features,), bound, dtype, device) if bias else None

    def forward(self, x: Operand) -> Any:
        return sn.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.weight.shape[1]}, out_features={self.weight.shape[0]}, bias={self.bias is not None}"


class Embedding(Module):
    """The rows of a weight (rows, width) at integer positions. It starts normal; the row padding_idx is 0."""

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, *, dtype: Any = None,
                 device: Any = None) -> None:
        self.weight = sn.randn(num_embeddings, embedding_dim, dtype=dtype, device=device)
        self.padding_idx = padding_idx
        if padding_idx is not None:
            self.weight[padding_idx] = 0

    def forward(self, ids: Operand) -> Any:
        return sn.embedding(self.weight, ids, self.padding_idx)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}{padding}"


def _shape(extents: int | Sequence[int]) -> tuple[int, ...]:
    return (extents,) if isinstance(extents, int) else tuple(extents)


class LayerNorm(Module):
    """The last axes less their mean, divided by their standard deviation, times weight, plus bias."""

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True,
                 bias: bool = True, *, dtype: Any = None, device: Any = None) -> None:
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.weight = sn.ones(self.normalized_shape, dtype=dtype, device=device) if elementwise_affine else None
        self.bias = sn.zeros(self.normalized_shape, dtype=dtype, device=device) if elementwise_affine and bias else None

    def forward(self, x: Operand) -> Any:
        return sn.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.weight is not None}"


class RMSNorm(Module):
    """The last axes divided by their root mean square, times weight."""

    def __init__(self, normalized_shape: int | Sequence[int], eps: float | None = None,
                 elementwise_affine: bool = True, *, dtype: Any = None, device: Any = None) -> None:
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.weight = sn.ones(self.normalized_shape, dtype=dtype, device=device) if elementwise_affine else None

    def forward(self, x: Operand) -> Any:
        return sn.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.weight is not None}"


class GroupNorm(Module):
    """Groups of channels, the second axis, normalized to mean 0 and variance 1, times weight, plus bias."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, *, dtype: Any = None,
                 device: Any = None) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels cannot be divided into {num_groups} groups")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.weight = sn.ones(num_channels, dtype=dtype, device=device) if affine else None
        self.bias = sn.zeros(num_channels, dtype=dtype, device=device) if affine else None

    def forward(self, x: Operand) -> Any:
        return sn.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.weight is not None}"


class Dropout(Module):
    """In training 0 with probability p, else x / (1 - p); after eval() x itself."""

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: the probability is {p}, but must be in [0, 1]")
        self.p = p

    def forward(self, x: Operand) -> Any:
        return sn.dropout(x, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace=False"


class Flatten(Module):
    """Merges the axes from start_dim to end_dim, both included."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, x: Operand) -> Any:
        return x.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Identity(Module):
    """Returns its input."""

    def forward(self, x: Operand) -> Any:
        return x


class _Function(Module):
    """A function as a layer, with the arguments that it was made with, which are attributes; weights are buffers."""

    function: Callable[..., Any]

    def __init__(self) -> None:
        self._keep()

    def _keep(self, **arguments: Any) -> None:
        self._names = tuple(arguments)
        for name, value in arguments.items():
            setattr(self, name, value)

    def _keep_weights(self, **weights: Any) -> None:
        """Tensors, arrays or None."""
        self._buffers = self._buffers | set(weights)
        self._names += tuple(weights)
        for name, value in weights.items():
            setattr(self, name, None if value is None else sn.asarray(value))

    def _arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names}

    def forward(self, *operands: Any, **named: Any) -> Any:
        return type(self).function(*operands, **named, **self._arguments())

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self._arguments().items())


class ReLU(_Function):
    function = staticmethod(sn.relu)


class GELU(_Function):
    function = staticmethod(sn.gelu)

    def __init__(self, approximate: _Approximation = "none") -> None:
        self._keep(approximate=approximate)


class SiLU(_Function):
    function = staticmethod(sn.silu)


class Tanh(_Function):
    function = staticmethod(sn.tanh)


class Sigmoid(_Function):
    function = staticmethod(sn.sigmoid)


class Softmax(_Function):
    function = staticmethod(sn.softmax)

    def __init__(self, dim: int | Sequence[int]) -> None:
        self._keep(dim=dim)


class LogSoftmax(_Function):
    function = staticmethod(sn.log_softmax)

    def __init__(self, dim: int | Sequence[int]) -> None:
        self._keep(dim=dim)


class LeakyReLU(_Function):
    function = staticmethod(sn.leaky_relu)

    def __init__(self, negative_slope: float = 0.01) -> None:
        self._keep(negative_slope=negative_slope)


class ELU(_Function):
    function = staticmethod(sn.elu)

    def __init__(self, alpha: float = 1.0) -> None:
        self._keep(alpha=alpha)


class Softplus(_Function):
    function = staticmethod(sn.softplus)

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self._keep(beta=beta, threshold=threshold)


class _Loss(_Function):
    """Losses print no arguments, as PyTorch's."""

    def extra_repr(self) -> str:
        return ""


class MSELoss(_Loss):
    function = staticmethod(sn.mse_loss)

    def __init__(self, reduction: _Reduction = "mean") -> None:
        self._keep(reduction=reduction)


class L1Loss(_Loss):
    function = staticmethod(sn.l1_loss)

    def __init__(self, reduction: _Reduction = "mean") -> None:
        self._keep(reduction=reduction)


class HuberLoss(_Loss):
    function = staticmethod(sn.huber_loss)

    def __init__(self, reduction: _Reduction = "mean", delta: float = 1.0) -> None:
        self._keep(reduction=reduction, delta=delta)


class SmoothL1Loss(_Loss):
    function = staticmethod(sn.smooth_l1_loss)

    def __init__(self, reduction: _Reduction = "mean", beta: float = 1.0) -> None:
        self._keep(reduction=reduction, beta=beta)


class BCELoss(_Loss):
    function = staticmethod(sn.binary_cross_entropy)

    def __init__(self, weight: Any = None, reduction: _Reduction = "mean") -> None:
        self._keep(reduction=reduction)
        self._keep_weights(weight=weight)


class BCEWithLogitsLoss(_Loss):
    function = staticmethod(sn.binary_cross_entropy_with_logits)

    def __init__(self, weight: Any = None, reduction: _Reduction = "mean", pos_weight: Any = None) -> None:
        self._keep(reduction=reduction)
        self._keep_weights(weight=weight, pos_weight=pos_weight)


class NLLLoss(_Loss):
    function = staticmethod(sn.nll_loss)

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: _Reduction = "mean") -> None:
        self._keep(ignore_index=ignore_index, reduction=reduction)
        self._keep_weights(weight=weight)


class CrossEntropyLoss(_Loss):
    function = staticmethod(sn.cross_entropy)

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: _Reduction = "mean",
                 label_smoothing: float = 0.0) -> None:
        self._keep(ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)
        self._keep_weights(weight=weight)


class DataParallel(Module):
    """A net whose parameters are copied to every device of a mesh, and whose batches are divided among them by rows.

    Results, losses and gradients are computed by all devices at the same time; a loss is one number. The net's own
    parameters are replaced: make optimizers afterwards. sn.unshard(y) brings a result to one device.
    """

    def __init__(self, module: Module, mesh: Mesh | None = None) -> None:
        self.mesh = Mesh() if mesh is None else mesh
        self.module = module
        copies: dict[Tensor, Tensor] = {}
        for _, owner, name, tensor in list(module._named_tensors()):
            if tensor not in copies:
                copies[tensor] = sn.replicate(tensor, self.mesh)
            setattr(owner, name, copies[tensor])

    def shard(self, batch: Operand) -> Tensor:
        """A batch as the net takes it, such as the targets of a loss."""
        return sn.shard(batch, self.mesh)

    def forward(self, *operands: Any) -> Any:
        return self.module(*(self.shard(x) if isinstance(x, Operand) else x for x in operands))
