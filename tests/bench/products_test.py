"""Products and networks: the program's rows, the peers' reference, the table, the page and verdicts."""

import contextlib
import html
import io
import math
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from bench.report import compare, page, peers, products, programs, read, result, run, table  # noqa: E402
from bench.report.deadline import Deadline  # noqa: E402
from bench.report.peers import products as problems  # noqa: E402
from bench.report.spread import spread  # noqa: E402

# In place of the program: a product of 10 ns, with GELU 15, by itself 8; in bfloat16 40 and 50; operation by operation 30.
PROGRAM = """#!{python}
import json, sys
arguments = dict(a.split("=", 1) for a in sys.argv[1:] if "=" in a)
kind, extents = arguments["--shapes"].split(":")
if extents == "3x3x3": sys.exit("no memory")
def entry(name, ns):
    operation = name.partition("/")[0]
    label = operation.removesuffix("_bfloat16") + (" bfloat16" if operation.endswith("_bfloat16") else " float32")
    return {{"name": name, "family_index": 0, "run_name": f"{{name}}/{{extents}}/real_time", "run_type": "iteration",
             "real_time": ns, "time_unit": "ns", "label": label, "operations": 600.0}}
linear = [("gemm/limit", 8), ("gemm/sinter", 10), ("linear_gelu/sinter", 15), ("linear_gelu/eager", 30)]
linear += [("gemm_bfloat16/sinter", 40), ("linear_gelu_bfloat16/sinter", 50)]
entries = [entry(*e) for e in (linear if kind == "linear" else [(kind + "/sinter", 20), (kind + "/eager", 50)])]
each = 1 if "--benchmark_enable_random_interleaving=false" in sys.argv[-1] else 2
context = {{"gpus": "", **({{"missing": "no OpenBLAS"}} if extents == "5x5x5" else {{"blas": "a library"}})}}
print(json.dumps({{"context": context, "benchmarks": entries * each if "blas" in context else []}}))
"""
SHAPES = ("linear:2x3x4", "block:1x2x64")


def measured(shapes=SHAPES, deadline=None, executors=("cpu",)):
    with tempfile.TemporaryDirectory() as name:
        program = pathlib.Path(name) / "products"
        program.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
        program.chmod(0o755)
        kind = {"processor": "any", "cores": 2, "virtual": False, "caches": {}, "system": "any", "kernel": "any"}
        settings = {"repetitions": 2, "min_time_s": 1, "order": "random", "short": False}
        new = result.new({**kind, "gpus": []}, settings)
        of = products.Products(program.parent, programs.Settings(2, 1), new, deadline or Deadline(), peers_wanted=False)
        shown = mock.patch.object(products, "SHAPES", {"cpu": list(shapes), "cuda": ["linear:2x3x4"]})
        with contextlib.redirect_stderr(io.StringIO()), shown:
            of.measure(list(executors), short=False)
        return new


def by_key(new):
    return {
        (r["executor"], r["operation"], r["shape"], r["dtype"], r["implementation"]): r
        for r in new["sections"]["products"]
    }


class Measured(unittest.TestCase):
    def test_over_the_product_of_the_same_shape_and_dtype(self):
        new = measured()
        found = by_key(new)
        self.assertEqual(len(found), 8)
        self.assertEqual(found["cpu", "linear_gelu", "2x3x4", "float32", "sinter"]["over_gemm"], 1.5)
        self.assertEqual(found["cpu", "linear_gelu", "2x3x4", "float32", "eager"]["over_gemm"], 3)
        self.assertEqual(found["cpu", "linear_gelu", "2x3x4", "bfloat16", "sinter"]["over_gemm"], 1.25)
        self.assertEqual(found["cpu", "gemm", "2x3x4", "float32", "limit"]["over_gemm"], 0.8)
        self.assertIsNone(found["cpu", "block", "1x2x64", "float32", "sinter"]["over_gemm"])
        self.assertEqual(found["cpu", "block", "1x2x64", "float32", "sinter"]["repetitions"], 2)
        self.assertEqual(new["versions"]["libraries"]["blas"], "a library")
        result.check(new)

    def test_one_after_another_where_time_is_limited(self):
        self.assertEqual({r["repetitions"] for r in by_key(measured(deadline=Deadline(60))).values()}, {1})

    def test_executors(self):
        everywhere = list(dict.fromkeys(key[0] for key in by_key(measured(executors=["cpu-1", "cpu", "cuda:0"]))))
        self.assertEqual(everywhere, ["cuda:0", "cpu-1", "cpu"])
        limited = measured(executors=["cpu-1", "cpu", "cuda:0"], deadline=Deadline(60))
        self.assertEqual({key[0] for key in by_key(limited)}, {"cuda:0"})
        self.assertEqual(limited["versions"]["libraries"]["cublas"], "a library")

    def test_some_shapes_where_time_is_limited(self):
        shapes = [f"linear:2x3x{n}" for n in range(1, 9)]
        self.assertEqual(len({key[2] for key in by_key(measured(shapes))}), 8)
        self.assertEqual({key[2] for key in by_key(measured(shapes, Deadline(60)))}, {f"2x3x{n}" for n in range(1, 6)})

    def test_a_program_that_fails(self):
        new = measured(("linear:3x3x3", "linear:2x3x4"))
        self.assertEqual({key[2] for key in by_key(new)}, {"2x3x4"})
        self.assertRegex("".join(new["errors"]), "products, cpu, linear:3x3x3: .*no memory")

    def test_a_library_that_is_missing_is_a_note(self):
        new = measured(("linear:5x5x5",))
        self.assertEqual((new["sections"]["products"], new["errors"]), ([], []))
        self.assertEqual(new["notes"], ["products on cpu: no OpenBLAS"])

    def test_table_and_page(self):
        new, said = measured(), io.StringIO()
        with contextlib.redirect_stdout(said):
            table.show(new)
        self.assertRegex(said.getvalue(), r"linear_gelu +2x3x4 +0\.0 +0% +40\.0 +1\.500 +2\.00 +-")
        self.assertRegex(said.getvalue(), r"block +1x2x64 +0\.0 +0% +30\.0 +- +2\.50 +-")
        text = html.unescape(page.document(new))
        self.assertIn("The time of Sinter over its bare product's: 1.50 at 2x3x4.", text)
        self.assertIn("The others' time over Sinter's: Sinter, eager 2.0× at 2x3x4.", text)
        self.assertIn("The others' time over Sinter's: Sinter, eager 2.5× at 1x2x64.", text)
        self.assertRegex(text, r">Linear and GELU 2x3x4</th><td>1\.50</td><td>3\.00</td>")
        self.assertRegex(text, r">transformer block 1x2x64</th><td>20\.0 ns</td><td>30\.0</td><td>2\.5×</td>")
        self.assertIn("Products by a library.", text)

    def test_page_of_a_part(self):
        for gone in ("gemm", "linear_gelu", "block"):
            new = measured()
            kept = [r for r in new["sections"]["products"] if r["operation"] != gone]
            if gone == "gemm":
                kept = [{**r, "over_gemm": None} for r in kept]
            new["sections"]["products"] = kept
            with contextlib.redirect_stdout(io.StringIO()):
                table.show(new)
            self.assertEqual("Linear and GELU beside the bare product" in page.document(new), gone == "block")

    def test_rows_say_what_they_are(self):
        for key in ("executor", "operation", "shape", "dtype", "operations"):
            new = measured()
            del new["sections"]["products"][0][key]
            with self.assertRaisesRegex(result.Unreadable, f"a row of products lacks {key}"):
                result.check(new)

    def test_order_of_cases(self):
        self.assertEqual(
            list(read.product_cases(measured(), "cpu", "float32")),
            [("gemm", "2x3x4"), ("linear_gelu", "2x3x4"), ("block", "1x2x64")],
        )

    def test_verdicts_are_on_ours(self):
        old, new = measured(), measured()
        for r in old["sections"]["products"]:
            r.update(spread([r["median_ns"]] * 3))
        for r in new["sections"]["products"]:
            r.update(spread([r["median_ns"] * (1 if r["implementation"] == "limit" else 5)] * 3), over_gemm=7.0)
        verdicts = {change.key[-1]: change.verdict for change in compare.changes(old, new)}
        self.assertEqual(verdicts, {"sinter": "slower", "eager": "slower", "limit": "other"})


class Shares(unittest.TestCase):
    def test_of_the_time_that_sections_leave(self):
        context = mock.Mock()
        context.deadline.left = lambda: 360 + run.SECTION_S

        def given(part, only):
            return run.before_sections(mock.Mock(seconds=1, only=only), context, part).left()

        everything = ["expressions", "rows", "products", "hits"]
        self.assertAlmostEqual(given("expressions", everything), 180, delta=1)
        self.assertAlmostEqual(given("rows", everything), 216, delta=1)
        self.assertAlmostEqual(given("products", everything), 360, delta=1)
        self.assertAlmostEqual(given("expressions", ["expressions", "hits"]), 360, delta=1)


class Peers(unittest.TestCase):
    def test_they_are_the_programs_cases(self):
        text = (ROOT / "bench/products/cases.cpp").read_text(encoding="utf-8")
        listed = re.findall(r'\{"(\w+)", "(?:linear|mlp|block)"\}', text)
        self.assertEqual(listed, list(problems.FORMULAS))
        self.assertEqual(set(listed), set(read.PRODUCT_ORDER))

    def test_dtypes_are_asked_apart(self):
        """16-bit products end a peer's process: those of float32 are kept."""
        asked = []

        def answer(_workers, names, *_):
            asked.append(names)
            return {(name, "torch"): [5.0] for name in names if "bfloat16" not in name}

        of = products.Products(pathlib.Path(), programs.Settings(2, 1), {"machine": {"cores": 2}}, Deadline())
        ours = [{"operation": "gemm", "dtype": d, "implementation": "sinter"} for d in ("bfloat16", "float32")]
        with mock.patch.object(peers, "measure", answer):
            rows = of.theirs("linear:2x3x4", ours, [], Deadline())
        self.assertEqual(asked, [["gemm"], ["gemm_bfloat16"]])
        self.assertEqual([(r["dtype"], r["implementation"]) for r in rows], [("float32", "torch")])

    def test_a_shape_in_a_question(self):
        self.assertEqual(peers.asked("mlp:1x2x3"), {"shape": "mlp:1x2x3"})
        self.assertEqual(peers.words("mlp:1x2x3"), "mlp:1x2x3")


class Reference(unittest.TestCase):
    """Against loops in plain Python."""

    def setUp(self):
        import numpy

        self.numpy = numpy

    def linear(self, x, w, b=None):
        return [[sum(p * q for p, q in zip(r, out)) + (b[i] if b else 0) for i, out in enumerate(w)] for r in x]

    def each(self, x, f):
        return [[f(v) for v in row] for row in x]

    def gelu(self, v):
        return 0.5 * v * math.erfc(-v / math.sqrt(2))

    def norm(self, x, gain, shift):
        found = []
        for row in x:
            mean = sum(row) / len(row)
            by = 1 / math.sqrt(sum((v - mean) ** 2 for v in row) / len(row) + 1e-5)
            found.append([(v - mean) * by * g + s for v, g, s in zip(row, gain, shift)])
        return found

    def attention(self, q, k, v, heads):
        d = len(q[0]) // heads
        found = []
        for row in q:
            line = []
            for h in range(heads):
                at = slice(h * d, (h + 1) * d)
                powers = [math.exp(sum(a * b for a, b in zip(row[at], other[at])) / math.sqrt(d)) for other in k]
                line += [sum(p * other[at][i] for p, other in zip(powers, v)) / sum(powers) for i in range(d)]
            found.append(line)
        return found

    def block(self, x, g1, s1, wq, bq, wk, bk, wv, bv, wo, bo, g2, s2, w1, b1, w2, b2):
        n = self.norm(x, g1, s1)
        mixed = self.attention(self.linear(n, wq, bq), self.linear(n, wk, bk), self.linear(n, wv, bv), len(x[0]) // 64)
        y = [[a + b for a, b in zip(*rows)] for rows in zip(x, self.linear(mixed, wo, bo))]
        hidden = self.each(self.linear(self.norm(y, g2, s2), w1, b1), self.gelu)
        return [[a + b for a, b in zip(*rows)] for rows in zip(y, self.linear(hidden, w2, b2))]

    def right(self, name, operands):
        tanh = lambda v: 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v * v * v)))  # noqa: E731
        if name == "gemm":
            return self.linear(*operands)
        if name.startswith("linear"):
            return self.each(self.linear(*operands), tanh if name.endswith("tanh") else self.gelu)
        if name == "block":
            x, *others = operands
            return [self.block(sequence, *others) for sequence in x]
        x, w1, b1, w2, b2, w3, b3 = operands
        f = self.gelu if name == "mlp_gelu" else lambda v: max(v, 0)
        return self.linear(self.each(self.linear(self.each(self.linear(x, w1, b1), f), w2, b2), f), w3, b3)

    def test_right_and_wrong(self):
        shapes = {"linear": "linear:40x5x3", "mlp": "mlp:3x4x6", "block": "block:3x11x128"}
        for name in problems.FORMULAS:
            problem = problems.Problem(shapes[name.partition("_")[0].replace("gemm", "linear")])
            operands = [problem.host(i).tolist() for i in range(problems.count(name))]
            values = self.numpy.array(self.right(name, operands), self.numpy.float32)
            part = problem.part(name, values)
            for kind, off in (("", 1e-3), ("_bfloat16", 0.3)):
                with self.subTest(name + kind):
                    self.assertIsNone(problem.fault(name + kind, part))
                    for row in (0, -1):
                        wrong = part.copy()
                        wrong[row, -1] += off * max(1, abs(wrong[row, -1]))
                        self.assertIn("not", problem.fault(name + kind, wrong))
                    with self.assertRaisesRegex(RuntimeError, "it gives"):
                        problem.part(name + kind, values[None])
            self.assertIn("nan", problem.fault(name, part * math.nan))

    def test_rows_are_of_all_sequences(self):
        problem = problems.Problem("block:8x6x64")
        numbers = self.numpy.arange(8 * 6 * 64).reshape(8, 6, 64)
        rows = {int(row[0]) // 64 // 6 for row in problem.part("block", numbers)}
        self.assertEqual(rows, set(range(8)))

    def test_what_is_drawn_varies(self):
        for text in ("linear:4x5x6", "mlp:4x5x6", "block:1x2x64"):
            problem = problems.Problem(text)
            for number, (shape, bound, middle) in enumerate(problem.parts):
                values = problem.host(number)
                self.assertEqual(values.shape, shape)
                self.assertGreater(len(self.numpy.unique(values)), 0.9 * values.size)
                self.assertLessEqual(abs(values - middle).max(), bound * (1 + 1e-6))


class Blas(unittest.TestCase):
    def test_of_this_process(self):
        from bench.report.peers import blas

        self.assertIsNone(blas.opened("no_such_library"))
        self.assertIsInstance(blas.described(), str)


if __name__ == "__main__":
    unittest.main()
