"""Functions written in C."""
import ctypes
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

import sinter_jit as sn
from case import Case, main

leaky = sn.device_function("float leaky(float x, float a) { return x > 0 ? x : a * x; }",
                           derivatives=["return x > 0 ? g : a * g;", "return x > 0 ? 0 : x * g;"])


class DeviceFunction(Case):
    def test_is_part_of_the_kernel(self):
        values = np.random.default_rng(1).normal(size=(7, 33)).astype(np.float32)
        for device in ("cpu", *("cuda:0" for _ in range(min(1, sn.device_count())))):
            x = sn.tensor(values).to(device)
            launches = sn.jit_stats()["launches"]
            y = (leaky(x + 1, a=0.5) * 2).eval()
            self.assertEqual(sn.jit_stats()["launches"] - launches, 1)
            expected = np.where(values + 1 > 0, values + 1, np.float32(0.5) * (values + 1)) * 2
            np.testing.assert_allclose(y.to("cpu").numpy(), expected, rtol=1e-6)

    def test_has_a_gradient(self):
        x = sn.tensor([-2.0, 3.0])
        self.assertEqual(sn.grad(leaky(x, 0.5).sum(), x).eval().tolist(), [0.5, 1.0])

    def test_is_called_by_texts(self):
        x = sn.tensor([-2.0, 3.0])
        self.assertEqual(sn.parse("leaky(x, a=0.5) + 1", x=x).eval().tolist(), [0.0, 4.0])
        with tempfile.TemporaryDirectory() as folder:
            sn.export_kernel("leaky(x, 0.5) * 2", args="x: f32[n]", name="k", archs=[], out=folder)
            subprocess.run([shutil.which("cc") or "gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                            "k.c", "-o", "libk.so", "-lm"], cwd=folder, check=True)
            kernel = ctypes.CDLL(pathlib.Path(folder) / "libk.so").k_cpu
            floats = np.ctypeslib.ndpointer(np.float32, flags="C_CONTIGUOUS")
            kernel.argtypes = [floats, floats, ctypes.c_int64]
            out = np.empty(2, np.float32)
            self.assertEqual(kernel(out, np.array([-2, 3], np.float32), 2), 0)
            self.assertEqual(out.tolist(), [-2, 6])

    def test_has_a_name(self):
        self.assertEqual((leaky.name, repr(leaky)), ("leaky", "<device_function leaky>"))
        self.assertIn("leaky", leaky(sn.ones(2), 1).explain())

    def test_refusals(self):
        x = sn.ones(2)
        for error, said, of in (
                (sn.ParseError, "the type of a parameter", lambda: sn.device_function("float f() { return 1; }")),
                (sn.ParseError, r"'\{' is expected", lambda: sn.device_function("float f(float x)")),
                (sn.Error, "returns nothing", lambda: sn.device_function("float f(float x) { }")),
                (sn.Error, "1 derivatives|derivatives .1. differs", lambda: sn.device_function("float f(float x, float y) { return x; }", ["return g;"])),
                (TypeError, "'definition' must be a str, but got 3", lambda: sn.device_function(3)),
                (TypeError, "'derivatives' must be a list of str", lambda: sn.device_function("float f(float x) { return x; }", "return g;")),
                (TypeError, "'a' must be a tensor or a number, but it is missing", lambda: leaky(x)),
                (TypeError, "has no argument 'b'", lambda: leaky(x, b=1)),
                (TypeError, "", lambda: leaky(x, 1, 2)),
                (TypeError, "", lambda: leaky(x, "1")),
                (TypeError, "at least one tensor", lambda: leaky(1, 2)),
                (sn.DTypeError, "leaky: operand 1 is float64, but parameter x is float32", lambda: leaky(x.to("float64"), 1)),
                (sn.CompileError, "missing", lambda: sn.device_function("float f(float x) { return missing; }")(x).eval())):
            with self.assertRaisesRegex(error, said):
                of()


if __name__ == "__main__":
    main()
