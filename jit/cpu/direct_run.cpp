#include "direct_run.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::cpu {
namespace {

/// Loops do not write to it.
void* address(const std::uint64_t& word) noexcept { return const_cast<std::uint64_t*>(&word); }

}  // namespace

bool DirectRun::is_possible(const Job& job) noexcept {
  return !job.steps.direct.empty() && job.layout.panel == 1 &&
         std::ranges::all_of(job.steps.direct, [&](const DirectOperand& o) {
           return o.kind != DirectOperand::Kind::Array ||
                  (job.layout.accesses[o.number] != Access::Packed && job.nest.operands[o.number].data != nullptr);
         });
}

DirectRun::DirectRun(const Job& job) noexcept : job_(job), step_(job.steps.tiles[0]) {
  const int outer = job.layout.first_row_dim - 1;
  std::size_t k = 0;
  for (const DirectOperand& o : job.steps.direct) {
    steps_[k] = 0;
    if (o.kind == DirectOperand::Kind::Scalar)
      at_[k] = address(job.scalars[o.number]);
    else if (o.kind == DirectOperand::Kind::Constant)
      at_[k] = address(job.steps.constants[o.number]);
    else if (outer >= 0)
      steps_[k] = job.nest.operands[o.number].strides[outer] * o.size;
    ++k;
  }
}

void DirectRun::run(std::int64_t first, std::int64_t last) noexcept {
  const std::int64_t per_row = job_.tiles_in_row();
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

/// Elements [first, first + n) of rows that are equally far apart.
void DirectRun::run_rows(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t n) noexcept {
  std::size_t k = 0;
  for (const DirectOperand& o : job_.steps.direct) {
    if (o.kind == DirectOperand::Kind::Array) {
      const NestOperand& array = job_.nest.operands[o.number];
      const std::int64_t within = job_.layout.accesses[o.number] == Access::InPlace ? first : 0;
      at_[k] = array.data + (row_offset(job_.nest, job_.layout, array, row) + within) * o.size;
    }
    ++k;
  }
  call(rows, n);
}

void DirectRun::call(std::int64_t rows, std::int64_t n) noexcept {
  if (step_.chain != none) return job_.steps.chains[step_.chain].loop(at_, steps_, rows, n);
  const Loop loop = job_.table.groups[static_cast<int>(step_.group)][step_.row].forms[step_.form];
  const auto operand = [&](int k, std::int64_t row) { return static_cast<std::byte*>(at_[k]) + row * steps_[k]; };
  for (std::int64_t r = 0; r < rows; ++r) {
    const void* in[max_arity] = {};
    for (int k = 0; k < step_.arity; ++k) in[k] = operand(1 + k, r);
    loop(operand(0, r), in, n);
  }
}

}  // namespace sinter::inline v1::jit::cpu
