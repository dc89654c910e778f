"""In-place operators, `in`, formats, copies, pickles, indices, and what notebooks show."""
import copy
import operator
import pickle
import warnings

import numpy as np

import sinter_jit as sn
from case import DEVICES, DTYPES, Case, main

IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow]


class InPlace(Case):
    def test_a_tensor_is_written_to(self):
        for device in DEVICES:
            for f in IN_PLACE if device == "cpu" else IN_PLACE[:2]:
                for other in [2, self.array((4,), "float32") ** 2 + 1, None]:
                    a = np.abs(self.array((3, 4), "float32")) + 1
                    x = y = sn.tensor(a, device=device)
                    view = x[1:]
                    b = a.copy() if other is None else other
                    y = f(y, sn.tensor(b, device=device) if isinstance(b, np.ndarray) else b)
                    a = f(a, b)
                    with self.subTest(f=f, device=device):
                        self.assertIs(x, y)
                        self.assert_close(view, a[1:])
        i = sn.tensor([12, 10])
        i &= 6
        i |= 1
        i ^= 3
        i <<= 2
        i >>= 1
        self.assertEqual(i.tolist(), [(((12 & 6) | 1) ^ 3) * 2, (((10 & 6) | 1) ^ 3) * 2])
        m = sn.tensor([[1.0, 2.0], [3.0, 4.0]])
        m @= m
        self.assertEqual(m.tolist(), [[7, 10], [15, 22]])

    def test_arguments_and_arrays_see_it(self):
        a = np.ones(3, "f4")

        def add(x):
            x += 1
        add(sn.from_numpy(a))
        self.assertEqual(a.tolist(), [2, 2, 2])
        x = sn.from_numpy(a)
        x[0] += 5
        x[1:] *= 2
        x[[0, 1]] += 1
        x[x > 4] -= 1
        self.assertEqual(a.tolist(), [7, 4, 4])

    def test_an_expression_makes_a_new_one(self):
        x = sn.tensor([1.0])
        e = first = x + 1
        e += 1
        self.assertIsInstance(e, sn.Expression)
        self.assertIsNot(e, first)
        self.assertEqual((first.item(), e.item(), x.item()), (2, 3, 1))
        for key in [0, e > 1, [0]]:
            with self.assertRaisesRegex(TypeError, "an expression has no memory to write to"):
                e[key] = 1

    def test_what_does_not_fit(self):
        x, i = sn.tensor([1.0, 2.0]), sn.tensor([1, 2])
        for wrong, error in [(lambda: operator.itruediv(i, 2), sn.DTypeError), (lambda: operator.iadd(i, 0.5), sn.DTypeError),
                             (lambda: operator.iadd(x, sn.tensor([[1.0, 2.0]] * 2)), sn.ShapeError), (lambda: operator.iadd(x, "a"), TypeError),
                             (lambda: operator.iadd(x, None), TypeError)]:
            with self.assertRaises(error):
                wrong()
        self.assertEqual((x.tolist(), i.tolist()), ([1, 2], [1, 2]))


class Python(Case):
    def test_in_and_formats(self):
        for device in DEVICES:
            x = sn.tensor([1.5, 2.5], device=device)
            self.assertTrue(2.5 in x and 2.5 in x * 1 and 7 not in x and "a" not in x and None not in x)
            self.assertEqual(f"{x[0]:.3f} {x[1]} {x.sum():8.2f} {x[:1]:g}", "1.500 2.5     4.00 1.5")
            self.assertEqual(f"{x}", str(x))
            with self.assertRaisesRegex(TypeError, r"'.2f' applies to one element, but the tensor is float32 \(2,\)"):
                f"{x:.2f}"
        self.assertEqual(f"{sn.tensor(7):03d} {sn.tensor(True)} {sn.tensor(1j)}", "007 True 1j")
        with self.assertRaises(ValueError):
            f"{sn.tensor(1.5):d}"

    def test_indices_of_lists(self):
        self.assertEqual([10, 20, 30][sn.tensor(1)], 20)
        self.assertEqual(list(range(sn.tensor(3, dtype="uint8"))), [0, 1, 2])
        for wrong in [sn.tensor([1]), sn.tensor(1.0), sn.tensor(True)]:
            with self.assertRaises(TypeError):
                [10, 20][wrong]

    def test_copies(self):
        for device in DEVICES:
            x = sn.tensor([[1.0, 2.0]], device=device)
            for made in [copy.copy(x), copy.deepcopy(x), *copy.deepcopy([x, x])]:
                self.assertIsInstance(made, sn.Tensor)
                made += 1
                self.assertEqual((str(made.device), x.tolist(), made.tolist() != x.tolist()), (device, [[1, 2]], True))
        both = copy.deepcopy([x, x])
        self.assertIs(both[0], both[1])
        e = x + 1
        self.assertIs(copy.copy(e), e)
        self.assertIsInstance(copy.deepcopy(e), sn.Tensor)

    def test_pickles(self):
        for dtype in DTYPES + ["bfloat16"]:
            x = sn.tensor(self.array((3, 4), "float32" if dtype == "bfloat16" else dtype)).to(dtype)
            for part in [x, x.T, x[:, ::-2], x[0, 0], x[:0], x.reshape(1, 3, 1, 4)]:
                for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                    made = pickle.loads(pickle.dumps(part, protocol))
                    self.assertEqual((made.dtype, made.shape, made.tolist()), (part.dtype, part.shape, part.tolist()))
        for device in DEVICES:
            made = pickle.loads(pickle.dumps({"e": sn.tensor([1, 2], device=device) + 1}))["e"]
            self.assertIsInstance(made, sn.Tensor)
            self.assertEqual((str(made.device), made.tolist()), (device, [2, 3]))
        made += 1  # it is writable

    def test_pickles_out_of_band(self):
        x = sn.tensor(self.array((100, 4), "float64"))
        buffers = []
        data = pickle.dumps(x, 5, buffer_callback=buffers.append)
        self.assertLess(len(data), 400)
        self.assertTrue(np.shares_memory(np.frombuffer(buffers[0]), x.numpy()))
        for copies in [buffers, [bytes(b) for b in buffers], [memoryview(b"x" + bytes(b))[1:] for b in buffers]]:
            self.assertEqual(pickle.loads(data, buffers=copies).tolist(), x.tolist())

    def test_a_pickle_of_a_device_that_is_missing(self):
        data = pickle.dumps(sn.tensor([1.0], device=DEVICES[-1]), 2).replace(b"cuda:1", b"cuda:9")
        if len(DEVICES) > 1:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertEqual(str(pickle.loads(data).device), "cpu")
            self.assertIn("was pickled on cuda:9, and is now on the cpu", str(caught[0].message))

    def test_html(self):
        for x, parts in [(sn.tensor([1.0, 2.0]), ["float32", "(2,)", "cpu", "tensor([1., 2.])"]), (sn.tensor(1) + 1, ["int64", "not evaluated"]),
                         (sn.tensor(np.zeros((0, 3))), ["float64", "(0, 3)"]), (sn.tensor([[np.nan, np.inf]]), ["nan"])]:
            for part in parts:
                self.assertIn(part, x._repr_html_())
        for dtype in ["bool", "int8", "bfloat16", "complex64"]:
            for shape in [(5,), (1, 2), (2000, 3), (1001,), (2, 2, 2), ()]:
                self.assertIn(dtype, sn.tensor(np.ones(shape)).to(dtype)._repr_html_())

    def test_names_of_classes(self):
        for name in ("Tensor", "Expression", "Operand", "dtype", "device", "exp"):
            self.assertEqual((getattr(sn, name).__module__, getattr(sn, name).__name__), ("sinter_jit", name))


if __name__ == "__main__":
    main()
