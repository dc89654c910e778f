#include "parameters.hpp"

#include <bit>

namespace sinter::inline v1::jit {
namespace {

int log2_ceil(std::uint64_t d) noexcept { return d <= 1 ? 0 : std::bit_width(d - 1); }

/// What prelude.cuh's Divider holds: multiplier below, shift above. For 0 < d < 2^31.
std::uint64_t divider(std::uint64_t d) noexcept {
  const int shift = log2_ceil(d);
  const std::uint64_t multiplier = (((std::uint64_t{1} << shift) - d) << 32) / d + 1;
  return multiplier | static_cast<std::uint64_t>(shift) << 32;
}

/// The multiplier of a WideDivider. For 0 < d < 2^63.
std::uint64_t wide_multiplier(std::uint64_t d, int shift) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>((std::uint64_t{1} << shift) - d) << 64) / d + 1);
}

void extent_words(Words& words, std::int64_t extent, bool wide) {
  const auto d = static_cast<std::uint64_t>(extent);
  words.push_back(d);
  if (!wide) {
    words.push_back(divider(d));
    return;
  }
  const int shift = log2_ceil(d);
  words.push_back(wide_multiplier(d, shift));
  words.push_back(static_cast<std::uint64_t>(shift));
}

}  // namespace

std::int64_t nest_words(Words& words, const KernelClass& c, const LoopNest& nest) {
  for (const NestOperand& o : nest.operands) words.push_back(reinterpret_cast<std::uintptr_t>(o.data));
  const std::int64_t vectors = nest.numel / c.lanes;
  const std::int64_t count = c.rank == 1 ? nest.numel : vectors;
  words.push_back(static_cast<std::uint64_t>(count));
  // The generic class has more dims than the nest: the outermost ones have extent 1.
  const int missing = c.rank - nest.rank;
  for (int d = c.rank - 1; d >= 1; --d) {
    const std::int64_t extent = d < missing ? 1 : nest.extents[d - missing];
    extent_words(words, d == c.rank - 1 ? extent / c.lanes : extent, c.wide);
  }
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const Pattern p = c.patterns[k];
    if (p == Pattern::Linear || p == Pattern::Uniform) continue;
    const int strides = p == Pattern::Strided ? c.rank : c.rank - 1;
    for (int d = 0; d < strides; ++d)
      words.push_back(d < missing ? 0 : static_cast<std::uint64_t>(nest.operands[k].strides[d - missing]));
  }
  return vectors > 0 ? vectors : nest.numel;
}

std::uint64_t scalar_word(Scalar value, Category arrives_as, DType dtype) noexcept {
  constexpr DType wide[] = {DType::Bool, DType::Int64, DType::Float64};
  return convert_bits(value.bits, wide[static_cast<int>(arrives_as)], dtype);
}

}  // namespace sinter::inline v1::jit
