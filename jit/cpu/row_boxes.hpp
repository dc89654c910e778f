// How a run of a kernel that reduces is split into boxes: some rows, and all or some of their elements.
#pragma once
#include <cstdint>

#include "../plan/loop_nest.hpp"

namespace sinter::inline v1::jit::cpu {

/// A part of the nest: along each dim, a number of positions from the first one.
struct Box {
  std::int64_t first[max_dims], extent[max_dims];
  std::int64_t rows, columns;
  std::int64_t position;  // of the first element in its row
  std::int64_t number;    // among the boxes of its rows
};

/// What a split depends on: only sizes and strides, so that results do not depend on the number of threads.
struct BoxRequirements {
  std::int64_t bytes;  // of an element, in arrays and tiles
  bool in_place;       // only reductions of arrays in place
  bool one_pass;       // every element is read once
};

struct Boxes {
  Boxes(const LoopNest& nest, const BoxRequirements& required, bool across);

  Box at(std::int64_t row_tile, std::int64_t column_tile) const noexcept;

  bool across;  // rows are adjacent in memory: tiles hold them element by element, not row by row
  bool whole;   // a box has all elements of its rows
  int row_dims, dims;
  int order[max_dims];  // of the dims in a tile, outermost first
  std::int64_t extents[max_dims], tile[max_dims];
  std::int64_t rows, columns;                  // of the nest
  std::int64_t row_tiles, column_tiles;        // numbers of boxes
  std::int64_t rows_in_tile, columns_in_tile;  // of the largest box

 private:
  std::int64_t cut(int first, int last, std::int64_t most) noexcept;
};

/// Whether in most of the operands, by bytes, rows are adjacent in memory. If none is read in place, as in gathers and
/// random numbers, whether an index counts across rows.
bool lies_across(const LoopNest& nest, const std::uint8_t* sizes) noexcept;

}  // namespace sinter::inline v1::jit::cpu
