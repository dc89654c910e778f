"""NumPy's functions and operators with tensors, against NumPy."""
import tempfile

import numpy as np

import sinter_jit as sn
from case import DEVICES, Case, main

UNARY = ["absolute", "fabs", "negative", "positive", "sign", "rint", "conjugate", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
         "sqrt", "square", "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arctanh",
         "degrees", "radians", "deg2rad", "rad2deg", "isfinite", "isinf", "isnan", "signbit", "floor", "ceil", "trunc", "logical_not"]
BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power", "float_power", "arctan2", "hypot", "greater",
          "greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_xor", "maximum", "minimum",
          "fmax", "fmin", "copysign", "nextafter", "heaviside", "logaddexp", "logaddexp2"]
INTEGERS = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm", "floor_divide", "remainder"]


class Ufuncs(Case):
    def check(self, made, expected, tolerance=1e-5):
        self.assertIsInstance(made, sn.Operand)
        self.assert_close(made, expected, tolerance)

    def test_unary(self):
        a = self.numpy_random.uniform(0.1, 0.9, (3, 4)).astype("float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            for name in UNARY if device == "cpu" else ["sin", "isnan"]:
                with self.subTest(name=name, device=device):
                    made = getattr(np, name)(x)
                    self.check(made, getattr(np, name)(a))
                    self.assertEqual(str(made.device), device)

    def test_binary(self):
        a, b = (self.numpy_random.uniform(0.1, 2, shape).astype("float32") for shape in [(3, 1, 4), (2, 1)])
        x, y = sn.tensor(a), sn.tensor(b)
        for name in BINARY:
            f = getattr(np, name)
            with self.subTest(name=name):
                self.check(f(x, y), f(a, b))
                self.check(f(x, b), f(a, b))
                self.check(f(a, y), f(a, b))
                self.check(f(2.0, y), f(np.float32(2), b))
        i, j = self.numpy_random.integers(1, 9, (2, 5))
        for name in INTEGERS:
            f = getattr(np, name)
            self.check(f(sn.tensor(i), j), f(i, j))
        self.check(np.matmul(x[:, 0], b.repeat(4).reshape(4, 2)), a[:, 0] @ b.repeat(4).reshape(4, 2))
        self.check(np.divmod(x, y)[1], np.divmod(a, b)[1])
        self.check(np.modf(x)[0], np.modf(a)[0])
        self.check(np.add(x, [[1, 2, 3, 4]]), a + [[1, 2, 3, 4]])

    def test_operators_with_arrays(self):
        a, b = self.array((3, 4), "float32"), self.array((4,), "float32") + 3
        for device in DEVICES[:1]:
            x = sn.tensor(a, device=device)
            for made, expected in [(x + b, a + b), (b + x, b + a), (b - x, b - a), (x * b, a * b), (b / (x * x + 1), b / (a * a + 1)),
                                   (b < x, b < a), (x == a, a == a), (a @ x.T, a @ a.T), (x @ b, a @ b), (b ** x, b ** a),
                                   (x + np.float64(2), a + 2), (np.float32(2) * x, 2 * a), (np.array(2, "f4") * x, 2 * a)]:
                self.check(made, expected)
                self.assertIsInstance(made, sn.Expression)

    def test_devices_are_not_mixed(self):
        for device in DEVICES[1:]:
            x, a = sn.tensor([1.0, 2.0], device=device), np.ones(2, "f4")
            for wrong in [lambda: x + a, lambda: a + x, lambda: np.add(x, a), lambda: np.where(a > 0, x, x), lambda: x.maximum(a)]:
                with self.assertRaisesRegex(sn.DeviceError, f"(?s){device}.*to"):
                    wrong()

    def test_out(self):
        a = self.array((3,), "float32")
        x, y, b = sn.tensor(a), sn.tensor(a), np.zeros(3, "f4")
        view = y[1:]
        self.assertIs(np.multiply(x, 2, out=y), y)
        self.assert_equal(view, a[1:] * 2)
        self.assertIs(np.add(x, 1, out=b), b)
        np.testing.assert_array_equal(b, a + 1)
        b += x
        np.testing.assert_array_equal(b, a + 1 + a)
        y[...] = 0
        np.sum(sn.tensor(a[None]), axis=0, out=y)
        self.assert_equal(y, a)
        with self.assertRaisesRegex(TypeError, "an expression has no memory"):
            np.add(x, 1, out=x + 1)
        with self.assertRaises(TypeError):
            np.add(x, 0.5, out=np.zeros(3, "i4"))
        with self.assertRaises(sn.DTypeError):
            np.add(x, 0.5, out=sn.tensor([1, 2, 3]))

    def test_options(self):
        x = sn.tensor([1, 2, 3], dtype="int8")
        self.assertEqual(np.add(x, 1, dtype="float64").dtype, sn.float64)
        self.assert_equal(np.add(x, 1, where=True, casting="same_kind", order="K", subok=True), np.int8([2, 3, 4]))
        with self.assertRaisesRegex(TypeError, "numpy.add: the argument 'where'.*sinter_jit.where"):
            np.add(x, 1, where=x > 1)
        with self.assertRaisesRegex(TypeError, r"no counterpart of numpy.cbrt: numpy.cbrt\(numpy.asarray\(x\)\)"):
            np.cbrt(x)
        with self.assertRaisesRegex(TypeError, "no counterpart of numpy.add.at"):
            np.add.at(x, 0, 1)

    def test_reduce_and_outer(self):
        a = self.array((3, 4), "float32")
        x = sn.tensor(a)
        self.check(np.add.reduce(x), np.add.reduce(a))
        self.check(np.maximum.reduce(x, axis=1, keepdims=True), np.maximum.reduce(a, axis=1, keepdims=True))
        self.check(np.multiply.reduce(x, None), np.multiply.reduce(a, None))
        self.check(np.subtract.outer(x, a[0]), np.subtract.outer(a, a[0]))

    def test_other_classes_have_their_turn(self):
        class Other:
            def __array_ufunc__(self, ufunc, method, *inputs, **options):
                return "other"
        self.assertEqual(np.add(sn.tensor([1.0]), Other()), "other")
        with self.assertRaises(TypeError):
            np.add(sn.tensor([1.0]), object())


class Functions(Case):
    def test_functions(self):
        a = self.array((2, 3, 4), "float32")
        b, i = np.abs(a[0, 0]) + 1, np.array([[2, 0], [1, 1]])
        cases = [lambda x: np.sum(x), lambda x: np.sum(x, axis=(0, -1), keepdims=True), lambda x: np.mean(x, 1), lambda x: np.std(x),
                 lambda x: np.var(x, axis=0, ddof=1), lambda x: np.prod(x, axis=2), lambda x: np.max(x), lambda x: np.amin(x, axis=1),
                 lambda x: np.argmax(x, axis=1), lambda x: np.any(x > 0, axis=0), lambda x: np.all(x > 0), lambda x: np.count_nonzero(x > 0),
                 lambda x: np.nansum(x, axis=0), lambda x: np.nanmax(x), lambda x: np.reshape(x, (4, -1)), lambda x: np.ravel(x),
                 lambda x: np.transpose(x), lambda x: np.transpose(x, (1, 0, 2)), lambda x: np.swapaxes(x, 0, 2),
                 lambda x: np.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, [0, 2], [1, 0]), lambda x: np.squeeze(x[:1]),
                 lambda x: np.squeeze(x[:1, :1], (0, 1)), lambda x: np.expand_dims(x, (0, 2)), lambda x: np.broadcast_to(x, (5, 2, 3, 4)),
                 lambda x: np.flip(x), lambda x: np.flip(x, (0, 2)), lambda x: np.flipud(x), lambda x: np.fliplr(x),
                 lambda x: np.diagonal(x, 1), lambda x: np.trace(x), lambda x: np.where(x > 0, x, b), lambda x: np.clip(x, -0.5, None),
                 lambda x: np.clip(x, -b, b), lambda x: np.round(x, 2), lambda x: np.around(x), lambda x: np.angle(x, deg=True),
                 lambda x: np.real(x), lambda x: np.nan_to_num(x), lambda x: np.isclose(x, b), lambda x: np.take(x, i),
                 lambda x: np.take(x, i, axis=1), lambda x: np.dot(x, b), lambda x: np.dot(x[0], x[1].T), lambda x: np.inner(x[0], b),
                 lambda x: np.vdot(x, x), lambda x: np.outer(x, b), lambda x: np.linalg.norm(x), lambda x: np.linalg.norm(x, axis=1),
                 lambda x: np.linalg.norm(x[0, 0], 1), lambda x: np.linalg.norm(x[0], "fro"), lambda x: np.copy(x), lambda x: np.fix(x),
                 lambda x: np.sinc(x), lambda x: np.mean(x, dtype="float64"), lambda x: np.concatenate([x, x[:, ::-1]], axis=-1),
                 lambda x: np.concatenate([x, np.asarray(x)[:1] * 2]), lambda x: np.concatenate((x, x), axis=None), lambda x: np.stack([x, x], 1),
                 lambda x: np.vstack([x[0], x[1]]), lambda x: np.vstack([x[0, 0], b]), lambda x: np.hstack([x, x]), lambda x: np.hstack([x[0, 0], b]),
                 lambda x: np.column_stack([x[0, 0], b]), lambda x: np.split(x, 2, axis=2)[1], lambda x: np.array_split(x, 3, axis=2)[0],
                 lambda x: np.split(x, [1, 3, 9], axis=-1)[1], lambda x: np.repeat(x, 2), lambda x: np.repeat(x, [1, 0, 2], axis=1),
                 lambda x: np.tile(x, (2, 1, 3)), lambda x: np.roll(x, 2), lambda x: np.roll(x, (1, -1), (0, 2)), lambda x: np.sort(x),
                 lambda x: np.sort(x, axis=None), lambda x: np.argsort(x, axis=1), lambda x: np.cumsum(x), lambda x: np.cumprod(x, axis=1),
                 lambda x: np.nonzero(x > 0)[1], lambda x: np.argwhere(x > 0), lambda x: np.flatnonzero(x > 0),
                 lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), lambda x: np.zeros_like(x), lambda x: np.full_like(x, 2, dtype="int64"),
                 lambda x: np.einsum("ijk,ijk->ij", x, x), lambda x: np.tril(x), lambda x: np.triu(x, 1), lambda x: np.diff(x),
                 lambda x: np.diff(x, 2, axis=1), lambda x: np.tensordot(x, b, 1), lambda x: np.cumsum(x > 0, axis=0)]
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            for n, f in enumerate(cases if device == "cpu" else cases[:2]):
                with self.subTest(number=n, device=device):
                    made, expected = f(x), f(a)
                    self.assertIsInstance(made, sn.Operand)
                    self.assert_close(made, expected)
                    self.assertEqual(str(made.device), device)

    def test_functions_of_python_values(self):
        a = self.array((3, 4), "float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            self.assertEqual((np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)), ((3, 4), 2, 12, 4))
            self.assertIs(np.allclose(x, x + 1e-9), True)
            self.assertIs(np.array_equal(x, x[:, :2]), False)
            self.assertEqual(np.result_type(x, np.float64), np.float64)
            with tempfile.TemporaryFile() as file:
                np.save(file, x)
                file.seek(0)
                np.testing.assert_array_equal(np.load(file), a)
        self.assertTrue(np.array_equal(sn.tensor([1.0, np.nan]), [1.0, np.nan], equal_nan=True))
        self.assertTrue(np.shares_memory(sn.from_numpy(a), a))
        np.copyto(a, x.to("cpu") * 2)
        x = sn.tensor(a)
        np.copyto(x, a + 1, where=x > 0)
        self.assert_equal(x, np.where(a > 0, a + 1, a))

    def test_mistakes(self):
        x = sn.tensor([[1.0, 2.0]])
        for wrong, text in [(lambda: np.fft.fft(x), "no counterpart of numpy.fft.*asarray"),
                            (lambda: np.sum(x, initial=3), "numpy.sum of Sinter's tensors: got an unexpected keyword argument 'initial'"),
                            (lambda: np.reshape(x, (2,), order="F"), "order='F'"), (lambda: np.take(x, [0], mode="wrap"), "mode='wrap'")]:
            with self.assertRaisesRegex(TypeError, text):
                wrong()
        with self.assertRaises(sn.IndexError):
            np.sum(x, axis=2)

    def test_arrays_where_numpy_wants_them(self):
        x = sn.tensor([[1.0, 2.0], [3.0, 4.0]])
        np.testing.assert_array_equal(x, x.numpy())
        np.testing.assert_allclose(x * 2, x.numpy() * 2)
        a = np.zeros((2, 2), "f4")
        a[...] = x
        np.testing.assert_array_equal(a, [[1, 2], [3, 4]])
        a[x > 2] = 0
        np.testing.assert_array_equal(a, [[1, 2], [0, 0]])


if __name__ == "__main__":
    main()
