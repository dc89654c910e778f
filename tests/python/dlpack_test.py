"""DLPack with NumPy, with PyTorch if it is installed, and with incorrect producers."""
import ctypes
import gc
import unittest

import numpy as np

import sinter_jit as sn
from case import DEVICES, Case, main

try:
    import torch
except ImportError:
    torch = None

capsule_name = ctypes.pythonapi.PyCapsule_GetName
capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class Producer:
    """An array that passes its capsule on, as other libraries do."""

    def __init__(self, made, device=(1, 0)):
        self.made, self.device = made, device

    def __dlpack__(self, **arguments):
        return self.made(**arguments)

    def __dlpack_device__(self):
        return self.device


class DLPack(Case):
    def test_numpy(self):
        for dtype in ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]:
            a = self.array((3, 4), dtype)
            x = sn.from_dlpack(a)
            self.assert_equal(x, a)
            self.assertTrue(np.shares_memory(x.numpy(), a))
            b = np.from_dlpack(x)
            self.assertTrue(np.shares_memory(a, b))
            np.testing.assert_array_equal(a, b)
        for a in [self.array((4, 5), "float32").T, self.array((6,), "int32")[::-2], np.zeros((0, 3)), np.array(1.5)]:
            self.assert_equal(sn.from_dlpack(a), a)
            np.testing.assert_array_equal(np.from_dlpack(sn.asarray(a)), a)

    def test_expressions_are_evaluated(self):
        e = sn.tensor([1.0, 2]) * 2
        self.assertEqual(e.__dlpack_device__(), (1, 0))
        np.testing.assert_array_equal(np.from_dlpack(e), [2, 4])

    def test_versions(self):
        x = sn.tensor([1.0])
        for version, name in [(None, b"dltensor"), ((0, 8), b"dltensor"), ((1, 0), b"dltensor_versioned"),
                              ((2, 5), b"dltensor_versioned")]:
            self.assertEqual(capsule_name(x.__dlpack__(max_version=version)), name)
            self.assertEqual(sn.from_dlpack(x.__dlpack__(max_version=version)).tolist(), [1])
        for wrong in ["1", 1, (), ("1", "0"), (1.5, 0)]:
            with self.subTest(wrong=wrong), self.assertRaises((TypeError, IndexError)):
                x.__dlpack__(max_version=wrong)

    def test_copies(self):
        x = sn.tensor([1.0])
        y = sn.from_dlpack(x)
        y[0] = 2
        self.assertEqual(x.item(), 2)
        for z in [sn.from_dlpack(x, copy=True), sn.from_dlpack(x.__dlpack__(copy=True)), sn.from_dlpack(x.__dlpack__(copy=True, max_version=(1, 0)))]:
            z[0] = 3
            self.assertEqual(x.item(), 2)

    def test_flipped_views_go_out_as_copies(self):
        a = np.arange(6, dtype="f4").reshape(2, 3)
        x = sn.from_numpy(a)
        for view, array in [(x.flip(1), a[:, ::-1]), (x[::-1], a[::-1]), (x.T[::-1], a.T[::-1])]:
            for arguments in [{}, {"copy": None}, {"copy": True}]:
                taken = sn.from_dlpack(view.__dlpack__(max_version=(1, 0), **arguments))
                np.testing.assert_array_equal(taken.numpy(), array)
                self.assertTrue(all(stride > 0 for stride in taken.numpy().strides))
            with self.assertRaisesRegex(BufferError, "negative"):
                view.__dlpack__(copy=False)
        # Axes of extent 0 or 1 have no direction.
        self.assertEqual(sn.from_dlpack(x[:1].flip(0).__dlpack__(copy=False)).tolist(), [[0, 1, 2]])

    def test_a_capsule_is_taken_once(self):
        capsule = sn.tensor([1.0]).__dlpack__()
        sn.from_dlpack(capsule)
        self.assertEqual(capsule_name(capsule), b"used_dltensor")
        with self.assertRaisesRegex(sn.Error, "used_dltensor"):
            sn.from_dlpack(capsule)
        with self.assertRaisesRegex(sn.Error, "other"):
            sn.from_dlpack(ctypes_capsule(b"other"))

    def test_capsules_that_are_not_consumed(self):
        for _ in range(100):
            sn.tensor([1.0]).__dlpack__(max_version=(1, 0))
            sn.tensor([1.0]).__dlpack__()

    def test_old_producers(self):
        a = np.arange(3.0)
        asked = []

        def made(**arguments):
            asked.append(arguments)
            if "max_version" in arguments:
                raise TypeError("unexpected argument")
            return a.__dlpack__()
        self.assert_equal(sn.from_dlpack(Producer(made)), a)
        self.assertEqual(len(asked), 2)

    def test_wrong_producers(self):
        def raises(**_):
            raise KeyError("mine")
        with self.assertRaises(KeyError):
            sn.from_dlpack(Producer(raises))
        for wrong in [None, 1, "text", [1.0], Producer(lambda **_: None), Producer(lambda **_: 1)]:
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                sn.from_dlpack(wrong)
        for device in [None, 1, (), ("a", "b")]:
            with self.subTest(device=device), self.assertRaises((TypeError, IndexError)):
                sn.from_dlpack(Producer(lambda **_: np.zeros(1).__dlpack__(), device))

    def test_streams_and_devices(self):
        x = sn.tensor([1.0])
        with self.assertRaisesRegex(sn.DeviceError, "stream"):
            x.__dlpack__(stream=1)
        with self.assertRaises(sn.DeviceError):
            x.__dlpack__(dl_device=(2, 0))
        for device in DEVICES[1:]:
            y = sn.tensor([1.0, 2], device=device)
            self.assertEqual(y.__dlpack_device__(), (12, int(device[5:])))  # only Sinter knows its virtual GPUs
            self.assertEqual((y + 1).__dlpack_device__(), y.__dlpack_device__())
            z = sn.from_dlpack(y)
            z[0] = 5
            self.assertEqual(y.tolist(), [5, 2])
            for stream in (None, -1, 1):
                y.__dlpack__(stream=stream)
            self.assertEqual(sn.from_dlpack(y.__dlpack__(dl_device=(1, 0))).tolist(), [5, 2])
            with self.assertRaises(sn.Error):
                y.__dlpack__(dl_device=(1, 0), copy=False)
            with self.assertRaises((BufferError, RuntimeError)):
                np.from_dlpack(y)

    def test_who_lets_go_last(self):
        for _ in range(20):
            a = np.arange(100.0)
            x = sn.from_dlpack(a)
            b = np.from_dlpack(x)
            del a, x
            gc.collect()
            self.assertEqual(b.sum(), 4950)
            y = sn.asarray(b)[50:]  # NumPy 1 marks b as read-only: a copy
            del b
            gc.collect()
            self.assertEqual(y.sum().item(), 3725)

    @unittest.skipUnless(torch, "there is no PyTorch: pip install torch")
    def test_operators_with_torch(self):
        x, t = sn.tensor([1.0, 2, 3]), torch.tensor([3.0, 2, 1])
        for made, expected in [(x + t, [4, 4, 4]), (t - x, [2, 0, -2]), (t * x, [3, 4, 3]), (t @ x, 10), (t < x, [False, False, True]),
                               (np.add(x, t), [4, 4, 4]), (x[t > 1], [1, 2]), (x[torch.tensor([0, 2])], [1, 3])]:
            self.assertIsInstance(made, sn.Operand)
            self.assertEqual(made.tolist(), expected)
        x[torch.tensor([0])] = t[:1] * 5
        x += t
        self.assertEqual(x.tolist(), [18, 4, 4])
        with self.assertRaises(BufferError):
            x + torch.tensor([1.0, 2, 3], requires_grad=True)

    @unittest.skipUnless(torch, "there is no PyTorch: pip install torch")
    def test_torch(self):
        for dtype in [torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]:
            t = torch.arange(6).to(dtype).reshape(2, 3)
            x = sn.from_dlpack(t)
            self.assertEqual(str(t.dtype), f"torch.{x.dtype.name}")
            self.assertTrue(torch.equal(torch.from_dlpack(x), t))
            self.assertTrue(torch.equal(torch.from_dlpack(x.T), t.T))
            self.assertTrue(torch.equal(torch.from_dlpack(x.flip(1)), t.flip(1)))
        t = torch.zeros(3)
        sn.from_dlpack(t)[1] = 5
        self.assertEqual(t.tolist(), [0, 5, 0])
        u = torch.from_dlpack(sn.asarray(t) + 1)
        gc.collect()
        self.assertEqual(u.tolist(), [1, 6, 1])
        self.assertEqual(sn.asarray(t).tolist(), [0, 5, 0])


def ctypes_capsule(name):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(1, name, None)


if __name__ == "__main__":
    main()
