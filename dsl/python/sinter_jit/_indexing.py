"""Indices with lists, arrays, tensors and masks, also among integers and slices, by NumPy's rules."""
from . import _core

CATEGORIES = {"bool": 0, "uint": 1, "int": 1, "float": 2, "bfloat": 2, "complex": 3}


def _category(dtype):
    return CATEGORIES[dtype.name.rstrip("0123456789")]


def _describe(x):
    return f"{x.dtype.name} {x.shape} on {x.device}"


def _is_place(item):
    return item is None or item is ... or isinstance(item, slice)


def _tensor_of(item, x):
    """A tensor of indices on x's device, or a mask; an integer as it is."""
    if isinstance(item, bool):
        raise TypeError("an index is an integer, a slice, None, ..., a list or a tensor, but got a bool: "
                        "x[i == 1] or x[[True, False]] is a mask")
    if hasattr(item, "__index__") and not isinstance(item, _core.Operand) and getattr(item, "shape", ()) == ():
        return item.__index__()
    if isinstance(item, (list, tuple, range)):
        made = _core.asarray(item, device=x.device)
        return made if made.size else made.to("int64")
    if isinstance(item, _core.Operand):
        return item
    if hasattr(item, "__dlpack__") or hasattr(item, "__array__"):
        return _core.asarray(item, device=x.device)
    raise TypeError(f"an index is an integer, a slice, None, ..., a list or a tensor, but got {_core._describe(item)}")


def _check(item, x):
    if _category(item.dtype) > 1 or item.dtype == _core.uint64:  # int64 does not have its values
        raise _core.DTypeError(f"x[i]: indices are integers or masks of bools, but got {_describe(item)}: "
                               "convert them with i.to(\"int64\")")
    if item.device != x.device:
        raise _core.DeviceError(f"x[i]: the index is {_describe(item)}, but x is {_describe(x)}: "
                                "move it with i.to(x.device)")
    if item.dtype == _core.bool and not item.ndim:
        raise TypeError("x[mask]: a mask has the shape of x or of its first axes, but got one bool")


def _items(x, key):
    """One index for each axis of x, or for each axis of a mask; and the new axes."""
    items = [item if _is_place(item) else _tensor_of(item, x) for item in (key if isinstance(key, tuple) else (key,))]
    count = 0
    for item in items:
        if isinstance(item, _core.Operand):
            _check(item, x)
        is_mask = isinstance(item, _core.Operand) and item.dtype == _core.bool
        count += item.ndim if is_mask else item is not None and item is not ...
    if sum(item is ... for item in items) > 1:
        raise _core.IndexError("an index has at most one ...")
    if count > x.ndim:
        raise _core.IndexError(f"{count} indices for a tensor of shape {x.shape}, which has {x.ndim} axes")
    whole = [slice(None)] * (x.ndim - count)
    at = next((i for i, item in enumerate(items) if item is ...), len(items))
    # Where ... covers no axis, it still stands between indices.
    return items[:at] + (whole or items[at:at + 1]) + items[at + 1:]


def _coordinates(item, x, axis):
    """The indices along each axis that a tensor of indices or a mask takes."""
    if item.dtype != _core.bool:
        return [item]
    shape = x.shape[axis:axis + item.ndim]
    if item.shape != shape:
        raise _core.IndexError(f"x[mask]: the mask is {_describe(item)}, but its axes of x, which is {_describe(x)}, "
                               f"have shape {shape}")
    found = _core._call("nonzero", False, (item,), {})
    return [found[:, i] for i in range(item.ndim)]


class _Index:
    """A view of x whose first axes are the indexed ones, and the indices along them."""

    def __init__(self, x, items):
        places, self.indices, indexed_axes, advanced = [], [], [], []
        axis = kept = 0  # of x and of the view
        for at, item in enumerate(items):
            coordinates = _coordinates(item, x, axis) if isinstance(item, _core.Operand) else []
            if coordinates or isinstance(item, int):
                advanced.append((at, kept))
            places += [slice(None)] * len(coordinates) or [item]
            indexed_axes += range(kept, kept + len(coordinates))
            self.indices += coordinates
            kept += len(coordinates) or not isinstance(item, int) and item is not ...
            axis += len(coordinates) or item is not None and item is not ...
        view = x[tuple(places)]
        rest = [axis for axis in range(view.ndim) if axis not in indexed_axes]
        self.view = view if indexed_axes == sorted(range(len(indexed_axes))) else view.permute(indexed_axes + rest)
        own = _broadcast([i.shape for i in self.indices])
        # The indices' axes stand where the indices do if nothing is between them, else first.
        are_adjacent = all(b[0] - a[0] == 1 for a, b in zip(advanced, advanced[1:]))
        first = advanced[0][1] if are_adjacent else 0
        others = list(range(len(own), len(own) + len(rest)))
        # The result's axes, among those of view[indices].
        self.places = others[:first] + list(range(len(own))) + others[first:]
        extents = own + self.view.shape[len(self.indices):]
        self.shape = [extents[axis] for axis in self.places]
        if 0 in self.shape and 0 not in own:  # nothing is read, so nothing else checks the indices
            for index, extent in zip(self.indices, self.view.shape):
                _check_range(index, extent)

    @property
    def is_in_order(self):
        return self.places == sorted(self.places)


def _broadcast(shapes):
    ndim = max(map(len, shapes))
    result = [1] * ndim
    for shape in shapes:
        for axis, extent in enumerate(shape, ndim - len(shape)):
            if extent != 1 and result[axis] not in (1, extent):
                raise _core.IndexError(f"x[i, j]: the indices do not broadcast: their shapes are "
                                       f"{', '.join(map(str, shapes))}")
            result[axis] = result[axis] if extent == 1 else extent
    return tuple(result)


def _check_range(index, extent):
    wide = index.to("int64")
    if not ((wide >= -extent) & (wide < extent)).all().item():
        raise _core.IndexError(f"x[i]: an index is out of range for {extent} positions; the indices are "
                               f"{_describe(index)}")


def _has_tensors(items):
    return any(isinstance(item, _core.Operand) for item in items)


def _only_mask(items):
    """The mask of x[mask], which is over the first axes; else None."""
    first, *others = items or [None]
    is_mask = isinstance(first, _core.Operand) and first.dtype == _core.bool
    return first if is_mask and all(isinstance(item, slice) and item == slice(None) for item in others) else None


def read(x, key):
    items = _items(x, key)
    if (mask := _only_mask(items)) is not None:
        return _core._masked_parts(x, mask)
    if not _has_tensors(items):
        return x[tuple(items)]
    index = _Index(x, items)
    made = _core._read_at(index.view, index.indices)
    return made if index.is_in_order else made.permute(index.places)


def _value_for(x, value):
    """Numbers in lists become elements of x's dtype if that loses nothing."""
    if not isinstance(value, (list, tuple, range)):
        return value
    made = _core.asarray(value, device=x.device)
    return made if _category(made.dtype) > _category(x.dtype) else _core.asarray(value, dtype=x.dtype, device=x.device)


def write(x, key, value):
    items, value = _items(x, key), _value_for(x, value)
    if not _has_tensors(items):
        x[tuple(items)] = value
        return
    is_one = not getattr(value, "shape", ())
    if is_one and (mask := _only_mask(items)) is not None and mask.shape == x.shape[:mask.ndim]:
        x[...] = _core._call("where", False, (mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim)), value, x), {})
        return
    index = _Index(x, items)
    value = value if isinstance(value, _core.Operand) or not hasattr(value, "__dlpack__") else _core.asarray(value)
    if isinstance(value, _core.Operand) and value.ndim:
        try:
            value = value.expand(index.shape)
        except _core.ShapeError:
            raise _core.ShapeError(f"x[i] = value: the value is {_describe(value)}, but the index selects "
                                   f"shape {tuple(index.shape)}") from None
        if not index.is_in_order:
            value = value.permute([index.places.index(axis) for axis in range(len(index.places))])
    _core._write_at(index.view, index.indices, value)
