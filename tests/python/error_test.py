"""Which exceptions are raised, and that their text is complete."""
import builtins

import sinter
from case import DEVICES, Case, main


class Errors(Case):
    def test_classes(self):
        for name, also in [("DeviceError", RuntimeError), ("ShapeError", ValueError), ("DTypeError", TypeError),
                           ("IndexError", builtins.IndexError), ("OutOfMemoryError", MemoryError), ("CudaError", RuntimeError),
                           ("FormatError", ValueError), ("CompileError", RuntimeError), ("ParseError", ValueError)]:
            error = getattr(sinter, name)
            self.assertTrue(issubclass(error, sinter.Error) and issubclass(error, also), name)
            self.assertEqual((error.__module__, error.__name__), ("sinter", name))
            self.assertTrue(error.__doc__)
        self.assertTrue(issubclass(sinter.Error, RuntimeError))

    def test_texts_are_the_librarys(self):
        x, y = sinter.tensor([[1.0, 2, 3]]), sinter.tensor([1.0, 2])
        for error, text, wrong in [
                (sinter.ShapeError, "add: the shapes do not broadcast: float32 (1, 3) on cpu, float32 (2,) on cpu", lambda: x + y),
                (sinter.IndexError, "out of range", lambda: x.sum(5)),
                (sinter.DTypeError, "float32", lambda: x & x),
                (sinter.DTypeError, "there is no dtype 'f33'", lambda: x.to("f33"))]:
            with self.assertRaises(error) as caught:
                wrong()
            self.assertIn(text, str(caught.exception))

    def test_texts_that_are_cut_are_whole_characters(self):
        for text in ["$" + "\u00e9" * 100, "\u00e9" * 100 + "$" + "\u00e9" * 100, "x + \U0001f600" + "\u00e9" * 99]:
            with self.assertRaises(sinter.ParseError):
                sinter.parse(text, x=sinter.tensor([1.0]))

    def test_devices(self):
        for device in DEVICES[1:]:
            x, y = sinter.tensor([1.0]), sinter.tensor([1.0], device=device)
            with self.assertRaises(sinter.DeviceError) as caught:
                (x + y).eval()
            self.assertIn(device, str(caught.exception))
            with self.assertRaises(sinter.DeviceError):
                sinter.parse("x + y", x=x, y=y).eval()
        with self.assertRaises(sinter.DeviceError):
            sinter.device_name(99)

    def test_memory(self):
        with self.assertRaises((sinter.OutOfMemoryError, sinter.ShapeError)):
            (sinter.tensor([1.0]).expand(2**45) + 1).eval()
        with self.assertRaises(sinter.ShapeError):
            sinter.tensor([1.0]).expand(-5)

    def test_integers_divided_by_zero(self):
        for device in DEVICES:
            with self.assertRaisesRegex(sinter.Error, "zero"):
                (sinter.tensor([1], device=device) // sinter.tensor([0], device=device)).eval()
                sinter.synchronize(device)

    def test_the_library_works_after_errors(self):
        self.assertEqual((sinter.tensor([1.0]) + 1).item(), 2)

    def test_names_of_operations(self):
        with self.assertRaises(AttributeError):
            sinter._core._call("no_such_operation", False, (), {})
        with self.assertRaises(AttributeError):
            sinter.no_such_operation
        with self.assertRaises(AttributeError):
            sinter.tensor([1.0]).no_such_method

    def test_objects_are_made_by_functions_alone(self):
        for made in (sinter.Tensor, sinter.Expression, sinter.Operand):
            with self.assertRaises(TypeError):
                made()


if __name__ == "__main__":
    main()
