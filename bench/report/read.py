"""Questions that the table, the page and the comparison ask of a result."""

ORDER = [
    "sinter",
    "eager",
    "plain",
    "eigen",
    "xtensor",
    "numpy",
    "torch",
    "torch.compile",
    "jax.jit",
    "cupy",
    "cupy.fuse",
    "limit",
]
NAMES = {
    "sinter": "Sinter",
    "eager": "Sinter, eager",
    "plain": "plain loops",
    "eigen": "Eigen",
    "xtensor": "xtensor",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "torch.compile": "torch.compile",
    "jax.jit": "jax.jit",
    "cupy": "CuPy",
    "cupy.fuse": "cupy.fuse",
    "limit": "limit",
}


def executors(result):
    """Those on which Sinter was measured: where all of its values were wrong, say, there is nothing to show."""
    return list(dict.fromkeys(row["executor"] for row in result["rows"] if row["implementation"] == "sinter"))


def executor_name(executor, result):
    cores = result["machine"]["cores"]
    if executor == "cpu-1":
        return "CPU, one thread"
    if executor == "cpu":
        return f"CPU, all {cores} threads"
    names = result["versions"].get("gpus", "").split(", ")
    index = int(executor.partition(":")[2])
    return names[index] if index < len(names) and names[index] else executor


def of(result, executor):
    return [row for row in result["rows"] if row["executor"] == executor]


def implementations(result, executor):
    """In the order in which they are always shown; without the limit."""
    found = {row["implementation"] for row in of(result, executor)} - {"limit"}
    return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def by_case(result, executor):
    """{(expression, n): {implementation: row}} of what Sinter was measured with, in the suite's order."""
    cases = {}
    for row in of(result, executor):
        if row["implementation"] == "sinter":
            cases[row["expression"], row["n"]] = {}
    order = list(dict.fromkeys(expression for expression, _ in cases))
    cases = {key: {} for key in sorted(cases, key=lambda case: (order.index(case[0]), case[1]))}
    for row in of(result, executor):
        if (row["expression"], row["n"]) in cases:
            cases[row["expression"], row["n"]][row["implementation"]] = row
    return cases


def limits(result, executor):
    """{n: the limit's row of the most bytes}."""
    found = {}
    for row in of(result, executor):
        if row["implementation"] == "limit" and row["bytes"] and row["bytes"] >= found.get(row["n"], row)["bytes"]:
            found[row["n"]] = row
    return found


def peak(result, executor):
    """Operations per ns in registers, None where it was not measured."""
    for row in of(result, executor):
        if row["implementation"] == "limit" and row["expression"] == "peak":
            return row["operations"] / row["median_ns"]
    return None


def sizes(result, executor):
    return sorted({n for _, n in by_case(result, executor)})
