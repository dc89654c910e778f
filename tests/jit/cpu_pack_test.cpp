// Packing strided elements against plain loops: every size, stride and length around the vectors' widths, nothing read
// or written beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <jit/cpu/pack.hpp>
#include <vector>

namespace sinter::jit::cpu {
namespace {

constexpr int sizes[] = {1, 2, 4, 8, 16};

/// Element i of an array of elements of `size` bytes, each of which is told apart by its number.
std::uint64_t packed_element(const std::vector<std::byte>& bytes, int size, std::int64_t i) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * size, static_cast<std::size_t>(std::min(size, 8)));
  return value;
}
std::vector<std::byte> counted(int size, std::int64_t n) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size * n));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t value = static_cast<std::uint64_t>(i) * 0x0101010101010101u + 1, both[] = {value, ~value};
    std::memcpy(bytes.data() + i * size, both, static_cast<std::size_t>(size));
  }
  return bytes;
}

TEST(CpuPack, OneDimension) {
  for (const int size : sizes)
    for (const std::int64_t stride : {-3, -2, -1, 0, 1, 2, 3, 7})
      for (std::int64_t n = 1; n <= 40; ++n)
        for (const std::int64_t first : {0, 1, 5}) {
          // The array ends with the last element that is read.
          const std::int64_t span = (n + first - 1) * std::abs(stride) + 1;
          const std::vector<std::byte> from = counted(size, span);
          const std::int64_t begin = stride < 0 ? span - 1 : 0;
          LoopNest nest;
          nest.ndim = 1;
          nest.extents[0] = n + first;
          NestOperand o{};
          o.strides[0] = stride;
          std::vector<std::byte> to(static_cast<std::size_t>(size * (n + 1)), std::byte{0xee});
          pack(to.data(), from.data() + begin * size, static_cast<std::size_t>(size), nest, {0, nest.ndim}, o, first,
               n);
          for (std::int64_t i = 0; i < n; ++i)
            ASSERT_EQ(packed_element(to, size, i), packed_element(from, size, begin + (first + i) * stride))
                << "size " << size << ", stride " << stride << ", element " << i << " of " << n << " from " << first;
          ASSERT_EQ(to[static_cast<std::size_t>(size * n)], std::byte{0xee});
        }
}

/// What is the same along short rows: each element some times, from any place on, and nothing behind the last one.
TEST(CpuPack, RepeatedElements) {
  for (const int size : sizes)
    for (const std::int64_t times : {1, 2, 3, 4, 7, 8, 31, 33, 64})
      for (const std::int64_t stride : {1, 3, -2}) {
        constexpr std::int64_t rows = 20;
        LoopNest nest;
        nest.ndim = 2;
        nest.extents[0] = rows, nest.extents[1] = times;
        NestOperand o{};
        o.strides[0] = stride;
        const std::int64_t begin = stride < 0 ? (1 - rows) * stride : 0;
        const auto from = counted(size, (rows - 1) * std::abs(stride) + 1);
        for (const std::int64_t first : {std::int64_t{0}, times - 1, times, 5 * times + 1})
          for (const std::int64_t n : {std::int64_t{1}, times, 4 * times + 1, rows * times - first}) {
            std::vector<std::byte> to(static_cast<std::size_t>((n + 1) * size), std::byte{0xEE});
            pack(to.data(), from.data() + begin * size, static_cast<std::size_t>(size), nest, {0, nest.ndim}, o, first,
                 n);
            for (std::int64_t i = 0; i < n; ++i)
              ASSERT_EQ(std::memcmp(&to[static_cast<std::size_t>(i * size)],
                                    &from[static_cast<std::size_t>((begin + (first + i) / times * stride) * size)],
                                    static_cast<std::size_t>(size)),
                        0)
                  << size << " bytes, " << times << " times, stride " << stride << ", element " << i << " of " << n;
            for (std::int64_t i = n * size; i < (n + 1) * size; ++i)
              ASSERT_EQ(to[static_cast<std::size_t>(i)], std::byte{0xEE});
          }
      }
}

/// Dims that an operand has one stride over are one run; others end it.
TEST(CpuPack, SeveralDimensions) {
  struct Strides {
    std::int64_t of[3];
  };
  constexpr std::int64_t extents[] = {3, 5, 4}, n = 3 * 5 * 4;
  for (const Strides s : {Strides{{20, 4, 1}}, Strides{{25, 4, 1}}, Strides{{0, 4, 1}}, Strides{{20, 5, 1}},
                          Strides{{40, 8, 2}}, Strides{{-20, -4, -1}}, Strides{{30, -4, -1}}, Strides{{7, 0, 0}},
                          Strides{{0, 3, 0}}, Strides{{1, 3, 15}}, Strides{{0, 0, 0}}}) {
    LoopNest nest;
    nest.ndim = 3;
    std::ranges::copy(extents, nest.extents);
    NestOperand o{};
    std::ranges::copy(s.of, o.strides);
    constexpr std::int64_t begin = 200;
    const auto at = [&](std::int64_t i) { return i / 20 * s.of[0] + i / 4 % 5 * s.of[1] + i % 4 * s.of[2]; };
    for (const int size : sizes)
      for (const std::int64_t first : {0, 1, 4, 19, 23}) {
        const std::vector<std::byte> from = counted(size, 2 * begin);
        std::vector<std::byte> to(static_cast<std::size_t>(size * (n - first)));
        pack(to.data(), from.data() + begin * size, static_cast<std::size_t>(size), nest, {0, nest.ndim}, o, first,
             n - first);
        for (std::int64_t i = first; i < n; ++i)
          ASSERT_EQ(packed_element(to, size, i - first), packed_element(from, size, begin + at(i)))
              << "strides " << s.of[0] << ' ' << s.of[1] << ' ' << s.of[2] << ", element " << i;
        if (s.of[0] * s.of[1] * s.of[2] == 0) continue;
        std::vector<std::byte> there(from.size());
        unpack(there.data() + begin * size, to.data(), static_cast<std::size_t>(size), nest, {0, nest.ndim}, o, first,
               n - first);
        for (std::int64_t i = first; i < n; ++i)
          ASSERT_EQ(packed_element(there, size, begin + at(i)), packed_element(from, size, begin + at(i)));
      }
    std::vector<std::int64_t> indices(n - 1);
    pack_index(indices.data(), 7, nest, {0, nest.ndim}, o, 1, n - 1);
    for (std::int64_t i = 1; i < n; ++i) ASSERT_EQ(indices[static_cast<std::size_t>(i - 1)], 7 + at(i)) << i;
  }
}

TEST(CpuPack, Panels) {
  for (const int size : sizes)
    for (const std::int64_t rows : {1, 2, 3, 4, 7, 8, 13, 16})
      for (const std::int64_t row_stride : {-1, 1, 2})
        for (std::int64_t n = 1; n <= 19; ++n) {
          const std::int64_t stride = rows * std::abs(row_stride) + 3, pitch = n + 2;
          const std::int64_t span = (rows - 1) * std::abs(row_stride) + (n - 1) * stride + 1;
          const std::vector<std::byte> from = counted(size, span);
          const std::int64_t begin = row_stride < 0 ? rows - 1 : 0;
          std::vector<std::byte> to(static_cast<std::size_t>(size * rows * pitch), std::byte{0xee});
          pack_panel(to.data(), pitch, from.data() + begin * size, static_cast<std::size_t>(size), rows, row_stride,
                     stride, n);
          for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t i = 0; i < n; ++i)
              ASSERT_EQ(packed_element(to, size, r * pitch + i),
                        packed_element(from, size, begin + r * row_stride + i * stride))
                  << "size " << size << ", row " << r << " of " << rows << ", element " << i << " of " << n;
            for (std::int64_t i = n * size; i < pitch * size; ++i)
              ASSERT_EQ(to[static_cast<std::size_t>(r * pitch * size + i)], std::byte{0xee});
          }
        }
}

TEST(CpuPack, UnpackingIsTheOtherWay) {
  for (const int size : sizes)
    for (const std::int64_t stride : {-2, 1, 2, 5}) {
      constexpr std::int64_t n = 21;
      const std::int64_t span = (n - 1) * std::abs(stride) + 1, begin = stride < 0 ? span - 1 : 0;
      const std::vector<std::byte> from = counted(size, n);
      LoopNest nest;
      nest.ndim = 1;
      nest.extents[0] = n;
      NestOperand o{};
      o.strides[0] = stride;
      std::vector<std::byte> there(static_cast<std::size_t>(size * span)), back(from.size());
      unpack(there.data() + begin * size, from.data(), static_cast<std::size_t>(size), nest, {0, nest.ndim}, o, 0, n);
      pack(back.data(), there.data() + begin * size, static_cast<std::size_t>(size), nest, {0, nest.ndim}, o, 0, n);
      EXPECT_EQ(back, from) << "size " << size << ", stride " << stride;
    }
}

}  // namespace
}  // namespace sinter::jit::cpu
