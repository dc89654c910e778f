"""Matrix products and networks: our program at each shape, then PyTorch at the same one."""

import tempfile

from . import peers, programs, progress
from .rows import FEW, name_of
from .spread import spread, without_events
from .suite import describe, threads_of

# The most informative first, in case time runs out. bench/products/cases.hpp defines the extents.
SHAPES = {
    "cpu": [
        "linear:512x1024x1024",
        "block:8x128x512",
        "mlp:32x512x1024",
        "linear:32x1024x1024",
        "mlp:1x512x1024",
        "mlp:512x512x1024",
        "linear:1x1024x1024",
        "linear:64x64x64",
        "block:1x128x256",
    ],
    "cuda": [
        "linear:4096x4096x4096",
        "block:8x512x1024",
        "mlp:512x1024x4096",
        "linear:512x4096x4096",
        "mlp:32x1024x4096",
        "mlp:1x1024x4096",
        "linear:32x4096x4096",
        "block:1x128x768",
        "linear:1x4096x4096",
        "linear:64x256x256",
    ],
}
SHORT_SHAPES = ["linear:64x128x128", "mlp:8x64x128", "block:2x32x128"]
PEERS = ("torch",)  # the other peers have no layers
# On virtual GPUs, which check values rather than speed.
VIRTUAL = "^(gemm|linear_gelu_tanh_bfloat16|mlp_relu|block)/sinter/"


SOME = 5  # number of shapes if time is limited: each needs its own program


def shapes_for(executor, short, deadline):
    shapes = SHORT_SHAPES if short else SHAPES["cuda" if executor.startswith("cuda") else "cpu"]
    return shapes if deadline.end is None else shapes[:SOME]


def chosen(executors, deadline):
    """GPUs first, and only these if time is short."""
    gpus = [name for name in executors if name.startswith("cuda")]
    if gpus and deadline.end is not None:
        return gpus
    return gpus + [name for name in executors if name not in gpus]


class Products:
    def __init__(self, folder, settings, result, deadline, peers_wanted=True):
        self.program = folder / "products"
        self.settings = settings
        if deadline.end is not None:
            self.settings = programs.Settings(min(FEW, settings.repetitions), settings.min_time)
        self.result = result
        self.deadline = deadline
        self.peers_wanted = peers_wanted
        self.processors = result["machine"]["cores"]

    def measure(self, executors, short, after_each=lambda: None):
        found = self.result["sections"].setdefault("products", [])
        executors = chosen(executors, self.deadline)
        shapes = {executor: shapes_for(executor, short, self.deadline) for executor in executors}
        left = 2 * sum(map(len, shapes.values()))
        with progress.Bar("products", sum(map(len, shapes.values()))) as bar:
            for executor in executors:
                workers = peers.start(executor, self.result, self.deadline, PEERS) if self.peers_wanted else []
                with tempfile.TemporaryDirectory() as kernels:  # shapes share most of their kernels
                    try:
                        for shape in shapes[executor]:
                            bar.step(f"{executor}, {shape}")
                            found += self.block(executor, shape, workers, left, kernels)
                            left -= 2
                            after_each()
                    finally:
                        for worker in workers:
                            worker.stop()

    def block(self, executor, shape, workers, parts, kernels):
        """Everything for one executor and one shape, close together in time."""
        try:
            ours = self.ours(executor, shape, self.deadline.share(parts), kernels)
        except programs.ProgramFailed as error:
            self.result["errors"].append(f"products, {executor}, {shape}: {programs.brief(error)}")
            return []
        return over_gemm(ours + self.theirs(shape, ours, workers, self.deadline.share(parts - 1)))

    def ours(self, executor, shape, deadline, kernels):
        device = executor if executor.startswith("cuda") else "cpu"
        arguments = [f"--shapes={shape}", f"--device={device}"]
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
            self.result["notes"].append(f"products, {executor}, {shape}: no time was left after {kept} of Sinter's rows")
        if context:
            self.describe(executor, context)
        if clock := found.pop("clock", None):
            ghz = round(clock.counters["ghz"], 3)
            self.result["clock"].append({"executor": executor, "shape": shape, "ghz": ghz})
        return [self.row(executor, measurement) for measurement in found.values()]

    def describe(self, executor, context):
        describe(context, self.result["versions"])
        if "blas" in context:
            name = "cublas" if executor.startswith("cuda") else "blas"
            self.result["versions"]["libraries"][name] = context["blas"]
        if "missing" in context:
            peers.note(self.result, f"products on {executor}: {context['missing']}")

    def row(self, executor, measurement):
        _, implementation, extents = measurement.name.split("/")
        operation, dtype = measurement.label.split()
        return {
            "executor": executor,
            "operation": operation,
            "shape": extents,
            "dtype": dtype,
            "operations": measurement.counters["operations"],
            "implementation": implementation,
            **measurement.spread(),
            "threads": threads_of(executor, self.processors),
        }

    def theirs(self, shape, rows, workers, deadline):
        """The peers' times for the cases that Sinter was measured with."""
        ours = {name_of(row): row for row in rows if row["implementation"] == "sinter"}
        return [
            {**without_events(ours[name]), "implementation": implementation, **spread(repetitions)}
            for some in dtypes_apart(ours)
            for (name, implementation), repetitions in peers.measure(
                workers, some, shape, self.settings, deadline, self.result
            ).items()
        ]


def dtypes_apart(rows):
    """Names by dtype: 16-bit products crash some builds of PyTorch, and the float32 results must be kept."""
    return [some for some in ([n for n in rows if n.endswith("_bfloat16") == narrow] for narrow in (False, True)) if some]


def over_gemm(rows):
    """Adds the time over that of Sinter's bare product of the same run, shape and dtype; None without one."""
    alone = {r["dtype"]: r["median_ns"] for r in rows if (r["operation"], r["implementation"]) == ("gemm", "sinter")}
    for row in rows:
        row["over_gemm"] = row["median_ns"] / alone[row["dtype"]] if row["dtype"] in alone else None
    return rows


def check_on_virtual_gpu(folder):
    """Runs the GPU half of the program without a GPU: checks its results and discards its times."""
    programs.run(
        folder / "products",
        programs.Settings(1, 0.0001),
        [f"--shapes={','.join(SHORT_SHAPES)}", "--device=cuda:0", f"--benchmark_filter={VIRTUAL}"],
        {"SINTER_VIRTUAL_GPUS": "1"},
    )
