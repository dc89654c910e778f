"""A run whose programs fail or hang: what was measured is kept, the rest is named, and the run fails at its end."""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from bench.report import products, programs, result, rows, run, suite  # noqa: E402
from bench.report.deadline import Deadline  # noqa: E402

# In place of a benchmark program: prints JSON, fails or hangs as the script that a test puts into it says.
STUB = """#!{python}
import json, os, sys, time
arguments = dict(a.split("=", 1) for a in sys.argv[1:] if "=" in a)
n = int(arguments.get("--sizes", "0").split(",")[0])
def entry(name, ns, **more):
    return {{"name": name, "family_index": 0, "run_name": name, "run_type": "iteration", "real_time": ns,
             "time_unit": "ns", "label": "chain float32", "bytes": 12.0, "operations": 1.0, **more}}
def rows():
    return [entry("clock", 1, ghz=2.0), entry(f"limit/bytes3/{{n}}", 10), entry(f"chain_1/sinter/{{n}}", 20)]
def text(entries, whole=True):
    full = json.dumps({{"context": {{"gpus": "{gpus}"}}, "benchmarks": entries}}, indent=1)
    print(full if whole else full[:-40], flush=True)
{script}
"""


def stub(folder, name, script, gpus=""):
    path = folder / name
    path.write_text(STUB.format(python=sys.executable, script=script, gpus=gpus), encoding="utf-8")
    path.chmod(0o755)


class Run(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "bench").mkdir()

    def programs(self, gpus="", **scripts):
        for name, script in scripts.items():
            stub(self.folder / "bench", name, script, gpus)

    def arguments(self, **more):
        given = {
            "build": self.folder,
            "out": self.folder / "out",
            "short": True,
            "seconds": None,
            "only": ["expressions", "hits", "growth"],
            "executors": ["cpu-1"],
            "sizes": [3, 1000],
            "elements": None,
            "no_peers": True,
        }
        return argparse.Namespace(**{**given, **more})

    def run_quietly(self, **more):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run.run(self.arguments(**more))

    def kept(self):
        return result.load(self.folder / "out/result.json")

    def test_what_fails_is_named_and_the_rest_is_kept(self):
        self.programs(
            expressions="if n == 3: sys.exit('no memory')\ntext(rows())",
            hit="if 'SINTER_VIRTUAL_GPUS' in os.environ: sys.exit('no compiler')\ntext([entry('gpu/2', 5)])",
            growth="sys.exit('growth is broken')",
        )
        with self.assertRaises(run.Failed) as failed:
            self.run_quietly()
        for words in ("cpu-1, 3 elements", "no memory", "hits, virtual", "no compiler", "growth is broken"):
            self.assertIn(words, str(failed.exception))
        kept = self.kept()
        self.assertEqual({row["n"] for row in kept["rows"]}, {1000})
        self.assertEqual([row["driver"] for row in kept["sections"]["hits"]], ["null"])
        self.assertTrue((self.folder / "out/page.html").exists())

    def test_rows_and_their_half_of_a_gpu(self):
        along = """
moved = {"label": "softmax float32", "rows": 8.0}
if arguments["--device"] == "cuda:0": sys.exit("a wrong value")
text([entry(f"softmax/sinter/{arguments['--columns']}", 5, **moved)])
"""
        self.programs(expressions="text(rows())", rows=along)
        with self.assertRaisesRegex(run.Failed, "rows on a virtual GPU: .* a wrong value"):
            self.run_quietly(only=["expressions", "rows"], sizes=[3], seconds=60)
        kept = self.kept()
        self.assertEqual({row["columns"] for row in kept["sections"]["rows"]}, set(rows.SHORT_COLUMNS))
        self.assertEqual({row["n"] for row in kept["rows"]}, {3})

    def test_products_and_their_half_of_a_gpu(self):
        multiply = """
if arguments["--device"] == "cuda:0": sys.exit("a wrong product")
kind, extents = arguments["--shapes"].split(":")
text([entry(f"{kind}/sinter/{extents}", 5, label=kind + " float32")])
"""
        self.programs(expressions="text(rows())", products=multiply)
        with self.assertRaisesRegex(run.Failed, "products on a virtual GPU: .* a wrong product"):
            self.run_quietly(only=["products"])
        found = {f"{row['operation']}:{row['shape']}" for row in self.kept()["sections"]["products"]}
        self.assertEqual(found, set(products.SHORT_SHAPES))

    def test_the_result_is_there_before_anything_is_measured(self):
        self.programs(expressions="text(rows())")
        with mock.patch.object(run, "expressions", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            self.run_quietly()
        self.assertEqual(self.kept()["rows"], [])

    def test_no_virtual_gpu_beside_a_real_one(self):
        self.programs(gpus="A GPU", expressions="text(rows())", hit="text([entry('gpu/2', 5)])")
        self.run_quietly(only=["hits"])
        self.assertEqual([row["driver"] for row in self.kept()["sections"]["hits"]], ["null", "real"])

    def test_complete_rows_of_a_program_that_hangs(self):
        self.programs(expressions="if n == 3:\n    text(rows(), whole=False)\n    time.sleep(60)\ntext(rows())")
        new = result.new({"cores": 1}, {})
        measured = suite.Suite(self.folder / "bench", programs.Settings(1, 0.1), new, Deadline(6), peers_wanted=False)
        with contextlib.redirect_stderr(io.StringIO()):
            measured.measure(["cpu-1"], [3, 1000])
        self.assertIn(("limit", 3), {(row["implementation"], row["n"]) for row in new["rows"]})
        self.assertNotIn(("sinter", 3), {(row["implementation"], row["n"]) for row in new["rows"]})
        self.assertIn(("sinter", 1000), {(row["implementation"], row["n"]) for row in new["rows"]})
        self.assertIn("3 elements", "".join(new["notes"]))

    def test_rows_one_after_another_where_time_is_limited(self):
        script = "text(rows() if arguments['--benchmark_enable_random_interleaving'] == 'false' else [])"
        self.programs(expressions=script)
        for seconds, size, some in ((60, suite.LARGE, True), (60, 3, False), (None, suite.LARGE, False)):
            new = result.new({"cores": 1}, {})
            deadline = Deadline(seconds)
            measured = suite.Suite(self.folder / "bench", programs.Settings(1, 0.1), new, deadline, peers_wanted=False)
            with contextlib.redirect_stderr(io.StringIO()):
                measured.measure(["cpu-1"], [size])
            self.assertEqual((bool(new["rows"]), "order" in new["settings"]), (some, some))

    def test_a_short_run_that_hangs(self):
        self.programs(expressions="if n == 3: time.sleep(60)\ntext(rows())")
        with mock.patch.object(run, "SHORT_S", 1), self.assertRaisesRegex(run.TooLong, "limit of --short"):
            self.run_quietly()


class CutOff(unittest.TestCase):
    def test_at_every_byte(self):
        entries = [{"name": "a", "x": [1, {"y": "}"}]}, {"name": "b"}, {"name": "c"}]
        text = json.dumps({"context": {"gpus": "one"}, "benchmarks": entries}, indent=2)
        most = 0
        for end in range(len(text) + 1):
            context, found = programs.cut_off(text[:end].encode())
            self.assertEqual(found, entries[: len(found)])
            self.assertGreaterEqual(len(found), most)
            self.assertIn(context, ({}, {"gpus": "one"}))
            most = len(found)
        self.assertEqual(most, 3)


if __name__ == "__main__":
    unittest.main()
