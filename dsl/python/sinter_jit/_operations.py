"""The operations of the library's tables, as functions and as methods, and Python's operators."""
import inspect

from . import _core

OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
             "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
             "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
COMPARISONS = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
UNARY = {"neg": "neg", "pos": "positive", "invert": "bitwise_not", "abs": "abs"}


def _signature(parameters):
    """Of "input", "axis=None" and "*shape"."""
    made = []
    for text in parameters:
        name, is_optional, default = text.lstrip("*").partition("=")
        kind = inspect.Parameter.VAR_POSITIONAL if text.startswith("*") else inspect.Parameter.POSITIONAL_OR_KEYWORD
        made.append(inspect.Parameter(name, kind,
                                      default=eval(default, {}) if is_optional else inspect.Parameter.empty))
    return inspect.Signature(made)


def _named(function, name, qualified_name, parameters, doc):
    function.__name__ = name
    function.__qualname__ = qualified_name
    function.__module__ = "sinter_jit"
    function.__doc__ = doc
    function.__signature__ = _signature(parameters)
    return function


def _function(name, parameters, doc):
    def operation(*args, **kwargs):
        return _core._call(name, False, args, kwargs)
    return _named(operation, name, name, parameters, doc)


def _method(name, parameters, doc):
    def operation(self, *args, **kwargs):
        return _core._call(name, True, (self, *args), kwargs)
    if name == "where":  # x.where(condition, other)
        parameters = ["input", "condition", "other"]
    return _named(operation, name, f"Operand.{name}", ["self", *parameters[1:]], doc)


def _binary(name):
    def operator(self, other):
        return _core._operator(name, self, other)
    return operator


def _reflected(name):
    def operator(self, other):
        return _core._operator(name, other, self)
    return operator


def _unary(name):
    def operator(self):
        return _core._call(name, False, (self,), {})
    return operator


def add_to(module, operand):
    """The functions to a module's names, the methods and operators to a class."""
    for name, parameters, doc, _ in _core._operations():
        module[name] = _function(name, parameters, doc)
        setattr(operand, name, _method(name, parameters, doc))
    for symbol, name in OPERATORS.items():
        setattr(operand, f"__{symbol}__", _binary(name))
        setattr(operand, f"__r{symbol}__", _reflected(name))
    for symbol, name in COMPARISONS.items():
        setattr(operand, f"__{symbol}__", _binary(name))
    for symbol, name in UNARY.items():
        setattr(operand, f"__{symbol}__", _unary(name))
    operand.__hash__ = object.__hash__  # by identity: == compares elements
    operand.__array_ufunc__ = None  # lets the tensor handle array + tensor
    for name, value in vars(_core).items():
        if isinstance(value, _core.dtype):
            module[name] = value
