"""Expressions of many operations: near linear is right."""

from ..spread import spread

STEPS = ["graph_record", "graph_simplify", "graph_schedule", "graph_print", "lazy_grow", "lazy_evaluate"]


def measure(context):
    """Rows: step, nodes."""
    found, _ = context.run("growth")
    rows = []
    for name, measurement in found.items():
        step, nodes = name.split("/")
        rows.append({"step": step, "nodes": int(nodes), **spread(measurement.times)})
    return rows
