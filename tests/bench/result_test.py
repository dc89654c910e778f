"""What becomes of Google Benchmark's output, the result file, and the peers' own reference."""

import json
import math
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from bench.report import programs, read, result  # noqa: E402
from bench.report.deadline import Deadline  # noqa: E402
from bench.report.peers import formulas, reference  # noqa: E402
from bench.report.spread import spread  # noqa: E402

SAMPLE = pathlib.Path(__file__).with_name("sample_result.json")


def entry(name, index, ns, **more):
    return {
        "name": name,
        "family_index": index,
        "run_name": name,
        "run_type": "iteration",
        "real_time": ns,
        "time_unit": "ns",
        "label": "named float32",
        "bytes": 12.0,
        **more,
    }


class Programs(unittest.TestCase):
    def test_repetitions_are_gathered_in_the_programs_order(self):
        found = programs.gather(
            [
                entry("b/real_time", 1, 5),
                entry("a/real_time", 0, 3),
                entry("b/real_time", 1, 7),
                entry("a", 0, 9, run_type="aggregate"),
            ],
        )
        self.assertEqual([(m.name, m.times) for m in found.values()], [("a", [3]), ("b", [5, 7])])
        self.assertEqual(found["a"].counters, {"bytes": 12.0})

    def test_a_wrong_value_fails(self):
        with self.assertRaisesRegex(programs.ProgramFailed, "element 3"):
            programs.gather([entry("a", 0, 1, error_occurred=True, error_message="element 3 is nan")])
        errors = []
        found = programs.gather([entry("a", 0, 1, error_occurred=True, error_message="bad"), entry("b", 1, 2)], errors)
        self.assertEqual((list(found), errors), (["b"], ["a: bad"]))

    def test_time_runs_out(self):
        with tempfile.TemporaryDirectory() as folder:
            slow = pathlib.Path(folder) / "slow"
            slow.write_text("#!/bin/sh\nexec sleep 60\n")
            slow.chmod(0o755)
            with self.assertRaises(programs.OutOfTime):
                programs.run(slow, programs.Settings(1, 0.1), seconds=0.2)


class File(unittest.TestCase):
    def test_round_trip(self):
        loaded = result.load(SAMPLE)
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "copy.json"
            result.save(loaded, copy)
            self.assertEqual(result.load(copy), loaded)

    def test_rows_say_what_they_are(self):
        for row in result.load(SAMPLE)["rows"]:
            self.assertLessEqual(row["q1_ns"], row["median_ns"])
            self.assertLessEqual(row["median_ns"], row["q3_ns"])
            if row["implementation"] == "sinter":
                self.assertGreater(row["limit_share"], 0)

    def test_what_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in ("", "[]", '{"schema": 0}', json.dumps({"schema": result.SCHEMA, "rows": [{}]})):
                file = pathlib.Path(folder) / "broken.json"
                file.write_text(text)
                with self.assertRaises(result.Unreadable):
                    result.load(file)

    def test_cases_are_in_the_suites_order(self):
        loaded = result.load(SAMPLE)
        for executor in read.executors(loaded):
            cases = list(read.by_case(loaded, executor))
            self.assertEqual([n for e, n in cases if e == cases[0][0]], read.sizes(loaded, executor))


class Spread(unittest.TestCase):
    def test_quartiles(self):
        self.assertEqual(spread([5, 1, 2, 3, 4]), {"median_ns": 3, "q1_ns": 2, "q3_ns": 4, "repetitions": 5})
        self.assertEqual(spread([7])["q1_ns"], 7)


class Deadlines(unittest.TestCase):
    def test_shares(self):
        self.assertFalse(Deadline().share(3).is_past())
        self.assertIsNone(Deadline().seconds())
        self.assertLess(Deadline(30).share(3).left(), 10.1)
        self.assertTrue(Deadline(0).is_past())


class PlainMath:
    """One element in place of an array: what the formulas of the peers come to."""

    exp, log, sqrt, tanh, erf = math.exp, math.log, math.sqrt, math.tanh, math.erf

    @staticmethod
    def transpose(x):
        return x

    every_second = to_float32 = transpose


class Peers(unittest.TestCase):
    def test_formulas_and_reference_agree(self):
        inputs = {
            "x": [0.7],
            "y": [-0.4],
            "spot": [110.0],
            "strike": [95.0],
            "time": [1.2],
            "wide": [0.9],
            "row": [0.3],
            "column": [-0.8],
            "mean": [0.1],
            "variance": [1.7],
            "gain": [0.6],
            "shift": [-0.2],
            "pixels": [77.0],
        }
        also = {"matrix_x": "x", "matrix_y": "y", "tall": "x"}
        for expression in formulas.FORMULAS:
            values = [inputs[also.get(name, name)][0] for name in formulas.operands(expression)]
            right = reference.VALUES[expression](lambda name, i: inputs[name][i], 0, 1, 1)
            self.assertAlmostEqual(
                formulas.function(expression, PlainMath)(*values),
                right,
                delta=2e-5 * max(1, abs(right)),
                msg=expression,
            )

    def test_they_are_the_programs_expressions(self):
        text = (ROOT / "bench/expressions/expression.cpp").read_text(encoding="utf-8")
        names = re.findall(r'\{"(\w+)", "(?:chain|named|strided|broadcast|narrow)"', text)
        self.assertEqual(sorted(names), sorted(formulas.FORMULAS))

    def test_a_peer_at_work(self):
        from bench.report.peers.worker import Worker, WorkerFailed

        worker = Worker("numpy", "cpu-1")
        try:
            self.assertEqual(worker.hello(60)["implementations"], ["numpy"])
            for expression in ("chain_5", "transposed", "normalise", "axpy_half", "transposed_half", "image"):
                worker.ask(
                    {"do": "prepare", "expression": expression, "implementation": "numpy", "n": 12, "min_time": 1e-4},
                    60,
                )
                self.assertGreater(
                    worker.ask({"do": "measure", "expression": expression, "implementation": "numpy"}, 60)["ns"], 0
                )
            with self.assertRaises(WorkerFailed):
                worker.ask({"do": "measure", "expression": "none", "implementation": "numpy"}, 60)
            narrow = {"do": "prepare", "expression": "axpy_bfloat16", "implementation": "numpy", "n": 12, "min_time": 1e-4}
            with self.assertRaisesRegex(WorkerFailed, "it has no bfloat16"):
                worker.ask(narrow, 60)
        finally:
            worker.stop()
        with self.assertRaises(WorkerFailed):
            worker.ask({"do": "forget"}, 60)

    def test_a_peer_that_cannot_start_says_why(self):
        from bench.report.peers.worker import Worker, WorkerFailed

        worker = Worker("none", "cpu-1")
        with self.assertRaisesRegex(WorkerFailed, "none|numpy"):
            worker.hello(60)
        worker.stop()


if __name__ == "__main__":
    unittest.main()
