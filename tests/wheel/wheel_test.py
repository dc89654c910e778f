"""What a wheel contains, and that it works where it is installed. tests/wheel/check runs this there:
    python wheel_test.py WHEEL SOURCE_FOLDER
"""
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile

import numpy as np

import sinter_jit as sn

WHEEL, SOURCE = map(pathlib.Path, sys.argv[1:3])
COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "sinter-jit"
MAX_BYTES = 20_000_000
# Libraries of the system that every manylinux platform has.
SYSTEM = ("libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6", "libz.so.1", "libdl.so.2", "libpthread.so.0", "ld-linux")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Contents(unittest.TestCase):
    def setUp(self):
        self.archive = zipfile.ZipFile(WHEEL)
        self.addCleanup(self.archive.close)
        self.names = self.archive.namelist()

    def text(self, end):
        name, = [n for n in self.names if n.endswith(end)]
        return self.archive.read(name).decode()

    def test_size(self):
        self.assertLess(WHEEL.stat().st_size, MAX_BYTES)

    def test_tag(self):
        version = sys.version_info
        own = f"cp{version.major}{version.minor}"
        tag = f"{own}-{own}" if version < (3, 12) else "cp312-abi3"
        self.assertRegex(WHEEL.name, rf"^sinter_jit-[0-9.]+-{tag}-manylinux_2_\d+_\w+\.whl$")

    def test_files(self):
        there = {name.split("/")[0] for name in self.names}
        version = WHEEL.name.split("-")[1]
        self.assertEqual(there, {"sinter_jit", "sinter_jit.libs", f"sinter_jit-{version}.dist-info"})
        files = {name.partition("/")[2] for name in self.names if name.startswith("sinter_jit/") and not name.endswith("/")}
        files = {"_core.so" if f.startswith("_core.") else f for f in files}
        source = SOURCE / "dsl/python/sinter_jit"
        package = {str(p.relative_to(source)) for p in source.rglob("*") if p.is_file() and p.parent.name != "__pycache__"}
        self.assertEqual(files, package | {"_core.so"})

    def test_libraries_are_inside_or_of_the_system(self):
        bundled = [pathlib.Path(n).name for n in self.names if n.startswith("sinter_jit.libs/") and ".so" in n]
        installed = pathlib.Path(sn.__file__).parent
        for file in [next(installed.glob("_core.*so")), *(installed.parent / "sinter_jit.libs").iterdir()]:
            for line in run("ldd", str(file)).splitlines():
                name = pathlib.Path(line.split()[0]).name
                self.assertTrue(name in bundled or name.startswith((*SYSTEM, "linux-vdso")), line)
                self.assertNotIn("not found", line)

    def test_licenses(self):
        texts = self.text("third-party-licenses.txt")
        self.assertIn("Apache License", self.text("licenses/LICENSE"))
        for name in self.names:
            if name.startswith("sinter_jit.libs/") and ".so" in name:
                library = pathlib.Path(name).name.split("-")[0]
                self.assertIn(f"({library})", texts)

    def test_nothing_names_the_folders_that_it_was_built_in(self):
        for name in self.names:
            self.assertNotIn(str(SOURCE).encode(), self.archive.read(name), name)

    def test_metadata(self):
        text = self.text("METADATA")
        for line in ("Name: sinter-jit", f"Version: {sn.__version__}", "License-Expression: Apache-2.0",
                     "Provides-Extra: cuda", "Provides-Extra: openblas", "Requires-Python: >=3.9"):
            self.assertIn(line, text.splitlines())


class Installed(unittest.TestCase):
    def test_it_is_the_one_that_was_installed(self):
        self.assertTrue(pathlib.Path(sn.__file__).is_relative_to(sysconfig.get_path("platlib")), sn.__file__)

    def test_fused_expression(self):
        a = np.linspace(0, 1, 100_000, dtype=np.float32)
        x = sn.from_numpy(a)
        before = sn.jit_stats()["launches"]
        made = ((x + 2).exp() * x).numpy()
        self.assertEqual(sn.jit_stats()["launches"] - before, 1)
        np.testing.assert_allclose(made, np.exp(a + 2) * a, rtol=1e-6)

    def test_matmul_by_the_wheel_of_openblas(self):
        a = np.random.default_rng(1).standard_normal((70, 50)).astype("f4")
        made = (sn.from_numpy(a) @ sn.from_numpy(np.ascontiguousarray(a.T)) + 1).numpy()
        np.testing.assert_allclose(made, a @ a.T + 1, rtol=1e-4, atol=1e-4)
        self.assertIn("/scipy_openblas32/", pathlib.Path("/proc/self/maps").read_text())

    def test_tool(self):
        for command in ([sys.executable, "-m", "sinter_jit"], [str(COMMAND)]):
            self.assertEqual(run(*command, "run", "2 ** 10"), "tensor(1024)\n")
            self.assertIn(f"usage: {'python3 -m sinter_jit' if '-m' in command else 'sinter-jit'} COMMAND", run(*command, "--help"))
            wrong = subprocess.run([*command, "rum"], capture_output=True, text=True, check=False)
            self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
            self.assertIn("did you mean 'run'?", wrong.stderr)

    def test_export(self):
        with tempfile.TemporaryDirectory() as folder:
            files = sn.export_kernel("exp(z + s)", args="z: f32[n], s: f32", name="fused", archs=[], out=folder)
            self.assertEqual(set(files), {"fused.c", "fused.h"})
            self.assertEqual({p.name for p in pathlib.Path(folder).iterdir()}, set(files))

    def test_errors_are_the_librarys(self):
        with self.assertRaises(sn.ShapeError):
            sn.tensor([1.0]).reshape(2)
        with self.assertRaises(sn.ParseError):
            sn.parse("1 +")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
