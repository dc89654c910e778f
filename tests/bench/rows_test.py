"""What goes along rows: the program's rows beside a copy, the peers' reference, the table, the page and verdicts."""

import contextlib
import html
import io
import math
import pathlib
import random
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from bench.report import compare, page, programs, result, rows, table  # noqa: E402
from bench.report.deadline import Deadline  # noqa: E402
from bench.report.peers import formulas  # noqa: E402
from bench.report.spread import spread  # noqa: E402

# In place of the program: two copies, and a case whose fused form moves 60 bytes a ns.
PROGRAM = """#!{python}
import json, sys
arguments = dict(a.split("=", 1) for a in sys.argv[1:] if "=" in a)
columns = int(arguments["--columns"])
if columns == 3: sys.exit("no memory")
def entry(name, ns, label, moved):
    return {{"name": name, "family_index": 0, "run_name": f"{{name}}/{{columns}}/real_time", "run_type": "iteration",
             "real_time": ns, "time_unit": "ns", "label": label, "bytes": moved, "rows": 8.0}}
each = 1 if "--benchmark_enable_random_interleaving=false" in sys.argv[-1] else 2
entries = [entry("copy2/limit", 10, "copy2 bytes", 100.0), entry("copy8/limit", 10, "copy8 bytes", 800.0)]
entries += [entry("softmax/sinter", 10, "softmax float32", 600.0), entry("softmax/eager", 20, "softmax float32", 600.0)]
print(json.dumps({{"context": {{"gpus": ""}}, "benchmarks": entries * each}}))
"""


def measured(columns=(64, 8192), deadline=None):
    with tempfile.TemporaryDirectory() as name:
        program = pathlib.Path(name) / "rows"
        program.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
        program.chmod(0o755)
        kind = {"processor": "any", "cores": 2, "virtual": False, "caches": {}, "system": "any", "kernel": "any"}
        settings = {"repetitions": 2, "min_time_s": 1, "order": "random", "short": False}
        new = result.new({**kind, "gpus": []}, settings)
        run = rows.Rows(program.parent, programs.Settings(2, 1), new, deadline or Deadline(), peers_wanted=False)
        with contextlib.redirect_stderr(io.StringIO()):
            run.measure(["cpu"], columns, 1 << 16)
        return new


class Measured(unittest.TestCase):
    def test_shares_of_the_copy_of_about_as_many_bytes(self):
        new = measured()
        found = {(r["columns"], r["operation"], r["implementation"]): r for r in new["sections"]["rows"]}
        self.assertEqual(len(found), 8)
        self.assertEqual(found[64, "softmax", "sinter"]["limit_share"], 0.75)
        self.assertEqual(found[64, "softmax", "eager"]["limit_share"], 0.375)
        self.assertEqual(found[64, "copy2", "limit"]["limit_share"], 1)
        self.assertEqual(found[8192, "softmax", "sinter"]["repetitions"], 2)
        result.check(new)

    def test_one_after_another_where_time_is_limited(self):
        self.assertEqual({r["repetitions"] for r in measured(deadline=Deadline(60))["sections"]["rows"]}, {1})

    def test_a_program_that_fails(self):
        new = measured((3, 64))
        self.assertEqual({r["columns"] for r in new["sections"]["rows"]}, {64})
        self.assertRegex("".join(new["errors"]), "rows, cpu, 3 columns.*no memory")

    def test_executors(self):
        self.assertEqual(rows.chosen(["cpu-1", "cpu", "cuda:0"], Deadline()), ["cuda:0", "cpu"])
        self.assertEqual(rows.chosen(["cpu-1", "cpu", "cuda:0"], Deadline(60)), ["cuda:0"])
        self.assertEqual(rows.chosen(["cpu-1"], Deadline(60)), ["cpu-1"])

    def test_table_and_page(self):
        new, said = measured(), io.StringIO()
        with contextlib.redirect_stdout(said):
            table.show(new)
        self.assertRegex(said.getvalue(), r"softmax +8192 +60\.00 +0% +80\.00 +0\.75 +2\.00")
        text = html.unescape(page.document(new))
        self.assertIn("Sinter's share of the copy's: 75% at 64, 75% at 8Ki columns", text)
        self.assertRegex(text, r'>softmax</th><td>64</td><td>60\.0</td><td>75%</td><td>30\.0 \(2\.0×\)')

    def test_verdicts_are_on_ours(self):
        old, new = measured(), measured()
        for r in new["sections"]["rows"]:
            r.update(spread([5 * r["median_ns"]] * 3))
        for r in old["sections"]["rows"]:
            r.update(spread([r["median_ns"]] * 3))
        new["sections"]["rows"] = [r for r in new["sections"]["rows"] if r["implementation"] != "limit"]
        verdicts = {change.key[-1]: change.verdict for change in compare.changes(old, new)}
        self.assertEqual(verdicts, {"sinter": "slower", "eager": "slower"})


class Peers(unittest.TestCase):
    def test_they_are_the_programs_cases(self):
        text = (ROOT / "bench/rows/cases.cpp").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'\{"(\w+)", Kind::', text), list(formulas.ROWS))


class Reference(unittest.TestCase):
    """Against sums in plain Python, of three rows of four."""

    def setUp(self):
        import numpy

        draw = random.Random(7)
        self.numpy = numpy
        self.x = [[draw.uniform(-3, 3) for _ in range(4)] for _ in range(3)]
        self.gain, self.shift = [0.5, -1.0, 0.25, 2.0], [0.1, 0.2, -0.3, 0.0]

    def right(self):
        def normalised(row, mean, i):
            variance = sum((v - mean) ** 2 for v in row) / 4
            return (row[i] - mean) / math.sqrt(variance + 1e-5) * self.gain[i]

        logs = [[v - math.log(sum(map(math.exp, row))) for v in row] for row in self.x]
        return {
            "softmax": [[math.exp(v) for v in row] for row in logs],
            "log_softmax": logs,
            "layer_norm": [[normalised(row, sum(row) / 4, i) + self.shift[i] for i in range(4)] for row in self.x],
            "rms_norm": [[normalised(row, 0, i) for i in range(4)] for row in self.x],
            "cross_entropy": -sum(row[r * 7919 % 4] for r, row in enumerate(logs)) / 3,
            "sum_all": sum(map(sum, self.x)),
            "sum_rows": [sum(row) for row in self.x],
            "sum_columns": [sum(column) for column in zip(*self.x)],
            "logsumexp": [math.log(sum(map(math.exp, row))) for row in self.x],
            "argmax": [row.index(max(row)) for row in self.x],
            "cumsum": [[sum(row[: i + 1]) for i in range(4)] for row in self.x],
            "sort": [sorted(row) for row in self.x],
            "dropout": [[2 * v if i % 2 else 0 for i, v in enumerate(row)] for row in self.x],
            "embedding": [self.x[r * 7919 % 3] for r in range(3)],
        }

    def test_right_and_wrong(self):
        from bench.report.peers.rows import Reference

        single = self.numpy.float32
        host = {"matrix_x": self.x, "gain": self.gain, "shift": self.shift}
        host = {name: self.numpy.array(values, single) for name, values in host.items()}
        self.assertEqual(list(self.right()), list(formulas.ROWS))
        for name, values in self.right().items():
            values, checked = self.numpy.array(values, single), Reference()
            for kind, off in (("", 1e-3), ("_bfloat16", 0.1)):
                with self.subTest(name + kind):
                    self.assertIsNone(checked.fault(name + kind, host.get, values, 3, 4))
                    wrong = values.copy()
                    wrong[(-1,) * values.ndim] += off * max(4, 4 * abs(wrong[(-1,) * values.ndim]))
                    self.assertIn("not", checked.fault(name + kind, host.get, wrong, 3, 4))
                    self.assertEqual(checked.part(name + kind, values, 3, 4).shape, values.shape)
                    with self.assertRaisesRegex(RuntimeError, "it gives"):
                        checked.part(name + kind, values[None], 3, 4)
            values[...] = math.nan
            self.assertIn("nan", checked.fault(name, host.get, values, 3, 4))

    def test_as_bfloat16_holds_them(self):
        from bench.report.peers.rows import held

        values = self.numpy.array([1, 1 + 2**-8, 1 + 3 * 2**-8, -(1 + 2**-8 + 2**-20)], self.numpy.float32)
        self.assertEqual(held(values, "bfloat16").tolist(), [1, 1, 1 + 2**-6, -(1 + 2**-7)])


if __name__ == "__main__":
    unittest.main()
