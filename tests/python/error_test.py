"""Which exceptions are raised, and that their text is complete."""
import builtins

import sinter_jit as sn
from case import DEVICES, Case, main


class Errors(Case):
    def test_classes(self):
        for name, also in [("DeviceError", RuntimeError), ("ShapeError", ValueError), ("DTypeError", TypeError),
                           ("IndexError", builtins.IndexError), ("OutOfMemoryError", MemoryError), ("CudaError", RuntimeError),
                           ("FormatError", ValueError), ("CompileError", RuntimeError), ("ParseError", ValueError)]:
            error = getattr(sn, name)
            self.assertTrue(issubclass(error, sn.Error) and issubclass(error, also), name)
            self.assertEqual((error.__module__, error.__name__), ("sinter_jit", name))
            self.assertTrue(error.__doc__)
        self.assertTrue(issubclass(sn.Error, RuntimeError))

    def test_texts_are_the_librarys(self):
        x, y = sn.tensor([[1.0, 2, 3]]), sn.tensor([1.0, 2])
        for error, text, wrong in [
                (sn.ShapeError, "add: the shapes do not broadcast: float32 (1, 3) on cpu, float32 (2,) on cpu", lambda: x + y),
                (sn.IndexError, "out of range", lambda: x.sum(5)),
                (sn.DTypeError, "float32", lambda: x & x),
                (sn.DTypeError, "there is no dtype 'f33'", lambda: x.to("f33"))]:
            with self.assertRaises(error) as caught:
                wrong()
            self.assertIn(text, str(caught.exception))

    def test_texts_speak_python(self):
        x, i = sn.tensor([[1.0, 2, 3]]), sn.tensor([1, 2, 3])
        for wrong, text in [
                (lambda: x << 1, 'bitwise_left_shift(float32, a Python int): bitwise_left_shift takes integers, not bool or floats: '
                                 'convert with x.to("int32")'),
                (lambda: sn.dot(x[0], i), "dot(float32, int64): dot takes two operands of one dtype"),
                (lambda: sn.norm(i), 'norm: takes floats, not int64 (3,) on cpu: convert with x.to("float32")'),
                (lambda: sn.mse_loss(x, sn.tensor([1.0, 2])), "mse_loss: The size of tensor a (3)"),
                (lambda: x.max(4), "max: Dimension out of range"),
                (lambda: sn.concatenate([x, i]), "concatenate: sizes of tensors must match"),
                (lambda: sn.clamp(x), "clamp takes 'min', 'max' or both, but neither is given"),
                (lambda: sn.clip(x, "a"), "clip: the argument 'min' must be a tensor or a number, but got 'a'"),
                (lambda: sn.gelu(x, approximate=1), "gelu: the argument 'approximate' must be a str, but got the number 1"),
                (lambda: sn.sum(x, axis=0.5), "sum: the argument 'axis' must be an axis or a list of axes, but got the number 0.5"),
                (lambda: x.reshape("2"), "reshape: the argument 'shape' must be a list of integers, as in (2, 3), but got a list with '2'"),
                (lambda: x.to(3.5), 'to: the argument \'target\' must be a dtype, such as sinter_jit.float32 or "float32", but got 3.5 (float)'),
                (lambda: sn.grad(x.sum(), x * 2), "an object of type sinter_jit.Expression"),
                (lambda: sn.grad(x, x, seed="a"), "grad: the argument 'seed' must be a tensor or a number, but got 'a' (str)"),
                (lambda: sn.grad(x.sum(), sn.tensor([1.0])), "or ask for zeros with allow_unused=True"),
                (lambda: sn.asarray([1], dtype="uint8") * 300, 'convert the tensor first, with .to("int64")'),
                (lambda: x[[5]].eval(), "index 5 is out of range"),
                (lambda: (i // 0).eval(), "an integer was divided by zero")]:
            with self.subTest(text), self.assertRaises((sn.Error, TypeError)) as caught:
                sn.evaluate(wrong())
            with self.subTest(text):
                self.assertTrue(str(caught.exception).startswith(text) or text in str(caught.exception)[20:], str(caught.exception))
                for foreign in ("cast<", "sn::", "std::", ">(", "C++"):
                    self.assertNotIn(foreign, str(caught.exception))

    def test_missing_arguments(self):
        for name, parameters, *_ in sn._core._operations():
            if any("=" not in p and not p.startswith("*") for p in parameters[name.endswith("_"):]):
                with self.subTest(name), self.assertRaises(TypeError):
                    getattr(sn.Tensor if name.endswith("_") else sn, name)(*[sn.tensor([1.0])] * name.endswith("_"))

    def test_texts_that_are_cut_are_whole_characters(self):
        for text in ["$" + "\u00e9" * 100, "\u00e9" * 100 + "$" + "\u00e9" * 100, "x + \U0001f600" + "\u00e9" * 99]:
            with self.assertRaises(sn.ParseError):
                sn.parse(text, x=sn.tensor([1.0]))

    def test_devices(self):
        for device in DEVICES[1:]:
            x, y = sn.tensor([1.0]), sn.tensor([1.0], device=device)
            with self.assertRaises(sn.DeviceError) as caught:
                (x + y).eval()
            self.assertIn(device, str(caught.exception))
            with self.assertRaises(sn.DeviceError):
                sn.parse("x + y", x=x, y=y).eval()
        with self.assertRaises(sn.DeviceError):
            sn.device_name(99)

    def test_memory(self):
        with self.assertRaises((sn.OutOfMemoryError, sn.ShapeError)):
            (sn.tensor([1.0]).expand(2**45) + 1).eval()
        with self.assertRaises(sn.ShapeError):
            sn.tensor([1.0]).expand(-5)

    def test_integers_divided_by_zero(self):
        for device in DEVICES:
            with self.assertRaisesRegex(sn.Error, "zero"):
                (sn.tensor([1], device=device) // sn.tensor([0], device=device)).eval()
                sn.synchronize(device)

    def test_the_library_works_after_errors(self):
        self.assertEqual((sn.tensor([1.0]) + 1).item(), 2)

    def test_names_of_operations(self):
        with self.assertRaises(AttributeError):
            sn._core._call("no_such_operation", False, (), {})
        with self.assertRaises(AttributeError):
            sn.no_such_operation
        with self.assertRaises(AttributeError):
            sn.tensor([1.0]).no_such_method

    def test_objects_are_made_by_functions_alone(self):
        for made in (sn.Tensor, sn.Expression, sn.Operand):
            with self.assertRaises(TypeError):
                made()


if __name__ == "__main__":
    main()
