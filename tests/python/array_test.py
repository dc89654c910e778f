"""Tensors of Python's numbers and lists, and of arrays, in both directions."""
import array
import gc
import hashlib
import pickle
import weakref

import numpy as np

import sinter_jit as sn
from case import DEVICES, DTYPES, Case, main


class Numbers(Case):
    def test_dtypes_of_numbers(self):
        for data, dtype in [(True, "bool"), (2, "int64"), (2.5, "float32"), (1j, "complex64"), ([], "float32"),
                            ([True, 2], "int64"), ([1, 2.5], "float32"), ([2.5, 1j], "complex64"), (np.float64(2), "float64"),
                            (np.int8(3), "int8"), ([np.float32(2), 1], "float32")]:
            with self.subTest(data=data):
                made = sn.tensor(data)
                self.assertEqual(made.dtype, sn.dtype(dtype))
                self.assertEqual(made.shape, np.shape(data))

    def test_nested_lists(self):
        for device in DEVICES:
            x = sn.tensor([[1, 2, 3], (4, 5, 6)], dtype="int16", device=device)
            self.assertEqual(x.tolist(), [[1, 2, 3], [4, 5, 6]])
            self.assertEqual(str(x.device), device)
        self.assertEqual(sn.tensor([[], []]).shape, (2, 0))
        self.assertEqual(sn.tensor([[[1.5]]]).item(), 1.5)
        self.assertEqual(sn.tensor([1 + 2j]).tolist(), [1 + 2j])
        self.assertEqual(sn.tensor(2**63 - 1).item(), 2**63 - 1)

    def test_lists_that_are_no_grid(self):
        for data in [[1, [2]], [[1], 2], [[1, 2], [3]], [[], [1]], [[[1]], [[1, 2]]]]:
            with self.subTest(data=data), self.assertRaisesRegex(sn.ShapeError, "rectangular"):
                sn.tensor(data)
        endless = []
        endless.append(endless)
        with self.assertRaises(sn.ShapeError):
            sn.tensor(endless)

    def test_what_no_number_is(self):
        for data in [None, "1", ["1"], {}, {1, 2}, object(), [None], lambda: 1, [np.zeros(2)], sn.float32]:
            with self.subTest(data=data), self.assertRaises(TypeError):
                sn.tensor(data)

    def test_numbers_that_do_not_fit(self):
        with self.assertRaises(OverflowError):
            sn.tensor(2**63)
        for value, dtype in [(300, "uint8"), (-1, "uint8"), (128, "int8"), (2**31, "int32")]:
            with self.subTest(value=value), self.assertRaisesRegex(sn.Error, str(value)):
                sn.tensor([value], dtype=dtype)
        for value, dtype in [(255, "uint8"), (0, "uint8"), (-128, "int8"), (2**31 - 1, "int32")]:
            self.assertEqual(sn.tensor([value], dtype=dtype).item(), value)
        with self.assertRaises(sn.DTypeError):
            sn.tensor(1j, dtype="float32")

    def test_dtype_names(self):
        for name in [sn.float32, "float32", "f32", np.float32, np.dtype("f4")]:
            self.assertEqual(sn.tensor(1, dtype=name).dtype, sn.float32)
        self.assertEqual(sn.tensor(1, dtype=bool).dtype, sn.bool)
        self.assertEqual(sn.tensor(1, dtype=np.bool_).dtype, sn.bool)
        for wrong in [float, "float", int, "half3", np.dtype("M8"), np.dtype(object)]:
            with self.subTest(wrong=wrong), self.assertRaises(sn.DTypeError):
                sn.tensor(1, dtype=wrong)
        for wrong in [3, [], b"float32"]:
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                sn.tensor(1, dtype=wrong)

    def test_devices(self):
        for wrong in ["gpu", "cuda:", "cuda:x", "cuda:-1", -1, ""]:
            with self.subTest(wrong=wrong), self.assertRaises(sn.DeviceError):
                sn.tensor(1, device=wrong)
        with self.assertRaises(sn.DeviceError):
            sn.tensor(1, device=99)
        for wrong in [1.5, True, object()]:
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                sn.tensor(1, device=wrong)
        self.assertEqual(sn.device("cuda:1"), sn.device(1))
        self.assertNotEqual(sn.device("cuda:1"), "cuda:1")
        self.assertEqual({sn.device("cpu"): 1, sn.device(0): 2}[sn.device("cuda")], 2)
        self.assertEqual((sn.device(1).type, sn.device(1).index, sn.device("cpu").index), ("cuda", 1, None))

    def test_dtypes_and_devices_pickle(self):
        for x in [sn.float16, sn.device("cuda:1"), sn.device("cpu")]:
            self.assertEqual(pickle.loads(pickle.dumps(x)), x)


class Arrays(Case):
    def test_memory_is_shared(self):
        for dtype in DTYPES:
            a = self.array((3, 4), dtype)
            x = sn.from_numpy(a)
            self.assert_equal(x, a)
            self.assertTrue(np.shares_memory(x.numpy(), a), dtype)
            a[1, 2] = 1
            self.assertEqual(x.numpy()[1, 2], 1)
            x[0] = True if dtype == "bool" else 3
            self.assertTrue((a[0] == x.numpy()[0]).all())

    def test_layouts(self):
        a = self.array((4, 5, 6), "float32")
        for b in [a, a.T, a[::-1], a[:, ::-2], np.asfortranarray(a), a[1:3, 2], a[..., None], a[0, 0, 0:0], a[2, 3, 4:5],
                  np.broadcast_to(a[0], (3, 5, 6)), a[::3, 1::2, ::-1], a[:, :0]]:
            with self.subTest(shape=b.shape, strides=b.strides):
                x = sn.from_numpy(b)
                self.assert_equal(x, b)
                self.assert_equal((x + 1).eval(), b + np.float32(1))
                if b.size and b.flags.writeable:
                    self.assertTrue(np.shares_memory(x.numpy(), b))

    def test_scalars_and_empty_arrays(self):
        for a in [np.array(2.5), np.array(3), np.zeros(0, "f4"), np.zeros((2, 0, 3), "i4"), np.float32(4), np.bool_(True)]:
            x = sn.asarray(np.asarray(a))
            self.assert_equal(x, np.asarray(a))
            self.assert_equal((x == x).eval(), np.asarray(a) == np.asarray(a))

    def test_read_only_arrays_are_copied(self):
        a = np.arange(4, dtype="f4")
        a.flags.writeable = False
        x = sn.from_numpy(a)
        x[0] = 7
        self.assertEqual(a[0], 0)
        self.assertEqual(x[0].item(), 7)
        with self.assertRaisesRegex(sn.Error, "copy"):
            sn.asarray(a, copy=False)

    def test_elements_between_elements_are_copied(self):
        a = np.zeros(5, dtype=[("a", "i2"), ("b", "f4")])
        a["b"] = [1, 2, 3, 4, 5]
        x = sn.from_numpy(a["b"])
        self.assert_equal(x, a["b"])
        x[0] = 9
        self.assertEqual(a["b"][0], 1)
        with self.assertRaisesRegex(sn.Error, "copy"):
            sn.asarray(a["b"], copy=False)
        odd = np.frombuffer(bytearray(17), dtype="u1")[1:].view("f4")
        self.assert_equal(sn.from_numpy(odd), odd)

    def test_unsigned_integers(self):
        for dtype in ["uint8", "uint16", "uint32", "uint64"]:
            largest = np.iinfo(dtype).max
            a = np.array([0, 1, largest], dtype)
            x = sn.from_numpy(a)
            self.assertTrue(np.shares_memory(x.numpy(), a))
            self.assert_equal(x, a)
            self.assertEqual(x.tolist(), [0, 1, largest])
            self.assertEqual(x[2].item(), largest)
            self.assert_equal(sn.tensor([0, 7], dtype=dtype), np.array([0, 7], dtype))
            with self.assertRaises(sn.Error):
                sn.tensor([-1], dtype=dtype)
        with self.assertRaises(sn.Error):
            sn.tensor([2**16], dtype="uint16")
        with self.assertRaisesRegex(OverflowError, "^tensor: .* does not fit int64; larger numbers may be floats"):
            sn.tensor([2**63], dtype="uint64")
        x = sn.tensor([10, 20, 30])
        for index in (np.array([2**64 - 1], np.uint64), sn.tensor([0], dtype="uint64")):
            for use in (lambda: x[index], lambda: x.__setitem__(index, 1)):
                with self.assertRaisesRegex(sn.DTypeError, "indices are integers or masks of bools, but got .*uint64"):
                    use()

    def test_dtypes_that_are_not_there(self):
        for a in [np.zeros(2, object), np.zeros(2, "S3"),
                  np.zeros(2, "U3"), np.zeros(2, "M8[s]"), np.zeros(2, "m8[s]"), np.zeros(2, np.longdouble), np.zeros(2, "V5"),
                  np.zeros(2, [("a", "f4")]), np.zeros(2, ">f4"), np.zeros(2, ">i2"), np.zeros(2, ">c8")]:
            with self.subTest(dtype=a.dtype), self.assertRaises(sn.DTypeError):
                sn.asarray(a)
        with self.assertRaisesRegex(sn.DTypeError, "newbyteorder"):
            sn.from_numpy(np.zeros(2, ">f4"))
        self.assert_equal(sn.asarray(np.zeros(2, ">i1")), np.zeros(2, "i1"))

    def test_axes(self):
        self.assertEqual(sn.from_numpy(np.zeros([1] * 8)).ndim, 8)
        with self.assertRaisesRegex(sn.ShapeError, "9 axes"):
            sn.from_numpy(np.zeros([1] * 9))

    def test_other_buffers(self):
        self.assertEqual(sn.asarray(b"abc").tolist(), [97, 98, 99])
        self.assertEqual(sn.asarray(array.array("d", [1, 2])).dtype, sn.float64)
        shared = bytearray(4)
        sn.asarray(shared)[1] = 5
        self.assertEqual(shared, b"\0\5\0\0")
        self.assertEqual(sn.asarray(memoryview(b"abcdef")[::-2]).tolist(), [102, 100, 98])

    def test_any_byte_of_a_bool_but_zero_is_true(self):
        x = sn.from_numpy(np.uint8([0, 255, 2, 1]).view(bool))
        self.assertEqual(x.tolist(), [False, True, True, True])
        self.assertIs(x[1].item(), True)
        self.assertEqual(x.sum().item(), 3)
        self.assertEqual((~x).tolist(), [True, False, False, False])

    def test_asarray(self):
        a = np.arange(6, dtype="f4")
        x = sn.asarray(a)
        self.assertTrue(np.shares_memory(sn.asarray(x).numpy(), a))
        self.assertFalse(np.shares_memory(sn.asarray(x, copy=True).numpy(), a))
        self.assertFalse(np.shares_memory(sn.tensor(a).numpy(), a))
        self.assertFalse(np.shares_memory(sn.tensor(x).numpy(), a))
        self.assertEqual(sn.asarray(a, dtype="float16").dtype, sn.float16)
        with self.assertRaises(sn.Error):
            sn.asarray(a, dtype="float16", copy=False)
        self.assert_equal(sn.asarray(x * 2), a * 2)
        with self.assertRaises(sn.DTypeError):
            sn.asarray(np.zeros(2, "c8"), dtype="float32")
        for wrong in ["text", None, object(), {1: 2}]:
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                sn.asarray(wrong)
        with self.assertRaises(TypeError):
            sn.asarray(a, copy=1)
        with self.assertRaises(TypeError):
            sn.from_numpy([1, 2])

    def test_numpy_of_devices_and_bfloat16(self):
        for device in DEVICES[1:]:
            with self.assertRaisesRegex(sn.DeviceError, "cpu"):
                sn.tensor([1], device=device).numpy()
            with self.assertRaises(sn.DeviceError):
                np.asarray(sn.tensor([1], device=device))
        with self.assertRaisesRegex(sn.DTypeError, "bfloat16"):
            sn.tensor([1], dtype="bfloat16").numpy()
        self.assertEqual(sn.tensor([1.5], dtype="bfloat16").tolist(), [1.5])

    def test_numpy_reads_tensors_and_expressions(self):
        x = sn.tensor([1.0, 2, 3])
        self.assertTrue(np.shares_memory(np.asarray(x), x.numpy()))
        np.testing.assert_array_equal(np.asarray(x * 2), [2, 4, 6])
        np.testing.assert_array_equal(np.array(x, dtype="i4"), [1, 2, 3])
        self.assertEqual(np.asarray(x * 2, dtype="f8").dtype, np.float64)
        np.testing.assert_array_equal(np.sin(x.numpy()), np.sin(np.float32([1, 2, 3])))

    def test_buffers_of_tensors(self):
        x = sn.tensor([[1.0, 2], [3, 4]])
        view = memoryview(x)
        self.assertEqual((view.shape, view.strides, view.format, view.readonly), ((2, 2), (8, 4), "f", False))
        self.assertEqual(bytes(x), np.float32([1, 2, 3, 4]).tobytes())
        self.assertEqual(memoryview(x.T).tolist(), [[1, 3], [2, 4]])
        self.assertEqual(bytes(memoryview(x.T).tobytes()), np.float32([1, 3, 2, 4]).tobytes())
        with self.assertRaisesRegex(BufferError, "contiguous"):
            hashlib.sha1(x.T)  # needs contiguous bytes
        self.assertEqual(bytes(sn.tensor([])), b"")

    def test_memory_lives_as_long_as_who_looks_at_it(self):
        a = np.arange(1000, dtype="f4")
        gone = weakref.ref(a)
        x = sn.from_numpy(a)
        part, e = x[10:20], x * 2
        del a, x
        gc.collect()
        self.assertEqual(part[0].item(), 10)
        self.assertEqual(e[999].item(), 1998)
        self.assertIsNotNone(gone())
        del part, e
        gc.collect()
        self.assertIsNone(gone())

        x = sn.tensor(list(range(1000)))
        a = x.numpy()
        del x
        gc.collect()
        self.assertEqual(a.sum(), 499500)

    def test_an_array_with_a_tensor_is_not_resized(self):
        a = np.zeros(4)
        x = sn.from_numpy(a)
        with self.assertRaises(ValueError):
            a.resize(10000)
        self.assertEqual(x.shape, (4,))


class Facts(Case):
    def test_facts(self):
        for device in DEVICES:
            x = sn.tensor([[1, 2, 3]], device=device)
            self.assertEqual((x.shape, x.ndim, x.size, x.strides, len(x)), ((1, 3), 2, 3, (3, 1), 1))
            self.assertEqual((repr(x.dtype), x.dtype.name, x.dtype.itemsize), ("sinter_jit.int64", "int64", 8))
            self.assertTrue(x.is_contiguous())
            self.assertTrue(x.T.contiguous().is_contiguous())

    def test_printed_as_the_library_prints(self):
        self.assertEqual(repr(sn.tensor([1.0, 2.5])), "tensor([1.0000, 2.5000])")
        self.assertEqual(str(sn.tensor([[1], [2]])), "tensor([[1],\n        [2]])")
        for device in DEVICES[1:]:
            self.assertEqual(repr(sn.tensor([1], device=device)), f"tensor([1], device='{device}')")
        e = sn.tensor([1.0]) + 1
        self.assertEqual(repr(e), "<sinter_jit.Expression float32 (1,) on cpu, not evaluated>")

    def test_as_pythons_numbers(self):
        x = sn.tensor([[2.5]])
        self.assertEqual((float(x), int(x), complex(x), bool(x), bool(x > 3)), (2.5, 2, 2.5 + 0j, True, False))
        self.assertEqual(sn.tensor(7).item(), 7)
        self.assertIs(sn.tensor(True).item(), True)
        for call in (float, int, complex, bool):
            with self.assertRaises(TypeError):
                call(sn.tensor([1, 2]))
            with self.assertRaises(TypeError):
                call(sn.tensor([]))
        with self.assertRaises(sn.Error):
            sn.tensor([1, 2]).item()
        with self.assertRaises(TypeError):
            len(sn.tensor(1))

    def test_moved(self):
        a = self.array((2, 3), "float32")
        for device in DEVICES:
            x = sn.tensor(a).to(device)
            self.assertEqual(str(x.device), device)
            self.assertIs(x.to(device), x)
            self.assertEqual(x.to("float16").dtype, sn.float16)
            self.assertEqual(x.to(sn.int32, device="cpu").dtype, sn.int32)
            self.assert_equal(x.to(device="cpu", dtype="float64"), a.astype("f8"))
            e = (x + 1).to("float64")
            self.assertIsInstance(e, sn.Expression)
            self.assert_equal(e, (a + np.float32(1)).astype("f8"))
            moved = (x + 1).to("cpu")
            self.assertEqual((type(moved), str(moved.device)), (sn.Expression, "cpu"))
            self.assert_equal(moved, a + np.float32(1))
        with self.assertRaises(sn.DTypeError):
            sn.tensor(1j).to("float32")
        with self.assertRaises(sn.DTypeError):
            sn.tensor(1).to("half of it")
        with self.assertRaises(TypeError):
            sn.tensor(1).to(1.5)

    def test_scalars_that_are_no_numbers(self):
        x = sn.tensor([1.0, 2.0])
        for scalar in [np.datetime64(5, "ns"), np.timedelta64(5, "ns"), np.str_("a")]:
            with self.assertRaises(TypeError):
                sn.tensor(scalar)
            with self.assertRaises(TypeError):
                x * scalar

    def test_copies_that_may_not_be(self):
        for data in [[1, 2], (1.0,), 3]:
            with self.assertRaises(sn.Error):
                sn.asarray(data, copy=False)
        x = sn.tensor([1.0, 2.0])
        with self.assertRaises(ValueError):
            x.__array__(dtype="f8", copy=False)
        self.assertEqual(x.__array__(dtype="f4", copy=False).dtype, np.float32)
        self.assertEqual(x.__array__(dtype="f8").dtype, np.float64)

    def test_two_targets(self):
        x = sn.tensor([1.0])
        with self.assertRaises(TypeError):
            x.to("cpu", device="cpu")
        with self.assertRaises(TypeError):
            x.to("float32", dtype="float16")
        self.assertEqual(x.to("cpu", dtype="float16").dtype, sn.float16)


if __name__ == "__main__":
    main()
