// How the executor traverses a loop nest: the inner dims form rows, which are split into tiles.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "../plan/loop_nest.hpp"
#include "steps.hpp"

namespace sinter::inline v1::jit::cpu {

/// An operand's access pattern in a row.
enum class Access : std::uint8_t {
  InPlace,      // contiguous: loops read and write it in place
  Same,         // one element for the whole nest
  RowSame,      // one element per row
  EverySecond,  // as in x[::2]: loops that are compiled for it read it in place, others through a tile
  Repeated,     // the same few elements again and again: one tile holds them for the whole run
  Spread,       // one element for each short row
  Packed,       // anything else, and other indices: through a tile
};

struct TileLayout {
  int first_row_dim = 0;  // the dims [first_row_dim, ndim) form a row
  std::int64_t row = 1;   // its elements
  std::int64_t rows = 1;
  std::int64_t short_row = 1;  // elements of the short rows that it consists of; 1 if it is not divided into such
  int short_row_dim = 0;       // the dims [short_row_dim, ndim) form a short row
  int panel = 1;               // rows that are processed together, tile by tile
  std::int64_t period = 1;     // elements after which what is Repeated begins again; a tile has a multiple of them
  LeafPatterns leaves;         // those that are Same, RowSame, EverySecond or Spread, and the indices that count
  bool is_in_place = true;     // every operand is in memory, and InPlace, Same, RowSame or EverySecond
  boost::container::small_vector<Access, 16> accesses;
};

/// Which rows are merged: those shorter than `any`, although operands broadcast along them are then repeated, which
/// costs less than starting each row; and those shorter than `repeating`, if that makes no operand Packed. Rows of 32
/// elements or more stay apart if an operand is transposed.
struct ShortestRows {
  std::int64_t any, repeating;
};
inline constexpr ShortestRows shortest_rows{128, 256};
/// Of one operation, whose loop is started sooner than an operand is copied.
inline constexpr ShortestRows shortest_rows_of_one{32, 256};
/// Of random numbers, whose loop computes whole blocks.
inline constexpr ShortestRows shortest_rows_of_random{384, 384};
/// What is the same along fewer elements is packed like anything else, and what they gather is loaded one by one.
inline constexpr std::int64_t shortest_short_row = 8;
/// A compiled loop starts a row by adding to its addresses.
inline constexpr ShortestRows shortest_compiled_rows{4, 4};
/// From here on, calling a loop for each row takes little time beside the row.
inline constexpr std::int64_t long_row = 1024;

void make_layout(TileLayout& layout, const LoopNest& nest, ShortestRows shortest);
/// Whether make_layout merges rows of the innermost dim.
bool merges_rows(const LoopNest& nest, ShortestRows shortest);

/// Makes an operand Packed, or all leaves that the patterns are about.
void pack(TileLayout& layout, std::size_t operand) noexcept;
void pack_all(TileLayout& layout) noexcept;

/// Offset in elements of the operand's first element in a row.
std::int64_t row_offset(const LoopNest& nest, const TileLayout& layout, const NestOperand& operand, std::int64_t row);

/// Whether a panel pays for this operand.
bool is_transposed(const LoopNest& nest, const TileLayout& layout, const NestOperand& operand);

}  // namespace sinter::inline v1::jit::cpu
