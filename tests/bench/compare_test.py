"""Verdicts of bench/report/compare.py on noise alone, and on noise with planted changes."""

import contextlib
import io
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from bench.report import compare, result  # noqa: E402
from bench.report.spread import spread  # noqa: E402

ROWS = 1000


def measured(seed, factors=None, noise=0.05, repetitions=7, others=0, shift=1.0):
    """A result of ROWS rows with relative noise, some of which take `factor` times as long.

    The last `others` of them are a peer's. `shift` is what another clock does to all rows, unevenly, as clocks do.
    """
    draw = random.Random(seed)
    new = result.new(
        {"processor": "any", "cores": 2, "virtual": False, "caches": {}, "system": "any", "kernel": "any", "gpus": []},
        {"repetitions": repetitions, "min_time_s": 1},
    )
    for i in range(ROWS):
        typical = 10 ** random.Random(i).uniform(1, 7) * (factors or {}).get(i, 1) * shift ** draw.uniform(0.8, 1.2)
        times = [
            typical * (1 + noise * abs(draw.gauss(0, 1))) for _ in range(repetitions)
        ]  # a machine only ever slows down
        new["rows"].append(
            {
                "family": "f",
                "expression": f"e{i}",
                "operations": 1,
                "n": 10,
                "dtype": "float32",
                "executor": "cpu",
                "implementation": "sinter" if i < ROWS - others else "numpy",
                "bytes": 1,
                "limit_share": None,
                **spread(times),
            }
        )
    return new


def count(changes, word):
    return sum(1 for change in changes if change.verdict == word)


class Compare(unittest.TestCase):
    def test_noise_alone_is_the_same(self):
        for seed, noise in ((1, 0.002), (2, 0.05), (3, 0.3)):
            found = compare.changes(measured(seed, noise=noise), measured(seed + 100, noise=noise))
            self.assertEqual(len(found), ROWS)
            self.assertLess(count(found, "faster") + count(found, "slower"), ROWS * 0.01, f"noise {noise}")

    def test_planted_changes_are_found(self):
        planted = {**{i: 1.5 for i in range(0, 40)}, **{i: 0.6 for i in range(40, 80)}}
        found = compare.changes(measured(4), measured(5, planted))
        said = {change.key[1]: change.verdict for change in found}
        self.assertGreaterEqual(sum(said[f"e{i}"] == "slower" for i in range(0, 40)), 38)
        self.assertGreaterEqual(sum(said[f"e{i}"] == "faster" for i in range(40, 80)), 38)
        self.assertLess(count(found, "slower") + count(found, "faster"), 80 + ROWS * 0.01)

    def test_a_shift_of_all_rows_is_no_change(self):
        for seed, shift, noise in ((20, 1.3, 0.02), (21, 0.6, 0.02), (22, 1.5, 0.001)):
            old, new = measured(seed, others=400), measured(seed + 100, others=400, shift=shift, noise=noise)
            found = compare.changes(old, new)
            self.assertEqual(count(found, "other"), 400)
            self.assertLess(count(found, "faster") + count(found, "slower"), ROWS * 0.01, f"shift {shift}")

    def test_a_change_beyond_the_shift_is_found(self):
        planted = {**{i: 2.0 for i in range(0, 20)}, **{i: 0.3 for i in range(20, 40)}, 999: 5.0}
        found = compare.changes(measured(23, others=400), measured(24, planted, others=400, shift=1.2))
        said = {change.key[1]: change.verdict for change in found}
        self.assertGreaterEqual(sum(said[f"e{i}"] == "slower" for i in range(0, 20)), 19)
        self.assertGreaterEqual(sum(said[f"e{i}"] == "faster" for i in range(20, 40)), 19)
        self.assertEqual(said["e999"], "other", "a peer's change is not ours")
        self.assertLess(count(found, "faster") + count(found, "slower"), 40 + ROWS * 0.01)

    def test_the_smallest_change_is_said(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            compare.show(measured(25, others=400), measured(26, others=400, shift=1.3))
        line = r"cpu: .*Sinter (1\.\d+) \(600 rows\), others (1\.\d+) \(400 rows\).*: (\d+)%"
        said = re.search(line, output.getvalue())
        self.assertAlmostEqual(float(said.group(1)), 1.3, delta=0.05)
        self.assertAlmostEqual(float(said.group(2)), 1.3, delta=0.05)
        self.assertGreater(int(said.group(3)), 29)

    def test_what_is_ours(self):
        for words in ("hits null gpu 5", "start linked", "compile sinter 1", "growth lazy_grow 9", "cpu e 3 f eager"):
            self.assertTrue(compare.is_ours(tuple(words.split())), words)
        for words in ("hits null bare 5", "start empty", "compile eigen 1", "cpu e 3 f limit", "cpu e 3 f numpy"):
            self.assertFalse(compare.is_ours(tuple(words.split())), words)

    def test_the_largest_change_comes_first(self):
        found = compare.changes(measured(6, noise=0.001), measured(7, {17: 3.0, 18: 0.2}, noise=0.001))
        self.assertEqual([change.key[1] for change in found[:2]], ["e18", "e17"])

    def test_a_change_that_nobody_notices_is_the_same(self):
        found = compare.changes(measured(8, noise=1e-5), measured(9, {0: 1.02}, noise=1e-5))
        self.assertEqual(count(found, "same"), ROWS)

    def test_few_repetitions_give_no_verdict(self):
        found = compare.changes(measured(10, repetitions=2), measured(11, {0: 5}, repetitions=2))
        self.assertEqual(count(found, "unknown"), ROWS)

    def test_other_machines_and_versions_are_named(self):
        old, new = measured(12), measured(13)
        new["machine"]["processor"] = "another"
        new["versions"]["compiler"] = "another"
        old["clock"], new["clock"] = [{"ghz": 1.0}], [{"ghz": 2.0}]
        said = "\n".join(compare.warnings(old, new))
        for word in ("machines differ", "versions differ", "clock"):
            self.assertIn(word, said)
        self.assertEqual(list(compare.warnings(old, old)), [])


class Command(unittest.TestCase):
    def run_on(self, old, new):
        return subprocess.run(
            [sys.executable, "-m", "bench.report", "compare", str(old), str(new)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_status(self):
        with tempfile.TemporaryDirectory() as folder:
            old, new, broken = (pathlib.Path(folder) / name for name in ("old.json", "new.json", "broken.json"))
            result.save(measured(1), old)
            result.save(measured(2, {3: 4.0}), new)
            broken.write_text("{}")
            done = self.run_on(old, new)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("slower", done.stdout)
            for file in (broken, pathlib.Path(folder) / "none.json"):
                failed = self.run_on(old, file)
                self.assertEqual(failed.returncode, 1)
                self.assertIn("error:", failed.stderr)

    def test_same_file(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            compare.show(measured(1), measured(1))
        self.assertIn(f"0 faster, 0 slower, {ROWS} the same", output.getvalue())


if __name__ == "__main__":
    unittest.main()
