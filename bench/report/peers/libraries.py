"""The peers. Each has functions by NumPy's names, takes arrays in, compiles where it can, and waits."""

import os


class Library:
    """What most of them share. `implementations` maps a name to what makes a compiled function of a Python one."""

    notes = ()

    def __init__(self, module):
        self.exp, self.log, self.sqrt, self.tanh = module.exp, module.log, module.sqrt, module.tanh
        self.module = module

    def array(self, values):
        return self.module.asarray(values)

    def numpy(self, array):
        return array

    def transposed_input(self, tall):
        """A view that exists before the clock starts, as in Sinter's case."""
        return tall.T

    def every_second_input(self, wide):
        return wide[::2]

    def transpose(self, view):
        return view

    def every_second(self, view):
        return view

    def wait(self, _result):
        pass

    def forget(self):
        """Another size comes: compilers shall compile for it, not for any size."""


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
        self.device = torch.device(executor if executor.startswith("cuda") else "cpu")
        if self.device.type == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("it sees no GPU")
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        torch.set_grad_enabled(False)
        self.versions = {"torch": torch.__version__}
        self.implementations = {"torch": lambda f: f}
        if hasattr(torch, "compile"):
            self.implementations["torch.compile"] = torch.compile
        else:
            self.notes = [f"torch {torch.__version__} has no torch.compile"]

    def array(self, values):
        return self.module.from_numpy(values).to(self.device)

    def numpy(self, array):
        return array.cpu().numpy()

    def wait(self, _result):
        if self.device.type == "cuda":
            self.module.cuda.synchronize(self.device)

    def forget(self):
        if "torch.compile" in self.implementations:
            self.module._dynamo.reset()


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

    # JAX has no views: a transposed input would be a contiguous copy, so the kernel does it.
    def transposed_input(self, tall):
        return tall

    def every_second_input(self, wide):
        return wide

    def transpose(self, tall):
        return tall.T

    def every_second(self, wide):
        return wide[::2]

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


LIBRARIES = {"numpy": NumPy, "torch": Torch, "jax": Jax, "cupy": CuPy}
