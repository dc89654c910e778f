"""Queries on a result, for the table, the page and the comparison."""

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
    """The executors on which Sinter was measured: without any correct values there is nothing to show."""
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
    """In the order in which they are always shown, without the limit."""
    return in_order({row["implementation"] for row in of(result, executor)} - {"limit"})


def in_order(implementations):
    return sorted(implementations, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def by_case(result, executor):
    """{(expression, n): {implementation: row}} of the cases that Sinter was measured with, in the suite's order."""
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
    """{n: the limit's row with the most bytes}."""
    found = {}
    for row in of(result, executor):
        if row["implementation"] == "limit" and row["bytes"] and row["bytes"] >= found.get(row["n"], row)["bytes"]:
            found[row["n"]] = row
    return found


def peak(result, executor):
    """Operations per ns in registers; None if not measured."""
    for row in of(result, executor):
        if row["implementation"] == "limit" and row["expression"] == "peak":
            return row["operations"] / row["median_ns"]
    return None


def sizes(result, executor):
    return sorted({n for _, n in by_case(result, executor)})


def products(result, executor=None):
    """Rows of the section "products"."""
    return [r for r in result["sections"].get("products", []) if executor in (None, r["executor"])]


def product_executors(result):
    """The executors on which Sinter was measured."""
    return list(dict.fromkeys(r["executor"] for r in products(result) if r["implementation"] == "sinter"))


def product_implementations(result, executor):
    return in_order({r["implementation"] for r in products(result, executor)})


PRODUCT_ORDER = ["gemm", "linear_gelu", "linear_gelu_tanh", "mlp_relu", "mlp_gelu", "block"]


def product_cases(result, executor, dtype):
    """{(operation, shape): {implementation: row}} of the cases that Sinter was measured with, small shapes first."""
    cases = {}
    for r in products(result, executor):
        if r["dtype"] == dtype:
            cases.setdefault((r["operation"], r["shape"]), {})[r["implementation"]] = r
    known = {name: place for place, name in enumerate(PRODUCT_ORDER)}
    ours = [(key, rows) for key, rows in cases.items() if "sinter" in rows]
    ours.sort(key=lambda case: (known.get(case[0][0], len(known)), case[0][0], case[1]["sinter"]["operations"]))
    return dict(ours)


def along_rows(result, executor=None):
    """Rows of the section "rows"."""
    return [r for r in result["sections"].get("rows", []) if executor in (None, r["executor"])]


def row_executors(result):
    """The executors on which Sinter was measured."""
    return list(dict.fromkeys(r["executor"] for r in along_rows(result) if r["implementation"] == "sinter"))


def row_implementations(result, executor):
    return in_order({r["implementation"] for r in along_rows(result, executor)} - {"limit"})


def row_cases(result, executor, dtype):
    """{(operation, columns): {implementation: row}} of the cases that Sinter was measured with, each with its copy."""
    here = [r for r in along_rows(result, executor) if r["dtype"] in (dtype, "bytes")]
    operations = list(dict.fromkeys(r["operation"] for r in here if r["implementation"] == "sinter"))
    keys = {(r["operation"], r["columns"]) for r in here if r["implementation"] == "sinter"}
    cases = {key: {} for key in sorted(keys, key=lambda key: (operations.index(key[0]), key[1]))}
    for r in here:
        if (r["operation"], r["columns"]) in cases:
            cases[r["operation"], r["columns"]][r["implementation"]] = r
    for (_, columns), rows in cases.items():
        copies = [r for r in here if r["implementation"] == "limit" and r["columns"] == columns]
        if copies:
            rows["limit"] = min(copies, key=lambda r: abs(r["bytes"] - rows["sinter"]["bytes"]))
    return cases
