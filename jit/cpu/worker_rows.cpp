// A worker's iteration over rows.
#include <algorithm>
#include <cstring>

#include "pack.hpp"
#include "worker.hpp"

namespace sinter::inline v1::jit::cpu {

/// Calls f(count) for groups of `count` rows that are equally far apart, after setting up a group's first row.
template <class F>
void Worker::for_batches(std::int64_t row, std::int64_t count, std::int64_t first, F f) {
  for (const std::int64_t end = row + count; row < end;) {
    const std::int64_t batch = std::min(end - row, row_batch_);
    start_rows(row, batch, first);
    f(batch);
    row += batch;
  }
}

/// Rows of one tile each.
void Worker::run_rows(std::int64_t first, std::int64_t last) {
  const bool one_step = is_one_step();
  const std::int64_t n = job_->layout.row;
  for (std::int64_t row = first; row < last;) {
    const std::int64_t count = rows_together(*job_, row, last);
    for_batches(row, count, 0, [&](std::int64_t batch) {
      if (one_step) return call_rows(job_->steps.tiles[0], n, batch);
      for (std::int64_t r = 0; r < batch; ++r) {
        if (r > 0) next_row();
        run_tile(0, n);
      }
    });
    row += count;
  }
}

/// Whether the run is a single step that reads and writes the arrays themselves.
bool Worker::is_one_step() const {
  if (job_->layout.rows == 1 || job_->steps.tiles.size() != 1) return false;
  const Step& only = job_->steps.tiles[0];
  return only.check == Check::None && only.group != Group::Functions && packed_.empty() && runs_.empty() &&
         !has_short_rows() &&
         std::ranges::all_of(outputs_, [](const Output& o) { return o.kind == Output::Kind::Direct; });
}

/// The increment that next_row() adds to the value's address.
std::int64_t Worker::step_of(ValueId v) const {
  for (const Input& i : in_place_)
    if (i.value == v) return i.step;
  for (const RowValue& r : row_values_)
    if (r.value == v) return static_cast<std::int64_t>(size_of(v));
  for (const Output& o : outputs_)
    if (o.value == v) return o.step;
  return 0;
}

/// One step for many rows: each costs a call, and an addition for each operand.
void Worker::call_rows(const Step& s, std::int64_t n, std::int64_t rows) {
  if (s.chain != none) return call_chain_rows(s, n, rows);
  const Loop loop = job_->table.groups[static_cast<int>(s.group)][s.row].forms[s.form];
  const std::byte* in[3] = {};
  std::int64_t steps[3] = {};
  for (int k = 0; k < s.arity; ++k) in[k] = at_[s.in[k]], steps[k] = step_of(s.in[k]);
  std::byte* out = at_[s.out];
  const std::int64_t out_step = step_of(s.out);
  for (std::int64_t r = 0;;) {
    const void* const operands[] = {in[0], in[1], in[2]};
    loop(out, operands, n);
    if (++r == rows) return;
    out += out_step;
    for (int k = 0; k < 3; ++k) in[k] += steps[k];
  }
}

void Worker::call_chain_rows(const Step& s, std::int64_t n, std::int64_t rows) {
  const Chain& chain = job_->steps.chains[s.chain];
  std::int64_t steps[chain_operands];
  for (std::size_t k = 0; k < chain.operands.size(); ++k) steps[k] = step_of(chain.operands[k]);
  place_operands(chain);
  if (chain.loop) return chain.loop(reinterpret_cast<void* const*>(chain_operands_), steps, rows, n, false, nullptr);
  for (std::int64_t r = 0; r < rows; ++r) {
    run_chain(s, n);
    for (std::size_t k = 0; k < chain.operands.size(); ++k) chain_operands_[k] += static_cast<std::uintptr_t>(steps[k]);
  }
}

/// Sets up the first of the rows.
void Worker::start_rows(std::int64_t row, std::int64_t count, std::int64_t first) {
  for (const Input& i : in_place_) at_[i.value] = place(i.operand, size_of(i.value), row, first);
  for (Input& i : packed_) i.offset = element(i.operand, row);
  for (ShortRowInput& i : short_row_inputs_) i.input.offset = element(i.input.operand, row);
  if (!row_values_.empty()) compute_row_values(row, count);
  for (RunInput& r : runs_) r.position = job_->nest.operands[r.leaf].first + element(r.leaf, row) + first;
  place_runs();
  for (std::uint32_t k = 0; k < outputs_.size(); ++k) {
    Output& o = outputs_[k];
    o.to = place(k, size_of(o.value), row, first);
    if (o.kind == Output::Kind::Direct) at_[o.value] = o.to;
  }
  if (fills_) fill_tiles();
}

/// Packs leaves that are not contiguous, then each step computes all rows' values at once.
void Worker::compute_row_values(std::int64_t row, std::int64_t count) {
  for (const RowValue& v : row_values_) {
    at_[v.value] = v.values;
    if (v.operand == none) continue;
    const std::size_t size = size_of(v.value);
    std::byte* const from = place(v.operand, size, row, 0);
    const std::int64_t stride = row_stride(v.operand);
    if (stride == 1)
      at_[v.value] = from;
    else
      pack_panel(v.values, 1, from, size, count, stride, 0, 1);
  }
  for (const Step& s : job_->steps.rows) call(s, count);
}

void Worker::next_row() {
  for (const Input& i : in_place_) at_[i.value] += i.step;
  for (Input& i : packed_) i.offset += i.step;
  for (ShortRowInput& i : short_row_inputs_) i.input.offset += i.input.step;
  for (const RowValue& v : row_values_) at_[v.value] += size_of(v.value);
  for (RunInput& r : runs_) r.position += r.step;
  place_runs();
  for (Output& o : outputs_) {
    o.to += o.step;
    if (o.kind == Output::Kind::Direct) at_[o.value] = o.to;
  }
  if (fills_) fill_tiles();
}

/// Sets the address of each run in the row that begins; its start is known.
void Worker::place_runs() {
  for (const RunInput& r : runs_) {
    std::int64_t start;
    std::memcpy(&start, at_[r.start], sizeof start);
    at_[r.value] = const_cast<std::byte*>(r.array) + (start + r.position) * static_cast<std::int64_t>(size_of(r.value));
  }
}

void Worker::fill_tiles() {
  for (const Output& o : outputs_)
    if (o.kind == Output::Kind::FillUnpack) copy(at_[o.value], o.tile, size_of(o.value), 1, job_->tile);
}

/// One tile of each row of a panel. Packs rows together only within the innermost of the outer dims, where they are
/// equally far apart.
void Worker::run_panel(std::int64_t first_row, std::int64_t first, std::int64_t n) {
  const LoopNest& nest = job_->nest;
  const int outer = job_->layout.first_row_dim - 1;
  const std::int64_t end = std::min(first_row + job_->layout.panel, job_->layout.rows);
  for (std::int64_t row = first_row; row < end;) {
    const std::int64_t rows = rows_together(*job_, row, end);
    for (std::size_t k = 0; k < transposed_.size(); ++k) {
      const std::uint32_t operand = transposed_[k].operand;
      const std::size_t size = job_->steps.values[transposed_[k].value].size;
      const std::int64_t *const strides = nest.operands[operand].strides, stride = strides[outer + 1];
      const std::byte* const from = place(operand, size, row, 0) + first * stride * static_cast<std::int64_t>(size);
      const auto pitch = static_cast<std::int64_t>(tile_bytes(size) / size);
      pack_panel(panels_[k], pitch, from, size, rows, strides[outer], stride, n);
    }
    std::size_t in_panel = 0;
    for_batches(row, rows, first, [&](std::int64_t batch) {
      for (std::int64_t r = 0; r < batch; ++r, ++in_panel) {
        if (r > 0) next_row();
        for (std::size_t k = 0; k < transposed_.size(); ++k) {
          const ValueId v = transposed_[k].value;
          at_[v] = panels_[k] + in_panel * tile_bytes(size_of(v));
        }
        run_tile(first, n);
      }
    });
    row += rows;
  }
}

}  // namespace sinter::inline v1::jit::cpu
