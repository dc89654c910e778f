"""The type hints name what there is, and nothing else."""
import ast
import builtins
import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import sinter
from case import Case, main

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STUB = pathlib.Path(sinter.__file__).with_name("__init__.pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}


def names_of(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


def parameters_of(function):
    a = function.args
    return [p.arg for p in [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs, *([a.kwarg] if a.kwarg else [])]]


class Stub(Case):
    def test_names_of_the_module(self):
        there = {name for name in dir(sinter) if not name.startswith("_")} | {"__version__", "__all__"}
        self.assertEqual(set(names_of(TREE.body)), there)

    def test_a_star_hides_nothing_of_pythons(self):
        names = {}
        exec("from sinter import *", names)
        self.assertIn("softmax", names)
        self.assertEqual([n for n in names if hasattr(builtins, n) and not n.startswith("_")], [])

    def test_names_of_the_classes(self):
        inherited = set(dir(object)) | {"__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__array_ufunc__", "__reduce__"}
        for name in ("Operand", "Tensor", "Expression", "dtype", "device"):
            there = set(vars(getattr(sinter, name)))
            there = {n for n in there if n not in inherited and not n.startswith("_pybind11")} | ({"__init__"} & set(names_of(CLASSES[name].body)))
            with self.subTest(name=name):
                hinted = set(names_of(CLASSES[name].body)) - {"__hash__"}
                self.assertEqual({n for n in hinted if n not in inherited or n == "__init__"}, there)

    def test_parameters_of_operations(self):
        functions = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}
        methods = {node.name: node for node in CLASSES["Operand"].body if isinstance(node, ast.FunctionDef)}
        for name, *_ in sinter._core._operations():
            self.assertEqual(parameters_of(functions[name]), list(inspect.signature(getattr(sinter, name)).parameters))
            self.assertEqual(parameters_of(methods[name]), list(inspect.signature(getattr(sinter.Operand, name)).parameters))

    def test_parameters_of_the_rest(self):
        """As pybind11's docstrings have them."""
        operations = {name for name, *_ in sinter._core._operations()}
        checked = 0
        for where, body in [(sinter, TREE.body), (sinter.Operand, CLASSES["Operand"].body), (sinter.Tensor, CLASSES["Tensor"].body)]:
            for node in body:
                doc = getattr(getattr(where, getattr(node, "name", ""), None), "__doc__", None)
                if not isinstance(node, ast.FunctionDef) or node.name in operations or node.name.startswith("__") or not doc:
                    continue
                found = re.match(rf"{node.name}\((.*)\) ->", doc)
                if not found or node.decorator_list:
                    continue
                named = [re.match(r"\s*\**(\w+)", p).group(1) for p in found.group(1).split(",") if re.match(r"\s*\**\w", p)]
                named = [n for n in named if not re.fullmatch(r"arg\d", n) and n not in ("self", "args", "kwargs") or node.name == "export_kernel"]
                hinted = [n for n in parameters_of(node) if n not in ("self", "operands", "shape", "axes")]
                self.assertEqual(hinted, named, node.name)
                checked += 1
        self.assertGreater(checked, 15)

    def test_the_operations_are_current(self):
        spec = importlib.util.spec_from_file_location("stubs", ROOT / "dsl/python/stubs.py")
        stubs = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(stubs)
        text = stubs.STUB.read_text(encoding="utf-8")
        if os.environ.get("SINTER_UPDATE_GOLDEN"):
            stubs.STUB.write_text(stubs.filled(text), encoding="utf-8")
        elif text != stubs.filled(text):
            self.fail("the type hints are not current: SINTER_UPDATE_GOLDEN=1 writes them")
        self.assertIn("def exp(input: _Value) -> Expression", text)

    def test_the_package_says_that_it_has_hints(self):
        self.assertTrue(STUB.with_name("py.typed").exists())

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not there")
    def test_mypy(self):
        program = ("import numpy as np\nimport sinter\n"
                   "x = sinter.from_numpy(np.ones(3, dtype=np.float32))\n"
                   "e: sinter.Expression = (x + 2).exp() * x / 3 - sinter.where(x > 0, x, 0.0).sum(axis=-1, keepdim=True)\n"
                   "r: sinter.Tensor = e.eval()\n"
                   "f = sinter.export_kernel(e, name='k', archs=[90], extra=['cu'])\n"
                   "d: sinter.dtype = r.dtype\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.py"
            for text, status in [(program, 0), (program + "x.summ()\n", 1), (program + "x.sum(axis='0')\n", 1)]:
                path.write_text(text, encoding="utf-8")
                done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(path)], cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
