"""Wrong arguments of calls: which one it is, what it must be, and what was given."""
import __future__
import builtins
import collections.abc
import difflib
import functools
import inspect
import numbers
import operator
import re
import sys
import typing

from . import _core

# What an argument must be, by the name of its type in a signature.
PHRASES = {"int": "an integer", "float": "a number", "bool": "True or False", "str": "a str", "object": "an object, not None",
           "Operand": "a tensor or an expression", "Tensor": "a tensor", "Callable": "a function",
           "Mapping": "a dict", "Module": "a module such as nn.ReLU()", "Iterable": "a list", "Sequence": "a list"}


def _is_integer(value):
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _is_number(value):
    is_complex = isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real)
    return hasattr(type(value), "__float__") and not is_complex and getattr(value, "size", 1) == 1


def _is_bool(value):
    return isinstance(value, bool) or type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


# Types that objects of other classes stand for.
TESTS = {"int": _is_integer, "float": _is_number, "bool": _is_bool, "Any": lambda value: True}


class _Type:
    """A type as signatures name it: "int", "sinter_jit.Tensor | None", "Iterable[Module]"."""

    def __init__(self, annotation, module):
        whole = re.sub(r"typing\.Optional\[(.*)\]", r"\1 | None", annotation)
        names = re.sub(r"\[[^|]*\]", "", whole).split(" | ")
        self.names = [name.rpartition(".")[2] for name in dict.fromkeys(names)]
        scopes = (builtins, module, _core, _core.optim, collections.abc)
        self.classes = {name: next(vars(scope)[name] for scope in scopes if name in vars(scope))
                        for name in self.names if name not in ("None", "Any")}

    def __str__(self):
        return " or ".join(self._phrase(name) for name in self.names if name != "None")

    def _phrase(self, name):
        if literals := typing.get_args(self.classes.get(name)):
            return ", ".join(map(repr, literals[:-1])) + f" or {literals[-1]!r}"
        return PHRASES.get(name) or f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"

    def takes(self, value):
        if value is None:
            return not {"None", "Any"}.isdisjoint(self.names)
        return any(self._is_of(name, value) for name in self.names if name != "None")

    def _is_of(self, name, value):
        if name in TESTS:
            return TESTS[name](value)
        if literals := typing.get_args(self.classes[name]):
            return isinstance(value, str) and value in literals
        return isinstance(value, self.classes[name]) and not (isinstance(value, (str, bytes)) and PHRASES.get(name) == "a list")

    def converted(self, value):
        """Python's own number for an object that stands for one."""
        if value is None or isinstance(value, (int, float)):
            return value
        if "int" in self.names and _is_integer(value):
            return operator.index(value)
        return float(value) if "float" in self.names else value

    def exceeds(self, value, least, end):
        """Whether a number is beyond these integers, or beyond all floats."""
        if self.names[0] == "float":
            try:
                float(value)
            except OverflowError:
                return True
            return False
        return "int" in self.names and _is_integer(value) and not least <= operator.index(value) < end


class _Signature:
    """The parameters of a function, without a method's self, which tell wrong arguments."""

    def __init__(self, parameters, module):
        self.is_open = {p.kind for p in parameters}  # *args, **kwargs
        self.by_place = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
        self.by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        single = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        rest = [p for p in parameters if p.kind == p.VAR_POSITIONAL and p.annotation is not p.empty]
        self.single, self.rest = {p.name: p for p in single}, [p.name for p in rest]
        self.types = {p.name: _Type(p.annotation, module) for p in single + rest}

    def given(self, args, kwargs):
        return {**dict(zip(self.by_place, args)), **kwargs}

    def wrong(self, args, kwargs):
        """A text that follows the function's name; "" if all arguments have the types that they must have."""
        return self._wrong_place(args) or self._wrong_name(args, kwargs) or self._wrong_type(args, kwargs) or ""

    def _wrong_place(self, args):
        most, count = len(self.by_place), len(args)
        if count > most and inspect.Parameter.VAR_POSITIONAL not in self.is_open:
            return f" takes {most} positional argument{'s' * (most != 1)}, but {count} {'is' if count == 1 else 'are'} given"

    def _wrong_name(self, args, kwargs):
        for name in kwargs:
            if name in self.by_place[:len(args)]:
                return f": the argument '{name}' is given twice"
            if name not in self.by_name and inspect.Parameter.VAR_KEYWORD not in self.is_open:
                near = difflib.get_close_matches(name, self.by_name, 1)
                return (f" has no argument '{name}': it takes {', '.join(self.by_name) or 'none by name'}"
                        + (f"; did you mean '{near[0]}'?" if near else ""))

    def _wrong_type(self, args, kwargs):
        given = self.given(args, kwargs)
        for name, parameter in self.single.items():
            if name not in given and parameter.default is parameter.empty:
                return f": the argument '{name}' is missing"
            if name in given and not self.types[name].takes(given[name]):
                return self._must_be(name, given[name])
        for name in self.rest:
            for value in args[len(self.by_place):]:
                if not self.types[name].takes(value):
                    return self._must_be(name, value)

    def _must_be(self, name, value):
        return f"{_subject(name)} must be {self.types[name]}, but got {_core._describe(value)}"

    def exceeded(self, args, kwargs, least, end):
        """As wrong(), for integers outside a range and numbers beyond all floats."""
        for name, value in self.given(args, kwargs).items():
            if name in self.types and value is not None and self.types[name].exceeds(value, least, end):
                return f"{_subject(name)} is out of range: {_core._describe(value)}"
        return ""

    def converted(self, args, kwargs):
        """The arguments, with Python's own numbers."""
        types = self.types
        return ([types[name].converted(value) for name, value in zip(self.by_place, args)] + list(args[len(self.by_place):]),
                {name: types[name].converted(value) if name in types else value for name, value in kwargs.items()})


def _subject(name):
    return f": the argument '{name}'" if name != "arg" else ""  # a property's value has no name


def _signature(text):
    """Of "def name(self, x: int = \\0) -> str", where \\0 is the first default value."""
    made = {}
    head = "def function" + re.sub(r"\\=?\d+", "None", text[text.index("("):])
    exec(compile(head + ": ...", "", "exec", __future__.annotations.compiler_flag), made)
    return list(inspect.signature(made["function"]).parameters.values())


def _parameters(function):
    """Those of the first overload, with the types of all."""
    first, *others = [_signature(text) for text, _, _ in function.__nb_signature__]
    return [p if p.annotation is p.empty else
            p.replace(annotation=" | ".join([p.annotation, *(other[i].annotation for other in others)]))
            for i, p in enumerate(first)]


def _name(function, owner, args):
    """As users write the call: the class for its constructor, the property for its setter."""
    if function.__name__ == "__init__":
        return owner
    return function.__name__ or next((name for kind in type(args[0]).__mro__ for name, member in vars(kind).items()
                                      if getattr(member, "fset", None) is function), "the property")


def refusal(function, args, kwargs):
    """The message for a call that a function of the module _core refuses."""
    parameters = _parameters(function)
    owner = (function.__qualname__ or "").rpartition(".")[0]
    name = _name(function, owner, args)
    if parameters and parameters[0].name == "self":
        self = _Type(owner or "object", _core)
        if not args or not self.takes(args[0]):
            return f"{name} is a method of {self}, but got {_core._describe(args[0]) if args else 'none'}"
        parameters, args = parameters[1:], args[1:]
    signature = _Signature(parameters, _core)
    return name + (signature.wrong(args, kwargs) or signature.exceeded(args, kwargs, 0, 2**31)
                   or f" does not take {', '.join(map(_core._describe, signature.given(args, kwargs).values()))}")


def _checked(function):
    """A method that refuses arguments of other types than it is annotated with."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    signature = _Signature(parameters, sys.modules[function.__module__])
    owner = function.__qualname__.rpartition(".")[0]

    @functools.wraps(function)
    def checked(self, *args, **kwargs):
        if wrong := signature.wrong(args, kwargs) or signature.exceeded(args, kwargs, -2**63, 2**64):
            kind = type(self).__name__ if owner[0] == "_" else owner
            raise TypeError((kind if function.__name__ == "__init__" else function.__name__) + wrong)
        args, kwargs = signature.converted(args, kwargs)
        return function(self, *args, **kwargs)
    return checked


def check(module):
    """Makes constructors and public methods of a module's classes refuse other types than they are annotated with."""
    for kind in filter(inspect.isclass, list(vars(module).values())):
        if kind.__module__ != module.__name__ or getattr(kind, "_is_protocol", False):
            continue
        for name, member in list(vars(kind).items()):
            if inspect.isfunction(member) and (name == "__init__" or name[0] != "_" and name != "forward"):
                setattr(kind, name, _checked(member))
