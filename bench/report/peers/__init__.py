"""Python peers, each in its own process, which lives while an executor is measured."""

import importlib.util
import random

from .worker import Worker, WorkerFailed

# Peer: the module that it needs, and whether it runs on CPUs and on GPUs.
PEERS = {
    "numpy": ("numpy", True, False),
    "torch": ("torch", True, True),
    "triton": ("triton", False, True),
    "jax": ("jax", True, True),
    "cupy": ("cupy", False, True),
}
START = 120  # maximum seconds for importing
# If there is no time for all.
FIRST_CHOICE = {"example", "gelu", "black_scholes", "chain_10", "normalise", "axpy"}
FIRST_CHOICE |= {"softmax", "layer_norm", "cross_entropy", "sum_rows"}
FIRST_CHOICE |= {"gemm", "linear_gelu_tanh", "mlp_gelu", "block"}
NO_ROWS = {"cupy.fuse"}  # fuses elementwise operations and one reduction
LEAST = 3  # repetitions, even if time is short
FIRST = 180  # maximum seconds for the first evaluation, which compiles
TOO_SHORT = 3  # seconds in which compilers barely finish
REQUEST = 60  # seconds for quick requests


class Dead(Exception):
    """A peer's process was killed or has ended."""


def at_most(seconds, deadline):
    return min(seconds, max(1, deadline.left()))


def words(size):
    """A size is a number of elements, with or without the columns of a matrix, or a shape of products."""
    if isinstance(size, str):
        return size
    return f"{size} elements" if isinstance(size, int) else f"{size[1]} columns"


def asked(size):
    """The same, as part of a request."""
    if isinstance(size, str):
        return {"shape": size}
    return {"n": size} if isinstance(size, int) else dict(zip(("n", "columns"), size))


def start(executor, result, deadline, names=tuple(PEERS)):
    """A worker for each peer that is installed and runs on this executor; the others are noted."""
    workers = []
    for name, (module, on_cpu, on_gpu) in PEERS.items():
        if name not in names or not (on_gpu if executor.startswith("cuda") else on_cpu):
            continue
        if importlib.util.find_spec(module) is None:
            note(result, f"{name} is not installed")
            continue
        worker = Worker(name, executor)
        try:
            hello = worker.hello(at_most(START, deadline))
        except WorkerFailed as error:
            note(result, f"{name} on {executor}: {error}")
            worker.stop()
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
    """Times in ns by (expression, implementation). All repetitions are interleaved at random, as in our program."""
    alive = [worker for worker in workers if is_alive(worker, n, deadline, result)]
    ready = warm_up(alive, sorted(expressions, key=lambda e: e not in FIRST_CHOICE), n, settings, deadline, result)
    times = {}
    for repetition in range(settings.repetitions):
        for worker, expression, implementation in random.Random(repetition).sample(ready, len(ready)):
            if deadline.is_past() and repetition >= LEAST:
                return done(workers, times, deadline)
            if not worker.is_alive():
                continue  # noted when it ended
            try:
                question = {"do": "measure", "expression": expression, "implementation": implementation}
                taken = worker.ask(question, at_most(REQUEST, deadline))
                times.setdefault((expression, implementation), []).append(taken["ns"])
            except WorkerFailed as error:
                note(result, f"{implementation} on {worker.executor}, {words(n)}, {expression}: {error}")
    return done(workers, times, deadline)


def is_alive(worker, n, deadline, result):
    """Restarts a worker that ended at an earlier size."""
    if worker.is_alive():
        return True
    try:
        worker.restart(at_most(START, deadline))
        return True
    except WorkerFailed as error:
        worker.stop()
        note(result, f"{worker.name} on {worker.executor}, {words(n)}: not measured, {error}")
        return False


def done(workers, times, deadline):
    for worker in workers:
        try:
            worker.ask({"do": "forget"}, at_most(REQUEST, deadline))
        except WorkerFailed:
            worker.stop()  # it ended while measuring, which is noted; the next size restarts it
    return times


def warm_up(workers, expressions, n, settings, deadline, result):
    """[(worker, expression, implementation)] of what can be measured: the same for all peers if time is short."""
    cases = [(w, e, i) for e in expressions for w in workers for i in w.implementations]
    waiting = [case for case in cases if isinstance(n, int) or case[2] not in NO_ROWS]
    ready = []
    while waiting:
        case = waiting.pop(0)
        worker, expression, implementation = case
        left = deadline.left() - 2 * settings.repetitions * settings.min_time * (len(ready) + 1)  # measuring takes some
        if left < TOO_SHORT:
            note(result, f"{worker.executor}, {words(n)}: no time was left for all expressions of {worker.name}")
            continue
        try:
            # A peer that hangs must leave time for the others.
            if warmed_up(worker, expression, implementation, n, settings, min(FIRST, left / 3), result):
                ready.append(case)
        except Dead:
            note(result, f"{implementation} on {worker.executor}: left out at {words(n)}, its process has ended")
            waiting = again(worker, implementation, ready) + without(worker, implementation, waiting)
            ready = [other for other in ready if other[0] is not worker]
            if not is_alive(worker, n, deadline, result):
                waiting = [other for other in waiting if other[0] is not worker]
    return ready


def without(worker, implementation, cases):
    return [case for case in cases if case[0] is not worker or case[2] != implementation]


def again(worker, implementation, ready):
    """Restores what a worker had prepared before its process ended, except for the implementation that ended it."""
    return without(worker, implementation, [case for case in ready if case[0] is worker])


def warmed_up(worker, expression, implementation, n, settings, seconds, result):
    """Evaluates once, checks the values, and determines the number of evaluations; failures are noted."""
    question = {"do": "prepare", "expression": expression, "implementation": implementation}
    try:
        worker.ask({**question, **asked(n), "min_time": settings.min_time}, seconds)
        return True
    except WorkerFailed as error:
        note(result, f"{implementation} on {worker.executor}, {words(n)}, {expression}: {error}")
        if not worker.is_alive():
            raise Dead from error
        return False
