#include "layout.hpp"

#include <algorithm>
#include <cstdlib>

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr int panel_rows = 16;
constexpr std::int64_t shortest_panel_row = 32;
constexpr std::int64_t few_in_row = 32;

/// The number of adjacent elements that an operand consists of, if it is broadcast along all other dims; else 0.
std::int64_t period_of(const LoopNest& nest, const NestOperand& o) {
  std::int64_t period = 1;
  int d = nest.ndim;
  for (; d > 0 && o.strides[d - 1] == period; --d) period *= nest.extents[d - 1];
  return std::all_of(o.strides, o.strides + d, [](std::int64_t stride) { return stride == 0; }) ? period : 0;
}

/// How an operand's elements are read; for an iota, which has no memory, how its positions advance.
Access access_of(const LoopNest& nest, int first_row_dim, const NestOperand& o) {
  if (nest.numel == 1) return Access::InPlace;
  bool adjacent = true, every_second = true, still = true;
  std::int64_t step = 1;
  for (int d = nest.ndim; d-- > first_row_dim;) {
    adjacent = adjacent && o.strides[d] == step;
    every_second = every_second && o.strides[d] == 2 * step;
    still = still && o.strides[d] == 0;
    step *= nest.extents[d];
  }
  if (adjacent) return Access::InPlace;
  if (every_second) return Access::EverySecond;
  if (!still) return period_of(nest, o) > 0 ? Access::Repeated : Access::Packed;
  for (int d = 0; d < first_row_dim; ++d)
    if (o.strides[d] != 0) return Access::RowSame;
  return Access::Same;
}

bool is_still(const NestOperand& o, int first_dim, int end) {
  return std::all_of(o.strides + first_dim, o.strides + end, [](std::int64_t stride) { return stride == 0; });
}

/// The first of the innermost dims that an index counts along, by one from element to element.
int first_counted_dim(const LoopNest& nest, const NestOperand& index) {
  int d = nest.ndim;
  for (std::int64_t step = 1; d > 0 && index.strides[d - 1] == step; --d) step *= nest.extents[d - 1];
  return d;
}

/// The first of the innermost dims, not before this one, along which an operand is the same, or an index counts; ndim
/// if neither holds along the innermost one.
int first_dim_of_short_row(const LoopNest& nest, const NestOperand& o, int first_row_dim) {
  const bool counts = o.data == nullptr && o.strides[nest.ndim - 1] == 1;
  if (counts) return std::max(first_row_dim, first_counted_dim(nest, o));
  if (is_still(o, 0, nest.ndim)) return nest.ndim;
  int d = nest.ndim;
  while (d > first_row_dim && o.strides[d - 1] == 0) --d;
  return d;
}

/// Finds the longest short rows along which everything is the same that is the same along enough elements, and along
/// which indices count that count along enough.
void find_short_rows(TileLayout& layout, const LoopNest& nest) {
  layout.short_row = 1;
  layout.short_row_dim = layout.first_row_dim;
  if (layout.first_row_dim == nest.ndim - 1) return;
  const auto elements = [&](int first) {
    std::int64_t n = 1;
    for (int d = first; d < nest.ndim; ++d) n *= nest.extents[d];
    return n;
  };
  int first = layout.first_row_dim;
  for (std::size_t k = static_cast<std::size_t>(nest.outputs); k < nest.operands.size(); ++k) {
    const int of_operand = first_dim_of_short_row(nest, nest.operands[k], layout.first_row_dim);
    if (elements(of_operand) >= shortest_short_row) first = std::max(first, of_operand);
  }
  layout.short_row_dim = first;
  layout.short_row = first == layout.first_row_dim ? 1 : elements(first);
}

/// Whether an operand is adjacent across the rows of the innermost dim, so that a panel of rows pays for it.
bool is_transposed(const LoopNest& nest, int first_row_dim, const NestOperand& o) {
  const int inner = nest.ndim - 1;
  return first_row_dim == inner && inner > 0 && o.data != nullptr && nest.extents[inner - 1] >= panel_rows &&
         std::abs(o.strides[inner - 1]) == 1 && std::abs(o.strides[inner]) >= panel_rows;
}

/// Whether rows of so many elements, of the dims from this one on, are merged along the dim before.
bool merges(const LoopNest& nest, int first_row_dim, std::int64_t row, ShortestRows shortest) {
  if (first_row_dim == 0 || row >= std::max(shortest.any, shortest.repeating)) return false;
  const auto any_of = [&](auto f) { return std::ranges::any_of(nest.operands, f); };
  if (row < shortest.any)
    return row < shortest_panel_row ||
           !any_of([&](const NestOperand& o) { return is_transposed(nest, first_row_dim, o); });
  return !any_of([&](const NestOperand& o) { return access_of(nest, first_row_dim - 1, o) == Access::Packed; });
}

bool counts_along_short_rows(const TileLayout& layout, const LoopNest& nest, const NestOperand& index) {
  return layout.short_row > 1 && first_counted_dim(nest, index) <= layout.short_row_dim;
}

/// Makes EverySecond operands Packed: loops read them in place only if nothing else goes through a tile.
void pack_every_second(TileLayout& layout) noexcept {
  std::ranges::replace(layout.accesses, Access::EverySecond, Access::Packed);
  layout.leaves.every_second = 0;
}

bool is_uniform(Access access) {
  return access == Access::Same || access == Access::RowSame || access == Access::Spread;
}

}  // namespace

bool merges_rows(const LoopNest& nest, ShortestRows shortest) {
  return merges(nest, nest.ndim - 1, nest.extents[nest.ndim - 1], shortest);
}

void make_layout(TileLayout& layout, const LoopNest& nest, ShortestRows shortest) {
  layout.accesses.resize(nest.operands.size(), boost::container::default_init);
  layout.is_in_place = true;
  if (nest.contiguous) {
    layout.row = nest.numel;
    for (std::size_t k = 0; k < nest.operands.size(); ++k) {
      layout.accesses[k] = nest.operands[k].data ? Access::InPlace : Access::Packed;
      layout.is_in_place = layout.is_in_place && nest.operands[k].data;
    }
    return;
  }
  layout.first_row_dim = nest.ndim - 1;
  layout.row = nest.extents[layout.first_row_dim];
  while (merges(nest, layout.first_row_dim, layout.row, shortest)) layout.row *= nest.extents[--layout.first_row_dim];
  layout.rows = 1;  // a product takes less time than a quotient
  for (int d = 0; d < layout.first_row_dim; ++d) layout.rows *= nest.extents[d];
  layout.leaves = {};
  layout.panel = 1;
  layout.period = 1;
  find_short_rows(layout, nest);
  int leaf = -nest.outputs;
  Access* access = layout.accesses.data();
  for (const NestOperand& o : nest.operands) {
    Access w = access_of(nest, layout.first_row_dim, o);
    if (layout.short_row > 1 && w != Access::Same && is_still(o, layout.short_row_dim, nest.ndim)) w = Access::Spread;
    if (o.data == nullptr && leaf < 64 && (w == Access::InPlace || counts_along_short_rows(layout, nest, o)))
      layout.leaves.counting |= std::uint64_t{1} << leaf;
    if (o.data == nullptr && (w == Access::InPlace || w == Access::RowSame)) {
      w = Access::Packed;
    } else if (is_uniform(w)) {
      if (leaf >= 0 && leaf < 64)
        (w == Access::Same ? layout.leaves.nest : layout.leaves.row) |= std::uint64_t{1} << leaf;
      else
        w = Access::Packed;  // beyond the leaves that the steps track
    }
    if (w == Access::EverySecond) {
      if (o.data != nullptr && leaf >= 0 && leaf < 64)
        layout.leaves.every_second |= std::uint64_t{1} << leaf;
      else
        w = Access::Packed;
    }
    *access++ = w;
    layout.is_in_place = layout.is_in_place && w < Access::Repeated && o.data != nullptr;
    if (w == Access::Repeated) layout.period = std::max(layout.period, period_of(nest, o));
    if (w == Access::Packed && leaf >= 0 && is_transposed(nest, layout, o)) layout.panel = panel_rows;
    ++leaf;
  }
  layout.leaves.per_short_row = layout.short_row > 1 && (layout.leaves.row | layout.leaves.counting) != 0;
  if (!layout.is_in_place) pack_every_second(layout);
  layout.leaves.few_in_row = layout.leaves.row != 0 && layout.row < few_in_row;
}

bool is_transposed(const LoopNest& nest, const TileLayout& layout, const NestOperand& o) {
  return is_transposed(nest, layout.first_row_dim, o);
}

void pack(TileLayout& layout, std::size_t operand) noexcept {
  layout.accesses[operand] = Access::Packed;
  layout.is_in_place = false;
  pack_every_second(layout);
}

void pack_all(TileLayout& layout) noexcept {
  for (std::size_t k = 0; k < layout.accesses.size(); ++k)
    if (is_uniform(layout.accesses[k]) || layout.accesses[k] == Access::EverySecond) pack(layout, k);
  layout.leaves = {};
}

std::int64_t row_offset(const LoopNest& nest, const TileLayout& layout, const NestOperand& operand, std::int64_t row) {
  std::int64_t offset = 0;
  for (int d = layout.first_row_dim; row > 0 && d-- > 0;) {
    offset += row % nest.extents[d] * operand.strides[d];
    row /= nest.extents[d];
  }
  return offset;
}

}  // namespace sinter::inline v1::jit::cpu
