// Which threads of a GPU process which part of a row, and what they keep: decided from sizes alone, so that one shape
// has one result on every GPU.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::inline v1::jit {

struct Kernel;

/// What of a scheme is fixed in a kernel's text. Numbers are powers of two.
struct RowText {
  bool across = false;  // neighbours in memory are of different rows: a thread's lanes are rows, else elements of one
  int team = 0;         // threads that share a row; 0: the whole block
  int block = 256;      // threads of a block; at most, where a team is the block and the row is kept
  int steps = 1;        // vectors, one for each thread of the team, that are read before the first one is used
  bool kept = false;    // these are the whole row: what several passes read is read from memory once
  bool split = false;   // several blocks share a row: one launch for each pass
  bool exact = false;   // of a row that is kept: its vectors are one for each step of each thread of the team
  bool tail = false;    // rows end with elements that fill no vector
  bool row_cache = false;  // what several passes read stays in shared memory (RowCache), on GPUs that have room for it
  friend bool operator==(const RowText&, const RowText&) = default;
};

/// What a choice needs to know of a kernel.
struct RowTraits {
  explicit RowTraits(const Kernel& kernel);
  RowTraits() = default;

  int passes = 1;                     // through a row that is kept
  bool writes_elements = false;       // the last pass writes; else every one ends with a reduction
  int kept_bytes = 4;                 // of registers for each element, of what is read once where a row is kept
  int streams = 1;                    // inputs that one pass reads for each element, at most
  int stream_words = 1;               // registers of these
  int live_words = 4;                 // registers of values that an element takes
  bool calls_long_functions = false;  // which take many registers
  bool shares_rows = true;      // whether blocks may share a row where an input is an output: none reads what one wrote
  std::vector<int> part_bytes;  // of each stage: what it knows of a part of a row that is kept
  int loop_part_bytes = 0;      // of all stages of one that is not
  int loop_stages = 0;          // of one that is not
  std::vector<bool> read_again;  // of the inputs, those that several passes through such a row read
  int row_cache_bytes = 0;       // of each column of these

  std::size_t stages(const RowText& text) const noexcept {
    return text.kept ? part_bytes.size() : static_cast<std::size_t>(loop_stages);
  }
};

/// What it needs to know of an evaluation.
struct RowSizes {
  std::int64_t rows = 1, columns = 1;
  int lanes = 1;        // of the vectors that all operands' layouts allow
  bool across = false;  // which of the two is innermost in memory
};

struct RowScheme {
  RowText text;
  int lanes = 1;
  friend bool operator==(const RowScheme&, const RowScheme&) = default;
};

/// The one place that decides.
RowScheme choose_rows(const RowTraits& traits, const RowSizes& sizes) noexcept;

/// How a kernel with this text runs over so many rows and columns.
struct RowGrid {
  unsigned block = 256;     // threads
  std::int64_t tiles = 1;   // sets of rows that a block handles together
  std::int64_t splits = 1;  // blocks that share a row
  std::int64_t part = 0;    // vectors of a split
};
RowGrid row_grid(const RowScheme& scheme, std::int64_t rows, std::int64_t columns) noexcept;

/// "32 threads of 256 for a row, which is kept in registers". `cached`: it is in shared memory.
std::string describe(const RowScheme& scheme, const RowGrid& grid, bool cached = false);

/// For tests: what choose_rows gives instead where the layout allows it, and the fewest vectors of a split; a part of
/// 0 ends it.
struct RowWish {
  RowText text;
  int lanes = 1;  // at most
  std::int64_t part = 0;
};
void wish_for_rows(const RowWish& wish) noexcept;
const RowText* wished_rows() noexcept;  // null: there is no wish

}  // namespace sinter::inline v1::jit
