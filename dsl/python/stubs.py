"""The operations in sinter_jit/__init__.pyi.

tests/python/stub_test.py checks them, and with SINTER_UPDATE_GOLDEN=1 writes them.
"""
import pathlib
import re

import sinter_jit as sn

STUB = pathlib.Path(__file__).resolve().parent / "sinter_jit/__init__.pyi"
INTEGERS = ("chunks decimals dim0 dim1 dim2 end_dim high ignore_index k length low m n num_classes num_groups offset "
            "padding_idx start_dim step steps")
FLAGS = "accumulate as_tuple descending keepdim largest sorted stable training unbiased"
FLOATS = "correction delta eps label_smoothing rate"
EXTENTS = "destination dims normalized_shape repeats shape shifts size sizes source split_size_or_sections"
TYPES = {"axis": "_Axes", "dtype": "_DType", "device": "_Device", "mesh": "Mesh", "generator": "Generator",
         "equation": "str", "p": "float", "tensors": "Sequence[Operand]", "indices": "Operand", "fill_value": "_Number",
         "reduction": 'Literal["mean", "sum", "none"]', "approximate": 'Literal["none", "tanh"]',
         "rounding_mode": 'Literal["floor", "trunc"]'}
for names, kind in [(INTEGERS, "int"), (FLAGS, "_bool"), (FLOATS, "float"), (EXTENTS, "int | Sequence[int]")]:
    TYPES |= dict.fromkeys(names.split(), kind)
# Parameters that mean something else in some functions.
TYPES_IN = {"norm.p": 'float | Literal["fro"]', "select.index": "int", "squeeze.axis": "int | Sequence[int]",
            "index_put.indices": "Sequence[Operand]", "index_add.source": "Operand", "index_copy.source": "Operand",
            "smooth_l1_loss.beta": "float", "dropout.p": "float", "narrow.start": "int", "normal.mean": "_Value",
            "normal.std": "_Value", "arange.step": "float", "repeat.axis": "int", "repeat_interleave.axis": "int",
            "unfold.size": "int"}
TYPES_IN |= {f"{name}.{bound}": "float" for name in ("arange", "linspace") for bound in ("start", "end")}
TYPES_IN |= dict.fromkeys("""add.alpha sub.alpha subtract.alpha index_add.alpha addmm.beta addmm.alpha baddbmm.beta
                          baddbmm.alpha masked_fill.value scatter.src scatter.value scatter_add.src index_fill.value
                          index_put.values fill.value""".split(), "_Value")
AXES = {"softmax", "softmin", "log_softmax", "normalize", "cosine_similarity"}  # whose axes are several too
FIELDS = {"values": "Operand"}  # of several results; the others are tensors


class Function:
    """A line of the table of operations."""

    def __init__(self, name, parameters, returns, is_method, is_elementwise):
        self.name = name
        self.parameters = parameters
        self.returns = returns.split("|")
        self.is_method = is_method
        self.operand = "_Value" if is_elementwise else "Operand"
        self.has_axes = name in AXES or any(text == "axis=None" for text in parameters) and "values" not in returns

    def type_of(self, name):
        in_function = TYPES_IN.get(f"{self.name.rstrip('_')}.{name}")
        if name == "axis" and not self.has_axes:
            return in_function or "int"
        return in_function or TYPES.get(name, self.operand)

    def parameter(self, text):
        name, has_default, default = text.lstrip("*").partition("=")
        kind = self.type_of(name)
        if default == "None" and kind != "_Axes":  # which includes None
            kind += " | None"
        stars = text[:len(text) - len(text.lstrip("*"))]
        return f"{stars}{name}: {kind}" + (f" = {default}" if has_default else "")

    def signatures(self):
        """One, or one for each of the alternative results."""
        result = [in_python(returns) for returns in self.returns]
        taken = [text if text in ("self", "*") else self.parameter(text) for text in self.parameters]
        if len(result) == 1:
            yield f"def {self.name}({', '.join(taken)}) -> {result[0]}: ..."
            return
        for returns, parameters in zip(result, self.alternatives(taken)):
            yield "@overload"
            yield f"def {self.name}({', '.join(parameters)}) -> {returns}: ..."
        if "other: Operand | None = None" in taken:
            yield "@overload"
            yield f"def {self.name}({taken[0]}, axis: Operand) -> Expression: ..."

    def alternatives(self, taken):
        """Without the parameter that decides, and with it."""
        place = next(i for i, text in enumerate(taken) if text.startswith(("axis", "as_tuple")))
        name, _, rest = taken[place].partition(": ")
        kind, _, default = rest.partition(" = ")
        without = f"{name}: {'None' if default == 'None' else f'Literal[{default}]'} = {default}"
        given = "Literal[True]" if kind == "_bool" else "int"
        yield [*taken[:place], without, *taken[place + 1:]]
        after = [text for text in taken[place + 1:] if not text.startswith("other")]
        yield [*taken[:place], f"{name}: {given}", *(after[:-1] if after[-1:] == ["*"] else after)]


def in_python(returns):
    results = sn._operations.result_type(returns)
    return results.__name__ if results else returns


def table():
    for name, parameters, _, returns, is_method, is_elementwise in sn._core._operations():
        yield Function(name, parameters, returns, is_method, is_elementwise)


def functions():
    for function in table():
        if not function.name.endswith("_"):
            yield from function.signatures()


def methods():
    operators = sn._operations
    for function in table():
        if not function.is_method or function.name.endswith("_"):
            continue
        if function.name == "where":
            function.parameters = ["input", "condition", "other"]
        function.parameters = ["self", *function.parameters[1:]]
        yield from ("    " + line for line in function.signatures())
    for symbol, name in operators.OPERATORS.items():
        operand = "Operand | _Array" if name == "matmul" else "_Value"
        yield f"    def __{symbol}__(self, other: {operand}) -> Expression: ..."
        yield f"    def __r{symbol}__(self, other: {operand.partition(chr(32))[0]}) -> Expression: ..."
    for symbol in operators.COMPARISONS:
        ignored = "  # type: ignore[override]" if symbol in ("eq", "ne") else ""
        yield f"    def __{symbol}__(self, other: _Value) -> Expression: ...{ignored}"
    for symbol in operators.UNARY:
        yield f"    def __{symbol}__(self) -> Expression: ..."


def writes():
    """The methods of tensors alone."""
    for function in table():
        if function.name.endswith("_"):
            function.parameters = ["self", *function.parameters[1:]]
            yield from ("    " + line for line in function.signatures())
    for symbol, name in sn._operations.OPERATORS.items():
        operand = "Operand | _Array" if name == "matmul" else "_Value"
        yield f"    def __i{symbol}__(self, other: {operand}) -> Tensor: ...  # type: ignore[override]"


def results():
    for names, results in sorted(sn._operations.RESULTS.items()):
        yield f"class {results.__name__}(NamedTuple):"
        for name in names.split(", "):
            yield f"    {name}: {FIELDS.get(name, 'Tensor')}"


def dtypes():
    for name, value in vars(sn._core).items():
        if isinstance(value, sn.dtype):
            yield f"{name}: dtype"


def filled(text):
    parts = {"methods": methods, "writes": writes, "results": results, "dtypes": dtypes, "functions": functions}

    def fill(found):
        return "\n".join([found.group(1), *parts[found.group(2)](), found.group(3)])

    return re.sub(r"( *# operations: (\w+))\n(?:.*?\n)??( *# end)", fill, text, flags=re.DOTALL)
