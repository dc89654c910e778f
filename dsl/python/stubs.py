#!/usr/bin/env python3
"""Writes the operations into sinter/__init__.pyi, or with --check says whether they are current.

    PYTHONPATH=build/dev/python python3 dsl/python/stubs.py
"""
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path = [p for p in sys.path if pathlib.Path(p).resolve() != FOLDER]  # the package there has no compiled part

import sinter  # noqa: E402

STUB = FOLDER / "sinter/__init__.pyi"
TYPES = {"axis": "_Axes", "keepdim": "_bool", "correction": "float", "normalized_shape": "int | Sequence[int]", "p": "float", "eps": "float"}
OPTIONAL = {"axis", "correction", "keepdim"}


def parameter(text):
    name, has_default, default = text.partition("=")
    kind = TYPES.get(name, "_Value")
    if default == "None" and name not in OPTIONAL:
        kind += " | None"
    return f"{name}: {kind}" + (f" = {default}" if has_default else "")


def functions():
    for name, parameters, _ in sinter._core._operations():
        yield f"def {name}({', '.join(map(parameter, parameters))}) -> Expression: ..."


def methods():
    operators = sinter._operations
    for name, parameters, _ in sinter._core._operations():
        if name == "where":
            parameters = ["input", "condition", "other"]
        yield f"    def {name}({', '.join(['self', *map(parameter, parameters[1:])])}) -> Expression: ..."
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


def main():
    text = STUB.read_text(encoding="utf-8")
    current = filled(text)
    if sys.argv[1:] == ["--check"]:
        return "sinter/__init__.pyi is not current: run dsl/python/stubs.py" if text != current else 0
    STUB.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
