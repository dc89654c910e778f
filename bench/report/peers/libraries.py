"""The peers. Each has functions with NumPy's names, converts arrays, compiles if it can, and waits."""

import math
import os

from . import blas
from .formulas import EPSILON

class Library:
    """What most peers share. `implementations` maps a name to a function that compiles a Python function."""

    notes = ()

    def __init__(self, module):
        self.exp, self.log, self.sqrt, self.tanh = module.exp, module.log, module.sqrt, module.tanh
        self.module = module

    def array(self, values):
        return self.module.asarray(values)

    def numpy(self, array):
        return array

    def cast(self, array, dtype):
        """Converts to a dtype by NumPy's name; raises if the library has no dtype of that name."""
        return array.astype(dtype) if hasattr(self.module, dtype) else self.lacks(dtype)

    def lacks(self, dtype):
        raise RuntimeError(f"it has no {dtype}")

    def to_float32(self, array):
        return self.cast(array, "float32")

    def transposed_input(self, tall):
        """A view that exists before timing starts, as in Sinter's case."""
        return tall.T

    def every_second_input(self, wide):
        return wide[::2]

    def transpose(self, view):
        return view

    def every_second(self, view):
        return view

    # Along rows and columns, as a NumPy user writes it.
    def softmax(self, x):
        powers = self.exp(x - x.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    def log_softmax(self, x):
        below = x - x.max(1, keepdims=True)
        return below - self.log(self.exp(below).sum(1, keepdims=True))

    def layer_norm(self, x, gain, shift):
        centred = x - x.mean(1, keepdims=True)
        return centred / self.sqrt((centred * centred).mean(1, keepdims=True) + EPSILON) * gain + shift

    def rms_norm(self, x, gain):
        return x / self.sqrt((x * x).mean(1, keepdims=True) + EPSILON) * gain

    def cross_entropy(self, x, classes):
        return -self.module.take_along_axis(self.log_softmax(x), classes[:, None], 1).mean()

    def sum(self, x, axis):
        return x.sum(axis)

    def logsumexp(self, x):
        most = x.max(1, keepdims=True)
        return self.log(self.exp(x - most).sum(1)) + most[:, 0]

    def argmax(self, x):
        return self.to_float32(self.module.argmax(x, 1))

    def cumsum(self, x):
        return self.module.cumsum(x, 1)

    def sort(self, x):
        return self.module.sort(x, 1)

    def dropout(self, x):
        return self.module.where(self.module.random.random(x.shape, dtype="float32") >= 0.5, x * 2, 0)

    def embedding(self, x, places):
        return self.module.take(x, places, 0)

    def wait(self, _result):
        pass

    def forget(self):
        """Called before another size: compilers must compile for that size, not for any size."""


class NumPy(Library):
    def __init__(self, executor):
        import numpy

        super().__init__(numpy)
        self.versions = {"numpy": numpy.__version__}
        self.implementations = {"numpy": lambda f: f}
        try:
            import scipy.special

            self.erf = scipy.special.erf
        except ImportError:
            self.erf = None
            self.notes = ["numpy has no erf without scipy"]


class Torch(Library):
    def __init__(self, executor):
        import torch

        super().__init__(torch)
        self.erf = torch.erf
        self.functional = torch.nn.functional
        self.device = torch.device(executor if executor.startswith("cuda") else "cpu")
        if self.device.type == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("it sees no GPU")
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        torch.set_grad_enabled(False)
        self.versions = {"torch": torch.__version__}
        if self.device.type == "cpu" and (multiplies := blas.described()):
            self.versions["torch_blas"] = multiplies
        self.implementations = {"torch": lambda f: f}
        if hasattr(torch, "compile"):
            self.implementations["torch.compile"] = torch.compile
        else:
            self.notes = [f"torch {torch.__version__} has no torch.compile"]

    def array(self, values):
        return self.module.from_numpy(values).to(self.device)

    def cast(self, array, dtype):
        return array.to(getattr(self.module, dtype))

    def numpy(self, array):
        return array.cpu().numpy()

    def wait(self, _result):
        if self.device.type == "cuda":
            self.module.cuda.synchronize(self.device)

    def softmax(self, x):
        return self.functional.softmax(x, 1)

    def log_softmax(self, x):
        return self.functional.log_softmax(x, 1)

    def layer_norm(self, x, gain, shift):
        return self.functional.layer_norm(x, gain.shape, gain, shift, EPSILON)

    def rms_norm(self, x, gain):
        return x * self.module.rsqrt(x.square().mean(1, keepdim=True) + EPSILON) * gain

    def cross_entropy(self, x, classes):
        return self.functional.cross_entropy(x, classes)

    def sum(self, x, axis):
        return x.sum() if axis is None else x.sum(axis)

    def logsumexp(self, x):
        return self.module.logsumexp(x, 1)

    def sort(self, x):
        return self.module.sort(x, 1).values

    def dropout(self, x):
        return self.functional.dropout(x, 0.5, True)

    def embedding(self, x, places):
        return self.functional.embedding(places, x)

    # For networks.
    def linear(self, x, weight, bias):
        return self.functional.linear(x, weight, bias)

    def gelu(self, x):
        return self.functional.gelu(x)

    def gelu_tanh(self, x):
        return self.functional.gelu(x, approximate="tanh")

    def relu(self, x):
        return self.functional.relu(x)

    def attention(self, q, k, v, heads):
        """For (batch, length, width): by torch's own function if it has one (2.0 or later)."""
        q, k, v = (t.unflatten(-1, (heads, t.shape[-1] // heads)).transpose(1, 2) for t in (q, k, v))
        if hasattr(self.functional, "scaled_dot_product_attention"):
            y = self.functional.scaled_dot_product_attention(q, k, v)
        else:
            y = self.functional.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v
        return y.transpose(1, 2).flatten(-2)

    def forget(self):
        if "torch.compile" in self.implementations:
            self.module._dynamo.reset()


class Triton(Torch):
    """Handwritten kernels for operations along rows; operations without one are omitted."""

    def __init__(self, executor):
        super().__init__(executor)
        import triton

        from . import triton_kernels

        self.kernels = triton_kernels
        self.versions = {"triton": triton.__version__}
        self.implementations, self.notes = {"triton": lambda f: f}, []

    def unwritten(self, *_):
        raise RuntimeError("there is no kernel by hand")

    cross_entropy = argmax = cumsum = sort = dropout = embedding = unwritten

    def along(self, kernel, x, *vectors, result=None, **constants):
        result = self.module.empty_like(x) if result is None else result
        rows, columns = x.shape
        kernel[(rows,)](x, *vectors, result, columns, **constants, **self.kernels.block(columns))
        return result

    def of_rows(self, x):
        return self.module.empty(x.shape[0], dtype=x.dtype, device=x.device)

    def softmax(self, x):
        return self.along(self.kernels.softmax, x, LOG=False)

    def log_softmax(self, x):
        return self.along(self.kernels.softmax, x, LOG=True)

    def layer_norm(self, x, gain, shift):
        return self.along(self.kernels.layer_norm, x, gain, shift)

    def rms_norm(self, x, gain):
        return self.along(self.kernels.rms_norm, x, gain)

    def logsumexp(self, x):
        return self.along(self.kernels.logsumexp, x, result=self.of_rows(x))

    def sum(self, x, axis):
        return self.along(self.kernels.sum_rows, x, result=self.of_rows(x)) if axis == 1 else self.unwritten()


class Jax(Library):
    def __init__(self, executor):
        os.environ["JAX_PLATFORMS"] = "cuda" if executor.startswith("cuda") else "cpu"
        import jax
        import jax.numpy
        import jax.scipy.special

        super().__init__(jax.numpy)
        self.erf = jax.scipy.special.erf
        self.device = jax.devices()[int(executor.partition(":")[2] or 0)]
        self.jax = jax
        self.versions = {"jax": jax.__version__}
        self.implementations = {"jax.jit": jax.jit}

    def array(self, values):
        return self.jax.device_put(values, self.device)

    def numpy(self, array):
        import numpy

        return numpy.asarray(array)

    # JAX has no views: a transposed input would be a contiguous copy, so the kernel transposes.
    def transposed_input(self, tall):
        return tall

    def every_second_input(self, wide):
        return wide

    def transpose(self, tall):
        return tall.T

    def every_second(self, wide):
        return wide[::2]

    def softmax(self, x):
        return self.jax.nn.softmax(x, 1)

    def log_softmax(self, x):
        return self.jax.nn.log_softmax(x, 1)

    def logsumexp(self, x):
        return self.jax.nn.logsumexp(x, 1)

    def dropout(self, x):
        raise RuntimeError("its random numbers need a key, which would be the same each time")

    def wait(self, result):
        result.block_until_ready()


class CuPy(Library):
    def __init__(self, executor):
        import cupy
        import cupyx.scipy.special

        super().__init__(cupy)
        self.erf = cupyx.scipy.special.erf
        self.device = cupy.cuda.Device(int(executor.partition(":")[2]))
        self.device.use()
        self.versions = {"cupy": cupy.__version__}
        self.implementations = {"cupy": lambda f: f, "cupy.fuse": lambda f: cupy.fuse()(f)}

    def numpy(self, array):
        return self.module.asnumpy(array)

    def wait(self, _result):
        self.device.synchronize()


LIBRARIES = {"numpy": NumPy, "torch": Torch, "triton": Triton, "jax": Jax, "cupy": CuPy}
