// The loops of a thread over its vectors of a row, or of the whole domain.
#pragma once
#include <functional>

#include "registers.hpp"

namespace sinter::inline v1::jit::loops {

/// The vectors that a thread processes: `thread`, `thread + team`, ... in [begin, end), then, as the tail, the elements
/// after the row's last full vector. All are indices.
struct Share {
  Value thread, team;
  int team_size;  // 0: known at launch
  Value begin, end;
  Value vectors;   // of the whole row
  Value here;      // whether there is a row; none: there is
  Value has_tail;  // whether the thread's part of the row includes the tail; none: always
};

/// A vector to process. Some of its values may be in registers, at `step` of their arrays.
struct Tile {
  Place place;
  Value step = none;
  const Registers* registers = nullptr;
  const Registers* saved = nullptr;  // arrays for values that later passes read
};

using Visit = std::function<void(const Tile&)>;
/// Visits each vector of a batch, whose inputs have been loaded.
using Batch = std::function<void(const Visit&)>;

class Traversal {
 public:
  /// `team_size` as in Share.
  Traversal(const Frame& frame, Builder& b, const Operands& operands, int team_size)
      : frame_(frame), b_(b), operands_(operands), tail_steps_(tail_steps(team_size)) {}

  /// Whether a row may have elements after its last full vector.
  bool has_tail() const noexcept;
  /// Loads what stays in registers for a whole row.
  void load_kept(const Share& share);
  /// Chooses what a pass over such a row saves in registers for later passes, by `save`.
  void begin_pass(std::size_t number);
  void save(const Tile& tile, const Values& values) const;
  void end_pass();
  const Registers& kept() const noexcept { return kept_; }
  /// One pass: batches where the scheme has them, and single vectors.
  void pass(std::size_t number, const Share& share, const Visit& visit,
            const std::function<void(const Batch&)>& visit_batch);
  /// An input's elements, in a pass: from registers, the row cache or memory.
  Value load(std::size_t pass, const OperandLayout& a, const Tile& tile) const;

 private:
  bool is_kept(const OperandLayout& a) const noexcept {
    return frame_.scheme.kept && a.is_loaded() && frame_.passes.is_kept(a.number);
  }
  bool reads(const OperandLayout& a, std::size_t pass) const {
    return !a.output && a.is_element() && frame_.passes.passes[pass].inputs[a.number];
  }
  /// Whether the pass is the first to read an input that stays in the row cache, and whether it reads it from there.
  bool fills_cache(const OperandLayout& a, std::size_t pass) const;
  bool reads_cache(const OperandLayout& a, std::size_t pass) const {
    return a.row_cache && reads(a, pass) && !fills_cache(a, pass);
  }
  Value uses_cache() const { return b_.less(b_.integer(Kind::Word, 0), operands_.cached_extent()); }
  Value lacks_cache() const { return b_.equal(operands_.cached_extent(), b_.integer(Kind::Word, 0)); }

  int tail_steps(int team_size) const noexcept;
  Place kept_place(const Share& share, Value step) const;
  Place tail_place(const Share& share, Value step) const;
  void kept_pass(const Share& share, const Visit& visit);
  void looped_pass(std::size_t number, const Share& share, const Visit& visit,
                   const std::function<void(const Batch&)>& visit_batch);
  void tail(const Share& share, const Visit& visit);
  Registers load_batch(std::size_t number, const std::function<Place(Value)>& place) const;
  void unroll(int count, const std::function<void(Value)>& statement) const;

  const Frame& frame_;
  Builder& b_;
  const Operands& operands_;
  const int tail_steps_;
  Registers kept_, tail_;            // of the row's vectors, and of the elements after them
  Registers next_kept_, next_tail_;  // what the pass saves of them
};

}  // namespace sinter::inline v1::jit::loops
