"""Peers from Python, each in a process of its own that lives as long as an executor is measured."""

import importlib.util
import random

from .worker import Worker, WorkerFailed

# Peer: the module that it needs, and whether it runs on CPUs and on GPUs.
PEERS = {
    "numpy": ("numpy", True, False),
    "torch": ("torch", True, True),
    "jax": ("jax", True, True),
    "cupy": ("cupy", False, True),
}
START = 120  # seconds that importing may take
FIRST_CHOICE = {"example", "gelu", "black_scholes", "chain_10", "normalise", "axpy"}  # where there is no time for all
LEAST = 3  # repetitions, whatever time it is
FIRST = 180  # seconds that the first evaluation may take, which compiles


def start(executor, result, deadline):
    """A worker for each peer that is installed and runs on this executor; the others are noted."""
    workers = []
    for name, (module, on_cpu, on_gpu) in PEERS.items():
        if not (on_gpu if executor.startswith("cuda") else on_cpu):
            continue
        if importlib.util.find_spec(module) is None:
            note(result, f"{name} is not installed")
            continue
        worker = Worker(name, executor)
        try:
            hello = worker.hello(min(START, deadline.left()))
        except WorkerFailed as error:
            note(result, f"{name} on {executor}: {error}")
            continue
        result["versions"]["peers"].update(hello["versions"])
        for line in hello["notes"]:
            note(result, line)
        workers.append(worker)
    return workers


def note(result, text):
    if text not in result["notes"]:
        result["notes"].append(text)


def measure(workers, expressions, n, settings, deadline, result):
    """Times in ns by (expression, implementation). Repetitions of all are interleaved at random, as in our program."""
    ready = warm_up(workers, sorted(expressions, key=lambda e: e not in FIRST_CHOICE), n, settings, deadline, result)
    times = {}
    for repetition in range(settings.repetitions):
        for worker, expression, implementation in random.Random(repetition).sample(ready, len(ready)):
            if deadline.is_past() and repetition >= LEAST:
                return done(workers, times)
            try:
                taken = worker.ask({"do": "measure", "expression": expression, "implementation": implementation}, 60)
                times.setdefault((expression, implementation), []).append(taken["ns"])
            except WorkerFailed as error:
                note(result, f"{implementation} on {worker.executor}, {expression}: {error}")
    return done(workers, times)


def done(workers, times):
    for worker in workers:
        try:
            worker.ask({"do": "forget"}, 60)
        except WorkerFailed:
            worker.stop()  # it ended while it measured, which is noted
    return times


def warm_up(workers, expressions, n, settings, deadline, result):
    """[(worker, expression, implementation)] of what can be measured: for all peers the same where time is short."""
    ready = []
    for expression in expressions:
        for worker in workers:
            for implementation in worker.implementations:
                # Half of the time is for measuring.
                if deadline.left() < deadline.total / 2:
                    note(
                        result,
                        f"{worker.executor}, {n} elements: no time was left for all expressions of {worker.name}",
                    )
                elif warmed_up(worker, expression, implementation, n, settings, deadline, result):
                    ready.append((worker, expression, implementation))
    return ready


def warmed_up(worker, expression, implementation, n, settings, deadline, result):
    """Evaluates once, checks the values, finds out how often to evaluate; what cannot be done is noted."""
    if not worker.is_alive():
        return False
    try:
        worker.ask(
            {
                "do": "prepare",
                "expression": expression,
                "implementation": implementation,
                "n": n,
                "min_time": settings.min_time,
            },
            max(1, min(FIRST, deadline.left())),
        )
        return True
    except WorkerFailed as error:
        note(result, f"{implementation} on {worker.executor}, {expression}: {error}")
        return False
