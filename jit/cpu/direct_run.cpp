#include "direct_run.hpp"

#include <algorithm>

#include <runtime/own_lines.hpp>
#include <runtime/per_thread.hpp>
#include "pack.hpp"
#include "streaming.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

/// Loops do not write to it.
void* address(const std::uint64_t& word) noexcept { return const_cast<std::uint64_t*>(&word); }

bool is_in_panel(const LoopNest& nest, const TileLayout& layout, const DirectOperand& o) noexcept {
  return layout.panel > 1 && static_cast<int>(o.number) >= nest.outputs &&
         layout.accesses[o.number] == Access::Packed && is_transposed(nest, layout, nest.operands[o.number]);
}

/// A thread's memory for panels.
struct PanelMemory {
  runtime::OwnVector<std::byte> bytes;
};

}  // namespace

bool DirectRun::is_possible(const Steps& steps, const LoopNest& nest, const TileLayout& layout) noexcept {
  if (steps.direct.empty()) return false;
  if (layout.leaves.every_second != 0 && steps.tiles[0].chain == none) return false;  // the library's loop takes tiles
  return layout.is_in_place || std::ranges::all_of(steps.direct, [&](const DirectOperand& o) {
           if (o.kind != DirectOperand::Kind::Array) return true;
           if (nest.operands[o.number].data == nullptr) return false;
           return layout.accesses[o.number] < Access::Repeated || is_in_panel(nest, layout, o);
         });
}

DirectRun::DirectRun(const Job& job)
    : job_(job),
      step_(job.steps.tiles[0]),
      streams_(job.options.streams &&
               job.layout.row * job.steps.values[job.steps.outputs[0]].size >= shortest_streamed_row),
      ahead_(job.layout.panel > 1 ? nullptr : job.options.ahead) {
  const int outer = job.layout.first_row_dim - 1;
  void** at = at_;
  std::int64_t* step = steps_;
  for (const DirectOperand& o : job.steps.direct) {
    *step = 0;
    if (o.kind == DirectOperand::Kind::Array) {
      const NestOperand& array = job.nest.operands[o.number];
      *at = array.data;
      if (outer >= 0) *step = array.strides[outer] * o.size;
    } else {
      *at = address(o.kind == DirectOperand::Kind::Scalar ? job.scalars[o.number] : job.steps.constants[o.number]);
    }
    ++at, ++step;
  }
  if (job.layout.panel > 1) make_panels();
}

/// Each row starts on a cache line, and an odd number of them keeps rows from sharing the same sets of the cache.
void DirectRun::make_panels() {
  constexpr std::size_t line = 64;
  std::size_t needed = line;
  const std::vector<DirectOperand>& operands = job_.steps.direct;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (operands[k].kind == DirectOperand::Kind::Array && is_in_panel(job_.nest, job_.layout, operands[k])) {
      steps_[k] =
          static_cast<std::int64_t>((static_cast<std::size_t>(job_.tile) * operands[k].size / line | 1) + 2) * line;
      needed += static_cast<std::size_t>(steps_[k] * job_.layout.panel);
      panels_.push_back({k, steps_[k] / operands[k].size});
    }
  runtime::OwnVector<std::byte>& memory = runtime::per_thread<PanelMemory>().bytes;
  if (memory.size() < needed) memory.resize(needed);
  auto at = (reinterpret_cast<std::uintptr_t>(memory.data()) + line - 1) / line * line;
  for (const Panel& p : panels_) {
    at_[p.position] = reinterpret_cast<void*>(at);
    at += static_cast<std::uintptr_t>(steps_[p.position] * job_.layout.panel);
  }
}

void DirectRun::run(std::int64_t first, std::int64_t last) noexcept {
  const std::int64_t per_row = job_.tiles_in_row();
  if (job_.layout.panel > 1) {
    for (std::int64_t tile = first; tile < last; ++tile) {
      const std::int64_t at = tile % per_row * job_.tile;
      run_panel(tile / per_row * job_.layout.panel, at, std::min(job_.tile, job_.layout.row - at));
    }
    return;
  }
  for (std::int64_t tile = first; tile < last;) {
    const std::int64_t row = tile / per_row;
    if (per_row == 1) {
      const std::int64_t rows = rows_together(job_, row, last);
      run_rows(row, rows, 0, job_.layout.row);
      tile += rows;
    } else {
      const std::int64_t end = std::min(last, (row + 1) * per_row), at = (tile - row * per_row) * job_.tile;
      run_rows(row, 1, at, std::min((end - tile) * job_.tile, job_.layout.row - at));
      tile = end;
    }
  }
}

/// Elements [first, first + n) of a panel's rows. Only rows of the innermost of the outer dims are equally far apart.
void DirectRun::run_panel(std::int64_t first_row, std::int64_t first, std::int64_t n) noexcept {
  const LoopNest& nest = job_.nest;
  const int outer = job_.layout.first_row_dim - 1;
  const std::int64_t end = std::min(first_row + job_.layout.panel, job_.layout.rows);
  for (std::int64_t row = first_row; row < end;) {
    const std::int64_t rows = rows_together(job_, row, end);
    for (const Panel& p : panels_) {
      const DirectOperand& o = job_.steps.direct[p.position];
      const NestOperand& array = nest.operands[o.number];
      const std::int64_t from = row_offset(nest, job_.layout, array, row) + first * array.strides[outer + 1];
      pack_panel(at_[p.position], p.pitch, array.data + from * o.size, o.size, rows, array.strides[outer],
                 array.strides[outer + 1], n);
    }
    run_rows(row, rows, first, n);
    row += rows;
  }
}

/// Elements [first, first + n) of rows that are equally far apart.
void DirectRun::run_rows(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t n) noexcept {
  if (row > 0 || first > 0) move_to(row, first);  // a run begins at the arrays' first elements
  call(rows, n);
}

void DirectRun::move_to(std::int64_t row, std::int64_t first) noexcept {
  std::size_t k = 0;
  for (const DirectOperand& o : job_.steps.direct) {
    if (o.kind == DirectOperand::Kind::Array && !is_in_panel(job_.nest, job_.layout, o)) {
      const NestOperand& array = job_.nest.operands[o.number];
      const Access access = job_.layout.accesses[o.number];
      const std::int64_t within = access == Access::InPlace ? first : access == Access::EverySecond ? 2 * first : 0;
      at_[k] = array.data + (row_offset(job_.nest, job_.layout, array, row) + within) * o.size;
    }
    ++k;
  }
}

void DirectRun::call(std::int64_t rows, std::int64_t n) noexcept {
  if (step_.chain != none) return job_.steps.chains[step_.chain].loop(at_, steps_, rows, n, streams_, ahead_);
  const Loop loop = job_.table.groups[static_cast<int>(step_.group)][step_.row].forms[step_.form];
  const auto operand = [&](int k, std::int64_t row) { return static_cast<std::byte*>(at_[k]) + row * steps_[k]; };
  for (std::int64_t r = 0; r < rows; ++r) {
    const void* in[max_arity] = {};
    for (int k = 0; k < step_.arity; ++k) in[k] = operand(1 + k, r);
    loop(operand(0, r), in, n);
  }
}

}  // namespace sinter::inline v1::jit::cpu
