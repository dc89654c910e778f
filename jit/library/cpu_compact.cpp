#include "cpu_compact.hpp"
#include <runtime/parallel.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t compact_part = 1 << 16;  // elements: about 20 us of work

constexpr int word_bytes = 8;

/// Normalizes eight bools: a 1 in each nonzero byte.
std::uint64_t ones(const std::byte* mask) noexcept {
  constexpr std::uint64_t low_bits = 0x7F7F7F7F7F7F7F7F, lowest = 0x0101010101010101;
  std::uint64_t word;
  std::memcpy(&word, mask, sizeof word);
  return (((word & low_bits) + low_bits) | word) >> 7 & lowest;
}

std::int64_t count(const std::byte* mask, std::int64_t first, std::int64_t last) noexcept {
  constexpr std::uint64_t sum_to_top = 0x0101010101010101;
  std::int64_t found = 0;
  for (; first + word_bytes <= last; first += word_bytes)
    found += static_cast<std::int64_t>(ones(mask + first) * sum_to_top >> 56);
  for (; first < last; ++first) found += mask[first] != std::byte{};
  return found;
}

/// Calls f(i) for every true element, in order.
template <class F>
void for_each_true(const std::byte* mask, std::int64_t first, std::int64_t last, F f) {
  for (; first + word_bytes <= last; first += word_bytes)
    for (std::uint64_t word = ones(mask + first); word != 0; word &= word - 1)
      f(first + std::countr_zero(word) / word_bytes);
  for (; first < last; ++first)
    if (mask[first] != std::byte{}) f(first);
}

/// Calls f(first element, end, index of the first result) for every part.
template <class F>
void for_each_range(std::int64_t n, const MaskCounts& parts, F f) {
  runtime::parallel_for(static_cast<std::int64_t>(parts.offsets.size()) - 1, [&](std::int64_t part) {
    const std::int64_t first = part * parts.length;
    f(first, std::min(first + parts.length, n), parts.offsets[static_cast<std::size_t>(part)]);
  });
}

template <std::size_t size>
void copy_elements(std::byte* to, const std::byte* from, const std::byte* mask, std::int64_t n,
                   const MaskCounts& parts) {
  for_each_range(n, parts, [=](std::int64_t first, std::int64_t last, std::int64_t at) {
    std::byte* place = to + static_cast<std::size_t>(at) * size;
    for_each_true(mask, first, last, [&](std::int64_t i) {
      std::memcpy(place, from + static_cast<std::size_t>(i) * size, size);
      place += size;
    });
  });
}

/// Coordinates of increasing positions: divides once for each row of the innermost dim.
class Coordinates {
 public:
  explicit Coordinates(const Shape& shape) : shape_(shape), outer_(shape.ndim() - 1), inner_(shape[outer_]) {}

  void write(std::int64_t* to, std::int64_t position) {
    if (position - row_ >= inner_) {
      row_ = position - position % inner_;
      std::int64_t rest = position / inner_;
      for (int d = outer_ - 1; d >= 0; rest /= shape_[d--]) row_at_[d] = rest % shape_[d];
    }
    std::copy_n(row_at_, outer_, to);
    to[outer_] = position - row_;
  }

 private:
  const Shape& shape_;
  const int outer_;           // dims
  const std::int64_t inner_;  // the innermost extent
  std::int64_t row_ = 0;      // where the current row begins
  std::int64_t row_at_[max_ndim] = {};
};

}  // namespace

MaskCounts count_true(const std::byte* mask, std::int64_t n) {
  MaskCounts parts{compact_part, {}};
  parts.offsets.resize(static_cast<std::size_t>((n + compact_part - 1) / compact_part) + 1);
  runtime::parallel_for(static_cast<std::int64_t>(parts.offsets.size()) - 1, [&](std::int64_t part) {
    const std::int64_t first = part * compact_part;
    parts.offsets[static_cast<std::size_t>(part) + 1] = count(mask, first, std::min(first + compact_part, n));
  });
  for (std::size_t i = 1; i < parts.offsets.size(); ++i) parts.offsets[i] += parts.offsets[i - 1];
  return parts;
}

void copy_true(std::byte* to, const std::byte* from, std::size_t size, const std::byte* mask, std::int64_t n,
               const MaskCounts& parts) {
  switch (size) {
    case 1: return copy_elements<1>(to, from, mask, n, parts);
    case 2: return copy_elements<2>(to, from, mask, n, parts);
    case 4: return copy_elements<4>(to, from, mask, n, parts);
    case 8: return copy_elements<8>(to, from, mask, n, parts);
    default: return copy_elements<16>(to, from, mask, n, parts);
  }
}

void write_positions(std::int64_t* to, const Shape& shape, const std::byte* mask, const MaskCounts& parts) {
  const int ndim = shape.ndim();
  for_each_range(shape.numel(), parts, [&](std::int64_t first, std::int64_t last, std::int64_t at) {
    Coordinates coordinates(shape);
    std::int64_t* row = to + at * ndim;
    for_each_true(mask, first, last, [&](std::int64_t i) {
      coordinates.write(row, i);
      row += ndim;
    });
  });
}

}  // namespace sinter::inline v1::jit::cpu
