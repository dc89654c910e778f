"""What the tests of the Python package share. Each file runs on its own: PYTHONPATH=build/dev/python python3 FILE."""
import os
import random
import sys
import unittest

import numpy as np

import sinter_jit as sn

# Each kernel of a virtual GPU is compiled: one of them is enough.
DEVICES = ["cpu"] + [f"cuda:{i}" for i in range(sn.device_count())][-1:]
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


class Case(unittest.TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("SINTER_TEST_SEED", random.SystemRandom().randrange(2**32)))
        self.random = random.Random(self.seed)
        self.numpy_random = np.random.default_rng(self.seed)

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            print(f"seed: SINTER_TEST_SEED={self.seed}", file=sys.stderr)

    def assert_equal(self, tensor, array):
        """The same shape, dtype and bits; NaN is NaN."""
        self.assertEqual(tensor.dtype, sn.dtype(array.dtype))
        made = tensor.to("cpu").numpy()
        np.testing.assert_array_equal(made, array)
        self.assertEqual((tensor.shape, made.dtype), (array.shape, array.dtype))

    def assert_close(self, tensor, array, tolerance=1e-5):
        self.assertEqual(tensor.shape, np.shape(array))
        np.testing.assert_allclose(tensor.to("cpu").numpy(), array, rtol=tolerance, atol=tolerance)

    def array(self, shape, dtype):
        """Random elements of any dtype that NumPy has."""
        kind = np.dtype(dtype).kind
        if kind == "b":
            return self.numpy_random.integers(0, 2, shape).astype(bool)
        if kind in "iu":
            return self.numpy_random.integers(0, 100, shape).astype(dtype)
        if kind == "c":
            return (self.numpy_random.standard_normal(shape) + 1j * self.numpy_random.standard_normal(shape)).astype(dtype)
        return self.numpy_random.standard_normal(shape).astype(dtype)


def main():
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[1:]])
