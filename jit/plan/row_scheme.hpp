// How a GPU's threads are assigned to the elements of rows, and what they keep in registers or shared memory. The
// choice depends only on shapes and dtypes, so that results are equal on every GPU.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::inline v1::jit {

struct Kernel;

/// The part of a scheme that is compiled into a kernel's text. Numbers are powers of two.
struct RowConfig {
  bool row_per_element =
      false;     // rows are adjacent in memory, and each element of a vector is in its own row; else all are in one row
  int team = 0;  // threads that share a row; 0: the whole block
  int block = 256;             // threads of a block; an upper bound if team is 0 and the row is in registers
  int vectors_per_thread = 1;  // loaded before the first one is used: the batch size or, in registers, the whole row
  bool in_registers = false;   // the row stays in registers, so it is loaded once
  bool split = false;          // several blocks share a row, with one launch for each pass
  bool full_vectors =
      false;          // a row in registers has exactly vectors_per_thread vectors per thread, so none needs a guard
  bool tail = false;  // the row length is not a multiple of the vector width
  bool row_cache = false;  // elements that several passes read stay in shared memory (RowCache) if the GPU has enough
  friend bool operator==(const RowConfig&, const RowConfig&) = default;
};

/// The properties of a kernel that determine its schemes.
struct RowTraits {
  explicit RowTraits(const Kernel& kernel);
  RowTraits() = default;

  int passes = 1;                     // over a row that is in registers
  bool has_final_pass = false;        // if rows are not in registers; else every pass ends with a reduction
  int row_register_bytes = 4;         // registers per element of a row that is in registers, in bytes
  int streams = 1;                    // the most inputs that one pass reads
  int stream_registers = 1;           // their registers per element
  int live_registers = 4;             // registers per element for intermediate values
  bool calls_long_functions = false;  // they take many registers
  bool has_long_elements = false;     // it calls them for each element, not only for each row
  bool shares_rows = true;            // whether blocks may share rows in place: no block reads what another wrote
  std::vector<int> partial_bytes;     // size of a stage's partial results, by stage, if rows are in registers
  int loop_partial_bytes = 0;         // of all stages together, if rows are not in registers
  int loop_stages = 0;                // number of stages if rows are not in registers
  std::vector<bool> read_again;       // by input: whether several passes read it if rows are not in registers
  int row_cache_bytes = 0;            // bytes per column of these inputs

  std::size_t stages(const RowConfig& config) const noexcept {
    return config.in_registers ? partial_bytes.size() : static_cast<std::size_t>(loop_stages);
  }
};

/// The properties of an evaluation that determine the scheme.
struct RowSizes {
  std::int64_t rows = 1, columns = 1;
  int vector_width = 1;          // the widest vectors that all operands' layouts allow
  bool row_per_element = false;  // rows, not columns, are adjacent in memory
  bool strided = false;          // some input in memory is not adjacent along the vectors: addresses take registers
};

struct RowScheme {
  RowConfig config;
  int vector_width = 1;
  friend bool operator==(const RowScheme&, const RowScheme&) = default;
};

/// Chooses a scheme. All heuristics are here.
RowScheme choose_rows(const RowTraits& traits, const RowSizes& sizes) noexcept;

/// The launch of a scheme over a number of rows and columns.
struct RowGrid {
  unsigned block = 256;                // threads
  std::int64_t row_blocks = 1;         // each processed by one block, or by `splits` blocks
  std::int64_t splits = 1;             // blocks that share a row
  std::int64_t vectors_per_split = 0;  // of a row
};
RowGrid row_grid(const RowScheme& scheme, std::int64_t rows, std::int64_t columns) noexcept;

/// "32 threads of 256 for a row, which is kept in registers". `cached`: the row is kept in shared memory.
std::string describe(const RowScheme& scheme, const RowGrid& grid, bool cached = false);

/// For tests: overrides the result of choose_rows if the layout allows it, and the smallest size of a split in vectors;
/// `min_split` 0 ends the override.
struct RowOverride {
  RowConfig config;
  int vector_width = 1;  // at most
  std::int64_t min_split = 0;
};
void override_rows(const RowOverride& chosen) noexcept;
const RowConfig* overriding_rows() noexcept;  // null: there is none

}  // namespace sinter::inline v1::jit
