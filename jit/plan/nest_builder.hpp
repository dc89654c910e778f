// How loop nests are made, of numbers or of symbolic extents.
#pragma once
#include <algorithm>
#include <utility>

#include "nest.hpp"
#include "row_passes.hpp"

namespace sinter::inline v1::jit::nests {

template <class Tensor>
using ShapeOf = std::remove_cvref_t<decltype(std::declval<Tensor>().shape)>;
template <class Tensor>
using ExtentOf = std::remove_cvref_t<decltype(*std::declval<ShapeOf<Tensor>>().begin())>;
template <class Tensor>
using NestOf = BasicLoopNest<ExtentOf<Tensor>>;

/// Operands whose strides are still to be set: numbers are not cleared first.
template <class Tensor>
void begin_operands(NestOf<Tensor>& nest, std::span<Tensor* const> operands) {
  if constexpr (std::is_arithmetic_v<ExtentOf<Tensor>>)
    nest.operands.resize(operands.size(), boost::container::default_init);
  else
    nest.operands.resize(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k)
    nest.operands[k].data = operands[k]->data, nest.operands[k].first = operands[k]->first;
}

/// Whether all operands are contiguous and have as many elements as the output: their shapes then differ from its shape
/// only by extents of 1.
template <class Tensor>
bool is_linear(std::span<Tensor* const> operands) noexcept {
  return std::ranges::all_of(operands,
                             [&](const Tensor* t) { return t->contiguous && t->numel == operands[0]->numel; });
}

/// The output's axes in the order of its memory, outermost first, so that consecutive iterations access adjacent
/// memory.
template <class Tensor>
void order_axes(const Tensor& output, int (&axes)[max_ndim]) noexcept {
  const int ndim = output.ndim();
  for (int i = 0; i < ndim; ++i) axes[i] = i;
  if (output.contiguous) return;
  for (int i = 1; i < ndim; ++i)  // insertion sort: stable, and never allocates
    for (int j = i; j > 0 && is_farther(output.strides[axes[j]], output.strides[axes[j - 1]]); --j)
      std::swap(axes[j], axes[j - 1]);
}

/// The operand's stride along an axis counted from the output's last; 0 if it is broadcast.
template <class Tensor>
ExtentOf<Tensor> stride_along(const Tensor& t, int axis_from_end) noexcept {
  const int axis = t.ndim() - 1 - axis_from_end;
  return axis < 0 || t.shape.begin()[axis] == 1 ? ExtentOf<Tensor>(0) : t.strides.begin()[axis];
}

template <class Tensor>
void make_strided_nest(NestOf<Tensor>& nest, std::span<Tensor* const> operands, int outputs) {
  const Tensor& output = *operands[0];
  nest.outputs = outputs;
  nest.numel = output.numel;
  begin_operands(nest, operands);
  if (output.numel == 1 || is_linear(operands)) {
    nest.ndim = 1;
    nest.contiguous = true;
    nest.extents[0] = output.numel;
    for (auto& o : nest.operands) o.strides[0] = 1;
    return;
  }
  int axes[max_ndim];
  order_axes(output, axes);
  int ndim = 0;
  for (int i = 0; i < output.ndim(); ++i) {
    const ExtentOf<Tensor> extent = output.shape.begin()[axes[i]];
    if (extent == 1) continue;
    const int from_end = output.ndim() - 1 - axes[i];
    bool merges = ndim > 0;  // into the previous dim
    for (std::size_t k = 0; k < operands.size(); ++k) {
      auto& o = nest.operands[k];
      o.strides[ndim] = stride_along(*operands[k], from_end);
      if (merges) merges = o.strides[ndim - 1] == o.strides[ndim] * extent;
    }
    if (merges) {
      nest.extents[ndim - 1] *= extent;
      for (auto& o : nest.operands) o.strides[ndim - 1] = o.strides[ndim], o.strides[ndim] = 0;
    } else {
      nest.extents[ndim++] = extent;
    }
  }
  nest.ndim = ndim;
}

/// An axis of the domain, counted from the last axis, and from the last among the row axes.
struct DomainAxis {
  int from_end, from_end_of_rows;
};

/// How many of the last `axes` axes are row axes.
inline int row_axes_within(std::uint8_t reduced, int axes) noexcept {
  int count = 0;
  for (int axis = 0; axis < axes; ++axis) count += !(reduced >> axis & 1);
  return count;
}

inline bool gives_positions(const Kernel& kernel) noexcept {
  return std::ranges::any_of(kernel.graph.nodes(), [](const Node& n) { return traits_of(n.op).gives_position; });
}

/// Whether the operand has a distinct element for each element of the domain.
template <class Tensor>
bool fills(const Tensor& t, const ShapeOf<Tensor>& domain) noexcept {
  if (t.data == nullptr || !(t.numel == domain.numel())) return false;
  for (int i = 0; i < t.ndim(); ++i)
    if (t.strides.begin()[i] == 0 && !(t.shape.begin()[i] == 1)) return false;
  return true;
}

/// Orders axes by the strides of the first operand that fills the domain. Reduced axes keep their order if a reduction
/// returns a position along them.
template <class Tensor>
void order_by_memory(std::span<DomainAxis> axes, std::span<Tensor* const> operands, const Kernel& kernel,
                     const ShapeOf<Tensor>& domain, bool reduced) noexcept {
  if (axes.size() < 2) return;
  std::size_t guide = 0;
  while (guide < operands.size() &&
         (kernel.rows->axis_mapping[guide] != AxisMapping::Domain || !fills(*operands[guide], domain)))
    ++guide;
  if (guide == operands.size() || operands[guide]->contiguous) return;
  if (reduced && gives_positions(kernel)) return;
  const auto step = [&](const DomainAxis& axis) { return stride_along(*operands[guide], axis.from_end); };
  for (std::size_t i = 1; i < axes.size(); ++i)  // insertion sort: stable, and never allocates
    for (std::size_t j = i; j > 0 && is_farther(step(axes[j]), step(axes[j - 1])); --j) std::swap(axes[j], axes[j - 1]);
}

template <class Tensor>
ExtentOf<Tensor> stride_in_rows(const Tensor& t, AxisMapping axis_mapping, const DomainAxis& axis,
                                bool reduced) noexcept {
  if (axis_mapping != AxisMapping::Domain && reduced) return 0;
  return stride_along(t, axis_mapping == AxisMapping::Rows ? axis.from_end_of_rows : axis.from_end);
}

/// Adds the row dims or the reduced dims, merging adjacent ones that every operand traverses with one stride; if there
/// is none, adds one of extent 1.
template <class Tensor>
void add_dims(NestOf<Tensor>& nest, std::span<Tensor* const> operands, const Kernel& kernel,
              const ShapeOf<Tensor>& domain, bool reduced) {
  const int first = nest.ndim;
  const Rows& rows = *kernel.rows;
  const auto set = [&](int dim, const DomainAxis& axis) {
    for (std::size_t k = 0; k < operands.size(); ++k)
      nest.operands[k].strides[dim] = stride_in_rows(*operands[k], rows.axis_mapping[k], axis, reduced);
  };
  const auto merges = [&](int dim, const ExtentOf<Tensor>& extent) {  // the dim into the previous one
    return std::ranges::all_of(nest.operands,
                               [&](const auto& o) { return o.strides[dim - 1] == o.strides[dim] * extent; });
  };
  DomainAxis axes[max_ndim];
  int count = 0;
  for (int from_end = domain.ndim() - 1; from_end >= 0; --from_end)
    if ((rows.axes >> from_end & 1) == reduced && !(domain.end()[-1 - from_end] == 1))
      axes[count++] = {from_end, row_axes_within(rows.axes, from_end)};
  order_by_memory({axes, axes + count}, operands, kernel, domain, reduced);
  for (const DomainAxis& axis : std::span(axes, axes + count)) {
    const ExtentOf<Tensor> extent = domain.end()[-1 - axis.from_end];
    set(nest.ndim, axis);
    if (nest.ndim > first && merges(nest.ndim, extent)) {
      nest.extents[nest.ndim - 1] *= extent;
      set(nest.ndim - 1, axis);
    } else {
      nest.extents[nest.ndim++] = extent;
    }
  }
  if (nest.ndim > first) return;
  for (auto& o : nest.operands) o.strides[nest.ndim] = 0;
  nest.extents[nest.ndim++] = 1;
}

template <class Tensor>
void make_strided_row_nest(NestOf<Tensor>& nest, std::span<Tensor* const> operands, const Kernel& kernel,
                           const ShapeOf<Tensor>& domain) {
  nest.outputs = static_cast<int>(kernel.outputs.size());
  nest.numel = domain.numel();
  nest.contiguous = false;
  begin_operands(nest, operands);
  nest.ndim = 0;
  add_dims(nest, operands, kernel, domain, false);
  const int row_dims = nest.ndim;
  add_dims(nest, operands, kernel, domain, true);
  nest.reduced = nest.ndim - row_dims;
}

/// Calls make(operands) with each array replaced by a single element, which broadcasts along every dim.
template <class Tensor, class Make>
void make_without(std::span<const std::uint32_t> arrays, NestOf<Tensor>& nest, std::span<Tensor* const> operands,
                  Make make) {
  Tensor one_element;
  boost::container::small_vector<Tensor*, 16> strided(operands.begin(), operands.end());
  for (const std::uint32_t k : arrays) strided[k] = &one_element;
  make(std::span<Tensor* const>(strided.data(), strided.size()));
  for (const std::uint32_t k : arrays) nest.operands[k].data = operands[k]->data;
}

/// As jit::make_nest.
template <class Tensor>
void make_nest(NestOf<Tensor>& nest, std::span<Tensor* const> operands, int outputs,
               std::span<const std::uint32_t> arrays) {
  if (arrays.empty()) return make_strided_nest(nest, operands, outputs);
  make_without(arrays, nest, operands, [&](auto strided) { make_strided_nest(nest, strided, outputs); });
}

/// As jit::make_row_nest.
template <class Tensor>
void make_row_nest(NestOf<Tensor>& nest, std::span<Tensor* const> operands, const Kernel& kernel,
                   const ShapeOf<Tensor>& domain) {
  if (kernel.arrays.empty()) return make_strided_row_nest(nest, operands, kernel, domain);
  make_without(kernel.arrays, nest, operands,
               [&](auto strided) { make_strided_row_nest(nest, strided, kernel, domain); });
}

}  // namespace sinter::inline v1::jit::nests
