// The class of a kernel that reduces.
#include <algorithm>
#include <cstdlib>

#include "class_key.hpp"

namespace sinter::inline v1::jit {
namespace {

/// The number of adjacent rows from which on adjacent threads read whole sectors.
constexpr std::int64_t min_adjacent_rows = 8;

/// The dims of a nest: those of rows are [0, row_ndim), reduced ones [row_ndim, ndim).
class RowNest {
 public:
  RowNest(const KernelTraits& traits, const LoopNest& nest)
      : traits_(traits), nest_(nest), row_ndim_(nest.row_dims()) {}

  /// Whether more bytes are contiguous across rows than along them.
  bool is_row_per_element() const noexcept {
    if (nest_.extents[row_ndim_ - 1] < min_adjacent_rows) return false;
    std::size_t across_rows = 0, along_rows = 0;
    for (std::size_t k = 0; k < nest_.operands.size(); ++k) {
      if (!is_streamed(k)) continue;
      const std::int64_t* strides = nest_.operands[k].strides;
      if (std::abs(strides[nest_.ndim - 1]) == 1)
        along_rows += size_of(traits_.operands[k].dtype);
      else if (std::abs(strides[row_ndim_ - 1]) == 1)
        across_rows += size_of(traits_.operands[k].dtype);
    }
    return across_rows > along_rows;
  }

  /// The largest vector width along a row or, if row_per_element, across rows.
  int vector_width(bool row_per_element) const noexcept {
    const int dim = row_per_element ? row_ndim_ - 1 : nest_.ndim - 1;
    if (!has_adjacent_elements(dim)) return 1;
    int width = traits_.vector_width;
    while (width > nest_.extents[dim] && width > 1) width /= 2;
    while (width > 1 && !is_aligned(dim, width, !row_per_element && nest_.reduced == 1)) width /= 2;
    return width;
  }

  AccessPattern pattern(std::size_t k, bool row_per_element, int width, std::int64_t columns) const noexcept {
    const KernelTraits::Access& access = traits_.operands[k];
    if (access.per_row) return AccessPattern::Uniform;
    const std::int64_t* strides = nest_.operands[k].strides;
    const bool is_input = k >= static_cast<std::size_t>(nest_.outputs);
    if (is_input && columns != 1 &&
        std::all_of(strides + row_ndim_, strides + nest_.ndim, [](auto s) { return s == 0; }))
      return AccessPattern::Uniform;
    const int dim = row_per_element ? row_ndim_ - 1 : nest_.ndim - 1;
    const bool adjacent =
        strides[dim] == 1 && (!access.is_draw_index || has_aligned_vectors(nest_, nest_.operands[k], dim, width, 1));
    return adjacent ? AccessPattern::Contiguous : AccessPattern::Strided;
  }

  /// Whether offsets along a row need 64 bits.
  bool is_wide(std::int64_t columns) const noexcept {
    if (columns >= narrow_limit) return true;
    for (const NestOperand& o : nest_.operands) {
      std::int64_t reach = 0;
      for (int d = row_ndim_; d < nest_.ndim; ++d) {
        const std::int64_t stride = std::abs(o.strides[d]);
        if (stride >= narrow_limit) return true;
        reach += stride * std::max<std::int64_t>(nest_.extents[d] - 1, 0);
        if (reach >= narrow_limit) return true;
      }
    }
    return false;
  }

 private:
  /// Whether it has memory that is read or written element by element.
  bool is_streamed(std::size_t k) const noexcept {
    const KernelTraits::Access& a = traits_.operands[k];
    return a.memory && !a.array && !a.per_row;
  }

  bool has_adjacent_elements(int dim) const noexcept {
    for (std::size_t k = 0; k < nest_.operands.size(); ++k)
      if (is_streamed(k) && nest_.operands[k].strides[dim] == 1) return true;
    return false;
  }

  bool is_aligned(int dim, int width, bool may_have_tail) const noexcept {
    if (!may_have_tail && nest_.extents[dim] % width != 0) return false;
    for (std::size_t k = 0; k < nest_.operands.size(); ++k) {
      if (!is_streamed(k)) continue;
      const NestOperand& o = nest_.operands[k];
      if (o.strides[dim] != 1) {
        if (k < static_cast<std::size_t>(nest_.outputs)) return false;  // vectors are not scattered
        continue;
      }
      if (!has_aligned_vectors(nest_, o, dim, width, size_of(traits_.operands[k].dtype))) return false;
    }
    return true;
  }

  const KernelTraits& traits_;
  const LoopNest& nest_;
  const int row_ndim_;
};

}  // namespace

ClassKey classify_rows(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  const RowNest rows(traits, nest);
  const std::int64_t columns = nest.columns();
  RowSizes sizes{
      .rows = nest.rows(), .columns = columns, .vector_width = 1, .row_per_element = rows.is_row_per_element()};
  if (const RowConfig* chosen = overriding_rows()) sizes.row_per_element = chosen->row_per_element;
  sizes.vector_width = rows.vector_width(sizes.row_per_element);
  ClassKey key;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const AccessPattern p = rows.pattern(k, sizes.row_per_element, sizes.vector_width, columns);
    key.set_pattern(k, p);
    sizes.strided |=
        p == AccessPattern::Strided && k >= static_cast<std::size_t>(nest.outputs) && traits.operands[k].memory;
  }
  RowScheme scheme = choose_rows(*traits.rows, sizes);
  if (scheme.config.split && aliased && !traits.rows->shares_rows) scheme.config.split = false;
  key.set_head(nest.ndim, scheme.vector_width, rows.is_wide(columns), aliased);
  key.set_rows(scheme.config, nest.reduced);
  return key;
}

}  // namespace sinter::inline v1::jit
