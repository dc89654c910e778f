// A kernel that reduces, split into elementwise programs over parts of its rows and the reductions between them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "../plan/row_stages.hpp"
#include "loop_table.hpp"
#include "streaming.hpp"
#include "tile_program.hpp"

namespace sinter::inline v1::jit::cpu {

/// The kinds of a program's operands.
struct OperandSource {
  enum class Kind : std::uint8_t {
    Operand,  // of the nest
    PerRow,   // one element for each row: a reduction's result, or a value computed from such results
    Tile,     // elements of the current rows
    Count,    // the number of elements of a row
    States,   // running values of the stage's reduction of this number, one for each row
  } kind;
  std::uint32_t number;
  std::uint8_t size;  // bytes of an element
};

/// An elementwise program; its operands are the outputs, then the inputs.
struct Part {
  TileProgram program;
  std::vector<OperandSource> operands;
  int outputs;
  std::vector<OperandSource> states;      // of the reductions that the program can do
  std::vector<OperandSource> prefetched;  // the nest's operands whose elements of the next rows it fetches
};

struct RowReduction {
  std::uint8_t op;                    // of the table of reducers
  std::uint8_t dtype;                 // of the elements, in that table
  std::uint32_t tile;                 // that holds the operand's elements
  std::optional<std::uint32_t> leaf;  // the nest's operand that the elements are, if they can be read in place
  std::uint32_t result;               // a PerRow
  bool in_pass = false;               // whether the compiled pass can do it
};

/// A sum that is one element of each row (row_picks.hpp).
struct RowPick {
  std::uint32_t element, column;   // the nest's operands
  DType dtype;                     // of the elements in memory
  bool is_narrow;                  // positions are int32, not int64
  std::uint32_t position, result;  // PerRows
};

/// A pass over the rows: reduces leaves, computes elements, some of which may be outputs in the place of leaves, then
/// reduces these.
struct Stage {
  std::optional<Part> rows;  // of values with one element per row that this stage or a later one reads
  std::vector<RowPick> picks;
  std::optional<Part> pass;
  std::vector<RowReduction> reductions;
};

/// Where values are kept that later passes read instead of recomputing them.
enum class Keeps : std::uint8_t {
  InBoxes,        // of whole rows: in the cache
  InCachedSpans,  // of parts of rows: in memory that all boxes of the rows share, and that stays in the cache
  InSpans,        // the same beyond the cache
  Nowhere,        // they are recomputed
};

struct RowParts {
  /// What costs less to store and read than to recompute is kept for later stages; in boxes, what a stage computed for
  /// a reduction, too.
  RowParts(const Kernel& kernel, Keeps keeps);

  std::vector<Stage> stages;       // the last one reduces nothing: its pass computes outputs from reductions' results
  std::optional<Part> rows_after;  // outputs that have one element for each row
  std::vector<Part> copies;        // for each tile that is a leaf: the leaf's elements
  std::vector<std::uint8_t> row_sizes, tile_sizes;
  std::vector<bool> tile_spans;       // for each tile: all boxes of the rows have one, until the rows are finished
  std::vector<std::int32_t> copy_of;  // for each tile: which of the copies makes it, or -1
  bool uses_kept = false;             // whether the parts depend on `keeps`
  std::int64_t span_bytes = 0;        // of one element of all tiles in spans
  std::int64_t kept_bytes = 0;        // of one element of all tiles that no reduction reads
  double nanoseconds = 0;             // per element, estimated
  std::int64_t array_bytes = 0;       // of one element of all arrays
  StreamRule stream_rule;
};

}  // namespace sinter::inline v1::jit::cpu
