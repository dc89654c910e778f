#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <sinter/runtime/float_environment.hpp>
#include <sinter/runtime/transfer.hpp>

namespace sinter::inline v1::detail {

void retain(TensorImpl* const* leaves, int count) noexcept {
  for (int i = 0; i < count; ++i)
    if (leaves[i]) leaves[i]->retain();
}

void release(TensorImpl* const* leaves, int count) noexcept {
  for (int i = 0; i < count; ++i)
    if (leaves[i]) leaves[i]->release();
}

void check_device_kind(const TensorImpl& t, Device wanted, bool any_index) {
  if (t.device == wanted || (any_index && t.device.is_cuda())) return;
  throw DeviceError(fmt::format("expected a tensor on {}, but got {}; move it with .to(device), .cuda() or .cpu()",
                                any_index ? "a GPU" : to_string(wanted), describe(t)));
}

void check_dtype(const TensorImpl& t, DType wanted) {
  if (t.dtype == wanted) return;
  throw DtypeError(
      fmt::format("expected a tensor of {0}, but got {1}; ask for its own dtype ({2}), or convert it with .to<{3}>()",
                  name(wanted), describe(t), info(t.dtype).cpp_name, info(wanted).cpp_name));
}

void throw_moved_from() {
  throw Error(
      "this tensor or expression holds nothing: it was made empty or was moved from; assign to it before using it");
}

std::int64_t extent(const TensorImpl& t, std::int64_t axis) {
  const int rank = t.rank();
  if (axis < -rank || axis >= rank)
    throw IndexError(fmt::format("dimension out of range (expected to be in range of [{}, {}], but got {}) for {}",
                                 -rank, rank - 1, axis, describe(t)));
  return t.shape[static_cast<int>(axis < 0 ? axis + rank : axis)];
}

TensorRef pin_memory(TensorImpl& t) {
  if (!t.device.is_cpu())
    throw DeviceError(
        fmt::format("only tensors on the CPU are pinned, and this one is {}: use .cpu().pin_memory()", describe(t)));
  if (t.buffer && t.buffer->is_pinned()) return TensorRef::share(&t);
  TensorRef pinned = runtime::empty_pinned(t.shape, t.dtype);
  jit::copy(*pinned, t);
  return pinned;
}

std::ostream& print(std::ostream& out, const TensorImpl& t) { return out << to_string(t); }

void read_item(const TensorImpl& t, void* to) {
  if (t.numel != 1)
    throw Error(fmt::format("a tensor with {} elements cannot be converted to a scalar: {}", t.numel, describe(t)));
  runtime::download(to, {t.buffer.get(), t.data}, size_of(t.dtype));
}

void read_elements(TensorImpl& t, void* to) {
  if (t.numel == 0) return;
  const TensorRef packed = jit::contiguous(t);
  runtime::download(to, {packed->buffer.get(), packed->data}, static_cast<std::size_t>(t.numel) * size_of(t.dtype));
}

bool all_true(TensorImpl& bools) {
  std::vector<char> values(static_cast<std::size_t>(bools.numel));
  read_elements(bools, values.data());
  return std::ranges::all_of(values, [](char v) { return v != 0; });
}

namespace {

template <Category C>
void fill_with(TensorImpl& t, jit::Scalar value) {
  using R = StaticProgram<ScalarLeaf<C>, 0, 1, 1, scalar_bytes>;
  TensorRef into = TensorRef::share(&t);
  jit::evaluate({&R::entry, &R::program, nullptr, &value}, &into, jit::Mode::Fused, t.device);
}

}  // namespace

void fill(TensorImpl& t, Number value) {
  const runtime::DefaultFloats floats;
  if (value.category == Category::Int) visit(t.dtype, [&]<class T>(std::type_identity<T>) { element_of<T>(value); });
  switch (value.category) {
    case Category::Bool: return fill_with<Category::Bool>(t, value.scalar);
    case Category::Int: return fill_with<Category::Int>(t, value.scalar);
    case Category::Float: return fill_with<Category::Float>(t, value.scalar);
  }
}

TensorRef scalar_like(const TensorImpl& t, Number value) {
  TensorRef scalar = runtime::empty(Shape(), t.dtype, t.device);
  fill(*scalar, value);
  return scalar;
}

void throw_past_int64(std::uint64_t value) {
  throw Error(fmt::format("the number {} does not fit int64, the widest integer; give it as a double", value));
}

void throw_does_not_fit(Number value, DType dtype) {
  const std::string text =
      value.category == Category::Float ? fmt::format("{}", value.real()) : fmt::format("{}", value.whole());
  throw Error(fmt::format("the number {} does not fit {}; choose a dtype that holds it", text, name(dtype)));
}

}  // namespace sinter::inline v1::detail
