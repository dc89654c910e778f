#include "row_cache.hpp"

namespace sinter::inline v1::jit {
namespace {

constexpr std::int64_t spare = 1 << 10;      // bytes, reserved for the compiler and tools
constexpr std::int64_t aligned_to = 16;      // elements, hence at least as many bytes
constexpr std::int64_t warps_of_block = 32;  // at most; each stores one partial result

}  // namespace

std::int64_t variable_bytes(const RowTraits& traits) noexcept {
  return warps_of_block * traits.loop_partial_bytes + aligned_to * traits.loop_stages;
}

std::int64_t row_cache_extent(std::int64_t columns, int column_bytes, std::int64_t variables,
                              std::int64_t shared) noexcept {
  const std::int64_t room = shared - variables - spare;
  if (column_bytes == 0 || columns > room / column_bytes) return 0;
  const std::int64_t extent = (columns + aligned_to - 1) / aligned_to * aligned_to;
  return extent * column_bytes <= room ? extent : 0;
}

RowCache::RowCache(const KernelTraits& traits, const KernelClass& c) {
  if (!c.rows.row_cache) return;
  offsets_.resize(traits.operands.size());
  variables_ = variable_bytes(*traits.rows);
  const auto outputs = static_cast<std::size_t>(traits.outputs);
  for (std::size_t k = outputs; k < offsets_.size(); ++k) {
    const KernelTraits::Access& a = traits.operands[k];
    const bool is_loaded = a.memory && !a.array && !a.per_row && c.patterns[k] != AccessPattern::Uniform;
    if (!is_loaded || !traits.rows->read_again[k - outputs]) continue;
    offsets_[k] = column_bytes_;
    column_bytes_ += static_cast<int>(size_of(a.dtype));
  }
}

}  // namespace sinter::inline v1::jit
