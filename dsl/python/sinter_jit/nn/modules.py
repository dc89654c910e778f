"""The base class of networks' modules, and modules of modules."""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, overload

import sinter_jit as sn

from .. import Operand, Tensor
from .. import _core  # type: ignore[attr-defined]

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
        given = {name: _entry(name, value) for name, value in state.items()}
        prefixed = [all(name.startswith("module.") for name in names) for names in (own, given)]
        if given and prefixed == [False, True]:
            given = {name[len("module."):]: tensor for name, tensor in given.items()}
        missing, unexpected = [n for n in own if n not in given], [n for n in given if n not in own]
        problems = [f"{what} key(s) in state_dict: " + ", ".join(f'"{name}"' for name in names) + "."
                    for what, names in (("Missing", missing), ("Unexpected", unexpected)) if strict and names]
        problems += [f"size mismatch for {name}: copying a tensor with shape {given[name].shape} from the state dict, "
                     f"the shape in the current module is {tensor.shape}."
                     for name, tensor in own.items() if name in given and given[name].shape != tensor.shape]
        problems += [f"dtype mismatch for {name}: {given[name].dtype.name} in the state dict does not fit the current "
                     f"module's {tensor.dtype.name}."
                     for name, tensor in own.items() if name in given and not _fits(given[name], tensor)]
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


def _entry(name: Any, value: Any) -> Tensor:
    """A tensor of a state dict."""
    if not isinstance(name, str):
        raise TypeError(f"load_state_dict: the names of a state are strs, but got {_core._describe(name)}")
    try:
        return sn.asarray(value)
    except TypeError as error:
        raise TypeError(f"load_state_dict: {name!r}: {error}") from error


def _fits(given: Tensor, own: Tensor) -> bool:
    return own.dtype.name.startswith("complex") or not given.dtype.name.startswith("complex")


def _converted(tensor: Tensor, target: Any, dtype: Any, device: Any) -> Tensor:
    """Moved; in another dtype only if it is of floats, so that counters stay integers."""
    wanted = tensor.to(target, dtype=dtype, device=device)
    floats = tensor.dtype.name.startswith(("float", "bfloat", "complex"))
    return wanted if floats or wanted.dtype == tensor.dtype else tensor.to(device=wanted.device)


class Sequential(Module):
    """Modules, each called with the previous one's result. Their names are "0", "1", ..., or those of a dict."""

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            self._adopt(modules[0].items())
        else:
            self._adopt(_numbered(modules))

    def _adopt(self, named: Iterable[tuple[Any, Any]]) -> None:
        kind = type(self).__name__
        for name, module in named:
            if not isinstance(name, str):
                raise TypeError(f"{kind}: the names of modules are strs, but got {_core._describe(name)}")
            if not isinstance(module, Module):
                raise TypeError(f"{kind}: the module {name!r} must be one such as nn.ReLU(), but got "
                                f"{_core._describe(module)}")
            setattr(self, name, module)

    def forward(self, x: Operand) -> Any:
        for module in self.children():
            x = module(x)
        return x

    def __len__(self) -> int:
        return sum(1 for _ in self.children())

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...

    def __getitem__(self, index: Any) -> Any:
        """A module, or for a slice some of them, by their names."""
        named = list(self.named_children())
        if isinstance(index, slice):
            return self._of(named[index])
        try:
            return named[index][1]
        except IndexError:
            count = f"{len(named)} module{'s' * (len(named) != 1)}"
            raise sn.IndexError(f"{type(self).__name__}: the index {index} is out of range for {count}") from None

    def _of(self, named: list[tuple[str, Module]]) -> Sequential:
        return Sequential(dict(named))


def _numbered(modules: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((str(i), module) for i, module in enumerate(modules))


class ModuleList(Sequential):
    """Modules as a list, which the user's forward calls."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self._adopt(_numbered(modules))

    def _of(self, named: list[tuple[str, Module]]) -> ModuleList:
        return ModuleList(module for _, module in named)

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
