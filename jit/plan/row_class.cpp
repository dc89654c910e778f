// The class of a kernel that reduces.
#include <algorithm>
#include <cstdlib>

#include "class_key.hpp"

namespace sinter::inline v1::jit {
namespace {

/// Neighbouring rows from which on threads side by side read whole sectors.
constexpr std::int64_t least_neighbours = 8;

/// The dims of a nest: those of rows are [0, row_ndim), reduced ones [row_ndim, ndim).
class RowNest {
 public:
  RowNest(const KernelTraits& traits, const LoopNest& nest)
      : traits_(traits), nest_(nest), row_ndim_(nest.row_dims()) {}

  /// Whether more bytes lie side by side across rows than along them.
  bool is_across() const noexcept {
    if (nest_.extents[row_ndim_ - 1] < least_neighbours) return false;
    std::size_t across = 0, along = 0;
    for (std::size_t k = 0; k < nest_.operands.size(); ++k) {
      if (!is_streamed(k)) continue;
      const std::int64_t* strides = nest_.operands[k].strides;
      if (std::abs(strides[nest_.ndim - 1]) == 1)
        along += size_of(traits_.operands[k].dtype);
      else if (std::abs(strides[row_ndim_ - 1]) == 1)
        across += size_of(traits_.operands[k].dtype);
    }
    return across > along;
  }

  /// The most lanes of vectors that lie along this dim: of a row, or across rows.
  int lanes(bool across) const noexcept {
    const int dim = across ? row_ndim_ - 1 : nest_.ndim - 1;
    if (!has_neighbours(dim)) return 1;
    int lanes = traits_.lanes;
    while (lanes > nest_.extents[dim] && lanes > 1) lanes /= 2;
    while (lanes > 1 && !is_aligned(dim, lanes, !across && nest_.reduced == 1)) lanes /= 2;
    return lanes;
  }

  Pattern pattern(std::size_t k, bool across, std::int64_t columns) const noexcept {
    const KernelTraits::Access& access = traits_.operands[k];
    if (access.per_row) return Pattern::Uniform;
    const std::int64_t* strides = nest_.operands[k].strides;
    const bool is_input = k >= static_cast<std::size_t>(nest_.outputs);
    if (is_input && columns != 1 &&
        std::all_of(strides + row_ndim_, strides + nest_.ndim, [](auto s) { return s == 0; }))
      return Pattern::Uniform;
    return strides[across ? row_ndim_ - 1 : nest_.ndim - 1] == 1 ? Pattern::Linear : Pattern::Strided;
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

  bool has_neighbours(int dim) const noexcept {
    for (std::size_t k = 0; k < nest_.operands.size(); ++k)
      if (is_streamed(k) && nest_.operands[k].strides[dim] == 1) return true;
    return false;
  }

  bool is_aligned(int dim, int lanes, bool may_have_tail) const noexcept {
    const auto misaligned = [&](std::int64_t n) { return (n & (lanes - 1)) != 0; };
    if (!may_have_tail && misaligned(nest_.extents[dim])) return false;
    for (std::size_t k = 0; k < nest_.operands.size(); ++k) {
      if (!is_streamed(k)) continue;
      const NestOperand& o = nest_.operands[k];
      if (o.strides[dim] != 1) {
        if (k < static_cast<std::size_t>(nest_.outputs)) return false;  // vectors are not scattered
        continue;
      }
      const auto bytes = static_cast<std::uintptr_t>(lanes) * size_of(traits_.operands[k].dtype);
      if (reinterpret_cast<std::uintptr_t>(o.data) & (bytes - 1)) return false;
      for (int d = 0; d < nest_.ndim; ++d)
        if (d != dim && misaligned(o.strides[d])) return false;
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
  RowSizes sizes{.rows = nest.rows(), .columns = columns, .lanes = 1, .across = rows.is_across()};
  if (const RowConfig* chosen = overriding_rows()) sizes.across = chosen->across;
  sizes.lanes = rows.lanes(sizes.across);
  ClassKey key;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const Pattern p = rows.pattern(k, sizes.across, columns);
    key.set_pattern(k, p);
    sizes.strided |= p == Pattern::Strided && k >= static_cast<std::size_t>(nest.outputs);
  }
  RowScheme scheme = choose_rows(*traits.rows, sizes);
  if (scheme.text.split && aliased && !traits.rows->shares_rows) scheme.text.split = false;
  key.set_head(nest.ndim, scheme.lanes, rows.is_wide(columns), aliased);
  key.set_rows(scheme.text, nest.reduced);
  return key;
}

}  // namespace sinter::inline v1::jit
