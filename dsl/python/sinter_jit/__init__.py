"""Tensor expressions, each fused into one kernel.

    import numpy as np, sinter_jit as sn
    z = sn.from_numpy(np.linspace(0, 1, 5, dtype=np.float32))
    e = (z + 2).exp() * z        # an Expression: nothing runs yet
    e.numpy()                    # one kernel

Operations and their rules are those of the C++ library. See docs/python.md.
"""
import builtins as _builtins

from ._core import (CompileError, CudaError, DeviceError, DTypeError, Error, Event, Expression, FormatError, Generator,
                    IndexError, Mesh, Operand, OutOfMemoryError, ParseError, ShapeError, Stream, Tensor, __version__,
                    asarray, checkpoint, clear_cache, cpu_jit, current_stream, custom_vjp, default_stream, device,
                    device_count, device_function, device_name, dtype, empty_cache, evaluate, export_kernel, from_dlpack, from_numpy,
                    grad, jacobian, jit_stats, jvp, kernel_history, load_npy, load_npz, load_safetensors, load_safetensors_metadata,
                    manual_seed, memory_stats, parse, reset_peak_memory, save_npy, save_npz, save_safetensors,
                    set_cpu_jit, synchronize, tensor, value_and_grad)
from . import _arguments, _operations, _protocols

_operations.add_to(globals(), Operand, Tensor)
for _public in (Operand, Tensor, Expression, Generator, Stream, Event, Mesh, dtype, device, device_function):
    _public.__module__ = "sinter_jit"
_protocols.add_to(Operand, Tensor, Expression, _operations.OPERATORS)

from . import data, nn, optim  # noqa: E402  they use the operations

for _module in (data, nn, nn.modules):
    _arguments.check(_module)


def torch_backend(graph, inputs, **options):
    """The backend of `torch.compile(model, backend=sinter_jit.torch_backend)`. See docs/torch.md."""
    from ._torch import backend
    return backend(graph, inputs, **options)


# Names that shadow Python's own (abs, sum, bool, IndexError, ...) are not imported by `from sinter_jit import *`.
__all__ = [name for name in globals() if not name.startswith("_") and not hasattr(_builtins, name)]
