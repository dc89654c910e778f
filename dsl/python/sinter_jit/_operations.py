"""The operations of the library's tables, as functions and as methods, and Python's operators."""
import collections
import inspect
import pathlib
import re

from . import _core

# A call of each operation and its value, as a doctest.
EXAMPLES = {re.match(r">>> sn\.(\w+)", text).group(1): text for text in
            re.split(r"\n(?=>>> )", pathlib.Path(__file__).with_name("examples.txt").read_text(encoding="utf-8"))}

OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
             "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
             "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
COMPARISONS = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
UNARY = {"neg": "neg", "pos": "positive", "invert": "bitwise_not", "abs": "abs"}


RESULTS = {}  # the types of several results by name: "values, indices" is a ValuesAndIndices


def _signature(parameters):
    """Of "input", "axis=None", "*shape", and "*" before those that are passed by name."""
    made = []
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for text in parameters:
        name, is_optional, default = text.lstrip("*").partition("=")
        if text.startswith("*"):
            kind = inspect.Parameter.KEYWORD_ONLY
        if text != "*":
            made.append(inspect.Parameter(name, inspect.Parameter.VAR_POSITIONAL if text.startswith("*") else kind,
                                          default=eval(default, {}) if is_optional else inspect.Parameter.empty))
    return inspect.Signature(made)


def _named(function, name, qualified_name, parameters, doc):
    function.__name__ = name
    function.__qualname__ = qualified_name
    function.__module__ = "sinter_jit"
    function.__doc__ = f"{doc}\n\n{EXAMPLES[name].rstrip()}\n" if name in EXAMPLES else doc
    function.__signature__ = _signature(parameters)
    return function


def result_type(returns):
    """The named tuple of a function's several results, or None."""
    names = returns.split("|")[-1]
    if not names.replace(", ", "").isalpha() or "," not in names:
        return None
    if names not in RESULTS:
        fields = names.split(", ")
        RESULTS[names] = collections.namedtuple("And".join(f.capitalize() for f in fields), fields, module="sinter_jit")
    return RESULTS[names]


def _with_names(function, results):
    """The function, with a tuple that it returns as a named one."""
    def named(*args, **kwargs):
        made = function(*args, **kwargs)
        return results._make(made) if type(made) is tuple else made
    return named


def _unary(name):
    """An operation of one operand, without the cost of packing arguments."""
    apply = _core._unary(name)

    def operation(input):
        return apply(input)
    return operation


def _function(name, parameters, doc, returns, is_elementwise):
    def operation(*args, **kwargs):
        return _core._call(name, False, args, kwargs)
    if is_elementwise and parameters == ["input"]:
        operation = _unary(name)
    if results := result_type(returns):
        operation = _with_names(operation, results)
    return _named(operation, name, name, parameters, doc)


def _method(name, parameters, doc, returns, is_elementwise):
    def operation(self, *args, **kwargs):
        return _core._call(name, True, (self, *args), kwargs)
    if is_elementwise and parameters == ["input"]:
        operation = _unary(name)
    if results := result_type(returns):
        operation = _with_names(operation, results)
    if name == "where":  # x.where(condition, other)
        parameters = ["input", "condition", "other"]
    return _named(operation, name, f"Operand.{name}", ["self", *parameters[1:]], doc)


def _in_place(name, parameters, doc):
    def operation(self, *args, **kwargs):
        _core._call(name, True, (self, *args), kwargs)
        return self
    return _named(operation, name, f"Tensor.{name}", ["self", *parameters[1:]], doc)


def add_to(module, operand, tensor):
    """The functions to a module's names, the methods and operators to a class; those that write to tensors' own."""
    for name, parameters, doc, returns, is_method, is_elementwise in _core._operations():
        if name.endswith("_"):
            setattr(tensor, name, _in_place(name, parameters, doc))
            continue
        module[name] = _function(name, parameters, doc, returns, is_elementwise)
        if is_method:
            setattr(operand, name, _method(name, parameters, doc, returns, is_elementwise))
    for results in RESULTS.values():
        module[results.__name__] = results
    for symbol, name in OPERATORS.items():
        setattr(operand, f"__{symbol}__", _core._binary(operand, name, f"__{symbol}__", False))
        setattr(operand, f"__r{symbol}__", _core._binary(operand, name, f"__r{symbol}__", True))
    for symbol, name in COMPARISONS.items():
        setattr(operand, f"__{symbol}__", _core._binary(operand, name, f"__{symbol}__", False))
    for symbol, name in UNARY.items():
        setattr(operand, f"__{symbol}__", _unary(name))
    operand.__hash__ = object.__hash__  # by identity: == compares elements
    for name, value in vars(_core).items():
        if isinstance(value, _core.dtype):
            module[name] = value
