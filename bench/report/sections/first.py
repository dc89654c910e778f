"""The first evaluation of an expression on a GPU, step by step."""

from .. import programs
from ..spread import spread

BUDGETS = {5: 80, 40: 150}  # ms in total
STEPS = ["record", "schedule", "print", "nvrtc"]


def measure(context):
    """Rows: step, operations. Steps that are impossible here, such as NVRTC without a toolkit, are noted."""
    rows = []
    for step in STEPS:
        try:
            found, _ = context.run("first", [f"--benchmark_filter=^{step}/"])
        except programs.ProgramFailed as error:
            context.notes.append(f"first evaluation, {step}: {str(error).splitlines()[-1]}")
            continue
        for measurement in found.values():
            rows.append(
                {"step": step, "operations": int(measurement.name.partition("/")[2]), **spread(measurement.times)}
            )
    return rows
