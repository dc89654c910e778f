"""The operations in sinter_jit/__init__.pyi. tests/python/stub_test.py checks them, and with SINTER_UPDATE_GOLDEN=1 writes them."""
import pathlib
import re

import sinter_jit as sn

STUB = pathlib.Path(__file__).resolve().parent / "sinter_jit/__init__.pyi"
TYPES = {"axis": "_Axes", "keepdim": "_bool", "correction": "float", "normalized_shape": "int | Sequence[int]", "p": "float",
         "eps": "float", "sizes": "Sequence[int]"}
TYPES |= dict.fromkeys(["dim0", "dim1", "dim2", "source", "destination", "start_dim", "end_dim", "start", "length", "offset"], "int")
PRODUCTS_AND_EXTREMES = {"matmul", "mm", "bmm", "mv", "dot", "max", "min"}


def operand_of(function, parameters, is_view):
    """The types of operands: numbers too for elementwise operations."""
    has_axes = any(text.startswith(("axis", "normalized_shape")) for text in parameters)
    return "Operand" if is_view or has_axes or function in PRODUCTS_AND_EXTREMES else "_Value"


def parameter(function, text, operand, is_view):
    name, has_default, default = text.partition("=")
    kind = TYPES.get(name, operand)
    if name.startswith("*"):
        kind = "int | Sequence[int]"
    elif is_view and (name == "axis" or (function, name) == ("select", "index")):
        kind = "int"
    if default == "None" and kind != "_Axes":  # _Axes already includes None
        kind += " | None"
    return f"{name}: {kind}" + (f" = {default}" if has_default else "")


def signature(function, parameters, is_view):
    operand = operand_of(function, parameters, is_view)
    taken = ", ".join(text if text == "self" else parameter(function, text, operand, is_view) for text in parameters)
    return f"def {function}({taken}) -> {'Operand' if is_view else 'Expression'}: ..."


def functions():
    for name, parameters, _, is_view in sn._core._operations():
        yield signature(name, parameters, is_view)


def methods():
    operators = sn._operations
    for name, parameters, _, is_view in sn._core._operations():
        if name == "where":
            parameters = ["input", "condition", "other"]
        yield "    " + signature(name, ["self", *parameters[1:]], is_view)
    for symbol, name in operators.OPERATORS.items():
        operand = operand_of(name, [], False)
        yield f"    def __{symbol}__(self, other: {operand}) -> Expression: ..."
        yield f"    def __r{symbol}__(self, other: {operand}) -> Expression: ..."
    for symbol in operators.COMPARISONS:
        ignored = "  # type: ignore[override]" if symbol in ("eq", "ne") else ""
        yield f"    def __{symbol}__(self, other: _Value) -> Expression: ...{ignored}"
    for symbol in operators.UNARY:
        yield f"    def __{symbol}__(self) -> Expression: ..."


def dtypes():
    for name, value in vars(sn._core).items():
        if isinstance(value, sn.dtype):
            yield f"{name}: dtype"


def filled(text):
    parts = {"methods": methods, "dtypes": dtypes, "functions": functions}

    def fill(found):
        return "\n".join([found.group(1), *parts[found.group(2)](), found.group(3)])

    return re.sub(r"( *# operations: (\w+))\n(?:.*?\n)??( *# end)", fill, text, flags=re.DOTALL)
