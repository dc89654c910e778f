#include <sinter/runtime/error.hpp>
#include <sinter/runtime/shards.hpp>
#include <sinter/runtime/tensor_impl.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cells.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// The range of elements that a view reaches, relative to its first: {-3, 5} is elements -3 to 4.
std::pair<std::int64_t, std::int64_t> element_range(const Shape& shape, const Shape& strides) noexcept {
  std::int64_t low = 0, high = 0;
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    if (shape[axis] == 0) return {0, 0};
    const std::int64_t reach = (shape[axis] - 1) * strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  return {low, high + 1};
}

void check_view(const TensorImpl& of, const TensorImpl& result, std::int64_t offset) {
  if (result.numel == 0 || !of.buffer) return;  // positions in an iota tensor have no bounds
  const std::int64_t size = static_cast<std::int64_t>(size_of(of.dtype));
  const std::int64_t first = of.data ? of.data - of.buffer->data() : 0;
  const auto [low, high] = element_range(result.shape, result.strides);
  if (first + (offset + low) * size >= 0 &&
      first + (offset + high) * size <= static_cast<std::int64_t>(of.buffer->bytes()))
    return;
  throw IndexError(fmt::format("a view of shape {}, strides {} and offset {} exceeds the {} bytes of the memory of {}",
                               to_string(result.shape), to_string(result.strides), offset, of.buffer->bytes(),
                               describe(of)));
}

/// A contiguous tensor without memory.
TensorRef laid_out(const Shape& shape, DType dtype, Device device) {
  check_shape(shape, size_of(dtype));
  TensorRef t = TensorRef::adopt(new TensorImpl);
  t->dtype = dtype;
  t->device = device;
  t->shape = shape;
  t->strides = shape;  // stored directly: copying freshly computed strides would wait for their stores
  std::int64_t step = 1;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    t->strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  t->numel = shape.numel();
  return t;
}

}  // namespace

bool is_contiguous(const Shape& shape, const Shape& strides) noexcept {
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::int64_t step = 1;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    if (strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

void TensorImpl::destroy(TensorImpl* impl) noexcept { delete impl; }
void* TensorImpl::operator new(std::size_t) { return Cells<TensorImpl>::allocate(); }
void TensorImpl::operator delete(void* memory) noexcept { Cells<TensorImpl>::deallocate(memory); }

TensorRef empty(const Shape& shape, DType dtype, Device device) {
  if (device.is_mesh()) [[unlikely]]
    return shape.empty() ? empty_replicated(shape, dtype, device) : empty_sharded(shape, 0, dtype, device);
  TensorRef t = laid_out(shape, dtype, device);
  t->buffer = Buffer::allocate(device, static_cast<std::size_t>(t->numel) * size_of(dtype));
  t->data = t->buffer->data();
  return t;
}

TensorRef empty_pinned(const Shape& shape, DType dtype) {
  TensorRef t = laid_out(shape, dtype, Device());
  t->buffer = Buffer::allocate_pinned(static_cast<std::size_t>(t->numel) * size_of(dtype));
  t->data = t->buffer->data();
  return t;
}

bool is_aligned(const std::byte* data, DType dtype) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % size_of(dtype) == 0;
}

TensorRef wrap_memory(const Shape& shape, DType dtype, std::byte* data, std::shared_ptr<const void> owner,
                      Device device) {
  TensorRef t = laid_out(shape, dtype, device);
  if (t->numel > 0 && (!data || !is_aligned(data, dtype)))
    throw Error(fmt::format("cannot create a tensor {} over the memory at {}: {} elements must be aligned to {} bytes",
                            to_string(shape), fmt::ptr(data), name(dtype), size_of(dtype)));
  t->buffer = Buffer::over(data, static_cast<std::size_t>(t->numel) * size_of(dtype), std::move(owner), device);
  t->data = data;
  return t;
}

TensorRef view(const TensorImpl& of, const Shape& shape, const Shape& strides, std::int64_t offset, int sharded_axis) {
  check_shape(shape, 1);
  TensorRef t = TensorRef::adopt(new TensorImpl);
  t->dtype = of.dtype;
  t->device = of.device;
  t->shape = shape;
  t->strides = strides;
  t->numel = shape.numel();
  t->contiguous = is_contiguous(shape, strides);
  t->buffer = of.buffer;
  if (of.buffer && of.buffer->shards()) [[unlikely]] {
    t->first = of.first + offset;
    place_view(*t, of, sharded_axis);
    return t;
  }
  check_view(of, *t, offset);
  const bool inside = of.data && t->numel != 0;  // no address is computed past the end of an empty array
  t->data = inside ? of.data + offset * static_cast<std::int64_t>(size_of(of.dtype)) : of.data;
  t->first = of.first + (of.data ? 0 : offset);
  return t;
}

TensorRef iota_tensor(const Shape& shape, Device device) { return laid_out(shape, DType::Int64, device); }

TensorRef absent_addend(DType dtype, Device device) { return laid_out(Shape(), dtype, device); }

std::pair<const std::byte*, const std::byte*> byte_range(const TensorImpl& t) noexcept {
  if (!t.data || t.numel == 0) return {nullptr, nullptr};
  const auto [low, high] = element_range(t.shape, t.strides);
  const std::int64_t size = static_cast<std::int64_t>(size_of(t.dtype));
  return {t.data + low * size, t.data + high * size};
}

std::string describe(const TensorImpl& t) {
  return fmt::format("{} {} on {}", name(t.dtype), to_string(t.shape), to_string(t.device));
}

}  // namespace sinter::inline v1::runtime
