"""A check of a machine with a GPU, in a gathered folder whose programs are stubs: what is kept, left out and said."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from bench.report import archive, carry, clocks, gpu_tests, gpu_tools  # noqa: E402

STEPS = """echo '{"step": "gpus", "ok": true, "seconds": 0.1, "said": "One"}'
echo '{"step": "fault", "ok": %s, "seconds": 0.1, "said": "an index"}'
"""
SUITE = """echo "$@" >> "$0.calls"
case $1 in
  dsl/fails_test) echo '[  FAILED  ] View.Turns (3 ms)'; exit 1 ;;
  dsl/hangs_test) echo begun; sleep 60 ;;
esac
echo '[  PASSED  ] 7 tests.'
"""
# As Google Benchmark: the context alone, and no rows.
PROGRAM = """echo '{"context": {"gpus": "%s"}, "benchmarks": []}'
"""


def written(path, text, shell="#!/bin/sh\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(shell + text, encoding="utf-8")
    path.chmod(0o755)


class Gathered(unittest.TestCase):
    """Of stubs, and of the real Python."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.top = pathlib.Path(holder.name)
        self.folder, self.out, self.tools = self.top / "carried", self.top / "out", self.top / "tools"
        shutil.copytree(ROOT / "bench/report", self.folder / "bench/report", ignore=shutil.ignore_patterns("__pycache__"))
        written(self.folder / "COMMIT", "0123abc\n", "")
        written(self.folder / "tests/two_gpus.txt", "# NAME\nStream.OfTwo   copies between them\n", "")
        written(self.folder / "tests/files.txt", "dsl_suite dsl/view_test\ndsl_suite dsl/indexing_test\n", "")
        written(self.folder / "bin/dsl_suite", SUITE)
        for name in ("expressions", "rows", "products", "hit", "first"):
            written(self.folder / "bench" / name, PROGRAM % "One sm_90")
        written(self.folder / "bench/probe", STEPS % "true")
        self.tools.mkdir()

    def check(self, *arguments, seconds=60):
        """(status, what was said, check.json)"""
        done = subprocess.run(
            [sys.executable, "-m", "bench.report.gpu_check", f"--out={self.out}", f"--seconds={seconds}", *arguments],
            cwd=self.folder,
            env={**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        path = self.out / "check.json"
        return done.returncode, done.stdout + done.stderr, json.loads(path.read_text()) if path.exists() else {}

    def phase(self, known, name):
        return next(entry for entry in known["phases"] if entry["phase"] == name)


class Check(Gathered):
    def test_phases_one_after_another(self):
        each = "while echo '0, 1980, 2619, [N/A], 40, 97'; do sleep 0.2; done"
        written(self.tools / "nvidia-smi", f'case "$*" in *-lms*) {each} ;; esac\n')
        _, said, known = self.check()
        self.assertEqual([entry["phase"] for entry in known["phases"]], ["probe", "tests", "python", "rows", "suite", "ncu", "sanitizer"])
        tests = self.phase(known, "tests")
        self.assertEqual([t["passed"] for t in tests["files"]], [7, 7])
        self.assertEqual(tests["left_out_with_one_gpu"], ["Stream.OfTwo"])
        calls = (self.folder / "bin/dsl_suite.calls").read_text()
        self.assertIn("dsl/view_test --gtest_filter=-Stream.OfTwo", calls)
        self.assertEqual(self.phase(known, "probe")["clocks"]["sm_mhz"], [1980, 1980, 1980])
        self.assertNotIn("watts", self.phase(known, "probe")["clocks"])  # what it does not tell
        self.assertEqual(self.phase(known, "ncu")["status"], "ncu is not installed")
        self.assertIn("2 of 2 files passed, 14 tests passed", said)
        with tarfile.open(self.top / "out.tar.gz") as kept:
            names = set(kept.getnames())
        self.assertLessEqual({"out/check.json", "out/result.json", "out/tests/dsl_view_test.log", "out/clocks.csv"}, names)

    def test_a_step_that_fails_is_told_and_the_rest_follows(self):
        written(self.folder / "bench/probe", STEPS % "false")
        status, said, known = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(said, "fault +0.10 s  FAILED: an index")
        self.assertEqual(len(known["phases"]), 7)

    def test_tests_that_fail_or_hang_are_named(self):
        written(self.folder / "tests/files.txt", "dsl_suite dsl/fails_test\ndsl_suite dsl/hangs_test\n", "")
        status, _, known = self.check(seconds=20)
        found = self.phase(known, "tests")["files"]
        self.assertEqual([t["status"] for t in found], ["failed (1)", "ran out of time"])
        self.assertEqual(found[0]["failed"], ["View.Turns"])
        self.assertEqual((self.out / "tests/dsl_hangs_test.log").read_text(), "begun\n")
        self.assertEqual(status, 1)

    def test_some_phases(self):
        status, _, known = self.check("--only", "python", "probe")
        self.assertEqual(status, 0)
        self.assertEqual([entry["phase"] for entry in known["phases"]], ["probe", "python"])
        self.assertEqual(self.phase(known, "python")["status"], "no wheel was carried")

    def test_ncu_and_the_sanitizer(self):
        written(self.tools / "ncu", """echo '"ID","Name"'; echo '"","ns"'; for i in 1 2 3; do echo "\\"$i\\",\\"5\\""; done\n""")
        written(self.tools / "compute-sanitizer", 'echo "$@"; case "$*" in *indexing*) exit 86 ;; esac\n')
        _, said, known = self.check()
        self.assertEqual(self.phase(known, "ncu")["kernels"], 3)
        found = self.phase(known, "sanitizer")["files"]
        self.assertRegex(found["dsl/indexing_test"], r"failed \(86\), see sanitizer_dsl_indexing_test.log")
        self.assertRegex(said, "compute-sanitizer, dsl/indexing_test: failed")

    def test_without_a_gpu(self):
        written(self.folder / "bench/expressions", PROGRAM % "")
        status, said, _ = self.check()
        self.assertEqual(status, 2)
        self.assertIn("there is no GPU that Sinter can use here", said)

    def test_killed_it_leaves_what_it_had(self):
        """By SIGTERM all of it; the archive is whole after each file, whatever ends the run."""
        written(self.folder / "tests/files.txt", "dsl_suite dsl/view_test\ndsl_suite dsl/hangs_test\n", "")
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.report.gpu_check", f"--out={self.out}", "--seconds=40"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        log = self.out / "tests/dsl_hangs_test.log"
        for _ in range(200):
            if log.exists() and log.read_text():
                break
            time.sleep(0.1)
        process.terminate()
        process.wait(60)
        with tarfile.open(self.top / "out.tar.gz") as kept:
            known = json.load(kept.extractfile("out/check.json"))
        self.assertEqual(self.phase(known, "probe")["status"], "done")


class Archive(unittest.TestCase):
    def test_the_last_of_each_file_and_no_end_needed(self):
        with tempfile.TemporaryDirectory() as name:
            folder, path = pathlib.Path(name) / "out", pathlib.Path(name) / "out.tar.gz"
            written(folder / "a/one.txt", "old", "")
            kept = archive.Archive(folder, path)
            path.write_bytes(b"")
            kept.sweep()
            written(folder / "a/one.txt", "newer", "")
            written(folder / "two.txt", "2" * 1000, "")
            kept.sweep()
            kept.sweep()  # nothing has changed
            with tarfile.open(path) as read:  # as a run that is killed leaves it
                self.assertEqual(read.getnames(), ["out/a/one.txt", "out/a/one.txt", "out/two.txt"])
                self.assertEqual(read.extractfile("out/a/one.txt").read(), b"newer")
            self.assertEqual(subprocess.run(["tar", "xzf", str(path)], cwd=name, check=False).returncode, 0)
            self.assertEqual((folder / "a/one.txt").read_text(), "newer")


class Parts(unittest.TestCase):
    def test_a_line_of_nvidia_smi(self):
        self.assertEqual(clocks.numbers("1, 1980, 2619, 502.13, 61, 97\n")["watts"], 502.13)
        self.assertIsNone(clocks.numbers("Failed to initialize NVML"))

    def test_libraries_of_the_running_python(self):
        from bench.report import gpu_check

        with tempfile.TemporaryDirectory() as prefix, mock.patch.dict(os.environ, {}, clear=False):
            os.environ.pop("VIRTUAL_ENV", None)
            with mock.patch.object(sys, "prefix", prefix):
                gpu_check.use_libraries_of_this_python()
                self.assertNotIn("VIRTUAL_ENV", os.environ)
                (pathlib.Path(prefix) / "lib/python3.12/site-packages/nvidia/cu13/lib").mkdir(parents=True)
                gpu_check.use_libraries_of_this_python()
                self.assertEqual(os.environ["VIRTUAL_ENV"], prefix)

    def test_a_folder_is_weighed_before_it_is_carried(self):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(said):
            written(pathlib.Path(name) / "bin/suite", "x" * 3000000, "")
            carry.weigh(pathlib.Path(name))
            self.assertRegex(said.getvalue(), r"2\.9 MiB of at most 50\n +2\.9 MiB  bin/suite")
            with mock.patch.object(carry, "MOST", 1024**2), self.assertRaisesRegex(SystemExit, "more than 1 MiB"):
                carry.weigh(pathlib.Path(name))

    def test_names_of_tests_that_need_two_gpus_are_tests(self):
        names = gpu_tests.needing_two_gpus()
        sources = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").glob("*/*_test.cpp"))
        for name in names:  # SUITE.NAME, or INSTANCES/SUITE.NAME/PARAMETER
            suite, test = re.fullmatch(r"(?:\w+/)?(\w+)\.(\w+|\*)(?:/.*)?", name).groups()
            self.assertRegex(sources, rf"TEST\w*\({suite}, {test.replace('*', '')}", name)

    def test_files_that_the_sanitizer_checks_are_there(self):
        for file in gpu_tools.CHECKED:
            self.assertTrue((ROOT / "tests" / f"{file}.cpp").exists(), file)


if __name__ == "__main__":
    unittest.main()
