// Rows that are merged into one: what each of them has one element of, and what they gather.
#include <cstring>

#include "pack.hpp"
#include "worker.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

/// Memory for one element of each of a tile's rows.
std::byte* Worker::take_rows(std::size_t size) {
  std::byte* const rows = memory_.get() + memory_used_;
  memory_used_ += whole_lines(static_cast<std::size_t>(job_->tile / job_->layout.merged) * size);
  return rows;
}

/// All that bind_merged_rows() takes.
std::size_t Worker::merged_rows_bytes() const noexcept {
  const Steps& steps = job_->steps;
  const auto rows = static_cast<std::size_t>(job_->tile / job_->layout.merged);
  std::size_t bytes = (steps.inputs.size() + steps.rows.size()) * whole_lines(rows * sizeof(Word));
  for (const ValueId v : steps.spread) bytes += tile_bytes(size_of(v));
  for (const Run& r : steps.runs) bytes += whole_lines(rows * sizeof(std::int64_t)) + tile_bytes(size_of(r.value));
  return bytes;
}

void Worker::bind_merged_rows() {
  for (const Input& i : merged_) at_[i.value] = take_rows(size_of(i.value));
  for (const Step& s : job_->steps.rows) at_[s.out] = take_rows(size_of(s.out));
  spread_.clear();
  for (const ValueId v : job_->steps.spread) {
    std::byte* const rows = at_[v];
    spread_.push_back({v, rows, take_tile(size_of(v))});
  }
  for (RunInput& r : runs_) {
    r.positions = reinterpret_cast<std::int64_t*>(take_rows(sizeof(std::int64_t)));
    at_[r.value] = r.tile = take_tile(size_of(r.value));
  }
}

/// Of the rows in a tile's elements [first, first + n).
void Worker::compute_merged_rows(std::int64_t first, std::int64_t n) {
  const std::int64_t row = first / job_->layout.merged, rows = n / job_->layout.merged;
  for (const SpreadValue& s : spread_) at_[s.value] = s.rows;
  for (const Input& i : merged_)
    pack_dims(at_[i.value], job_->nest.operands[i.operand], size_of(i.value), i.offset, dims_of_merged_rows(), row,
              rows);
  for (const Step& s : job_->steps.rows) call(s, rows);
  for (const RunInput& r : runs_) copy_run(r, row, rows);
  for (const SpreadValue& s : spread_) {
    repeat(s.tile, s.rows, size_of(s.value), job_->layout.merged, n);
    at_[s.value] = s.tile;
  }
}

/// The elements that rows gather, each in one piece.
void Worker::copy_run(const RunInput& r, std::int64_t first, std::int64_t rows) {
  const NestOperand& index = job_->nest.operands[r.leaf];
  const auto size = static_cast<std::int64_t>(size_of(r.value)), bytes = job_->layout.merged * size;
  pack_index(r.positions, r.position, job_->nest, dims_of_merged_rows(), index, first, rows);
  const std::int64_t step = job_->steps.values[r.start].level == Level::Once ? 0 : 1;
  const auto* starts = reinterpret_cast<const std::int64_t*>(at_[r.start]);
  for (std::int64_t i = 0; i < rows; ++i)
    std::memcpy(r.tile + i * bytes, r.array + (starts[i * step] + r.positions[i]) * size,
                static_cast<std::size_t>(bytes));
}

}  // namespace sinter::inline v1::jit::cpu
