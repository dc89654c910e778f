#include "worker.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "pack.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

/// Loops take pointers to const, but values are stored as mutable pointers.
std::byte* bytes(const void* word) { return static_cast<std::byte*>(const_cast<void*>(word)); }

/// The number of rows whose values take a small part of L1, in whole cache lines.
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
  if (has_short_rows())
    bind_short_rows();
  else if (!row_values_.empty() || !job.steps.rows.empty())
    bind_row_values();
  for (const Step& s : job.steps.once) call(s, 1);
  bind_outputs();
}

/// Every tile starts on a cache line, and an odd number of them keeps tiles from sharing the same sets of the cache.
std::size_t Worker::tile_bytes(std::size_t size) const noexcept {
  return (static_cast<std::size_t>(job_->tile) * size + 63) / 64 * 64 + 64;
}

/// Memory for every tile that this run can need: slots, packed inputs, outputs before they are unpacked.
void Worker::reserve_memory() {
  const Steps& steps = job_->steps;
  std::size_t needed = steps.chain_blocks * std::size_t{largest_block};
  for (const std::uint8_t size : steps.slots) needed += tile_bytes(size);
  std::size_t row_values = has_short_rows() ? 0 : steps.rows.size();
  for (const ValueId v : steps.inputs) {
    const Access access = job_->layout.accesses[job_->operand_of(steps.values[v])];
    row_values += access == Access::RowSame;
    if (access > Access::RowSame)
      needed += static_cast<std::size_t>(job_->layout.panel) * tile_bytes(steps.values[v].size);
  }
  row_batch_ = row_values == 0 ? job_->layout.rows : rows_at_once(row_values);
  if (row_values > 0) needed += row_values * static_cast<std::size_t>(row_batch_) * sizeof(Word);
  if (has_short_rows()) needed += short_rows_bytes();
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
  assert(memory_used_ <= memory_bytes_);
  return tile;
}

void Worker::bind_values() {
  const Steps& steps = job_->steps;
  const std::size_t count = steps.values.size();
  if (at_.size() < count)
    words_.resize(count), at_.resize(count);  // at_ last: if memory runs out, both are tried again
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
  short_row_inputs_.clear();
  panels_.clear();
  for (const ValueId v : steps.arrays) at_[v] = job_->nest.operands[job_->operand_of(steps.values[v])].data;
  runs_.clear();
  if (!has_short_rows())
    for (const Run& r : steps.runs) {
      const std::uint32_t leaf = job_->leaf_operand(r.leaf);
      runs_.push_back({r.value, r.start, at_[r.array], leaf, 0, row_stride(leaf)});
    }
  for (const ValueId v : steps.inputs) {
    const std::uint32_t operand = job_->operand_of(steps.values[v]);
    switch (job_->layout.accesses[operand]) {
      case Access::InPlace:
        in_place_.push_back({v, operand, row_stride(operand) * static_cast<std::int64_t>(size_of(v)), 0});
        break;
      case Access::Same: at_[v] = same_for_all(v, job_->nest.operands[operand]); break;
      case Access::RowSame: row_values_.push_back({v, operand, nullptr}); break;
      case Access::Repeated: at_[v] = packed_once(v, operand); break;
      case Access::Spread: bind_short_row_input(v, operand); break;
      case Access::EverySecond:
      case Access::Packed:
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

/// The address of a uniform operand's element; a position has none yet.
std::byte* Worker::same_for_all(ValueId v, const NestOperand& o) {
  if (o.data != nullptr) return o.data;
  std::memcpy(&words_[v], &o.first, sizeof o.first);
  return bytes(&words_[v]);
}

/// A tile of an operand whose elements are the same in each of them.
std::byte* Worker::packed_once(ValueId v, std::uint32_t operand) {
  const NestOperand& o = job_->nest.operands[operand];
  std::byte* const tile = take_tile(size_of(v));
  pack_operand(tile, o, size_of(v), 0, dims_of_row(), 0, std::min(job_->tile, job_->layout.row));
  return tile;
}

void Worker::bind_row_values() {
  for (const Step& s : job_->steps.rows) row_values_.push_back({s.out, none, nullptr});
  for (RowValue& v : row_values_) {
    v.values = memory_.get() + memory_used_;
    memory_used_ += static_cast<std::size_t>(row_batch_) * sizeof(Word);
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

/// Whether the output's value is not written to the output by a step.
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
  const bool in_place = job_->layout.accesses[k] == Access::InPlace;
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

void Worker::run_tile(std::int64_t first, std::int64_t n) {
  if (!packed_.empty()) pack_inputs(first, n);
  if (has_short_rows()) compute_short_rows(first, n);
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
  for (const RunInput& r : runs_) at_[r.value] += bytes_of(r.value);
}

/// Before the call, which may write over its operands.
void Worker::check(const Step& s, std::int64_t n) const {
  s.check == Check::Divisor ? check_divisor(s, n) : check_positions(s, n);
}

/// Extents are the same for all positions except in unusual graphs, whose positions are checked one by one.
void Worker::check_positions(const Step& s, std::int64_t n) const {
  const auto* positions = reinterpret_cast<const std::int64_t*>(at_[s.in[0]]);
  const auto* extents = reinterpret_cast<const std::int64_t*>(at_[s.in[1]]);
  const std::int64_t step = s.form & 1 ? 0 : 1, extent_step = s.form & 2 ? 0 : 1;
  const std::int64_t rows = extent_step == 0 ? 1 : n, count = step == 0 || rows > 1 ? 1 : n;
  const Loop outside = memory_loops(job_->table, Memory::Outside).forms[s.check == Check::Position];
  for (std::int64_t i = 0; i < rows; ++i, positions += step, extents += extent_step) {
    bool found = false;
    const void* const in[] = {positions, extents};
    outside(&found, in, count);
    if (found) return report_position(s.check, positions, count, *extents);
  }
}

/// The first thread records the fault.
void Worker::report_position(Check check, const std::int64_t* positions, std::int64_t count,
                             std::int64_t extent) const {
  SharedFaults& faults = job_->faults;
  if (faults.index_out_of_range.exchange(true, std::memory_order_relaxed)) return;
  const auto outside = [&](std::int64_t p) {  // a position from the end, -1 to -extent, is ~p from 0
    return p >= 0 ? p >= extent : check != Check::Position || ~p >= extent;
  };
  faults.value = *std::find_if(positions, positions + count, outside);
  faults.extent = extent;
}

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
                                : any_zero(reinterpret_cast<const std::int32_t*>(at));  // bools have no division
  if (zero) job_->faults.division_by_zero.store(true, std::memory_order_relaxed);
}

void Worker::call(const Step& s, std::int64_t n) {
  if (s.check != Check::None) [[unlikely]]
    check(s, n);
  if (s.group == Group::Functions) [[unlikely]]
    return call_function(s, n);
  const void* const in[] = {at_[s.in[0]], at_[s.in[1]], at_[s.in[2]]};
  job_->table.groups[static_cast<int>(s.group)][s.row].forms[s.form](at_[s.out], in, n);
}

void Worker::call_function(const Step& s, std::int64_t n) {
  const void* in[max_arity];
  for (int k = 0; k < s.arity; ++k) in[k] = at_[s.in[k]];
  job_->steps.functions[s.row].loop()(at_[s.out], in, n);
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
  if (chain.loop) {
    static constexpr std::int64_t no_steps[chain_operands] = {};
    return chain.loop(reinterpret_cast<void* const*>(chain_operands_), no_steps, 1, n, false, nullptr);
  }
  for (std::uint32_t k = 0; k < chain.blocks; ++k)
    chain_operands_[chain_operands - 1 - k] =
        reinterpret_cast<std::uintptr_t>(chain_blocks_) + k * std::size_t{largest_block};
  const ChainCall call{chain.code.data() + (job_->options.far ? 0 : chain.prefetches), chain_operands_, chain.blocks};
  const void* const in[] = {&call};
  job_->table.groups[static_cast<int>(Group::Chains)][s.row].forms[0](nullptr, in, n);
}

void Worker::copy(const void* from, void* to, std::size_t size, int form, std::int64_t n) const {
  const Memory m = size == 1   ? Memory::Copy1
                   : size == 2 ? Memory::Copy2
                   : size == 4 ? Memory::Copy4
                   : size == 8 ? Memory::Copy8
                               : Memory::Copy16;
  memory_loops(job_->table, m).forms[form](to, &from, n);
}

/// Packs the elements [first, first + n) of the row of these dims that begins at this offset.
void Worker::pack_operand(std::byte* to, const NestOperand& o, std::size_t size, std::int64_t offset, RowDims dims,
                          std::int64_t first, std::int64_t n) const {
  if (o.data == nullptr)
    pack_index(reinterpret_cast<std::int64_t*>(to), o.first + offset, job_->nest, dims, o, first, n);
  else
    pack(to, o.data + offset * static_cast<std::int64_t>(size), size, job_->nest, dims, o, first, n);
}

void Worker::pack_inputs(std::int64_t first, std::int64_t n) {
  for (const Input& i : packed_)
    pack_operand(at_[i.value], job_->nest.operands[i.operand], size_of(i.value), i.offset, dims_of_row(), first, n);
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
      unpack(o.to, from, size, job_->nest, dims_of_row(), job_->nest.operands[k], first, n);
      break;
    case Output::Kind::FillUnpack:
      unpack(o.to, o.tile, size, job_->nest, dims_of_row(), job_->nest.operands[k], first, n);
      break;
  }
}

}  // namespace sinter::inline v1::jit::cpu
