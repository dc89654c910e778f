// Reading and writing at tensors of indices, one for each of the first axes; other keys come here through _indexing.py.
#include <fmt/format.h>

#include <array>

#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/mask.hpp>
#include <sinter/dsl/scatter.hpp>
#include "convert.hpp"

namespace sinter::python {
namespace {

using Any = Lazy<AnyType>;
using Offsets = Lazy<std::int64_t>;

std::vector<TextValue> values_of(const nb::list& operands) {
  std::vector<TextValue> values;
  for (const nb::handle x : operands) values.push_back(nb::cast<const Operand&>(x).value());
  return values;
}

/// The offsets of the elements of x, in elements, for indices along its first axes.
Offsets offsets_of(const TensorImpl& x, std::span<const TextValue> indices) {
  const int count = static_cast<int>(indices.size());
  Shape extents, strides;
  for (int axis = count; axis < x.ndim(); ++axis) extents.push_back(x.shape[axis]), strides.push_back(x.strides[axis]);
  Offsets all(jit::lazy(*runtime::view(*runtime::iota_tensor(extents, x.device), extents, strides)));
  for (int axis = 0; axis < count; ++axis) {
    const TextValue& index = indices[static_cast<std::size_t>(axis)];
    if (x.shape[axis] == 0 && index.shape.numel() > 0)
      throw IndexError(fmt::format("x[i]: axis {} of x, which is {}, has no elements", axis, runtime::describe(x)));
    const Offsets place = detail::as_int64(detail::with_trailing_axes(index.lazy(), x.ndim() - count));
    all = all + detail::apply<Op::axis_offset>(place, x.shape[axis], x.strides[axis]);
  }
  return all;
}

std::unique_ptr<Operand> read_at(const Operand& x, const nb::list& indices) {
  const std::vector<TextValue> at = values_of(indices);
  return without_gil([&] {
    if (const auto* t = dynamic_cast<const TensorObject*>(&x))
      return object_of(TextValue::tensor(Any(jit::lazy_load(*t->tensor, offsets_of(*t->tensor, at).node()))));
    const auto source = detail::in_memory(x.value().lazy());
    return object_of(TextValue::tensor(Any(detail::load(source, offsets_of(source.impl(), at)))));
  });
}

/// An operand, which is evaluated on the way if it is an expression.
detail::Source source_of(const TextValue& v) {
  if (v.kind == TextValue::Kind::Number)
    return detail::with_operand(v, []<class T>(const T& number) -> detail::Source {
      if constexpr (expression<T>)
        return {number.node(), {}};
      else
        return {{}, {}, detail::Number(number)};
    });
  return {v.node, v.array};
}

void write_at(const TensorObject& x, const nb::list& indices, const nb::object& value) {
  std::vector<detail::Source> at;
  for (const TextValue& index : values_of(indices)) at.push_back(source_of(index));
  const TextValue v = value_from("x[i] = value", value);
  if (!v.is_operand())
    throw_type_error(fmt::format("x[i] = value takes a tensor, an array or a number, but got {}", describe(value)));
  if (v.is_tensor() && category(v.node->dtype()) > category(x.dtype()))
    throw DTypeError(fmt::format("x[i] = value: the value is {}, and x is {}: convert the value with value.to(x.dtype)",
                                 detail::describe(v), runtime::describe(*x.tensor)));
  without_gil([&] { detail::index_put(*x.tensor, at, source_of(v), jit::Write::Store, "x[i] = value"); });
}

/// Contiguous elements on the CPU as those of another dtype: bytes of a tensor, or a tensor from bytes.
std::unique_ptr<Operand> reinterpreted(const TensorObject& x, const DTypeObject& dtype, const nb::tuple& extents) {
  Shape shape, strides;
  for (const nb::handle extent : extents) shape.push_back(integer_from("shape", extent));
  strides = shape;
  std::int64_t next = 1;
  for (int axis = shape.ndim(); axis-- > 0; next *= shape[axis]) strides[axis] = next;
  TensorRef bytes = x.tensor;
  if (next * static_cast<std::int64_t>(size_of(dtype.dtype)) !=
      bytes->numel * static_cast<std::int64_t>(size_of(bytes->dtype)))
    throw ShapeError(fmt::format("the data of {} is not {} of shape {}", runtime::describe(*bytes), name(dtype.dtype),
                                 to_string(shape)));
  if (!runtime::is_aligned(bytes->data, dtype.dtype)) {
    bytes = runtime::empty(x.shape(), x.dtype(), x.device());
    jit::copy(*bytes, *x.tensor);
  }
  const TensorRef other = runtime::view(*bytes, bytes->shape, bytes->strides);
  other->dtype = dtype.dtype;
  return object_of(runtime::view(*other, shape, strides));
}

}  // namespace

void add_indexed(nb::module_& m) {
  m.def("_read_at", read_at);
  m.def("_write_at", write_at);
  m.def("_masked_parts", [](const Operand& x, const Operand& mask) {
    return object_of(without_gil([&] {
      TensorRef parts[2];
      jit::evaluate(std::array{detail::node_of(x.value()), detail::node_of(mask.value())}, parts);
      return jit::masked_parts(*parts[0], *parts[1]);
    }));
  });
  m.def("_reinterpreted", reinterpreted);
  m.def("_describe", [](const nb::object& x) { return describe(x); }, nb::arg().none());
}

}  // namespace sinter::python
