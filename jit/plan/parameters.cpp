#include "parameters.hpp"

#include <algorithm>
#include <bit>

namespace sinter::inline v1::jit {
namespace {

int log2_ceil(std::uint64_t d) noexcept { return d <= 1 ? 0 : std::bit_width(d - 1); }

/// What prelude/base.cuh's FastDivisor holds: multiplier below, shift above. For 0 < d < 2^31.
std::uint64_t fast_divisor(std::uint64_t d) noexcept {
  const int shift = log2_ceil(d);
  const std::uint64_t multiplier = (((std::uint64_t{1} << shift) - d) << 32) / d + 1;
  return multiplier | static_cast<std::uint64_t>(shift) << 32;
}

/// The multiplier of a FastDivisor64. For 0 < d < 2^63.
std::uint64_t multiplier64(std::uint64_t d, int shift) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>((std::uint64_t{1} << shift) - d) << 64) / d + 1);
}

std::uint64_t* write_extent(std::uint64_t* words, std::int64_t extent, bool wide) noexcept {
  const auto d = static_cast<std::uint64_t>(extent);
  if (wide) return write_wide_extent(words, extent);
  *words++ = d;
  *words++ = fast_divisor(d);
  return words;
}

}  // namespace

std::uint64_t* write_wide_extent(std::uint64_t* words, std::int64_t extent) noexcept {
  const auto d = static_cast<std::uint64_t>(extent);
  const int shift = log2_ceil(d);
  *words++ = d;
  *words++ = multiplier64(d, shift);
  *words++ = static_cast<std::uint64_t>(shift);
  return words;
}

std::size_t nest_word_count(const KernelClass& c) noexcept {
  std::size_t count = c.patterns.size() + 1 + static_cast<std::size_t>(c.ndim - 1) * (c.wide ? 3 : 2);
  for (const AccessPattern p : c.patterns) count += static_cast<std::size_t>(stride_count(p, c.ndim));
  return count;
}

std::uint64_t* write_nest(std::uint64_t* words, const KernelClass& c, const LoopNest& nest) noexcept {
  for (const NestOperand& o : nest.operands) *words++ = reinterpret_cast<std::uintptr_t>(o.data);
  *words++ = static_cast<std::uint64_t>(nest.numel);
  if (c.contiguous) return words;
  // The generic class has more dims than the nest: the outermost ones have extent 1.
  const int missing = c.ndim - nest.ndim;
  for (int d = c.ndim - 1; d >= 1; --d) {
    const std::int64_t extent = d < missing ? 1 : nest.extents[d - missing];
    words = write_extent(words, extent / extent_step(c, d), c.wide);
  }
  for (std::size_t k = 0; k < nest.operands.size(); ++k)
    for (int d = 0, count = stride_count(c.patterns[k], c.ndim); d < count; ++d)
      *words++ = d < missing ? 0 : static_cast<std::uint64_t>(nest.operands[k].strides[d - missing]);
  return words;
}

namespace {

/// The rows' dims or the reduced ones, of the class and of the nest: the outermost ones that the nest lacks have
/// extent 1.
struct Dims {
  int count, missing, first;  // the nest's first one
  std::int64_t extent(const LoopNest& nest, int d) const noexcept {
    return d < missing ? 1 : std::max<std::int64_t>(nest.extents[first + d - missing], 1);
  }
  std::int64_t stride(const NestOperand& o, int d) const noexcept {
    return d < missing ? 0 : o.strides[first + d - missing];
  }
};

}  // namespace

std::size_t row_word_count(const KernelClass& c, std::size_t stages) noexcept {
  const int row_ndim = c.ndim - c.reduced;
  std::size_t count = c.patterns.size() + 3 + (c.rows.split ? stages + 4 : 0) + c.rows.row_cache;
  count += static_cast<std::size_t>(3 * (row_ndim - 1) + (c.wide ? 3 : 2) * (c.reduced - 1));
  for (const AccessPattern p : c.patterns) count += static_cast<std::size_t>(row_ndim + reduced_strides(c, p));
  return count;
}

std::uint64_t* write_row_nest(std::uint64_t* words, const KernelClass& c, const LoopNest& nest,
                              const RowLaunch& launch) noexcept {
  const auto add = [&](std::int64_t word) { *words++ = static_cast<std::uint64_t>(word); };
  const int of_rows = nest.row_dims();
  const Dims rows{c.ndim - c.reduced, c.ndim - c.reduced - of_rows, 0};
  const Dims reduced{c.reduced, c.reduced - nest.reduced, of_rows};
  for (const NestOperand& o : nest.operands) *words++ = reinterpret_cast<std::uintptr_t>(o.data);
  if (c.rows.split)
    for (std::byte* const partials : launch.partials) *words++ = reinterpret_cast<std::uintptr_t>(partials);
  add(launch.grid.row_blocks * launch.splits_in_launch);
  add(launch.rows);
  add(launch.columns);
  if (c.rows.split)
    for (const std::int64_t word :
         {launch.grid.splits, launch.grid.vectors_per_split, launch.splits_in_launch, launch.pass})
      add(word);
  if (c.rows.row_cache) add(launch.row_cache);
  for (int d = rows.count - 1; d >= 1; --d) words = write_extent(words, rows.extent(nest, d), true);
  for (int d = reduced.count - 1; d >= 1; --d) words = write_extent(words, reduced.extent(nest, d), c.wide);
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    for (int d = 0; d < rows.count; ++d) add(rows.stride(nest.operands[k], d));
    for (int d = 0; d < reduced_strides(c, c.patterns[k]); ++d) add(reduced.stride(nest.operands[k], d));
  }
  return words;
}

}  // namespace sinter::inline v1::jit
