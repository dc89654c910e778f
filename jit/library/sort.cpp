#include <sinter/jit/mesh.hpp>
#include <sinter/jit/sort.hpp>

#include <fmt/format.h>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/order.hpp>
#include "../mesh/on_shards.hpp"
#include "axis_rows.hpp"
#include "cpu_sort.hpp"
#include "cuda_sort.hpp"
#include "library_span.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

void check_order(const char* call, const TensorImpl& x) {
  if (!is_complex(x.dtype)) return;
  throw DTypeError(fmt::format("{}: x is {}, and complex numbers have no order: take its real(), imag() or abs() first",
                               call, runtime::describe(x)));
}

void check_not_empty(const char* call, const TensorImpl& x, int axis) {
  if (extent_along(x, axis) > 0) return;
  throw IndexError(fmt::format("{}: expected dimension {} to have elements, for {}", call, axis, runtime::describe(x)));
}

/// The shape with another last extent.
Shape with_last(Shape shape, std::int64_t extent) {
  shape[-1] = extent;
  return shape;
}

cpu::RowArray row_array(const TensorImpl& x) {
  const std::int64_t length = x.shape[-1];
  return {x.data, x.dtype, length > 0 ? x.numel / length : 0, length};
}

/// The first elements of each contiguous row, in order.
ValuesAndIndices sort_rows(const TensorImpl& x, bool descending, std::int64_t first, bool with_values) {
  const Shape shape = with_last(x.shape, first);
  ValuesAndIndices found{with_values ? runtime::empty(shape, x.dtype, x.device) : TensorRef(),
                         runtime::empty(shape, DType::Int64, x.device)};
  if (found.indices->numel == 0) return found;
  if (x.device.is_cpu()) {
    const runtime::BufferAccess use{x.buffer.get(), false};
    const runtime::DependencyGuard ordered(x.device, {&use, 1});
    cpu::sort(row_array(x), descending, first, with_values ? found.values->data : nullptr,
              reinterpret_cast<std::int64_t*>(found.indices->data));
  } else {
    cuda::sort(x, descending, found);
  }
  return found;
}

ValuesAndIndices sort_along(const char* call, TensorImpl& x, std::int64_t axis, bool descending, bool with_values) {
  check_order(call, x);
  const int along = checked_axis(call, x, axis);
  if (x.device.is_mesh())
    return on_shards(call, x, along, true,
                     [&](TensorImpl& own) { return sort_along(call, own, along, descending, with_values); });
  const runtime::TraceSpan span = library_span(call, x.numel);
  const TensorRef rows = rows_along(x, along);
  const ValuesAndIndices found = sort_rows(*rows, descending, rows->shape[-1], with_values);
  return {with_values ? axis_back(*found.values, along, x.ndim()) : TensorRef(),
          axis_back(*found.indices, along, x.ndim())};
}

ValuesAndIndices pick(const char* call, TensorImpl& x, int axis, bool keepdim, cpu::Statistic statistic,
                      std::int64_t position) {
  check_not_empty(call, x, axis);
  if (x.device.is_mesh())
    return on_shards(call, x, axis, keepdim,
                     [&](TensorImpl& own) { return pick(call, own, axis, keepdim, statistic, position); });
  const runtime::TraceSpan span = library_span(call, x.numel);
  const TensorRef rows = rows_along(x, axis);
  const Shape shape = with_last(rows->shape, 1);
  const ValuesAndIndices found{runtime::empty(shape, x.dtype, x.device), runtime::empty(shape, DType::Int64, x.device)};
  if (x.numel > 0 && x.device.is_cpu()) {
    const runtime::BufferAccess use{rows->buffer.get(), false};
    const runtime::DependencyGuard ordered(x.device, {&use, 1});
    cpu::pick(row_array(*rows), statistic, position, found.values->data,
              reinterpret_cast<std::int64_t*>(found.indices->data));
  } else if (x.numel > 0) {
    cuda::pick(*rows, statistic, position, found);
  }
  return {axis_reduced(*found.values, axis, x.ndim(), keepdim), axis_reduced(*found.indices, axis, x.ndim(), keepdim)};
}

const char* name_of(NanPolicy nan) noexcept { return nan == NanPolicy::Propagates ? "median" : "nanmedian"; }
cpu::Statistic statistic_of(NanPolicy nan) noexcept {
  return nan == NanPolicy::Propagates ? cpu::Statistic::Median : cpu::Statistic::NanMedian;
}

/// 0-d, on x's device.
TensorRef nan_like(const char* call, const TensorImpl& x) {
  if (category(x.dtype) != Category::Float)
    throw Error(fmt::format("{}: {} has no elements, and its dtype has no NaN to return", call, runtime::describe(x)));
  const TensorRef nan = runtime::empty(Shape(), DType::Float64, Device());
  *reinterpret_cast<double*>(nan->data) = std::numeric_limits<double>::quiet_NaN();
  return to(*nan, x.dtype, x.device);
}

}  // namespace

ValuesAndIndices sort(TensorImpl& x, std::int64_t axis, bool descending) {
  return sort_along("sort", x, axis, descending, true);
}

TensorRef argsort(TensorImpl& x, std::int64_t axis, bool descending) {
  return sort_along("argsort", x, axis, descending, false).indices;
}

ValuesAndIndices topk(TensorImpl& x, std::int64_t k, std::int64_t axis, bool largest) {
  check_order("topk", x);
  const int along = checked_axis("topk", x, axis);
  const std::int64_t extent = extent_along(x, along);
  if (k < 0 || k > extent)
    throw IndexError(
        fmt::format("topk: k is {}, but dimension {} of {} has {} elements", k, along, runtime::describe(x), extent));
  if (x.device.is_mesh())
    return on_shards("topk", x, along, true, [&](TensorImpl& own) { return topk(own, k, along, largest); });
  const runtime::TraceSpan span = library_span("topk", x.numel);
  const TensorRef rows = rows_along(x, along);
  const ValuesAndIndices found = sort_rows(*rows, largest, x.ndim() > 0 ? k : 1, true);
  return {axis_back(*found.values, along, x.ndim()), axis_back(*found.indices, along, x.ndim())};
}

ValuesAndIndices kthvalue(TensorImpl& x, std::int64_t k, std::int64_t axis, bool keepdim) {
  check_order("kthvalue", x);
  const int along = checked_axis("kthvalue", x, axis);
  check_not_empty("kthvalue", x, along);
  if (k < 1 || k > extent_along(x, along))
    throw IndexError(fmt::format("kthvalue: k is {}, but must be from 1 to {}, the elements along dimension {} of {}",
                                 k, extent_along(x, along), along, runtime::describe(x)));
  return pick("kthvalue", x, along, keepdim, cpu::Statistic::Kth, k - 1);
}

ValuesAndIndices median(TensorImpl& x, std::int64_t axis, bool keepdim, NanPolicy nan) {
  check_order(name_of(nan), x);
  return pick(name_of(nan), x, checked_axis(name_of(nan), x, axis), keepdim, statistic_of(nan), 0);
}

TensorRef median(TensorImpl& x, NanPolicy nan) {
  check_order(name_of(nan), x);
  if (x.numel == 0) return nan_like(name_of(nan), x);
  const TensorRef all = contiguous(x.device.is_mesh() ? *replicate(x, Mesh::of(x.device)) : x);
  const TensorRef line = runtime::view(*all, Shape(x.numel), Shape(1));
  return pick(name_of(nan), *line, 0, false, statistic_of(nan), 0).values;
}

}  // namespace sinter::inline v1::jit
