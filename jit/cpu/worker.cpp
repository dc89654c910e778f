#include "worker.hpp"

#include <algorithm>

#include "pack.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

/// Loops read through pointers to const alone; values are kept as the pointers that may also be written through.
std::byte* bytes(const std::uint64_t* word) { return reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(word)); }

/// So many rows that their values are a small part of the first cache; whole lines of it.
std::int64_t rows_at_once(std::size_t values) {
  return std::clamp<std::int64_t>(1024 / static_cast<std::int64_t>(values) / 8 * 8, 8, 64);
}

}  // namespace

void Worker::run(const Job& job, std::int64_t first, std::int64_t last) {
  bind(job);
  const std::int64_t per_row = job.tiles_in_row();
  if (job.layout.panel > 1) {
    for (std::int64_t tile = first; tile < last; ++tile) {
      const std::int64_t at = tile % per_row * job.tile;
      run_panel(tile / per_row * job.layout.panel, at, std::min(job.tile, job.layout.row - at));
    }
    return;
  }
  if (per_row == 1) return run_rows(first, last);
  for (std::int64_t tile = first; tile < last;) {
    const std::int64_t row = tile / per_row, row_end = std::min(last, (row + 1) * per_row);
    std::int64_t at = (tile - row * per_row) * job.tile;
    start_rows(row, 1, at);
    for (; tile < row_end; ++tile, at += job.tile) {
      run_tile(at, std::min(job.tile, job.layout.row - at));
      if (tile + 1 < row_end) next_tile();
    }
  }
}

void Worker::bind(const Job& job) {
  job_ = &job;
  reserve_memory();
  bind_values();
  bind_inputs();
  bind_row_values();
  for (const Step& s : job.steps.once) call(s, 1);
  bind_outputs();
}

/// Every tile starts on a cache line, and an odd number of them keeps tiles from sharing the same sets of the cache.
std::size_t Worker::tile_bytes(std::size_t size) const noexcept {
  return (static_cast<std::size_t>(job_->tile) * size + 63) / 64 * 64 + 64;
}

/// Room for every tile that this run can need: the slots, packed inputs, outputs on their way.
void Worker::reserve_memory() {
  const Steps& steps = job_->steps;
  std::size_t needed = steps.chain_blocks * std::size_t{largest_block};
  for (const std::uint8_t size : steps.slots) needed += tile_bytes(size);
  std::size_t row_values = steps.rows.size();
  for (const ValueId v : steps.inputs) {
    const Walk walk = job_->layout.walks[job_->operand_of(steps.values[v])];
    row_values += walk == Walk::RowSame;
    if (walk == Walk::Packed)
      needed += static_cast<std::size_t>(job_->layout.panel) * tile_bytes(steps.values[v].size);
  }
  row_batch_ = row_values == 0 ? job_->layout.rows : rows_at_once(row_values);
  if (row_values > 0) needed += row_values * static_cast<std::size_t>(row_batch_) * sizeof(std::uint64_t);
  for (const ValueId v : steps.outputs) needed += tile_bytes(steps.values[v].size);
  if (needed > memory_bytes_) {
    memory_.reset();
    memory_bytes_ = 0;
    memory_.reset(static_cast<std::byte*>(::operator new(needed, std::align_val_t{64})));
    memory_bytes_ = needed;
  }
  memory_used_ = 0;
}

std::byte* Worker::take_tile(std::size_t size) {
  std::byte* const tile = memory_.get() + memory_used_;
  memory_used_ += tile_bytes(size);
  return tile;
}

void Worker::bind_values() {
  const Steps& steps = job_->steps;
  const std::size_t count = steps.values.size();
  if (at_.size() < count) at_.resize(count), words_.resize(count);
  chain_blocks_ = memory_.get();
  memory_used_ = steps.chain_blocks * std::size_t{largest_block};
  slots_.clear();
  for (const std::uint8_t size : steps.slots) slots_.push_back(take_tile(size));
  for (const ValueId v : steps.places) {
    const Value& value = steps.values[v];
    if (value.kind == Value::Kind::Scalar)
      at_[v] = bytes(job_->scalars + value.number);
    else if (value.kind == Value::Kind::Constant)
      at_[v] = bytes(&steps.constants[value.number]);
    else
      at_[v] = value.slot != none ? slots_[value.slot] : bytes(&words_[v]);
  }
}

void Worker::bind_inputs() {
  const Steps& steps = job_->steps;
  in_place_.clear();
  row_values_.clear();
  packed_.clear();
  transposed_.clear();
  panels_.clear();
  for (const ValueId v : steps.inputs) {
    const std::uint32_t operand = job_->operand_of(steps.values[v]);
    switch (job_->layout.walks[operand]) {
      case Walk::InPlace:
        in_place_.push_back({v, operand, row_stride(operand) * static_cast<std::int64_t>(size_of(v)), 0});
        break;
      case Walk::Same: at_[v] = job_->nest.operands[operand].data; break;
      case Walk::RowSame: row_values_.push_back({v, operand, nullptr}); break;
      case Walk::Packed:
        if (job_->layout.panel > 1 && is_transposed(job_->nest, job_->layout, job_->nest.operands[operand])) {
          transposed_.push_back({v, operand, 0, 0});
          panels_.push_back(memory_.get() + memory_used_);
          memory_used_ += static_cast<std::size_t>(job_->layout.panel) * tile_bytes(steps.values[v].size);
        } else {
          packed_.push_back({v, operand, row_stride(operand), 0});
          at_[v] = take_tile(steps.values[v].size);
        }
        break;
    }
  }
}

void Worker::bind_row_values() {
  for (const Step& s : job_->steps.rows) row_values_.push_back({s.out, none, nullptr});
  for (RowValue& v : row_values_) {
    v.values = memory_.get() + memory_used_;
    memory_used_ += static_cast<std::size_t>(row_batch_) * sizeof(std::uint64_t);
  }
}

void Worker::bind_outputs() {
  const auto count = static_cast<std::uint32_t>(job_->nest.outputs);
  outputs_.clear();
  fills_ = false;
  for (std::uint32_t k = 0; k < count; ++k) outputs_.push_back(bind_output(k));
  for (Output& o : outputs_) {
    o.step = row_stride(static_cast<std::uint32_t>(&o - outputs_.data())) * static_cast<std::int64_t>(size_of(o.value));
    if (o.kind == Output::Kind::Direct) continue;
    const std::size_t size = job_->steps.values[o.value].size;
    if (needs_tile(o)) at_[o.value] = take_tile(size);
    if (o.kind == Output::Kind::FillUnpack) o.tile = take_tile(size), fills_ = true;
  }
}

/// Whether the output's value is made by a step that has nowhere to write it.
bool Worker::needs_tile(const Output& o) const {
  const Value& value = job_->steps.values[o.value];
  if (value.kind != Value::Kind::Result || value.level != Level::EachTile) return false;
  return at_[o.value] == bytes(&words_[o.value]) && std::ranges::none_of(outputs_, [&](const Output& other) {
           return other.kind == Output::Kind::Direct && other.value == o.value;
         });
}

Worker::Output Worker::bind_output(std::uint32_t k) const {
  const ValueId v = job_->steps.outputs[k];
  const Value& value = job_->steps.values[v];
  const bool in_place = job_->layout.walks[k] == Walk::InPlace;
  Output o{Output::Kind::Copy, v, nullptr, nullptr};
  if (value.level != Level::EachTile)
    o.kind = in_place ? Output::Kind::Fill : Output::Kind::FillUnpack;
  else if (!in_place)
    o.kind = Output::Kind::Unpack;
  else if (value.kind == Value::Kind::Result && std::ranges::none_of(outputs_, [&](const Output& other) {
             return other.kind == Output::Kind::Direct && other.value == v;
           }))
    o.kind = Output::Kind::Direct;
  return o;
}

/// The operand's element `first` of a row; its row's first element where it does not lie in neighbouring ones.
std::byte* Worker::place(std::uint32_t operand, std::size_t size, std::int64_t row, std::int64_t first) const {
  const std::int64_t offset = element(operand, row) + (job_->layout.walks[operand] == Walk::InPlace ? first : 0);
  return job_->nest.operands[operand].data + offset * static_cast<std::int64_t>(size);
}

/// Rows from `row` on, before `end`, that are equally far apart.
std::int64_t Worker::rows_together(std::int64_t row, std::int64_t end) const {
  if (job_->layout.split == 0) return 1;
  const std::int64_t extent = job_->nest.extents[job_->layout.split - 1];
  return std::min(end - row, extent - row % extent);
}

/// Calls f(count) for parts of so many rows that are equally far apart, with everything in place for a part's first row.
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
    const std::int64_t count = rows_together(row, last);
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

/// Whether a step that reads and writes the arrays themselves is all there is to do.
bool Worker::is_one_step() const {
  return job_->layout.rows > 1 && job_->steps.tiles.size() == 1 && !job_->steps.tiles[0].divides && packed_.empty() &&
         std::ranges::all_of(outputs_, [](const Output& o) { return o.kind == Output::Kind::Direct; });
}

/// What next_row() adds to the value's place.
std::int64_t Worker::step_of(ValueId v) const {
  for (const Input& i : in_place_)
    if (i.value == v) return i.step;
  for (const RowValue& r : row_values_)
    if (r.value == v) return static_cast<std::int64_t>(size_of(v));
  for (const Output& o : outputs_)
    if (o.value == v) return o.step;
  return 0;
}

/// One step for many rows: they cost a call and an addition for each operand.
void Worker::call_rows(const Step& s, std::int64_t n, std::int64_t rows) {
  if (s.chain != none) return call_chain_rows(s, n, rows);
  const Row loop = job_->table.groups[static_cast<int>(s.group)][s.row].forms[s.form];
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
  std::uintptr_t steps[chain_operands];
  for (std::size_t k = 0; k < chain.operands.size(); ++k)
    steps[k] = static_cast<std::uintptr_t>(step_of(chain.operands[k]));
  place_operands(chain);
  for (std::int64_t r = 0; r < rows; ++r) {
    run_chain(s, n);
    for (std::size_t k = 0; k < chain.operands.size(); ++k) chain_operands_[k] += steps[k];
  }
}

/// Everything in place for the first of the rows.
void Worker::start_rows(std::int64_t row, std::int64_t count, std::int64_t first) {
  for (const Input& i : in_place_) at_[i.value] = place(i.operand, size_of(i.value), row, first);
  for (Input& i : packed_) i.offset = element(i.operand, row);
  if (!row_values_.empty()) compute_row_values(row, count);
  for (std::uint32_t k = 0; k < outputs_.size(); ++k) {
    Output& o = outputs_[k];
    o.to = place(k, size_of(o.value), row, first);
    if (o.kind == Output::Kind::Direct) at_[o.value] = o.to;
  }
  if (fills_) fill_tiles();
}

/// Leaves are gathered where they do not lie side by side, then each step computes all rows' values at once.
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
  for (const RowValue& v : row_values_) at_[v.value] += size_of(v.value);
  for (Output& o : outputs_) {
    o.to += o.step;
    if (o.kind == Output::Kind::Direct) at_[o.value] = o.to;
  }
  if (fills_) fill_tiles();
}

void Worker::fill_tiles() {
  for (const Output& o : outputs_)
    if (o.kind == Output::Kind::FillUnpack) copy(at_[o.value], o.tile, size_of(o.value), 1, job_->tile);
}

void Worker::run_tile(std::int64_t first, std::int64_t n) {
  if (!packed_.empty()) pack_inputs(first, n);
  for (const Step& s : job_->steps.tiles) s.chain == none ? call(s, n) : call_chain(s, n);
  for (std::uint32_t k = 0; k < outputs_.size(); ++k)
    if (outputs_[k].kind != Output::Kind::Direct) write_output(k, first, n);
}

/// From a full tile to the next one in its row.
void Worker::next_tile() {
  const auto bytes_of = [&](ValueId v) { return job_->tile * static_cast<std::int64_t>(size_of(v)); };
  for (Output& o : outputs_) {
    if (o.kind >= Output::Kind::Unpack) continue;
    o.to += bytes_of(o.value);
    if (o.kind == Output::Kind::Direct) at_[o.value] = o.to;
  }
  for (const Input& i : in_place_) at_[i.value] += bytes_of(i.value);
}

/// One tile of each row of a panel. Where the innermost of the outer dims begins anew, so does what is packed at once:
/// within it rows are equally far apart.
void Worker::run_panel(std::int64_t first_row, std::int64_t first, std::int64_t n) {
  const LoopNest& nest = job_->nest;
  const int outer = job_->layout.split - 1;
  const std::int64_t end = std::min(first_row + job_->layout.panel, job_->layout.rows);
  for (std::int64_t row = first_row; row < end;) {
    const std::int64_t rows = rows_together(row, end);
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

/// Before the call, which may write over it.
void Worker::check_divisor(const Step& s, std::int64_t n) const {
  const Value& v = job_->steps.values[s.in[1]];
  const std::int64_t count = s.form & 2 ? 1 : n;
  const auto any_zero = [&]<class T>(const T* divisors) {
    bool zero = false;
    for (std::int64_t i = 0; i < count; ++i) zero |= divisors[i] == 0;
    return zero;
  };
  const std::byte* const at = at_[s.in[1]];
  const bool zero = v.size == 8 ? any_zero(reinterpret_cast<const std::int64_t*>(at))
                                : any_zero(reinterpret_cast<const std::int32_t*>(at));  // bools are not divided
  if (zero) job_->divided_by_zero.store(true, std::memory_order_relaxed);
}

void Worker::call(const Step& s, std::int64_t n) {
  if (s.divides) [[unlikely]]
    check_divisor(s, n);
  const void* const in[] = {at_[s.in[0]], at_[s.in[1]], at_[s.in[2]]};
  job_->table.groups[static_cast<int>(s.group)][s.row].forms[s.form](at_[s.out], in, n);
}

void Worker::call_chain(const Step& s, std::int64_t n) {
  place_operands(job_->steps.chains[s.chain]);
  run_chain(s, n);
}

void Worker::place_operands(const Chain& chain) {
  std::uintptr_t* o = chain_operands_;
  for (const ValueId v : chain.operands) *o++ = reinterpret_cast<std::uintptr_t>(at_[v]);
}

/// Moves the chain's own blocks.
void Worker::run_chain(const Step& s, std::int64_t n) {
  const Chain& chain = job_->steps.chains[s.chain];
  for (std::uint32_t k = 0; k < chain.blocks; ++k)
    chain_operands_[chain_operands - 1 - k] =
        reinterpret_cast<std::uintptr_t>(chain_blocks_) + k * std::size_t{largest_block};
  const ChainCall call{chain.code.data() + (job_->prefetch ? 0 : chain.prefetches), chain_operands_, chain.blocks};
  const void* const in[] = {&call};
  job_->table.groups[static_cast<int>(Group::Chains)][s.row].forms[0](nullptr, in, n);
}

void Worker::copy(const void* from, void* to, std::size_t size, int form, std::int64_t n) const {
  const Memory m = size == 1 ? Memory::Copy1 : size == 4 ? Memory::Copy4 : Memory::Copy8;
  const void* const in[] = {from};
  job_->table.groups[static_cast<int>(Group::Memory)][static_cast<int>(m)].forms[form](to, in, n);
}

void Worker::pack_inputs(std::int64_t first, std::int64_t n) {
  for (const Input& i : packed_) {
    const NestOperand& o = job_->nest.operands[i.operand];
    const int split = job_->layout.split;
    const auto size = static_cast<std::int64_t>(size_of(i.value));
    if (o.data == nullptr)
      pack_index(reinterpret_cast<std::int64_t*>(at_[i.value]), i.offset, job_->nest, split, o, first, n);
    else
      pack(at_[i.value], o.data + i.offset * size, size_of(i.value), job_->nest, split, o, first, n);
  }
}

void Worker::write_output(std::uint32_t k, std::int64_t first, std::int64_t n) {
  const Output& o = outputs_[k];
  const std::size_t size = job_->steps.values[o.value].size;
  const std::byte* const from = at_[o.value];
  switch (o.kind) {
    case Output::Kind::Direct: break;
    case Output::Kind::Copy: copy(from, o.to, size, 0, n); break;
    case Output::Kind::Fill: copy(from, o.to, size, 1, n); break;
    case Output::Kind::Unpack:
      unpack(o.to, from, size, job_->nest, job_->layout.split, job_->nest.operands[k], first, n);
      break;
    case Output::Kind::FillUnpack:
      unpack(o.to, o.tile, size, job_->nest, job_->layout.split, job_->nest.operands[k], first, n);
      break;
  }
}

}  // namespace sinter::inline v1::jit::cpu
