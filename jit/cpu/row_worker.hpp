// One thread's part of a run of a kernel that reduces.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <memory>
#include <new>

#include <sinter/runtime/buffer.hpp>
#include "row_boxes.hpp"
#include "row_parts.hpp"
#include "worker.hpp"

namespace sinter::inline v1::jit::cpu {

/// Memory that is reused by the next run.
class KeptMemory {
 public:
  /// At least this many bytes, uninitialized.
  std::byte* reserve(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      bytes_ = 0;
      memory_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64})));
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  struct Release {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t bytes_ = 0;
};

/// State that all threads of a run share.
struct RowJob {
  using Offsets = boost::container::small_vector<std::size_t, 16>;

  RowJob(const RowParts& parts, const LoopNest& nest, const Boxes& boxes, const std::uint64_t* scalars,
         SharedFaults& faults);

  /// Memory for the tiles that span boxes, of all boxes of some rows; null if there are none.
  runtime::Ref<runtime::Buffer> allocate_spans() const;
  /// Whether a reduction reads its leaf in place.
  static bool in_place(const LoopNest& nest, bool across, const RowReduction& r) noexcept;

  const RowParts& parts;
  const LoopNest& nest;
  const Boxes& boxes;
  const LoopTable& table;
  const std::uint64_t* scalars;
  SharedFaults& faults;
  std::int64_t columns;
  bool far;                           // the arrays do not fit the cache
  bool streams;                       // to the kernel's only output
  Offsets rows, tiles;                // where the values of one box lie
  std::size_t row_bytes, tile_bytes;  // of all of them
  std::size_t state_bytes;            // of the states of a stage's reductions
  std::size_t span_bytes;             // of one box's tiles that span boxes
};

/// The addresses of a box's values.
struct RowMemory {
  std::byte* rows;
  std::byte* states;
  std::byte* tiles;
  std::byte* spans;  // of all boxes of the rows
};

class RowWorker {
 public:
  /// Boxes of whole rows, or all boxes of rows that are split.
  void run_rows(const RowJob& job, std::int64_t first, std::int64_t last);
  /// The work before the boxes of a stage's rows, in `memory`, and after them.
  void begin_stage(const RowJob& job, std::size_t stage, const Box& box, RowMemory memory);
  /// Reduces one box of rows that are split, into its own states in `memory`.
  void run_box(const RowJob& job, std::size_t stage, const Box& box, RowMemory memory);
  void end_stage(const RowJob& job, std::size_t stage, const Box& box, RowMemory memory);
  void end_rows(const RowJob& job, const Box& box, RowMemory memory);
  void merge(const RowJob& job, std::size_t stage, const Box& box, std::byte* states, std::byte* later);
  /// Prepares the parts for such boxes.
  void prepare(const RowJob& job);
  /// Memory for rows and sets of states, which the thread that starts a run shares with others.
  RowMemory shared_memory(const RowJob& job, std::size_t sets);

 private:
  RowMemory own_memory(const RowJob& job);
  std::byte* tile(std::uint32_t number, const Box& box) const;
  void make_nest(const Part& part, const Box& box, bool over_rows, bool with_states = false);
  void run_part(const Part& part, const Box& box, bool over_rows, RunOptions options);
  const std::int64_t* bytes_ahead(const Part& pass, const Box& box, const Box* next);
  bool streams(const Part& part) const noexcept;
  std::byte* address_of(const OperandSource& place, const Box& box) const;
  void set_operand(std::size_t k, const OperandSource& place, const Box& box);
  void compute(std::size_t stage, const Box& box, bool far, const Box* next);
  bool run_pass(std::size_t stage, const Box& box, bool far, const Box* next);
  bool may_reduce(const Part& pass, const Box& box);
  void pick(const RowPick& p, const Box& box);
  double picked(const RowPick& p, std::int64_t row_offset, std::int64_t first_column, std::int64_t position) const;
  void start(std::size_t stage, const Box& box);
  void reduce_leaves(std::size_t stage, const Box& box);
  void reduce_tiles(std::size_t stage, const Box& box, bool in_pass);
  void reduce_tile(const RowReduction& r, ReduceStates states, const Box& box);
  void reduce_in_place(const RowReduction& r, ReduceStates states, const Box& box);
  void reduce_across(const RowReduction& r, ReduceStates states, const std::byte* from, std::int64_t n,
                     std::int64_t count, std::int64_t pitch, std::int64_t position);
  void finish(std::size_t stage, const Box& box);
  const Reducer& reducer(const RowReduction& r) const { return job_->table.reducers[r.op][r.dtype]; }
  ReduceStates states_of(std::byte* states, std::size_t reduction) const;

  const RowJob* job_ = nullptr;
  RowMemory memory_{};
  LoopNest nest_;  // of a part over a box
  boost::container::small_vector<std::int64_t, 8> ahead_;
  boost::container::small_vector<TileProgram::Reducing, 8> reducing_;  // by stage: Done until a box cannot be
  KeptMemory own_, shared_;
};

}  // namespace sinter::inline v1::jit::cpu
