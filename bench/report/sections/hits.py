"""Host time of an evaluation whose kernel is ready, and of the pool."""

from ..spread import spread

BUDGETS = {2: 200, 5: 250, 10: 400}  # ns over the bare launch
POOL_BUDGET = 100


def measure(context):
    """Rows: the GPU that stands in ("null" is a driver that does nothing), what, operands, threads."""
    variants = {
        "null": {"SINTER_CUDA_DRIVER": str(context.folder / "null_driver.so")},
        "virtual": {"SINTER_VIRTUAL_GPUS": "1"},
    }
    if context.real_gpus:
        variants["real"] = {}
    rows = []
    for variant, environment in variants.items():
        found, _ = context.run("hit", environment=environment)
        rows += [row(variant, measurement) for measurement in found.values()]
    return rows


def row(variant, measurement):
    what, _, number = measurement.name.replace("threads:", "").partition("/")
    return {"driver": variant, "what": what, "case": number, **spread(measurement.times)}
