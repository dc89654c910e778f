#include <sinter/jit/scan.hpp>

#include <fmt/format.h>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/order.hpp>
#include "../mesh/on_shards.hpp"
#include "axis_rows.hpp"
#include "cpu_scan.hpp"
#include "cuda_scan.hpp"
#include "library_span.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

const char* name_of(Scan what) noexcept {
  constexpr const char* names[] = {"cumsum", "cumprod", "logcumsumexp"};
  return names[static_cast<int>(what)];
}
const char* name_of(Extreme what) noexcept { return what == Extreme::Max ? "cummax" : "cummin"; }

void check_dtype(const TensorImpl& x, Scan what) {
  if (what != Scan::LogSumExp || category(x.dtype) == Category::Float) return;
  throw DTypeError(fmt::format("logcumsumexp: x is {}, but must have a float dtype{}", runtime::describe(x),
                               is_complex(x.dtype) ? "" : ": convert it, as in x.to<float>()"));
}

void check_dtype(const TensorImpl& x, Extreme what) {
  if (!is_complex(x.dtype)) return;
  throw DTypeError(fmt::format("{}: x is {}, and complex numbers have no order: take its real(), imag() or abs() first",
                               name_of(what), runtime::describe(x)));
}

/// A contiguous, nonempty array as (outer, extent, inner) around the axis.
cpu::Lines lines_of(const TensorImpl& x, int axis) {
  cpu::Lines lines{x.data, x.dtype, 1, extent_along(x, axis), 1};
  for (int d = 0; d < x.ndim(); ++d)
    if (d != axis) (d < axis ? lines.outer : lines.inner) *= x.shape[d];
  return lines;
}

}  // namespace

TensorRef scan(TensorImpl& x, std::int64_t axis, Scan what) {
  check_dtype(x, what);
  const int along = checked_axis(name_of(what), x, axis);
  if (x.device.is_mesh())
    return on_shards(name_of(what), x, along, true,
                     [&](TensorImpl& own) { return ValuesAndIndices{scan(own, along, what), {}}; })
        .values;
  const runtime::TraceSpan span = library_span(name_of(what), x.numel);
  const bool wide = category(x.dtype) > Category::Int || x.dtype == DType::UInt64;
  const TensorRef counted = to(x, wide ? x.dtype : DType::Int64, x.device);
  const TensorRef from = contiguous(*counted), result = runtime::empty(x.shape, from->dtype, x.device);
  if (x.numel == 0) return result;
  const cpu::Lines lines = lines_of(*from, along);
  if (!x.device.is_cpu()) {
    cuda::scan(*from, lines, what, *result);
    return result;
  }
  const runtime::BufferAccess use{from->buffer.get(), false};
  const runtime::DependencyGuard ordered(x.device, {&use, 1});
  cpu::scan(lines, what, result->data);
  return result;
}

ValuesAndIndices scan(TensorImpl& x, std::int64_t axis, Extreme what) {
  check_dtype(x, what);
  const int along = checked_axis(name_of(what), x, axis);
  if (x.device.is_mesh())
    return on_shards(name_of(what), x, along, true, [&](TensorImpl& own) { return scan(own, along, what); });
  const runtime::TraceSpan span = library_span(name_of(what), x.numel);
  const TensorRef from = contiguous(x);
  const ValuesAndIndices result{runtime::empty(x.shape, x.dtype, x.device),
                                runtime::empty(x.shape, DType::Int64, x.device)};
  if (x.numel == 0) return result;
  const cpu::Lines lines = lines_of(*from, along);
  if (!x.device.is_cpu()) {
    cuda::scan(*from, lines, what, result);
    return result;
  }
  const runtime::BufferAccess use{from->buffer.get(), false};
  const runtime::DependencyGuard ordered(x.device, {&use, 1});
  cpu::scan(lines, what, result.values->data, reinterpret_cast<std::int64_t*>(result.indices->data));
  return result;
}

}  // namespace sinter::inline v1::jit
