"""The type hints name everything that exists, and nothing else."""
import ast
import builtins
import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import sinter_jit as sn
import typed_program
from case import Case, main

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STUB = pathlib.Path(sn.__file__).with_name("__init__.pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
OPERATIONS = {name for name, *_ in sn._core._operations()}


def names_of(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id
        elif isinstance(node, ast.ImportFrom) and node.level:  # submodules
            yield from (alias.asname for alias in node.names)


def parameters_of(function):
    a = function.args
    return [p.arg for p in [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs, *([a.kwarg] if a.kwarg else [])]]


def parameters_in(function):
    """In the order of parameters_of."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in sorted(parameters, key=lambda p: p.kind)]


def with_mypy():
    """An interpreter that has mypy and NumPy: they must be installed together, because mypy reads the hints of NumPy."""
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", "import mypy, numpy"], capture_output=True, check=False).returncode == 0:
            return python
    raise AssertionError("mypy, which checks the type hints, is not there: scripts/deps test installs it")


class Stub(Case):
    def test_names_of_the_module(self):
        there = {name for name in dir(sn) if not name.startswith("_")} | {"__version__", "__all__"}
        self.assertEqual(set(names_of(TREE.body)), there)

    def test_a_star_hides_nothing_of_pythons(self):
        names = {}
        exec("from sinter_jit import *", names)
        self.assertIn("softmax", names)
        self.assertEqual([n for n in names if hasattr(builtins, n) and not n.startswith("_")], [])

    def test_names_of_the_classes(self):
        inherited = set(dir(object)) | {"__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__reduce__"}
        for name in ("Operand", "Tensor", "Expression", "Generator", "Event", "Stream", "Mesh", "dtype", "device"):
            there = set(vars(getattr(sn, name)))
            there = {n for n in there if n not in inherited} | ({"__init__"} & set(names_of(CLASSES[name].body)))
            with self.subTest(name=name):
                hinted = set(names_of(CLASSES[name].body)) - {"__hash__", "__buffer__"}  # object's, and one since Python 3.12
                there -= {"__buffer__", "__release_buffer__"}
                there -= {"__setitem__"} if name == "Expression" else set()  # says that it is refused
                if name in ("Tensor", "Expression"):  # what they redeclare of an operand is more specific
                    hinted -= set(names_of(CLASSES["Operand"].body))
                self.assertEqual({n for n in hinted if n not in inherited or n == "__init__"}, there)

    def test_parameters_of_operations(self):
        functions, methods, writes = ({node.name: node for node in reversed(body) if isinstance(node, ast.FunctionDef)}
                                      for body in (TREE.body, CLASSES["Operand"].body, CLASSES["Tensor"].body))
        for name, _, _, _, is_method, _ in sn._core._operations():
            if name.endswith("_"):
                self.assertEqual(parameters_of(writes[name]), parameters_in(getattr(sn.Tensor, name)))
                continue
            self.assertEqual(parameters_of(functions[name]), parameters_in(getattr(sn, name)))
            if is_method:
                self.assertEqual(parameters_of(methods[name]), parameters_in(getattr(sn.Operand, name)))

    def test_parameters_of_the_rest(self):
        """As in nanobind's docstrings."""
        checked = 0
        for where, body in [(sn, TREE.body), (sn.Operand, CLASSES["Operand"].body), (sn.Tensor, CLASSES["Tensor"].body)]:
            for node in body:
                doc = getattr(getattr(where, getattr(node, "name", ""), None), "__doc__", None)
                if not isinstance(node, ast.FunctionDef) or node.name in OPERATIONS or node.name.startswith("__") or not doc:
                    continue
                found = re.match(rf"{node.name}\((.*)\) ->", doc)
                if not found or node.decorator_list:
                    continue
                named = [re.match(r"\s*\**(\w+)", p).group(1) for p in found.group(1).split(",") if re.match(r"\s*\**\w", p)]
                named = [n for n in named if not re.fullmatch(r"arg\d?", n) and n not in ("self", "operands")]
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

    def test_numbers_are_operands_where_they_are_hinted(self):
        x = sn.tensor([[1.0, 2.0]])
        i = sn.tensor([[0]])
        values = {"_Value": x, "Operand": x, "_Axes": 0, "int": 1, "int | Sequence[int]": 2, "Sequence[int]": [2], "float": 1.0,
                  "Sequence[Operand]": [i, i], "_Number": 2, "Mesh": sn.Mesh()}
        for node in TREE.body:
            if not isinstance(node, ast.FunctionDef) or node.name not in OPERATIONS:
                continue
            kinds = {p.arg: ast.unparse(p.annotation).removesuffix(" | None") for p in node.args.args}
            required = list(kinds)[:len(kinds) - len(node.args.defaults)]
            for name, kind in kinds.items():
                if kind not in ("_Value", "Operand") or name == "axis":  # the other operand of max and min
                    continue
                given = {**{r: values[kinds[r]] for r in required}, name: 2}
                positional = [given.pop(r) for r in required] + ([2] if node.args.vararg else [])
                refusal = ""
                try:
                    getattr(sn, node.name)(*positional, **given)
                except (sn.Error, TypeError) as error:
                    refusal = str(error)
                with self.subTest(name=node.name, parameter=name, refusal=refusal):
                    self.assertEqual("tensor" in refusal and "but got the number" in refusal, kind == "Operand")

    def test_mypy(self):
        modules = [str(STUB.parent / name) for name in ("__init__.pyi", "nn/modules.py", "nn/__init__.py", "data.py", "optim.pyi")]
        command = [with_mypy(), "-m", "mypy", "--strict", *modules, typed_program.__file__]
        with tempfile.TemporaryDirectory() as folder:  # for its cache
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_program_that_mypy_reads_runs(self):
        typed_program.run()


if __name__ == "__main__":
    main()
