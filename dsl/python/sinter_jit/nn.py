"""Networks: modules with tensors as parameters, printed as PyTorch prints them.

    net = nn.Sequential(nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 10))
    net(x)    # an Expression: the operations between two matrix products are one kernel

A class of its own derives from Module and has a method forward. Its attributes that are tensors are parameters, those
that are modules are submodules.
"""
from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any, SupportsIndex, TypeVar

import sinter_jit as sn

from . import Mesh, Operand, Tensor

__all__ = ["Module", "Sequential", "ModuleList", "Linear", "Embedding", "LayerNorm", "RMSNorm", "GroupNorm",
           "Dropout", "Flatten", "Identity", "ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "Softmax", "LogSoftmax",
           "LeakyReLU", "ELU", "Softplus", "MSELoss", "L1Loss", "HuberLoss", "SmoothL1Loss", "BCELoss",
           "BCEWithLogitsLoss", "NLLLoss", "CrossEntropyLoss", "DataParallel"]

M = TypeVar("M", bound="Module")


class Module:
    """Base class of layers and nets."""

    training = True
    _buffers: frozenset[str] = frozenset()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__} has no method forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def register_buffer(self, name: str, tensor: Tensor) -> None:
        """Adds a tensor that moves and is saved with the module, but is not trained."""
        self._buffers = self._buffers | {name}
        setattr(self, name, tensor)

    # Parts.
    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules among the attributes."""
        return ((name, part) for name, part in vars(self).items() if isinstance(part, Module))

    def children(self) -> Iterator[Module]:
        return (module for _, module in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """The module itself and all modules in it."""
        yield prefix, self
        for name, module in self.named_children():
            yield from module.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        return (module for _, module in self.named_modules())

    def _named_tensors(self) -> Iterator[tuple[str, Module, str, Tensor]]:
        for prefix, module in self.named_modules():
            for name, tensor in vars(module).items():
                if isinstance(tensor, Tensor):
                    yield f"{prefix}.{name}" if prefix else name, module, name, tensor

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """The names and tensors of the parameters, each tensor once."""
        seen = set()
        for full_name, module, name, tensor in self._named_tensors():
            if name not in module._buffers and tensor not in seen:
                seen.add(tensor)
                yield full_name, tensor

    def parameters(self) -> list[Tensor]:
        return [tensor for _, tensor in self.named_parameters()]

    def num_parameters(self) -> int:
        """The number of elements of all parameters."""
        return sum(tensor.size for tensor in self.parameters())

    # Modes and places.
    def train(self: M, mode: bool = True) -> M:
        """Sets the mode of all modules in it: Dropout drops only in training."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: M) -> M:
        return self.train(False)

    def to(self: M, target: Any = None, *, dtype: Any = None, device: Any = None) -> M:
        """Moves the parameters and buffers, and converts those of floats. Make optimizers afterwards."""
        moved: dict[Tensor, Tensor] = {}
        places = list(self._named_tensors())
        for _, _, _, tensor in places:
            if tensor not in moved:
                moved[tensor] = _converted(tensor, target, dtype, device)
        for _, module, name, tensor in places:
            setattr(module, name, moved[tensor])
        return self

    # State.
    def state_dict(self) -> dict[str, Tensor]:
        """The parameters and buffers by name. They share the module's memory."""
        return {name: tensor for name, _, _, tensor in self._named_tensors()}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> tuple[list[str], list[str]]:
        """Writes the tensors or arrays of these names into the module's own.

        Returns missing and unexpected names, which are errors if strict. Nothing is written if there is an error. A
        prefix "module." that all names have is ignored.
        """
        own = self.state_dict()
        given = {name: sn.asarray(value) for name, value in state.items()}
        prefixed = [all(name.startswith("module.") for name in names) for names in (own, given)]
        if given and prefixed == [False, True]:
            given = {name[len("module."):]: tensor for name, tensor in given.items()}
        missing, unexpected = [n for n in own if n not in given], [n for n in given if n not in own]
        problems = [f"{what} key(s) in state_dict: " + ", ".join(f'"{name}"' for name in names) + "."
                    for what, names in (("Missing", missing), ("Unexpected", unexpected)) if strict and names]
        problems += [f"size mismatch for {name}: copying a tensor with shape {given[name].shape} from the state dict, "
                     f"the shape in the current module is {tensor.shape}."
                     for name, tensor in own.items() if name in given and given[name].shape != tensor.shape]
        if problems:
            raise sn.Error(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(problems))
        for name in own.keys() & given.keys():
            own[name].copy_(given[name])
        return missing, unexpected

    # Printing.
    def extra_repr(self) -> str:
        """The arguments in the printed form."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self.named_children()]
        text = self.extra_repr()
        body = text if not lines else "\n  " + "\n  ".join([text] * bool(text) + lines) + "\n"
        return f"{type(self).__name__}({body})"


def _converted(tensor: Tensor, target: Any, dtype: Any, device: Any) -> Tensor:
    """Moved; in another dtype only if it is of floats, so that counters stay integers."""
    wanted = tensor.to(target, dtype=dtype, device=device)
    floats = tensor.dtype.name.startswith(("float", "bfloat", "complex"))
    return wanted if floats or wanted.dtype == tensor.dtype else tensor.to(device=wanted.device)


class Sequential(Module):
    """Modules, each called with the previous one's result. Their names are "0", "1", ..., or those of a dict."""

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            named: Iterable[tuple[str, Any]] = modules[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(modules))
        for name, module in named:
            if not isinstance(module, Module):
                raise TypeError(f"{type(self).__name__} is made of modules, as nn.ReLU(), but got {module!r}")
            setattr(self, name, module)

    def forward(self, x: Operand) -> Any:
        for module in self.children():
            x = module(x)
        return x

    def __len__(self) -> int:
        return sum(1 for _ in self.children())

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    def __getitem__(self, index: int) -> Module:
        return list(self.children())[index]


class ModuleList(Sequential):
    """Modules as a list, which the user's forward calls."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__(*modules)

    def append(self, module: Module) -> ModuleList:
        setattr(self, str(len(self)), module)
        return self

    def __repr__(self) -> str:
        """Equal modules in a row are printed once."""
        lines, first = [], 0
        for text, equal in itertools.groupby(map(repr, self)):
            last = first + sum(1 for _ in equal) - 1
            names = f"({first}): " if first == last else f"({first}-{last}): {last - first + 1} x "
            lines.append("  " + names + text.replace("\n", "\n  ") + "\n")
            first = last + 1
        return f"{type(self).__name__}(" + ("\n" + "".join(lines) if lines else "") + ")"

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a ModuleList is not called: call the modules in it")


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
    return (operator.index(extents),) if isinstance(extents, SupportsIndex) else tuple(extents)


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
    """A function as a layer, with the arguments that it was made with. The default values are those of the class."""

    function: Callable[..., Any]
    defaults: Mapping[str, Any] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        names = list(self.defaults)
        if len(args) > len(names) or not set(kwargs) <= set(names[len(args):]):
            raise TypeError(f"{type(self).__name__} takes the arguments {', '.join(names) or 'none'}")
        self.arguments = {**self.defaults, **dict(zip(names, args)), **kwargs}
        missing = [name for name, value in self.arguments.items() if value is ...]
        if missing:
            raise TypeError(f"{type(self).__name__}: the argument '{missing[0]}' is missing")

    def forward(self, *operands: Any) -> Any:
        return type(self).function(*operands, **self.arguments)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())


class ReLU(_Function):
    function = staticmethod(sn.relu)


class GELU(_Function):
    function = staticmethod(sn.gelu)
    defaults = {"approximate": "none"}


class SiLU(_Function):
    function = staticmethod(sn.silu)


class Tanh(_Function):
    function = staticmethod(sn.tanh)


class Sigmoid(_Function):
    function = staticmethod(sn.sigmoid)


class Softmax(_Function):
    function = staticmethod(sn.softmax)
    defaults = {"dim": ...}


class LogSoftmax(_Function):
    function = staticmethod(sn.log_softmax)
    defaults = {"dim": ...}


class LeakyReLU(_Function):
    function = staticmethod(sn.leaky_relu)
    defaults = {"negative_slope": 0.01}


class ELU(_Function):
    function = staticmethod(sn.elu)
    defaults = {"alpha": 1.0}


class Softplus(_Function):
    function = staticmethod(sn.softplus)
    defaults = {"beta": 1.0, "threshold": 20.0}


class _Loss(_Function):
    """Losses print no arguments, as PyTorch's."""

    def extra_repr(self) -> str:
        return ""


class MSELoss(_Loss):
    function = staticmethod(sn.mse_loss)
    defaults = {"reduction": "mean"}


class L1Loss(_Loss):
    function = staticmethod(sn.l1_loss)
    defaults = {"reduction": "mean"}


class HuberLoss(_Loss):
    function = staticmethod(sn.huber_loss)
    defaults = {"reduction": "mean", "delta": 1.0}


class SmoothL1Loss(_Loss):
    function = staticmethod(sn.smooth_l1_loss)
    defaults = {"reduction": "mean", "beta": 1.0}


class BCELoss(_Loss):
    function = staticmethod(sn.binary_cross_entropy)
    defaults = {"weight": None, "reduction": "mean"}


class BCEWithLogitsLoss(_Loss):
    function = staticmethod(sn.binary_cross_entropy_with_logits)
    defaults = {"weight": None, "reduction": "mean", "pos_weight": None}


class NLLLoss(_Loss):
    function = staticmethod(sn.nll_loss)
    defaults = {"weight": None, "ignore_index": -100, "reduction": "mean"}


class CrossEntropyLoss(_Loss):
    function = staticmethod(sn.cross_entropy)
    defaults = {"weight": None, "ignore_index": -100, "reduction": "mean", "label_smoothing": 0.0}


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
