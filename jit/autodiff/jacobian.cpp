#include <fmt/format.h>

#include <sinter/jit/grad.hpp>
#include <sinter/runtime/error.hpp>
#include "value_shape.hpp"
#include "zeros.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

void check_real(const char* what, const LazyRef& value, const TensorImpl& x) {
  for (const DType dtype : {value->dtype(), x.dtype})
    if (category(dtype) != Category::Float)
      throw DTypeError(fmt::format("{} of {} with respect to {}: it is for floats only", what, name(value->dtype()),
                                   runtime::describe(x)));
}

void check_tangent(const TensorImpl& x, const LazyRef& tangent) {
  const Shape given = shape_of(tangent);
  if (broadcasts_to(given, x.shape)) return;
  throw ShapeError(fmt::format("jvp: x is {}, but the tangent is {} {}: it must have, or broadcast to, x's shape",
                               runtime::describe(x), name(tangent->dtype()), to_string(given)));
}

/// 1 at a row-major position, 0 elsewhere.
LazyRef one_hot(const Shape& shape, Device device, std::int64_t position, DType dtype) {
  const LazyRef operands[] = {lazy(*runtime::iota_tensor(shape, device)), lazy(Scalar(position), Category::Int)};
  return lazy_cast(lazy(Op::eq, operands), dtype);
}

/// Numbers in [1, 2): 1 and the fractions of multiples of the golden ratio.
LazyRef irregular(const Shape& shape, DType dtype, Device device) {
  const LazyRef factors[] = {lazy(*runtime::iota_tensor(shape, device)),
                             lazy(Scalar(0.6180339887498949), Category::Float)};
  const LazyRef multiple = lazy(Op::mul, factors);
  const LazyRef terms[] = {lazy(Op::frac, {&multiple, 1}), lazy(Scalar(1.0), Category::Float)};
  return lazy_cast(lazy(Op::add, terms), dtype);
}

}  // namespace

// The vector-Jacobian product is linear in its seed: its derivative with respect to the seed, times the tangent, is the
// product. A formula of the first product may divide by the seed, or take its logarithm, hence numbers that are neither
// 0 nor cancel.
LazyRef jvp(const LazyRef& value, TensorImpl& x, const LazyRef& tangent) {
  check_real("jvp", value, x);
  check_tangent(x, tangent);
  TensorRef seed;
  const LazyRef numbers = irregular(shape_of(value), value->dtype(), value->device());
  evaluate({&numbers, 1}, &seed);
  TensorImpl* const wrt[] = {&x};
  const LazyRef with_respect_to_x = gradients(value, wrt, lazy(*seed), UnusedInput::Zeros)[0];
  TensorImpl* const by_seed[] = {seed.get()};
  const LazyRef along[] = {lazy_cast(tangent, x.dtype), lazy_zeros(x.shape, x.dtype, x.device)};
  return gradients(with_respect_to_x, by_seed, lazy(Op::add, along), UnusedInput::Zeros)[0];
}

TensorRef jacobian(const LazyRef& value, TensorImpl& x) {
  check_real("jacobian", value, x);
  const Shape rows = shape_of(value);
  if (rows.ndim() + x.ndim() > max_ndim)
    throw ShapeError(
        fmt::format("jacobian: a value of shape {} with respect to {} would have {} dimensions, more than {}",
                    to_string(rows), runtime::describe(x), rows.ndim() + x.ndim(), max_ndim));
  if (x.device.is_mesh())
    throw DeviceError(
        fmt::format("jacobian with respect to {}: it is not supported on a mesh; gather the tensor to one device",
                    runtime::describe(x)));
  Shape shape = rows;
  for (const std::int64_t extent : x.shape) shape.push_back(extent);
  const TensorRef result = runtime::empty(shape, x.dtype, x.device);
  TensorImpl* const wrt[] = {&x};
  for (std::int64_t i = 0; i < rows.numel(); ++i) {
    TensorRef row = runtime::view(*result, x.shape, contiguous_strides(x.shape), i * x.numel);
    const LazyRef gradient = gradients(value, wrt, one_hot(rows, x.device, i, value->dtype()), UnusedInput::Zeros)[0];
    evaluate({&gradient, 1}, &row);
  }
  return result;
}

}  // namespace sinter::inline v1::jit
