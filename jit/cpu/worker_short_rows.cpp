// Rows that consist of short ones: what each of these has one element of, and what they gather.
#include <cassert>
#include <cstring>

#include "pack.hpp"
#include "worker.hpp"

namespace sinter::inline v1::jit::cpu {

/// Memory for one element of each short row of a tile.
std::byte* Worker::take_short_rows(std::size_t size) {
  std::byte* const rows = memory_.get() + memory_used_;
  memory_used_ += (static_cast<std::size_t>(job_->tile / job_->layout.short_row) * size + 63) / 64 * 64;
  assert(memory_used_ <= memory_bytes_);
  return rows;
}

/// No less than bind_short_rows() and its inputs take.
std::size_t Worker::short_rows_bytes() const noexcept {
  const Steps& steps = job_->steps;
  const std::size_t values = steps.inputs.size() + steps.rows.size() + steps.runs.size();
  std::size_t bytes =
      values * (static_cast<std::size_t>(job_->tile / job_->layout.short_row) * sizeof(Word) + sizeof(Word) * 4);
  for (const ValueId v : steps.spread) bytes += tile_bytes(size_of(v));
  for (const Run& r : steps.runs) bytes += tile_bytes(size_of(r.value));
  return bytes;
}

void Worker::bind_short_rows() {
  for (const Step& s : job_->steps.rows) at_[s.out] = take_short_rows(size_of(s.out));
  for (const ValueId v : job_->steps.spread) at_[v] = take_tile(size_of(v));
  copied_runs_.clear();
  for (const Run& r : job_->steps.runs) {
    bind_short_row_input(none, job_->leaf_operand(r.leaf));
    copied_runs_.push_back({r.value, r.start, at_[r.array], short_row_inputs_.back().to});
    at_[r.value] = take_tile(size_of(r.value));
  }
}

void Worker::bind_short_row_input(ValueId v, std::uint32_t operand) {
  const NestOperand& o = job_->nest.operands[operand];
  const RowDims dims = dims_of_short_rows();
  const bool is_adjacent = o.data != nullptr && dims.end - dims.first == 1 && o.strides[dims.first] == 1;
  std::byte* const to = take_short_rows(v == none ? sizeof(std::int64_t) : size_of(v));
  if (v != none) at_[v] = to;
  short_row_inputs_.push_back({{v, operand, row_stride(operand), 0}, to, is_adjacent});
}

/// What the tile of elements [first, first + n), which are whole short rows, reads of them.
void Worker::compute_short_rows(std::int64_t first, std::int64_t n) {
  const std::int64_t length = job_->layout.short_row, row = first / length, rows = n / length;
  for (const auto& [i, to, is_adjacent] : short_row_inputs_) {
    const NestOperand& o = job_->nest.operands[i.operand];
    const std::size_t size = i.value == none ? sizeof(std::int64_t) : size_of(i.value);
    if (is_adjacent)
      at_[i.value] = o.data + (i.offset + row) * static_cast<std::int64_t>(size);
    else
      pack_operand(to, o, size, i.offset, dims_of_short_rows(), row, rows);
  }
  for (const Step& s : job_->steps.rows) call(s, rows);
  for (const CopiedRun& r : copied_runs_) copy_run(r, rows);
  for (const ValueId v : job_->steps.spread) repeat(at_[v], at_[job_->steps.values[v].number], size_of(v), length, n);
}

/// The elements that short rows gather, each row's in one piece.
void Worker::copy_run(const CopiedRun& r, std::int64_t rows) const {
  const std::size_t size = size_of(r.value), bytes = static_cast<std::size_t>(job_->layout.short_row) * size;
  const std::size_t step = job_->steps.values[r.start].level == Level::Once ? 0 : sizeof(std::int64_t);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    std::int64_t start, position;
    std::memcpy(&start, at_[r.start] + row * step, sizeof start);
    std::memcpy(&position, r.positions + row * sizeof position, sizeof position);
    const std::byte* const from = r.array + (start + position) * static_cast<std::int64_t>(size);
    std::memcpy(at_[r.value] + row * bytes, from, bytes);
  }
}

}  // namespace sinter::inline v1::jit::cpu
