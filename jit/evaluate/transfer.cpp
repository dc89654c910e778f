// Copies: between dtypes, layouts and devices.
#include <fmt/format.h>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/transfer.hpp>
#include "../mesh/resharding.hpp"
#include "../plan/overlap.hpp"
#include "../run/checks.hpp"
#include "evaluator.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

constexpr std::uint8_t copy_code[] = {static_cast<std::uint8_t>(Op::leaf), any_dtype};
constexpr Program copy_program{.code = copy_code, .leaves = 1, .scalars = 0, .outputs = 1, .any_typed = true};
constinit CallSiteCache copy_site;

bool has_memory(const TensorImpl& t) noexcept { return !runtime::lacks_memory(t); }
bool crosses_mesh(const TensorImpl& to, const TensorImpl& from) noexcept {
  return to.device.is_mesh() || from.device.is_mesh();
}

std::size_t bytes_of(const TensorImpl& t) noexcept { return static_cast<std::size_t>(t.numel) * size_of(t.dtype); }

/// Copies by a kernel of the device that both are on.
void convert(TensorImpl& to, TensorImpl& from) {
  TensorImpl* leaf = &from;
  TensorRef output = TensorRef::share(&to);
  evaluate_converting({&copy_site, &copy_program, &leaf, nullptr}, output);
}

/// Copies between contiguous arrays of one dtype and shape that do not overlap.
void move_bytes(TensorImpl& to, const TensorImpl& from) {
  const std::size_t bytes = bytes_of(from);
  if (bytes == 0) return;
  to.buffer->touch();  // before the copy, which writes but may then throw a kernel's fault
  runtime::copy({to.buffer.get(), to.data}, {from.buffer.get(), from.data}, bytes);
}

bool bytes_match(const TensorImpl& to, const TensorImpl& from) noexcept {
  return to.dtype == from.dtype && to.contiguous && from.contiguous && to.shape == from.shape && has_memory(from);
}

void copy_across(TensorImpl& to, TensorImpl& from) {
  // Convert to the narrower dtype first, so that fewer bytes are transferred.
  TensorRef source_copy =
      size_of(to.dtype) < size_of(from.dtype) ? jit::to(from, to.dtype, from.device) : TensorRef::share(&from);
  source_copy = contiguous(*source_copy);
  if (bytes_match(to, *source_copy)) return move_bytes(to, *source_copy);
  const TensorRef device_copy = runtime::empty(source_copy->shape, source_copy->dtype, to.device);
  move_bytes(*device_copy, *source_copy);
  convert(to, *device_copy);
}

}  // namespace

void copy(TensorImpl& to, const TensorImpl& source) {
  // Const except for the reference count.
  auto& from = const_cast<TensorImpl&>(source);
  check_output(to, from.shape, to.device);
  if (crosses_mesh(to, from) && has_memory(from)) [[unlikely]]
    return copy_on_mesh(to, from);
  if (to.device != from.device) return copy_across(to, from);
  const Overlap shared = overlap(to, from);
  if (shared == Overlap::Same && to.dtype == from.dtype) return;
  if (shared == Overlap::None && bytes_match(to, from)) return move_bytes(to, from);
  convert(to, from);
}

TensorRef to(TensorImpl& from, DType dtype, Device device) {
  if (from.dtype == dtype && from.device == device && has_memory(from)) return TensorRef::share(&from);
  if (from.device == device && device.is_mesh() && has_memory(from)) return converted_on_mesh(from, dtype);
  TensorRef result = runtime::empty(from.shape, dtype, device);
  copy(*result, from);
  return result;
}

TensorRef contiguous(TensorImpl& from) {
  if (from.contiguous && has_memory(from)) return TensorRef::share(&from);
  if (from.device.is_mesh() && has_memory(from)) return contiguous_on_mesh(from);
  TensorRef result = runtime::empty(from.shape, from.dtype, from.device);
  copy(*result, from);
  return result;
}

}  // namespace sinter::inline v1::jit
