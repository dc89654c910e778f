#include <sinter/jit/select.hpp>

#include <fmt/format.h>

#include <runtime/different_devices.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/order.hpp>
#include "cpu_compact.hpp"
#include "cuda_compact.hpp"
#include "library_span.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

void check_mask(const char* what, const TensorImpl& mask) {
  if (mask.dtype == DType::Bool) return;
  throw DTypeError(
      fmt::format("{}: the mask is {}, but must be bool: compare it, as in mask != 0", what, runtime::describe(mask)));
}

void check_device(const char* call, const TensorImpl& x, const TensorImpl& mask) {
  if (x.device == mask.device) return;
  runtime::throw_different_devices(
      x.device, mask.device,
      fmt::format("in {}, where\n    x: {}\n    mask: {}", call, runtime::describe(x), runtime::describe(mask)));
}

Shape common_shape(const TensorImpl& x, const TensorImpl& mask) {
  Shape shape = x.shape;
  if (broadcast(shape, mask.shape)) return shape;
  throw ShapeError(fmt::format(
      "masked_select: x and mask do not broadcast\n    x: {}\n    mask: {}\n  Shapes are aligned at the last "
      "dimension: extents must be equal, or one of them 1",
      runtime::describe(x), runtime::describe(mask)));
}

/// The array broadcast to `shape`, contiguous; itself if it already is.
TensorRef expanded(TensorImpl& t, const Shape& shape) {
  if (t.shape == shape) return contiguous(t);
  TensorRef whole = runtime::empty(shape, t.dtype, t.device);
  copy(*whole, t);
  return whole;
}

/// The selected elements of contiguous arrays of the same shape.
TensorRef select_on_cpu(const TensorImpl& x, const TensorImpl& mask) {
  const runtime::BufferAccess uses[] = {{x.buffer.get(), false}, {mask.buffer.get(), false}};
  const runtime::DependencyGuard ordered(x.device, uses);
  const cpu::MaskCounts parts = cpu::count_true(mask.data, mask.numel);
  TensorRef result = runtime::empty(Shape(parts.offsets.back()), x.dtype, x.device);
  cpu::copy_true(result->data, x.data, size_of(x.dtype), mask.data, mask.numel, parts);
  return result;
}

TensorRef select_on_gpu(const TensorImpl& x, const TensorImpl& mask) {
  const cuda::MaskCounts parts = cuda::count_true(mask);
  TensorRef result = runtime::empty(Shape(parts.total), x.dtype, x.device);
  if (parts.total > 0) cuda::copy_true(*result, x, mask, parts);
  return result;
}

TensorRef positions_on_cpu(const TensorImpl& mask) {
  const runtime::BufferAccess use{mask.buffer.get(), false};
  const runtime::DependencyGuard ordered(mask.device, {&use, 1});
  const cpu::MaskCounts parts = cpu::count_true(mask.data, mask.numel);
  TensorRef result = runtime::empty(Shape(parts.offsets.back(), mask.ndim()), DType::Int64, mask.device);
  if (mask.ndim() > 0)
    cpu::write_positions(reinterpret_cast<std::int64_t*>(result->data), mask.shape, mask.data, parts);
  return result;
}

TensorRef positions_on_gpu(const TensorImpl& mask) {
  const cuda::MaskCounts parts = cuda::count_true(mask);
  TensorRef result = runtime::empty(Shape(parts.total, mask.ndim()), DType::Int64, mask.device);
  if (result->numel > 0) cuda::write_positions(*result, mask, parts);
  return result;
}

/// Checks that the mask's shape is that of x's first axes.
void check_first_axes(const TensorImpl& x, const TensorImpl& mask) {
  if (mask.ndim() > x.ndim())
    throw IndexError(fmt::format("x[mask]: the mask has more axes than x\n    x: {}\n    mask: {}",
                                 runtime::describe(x), runtime::describe(mask)));
  for (int axis = 0; axis < mask.ndim(); ++axis)
    if (mask.shape[axis] != x.shape[axis])
      throw IndexError(
          fmt::format("x[mask]: the shape of the mask does not match that of x at axis {}: {} and {}\n    x: {}\n    "
                      "mask: {}\n  A mask must have the extents of x's first axes; masked_select broadcasts",
                      axis, mask.shape[axis], x.shape[axis], runtime::describe(x), runtime::describe(mask)));
}

}  // namespace

TensorRef nonzero(TensorImpl& mask) {
  check_mask("nonzero", mask);
  runtime::refuse_mesh("nonzero", mask);
  if (mask.numel == 0) return runtime::empty(Shape(0, mask.ndim()), DType::Int64, mask.device);
  const runtime::TraceSpan span = library_span("nonzero", mask.numel);
  const TensorRef whole = contiguous(mask);
  return mask.device.is_cpu() ? positions_on_cpu(*whole) : positions_on_gpu(*whole);
}

TensorRef masked_select(TensorImpl& x, TensorImpl& mask) {
  check_mask("masked_select", mask);
  check_device("masked_select(x, mask)", x, mask);
  runtime::refuse_mesh("masked_select", x);
  const Shape shape = common_shape(x, mask);
  if (shape.numel() == 0) return runtime::empty(Shape(0), x.dtype, x.device);
  const runtime::TraceSpan span = library_span("masked_select", shape.numel());
  const TensorRef elements = expanded(x, shape), chosen = expanded(mask, shape);
  return x.device.is_cpu() ? select_on_cpu(*elements, *chosen) : select_on_gpu(*elements, *chosen);
}

TensorRef masked_parts(TensorImpl& x, TensorImpl& mask) {
  check_mask("x[mask]", mask);
  check_device("x[mask]", x, mask);
  runtime::refuse_mesh("x[mask]", x);
  check_first_axes(x, mask);
  Shape over = mask.shape, strides = mask.strides, parts(0);
  std::int64_t part = 1;  // elements
  for (int axis = mask.ndim(); axis < x.ndim(); ++axis) {
    over.push_back(1), strides.push_back(1), parts.push_back(x.shape[axis]);
    part *= x.shape[axis];
  }
  if (part == 0) {
    parts[0] = nonzero(mask)->shape[0];
    return runtime::empty(parts, x.dtype, x.device);
  }
  const TensorRef elements = masked_select(x, *runtime::view(mask, over, strides));
  parts[0] = elements->numel / part;
  return runtime::view(*elements, parts, contiguous_strides(parts));
}

}  // namespace sinter::inline v1::jit
