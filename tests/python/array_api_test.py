"""sinter_jit.array_api function by function against array-api-strict, whose results are in tests/data/array_api.json.

SINTER_UPDATE_GOLDEN=1 writes them where array-api-strict is installed.
"""
import inspect
import json
import os
import pathlib
import re

import numpy as np

import sinter_jit as sn
import sinter_jit.array_api as xp
from case import DEVICES, Case, main

try:
    import array_api_strict as strict
except ImportError:
    strict = None

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "data/array_api.json"
INPUTS = {"b": ("bool", [[True, False, True], [False, False, True]]), "u": ("uint8", [[0, 1, 2], [3, 7, 5]]),
          "s": ("int8", [[-3, 0, 5], [7, -1, 6]]), "h": ("int16", [[-4, 2, 1], [9, -7, 3]]), "i": ("int32", [[-4, 2, 1], [9, -7, 3]]),
          "l": ("int64", [[-4, 2, 1], [9, -7, 3]]), "f": ("float32", [[-1.5, 0.25, 2.5], [0.5, -0.75, 3.5]]),
          "d": ("float64", [[-1.5, 0.25, 2.5], [0.5, -0.75, 3.5]]), "c": ("complex64", [[1 + 2j, -0.5j, 3], [-1, 2 - 1j, 0.5 + 0.5j]]),
          "z": ("complex128", [[1 + 2j, -0.5j, 3], [-1, 2 - 1j, 0.5 + 0.5j]]),
          "n": ("float64", [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, -2.5]),
          "v": ("int64", [3, 1, 3, 2, 1]), "w": ("float32", [2.0, -1.0, 2.0, 0.5]), "e": ("float32", [[], []]), "o": ("int32", 7),
          "q": ("float64", [1.0, 2.0, 4.0]), "k": ("int64", [2, 0, 1]), "m": ("bool", [True, False, True]), "t": ("float32", [[[1.0, 2.0], [3.0, 4.0]]] * 3)}
PAIRS = ["b b", "u u", "s s", "h h", "i i", "l l", "f f", "d d", "c c", "z z", "n n", "u s", "s h", "i l", "u l", "f d", "c z", "d z", "f z",
         "n n[::-1]", "i i[0,:]", "f f[:,1:2]", "d o_d", "l 2", "2 l", "f 2.5", "u 3", "b True", "z 2j", "d 2", "u + 1 u"]
UNARY = ["b", "u", "s", "h", "i", "l", "f", "d", "c", "z", "n", "o", "e"]
OTHERS = """
arange(5) arange(2, 5) arange(2, 10, 3) arange(5, 2) arange(5, 2, -1) arange(3.0) arange(1, 2, 0.25) arange(3, dtype=xp.float64) arange(0)
zeros(3) zeros((2, 3), dtype=xp.int8) zeros(()) ones((2, 0)) ones(2, dtype=xp.bool) full(3, 2) full((2, 1), 2.5) full(2, True) full((), 1j)
full(2, 7, dtype=xp.uint8) zeros_like(i) ones_like(f, dtype=xp.int64) full_like(d, 2) full_like(b, True) eye(3) eye(2, 3) eye(3, 2, k=1)
eye(3, k=-1, dtype=xp.int32) eye(2, k=5) linspace(0, 1, 5) linspace(0, 1, 4, endpoint=False) linspace(2, 5, 1) linspace(2, 5, 0)
linspace(1, 3, 3, dtype=xp.float64) tril(f) triu(f, k=1) tril(l, k=-1) triu(t) meshgrid(v,w) meshgrid(v,w,indexing='ij') meshgrid(v) meshgrid(v,w,k)
asarray([1, 2]) asarray([1.0, 2]) asarray([True]) asarray(1j) asarray([[1], [2]], dtype=xp.float64) asarray(f) asarray(f, copy=True)
asarray(2) asarray(True) asarray(2.5) astype(f, xp.int32) astype(i, xp.bool) astype(b, xp.float32) astype(f, xp.complex128) astype(z, xp.complex64)
astype(l, xp.uint8) can_cast(xp.int8, xp.int16) can_cast(xp.int64, xp.int8) can_cast(f, xp.float64) can_cast(xp.int32, xp.float64)
can_cast(xp.float32, xp.complex64) isdtype(xp.int8, 'integral') isdtype(xp.float32, ('bool', 'real floating')) isdtype(xp.int8, xp.int8)
isdtype(xp.complex64, 'numeric') isdtype(xp.bool, 'numeric') result_type(i, l) result_type(f, d) result_type(xp.float32, xp.complex64)
result_type(s, u) result_type(f, 2.5) result_type(i, 1) result_type(u, xp.int16) finfo(xp.float32).eps finfo(xp.float64).max
finfo(f).smallest_normal finfo(xp.complex64).bits finfo(xp.float32).min iinfo(xp.int8).min iinfo(xp.uint8).max iinfo(i).bits
broadcast_arrays(f,w[:3]) broadcast_to(w, (2, 4)) broadcast_to(o, (2, 2)) broadcast_shapes((2, 1), (3,)) broadcast_shapes((), (4, 1), (1, 5))
concat([f, f]) concat((f, d), axis=1) concat([i, l], axis=None) concat([u, s]) stack([f, f]) stack([f, d], axis=-1)
unstack(f) unstack(t, axis=1) expand_dims(f, axis=1) expand_dims(f, axis=-1) expand_dims(o, axis=0) flip(f) flip(t, axis=(0, 2)) flip(v, axis=-1)
moveaxis(t, 0, -1) moveaxis(t, (0, 1), (2, 0)) permute_dims(t, (2, 0, 1)) repeat(f, 2) repeat(f, 2, axis=1) repeat(v, k[xp.asarray([0,1,2,2,1])])
repeat(f, xp.asarray([1, 2]), axis=0) reshape(f, (3, 2)) reshape(f, (-1,)) reshape(f, (3, -1), copy=True) reshape(o, (1, 1)) roll(v, 1) roll(f, 2)
roll(f, (1, -1), axis=(0, 1)) roll(t, 1, axis=1) squeeze(f[:1, :], axis=0) squeeze(f[:1, :1], axis=(0, 1)) tile(v, (2,)) tile(f, (2, 1, 3)) tile(f, (2,))
argmax(f) argmax(f, axis=1) argmax(i, axis=0, keepdims=True) argmin(d, axis=-1) argmin(l) count_nonzero(i) count_nonzero(b, axis=1) count_nonzero(f, axis=0, keepdims=True)
nonzero(b) nonzero(v) searchsorted(q, w) searchsorted(q, w, side='right') searchsorted(q[xp.asarray([2,1,0])], q, sorter=xp.asarray([2, 1, 0]))
where(b, f, d) where(b, i, l) where(m, q, 0.0) where(b, 1.5, f) isin(v, k) isin(l, xp.asarray([9, 2])) sort(f) sort(f, axis=0) sort(v, descending=True)
sort(n[1:]) sort(b) argsort(v) argsort(f, axis=0) argsort(v, descending=True) argsort(w, descending=True, stable=True) unique_values(v) unique_values(f)
unique_counts(v) unique_counts(l) unique_inverse(v) unique_inverse(w) unique_all(v) unique_all(b) unique_all(w) unique_values(e)
take(f, k, axis=1) take(v, k) take(t, xp.asarray([0, 1]), axis=-1) take(t, k, axis=0) take_along_axis(f, xp.asarray([[2, 0], [1, 1]]), axis=1)
take_along_axis(f, argsort(f, axis=0), axis=0) cumulative_sum(v) cumulative_sum(f, axis=1) cumulative_sum(s, axis=0) cumulative_sum(i, axis=1, dtype=xp.float64)
cumulative_sum(f, axis=0, include_initial=True) cumulative_prod(v) cumulative_prod(d, axis=1) cumulative_prod(w, include_initial=True)
cumulative_prod(z, axis=0) cumulative_sum(c, axis=1) diff(v) diff(f, axis=0) diff(v, n=2) diff(w, prepend=w[:1]) diff(w, append=w[:2]) diff(i, n=0)
matmul(f, matrix_transpose(f)) matmul(l, w_l) matmul(i, matrix_transpose(i)) matmul(q, q) matmul(d, q) matmul(t, t) matmul(c, matrix_transpose(c)) matmul(f, matrix_transpose(d))
matmul(s, matrix_transpose(s)) matrix_transpose(t) tensordot(f, f, axes=2) tensordot(t, t, axes=1) tensordot(f, f, axes=([1], [1])) tensordot(f, f, axes=((0, 1), (0, 1)))
tensordot(q, q, axes=0) tensordot(i, i, axes=((0,), (0,))) vecdot(f, f) vecdot(f, f, axis=0) vecdot(c, c) vecdot(l, l) vecdot(t, t, axis=1)
clip(f, 0.0, 1.0) clip(f, 0.0) clip(i, max=2) clip(f) clip(d, q[:3] - 2.0, q) clip(u, 1, 3) mean(f, axis=()) sum(e) prod(e) sum(e, axis=1) any(e) all(e) e pi inf newaxis
""".split("\n")
REDUCTIONS = ["sum", "prod", "mean", "std", "var", "max", "min", "all", "any"]
OPTIONS = ["", ", axis=0", ", axis=(0, 1)", ", axis=-1, keepdims=True"]
METHODS = ["f.mT", "f.T", "f[0, 1]", "t[..., 1]", "f[:, ::-1]", "f[b]", "v[k]", "f[None, 0]", "float(w[0])", "int(v[1])", "bool(m[0])", "complex(c[0, 0])",
           "[5, 6, 7, 8][v[0]]", "f.shape", "t.ndim", "t.size", "-f", "abs(l)", "~i", "+d", "f + 1", "2 - f", "i // 2", "i % 3", "l ** 2", "i & 1", "u << 1", "f @ f.T",
           "f.to_device(f.device)", "f == f", "f < 1"]
# Where Sinter differs: docs/python.md says why.
DIFFERENCES = [r"xp\.(sum|prod)\(u\b(?!.*dtype)", r"xp\.(floor_divide|remainder)\((u|s|u \+ 1), (u|s)\)"]
# What Python's numbers alone determine: Sinter's default floats are float32.
DEFAULTS = r"xp\.(arange|zeros|ones|full|eye|linspace|asarray)\((?!.*dtype)"
NARROW = {"float64": "float32", "complex128": "complex64"}


def expressions():
    """By function. The arguments are the inputs."""
    for name in sorted(xp._UNARY):
        yield name, [f"xp.{name}({x})" for x in UNARY]
    for name in sorted(xp._BINARY):
        yield name, [f"xp.{name}({', '.join(pair.split(' ')) if '+' not in pair else 'u + 1, u'})" for pair in PAIRS]
    for name in REDUCTIONS:
        yield name, [f"xp.{name}({x}{options})" for x in UNARY[:-1] for options in (OPTIONS if x not in "no" else OPTIONS[:1])]
    yield "std", [f"xp.{name}({x}, correction=1)" for name in ("std", "var") for x in "fd"]
    yield "sum", [f"xp.{name}({x}, dtype=xp.{dtype})" for name in ("sum", "prod") for x, dtype in [("i", "int32"), ("s", "int8"), ("f", "float64"), ("b", "int64")]]
    yield "others", [f"xp.{text}" for line in OTHERS for text in split_calls(line)]
    yield "methods", METHODS


def split_calls(line):
    """The words of a line, those between brackets as one."""
    words, depth = [""], 0
    for letter in line:
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and not depth:
            words.append("")
        else:
            words[-1] += letter
    return [word for word in words if word]


def evaluated(text, namespace, device=None):
    given = {name: namespace.asarray(data, dtype=getattr(namespace, dtype)) for name, (dtype, data) in INPUTS.items()}
    if device:
        given = {name: x.to_device(sn.device(device)) for name, x in given.items()}
    given |= {"o_d": given["q"][0], "w_l": given["v"][:3], "xp": namespace, "argsort": namespace.argsort, "matrix_transpose": namespace.matrix_transpose}
    return described(eval(text, given))


def described(value):
    """As JSON: dtype, shape and elements of arrays."""
    if isinstance(value, (tuple, list)) and not all(isinstance(item, int) for item in value):
        return [described(item) for item in value]
    if hasattr(value, "__array_namespace__"):
        array = np.asarray(value.to("cpu") if isinstance(value, sn.Operand) else value)
        return {"dtype": array.dtype.name, "shape": list(array.shape), "data": [number(item) for item in array.ravel().tolist()]}
    if isinstance(value, (sn.dtype, getattr(strict, "float32", sn.float32).__class__)):
        return value.name if isinstance(value, sn.dtype) else str(value).rpartition(".")[2]
    return number(value) if value is not None and not isinstance(value, tuple) else list(value) if value else value


def number(x):
    return [x.real, x.imag] if isinstance(x, complex) else x


def strict_results():
    results = {}
    for _, texts in expressions():
        for text in texts:
            try:
                results[text] = evaluated(text, strict)
            except (TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
                results[text] = f"{type(error).__name__}"
    signatures = {name: [(p.name, str(p.kind), repr(p.default)) for p in inspect.signature(getattr(strict, name)).parameters.values()]
                  for name in strict.__all__ if inspect.isfunction(getattr(strict, name))}
    return {"version": strict.__version__, "signatures": signatures,
            "results": {text: made for text, made in results.items() if not isinstance(made, str) or not made.endswith("Error")}}


class ArrayApi(Case):
    @classmethod
    def setUpClass(cls):
        np.seterr(all="ignore")
        if strict and os.environ.get("SINTER_UPDATE_GOLDEN"):
            lines = strict_results()
            text = "\n".join(f"{json.dumps(text)}: {json.dumps(made)}," for text, made in lines["results"].items()).rstrip(",")
            GOLDEN.write_text('{"version": %s,\n"signatures": %s,\n"results": {\n%s\n}}\n' % (
                json.dumps(lines["version"]), json.dumps(lines["signatures"]), text), encoding="utf-8")
        cls.golden = json.loads(GOLDEN.read_text(encoding="utf-8"))

    def assert_alike(self, made, expected):
        if isinstance(expected, dict) or isinstance(expected, list) and expected and isinstance(expected[0], (dict, list)):
            self.assertEqual(type(made), type(expected))
            if isinstance(expected, list):
                self.assertEqual(len(made), len(expected))
                for one, other in zip(made, expected):
                    self.assert_alike(one, other)
                return
            self.assertEqual((made["dtype"], made["shape"]), (expected["dtype"], expected["shape"]))
            exact = "float" not in made["dtype"] and "complex" not in made["dtype"]
            tolerance = 0 if exact else 1e-12 if made["dtype"] in ("float64", "complex128") else 2e-6
            np.testing.assert_allclose(np.array(made["data"]), np.array(expected["data"]), rtol=tolerance, atol=tolerance)
        elif isinstance(expected, float):
            self.assertTrue(made == expected or abs(made - expected) < 1e-6 * abs(expected), f"{made} is not {expected}")
        else:
            self.assertEqual(made, expected)

    def test_results(self):
        compared = 0
        for text, expected in self.golden["results"].items():
            if any(re.match(pattern, text) for pattern in DIFFERENCES):
                continue
            if re.match(DEFAULTS, text):
                expected["dtype"] = NARROW.get(expected["dtype"], expected["dtype"])
            with self.subTest(text):
                self.assert_alike(evaluated(text, xp), expected)
                compared += 1
        print(compared, "results are those of array-api-strict", self.golden["version"])

    def test_isin_inverted(self):  # array-api-strict 2.6.1 does not invert
        self.assertEqual(xp.isin(xp.asarray([1, 2]), xp.asarray([2, 3]), invert=True).tolist(), [True, False])

    def test_on_devices(self):
        for device in DEVICES[1:]:
            for text in ["xp.sum(f, axis=0)", "xp.unique_all(v)", "xp.take(f, k, axis=1)", "xp.concat((f, d), axis=1)", "xp.zeros_like(i)",
                         "f[b]", "xp.sort(f, axis=0)", "xp.tril(f)", "xp.matmul(l, w_l)", "f.mT"]:
                with self.subTest(text):
                    self.assert_alike(evaluated(text, xp, device), self.golden["results"][text])
            self.assertIs(sn.tensor([1.0], device=device).__array_namespace__(api_version="2024.12"), xp)
            self.assertIn(sn.device(device), xp.__array_namespace_info__().devices())
            self.assertEqual((sn.tensor(1, device=device) + 1).to_device("cpu").device, sn.device("cpu"))

    def test_mistakes(self):
        x = xp.asarray([[1.0, 2.0]])
        for wrong, error in [(lambda: x.__array_namespace__(api_version="1999.12"), ValueError), (lambda: x.to_device("cpu", stream=1), ValueError),
                             (lambda: xp.squeeze(x, 1), ValueError), (lambda: xp.squeeze(x, 5), IndexError), (lambda: xp.take(x, xp.asarray([0])), TypeError),
                             (lambda: xp.meshgrid(x, indexing="a"), ValueError), (lambda: xp.isdtype(xp.int8, "ints"), ValueError),
                             (lambda: xp.astype(xp.asarray(1j), xp.float32), TypeError), (lambda: xp.nonzero(xp.asarray(1)), ValueError),
                             (lambda: xp.broadcast_shapes((2,), (3,)), ValueError), (lambda: xp.finfo(xp.int8), TypeError), (lambda: xp.iinfo(xp.float32), TypeError),
                             (lambda: xp.expand_dims(x, axis=4), IndexError), (lambda: xp.cumulative_sum(x), ValueError)]:
            with self.assertRaises(error):
                wrong()

    def test_signatures(self):
        for name, parameters in self.golden["signatures"].items():
            function = getattr(xp, name, None)
            if function is None or not inspect.isfunction(function):
                continue
            with self.subTest(name):
                made = [[p.name, str(p.kind), repr(p.default)] for p in inspect.signature(function).parameters.values()]
                self.assertEqual([m[:2] for m in made], [p[:2] for p in parameters])


if __name__ == "__main__":
    main()
