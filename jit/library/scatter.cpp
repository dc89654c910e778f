#include <sinter/jit/scatter.hpp>

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/order.hpp>
#include "../plan/overlap.hpp"
#include "../run/checks.hpp"
#include "cpu_scatter.hpp"
#include "cuda_scatter.hpp"
#include "library_span.hpp"

namespace sinter::inline v1::jit {
namespace {

using boost::container::small_vector;
using runtime::TensorImpl;
using runtime::TensorRef;

/// The array itself, or a copy if it shares memory with x.
TensorRef apart_from(const TensorImpl& x, TensorImpl& t) {
  if (overlap(x, t) == Overlap::None) return TensorRef::share(&t);
  TensorRef copied = runtime::empty(t.shape, t.dtype, t.device);
  copy(*copied, t);
  return copied;
}

/// Strides of a broadcast array over the dims of `over`.
Shape strides_over(const Shape& over, const TensorImpl& t) {
  Shape strides;
  for (int d = t.ndim() - over.ndim(), i = 0; i < over.ndim(); ++d, ++i)
    strides.push_back(d < 0 || t.shape[d] == 1 ? 0 : t.strides[d]);
  return strides;
}

void check_range(const TensorImpl& x, const IndexedAxis& indexed, const char* what) {
  const std::int64_t extent = x.ndim() > 0 ? x.shape[indexed.axis] : 1, least = indexed.from_end ? -extent : 0;
  const TensorRef listed = contiguous(*indexed.index);
  const auto* const first = reinterpret_cast<const std::int64_t*>(listed->data);
  const auto is_out = [=](std::int64_t i) {  // one unsigned comparison: indices that are too small wrap around
    return static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(least) >=
           static_cast<std::uint64_t>(extent - least);
  };
  bool any = false;
  for (std::int64_t i = 0; i < listed->numel; ++i) any |= is_out(first[i]);
  if (!any) return;
  const std::int64_t* bad = first;
  while (!is_out(*bad)) ++bad;
  throw IndexError(fmt::format("{}: index {} is out of bounds for dimension {} with size {} of {}; nothing was written",
                               what, *bad, indexed.axis, extent, runtime::describe(x)));
}

/// Dtypes without atomic addition on GPUs are added to as int32, which wraps alike.
void add_as_int32(TensorImpl& x, TensorImpl& offsets, TensorImpl& values, const char* what) {
  // Places are offsets in elements, so the wide array has the memory layout of x.
  const auto [begin, end] = runtime::byte_range(x);
  const auto size = static_cast<std::int64_t>(size_of(x.dtype));
  const TensorRef wide = runtime::empty(Shape((end - begin) / size), DType::Int32, x.device);
  const TensorRef same = runtime::view(*wide, x.shape, x.strides, x.numel > 0 ? (x.data - begin) / size : 0);
  const TensorRef wide_values = to(values, DType::Int32, x.device);
  copy(*same, x);
  write_at(*same, offsets, *wide_values, Write::Add, what);
  copy(x, *same);
}

std::string fault(const char* what) {
  return fmt::format(
      "IndexError: an index of {} is out of bounds for its dimension; it was skipped\n  Look at the indices' "
      "minimum and maximum, or limit them with clamp(index, 0, n - 1); the CPU reports which index it is",
      what);
}

}  // namespace

void write_indexed(TensorImpl& x, const Shape& over, const Shape& own, std::span<const IndexedAxis> indices,
                   TensorImpl& values, Write how, const char* what) {
  check_output(x, x.shape, x.device);
  if (over.numel() == 0) return;
  const runtime::TraceSpan span = library_span(what, over.numel());
  const TensorRef from = apart_from(x, values);
  small_vector<TensorRef, 2> arrays{from};
  small_vector<runtime::BufferAccess, 4> uses{{x.buffer.get(), true}, {from->buffer.get(), false}};
  small_vector<cpu::Index, 2> axes;
  for (const IndexedAxis& i : indices) {
    const TensorRef& index = arrays.emplace_back(apart_from(x, *i.index));
    uses.push_back({index->buffer.get(), false});
    axes.push_back({reinterpret_cast<const std::int64_t*>(index->data), strides_over(over, *index),
                    x.ndim() > 0 ? x.shape[i.axis] : 1, x.ndim() > 0 ? x.strides[i.axis] : 0});
  }
  const runtime::DependencyGuard ordered(x.device, {uses.data(), uses.size()});
  for (const IndexedAxis& i : indices) check_range(x, i, what);
  cpu::scatter(x.data, x.dtype, over, own, {axes.data(), axes.size()}, {from->data, strides_over(over, *from)}, how);
  if (x.buffer) x.buffer->touch();
}

void write_at(TensorImpl& x, TensorImpl& offsets, TensorImpl& values, Write how, const char* what) {
  check_output(x, x.shape, x.device);
  if (offsets.numel == 0) return;
  const runtime::TraceSpan span = library_span(what, offsets.numel);
  const TensorRef from = apart_from(x, values);
  if (how == Write::Add && !cuda::adds_in_place(x.dtype)) return add_as_int32(x, offsets, *from, what);
  cuda::write_at(x, offsets, *from, how, fault(what));
  if (x.buffer) x.buffer->touch();
}

}  // namespace sinter::inline v1::jit
