"""Operations, operators and texts against NumPy; what is lazy and what fuses."""
import inspect
import keyword
import operator

import numpy as np

import sinter_jit as sn
from case import DEVICES, Case, main

UNARY = {"exp": np.exp, "sin": np.sin, "tanh": np.tanh, "abs": np.abs, "neg": np.negative, "square": np.square, "floor": np.floor,
         "sign": np.sign}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
          "hypot": np.hypot}


class Operators(Case):
    def test_operators_and_reflected_ones(self):
        a, b = self.array((3, 4), "float32"), np.abs(self.array((4,), "float32")) + np.float32(0.5)
        for device in DEVICES:
            x, y = sn.tensor(a, device=device), sn.tensor(b, device=device)
            for f in [operator.add, operator.sub, operator.mul, operator.truediv]:
                self.assert_equal(f(x, y), f(a, b))
                self.assert_equal(f(x, 2), f(a, np.float32(2)))
                self.assert_equal(f(3, y), f(np.float32(3), b))
                self.assert_equal(f(2.5, y), f(np.float32(2.5), b))
            for f in [operator.floordiv, operator.mod, operator.pow]:
                self.assert_close(f(abs(x), y), f(np.abs(a), b))
                self.assert_close(f(2, y), f(np.float32(2), b))
            for f in [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]:
                self.assert_equal(f(x, y), f(a, b))
                self.assert_equal(f(0.5, y), f(np.float32(0.5), b))
            self.assert_equal(-x, -a)
            self.assert_equal(+x, a)
            self.assert_equal(abs(x), abs(a))

    def test_operators_of_integers(self):
        a, b = self.array((5,), "int32"), self.array((5,), "int32") + 1
        for device in DEVICES:
            x, y = sn.tensor(a, device=device), sn.tensor(b, device=device)
            for f in [operator.and_, operator.or_, operator.xor, operator.floordiv, operator.mod]:
                self.assert_equal(f(x, y), f(a, b))
                self.assert_equal(f(7, y), f(np.int32(7), b))
            self.assert_equal(~x, ~a)
            self.assert_equal(x << 2, a << 2)
            self.assert_equal(1 << (y % 8), np.int32(1) << (b % 8))
            self.assert_equal(x >> 1, a >> 1)

    def test_matmul(self):
        a, b = self.array((3, 4), "float64"), self.array((4, 5), "float64")
        for device in DEVICES:
            x, y = sn.tensor(a, device=device), sn.tensor(b, device=device)
            self.assert_close(x @ y, a @ b, 1e-12)
            self.assert_close((x + 1) @ y * 2, (a + 1) @ b * 2, 1e-12)
            self.assert_close(x @ y[:, 0], a @ b[:, 0], 1e-12)
        with self.assertRaises(sn.ShapeError):
            x @ x
        with self.assertRaisesRegex(TypeError, "number"):
            x @ 2

    def test_numbers_that_make_no_sense(self):
        x = sn.tensor([1.0, 2.0])
        with self.assertRaisesRegex(sn.Error, "min_val is 2 and max_val is 1"):
            sn.hardtanh(x, 2)
        with self.assertRaisesRegex(sn.Error, "rtol is -1"):
            x.isclose(x, rtol=-1)
        with self.assertRaisesRegex(sn.Error, "atol is -1"):
            x.isclose(x, atol=-1)

    def test_weak_numbers(self):
        for dtype, number, expected in [("int32", 2, "int32"), ("int32", 2.5, "float32"), ("float16", 2.5, "float16"),
                                        ("bool", 2, "int64"), ("float64", 1j, "complex128"), ("int8", True, "int8"),
                                        ("float32", np.float64(2), "float32"), ("float32", np.int64(2), "float32")]:
            x = sn.tensor([1], dtype=dtype)
            self.assertEqual((x * number).dtype, sn.dtype(expected), (dtype, number))
            self.assertEqual((number * x).dtype, sn.dtype(expected), (dtype, number))

    def test_other_objects(self):
        x = sn.tensor([1.0])
        for other in ["1", None, object(), [1], {}, sn.float32]:
            with self.subTest(other=other), self.assertRaises(TypeError):
                x + other
            with self.subTest(other=other), self.assertRaises(TypeError):
                other * x
        self.assertFalse(x == None)  # noqa: E711  as Python compares
        self.assertTrue(x != "text")
        with self.assertRaises(OverflowError):
            x + 2**64

        class Asks:
            def __radd__(self, other):
                return "asked"
        self.assertEqual(x + Asks(), "asked")

    def test_identity_is_the_hash(self):
        x, y = sn.tensor([1.0]), sn.tensor([1.0])
        self.assertEqual(len({x, y, x}), 2)


class Operations(Case):
    def test_all_of_them_are_there(self):
        names = [name for name, *_ in sn._core._operations()]
        self.assertEqual(names, sorted(set(names)))
        self.assertGreater(len(names), 140)
        for name in names:
            self.assertFalse(keyword.iskeyword(name))
            self.assertTrue(getattr(sn.Tensor if name.endswith("_") else sn, name).__doc__, name)
        methods = {name for name, _, _, _, is_method, _ in sn._core._operations() if is_method}
        self.assertGreater(len(methods), 200)
        for name in methods:
            self.assertTrue(callable(getattr(sn.Tensor, name)))
            self.assertEqual(hasattr(sn.Expression, name), not name.endswith("_"), name)

    def test_signatures(self):
        for f, text in [(sn.softmax, "(input, axis, *, dtype=None)"), (sn.amax, "(input, axis=None, keepdim=False)"),
                        (sn.sum, "(input, axis=None, keepdim=False, *, dtype=None)"), (sn.zeros, "(*size, dtype=None, device=None)"),
                        (sn.gelu, "(input, approximate='none')"), (sn.Tensor.scatter_, "(self, axis, index, src=None, *, value=None)"),
                        (sn.clamp, "(input, min=None, max=None)"),
                        (sn.var, "(input, axis=None, correction=1, keepdim=False, *, unbiased=None)"),
                        (sn.layer_norm, "(input, normalized_shape, weight=None, bias=None, eps=1e-05)"),
                        (sn.Tensor.where, "(self, condition, other)"), (sn.Tensor.exp, "(self)")]:
            self.assertEqual(str(inspect.signature(f)), text)

    def test_every_operation_of_one_tensor(self):
        """As a function and as a method; operations that do not take floats take integers."""
        x, i = sn.tensor([[0.25, 0.5]]), sn.tensor([[1, 2]])
        ran = 0
        for name, parameters, _, returns, is_method, _ in sn._core._operations():
            required = [p for p in parameters if "=" not in p and p != "*"]
            if len(required) != 1 or name in ("clamp", "clip") or not is_method or returns not in ("Expression", "Operand"):
                continue
            if name.endswith("_"):
                continue
            for operand in (x, i, sn.tensor([[1j]])):
                try:
                    e = getattr(sn, name)(operand)
                except sn.DTypeError:
                    continue
                self.assertIsInstance(e, sn.Operand)
                self.assertEqual(getattr(operand, name)().dtype, e.dtype)
                ran += 1
                break
            else:
                self.fail(f"{name} takes no dtype")
        self.assertGreater(ran, 70)

    def test_arguments(self):
        a = self.array((3, 4), "float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            self.assert_close(x.sum(), a.sum())
            self.assert_close(x.sum(0), a.sum(0))
            self.assert_close(x.sum(dim=(0, -1), keepdim=True), a.sum((0, 1), keepdims=True))
            self.assert_close(x.mean(axis=[1], keepdims=True), a.mean(1, keepdims=True))
            self.assert_close(x.var(1, correction=0), a.var(1))
            self.assert_equal(x.clamp(min=0), a.clip(min=0))
            self.assert_equal(x.clamp(max=0.5), a.clip(max=np.float32(0.5)))
            self.assert_equal(sn.clamp(x, -1, 1), a.clip(-1, 1))
            self.assert_equal(sn.where(x > 0, x, 0), np.where(a > 0, a, np.float32(0)))
            self.assert_equal(x.where(x > 0, 0), np.where(a > 0, a, np.float32(0)))
            self.assert_equal(x.max(), a.max())
            self.assert_equal(sn.maximum(x, 0.25), np.maximum(a, np.float32(0.25)))
            self.assert_equal(x.argmax(1), a.argmax(1))
            self.assert_close(x.softmax(-1), np.exp(a) / np.exp(a).sum(-1, keepdims=True))
            self.assert_close(sn.layer_norm(x, (4,)), (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5))
            self.assert_close(x.norm(), np.sqrt((a * a).sum()))

    def test_wrong_arguments(self):
        x = sn.tensor([[1.0, 2]])
        for call, text in [(lambda: x.softmax(), "axis"), (lambda: x.sum(0, True, 3), "takes 3 positional arguments, but 4 are given; 'dtype' is passed by name"),
                           (lambda: x.sum(axs=0), "no argument 'axs'.*axis"), (lambda: x.sum(axis="0"), "sum"),
                           (lambda: x.sum(0, axis=0), "twice"), (lambda: sn.exp(), "missing"), (lambda: x.sum(keepdim=1), "True or False"),
                           (lambda: x.sum(axis=0.5), "axis"), (lambda: sn.exp("text"), "'text'"), (lambda: x.to(), None)]:
            if text is None:
                self.assertIs(call(), x)
                continue
            with self.assertRaisesRegex(TypeError, text) as caught:
                call()
            self.assertNotIn("^", str(caught.exception))
        nested = []
        nested.append(nested)
        with self.assertRaises(TypeError):
            x.sum(nested)
        with self.assertRaises(sn.IndexError):
            x.sum(2)
        with self.assertRaises(IndexError):
            x.sum((0, 0))

    def test_random_expressions(self):
        for device in DEVICES:
            for _ in range(25 if device == "cpu" else 4):
                arrays = [self.array(shape, "float64") for shape in [(3, 1, 4), (2, 4), (4,)]]
                values = [(sn.tensor(a, device=device), a) for a in arrays]
                text = []
                for _ in range(self.random.randrange(1, 12)):
                    if self.random.random() < 0.4:
                        name = self.random.choice(list(UNARY))
                        x, a = self.random.choice(values)
                        if name in ("exp", "square"):
                            x, a = sn.tanh(x), np.tanh(a)
                        values.append((getattr(x, name)(), UNARY[name](a)))
                    else:
                        name = self.random.choice(list(BINARY))
                        (x, a), (y, b) = self.random.choice(values), self.random.choice(values)
                        if self.random.random() < 0.3:
                            y = b = round(self.random.uniform(-2, 2), 2)
                        values.append((getattr(sn, name)(x, y), BINARY[name](a, b)))
                    text.append(name)
                e, expected = values[-1]
                with self.subTest(device=device, operations=text):
                    self.assertIsInstance(e, sn.Expression)
                    np.testing.assert_allclose(np.asarray(e.to("cpu")), expected, rtol=1e-9, atol=1e-9)


class Lazy(Case):
    def test_one_kernel(self):
        for device in DEVICES:
            z, y = (sn.tensor(self.array((1000,), "float32"), device=device) for _ in range(2))
            before = sn.jit_stats()["launches"]
            e = (z + 2).exp() * y
            self.assertEqual(sn.jit_stats()["launches"], before)
            self.assertEqual((e.shape, e.dtype, e.device, len(e)), ((1000,), z.dtype, z.device, 1000))
            r = e.eval()
            self.assertEqual(sn.jit_stats()["launches"], before + 1)
            self.assertIsInstance(r, sn.Tensor)
            self.assertIs(r.eval(), r)

    def test_together(self):
        z = sn.tensor([1.0, 2])
        total, r, same = sn.evaluate((z * 2).sum(), z * 2, z)
        self.assertEqual((total.item(), r.tolist()), (6, [2, 4]))
        self.assertIs(same, z)
        self.assertIsInstance(sn.evaluate(z + 1), sn.Tensor)
        self.assertEqual(sn.evaluate(), ())
        with self.assertRaises(TypeError):
            sn.evaluate(1)

    def test_numbers_alone(self):
        self.assertAlmostEqual(sn.exp(1.0).item(), np.e, 6)
        self.assertEqual(sn.add(2, 3).item(), 5)
        self.assertEqual((sn.exp(1.0) * sn.tensor([1, 2], dtype="float16")).dtype, sn.float16)

    def test_a_leaf_that_was_written_to(self):
        x = sn.tensor([1.0, 2])
        e = x + 1
        x[0] = 5
        with self.assertRaises(sn.Error):
            e.eval()

    def test_a_leaf_that_was_written_to_through_another_tensor(self):
        a = np.arange(6, dtype="f4")
        for other in [sn.from_numpy(a), sn.from_numpy(a[2:]), sn.from_dlpack(a)]:
            x = sn.from_numpy(a)
            e = x + 1
            other[0] = 7
            with self.assertRaisesRegex(sn.Error, "was written to"):
                e.eval()
        x = sn.tensor([1.0, 2.0])  # the same for Sinter's own memory
        e = x + 1
        sn.from_numpy(x.numpy())[0] = 7
        with self.assertRaisesRegex(sn.Error, "was written to"):
            e.eval()
        x, apart = sn.from_numpy(a[:3]), sn.from_numpy(a[3:])
        e = x + 1
        apart[0] = 7
        self.assertEqual(e.tolist(), [a[0] + 1, a[1] + 1, a[2] + 1])

    def test_results_are_kept(self):
        a = np.ones(3, "f4")
        x = sn.from_numpy(a)
        e = x + 1
        a[0] = 2
        self.assertEqual(e.tolist(), [3, 2, 2])
        r = e.eval()
        r[1] = 7  # a copy
        self.assertEqual(e.tolist(), [3, 2, 2])
        a[2] = 5
        self.assertEqual((x + 1).tolist(), [3, 2, 6])

    def test_a_loop_that_grows(self):
        x = sn.tensor([0.0, 1.0])
        e = x
        for _ in range(20000):
            e = e + 1
        self.assertEqual(e.tolist(), [20000, 20001])
        del e

    def test_inspection(self):
        z = sn.tensor([1.0, 2])
        e = (z + 2).exp() * z
        before = sn.jit_stats()["launches"]
        self.assertIn("kernel", e.explain())
        self.assertIn("__global__", e.cuda_source())
        self.assertIn("digraph", e.to_dot())
        self.assertIn("float32", z.explain() + repr(z.dtype))
        self.assertEqual(sn.jit_stats()["launches"], before)
        try:
            self.assertIn(".target sm_80", e.ptx("sm_80"))
        except sn.DeviceError as error:  # no NVRTC
            self.assertIn("NVRTC", str(error))
        with self.assertRaises(sn.Error):
            e.ptx("sm_none")


class Text(Case):
    def test_parse(self):
        a, b = self.array((3, 4), "float32"), self.array((4,), "float32")
        for device in DEVICES:
            z, y = sn.tensor(a, device=device), sn.tensor(b, device=device)
            self.assert_close(sn.parse("exp(z / 4 + s) * y", z=z, y=y, s=2), np.exp(a / 4 + 2) * b)
            self.assert_equal(sn.parse("e + 1", e=z * 2), a * np.float32(2) + np.float32(1))
        self.assertEqual(sn.parse("2 ** 10").item(), 1024)
        self.assertEqual(sn.parse("x * s", x=sn.tensor([1], dtype="float16"), s=2.5).dtype, sn.float16)

    def test_errors_show_the_place(self):
        z = sn.tensor([1.0])
        with self.assertRaisesRegex(sn.ParseError, r"did you mean 'exp'.*\n  2 \* expp\(z\)\n      \^\^\^\^") as caught:
            sn.parse("2 * expp(z)", z=z)
        self.assertEqual(caught.exception.position, 4)
        with self.assertRaisesRegex(sn.ShapeError, r"\^"):
            sn.parse("z + w", z=sn.tensor([1, 2]), w=sn.tensor([1, 2, 3]))
        for text in ["", "z +", "z[0.5]", "a", "(", "\0", "z" * 1000, "(" * 10000, "1 if z else 2", "żółw + 1", "z.exp"]:
            with self.subTest(text=text[:20]), self.assertRaises(sn.Error):
                sn.parse(text, z=z)
        for wrong in [None, 1, z]:
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                sn.parse(wrong, z=z)
        with self.assertRaises(TypeError):
            sn.parse("z", z="text")
        with self.assertRaises(TypeError):
            sn.parse("z", z=[z])


if __name__ == "__main__":
    main()
