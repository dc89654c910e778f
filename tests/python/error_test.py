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
