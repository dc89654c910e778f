#include <sinter/dsl/from_blob.hpp>

#include <fmt/format.h>

#include "strided_range.hpp"

namespace sinter::inline v1::detail {

TensorRef borrow(const char* what, Borrowed memory, DType dtype, const Shape& shape,
                 const std::optional<Shape>& strides, std::shared_ptr<const void> owner) {
  check_shape(shape, size_of(dtype));
  if (strides && strides->ndim() != shape.ndim())
    throw ShapeError(fmt::format("{}: {} strides were given for shape {}, which has {} axes", what, strides->ndim(),
                                 to_string(shape), shape.ndim()));
  const Shape steps = strides ? *strides : contiguous_strides(shape);
  const std::optional<StridedRange> range = strided_range(shape, steps, size_of(dtype));
  if (!range)
    throw ShapeError(fmt::format("{}: a tensor of shape {} and strides {} exceeds the address space", what,
                                 to_string(shape), to_string(steps)));
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t room = memory.end - memory.begin, before = range->before * size;
  if (memory.begin && (before > memory.first - memory.begin || (range->span - range->before) * size > room))
    throw ShapeError(
        fmt::format("{}: a tensor of shape {} and strides {} has elements {} to {} of the span, which has {}", what,
                    to_string(shape), to_string(steps), -range->before, range->span - range->before - 1, room / size));
  if (range->span == 0) return runtime::wrap_memory(shape, dtype, memory.first, std::move(owner));
  if (!memory.first)
    throw Error(fmt::format("{}: a {} tensor of shape {} needs memory, but the pointer is null", what, name(dtype),
                            to_string(shape)));
  if (!runtime::is_aligned(memory.first, dtype))
    throw Error(
        fmt::format("{}: the memory at {} is not aligned for {}, whose elements start at multiples of {} bytes. Copy "
                    "the elements to aligned memory, for example to a tensor from sn::empty",
                    what, fmt::ptr(memory.first), name(dtype), size_of(dtype)));
  const TensorRef whole = runtime::wrap_memory(Shape(range->span), dtype, memory.first - before, std::move(owner));
  whole->buffer->expose();
  return runtime::view(*whole, shape, steps, range->before);
}

}  // namespace sinter::inline v1::detail
