// An executor of the loop IR that shares nothing with its printers: the threads of a block proceed together,
// instruction by instruction, and each instruction is executed by those for which all conditions around it are true.
// Whatever a program must not do ends it with a WrongProgram.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <jit/loops/verify.hpp>
#include <jit/plan/faults.hpp>
#include "loops_values.hpp"

namespace sinter::testing {

using jit::loops::none;
using jit::loops::Type;
using jit::loops::Value;

struct GridSize {
  unsigned blocks = 1, threads = 32;  // of a block
  unsigned shared = 0;                // bytes of dynamic shared memory
};

class LoopsInterpreter {
 public:
  /// `memory` is what parameters point to. A program that lower() did not make may run for long, so its instructions
  /// are limited.
  LoopsInterpreter(const LoopProgram& program, LoopsMemory& memory, std::int64_t limit = std::int64_t{1} << 40)
      : program_(program), memory_(memory), left_(limit), frame_(program.code.size()), ends_(program.code.size()) {
    if (const std::string wrong = verify(program); !wrong.empty()) throw WrongProgram(wrong);
    std::vector<Value> open;
    for (Value v = 0; v < size(); ++v) {
      if (program[v].code == Opcode::Range || program[v].code == Opcode::If) open.push_back(v);
      if (program[v].code != Opcode::End) continue;
      ends_[index(open.back())] = v;
      open.pop_back();
    }
  }

  void run(const GridSize& grid, std::span<const std::uint64_t> words) {
    grid_ = grid;
    memory_.begin_launch();
    for (block_ = 0; block_ < grid.blocks; ++block_) {
      start_block(words);
      run(0, size(), std::vector<bool>(grid.threads, true));
      memory_.forget_after(given_);
    }
  }

 private:
  using Threads = std::vector<bool>;  // those that execute an instruction

  /// What an instruction has computed, or a variable holds: for each thread its values, each of `width` elements.
  struct Slot {
    std::size_t width = 1, count = 1;
    std::vector<Bits> bits;
    std::vector<bool> is_set;  // by thread and value
  };

  static std::size_t index(Value v) noexcept { return static_cast<std::size_t>(v); }
  Value size() const noexcept { return static_cast<Value>(program_.code.size()); }
  IndexKind kind_of(Value v) const noexcept { return {program_[v].type.kind, program_.wide}; }

  // ---- Blocks

  void start_block(std::span<const std::uint64_t> words) {
    given_ = memory_.count();
    block_barriers_ = 0;
    warp_barriers_.assign((grid_.threads + 31) / 32, 0);
    recorded_.assign(jit::all_faults.size(), Threads(grid_.threads, false));
    shared_.clear();
    dynamic_.assign(grid_.shared / 16 + 1, Unit{});
    memory_.add(dynamic_.data()->bytes, grid_.shared, LoopsMemory::Content::Unwritten);
    for (Value v = 0; v < size(); ++v) {
      const Instruction& i = program_[v];
      Slot& s = frame_[index(v)];
      s.width = static_cast<std::size_t>(i.type.width);
      s.count = i.code == Opcode::Local ? i.attribute : 1;
      s.bits.assign(grid_.threads * s.count * s.width, 0);
      if (i.code == Opcode::Local) s.is_set.assign(grid_.threads * s.count, false);
      if (i.code == Opcode::Param) words = read_param(v, words);
    }
    if (!words.empty()) throw WrongProgram("a launch gives more words than there are parameters");
  }

  std::span<const std::uint64_t> read_param(Value v, std::span<const std::uint64_t> words) {
    const Kind kind = program_[v].type.kind;
    const bool is_pair = kind == Kind::FastDivisor64 || (kind == Kind::FastDivisor && program_.wide);
    if (words.size() < (is_pair ? 2u : 1u)) throw WrongProgram("a launch gives fewer words than there are parameters");
    Bits word = words[0];
    if (kind == Kind::FastDivisor || kind == Kind::FastDivisor64) {
      divisors_.resize(frame_.size());
      divisors_[index(v)] =
          is_pair ? FastDivisorWords{word, words[1]} : FastDivisorWords{word & 0xFFFFFFFF, word >> 32};
    }
    if (is_index(kind)) word = kind_of(v).wrap(word);
    std::ranges::fill(frame_[index(v)].bits, word);
    return words.subspan(is_pair ? 2 : 1);
  }

  static bool is_index(Kind kind) noexcept {
    return kind == Kind::UInt32 || kind == Kind::Index || kind == Kind::Offset || kind == Kind::Int64;
  }

  // ---- Control flow

  void run(Value begin, Value end, const Threads& active) {
    const std::int64_t count = std::ranges::count(active, true);
    if (count == 0) return;
    for (Value v = begin; v < end; ++v) {
      left_ -= count;
      if (left_ < 0) throw WrongProgram("runs for too long");
      const Opcode code = program_[v].code;
      if (code == Opcode::If || code == Opcode::Range) {
        code == Opcode::If ? run_if(v, active) : run_range(v, active);
        v = ends_[index(v)];
      } else {
        execute(v, active);
      }
    }
  }

  void run_if(Value v, Threads active) {
    for (unsigned t = 0; t < active.size(); ++t) active[t] = active[t] && operand(v, 0, t) != 0;
    run(v + 1, ends_[index(v)], active);
  }

  void run_range(Value v, Threads active) {
    const IndexKind kind = kind_of(v);
    for (unsigned t = 0; t < active.size(); ++t)
      if (active[t]) result(v, t) = operand(v, 0, t);
    while (true) {
      for (unsigned t = 0; t < active.size(); ++t) active[t] = active[t] && kind.less(result(v, t), operand(v, 1, t));
      if (std::ranges::none_of(active, std::identity())) return;
      run(v + 1, ends_[index(v)], active);
      for (unsigned t = 0; t < active.size(); ++t) {
        if (!active[t]) continue;
        const Bits next = kind.add(result(v, t), operand(v, 2, t));
        if (!kind.less(result(v, t), next)) throw WrongProgram("a counter does not grow");
        result(v, t) = next;
      }
    }
  }

  void execute(Value v, const Threads& active) {
    switch (program_[v].code) {
      case Opcode::Param: return;
      case Opcode::Barrier: return barrier(active);
      case Opcode::WarpBarrier: return warp_barrier(active);
      case Opcode::Shared: return shared(v);
      case Opcode::ShuffleXor: return shuffle(v, active);
      default: break;
    }
    for (unsigned t = 0; t < active.size(); ++t)
      if (active[t]) execute(v, t);
  }

  void barrier(const Threads& active) {
    if (std::ranges::find(active, false) != active.end()) throw WrongProgram("some threads miss a barrier");
    ++block_barriers_;
  }
  void warp_barrier(const Threads& active) {
    for (unsigned t = 0; t < active.size(); ++t)
      if (active[t] != active[t / 32 * 32]) throw WrongProgram("some threads of a warp miss a barrier");
    for (unsigned warp = 0; warp < warp_barriers_.size(); ++warp) warp_barriers_[warp] += active[warp * 32];
  }
  void shuffle(Value v, const Threads& active) {
    Slot& s = frame_[index(v)];
    const std::vector<Bits> given = frame_[index(program_[v].operands[0])].bits;
    for (unsigned t = 0; t < active.size(); ++t) {
      if (active[t] != active[t / 32 * 32]) throw WrongProgram("some threads of a warp miss a shuffle");
      const std::size_t other = t ^ static_cast<unsigned>(program_[v].attribute);
      if (!active[t]) continue;
      if (other >= active.size()) throw WrongProgram("shuffles with a thread that is not there");
      for (std::size_t l = 0; l < s.width; ++l) s.bits[t * s.width + l] = given[other * s.width + l];
    }
  }
  void shared(Value v) {
    const Type type = program_[v].type;
    const std::size_t bytes = program_[v].attribute * size_of(type.dtype);
    shared_.emplace_back(bytes / sizeof(Unit) + 1);
    memory_.add(shared_.back().data()->bytes, bytes, LoopsMemory::Content::Unwritten);
    std::ranges::fill(frame_[index(v)].bits, address_of(shared_.back()));
  }

  // ---- One thread

  Bits& result(Value v, unsigned thread, std::size_t element = 0) {
    Slot& s = frame_[index(v)];
    return s.bits[thread * s.width * s.count + element];
  }
  /// An element of an operand; scalars are broadcast.
  Bits operand(Value v, std::size_t k, unsigned thread, std::size_t element = 0) const {
    const Slot& s = frame_[index(program_[v].operands[k])];
    return s.bits[thread * s.width * s.count + (s.width == 1 ? 0 : element)];
  }
  bool has_operand(Value v, std::size_t k) const { return program_[v].operands[k] != none; }
  Accessor accessor(unsigned thread) const { return {block_, thread, block_barriers_, warp_barriers_[thread / 32]}; }

  void execute(Value v, unsigned t) {
    const Instruction& i = program_[v];
    switch (i.code) {
      case Opcode::Load: return load(v, t);
      case Opcode::Store: return store(v, t);
      case Opcode::Local: return local(v, t);
      case Opcode::Get: return get(v, t);
      case Opcode::ExtractColumn: return column(v, t);
      case Opcode::Set: return set(v, t);
      case Opcode::Call: return call(v, t);
      case Opcode::RecordFault: return record_fault(v, t);
      case Opcode::ReportFault:
        if (recorded_[i.attribute][t])
          memory_.store_if_zero(operand(v, 0, t), static_cast<std::uint32_t>(operand(v, 1, t)));
        return;
      default:
        for (std::size_t l = 0; l < static_cast<std::size_t>(i.type.width); ++l) result(v, t, l) = compute(v, t, l);
    }
  }

  Bits compute(Value v, unsigned t, std::size_t l) {
    const Instruction& i = program_[v];
    const auto a = [&](std::size_t k) { return operand(v, k, t, l); };
    const auto kind = [&] { return kind_of(i.operands[0]); };
    const auto half = [&](std::size_t first) { return frame_[index(i.operands[0])].bits[first]; };
    const std::size_t first = t * static_cast<std::size_t>(2 * i.type.width);
    switch (i.code) {
      case Opcode::Constant: return is_index(i.type.kind) ? kind_of(v).wrap(i.attribute) : i.attribute;
      case Opcode::ThreadIdx: return t;
      case Opcode::BlockIdx: return block_;
      case Opcode::GridDim: return grid_.blocks;
      case Opcode::BlockDim: return grid_.threads;
      case Opcode::RowCache: return address_of(dynamic_);
      case Opcode::Elementwise: return elementwise(v, t, l);
      case Opcode::Select: return a(0) ? a(1) : a(2);
      case Opcode::Less: return kind().less(a(0), a(1));
      case Opcode::Equal: return a(0) == a(1);
      case Opcode::And: return a(0) & a(1);
      case Opcode::Add: return kind().add(a(0), a(1));
      case Opcode::Sub: return kind().sub(a(0), a(1));
      case Opcode::Mul: return kind().mul(a(0), a(1));
      case Opcode::Rem: return kind().rem(a(0), a(1));
      case Opcode::Div: return div(v, a(0), a(1));
      case Opcode::Convert: return convert(v, a(0));
      case Opcode::Splat:
      case Opcode::Opaque: return a(0);
      case Opcode::Ramp:
        if (i.attribute != 0 && a(0) % static_cast<std::uint64_t>(i.type.width) != 0)
          throw WrongProgram("a ramp does not begin at a multiple of its width");
        return kind().add(a(0), kind().mul(l, a(1)));
      case Opcode::Low: return half(first + l);
      case Opcode::High: return half(first + static_cast<std::size_t>(i.type.width) + l);
      case Opcode::Advance: return a(0) + a(1) * size_of(i.type.dtype);
      case Opcode::View: return a(0) + a(1);
      default: throw WrongProgram("an instruction that the interpreter does not know");
    }
  }

  Bits elementwise(Value v, unsigned t, std::size_t l) {
    const Instruction& i = program_[v];
    given_elements_.clear();
    for (std::size_t k = 0; k < i.operands.size(); ++k) given_elements_.push_back(operand(v, k, t, l));
    return testing::elementwise(i.op, i.type.dtype, program_[i.operands.back()].type.dtype, given_elements_);
  }

  Bits div(Value v, Bits a, Bits b) const {
    const Value divisor = program_[v].operands[1];
    const Kind kind = program_[divisor].type.kind;
    if (is_index(kind)) return kind_of(v).div(a, b);
    return kind_of(v).wrap(divisors_[index(divisor)].divide(a, kind == Kind::FastDivisor64 || program_.wide));
  }

  Bits convert(Value v, Bits a) const {
    const Type to = program_[v].type;
    return to.kind == Kind::Element ? test::convert_bits(a, DType::Int64, to.dtype) : kind_of(v).wrap(a);
  }

  // ---- Memory and variables

  /// The address of an element of a vector.
  Bits address(Value v, unsigned t, std::size_t l, std::size_t width, std::size_t stride) const {
    const auto access = static_cast<jit::loops::Access>(program_[v].attribute);
    const std::size_t bytes = size_of(program_[program_[v].operands[0]].type.dtype);
    Bits position = operand(v, 1, t, access == jit::loops::Access::Gather ? l : 0);
    switch (access) {
      case jit::loops::Access::AlignedIndexed: position = position * width + l; break;
      case jit::loops::Access::Strided: position += l * operand(v, stride, t); break;
      case jit::loops::Access::Gather: break;
      default: position += l;
    }
    const Bits address = operand(v, 0, t) + position * bytes;
    const bool is_vector = access == jit::loops::Access::Aligned || access == jit::loops::Access::AlignedIndexed;
    if (is_vector && l == 0 && address % (width * bytes) != 0) throw WrongProgram("a vector is not aligned");
    return address;
  }

  void load(Value v, unsigned t) {
    const auto width = static_cast<std::size_t>(program_[v].type.width);
    for (std::size_t l = 0; l < width; ++l) {
      const bool is_guarded = has_operand(v, 2) && operand(v, 2, t, l) == 0;
      result(v, t, l) =
          is_guarded ? 0 : memory_.load(address(v, t, l, width, 3), size_of(program_[v].type.dtype), accessor(t));
    }
  }
  void store(Value v, unsigned t) {
    const Type type = program_[program_[v].operands[2]].type;
    const auto width = static_cast<std::size_t>(type.width);
    for (std::size_t l = 0; l < width; ++l)
      if (!has_operand(v, 3) || operand(v, 3, t, l) != 0)
        memory_.store(address(v, t, l, width, 4), size_of(type.dtype), operand(v, 2, t, l), accessor(t));
  }

  /// Where the value of a variable begins in its slot.
  std::size_t offset_of(Value variable, std::size_t number, unsigned t, bool is_read) {
    Slot& s = frame_[index(variable)];
    if (number >= s.count) throw WrongProgram("a position past a variable's end");
    if (is_read && !s.is_set[t * s.count + number]) throw WrongProgram("reads a variable that nothing has set");
    s.is_set[t * s.count + number] = true;
    return (t * s.count + number) * s.width;
  }
  std::size_t position(Value v, unsigned t) const { return has_operand(v, 1) ? operand(v, 1, t) : 0; }

  void local(Value v, unsigned t) {
    Slot& s = frame_[index(v)];
    for (std::size_t n = 0; n < s.count; ++n) s.is_set[t * s.count + n] = has_operand(v, 0);
    if (!has_operand(v, 0)) return;
    for (std::size_t l = 0; l < s.width; ++l) result(v, t, l) = operand(v, 0, t, l);
  }
  void get(Value v, unsigned t) {
    const Value variable = program_[v].operands[0];
    const std::size_t from = offset_of(variable, position(v, t), t, true);
    for (std::size_t l = 0; l < frame_[index(v)].width; ++l) result(v, t, l) = frame_[index(variable)].bits[from + l];
  }
  void column(Value v, unsigned t) {
    const Value variable = program_[v].operands[0];
    for (std::size_t l = 0; l < frame_[index(v)].width; ++l)
      result(v, t, l) = frame_[index(variable)].bits[offset_of(variable, l, t, true) + operand(v, 1, t)];
  }
  void set(Value v, unsigned t) {
    const Value variable = program_[v].operands[0];
    Slot& s = frame_[index(variable)];
    const std::size_t to = offset_of(variable, position(v, t), t, false);
    for (std::size_t l = 0; l < s.width; ++l) s.bits[to + l] = operand(v, 2, t, l);
  }

  /// Element by element.
  void call(Value v, unsigned t) {
    const Instruction& i = program_[v];
    std::size_t width = frame_[index(v)].width;
    for (const Value o : i.operands) width = std::max(width, frame_[index(o)].width);
    for (std::size_t l = 0; l < width; ++l) {
      given_elements_.clear();
      for (std::size_t k = 0; k < i.operands.size(); ++k) {
        if (program_[i.operands[k]].code == Opcode::Local) offset_of(i.operands[k], 0, t, true);
        given_elements_.push_back(operand(v, k, t, l));
      }
      const Bits returned = testing::call(i.name, program_[i.operands[0]].type.dtype, given_elements_);
      for (std::size_t k = 0; k < i.operands.size(); ++k)
        if (program_[i.operands[k]].code == Opcode::Local) result(i.operands[k], t, l) = given_elements_[k];
      if (i.type.kind != Kind::None) result(v, t, l) = returned;
    }
  }

  void record_fault(Value v, unsigned t) {
    const Instruction& i = program_[v];
    std::size_t width = 1;
    for (const Value o : i.operands) width = std::max(width, o == none ? 1 : frame_[index(o)].width);
    for (std::size_t l = 0; l < width; ++l)
      if (operand(v, 0, t, l) != 0 && (!has_operand(v, 1) || operand(v, 1, t, l) != 0))
        recorded_[i.attribute][t] = true;
  }

  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  static Bits address_of(const std::vector<Unit>& units) noexcept {
    return reinterpret_cast<std::uintptr_t>(units.data());
  }

  const LoopProgram& program_;
  LoopsMemory& memory_;
  std::int64_t left_;  // instructions of threads
  std::vector<Slot> frame_;
  std::vector<Value> ends_;
  std::vector<FastDivisorWords> divisors_;
  GridSize grid_;
  unsigned block_ = 0;
  std::size_t given_ = 0;  // regions of memory that outlive the block
  std::uint32_t block_barriers_ = 0;
  std::vector<std::uint32_t> warp_barriers_;
  std::vector<Threads> recorded_;  // by fault
  std::vector<std::vector<Unit>> shared_;
  std::vector<Unit> dynamic_;
  std::vector<Bits> given_elements_;
};

}  // namespace sinter::testing
