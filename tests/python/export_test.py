"""Kernels for embedding: written from Python, compiled by cc, called through ctypes."""
import ctypes
import json
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

import sinter_jit as sn
from case import Case, main

CC = shutil.which("cc") or "gcc"
pointer = np.ctypeslib.ndpointer
floats = pointer(np.float32, flags="C_CONTIGUOUS")


class Export(Case):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def library(self, name):
        subprocess.run([CC, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-shared", "-fPIC", f"{name}.c", "-o",
                        f"lib{name}.so", "-lm", "-ldl", "-lpthread"], cwd=self.folder, check=True)
        return ctypes.CDLL(self.folder / f"lib{name}.so")

    def test_a_text(self):
        files = sn.export_kernel("exp(z + s) * y", args="z: f32[n, m], y: f32[m], s: f32", name="fused", archs=[], out=self.folder)
        self.assertEqual(sorted(files), ["fused.c", "fused.h"])
        for name, text in files.items():
            self.assertEqual((self.folder / name).read_text(encoding="utf-8"), text)
        z, y, out = self.array((3, 4), "float32"), self.array((4,), "float32"), np.zeros((3, 4), "f4")
        run = self.library("fused").fused_cpu
        run.argtypes = [floats, floats, floats, ctypes.c_int64, ctypes.c_int64, ctypes.c_double]
        self.assertEqual(run(out, z, y, 3, 4, 2.0), 0)
        np.testing.assert_allclose(out, np.exp(z + np.float32(2)) * y, rtol=1e-5)
        self.assertNotEqual(run(out, z, y, -1, 4, 2.0), 0)

    def test_an_expression(self):
        z, y = sn.tensor(np.zeros((5, 6), "f4")), sn.tensor(np.zeros(6, "f4"))
        sn.export_kernel((z + 2).exp() * y, name="e", args={"y": y, "z": z}, sizes={"z": ["rows", "columns"]}, numbers=["shift"],
                             archs=[], out=str(self.folder))
        header = (self.folder / "e.h").read_text(encoding="utf-8")
        for word in ("rows", "columns", "shift"):
            self.assertIn(word, header)
        a, b, out = self.array((2, 3), "float32"), self.array((3,), "float32"), np.zeros((2, 3), "f4")
        run = self.library("e").e_cpu
        run.argtypes = [floats, floats, floats, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64]
        self.assertEqual(run(out, a, b, 2, 3, 1), 0)
        np.testing.assert_allclose(out, np.exp(a + np.float32(1)) * b, rtol=1e-5)

    def test_a_backward_pass(self):
        """Gradients by x and w of layer_norm(x) * w, exported for one size and run for others."""
        def gradients(x, w, dy):
            x, w, dy = map(sn.tensor, (x, w, dy))
            return {"x": x, "w": w, "dy": dy}, sn.grad(sn.layer_norm(x, [x.shape[1]]) * w, x, w, seed=dy)

        args, by = gradients(np.ones((4, 8), "f4"), np.ones(8, "f4"), np.ones((4, 8), "f4"))
        names = {"x": ["rows", "columns"], "w": ["columns"], "dy": ["rows", "columns"]}
        for name, gradient in zip(("dx", "dw"), by):
            used = {k: v for k, v in args.items() if name == "dx" or k != "w"}
            sn.export_kernel(gradient, name=name, args=used, sizes={k: names[k] for k in used}, archs=[], out=self.folder)
        # Parameters are in the order of the expression, which starts with the seed.
        dx, dw = self.library("dx").dx_cpu, self.library("dw").dw_cpu
        dx.argtypes = [floats] * 4 + [ctypes.c_int64] * 2
        dw.argtypes = [floats] * 3 + [ctypes.c_int64] * 2
        for rows, columns in ((1, 1), (3, 5), (17, 64), (2, 1000)):
            x, w, dy = self.array((rows, columns), "float32"), self.array((columns,), "float32"), self.array((rows, columns), "float32")
            _, wanted = gradients(x, w, dy)
            by_x, by_w = np.empty_like(x), np.empty_like(w)
            self.assertEqual(dx(by_x, dy, w, x, rows, columns), 0)
            self.assertEqual(dw(by_w, dy, x, rows, columns), 0)
            np.testing.assert_allclose(by_x, wanted[0].numpy(), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(by_w, wanted[1].numpy(), rtol=1e-4, atol=1e-5)

    def test_several_together_and_options(self):
        z = sn.tensor([1.0, 2])
        files = sn.export_kernel([z + 1, z * 2], name="two", outputs=["more", "twice"], prefix="my_", format="header",
                                     extra=["json", "hpp", "cu", "dot"], archs=[])
        self.assertEqual(sorted(files), ["two.cu", "two.dot", "two.h", "two.hpp", "two.json"])
        for word in ("my_two_cpu", "more", "twice"):
            self.assertIn(word, files["two.h"])
        json.loads(files["two.json"])

    def test_dlpack_and_files_of_binaries(self):
        files = sn.export_kernel("x + 1", args="x: f32[n]", archs=[], dlpack=True)
        self.assertIn("DLTensor", files["kernel.h"] + files["kernel.c"])
        try:
            files = sn.export_kernel("x + 1", args="x: f32[n]", archs=[90], format="fatbin", out=self.folder)
        except sn.DeviceError as error:
            self.assertIn("NVRTC", str(error))
        else:
            self.assertIsInstance(files["kernel.fatbin"], bytes)
            self.assertEqual((self.folder / "kernel.fatbin").read_bytes(), files["kernel.fatbin"])

    def test_the_same_bytes(self):
        made = [sn.export_kernel("softmax(x, -1)", args="x: f32[r, c]", archs=[]) for _ in range(2)]
        self.assertEqual(*made)

    def test_binaries(self):
        try:
            files = sn.export_kernel("x + 1", args="x: f32[n]", archs=[80, 90], extra=["json"])
        except sn.DeviceError as error:
            self.assertIn("NVRTC", str(error))
        else:
            self.assertIn("sm_90", files["kernel.json"])

    def test_what_is_rejected(self):
        z, w = sn.tensor([[1.0, 2], [3, 4]]), sn.tensor([1.0])
        for error, text, wrong in [
                (sn.Error, "product", lambda: sn.export_kernel(z @ z, archs=[])),
                (sn.Error, "does not read", lambda: sn.export_kernel(z + 1, args={"w": w}, archs=[])),
                (sn.Error, "does not name 'scal'.*did you mean 'scale'", lambda: sn.export_kernel("scale + 1", args="scal: f32[n]", archs=[])),
                (sn.ParseError, "has no value", lambda: sn.export_kernel("z + 1", archs=[])),
                (sn.ParseError, "", lambda: sn.export_kernel("z + 1", args="z: f32[", archs=[])),
                (sn.Error, "declare the view itself as an argument", lambda: sn.export_kernel("z.T + 1", args="z: f32[n, m]", archs=[])),
                (sn.Error, "format", lambda: sn.export_kernel(z + 1, format="elf", archs=[])),
                (sn.Error, "extra", lambda: sn.export_kernel(z + 1, extra=["exe"], archs=[])),
                (sn.Error, "", lambda: sn.export_kernel(z + 1, name="not a name", archs=[])),
                (sn.Error, "", lambda: sn.export_kernel([], archs=[])),
                (sn.Error, "args names", lambda: sn.export_kernel("z + 1", args="z: f32[n]", sizes={"z": ["n"]}, archs=[])),
                (sn.Error, "", lambda: sn.export_kernel(z + 1, archs=[], out="/proc/no/folder")),
                (TypeError, "'expression' must be a str, an expression or a list", lambda: sn.export_kernel(None, archs=[])),
                (TypeError, "args", lambda: sn.export_kernel(z + 1, args="z: f32[n]", archs=[])),
                (TypeError, "", lambda: sn.export_kernel(z + 1, archs=["90"])),
                (TypeError, "", lambda: sn.export_kernel(z + 1, archs=90)),
                (TypeError, "", lambda: sn.export_kernel(z + 1, out=3, archs=[])),
                (TypeError, "list of str", lambda: sn.export_kernel(z + 1, extra="cu", archs=[])),
                (TypeError, "", lambda: sn.export_kernel(z + 1, no_such_option=1))]:
            with self.subTest(text=text), self.assertRaisesRegex(error, text):
                wrong()


if __name__ == "__main__":
    main()
