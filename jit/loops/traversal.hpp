// The loops of a thread over its vectors of a row, or of the whole domain.
#pragma once
#include <functional>

#include "operands.hpp"
#include "registers.hpp"

namespace sinter::inline v1::jit::loops {

/// The vectors that a thread processes: begin + thread, begin + thread + stride, ... below `end`, then, as the tail,
/// the elements after the row's last full vector. All are indices.
struct WorkRange {
  Value thread, stride;  // the thread's index in its team, and the number of threads of a team
  int team_size;         // the stride, if it is a constant; 0: it is known at launch
  Value begin, end;
  Value row_vectors;  // of the whole row
  Value row_active;   // whether the team has a row; none: always
  Value owns_tail;    // whether the range includes the row's tail; none: always
};

/// A vector to process. Some of its values may be in registers, at `step` of their arrays.
struct VectorSlot {
  VectorPosition at;
  Value step = none;
  const Registers* registers = nullptr;
  const Registers* saved = nullptr;  // arrays for values that later passes read
};

using Visit = std::function<void(const VectorSlot&)>;
/// Visits each vector of a batch, whose inputs have been loaded.
using Batch = std::function<void(const Visit&)>;

class Traversal {
 public:
  /// `team_size` as in WorkRange.
  Traversal(const LoweringContext& context, Builder& b, const Operands& operands, int team_size)
      : context_(context), b_(b), operands_(operands), tail_elements_(tail_elements(team_size)) {}

  /// Whether a row may have elements after its last full vector.
  bool has_tail() const noexcept;
  /// Loads the inputs that stay in registers for a whole row.
  void load_registers(const WorkRange& work);
  /// Chooses the values that a pass over a register-resident row saves for later passes, by `save`.
  void begin_pass(std::size_t pass);
  void save(const VectorSlot& slot, const Values& values) const;
  void end_pass();
  const Registers& registers() const noexcept { return registers_; }
  /// One pass: batches where the scheme has them, and single vectors.
  void pass(std::size_t pass, const WorkRange& work, const Visit& visit,
            const std::function<void(const Batch&)>& visit_batch);
  /// An input's elements, in a pass: from registers, the row cache or memory.
  Value load(std::size_t pass, const OperandLayout& a, const VectorSlot& slot) const;

 private:
  bool is_in_registers(const OperandLayout& a) const noexcept {
    return context_.scheme.in_registers && a.is_loaded() && context_.passes.keeps_in_registers(a.index);
  }
  bool reads(const OperandLayout& a, std::size_t pass) const {
    return !a.output && a.is_element() && context_.passes.passes[pass].inputs[a.index];
  }
  /// Whether the pass is the first to read an input that stays in the row cache, and whether it reads it from there.
  bool fills_cache(const OperandLayout& a, std::size_t pass) const;
  bool reads_cache(const OperandLayout& a, std::size_t pass) const {
    return a.row_cache && reads(a, pass) && !fills_cache(a, pass);
  }
  Value uses_cache() const { return b_.less(b_.integer(Kind::UInt32, 0), operands_.cached_extent()); }
  Value lacks_cache() const { return b_.equal(operands_.cached_extent(), b_.integer(Kind::UInt32, 0)); }

  int tail_elements(int team_size) const noexcept;
  VectorPosition position_of(const WorkRange& work, Value step) const;
  VectorPosition tail_position(const WorkRange& work, Value step) const;
  void register_pass(const WorkRange& work, const Visit& visit);
  void looped_pass(std::size_t pass, const WorkRange& work, const Visit& visit,
                   const std::function<void(const Batch&)>& visit_batch);
  void tail(const WorkRange& work, const Visit& visit);
  Registers load_batch(std::size_t pass, const std::function<VectorPosition(Value)>& position) const;
  void unroll(int count, const std::function<void(Value)>& statement) const;

  const LoweringContext& context_;
  Builder& b_;
  const Operands& operands_;
  const int tail_elements_;
  Registers registers_, tail_registers_;  // of the row's vectors, and of its tail
  Registers saved_, saved_tail_;          // of the same, those that the current pass saves
};

}  // namespace sinter::inline v1::jit::loops
