"""Peers where time is short or one of them hangs: the others are measured, and what is missing is noted."""

import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from bench.report import peers, programs, suite  # noqa: E402
from bench.report.deadline import Deadline  # noqa: E402
from bench.report.peers import worker  # noqa: E402
from bench.report.peers.worker import WorkerFailed  # noqa: E402

SETTINGS = programs.Settings(7, 0.03)


class Clock:
    """A time of its own, so that nothing waits."""

    def __init__(self, test):
        self.now = 1000.0
        patch = mock.patch.object(time, "monotonic", lambda: self.now)
        patch.start()
        test.addCleanup(patch.stop)


class FakeWorker:
    """Takes `cost` seconds for a preparation; an implementation of infinite cost hangs, and its process is ended."""

    def __init__(self, clock, name, cost, start=10):
        self.clock, self.name, self.executor, self.cost, self.start = clock, name, "cuda:0", cost, start
        self.implementations = list(cost)
        self.alive, self.restarts, self.ready = True, 0, set()

    def is_alive(self):
        return self.alive

    def restart(self, seconds):
        self.restarts += 1
        self.clock.now += self.start
        self.ready.clear()
        if self.start > seconds:
            raise WorkerFailed("it does not start")
        self.alive = True

    def stop(self):
        self.alive = False

    def ask(self, question, seconds):
        if not self.alive:
            raise WorkerFailed("it was ended")
        key = question.get("expression"), question.get("implementation")
        takes = {"prepare": self.cost.get(key[1]), "measure": 0.05, "forget": 0.1}[question["do"]]
        self.clock.now += min(takes, seconds)
        if takes > seconds:
            self.alive = False
            raise WorkerFailed(f"it took more than {seconds:.0f} s")
        if question["do"] == "prepare":
            self.ready.add(key)
        if question["do"] == "measure" and key not in self.ready:
            raise AssertionError(f"{key} was never prepared")
        return {"ns": 5.0}


class Short(unittest.TestCase):
    def setUp(self):
        self.clock = Clock(self)
        self.result = {"notes": []}
        self.expressions = [f"e{i}" for i in range(17)]

    def measure(self, workers, seconds, n=1000):
        return peers.measure(workers, self.expressions, n, SETTINGS, Deadline(seconds), self.result)

    def test_time_for_all(self):
        torch = FakeWorker(self.clock, "torch", {"torch": 0.1, "torch.compile": 1.0})
        self.assertEqual(len(self.measure([torch], 60)), 34)
        self.assertEqual(self.result["notes"], [])

    def test_no_end(self):
        torch = FakeWorker(self.clock, "torch", {"torch": 0.1, "torch.compile": 100.0})
        self.assertEqual(len(self.measure([torch], None)), 34)

    def test_one_that_hangs(self):
        torch = FakeWorker(self.clock, "torch", {"torch": 0.1, "torch.compile": float("inf")})
        cupy = FakeWorker(self.clock, "cupy", {"cupy": 0.1})
        begin = self.clock.now
        times = self.measure([torch, cupy], 60)
        self.assertEqual({implementation for _, implementation in times}, {"torch", "cupy"})
        self.assertEqual(len(times), 34, "all expressions of both")
        self.assertEqual(torch.restarts, 1)
        self.assertIn("torch.compile", " ".join(self.result["notes"]))
        self.assertLess(self.clock.now - begin, 70)

    def test_one_that_ends_is_noted_at_each_size(self):
        torch = FakeWorker(self.clock, "torch", {"torch": float("inf")}, start=1000)
        for n in (30, 3):
            self.assertEqual(self.measure([torch], 30, n), {})
        said = " ".join(self.result["notes"])
        self.assertIn("30 elements: not measured", said)
        self.assertIn("3 elements: not measured", said)


PEER = """#!{python}
import json, sys, time
print(json.dumps({{"versions": {{}}, "implementations": ["quick", "slow"], "notes": []}}), flush=True)
for line in sys.stdin:
    if json.loads(line).get("implementation") == "slow": time.sleep(60)
    print(json.dumps({{"ns": 5.0}}), flush=True)
"""


class Process(unittest.TestCase):
    def test_a_process_that_hangs_is_ended_and_started_again(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "peer"
            program.write_text(PEER.format(python=sys.executable), encoding="utf-8")
            program.chmod(0o755)
            with mock.patch.object(sys, "executable", str(program)):
                peer, noted = worker.Worker("stub", "cpu"), {"notes": []}
                self.addCleanup(peer.stop)
                peer.hello(60)
                first = peer.process
                with mock.patch.object(peers, "FIRST", 0.5):
                    times = peers.measure([peer], ["e", "f"], 3, SETTINGS, Deadline(60), noted)
        self.assertEqual(sorted(times), [("e", "quick"), ("f", "quick")])
        self.assertIsNotNone(first.poll())
        self.assertIsNot(peer.process, first)
        self.assertIn("slow on cpu: left out at 3 elements", " ".join(noted["notes"]))


class Shares(unittest.TestCase):
    """What scripts/gpu-check does in six minutes, where ours takes as long as it may at the largest size."""

    def test_every_block_of_a_gpu_gives_its_peers_time(self):
        clock, given = Clock(self), []
        measured = suite.Suite(
            pathlib.Path(), SETTINGS, {"machine": {"cores": 2}, "errors": [], "notes": [], "rows": []}, Deadline(360)
        )

        def ours(executor, n, deadline):
            clock.now += min(deadline.left(), 60 if n >= suite.LARGE else 20)
            return []

        def theirs(executor, n, _workers, _rows, deadline):
            given.append((executor, n, deadline.left(), measured.settings_of(executor, n).repetitions))
            clock.now += deadline.left()
            return []

        measured.ours, measured.theirs = ours, theirs
        with mock.patch.object(peers, "start", lambda *_: []), mock.patch("sys.stderr"):
            measured.measure(["cpu", "cuda:0"], [30_000_000, 100_000, 1000, 3])
        self.assertEqual([executor for executor, *_ in given], ["cuda:0"] * 4 + ["cpu"] * 4)
        self.assertGreaterEqual(given[0][2], 55)
        self.assertTrue(all(left >= 15 for executor, _, left, _ in given if executor == "cuda:0"), given)
        self.assertEqual([few for *_, few in given], [7, 7, 7, 7, suite.FEW, 7, 7, 7])
        self.assertLess(clock.now, 1000 + 361)


if __name__ == "__main__":
    unittest.main()
