"""Operations along rows and columns, at several widths: our program, then the Python peers, compared with a copy."""

import tempfile

from . import machine, peers, programs, progress
from .spread import spread, without_events
from .suite import describe, threads_of

COLUMNS = [1024, 32_768, 64, 262_144, 8192]  # the most informative first, in case time runs out
SHORT_COLUMNS, SHORT_ELEMENTS = [64, 8192], 65_536
PEERS = ("torch", "triton", "jax", "cupy")  # NumPy uses one thread and has no bfloat16
FEW = 3  # repetitions if time is limited
# On virtual GPUs, which check values rather than speed: one case each of a matrix, of all elements, of columns.
VIRTUAL = "^(copy2|softmax|cross_entropy|sum_columns_bfloat16)/(limit|sinter)/"


def elements_of(executor):
    """Elements of a matrix: 256 MiB of floats on a GPU; on the CPU more than the largest cache, if memory allows."""
    if executor.startswith("cuda"):
        return 1 << 26
    n = 1 << 24
    while n < 1 << 26 and 4 * n <= machine.last_cache() and 100 * n <= machine.memory_bytes():
        n *= 2
    return n


def chosen(executors, deadline):
    """Memory is measured, so not the CPU with one thread if all are measured; only GPUs if time is short."""
    gpus = [name for name in executors if name.startswith("cuda")]
    if gpus and deadline.end is not None:
        return gpus
    return gpus + [name for name in executors if name == "cpu" or (name == "cpu-1" and "cpu" not in executors)]


class Rows:
    def __init__(self, folder, settings, result, deadline, peers_wanted=True):
        self.program = folder / "rows"
        self.settings = settings
        if deadline.end is not None:
            self.settings = programs.Settings(min(FEW, settings.repetitions), settings.min_time)
        self.result = result
        self.deadline = deadline
        self.peers_wanted = peers_wanted
        self.processors = result["machine"]["cores"]

    def measure(self, executors, columns, elements=None, after_each=lambda: None):
        """`elements` replaces the number that exceeds all caches."""
        found = self.result["sections"].setdefault("rows", [])
        left = 2 * len(executors) * len(columns)
        with progress.Bar("rows", len(executors) * len(columns)) as bar:
            for executor in executors:
                workers = peers.start(executor, self.result, self.deadline, PEERS) if self.peers_wanted else []
                # Widths share most of their kernels.
                with tempfile.TemporaryDirectory() as kernels:
                    try:
                        for width in columns:
                            bar.step(f"{executor}, {width} columns")
                            size = elements or elements_of(executor)
                            found += self.block(executor, size, width, workers, left, kernels)
                            left -= 2
                            after_each()
                    finally:
                        for worker in workers:
                            worker.stop()

    def block(self, executor, elements, columns, workers, parts, kernels):
        """Everything for one executor and one width, close together in time."""
        try:
            ours = self.ours(executor, elements, columns, self.deadline.share(parts), kernels)
        except programs.ProgramFailed as error:
            self.result["errors"].append(f"rows, {executor}, {columns} columns: {programs.brief(error)}")
            return []
        theirs = self.theirs((elements, columns), ours, workers, self.deadline.share(parts - 1))
        return beside_copy(ours + theirs)

    def ours(self, executor, elements, columns, deadline, kernels):
        device = executor if executor.startswith("cuda") else "cpu"
        arguments = [f"--sizes={elements}", f"--columns={columns}", f"--device={device}"]
        if self.deadline.end is not None:  # keeps complete rows if the program must be killed
            arguments.append("--benchmark_enable_random_interleaving=false")
        try:
            found, context = programs.run(
                self.program,
                self.settings,
                arguments,
                {"SINTER_CACHE": "on", "SINTER_CACHE_DIR": kernels},
                one_thread=executor == "cpu-1",
                seconds=deadline.seconds(),
                errors=self.result["errors"],
            )
        except programs.OutOfTime as late:
            found, context = late.found, late.context
            kept = sum("/sinter/" in name for name in found)
            self.result["notes"].append(f"{executor}, {columns} columns: no time was left after {kept} of Sinter's rows")
        if context:
            describe(context, self.result["versions"])
        if clock := found.pop("clock", None):
            ghz = round(clock.counters["ghz"], 3)
            self.result["clock"].append({"executor": executor, "columns": columns, "ghz": ghz})
        return [self.row(executor, measurement) for measurement in found.values()]

    def row(self, executor, measurement):
        _, implementation, columns = measurement.name.split("/")
        operation, dtype = measurement.label.split()
        return {
            "executor": executor,
            "operation": operation,
            "columns": int(columns),
            "rows": int(measurement.counters["rows"]),
            "dtype": dtype,
            "implementation": implementation,
            **measurement.spread(),
            "bytes": measurement.counters["bytes"],
            "threads": threads_of(executor, self.processors),
        }

    def theirs(self, size, rows, workers, deadline):
        """The peers' times for the cases that Sinter was measured with."""
        ours = {name_of(row): row for row in rows if row["implementation"] == "sinter"}
        times = peers.measure(workers, list(ours), size, self.settings, deadline, self.result)
        return [
            {**without_events(ours[name]), "implementation": implementation, **spread(repetitions)}
            for (name, implementation), repetitions in times.items()
        ]


def name_of(row):
    return row["operation"] + ("_bfloat16" if row["dtype"] == "bfloat16" else "")


def beside_copy(rows):
    """Adds the share of the copy's bandwidth: of the copy that moves about as many bytes."""
    copies = [row for row in rows if row["implementation"] == "limit"]
    for row in rows:
        near = min(copies, key=lambda copy: abs(copy["bytes"] - row["bytes"]), default=None)
        speed = near and near["bytes"] / near["median_ns"]
        row["limit_share"] = row["bytes"] / row["median_ns"] / speed if speed else None
    return rows


def check_on_virtual_gpu(folder):
    """Runs the GPU half of the program without a GPU: checks its results and discards its times."""
    programs.run(
        folder / "rows",
        programs.Settings(1, 0.0001),
        ["--sizes=16384", "--columns=1024", "--device=cuda:0", f"--benchmark_filter={VIRTUAL}"],
        {"SINTER_VIRTUAL_GPUS": "1"},
    )
