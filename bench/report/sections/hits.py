"""Host time of an evaluation whose kernel is ready, and of the pool."""

from .. import programs
from ..spread import spread

BUDGETS = {2: 200, 5: 250, 10: 400}  # ns over the bare launch
POOL_BUDGET = 100
REDUCTIONS = {"sum": 2, "softmax": 2, "layer_norm": 4}  # with their numbers of operands


def measure(context):
    """Rows: the GPU substitute ("null" is a driver that does nothing), benchmark, operands, threads."""
    variants = {"null": {"SINTER_CUDA_DRIVER": str(context.folder / "null_driver.so")}}
    if context.real_gpus:
        variants["real"] = {}
    else:  # needs a compiler, which a machine lent for its GPU may lack
        variants["virtual"] = {"SINTER_VIRTUAL_GPUS": "1"}
    rows = []
    for variant, environment in variants.items():
        try:
            found, _ = context.run("hit", environment=environment)
            rows += [row(variant, measurement) for measurement in found.values()]
        except programs.ProgramFailed as error:
            context.failed(f"hits, {variant}", error)
    return rows


def row(variant, measurement):
    what, _, number = measurement.name.replace("threads:", "").partition("/")
    return {"driver": variant, "what": what, "case": number, **spread(measurement.times)}
