// One thread's part of a run: its tiles, and the current address of every value.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <runtime/own_lines.hpp>
#include "../plan/faults.hpp"
#include "layout.hpp"
#include "pack.hpp"
#include "steps.hpp"
#include "tile_program.hpp"

namespace sinter::inline v1::jit::cpu {

inline constexpr double worth_threads_ns = 40'000;   // less work than this runs on one thread
inline constexpr double chunk_ns = 15'000;           // the least work of a task
inline constexpr std::int64_t fits_cache = 1 << 20;  // bytes; runs with larger arrays prefetch

/// The faults that threads found. The first thread to set `index_out_of_range` writes the numbers.
struct SharedFaults {
  std::atomic<bool> division_by_zero{false}, index_out_of_range{false};
  std::int64_t value = 0, extent = 0;

  RunFaults met() const noexcept {
    return {{division_by_zero.load(std::memory_order_relaxed), index_out_of_range.load(std::memory_order_relaxed)},
            value,
            extent};
  }
};

/// State that all threads of a run share.
struct Job {
  const Steps& steps;
  const LoopNest& nest;
  const TileLayout& layout;
  const LoopTable& table;
  const std::uint64_t* scalars;
  std::int64_t tile;  // elements
  RunOptions options;
  SharedFaults& faults;

  /// Tiles in a row. A run's tiles are numbered row after row, or panel after panel.
  std::int64_t tiles_in_row() const noexcept { return layout.row == tile ? 1 : (layout.row + tile - 1) / tile; }
  std::int64_t tiles() const noexcept { return panels() * tiles_in_row(); }
  std::int64_t panels() const noexcept {
    return layout.panel == 1 ? layout.rows : (layout.rows + layout.panel - 1) / layout.panel;
  }
  std::uint32_t operand_of(const Value& input) const noexcept { return leaf_operand(input.number); }
  std::uint32_t leaf_operand(std::uint32_t leaf) const noexcept {
    return static_cast<std::uint32_t>(nest.outputs) + leaf;
  }
};

/// Rows from `row` on, before `end`, that are equally far apart.
inline std::int64_t rows_together(const Job& job, std::int64_t row, std::int64_t end) noexcept {
  if (job.layout.first_row_dim == 0) return 1;
  const std::int64_t extent = job.nest.extents[job.layout.first_row_dim - 1];
  return std::min(end - row, row < extent ? extent - row : extent - row % extent);
}

class Worker {
 public:
  /// Computes the tiles [first, last).
  void run(const Job& job, std::int64_t first, std::int64_t last);

 private:
  struct Input {
    ValueId value;
    std::uint32_t operand;
    std::int64_t step;    // from row to row: bytes; elements where it is packed
    std::int64_t offset;  // elements to the row's first, where it is packed
  };
  /// An operand with one element for each short row.
  struct ShortRowInput {
    Input input;       // its value is none for the leaf of a CopiedRun
    std::byte* to;     // where a tile's are packed
    bool is_adjacent;  // in memory, so they are read in place
  };
  /// A Run's array, and how many elements from the run's start in this row the leaf's positions begin.
  struct RunInput {
    ValueId value, start;
    const std::byte* array;
    std::uint32_t leaf;
    std::int64_t position;
    std::int64_t step;  // of it, from row to row
  };
  /// A Run of short rows, whose elements are copied to a tile.
  struct CopiedRun {
    ValueId value, start;
    const std::byte* array;
    const std::byte* positions;  // the leaf's first one in each short row: int64
  };
  /// A value with one element for each row: a leaf or a result.
  struct RowValue {
    ValueId value;
    std::uint32_t operand;  // of a leaf
    std::byte* values;      // of the rows that are processed together
  };
  struct Output {
    enum class Kind : std::uint8_t { Direct, Copy, Fill, Unpack, FillUnpack } kind;
    ValueId value;
    std::byte* to;          // the output's elements of this tile; of the row where it is unpacked
    std::byte* tile;        // to which a uniform value is broadcast before it is unpacked
    std::int64_t step = 0;  // of `to`, from row to row: bytes
  };

  void bind(const Job& job);
  void bind_values();
  void bind_inputs();
  std::byte* same_for_all(ValueId v, const NestOperand& operand);
  std::byte* packed_once(ValueId v, std::uint32_t operand);
  void bind_row_values();
  void bind_short_rows();
  void bind_short_row_input(ValueId v, std::uint32_t operand);
  void bind_outputs();
  Output bind_output(std::uint32_t k) const;
  void reserve_memory();
  std::byte* take_tile(std::size_t size);
  std::size_t tile_bytes(std::size_t size) const noexcept;
  std::byte* take_short_rows(std::size_t size);
  std::size_t short_rows_bytes() const noexcept;

  template <class F>
  void for_batches(std::int64_t row, std::int64_t count, std::int64_t first, F f);
  void run_rows(std::int64_t first, std::int64_t last);
  bool is_one_step() const;
  std::int64_t step_of(ValueId v) const;
  void call_rows(const Step& step, std::int64_t n, std::int64_t rows);
  void call_chain_rows(const Step& step, std::int64_t n, std::int64_t rows);
  void start_rows(std::int64_t row, std::int64_t count, std::int64_t first);
  void compute_row_values(std::int64_t row, std::int64_t count);
  void next_row();
  void place_runs();
  void compute_short_rows(std::int64_t first, std::int64_t n);
  void copy_run(const CopiedRun& run, std::int64_t rows) const;
  void fill_tiles();
  void run_tile(std::int64_t first, std::int64_t n);
  void next_tile();
  void run_panel(std::int64_t first_row, std::int64_t first, std::int64_t n);
  void pack_operand(std::byte* to, const NestOperand& operand, std::size_t size, std::int64_t offset, RowDims dims,
                    std::int64_t first, std::int64_t n) const;
  RowDims dims_of_row() const noexcept { return {job_->layout.first_row_dim, job_->nest.ndim}; }
  /// The dims over which a row's short rows are numbered.
  RowDims dims_of_short_rows() const noexcept { return {job_->layout.first_row_dim, job_->layout.short_row_dim}; }
  bool has_short_rows() const noexcept { return job_->layout.leaves.per_short_row; }
  void pack_inputs(std::int64_t first, std::int64_t n);
  void write_output(std::uint32_t k, std::int64_t first, std::int64_t n);
  void call(const Step& step, std::int64_t n);
  void call_function(const Step& step, std::int64_t n);
  void check(const Step& step, std::int64_t n) const;
  void check_divisor(const Step& step, std::int64_t n) const;
  void check_positions(const Step& step, std::int64_t n) const;
  void report_position(Check check, const std::int64_t* positions, std::int64_t count, std::int64_t extent) const;
  void call_chain(const Step& step, std::int64_t n);
  void place_operands(const Chain& chain);
  void run_chain(const Step& step, std::int64_t n);
  bool needs_tile(const Output& output) const;
  void copy(const void* from, void* to, std::size_t size, int form, std::int64_t n) const;
  /// From row to row within the innermost of the outer dims, in elements.
  std::int64_t row_stride(std::uint32_t operand) const noexcept {
    return job_->layout.first_row_dim == 0 ? 0 : job_->nest.operands[operand].strides[job_->layout.first_row_dim - 1];
  }
  /// Offset of a row's first element.
  std::int64_t element(std::uint32_t operand, std::int64_t row) const noexcept {
    return job_->layout.first_row_dim == 0 ? 0
                                           : row_offset(job_->nest, job_->layout, job_->nest.operands[operand], row);
  }
  std::size_t size_of(ValueId v) const noexcept { return job_->steps.values[v].size; }
  /// The operand's element `first` of a row; its row's first element if it is not contiguous.
  std::byte* place(std::uint32_t operand, std::size_t size, std::int64_t row, std::int64_t first) const {
    const std::int64_t offset = element(operand, row) + (job_->layout.accesses[operand] == Access::InPlace ? first : 0);
    return job_->nest.operands[operand].data + offset * static_cast<std::int64_t>(size);
  }

  const Job* job_ = nullptr;
  runtime::OwnVector<std::byte*> at_;  // where each value's elements are
  struct alignas(16) Word {            // as large as the largest element
    std::uint64_t bits[2];
  };
  runtime::OwnVector<Word> words_;  // uniform results
  runtime::OwnVector<std::byte*> slots_;
  runtime::OwnVector<Input> in_place_, packed_, transposed_;
  runtime::OwnVector<ShortRowInput> short_row_inputs_;
  runtime::OwnVector<RunInput> runs_;
  runtime::OwnVector<CopiedRun> copied_runs_;
  runtime::OwnVector<RowValue> row_values_;
  std::int64_t row_batch_ = 0;             // rows whose values are computed at once
  runtime::OwnVector<std::byte*> panels_;  // of the transposed inputs
  runtime::OwnVector<Output> outputs_;
  bool fills_ = false;  // whether an output is FillUnpack
  std::uintptr_t chain_operands_[chain_operands] = {};
  std::byte* chain_blocks_ = nullptr;

  struct Release {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t memory_bytes_ = 0, memory_used_ = 0;
};

}  // namespace sinter::inline v1::jit::cpu
