// Boxes cover a nest once, in the order of positions, and stay within what was asked for.
#include <jit/cpu/row_boxes.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sinter::inline v1::jit::cpu {
namespace {

LoopNest nest_of(const std::vector<std::int64_t>& extents, int reduced) {
  LoopNest nest;
  nest.ndim = static_cast<int>(extents.size());
  nest.reduced = reduced;
  nest.numel = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) nest.numel *= nest.extents[d] = extents[d];
  return nest;
}

/// Marks every element that a box has; a box's columns are neighbours from its position on.
void expect_cover(const LoopNest& nest, const Boxes& boxes) {
  std::vector<int> seen(static_cast<std::size_t>(nest.numel));
  for (std::int64_t row = 0; row < boxes.row_tiles; ++row)
    for (std::int64_t column = 0, position = 0; column < boxes.column_tiles; ++column) {
      const Box box = boxes.at(row, column);
      ASSERT_EQ(box.position, position);
      ASSERT_LE(box.rows, boxes.rows_in_tile);
      ASSERT_LE(box.columns, boxes.columns_in_tile);
      position += box.columns;
      for (std::int64_t i = 0; i < box.rows * box.columns; ++i) {
        std::int64_t left = i, at = 0, step = 1;
        for (int d = nest.ndim; d-- > 0; step *= nest.extents[d], left /= box.extent[d])
          at += (box.first[d] + left % box.extent[d]) * step;
        ++seen[static_cast<std::size_t>(at)];
      }
    }
  for (const int times : seen) ASSERT_EQ(times, 1);
}

TEST(CpuRowBoxes, CoverTheNestOnce) {
  std::minstd_rand random(2026);
  for (int i = 0; i < 12; ++i) {
    std::vector<std::int64_t> extents;
    const int ndim = 2 + static_cast<int>(random() % 3), reduced = 1 + static_cast<int>(random() % (ndim - 1));
    for (int d = 0; d < ndim; ++d)
      extents.push_back(1 + static_cast<std::int64_t>(random() % (ndim > 2 ? 30 : d == 0 ? 5 : 50'000)));
    const LoopNest nest = nest_of(extents, reduced);
    for (const bool across : {false, true})
      for (const bool in_place : {false, true})
        expect_cover(nest, Boxes(nest, {static_cast<std::int64_t>(4 + random() % 5000), in_place, in_place}, across));
  }
}

TEST(CpuRowBoxes, AreWholeWhereRowsFit) {
  EXPECT_TRUE(Boxes(nest_of({1000, 1024}, 1), {8, false, false}, false).whole);
  EXPECT_FALSE(Boxes(nest_of({1000, 1 << 20}, 1), {8, false, false}, false).whole);
  EXPECT_FALSE(Boxes(nest_of({2, 1 << 16}, 1), {8, false, false}, false).whole);  // threads share a row
  EXPECT_TRUE(Boxes(nest_of({1000, 100}, 1), {8, false, false}, true).whole);
  EXPECT_FALSE(Boxes(nest_of({1000, 1 << 16}, 1), {8, true, true}, true).whole);
}

TEST(CpuRowBoxes, MayBeEmpty) {
  EXPECT_EQ(Boxes(nest_of({0, 5}, 1), {4, true, true}, false).row_tiles, 0);
  EXPECT_EQ(Boxes(nest_of({5, 0}, 1), {4, true, true}, false).at(0, 0).columns, 0);
}

TEST(CpuRowBoxes, LieAcrossWhereMostBytesDo) {
  LoopNest nest = nest_of({50, 60}, 1);
  nest.operands.resize(2);
  std::byte memory{};
  nest.operands[0] = {&memory, {1, 50}, 0};
  nest.operands[1] = {&memory, {60, 1}, 0};
  const std::uint8_t across[] = {8, 4}, along[] = {4, 8};
  EXPECT_TRUE(lies_across(nest, across));
  EXPECT_FALSE(lies_across(nest, along));
}

/// As in sum(table[ids], 0) and sum(random, 0): an index that counts across rows.
TEST(CpuRowBoxes, IndicesDecideIfNothingIsReadInPlace) {
  LoopNest nest = nest_of({50, 60}, 1);
  nest.operands.resize(2);
  std::byte memory{};
  const std::uint8_t sizes[] = {8, 8};
  nest.operands[0] = {&memory, {0, 1}, 0};  // one element per column
  for (const std::int64_t by_column : {0, 50}) {
    nest.operands[1] = {nullptr, {1, by_column}, 0};
    EXPECT_TRUE(lies_across(nest, sizes));
  }
  nest.operands[0] = {&memory, {60, 1}, 0};
  EXPECT_FALSE(lies_across(nest, sizes));
  nest.operands[0] = {&memory, {0, 1}, 0}, nest.operands[1] = {nullptr, {60, 1}, 0};
  EXPECT_FALSE(lies_across(nest, sizes));
}

}  // namespace
}  // namespace sinter::inline v1::jit::cpu
