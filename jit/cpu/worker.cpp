#include "worker.hpp"

#include <algorithm>

#include "pack.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

/// Loops read through pointers to const alone; values are kept as the pointers that may also be written through.
std::byte* bytes(const std::uint64_t* word) { return reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(word)); }

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
  for (std::int64_t tile = first; tile < last;) {
    const std::int64_t row = per_row == 1 ? tile : tile / per_row;
    const std::int64_t row_end = std::min(last, (row + 1) * per_row);
    std::int64_t at = (tile - row * per_row) * job.tile;
    start_row(row, at);
    for (; tile < row_end; ++tile, at += job.tile) run_tile(at, std::min(job.tile, job.layout.row - at));
  }
}

void Worker::bind(const Job& job) {
  job_ = &job;
  reserve_memory();
  bind_values();
  bind_inputs();
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
  for (const ValueId v : steps.inputs)
    if (job_->layout.walks[job_->operand_of(steps.values[v])] == Walk::Packed)
      needed += static_cast<std::size_t>(job_->layout.panel) * tile_bytes(steps.values[v].size);
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
  if (chain_operands_.size() < steps.chain_operands) chain_operands_.resize(steps.chain_operands);
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
  row_same_.clear();
  packed_.clear();
  transposed_.clear();
  panels_.clear();
  for (const ValueId v : steps.inputs) {
    const std::uint32_t operand = job_->operand_of(steps.values[v]);
    switch (job_->layout.walks[operand]) {
      case Walk::InPlace: in_place_.push_back({v, operand}); break;
      case Walk::Same: at_[v] = job_->nest.operands[operand].data; break;
      case Walk::RowSame: row_same_.push_back({v, operand}); break;
      case Walk::Packed:
        if (job_->layout.panel > 1 && is_transposed(job_->nest, job_->layout, job_->nest.operands[operand])) {
          transposed_.push_back({v, operand});
          panels_.push_back(memory_.get() + memory_used_);
          memory_used_ += static_cast<std::size_t>(job_->layout.panel) * tile_bytes(steps.values[v].size);
        } else {
          packed_.push_back({v, operand});
          at_[v] = take_tile(steps.values[v].size);
        }
        break;
    }
  }
}

void Worker::bind_outputs() {
  const auto count = static_cast<std::uint32_t>(job_->nest.outputs);
  outputs_.clear();
  for (std::uint32_t k = 0; k < count; ++k) outputs_.push_back(bind_output(k));
  for (Output& o : outputs_) {
    if (o.kind == Output::Kind::Direct) continue;
    const std::size_t size = job_->steps.values[o.value].size;
    if (needs_tile(o)) at_[o.value] = take_tile(size);
    if (o.kind == Output::Kind::FillUnpack) o.tile = take_tile(size);
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
  const NestOperand& o = job_->nest.operands[operand];
  std::int64_t offset = job_->layout.walks[operand] == Walk::InPlace ? first : 0;
  if (job_->layout.split > 0) offset += row_offset(job_->nest, job_->layout, o, row);
  return o.data + offset * static_cast<std::int64_t>(size);
}

void Worker::start_row(std::int64_t row, std::int64_t first) {
  const auto size_of = [&](ValueId v) -> std::size_t { return job_->steps.values[v].size; };
  row_ = row;
  for (const Input& i : in_place_) at_[i.value] = place(i.operand, size_of(i.value), row, first);
  for (const Input& i : row_same_) at_[i.value] = place(i.operand, size_of(i.value), row, 0);
  for (const Step& s : job_->steps.rows) call(s, 1);
  for (std::uint32_t k = 0; k < outputs_.size(); ++k) {
    Output& o = outputs_[k];
    o.to = place(k, size_of(o.value), row, first);
    if (o.kind == Output::Kind::Direct) at_[o.value] = o.to;
    if (o.kind == Output::Kind::FillUnpack) copy(at_[o.value], o.tile, size_of(o.value), 1, job_->tile);
  }
}

void Worker::run_tile(std::int64_t first, std::int64_t n) {
  if (!packed_.empty()) pack_inputs(first, n);
  for (const Step& s : job_->steps.tiles) s.chain == none ? call(s, n) : call_chain(s, n);
  for (std::uint32_t k = 0; k < outputs_.size(); ++k)
    if (outputs_[k].kind != Output::Kind::Direct) write_output(k, first, n);
  if (first + n == job_->layout.row) return;
  for (Output& o : outputs_) {
    if (o.kind >= Output::Kind::Unpack) continue;
    o.to += n * job_->steps.values[o.value].size;
    if (o.kind == Output::Kind::Direct) at_[o.value] = o.to;
  }
  for (const Input& i : in_place_) at_[i.value] += n * job_->steps.values[i.value].size;
}

/// One tile of each row of a panel. Where the innermost of the outer dims begins anew, so does what is packed at once:
/// within it rows are equally far apart.
void Worker::run_panel(std::int64_t first_row, std::int64_t first, std::int64_t n) {
  const LoopNest& nest = job_->nest;
  const int outer = job_->layout.split - 1;
  const std::int64_t end = std::min(first_row + job_->layout.panel, job_->layout.rows);
  for (std::int64_t row = first_row; row < end;) {
    const std::int64_t rows = std::min(end - row, nest.extents[outer] - row % nest.extents[outer]);
    for (std::size_t k = 0; k < transposed_.size(); ++k) {
      const std::uint32_t operand = transposed_[k].operand;
      const std::size_t size = job_->steps.values[transposed_[k].value].size;
      const std::int64_t *const strides = nest.operands[operand].strides, stride = strides[outer + 1];
      const std::byte* const from = place(operand, size, row, 0) + first * stride * static_cast<std::int64_t>(size);
      const auto pitch = static_cast<std::int64_t>(tile_bytes(size) / size);
      pack_panel(panels_[k], pitch, from, size, rows, strides[outer], stride, n);
    }
    for (std::int64_t r = 0; r < rows; ++r, ++row) {
      start_row(row, first);
      for (std::size_t k = 0; k < transposed_.size(); ++k) {
        const ValueId v = transposed_[k].value;
        at_[v] = panels_[k] + static_cast<std::size_t>(r) * tile_bytes(job_->steps.values[v].size);
      }
      run_tile(first, n);
    }
  }
}

/// Before the call, which may write over it.
void Worker::check_divisor(const Step& s, std::int64_t n) const {
  const Value& v = job_->steps.values[s.in[1]];
  const std::int64_t count = v.level == Level::EachTile ? n : 1;
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
  const Chain& chain = job_->steps.chains[s.chain];
  ChainOperand* o = chain_operands_.data();
  for (const ChainSlot slot : chain.operands)
    *o++ = slot.own ? ChainOperand{reinterpret_cast<char*>(chain_blocks_) + slot.number * largest_block, 0}
                    : ChainOperand{reinterpret_cast<char*>(at_[slot.number]), -1};
  const ChainCall call{chain.code.data() + (job_->prefetch ? 0 : chain.prefetches), chain_operands_.data()};
  const void* const in[] = {&call};
  job_->table.groups[static_cast<int>(Group::Chains)][s.row].forms[0](nullptr, in, n);
}

void Worker::copy(const void* from, void* to, std::size_t size, int form, std::int64_t n) const {
  const Memory m = size == 1 ? Memory::Copy1 : size == 2 ? Memory::Copy2 : size == 4 ? Memory::Copy4 : Memory::Copy8;
  const void* const in[] = {from};
  job_->table.groups[static_cast<int>(Group::Memory)][static_cast<int>(m)].forms[form](to, in, n);
}

void Worker::pack_inputs(std::int64_t first, std::int64_t n) {
  for (const Input& i : packed_) {
    const NestOperand& o = job_->nest.operands[i.operand];
    const Layout& layout = job_->layout;
    if (o.data == nullptr)
      pack_index(reinterpret_cast<std::int64_t*>(at_[i.value]), row_offset(job_->nest, layout, o, row_), job_->nest,
                 layout.split, o, first, n);
    else
      pack(at_[i.value], place(i.operand, job_->steps.values[i.value].size, row_, 0), job_->steps.values[i.value].size,
           job_->nest, layout.split, o, first, n);
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
