#include "row_program.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <runtime/per_thread.hpp>
#include <runtime/tbb_guard.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "row_worker.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t max_waiting = 128;  // boxes

/// What rows that are split keep, in the order of preference, and for how many bytes of a thread.
struct SplitRows {
  Keeps keeps;
  std::int64_t most;
};
constexpr SplitRows split_rows[] = {
    {Keeps::InCachedSpans, 1536 << 10}, {Keeps::InSpans, 64 << 20}, {Keeps::Nowhere, 0}};

std::int64_t threads_now() { return tbb::this_task_arena::max_concurrency(); }

/// Calls f(first, last) for parts of [0, count), on several threads. Isolated: while this thread waits, it must not run
/// tasks of the caller, which may hold a lock.
template <class F>
void share(std::int64_t count, std::int64_t parts, F f) {
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, parts), [&](const tbb::blocked_range<std::int64_t>& part) {
      const runtime::DefaultFloatEnvironment floats;
      f(part.begin() * count / parts, part.end() * count / parts);
    });
  });
}

/// Rows that are split, one tile of rows after the other: all threads work on one stage's boxes, whose states are kept
/// until they are merged in order.
void run_cut_rows(const RowJob& job, std::int64_t parts) {
  const runtime::DefaultFloatEnvironment floats;
  const std::int64_t boxes = job.boxes.column_tiles, sets = std::min(boxes, max_waiting);
  RowWorker& mine = runtime::per_thread<RowWorker>();
  RowMemory memory = mine.shared_memory(job, static_cast<std::size_t>(sets) + 1);
  const auto spans = job.allocate_spans();
  if (spans) memory.spans = spans->data();
  const auto states = [&](std::int64_t set) {
    return memory.states + static_cast<std::size_t>(set + 1) * job.state_bytes;
  };
  for (std::int64_t tile = 0; tile < job.boxes.row_tiles; ++tile) {
    const Box rows = job.boxes.at(tile, 0);
    for (std::size_t s = 0; s < job.parts.stages.size(); ++s) {
      mine.begin_stage(job, s, rows, memory);
      for (std::int64_t done = 0; done < boxes; done += sets) {
        const std::int64_t count = std::min(sets, boxes - done);
        share(count, std::min(count, parts), [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t c = first; c < last; ++c)
            runtime::per_thread<RowWorker>().run_box(job, s, job.boxes.at(tile, done + c),
                                                     {memory.rows, states(c), nullptr, memory.spans});
        });
        for (std::int64_t c = 0; c < count; ++c) mine.merge(job, s, rows, memory.states, states(c));
      }
      mine.end_stage(job, s, rows, memory);
    }
    mine.end_rows(job, rows, memory);
  }
}

}  // namespace

struct RowProgram::Impl {
  explicit Impl(const Kernel& kernel) : whole(kernel, Keeps::InBoxes) {
    for (const SplitRows& rows : split_rows) {
      if (!whole.uses_kept || (!split.empty() && split.back().span_bytes == 0)) break;
      split.emplace_back(kernel, rows.keeps);
    }
    for (const AxisMapping o : kernel.rows->axis_mapping) axis_mapping.push_back(o);
  }

  /// Depends on sizes alone, so that sums do, too.
  const RowParts& parts_for(const Boxes& boxes) const {
    if (boxes.whole || split.empty()) return whole;
    std::size_t k = 0;
    while (boxes.columns * boxes.rows_in_tile * split[k].span_bytes > split_rows[k].most) ++k;
    return split[k];
  }

  Boxes boxes_for(const LoopNest& nest) const {
    boost::container::small_vector<std::uint8_t, 16> sizes;
    domain_sizes(nest, sizes);
    const bool across = lies_across(nest, sizes.data());
    bool in_place = true;
    std::int64_t bytes = whole.kept_bytes;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (varies_both_ways(nest, nest.operands[k])) bytes += sizes[k];
    for (const Stage& s : whole.stages) {
      in_place = in_place && !s.pass;
      for (const RowReduction& r : s.reductions) {
        if (RowJob::in_place(nest, across, r)) continue;
        in_place = false;
        bytes += whole.tile_sizes[r.tile];
      }
    }
    const bool one_pass = whole.stages.size() <= 2 && !whole.stages.back().pass;
    return Boxes(nest, {std::max<std::int64_t>(bytes, 1), in_place, one_pass}, across);
  }

  /// Only operands over the domain determine the rows' layout.
  void domain_sizes(const LoopNest& nest, boost::container::small_vector<std::uint8_t, 16>& sizes) const {
    sizes.resize(nest.operands.size());
    for (const Stage& s : whole.stages) {
      const auto add = [&](const OperandSource& p) {
        if (p.kind == OperandSource::Kind::Operand && axis_mapping[p.number] == AxisMapping::Domain)
          sizes[p.number] = p.size;
      };
      if (s.pass) std::ranges::for_each(s.pass->operands, add);
      for (const RowReduction& r : s.reductions)
        if (r.leaf) add({OperandSource::Kind::Operand, *r.leaf, whole.tile_sizes[r.tile]});
    }
  }
  /// Whether the operand's elements differ both between rows and within a row.
  static bool varies_both_ways(const LoopNest& nest, const NestOperand& o) noexcept {
    const auto moves = [&](int d) { return o.strides[d] != 0; };
    const int rows = nest.row_dims();
    bool by_row = nest.numel == nest.extents[nest.ndim - 1], by_column = false;
    for (int d = 0; d < nest.ndim; ++d) (d < rows ? by_row : by_column) |= moves(d);
    return o.data != nullptr && by_row && by_column;
  }

  const RowParts whole;
  std::vector<RowParts> split;  // for rows that are split, in the order of split_rows: the last one keeps nothing
  std::vector<AxisMapping> axis_mapping;
};

RowProgram::RowProgram(const Kernel& kernel) : impl_(new Impl(kernel)) {}
RowProgram::RowProgram(RowProgram&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
RowProgram::~RowProgram() { delete impl_; }

bool RowProgram::is_compiled() const noexcept {
  const auto is_compiled = [](const auto& part) { return part && part->program.is_compiled(); };
  const auto any_of = [&](const RowParts& parts) {
    return is_compiled(parts.rows_after) || std::ranges::any_of(parts.stages, [&](const Stage& s) {
             return is_compiled(s.rows) || is_compiled(s.pass);
           });
  };
  return any_of(impl_->whole) || std::ranges::any_of(impl_->split, any_of);
}

void RowProgram::prepare(const LoopNest& nest) const {
  const Boxes boxes = impl_->boxes_for(nest);
  if (boxes.rows == 0) return;
  SharedFaults faults;
  const RowJob job(impl_->parts_for(boxes), nest, boxes, nullptr, faults);
  runtime::per_thread<RowWorker>().prepare(job);
}

RunFaults RowProgram::run(const LoopNest& nest, std::span<const std::uint64_t> scalars) const {
  const Boxes boxes = impl_->boxes_for(nest);
  if (boxes.rows == 0) return {};
  SharedFaults faults;
  const RowParts& parts = impl_->parts_for(boxes);
  const RowJob job(parts, nest, boxes, scalars.data(), faults);
  const double work = static_cast<double>(nest.numel) * parts.nanoseconds;
  const auto tasks = static_cast<std::int64_t>(work / chunk_ns);
  const bool several = boxes.row_tiles > 1 || (!boxes.whole && boxes.column_tiles > 1);
  const bool shared = work >= worth_threads_ns && several && runtime::claim_tbb() && threads_now() > 1;
  if (!shared) {
    const runtime::DefaultFloatEnvironment floats;
    runtime::per_thread<RowWorker>().run_rows(job, 0, boxes.row_tiles);
  } else if (const std::int64_t most = std::min(tasks, 8 * threads_now()); boxes.whole || boxes.row_tiles >= most) {
    share(boxes.row_tiles, std::min(boxes.row_tiles, most),
          [&](std::int64_t first, std::int64_t last) { runtime::per_thread<RowWorker>().run_rows(job, first, last); });
  } else {
    run_cut_rows(job, most);
  }
  return faults.met();
}

}  // namespace sinter::inline v1::jit::cpu
