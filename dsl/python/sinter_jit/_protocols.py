"""Python's protocols beside operators: in-place operators, `in`, f-strings, copying, pickling, notebooks."""
from . import _copying, _html, _numpy


def _in_place(apply):
    def operator(self, other):
        value = apply(self, other)
        if value is NotImplemented:
            return value
        self[...] = value
        return self
    return operator


def _contains(self, value):
    equal = self == value
    return equal if isinstance(equal, bool) else bool(equal.any())


def _format(self, spec):
    if self.ndim == 0 or spec and self.size == 1:
        return format(self.item(), spec)
    if spec:
        raise TypeError(f"the format {spec!r} applies to one element, but the tensor is {self.dtype.name} "
                        f"{self.shape} on {self.device}: format its elements, x[i] or x.tolist()")
    return str(self)


def _index(self):
    if self.ndim or self.dtype.name not in ("uint8", "int8", "int16", "int32", "int64"):
        raise TypeError(f"an index is a 0-d tensor of integers, but the tensor is {self.dtype.name} {self.shape} "
                        f"on {self.device}")
    return self.item()


def _namespace(self, /, *, api_version=None):
    from . import array_api
    if api_version not in (None, *array_api._VERSIONS):
        raise ValueError(f"the array API {api_version} is not supported, but {', '.join(array_api._VERSIONS)} are")
    return array_api


def _refuse_write(self, key, value):
    raise TypeError("an expression has no memory to write to: evaluate it first, x = x.eval(), or build another one, "
                    "x = sinter_jit.where(mask, value, x)")


def add_to(operand, tensor, expression, operators):
    """In-place operators write to a tensor; those of an expression, which has no memory, make a new expression."""
    for symbol in operators:
        setattr(tensor, f"__i{symbol}__", _in_place(getattr(operand, f"__{symbol}__")))
    methods = {"__contains__": _contains, "__format__": _format, "__index__": _index, "__copy__": _copying.copy,
               "__deepcopy__": _copying.deepcopy, "__reduce_ex__": _copying.reduce, "_repr_html_": _html.repr_html,
               "__array_namespace__": _namespace, "__array_ufunc__": _numpy.array_ufunc,
               "__array_function__": _numpy.array_function}
    for name, method in methods.items():
        setattr(operand, name, method)
    expression.__setitem__ = _refuse_write
    operand.__array_priority__ = 1000  # of operators with arrays that know no __array_ufunc__
    operand.mT = property(lambda self: self.transpose(-1, -2), doc="The last two axes exchanged.")
