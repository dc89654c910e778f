"""Expressions of many operations: cost should be nearly linear."""

from ..spread import spread

STEPS = ["graph_record", "graph_simplify", "graph_schedule", "graph_print", "lazy_grow", "lazy_evaluate"]

REDUCTIONS = [f"{step}_reductions/{of}" for step in ("simplify", "schedule") for of in ("leaves", "chain", "of_one")]


def measured_steps(rows):
    """The steps in a result; results from before a step existed lack it."""
    there = {row["step"] for row in rows}
    return [step for step in STEPS + REDUCTIONS if step in there]


def measure(context):
    """Rows: step, nodes (for reductions: the number of reductions)."""
    found, _ = context.run("growth")
    rows = []
    for name, measurement in found.items():
        step, _, nodes = name.rpartition("/")
        rows.append({"step": step, "nodes": int(nodes), **spread(measurement.times)})
    return rows
