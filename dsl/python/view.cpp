// Views and indexing: x[1:, None, ..., -1], x[mask], x[indices]; writing to them.
#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/mask.hpp>
#include <sinter/dsl/tensor.hpp>
#include "convert.hpp"

namespace sinter::python {
namespace {

/// A parsed index: what is taken of an axis, or a new axis.
struct Index {
  enum class Kind { Position, Range, NewAxis } kind;
  std::int64_t position = 0;
  sinter::range part{};
};

/// Clamped to 64 bits, like any position past the end.
std::int64_t bound(nb::handle object) {
  if (object.is_none()) return sinter::range::none;
  if (is_bool(object) || nb::isinstance<Operand>(object)) return integer_from("a slice", object);
  const nb::object whole = index_of(object);
  int over = 0;
  const long long at = PyLong_AsLongLongAndOverflow(whole.ptr(), &over);
  if (over > 0) return std::numeric_limits<std::int64_t>::max();
  return over < 0 ? sinter::range::none + 1 : std::max<std::int64_t>(at, sinter::range::none + 1);
}

Index read_index(nb::handle object) {
  if (object.is_none()) return {.kind = Index::Kind::NewAxis};
  if (PySlice_Check(object.ptr())) {
    const std::int64_t step = object.attr("step").is_none() ? 1 : integer_from("a slice", object.attr("step"));
    return {.kind = Index::Kind::Range, .part = {bound(object.attr("start")), bound(object.attr("stop")), step}};
  }
  if (is_bool(object) || nb::isinstance<Operand>(object) || !PyIndex_Check(object.ptr()))
    throw_type_error(
        fmt::format("an index is an integer, a slice, None, ..., a list or a tensor, but got {}", describe(object)));
  return {.kind = Index::Kind::Position, .position = integer_from("an index", object)};
}

/// With whole axes in place of `...` and for the axes that are not indexed.
std::vector<Index> read_indices(const nb::object& key, const Shape& shape) {
  const nb::tuple items = PyTuple_Check(key.ptr()) ? nb::tuple(key) : nb::make_tuple(key);
  std::int64_t axes = 0;
  bool has_ellipsis = false;
  for (const nb::handle item : items) {
    if (item.is(Py_Ellipsis) && std::exchange(has_ellipsis, true)) throw IndexError("an index has at most one ...");
    axes += !item.is_none() && !item.is(Py_Ellipsis);
  }
  if (axes > shape.ndim())
    throw IndexError(
        fmt::format("{} indices for a tensor of shape {}, which has {} axes", axes, to_string(shape), shape.ndim()));
  const auto whole = static_cast<std::size_t>(shape.ndim() - axes);
  std::vector<Index> indices;
  for (const nb::handle item : items) {
    if (item.is(Py_Ellipsis))
      indices.insert(indices.end(), whole, Index{.kind = Index::Kind::Range});
    else
      indices.push_back(read_index(item));
  }
  return indices;
}

TensorRef taken(const TensorImpl& x, const std::vector<Index>& indices) {
  TensorRef part = runtime::view(x, x.shape, x.strides);
  std::int64_t axis = 0;
  for (const Index& i : indices) {
    switch (i.kind) {
      case Index::Kind::NewAxis: part = detail::unsqueeze(*part, axis++); break;
      case Index::Kind::Position: part = detail::select(*part, axis, i.position); break;
      case Index::Kind::Range: part = detail::slice(*part, axis++, i.part); break;
    }
  }
  return part;
}

Lazy<AnyType> lazy_of(const Operand& x) { return Lazy<AnyType>(detail::node_of(x.value())); }

/// Whether an index has lists, arrays, or tensors.
bool is_mixed(nb::handle key) {
  const auto is_array = [](nb::handle item) {
    return is_list(item) || nb::isinstance<Operand>(item) ||
           (!is_numpy_scalar(item) && (PyObject_CheckBuffer(item.ptr()) || nb::hasattr(item, "__dlpack__")));
  };
  if (!PyTuple_Check(key.ptr())) return is_array(key);
  for (const nb::handle item : nb::borrow<nb::tuple>(key))
    if (is_array(item)) return true;
  return false;
}

nb::object item_at(const nb::object& self, const nb::object& key) {
  if (is_mixed(key)) return nb::module_::import_("sinter_jit._indexing").attr("read")(self, key);
  const auto& x = nb::cast<const Operand&>(self);
  const std::vector<Index> indices = read_indices(key, x.shape());
  return nb::cast(viewed(x, [&](TensorImpl& t) { return taken(t, indices); }));
}

void set_item(const nb::object& self, const nb::object& key, const nb::object& value) {
  if (is_mixed(key) || is_list(value)) {
    nb::module_::import_("sinter_jit._indexing").attr("write")(self, key, value);
    return;
  }
  const auto& x = nb::cast<const TensorObject&>(self);
  const TextValue v = value_from("x[i] = value", value);
  if (!v.is_operand())
    throw_type_error(fmt::format("x[i] = value takes a tensor, an array or a number, but got {}", describe(value)));
  const std::vector<Index> indices = read_indices(key, x.shape());
  without_gil([&] {
    AnyTensor part(taken(*x.tensor, indices));
    detail::with_operand(v, [&](const auto& number) { part.assign(number); });
  });
}

std::unique_ptr<Operand> transposed(const Operand& x) {
  return viewed(x, [](TensorImpl& t) {
    std::vector<std::int64_t> axes;
    for (int i = t.ndim(); i-- > 0;) axes.push_back(i);
    return detail::permute(t, axes);
  });
}

}  // namespace

std::unique_ptr<Operand> viewed(const Operand& x, const std::function<TensorRef(TensorImpl&)>& view) {
  return without_gil([&]() -> std::unique_ptr<Operand> {
    if (const auto* t = dynamic_cast<const TensorObject*>(&x)) return object_of(view(*t->tensor));
    return object_of(TextValue::tensor(detail::view_of(lazy_of(x), [&](TensorImpl& t) { return view(t); })));
  });
}

void add_views(nb::class_<Operand>& operand, nb::class_<TensorObject, Operand>& tensor) {
  operand.def("__iter__", [](const nb::object& self) {
    if (nb::cast<const Operand&>(self).shape().empty()) throw_type_error("a 0-d tensor cannot be iterated over");
    return nb::steal(PySeqIter_New(self.ptr()));
  });
  operand.def("__getitem__", item_at, nb::arg("key").none()).def_prop_ro("T", transposed, "The axes in reverse order.");
  tensor.def("__setitem__", set_item, nb::arg("key").none(), nb::arg("value").none());
}

}  // namespace sinter::python
