"""The operations in sinter/__init__.pyi. tests/python/stub_test.py checks them, and with SINTER_UPDATE_GOLDEN=1 writes them."""
import pathlib
import re

import sinter

STUB = pathlib.Path(__file__).resolve().parent / "sinter/__init__.pyi"
TYPES = {"axis": "_Axes", "keepdim": "_bool", "correction": "float", "normalized_shape": "int | Sequence[int]", "p": "float",
         "eps": "float", "sizes": "Sequence[int]"}
TYPES |= dict.fromkeys(["dim0", "dim1", "dim2", "source", "destination", "start_dim", "end_dim", "start", "length", "offset"], "int")
OPTIONAL = {"axis", "correction", "keepdim"}


def parameter(text):
    name, has_default, default = text.partition("=")
    kind = TYPES.get(name, "_Value")
    if name.startswith("*"):
        kind = "int | Sequence[int]"
    if default == "None" and name not in OPTIONAL:
        kind += " | None"
    return f"{name}: {kind}" + (f" = {default}" if has_default else "")


def functions():
    for name, parameters, _, is_view in sinter._core._operations():
        yield f"def {name}({', '.join(map(parameter, parameters))}) -> {'Operand' if is_view else 'Expression'}: ..."


def methods():
    operators = sinter._operations
    for name, parameters, _, is_view in sinter._core._operations():
        if name == "where":
            parameters = ["input", "condition", "other"]
        made = "Operand" if is_view else "Expression"
        yield f"    def {name}({', '.join(['self', *map(parameter, parameters[1:])])}) -> {made}: ..."
    for symbol in operators.OPERATORS:
        yield f"    def __{symbol}__(self, other: _Value) -> Expression: ..."
        yield f"    def __r{symbol}__(self, other: _Value) -> Expression: ..."
    for symbol in operators.COMPARISONS:
        ignored = "  # type: ignore[override]" if symbol in ("eq", "ne") else ""
        yield f"    def __{symbol}__(self, other: _Value) -> Expression: ...{ignored}"
    for symbol in operators.UNARY:
        yield f"    def __{symbol}__(self) -> Expression: ..."


def dtypes():
    for name, value in vars(sinter._core).items():
        if isinstance(value, sinter.dtype):
            yield f"{name}: dtype"


def filled(text):
    parts = {"methods": methods, "dtypes": dtypes, "functions": functions}

    def fill(found):
        return "\n".join([found.group(1), *parts[found.group(2)](), found.group(3)])

    return re.sub(r"( *# operations: (\w+))\n(?:.*?\n)??( *# end)", fill, text, flags=re.DOTALL)
