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

from . import _core

# What an argument must be, by the name of its type in a signature.
PHRASES = {"int": "an integer", "float": "a number", "bool": "True or False", "str": "a str", "object": "an object, not None",
           "Operand": "a tensor or an expression", "Tensor": "a tensor", "Callable": "a function",
           "Mapping": "a dict", "Module": "a module such as nn.ReLU()", "Iterable": "a list", "Sequence": "a list",
           "Dataset": "a dataset: a sequence of samples"}


def _is_integer(value):
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _is_bool(value):
    return isinstance(value, bool) or type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


# Of the types that are no classes.
TESTS = {"int": _is_integer, "float": lambda value: isinstance(value, numbers.Real), "bool": _is_bool, "Any": lambda value: True}


def _phrase(name):
    return PHRASES.get(name) or f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def _subject(name):
    return f": the argument '{name}'" if name != "arg" else ""  # a property's value has no name


class _Type:
    """A type as signatures name it: "int", "sinter_jit.Tensor | None", "Iterable[Module]"."""

    def __init__(self, annotation, module):
        whole = re.sub(r"typing\.Optional\[(.*)\]", r"\1 | None", annotation)
        names = re.sub(r"\[[^|]*\]", "", whole).split(" | ")
        self.names = [name.rpartition(".")[2] for name in dict.fromkeys(names)]
        self.scopes = (builtins, module, _core, _core.optim, collections.abc)

    def __str__(self):
        return " or ".join(_phrase(name) for name in self.names if name != "None")

    def takes(self, value):
        if value is None:
            return not {"None", "Any"}.isdisjoint(self.names)
        return any(self._is_of(name, value) for name in self.names if name != "None")

    def _is_of(self, name, value):
        if name in TESTS:
            return TESTS[name](value)
        kind = next(vars(scope)[name] for scope in self.scopes if name in vars(scope))
        return isinstance(value, kind) and not (isinstance(value, str) and PHRASES.get(name) == "a list")

    def is_exceeded_by(self, value):
        """Whether a number may be beyond those of the type in C++."""
        if self.names == ["float"]:
            return abs(value) > sys.float_info.max
        return self.names == ["int"] and not 0 <= operator.index(value) < 2**31


class _Call:
    """A call of a function with these parameters, without a method's self."""

    def __init__(self, parameters, args, kwargs, module):
        self.args, self.kwargs = args, kwargs
        self.is_open = {p.kind for p in parameters}  # *args, **kwargs
        self.by_place = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
        self.by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.single = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        self.rest = [p for p in parameters if p.kind == p.VAR_POSITIONAL and p.annotation is not p.empty]
        self.types = {p.name: _Type(p.annotation, module) for p in self.single + self.rest}
        self.given = {**dict(zip(self.by_place, args)), **kwargs}

    def wrong(self):
        """A text that follows the function's name; "" if all arguments have the types that they must have."""
        return self._wrong_place() or self._wrong_name() or self._wrong_type() or ""

    def _wrong_place(self):
        most = len(self.by_place)
        if len(self.args) > most and inspect.Parameter.VAR_POSITIONAL not in self.is_open:
            given = len(self.args)
            return f" takes {most} positional argument{'s' * (most != 1)}, but {given} {'is' if given == 1 else 'are'} given"

    def _wrong_name(self):
        for name in self.kwargs:
            if name in self.by_place[:len(self.args)]:
                return f": the argument '{name}' is given twice"
            if name not in self.by_name and inspect.Parameter.VAR_KEYWORD not in self.is_open:
                near = difflib.get_close_matches(name, self.by_name, 1)
                return (f" has no argument '{name}': it takes {', '.join(self.by_name) or 'none by name'}"
                        + (f"; did you mean '{near[0]}'?" if near else ""))

    def _wrong_type(self):
        for p in self.single:
            if p.name not in self.given and p.default is p.empty:
                return f": the argument '{p.name}' is missing"
            if p.name in self.given and not self.types[p.name].takes(self.given[p.name]):
                return self._must_be(p.name, self.given[p.name])
        for p in self.rest:
            for value in self.args[len(self.by_place):]:
                if not self.types[p.name].takes(value):
                    return self._must_be(p.name, value)

    def _must_be(self, name, value):
        return f"{_subject(name)} must be {self.types[name]}, but got {_core._describe(value)}"

    def out_of_range(self):
        """What else a call can be refused for: numbers beyond those of C++."""
        for name, value in self.given.items():
            if name in self.types and self.types[name].is_exceeded_by(value):
                return f"{_subject(name)} is out of range: {_core._describe(value)}"
        return f" does not take {', '.join(map(_core._describe, self.given.values()))}"


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
    call = _Call(parameters, args, kwargs, _core)
    return name + (call.wrong() or call.out_of_range())


def _checked(function):
    """A function or method that refuses arguments of other types than it is annotated with."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    module = sys.modules[function.__module__]

    @functools.wraps(function)
    def checked(self, *args, **kwargs):
        if wrong := _Call(parameters, args, kwargs, module).wrong():
            raise TypeError((type(self).__name__ if function.__name__ == "__init__" else function.__name__) + wrong)
        return function(self, *args, **kwargs)
    return checked


def check(module):
    """Makes constructors and public methods of a module's classes refuse other types than they are annotated with."""
    for kind in filter(inspect.isclass, list(vars(module).values())):
        if kind.__module__ != module.__name__ or getattr(kind, "_is_protocol", False):
            continue
        for name, member in list(vars(kind).items()):
            is_public = name in ("__init__", "__getitem__") or name[0] != "_" and name != "forward"
            if inspect.isfunction(member) and is_public:
                setattr(kind, name, _checked(member))
