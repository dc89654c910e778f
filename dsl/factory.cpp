#include <sinter/dsl/factory.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/random.hpp>
#include <sinter/runtime/float_environment.hpp>

#include "iota.hpp"

namespace sinter::inline v1::detail {

TensorRef from_host(const void* values, const Shape& shape, DType dtype, Device device) {
  const TensorRef host = runtime::empty(shape, dtype, Device());
  if (host->numel > 0) std::memcpy(host->data, values, static_cast<std::size_t>(host->numel) * size_of(dtype));
  return jit::to(*host, dtype, device);
}

void throw_ragged(std::size_t expected, std::size_t got) {
  throw ShapeError(fmt::format("tensor: the rows differ in length: expected {} values, got {}", expected, got));
}

void throw_wrong_count(std::size_t values, const Shape& shape) {
  throw ShapeError(
      fmt::format("tensor: {} values given for shape {}, which holds {}", values, to_string(shape), shape.numel()));
}

TensorRef full(const Shape& shape, DType dtype, Device device, Number value) {
  const runtime::DefaultFloatEnvironment floats;
  TensorRef t = runtime::empty(shape, dtype, device);
  // Floats are truncated for an integer tensor; fill(), an in-place operation, would reject them.
  if (!can_cast(default_dtype(value.category), dtype))
    value = visit(dtype, [&]<class T>(std::type_identity<T>) { return Number(element_of<T>(value)); });
  fill(*t, value);
  return t;
}

namespace {

std::int64_t checked_count(double count, double start, double end, double step) {
  if (!(step != 0) || !std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step))
    throw ShapeError(
        fmt::format("arange: from {} to {} by {}: the bounds must be finite and the step not 0", start, end, step));
  if (count < 0)
    throw ShapeError(fmt::format("arange: from {} to {} by {}: the step leads away from the end", start, end, step));
  if (count >= 0x1p62)
    throw ShapeError(fmt::format("arange: from {} to {} by {}: too many elements", start, end, step));
  return static_cast<std::int64_t>(count);
}

}  // namespace

TensorRef arange(std::int64_t start, std::int64_t end, std::int64_t step, DType dtype, Device device) {
  // Differences of int64 need 65 bits.
  __extension__ using Wide = __int128;
  const Wide span = static_cast<Wide>(end) - start;
  const double direction = static_cast<double>(span) / static_cast<double>(step == 0 ? 1 : step);
  checked_count(direction < 0 ? -1 : direction, static_cast<double>(start), static_cast<double>(end),
                static_cast<double>(step));
  const Wide by = step;
  const auto count = static_cast<std::int64_t>((span + by + (by > 0 ? -1 : 1)) / by);
  for (const std::int64_t value : {start, static_cast<std::int64_t>(start + (count - 1) * by)})
    if (count > 0) visit(dtype, [&]<class T>(std::type_identity<T>) { static_cast<void>(element_of<T>(value)); });
  return convert(iota(Shape(count), device) * step + start, dtype);
}

TensorRef arange(double start, double end, double step, DType dtype, Device device) {
  const runtime::DefaultFloatEnvironment floats;
  const std::int64_t count = checked_count(std::ceil((end - start) / step), start, end, step);
  return convert(cast<double>(iota(Shape(count), device)) * step + start, dtype);
}

TensorRef linspace(double start, double end, std::int64_t steps, DType dtype, Device device) {
  const runtime::DefaultFloatEnvironment floats;
  if (steps < 0) throw ShapeError(fmt::format("linspace: the number of steps is {}, which is negative", steps));
  const double intervals = steps > 1 ? static_cast<double>(steps - 1) : 1;
  double step = (end - start) / intervals;
  if (!std::isfinite(step)) step = end / intervals - start / intervals;  // the difference alone overflows
  // From both ends, so that the last element is exactly `end`.
  const auto i = iota(Shape(steps), device);
  const auto from_start = cast<double>(i) * step + start;
  const auto from_end = cast<double>(i - (steps - 1)) * step + end;
  return convert(where(i < (steps + 1) / 2, from_start, from_end), dtype);
}

TensorRef eye(std::int64_t rows, std::int64_t columns, DType dtype, Device device) {
  const auto i = iota(Shape(rows, columns), device);
  return convert(i.floor_divide(columns) == i % columns, dtype);
}

}  // namespace sinter::inline v1::detail
