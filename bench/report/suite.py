"""The expressions, on every executor and at every size: our program, then the Python peers."""


from . import machine, peers, programs, progress
from .spread import spread, without_events

SIZES = [3, 100, 1000, 10_000, 100_000, 1_000_000]
SHORT_SIZES = [3, 1000, 100_000]
PEERS = ("numpy", "torch", "jax", "cupy")  # Triton kernels are handwritten, for rows only
# On virtual GPUs, which check values rather than speed: one expression of each family.
VIRTUAL = "^(limit|chain_5|example|every_second|normalise|gelu_half|residual_bfloat16|image)/"


def past_caches():
    """A size whose arrays are each larger than the largest cache, if memory allows."""
    for n in (10_000_000, 30_000_000, 100_000_000):
        if 4 * n > machine.last_cache() or 200 * 3 * n > machine.memory_bytes():
            return n
    return 100_000_000


LARGE = 10_000_000  # where filling operands and checking values takes longer than measuring
FEW = 3  # repetitions on a CPU at such sizes next to a GPU, which is the purpose of such a machine


def weight(executor, n):
    """The relative time of half a block, ours or the peers'."""
    return (2 if executor.startswith("cuda") else 1) * (3 if n >= LARGE else 1)


def executors(processors, gpus):
    """cpu-1 is one thread, cpu all threads, cuda:I a GPU."""
    return ["cpu-1"] + (["cpu"] if processors > 1 else []) + [f"cuda:{i}" for i in range(gpus)]


def threads_of(executor, processors):
    return {"cpu-1": 1, "cpu": processors}.get(executor, 0)


class Suite:
    def __init__(self, folder, settings, result, deadline, peers_wanted=True):
        self.program = folder / "expressions"
        self.settings = settings
        self.result = result
        self.deadline = deadline
        self.peers_wanted = peers_wanted
        self.beside_gpu = False
        self.processors = result["machine"]["cores"]

    def measure(self, executors, sizes, after_each=lambda: None):
        executors = sorted(executors, key=lambda name: not name.startswith("cuda"))  # in case time runs out
        self.beside_gpu = executors[0].startswith("cuda")
        left = [weight(executor, n) for executor in executors for n in sizes]
        with progress.Bar("expressions", len(left)) as bar:
            for executor in executors:
                workers = peers.start(executor, self.result, self.deadline, PEERS) if self.peers_wanted else []
                try:
                    for n in sizes:
                        bar.step(f"{executor}, {n} elements")
                        self.block(executor, n, workers, 2 * sum(left))
                        left.pop(0)
                        after_each()
                finally:
                    for worker in workers:
                        worker.stop()

    def block(self, executor, n, workers, parts):
        """Everything for one executor and one size, close together in time; `parts` share the remaining time.

        The peers' share begins when ours has ended: the time that ours did not need is shared by all that follows.
        """
        part = weight(executor, n)
        try:
            rows = self.ours(executor, n, self.deadline.share(parts, part))
        except programs.ProgramFailed as error:
            self.result["errors"].append(f"{executor}, {n} elements: {programs.brief(error)}")
            return
        self.result["rows"] += rows
        self.result["rows"] += self.theirs(executor, n, workers, rows, self.deadline.share(parts - part, part))

    def settings_of(self, executor, n):
        few = self.beside_gpu and n >= LARGE and not executor.startswith("cuda")
        return programs.Settings(min(FEW, self.settings.repetitions), self.settings.min_time) if few else self.settings

    def order(self, n):
        """With interleaving, a program has no complete rows until its end, which may be too late if it takes long."""
        if n < LARGE or self.deadline.end is None:
            return []
        order = "random within an executor and a size"
        self.result["settings"]["order"] = f"{order}, but one after another for Sinter at {LARGE} elements and more"
        return ["--benchmark_enable_random_interleaving=false"]

    def ours(self, executor, n, deadline):
        device = executor if executor.startswith("cuda") else "cpu"
        try:
            found, context = programs.run(
                self.program,
                self.settings_of(executor, n),
                [f"--sizes={n}", f"--device={device}", *self.order(n)],
                one_thread=executor == "cpu-1",
                seconds=deadline.seconds(),
                errors=self.result["errors"],
            )
        except programs.OutOfTime as late:
            found, context = late.found, late.context
            kept = sum("/sinter/" in name for name in found)
            self.result["notes"].append(f"{executor}, {n} elements: no time was left after {kept} of Sinter's rows")
        if context:
            self.describe(context)
        if clock := found.pop("clock", None):
            self.result["clock"].append({"executor": executor, "n": n, "ghz": round(clock.counters["ghz"], 3)})
        limits = {m.counters["bytes"]: spread(m.times)["median_ns"] for m in found.values() if "/bytes" in m.name}
        return [self.row(executor, m, limits) for m in found.values()]

    def describe(self, context):
        describe(context, self.result["versions"])

    def row(self, executor, measurement, limits):
        expression, implementation, n = measurement.name.split("/")
        family, dtype = measurement.label.split()
        if expression == "limit":
            expression, implementation = implementation, "limit"
        moved = measurement.counters["bytes"]
        row = {
            "family": family,
            "expression": expression,
            "operations": int(measurement.counters["operations"]),
            "n": int(n),
            "dtype": dtype,
            "executor": executor,
            "implementation": implementation,
            **measurement.spread(),
            "bytes": moved,
            "threads": threads_of(executor, self.processors),
        }
        row["limit_share"] = limits[moved] / row["median_ns"] if moved in limits else None
        return one_thread(row)

    def theirs(self, executor, n, workers, rows, deadline):
        """The peers' times for the cases that Sinter was measured with."""
        ours = [row for row in rows if row["implementation"] == "sinter"]
        limits = {row["bytes"]: row["median_ns"] for row in rows if row["family"] == "limit"}
        expressions, settings = [row["expression"] for row in ours], self.settings_of(executor, n)
        times = peers.measure(workers, expressions, n, settings, deadline, self.result)
        found = []
        for row in ours:
            for (expression, implementation), repetitions in times.items():
                if expression == row["expression"]:
                    new = {**without_events(row), "implementation": implementation, **spread(repetitions)}
                    new["limit_share"] = limits[row["bytes"]] / new["median_ns"] if row["bytes"] in limits else None
                    found.append(one_thread(new))
        return found


def describe(context, versions):
    """A program's description of its build."""
    for key in ("compiler", "sinter", "peer_flags", "gpus"):
        versions[key] = context.get(key, "")
    versions["libraries"].update({key: context[key] for key in ("eigen", "xtensor", "tbb") if key in context})


def one_thread(row):
    """These libraries compute elementwise operations on one thread, whatever is available."""
    return {**row, "threads": 1} if row["implementation"] in ("eigen", "xtensor", "numpy") else row


def check_on_virtual_gpu(folder):
    """Runs the GPU half of the program without a GPU: checks its results and discards its times."""
    programs.run(
        folder / "expressions",
        programs.Settings(1, 0.0001),
        ["--sizes=3,1000", "--device=cuda:0", f"--benchmark_filter={VIRTUAL}"],
        {"SINTER_VIRTUAL_GPUS": "1"},
    )
