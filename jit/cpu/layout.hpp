// How the executor walks a loop nest: the inner dims make rows, rows are cut into tiles.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "../plan/loop_nest.hpp"
#include "steps.hpp"

namespace sinter::inline v1::jit::cpu {

/// How an operand lies in a row.
enum class Walk : std::uint8_t {
  InPlace,  // neighbours in memory: loops read and write it where it is
  Same,     // one element for the whole nest
  RowSame,  // one element for a row
  Packed,   // anything else, and indices that are not Same: through a tile
};

struct Layout {
  int split = 0;         // the dims [split, rank) are a row
  std::int64_t row = 1;  // its elements
  std::int64_t rows = 1;
  int panel = 1;          // rows that are walked together, tile by tile
  UniformLeaves uniform;  // the leaves that are Same or RowSame
  boost::container::small_vector<Walk, 16> walks;
};

/// Shorter rows are joined: what is broadcast along them is copied then, which costs less than starting on each.
inline constexpr std::int64_t shortest_row = 32;
/// Where rows are read from an array at a computed place, joining costs more: every element is read by its own offset.
inline constexpr std::int64_t shortest_run = 8;

void make_layout(Layout& layout, const LoopNest& nest, std::int64_t shortest);

/// Gives uniform leaves tiles of their own.
void spread_uniform(Layout& layout);

/// Offset in elements of the operand's first element in a row.
std::int64_t row_offset(const LoopNest& nest, const Layout& layout, const NestOperand& operand, std::int64_t row);

/// Whether a panel of this operand is worth it.
bool is_transposed(const LoopNest& nest, const Layout& layout, const NestOperand& operand);

}  // namespace sinter::inline v1::jit::cpu
