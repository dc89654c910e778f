#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <runtime/bools.hpp>
#include <sinter/jit/mesh.hpp>
#include <sinter/runtime/float_environment.hpp>
#include <sinter/runtime/transfer.hpp>
#include "checked_axis.hpp"

namespace sinter::inline v1::detail {

void hold(TensorImpl* const* leaves, int count) noexcept {
  for (int i = 0; i < count; ++i)
    if (leaves[i]) leaves[i]->hold();
}

void drop(TensorImpl* const* leaves, int count) noexcept {
  for (int i = 0; i < count; ++i)
    if (leaves[i]) leaves[i]->drop();
}

void check_device_kind(const TensorImpl& t, Device wanted, bool any_index) {
  if (t.device == wanted || (any_index && t.device.is_cuda())) return;
  throw DeviceError(fmt::format("expected a tensor on {}, but got {}; move it with .to(device), .cuda() or .cpu()",
                                any_index ? "a GPU" : to_string(wanted), describe(t)));
}

void check_dtype(const TensorImpl& t, DType wanted) {
  if (t.dtype == wanted) return;
  throw DTypeError(
      fmt::format("expected a tensor of {0}, but got {1}; request its own dtype ({2}), or convert it with .to<{3}>()",
                  name(wanted), describe(t), info(t.dtype).cpp_name, info(wanted).cpp_name));
}

void throw_moved_from() {
  throw Error(
      "this tensor or expression is empty: it was default-constructed or moved from; assign to it before using it");
}

std::int64_t extent(const TensorImpl& t, std::int64_t axis) { return t.shape[checked_axis("size", axis, t)]; }

TensorRef pin_memory(TensorImpl& t) {
  if (!t.device.is_cpu())
    throw DeviceError(
        fmt::format("only tensors on the CPU are pinned, and this one is {}: use .cpu().pin_memory()", describe(t)));
  if (t.buffer && t.buffer->is_pinned()) return TensorRef::share(&t);
  TensorRef pinned = runtime::empty_pinned(t.shape, t.dtype);
  jit::copy(*pinned, t);
  return pinned;
}

void check_host_access(const char* what, const TensorImpl& t, bool contiguous) {
  if (!t.device.is_cpu())
    throw DeviceError(fmt::format(
        "{}: the elements of {} are not in the host's memory: copy it, auto y = x.cpu(), and call it on the copy", what,
        describe(t)));
  if (contiguous && !t.contiguous)
    throw Error(fmt::format(
        "{}: the elements of {} with strides {} are not contiguous: use x.contiguous(), a copy, or x.accessor<{}>()",
        what, describe(t), to_string(t.strides), t.ndim()));
}

void check_accessor_ndim(const TensorImpl& t, int ndim) {
  if (t.ndim() == ndim) return;
  throw ShapeError(fmt::format("accessor<{}> was called on {}, which has {} axes", ndim, describe(t), t.ndim()));
}

std::ostream& print(std::ostream& out, const TensorImpl& t) { return out << to_string(t); }

std::ostream& print(std::ostream& out, std::initializer_list<std::pair<std::string_view, const TensorImpl&>> results) {
  const char* before = "(\n";
  for (const auto& [name, result] : results) out << std::exchange(before, ",\n") << name << '=' << to_string(result);
  return out << ')';
}

TensorRef on_one_device(const TensorImpl& t) {
  auto& x = const_cast<TensorImpl&>(t);  // only its reference count changes
  return t.device.is_mesh() ? jit::gather(x, Device()) : TensorRef::share(&x);
}

namespace {

/// Copies the elements of a contiguous array to the host.
void download(void* to, const TensorImpl& t) {
  const std::size_t bytes = static_cast<std::size_t>(t.numel) * size_of(t.dtype);
  runtime::download(to, {t.buffer.get(), t.data}, bytes);
  if (t.dtype == DType::Bool) runtime::make_bools({static_cast<std::byte*>(to), bytes});
}

}  // namespace

void read_item(const TensorImpl& t, void* to) {
  if (t.numel != 1)
    throw Error(fmt::format("a tensor with {} elements cannot be converted to a scalar: {}", t.numel, describe(t)));
  const TensorRef here = on_one_device(t);
  download(to, *here);
}

void read_elements(TensorImpl& t, void* to) {
  if (t.numel == 0) return;
  if (t.device.is_mesh()) return read_elements(*jit::gather(t, Device()), to);
  const TensorRef packed = jit::contiguous(t);
  download(to, *packed);
}

bool all_true(TensorImpl& bools) {
  std::vector<char> values(static_cast<std::size_t>(bools.numel));
  read_elements(bools, values.data());
  return std::ranges::all_of(values, [](char v) { return v != 0; });
}

namespace {

template <class Operand>
void fill_with(TensorImpl& t, const Operand& value) {
  TensorRef into = TensorRef::share(&t);
  jit::evaluate(detail::bind(value), &into, jit::Mode::Fused, t.device);
}

}  // namespace

void fill(TensorImpl& t, Number value) {
  const runtime::DefaultFloatEnvironment floats;
  if (value.category == Category::Int) visit(t.dtype, [&]<class T>(std::type_identity<T>) { element_of<T>(value); });
  switch (value.category) {
    case Category::Bool: return fill_with(t, ScalarOperand<Category::Bool>(value.scalar));
    case Category::Int: return fill_with(t, ScalarOperand<Category::Int>(value.scalar));
    case Category::Float: return fill_with(t, ScalarOperand<Category::Float>(value.scalar));
    case Category::Complex: return fill_with(t, ComplexOperand(value));
  }
}

TensorRef scalar_like(const TensorImpl& t, Number value) {
  TensorRef scalar = runtime::empty(Shape(), t.dtype, t.device);
  fill(*scalar, value);
  return scalar;
}

void throw_past_int64(std::uint64_t value) {
  throw Error(fmt::format("the number {} does not fit int64, the widest integer; pass it as a double", value));
}

namespace {

std::string to_string(Number value) {
  if (value.category == Category::Complex) return fmt::format("{}{:+}i", value.real(), value.imaginary);
  return value.category == Category::Float ? fmt::format("{}", value.real()) : fmt::format("{}", value.whole());
}

}  // namespace

void throw_does_not_fit(Number value, DType dtype) {
  throw Error(
      fmt::format("the number {} does not fit {}; choose a dtype that holds it", to_string(value), name(dtype)));
}

void rethrow_fill(const TensorImpl& x, const Shape& mask, const std::optional<Shape>& value) {
  const auto with_operands = [&](const Error& error) {
    return fmt::format("{}\n  in x.masked_fill_(mask, value), where\n    x: {}\n    mask: {}\n    value: {}",
                       error.what(), describe(x), sinter::to_string(mask),
                       value ? sinter::to_string(*value) : "a number");
  };
  try {
    throw;
  } catch (const ShapeError& error) {
    throw ShapeError(with_operands(error));
  } catch (const DTypeError& error) {
    throw DTypeError(with_operands(error));
  }
}

void check_number(const char* what, const TensorImpl& x, Number value) {
  const auto refusal = [&] {
    return fmt::format(
        "{}: the number {} does not fit {}, where\n    x: {}\n  Write a number that it holds, or convert x first, with "
        ".to<T>()",
        what, to_string(value), name(x.dtype), describe(x));
  };
  if (value.category > category(x.dtype)) throw DTypeError(refusal());
  if (value.category != Category::Int || category(x.dtype) != Category::Int) return;
  const bool holds = visit(x.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (category(dtype_of<T>) == Category::Int) return std::in_range<T>(value.whole());
    return true;
  });
  if (!holds) throw Error(refusal());
}

}  // namespace sinter::inline v1::detail
