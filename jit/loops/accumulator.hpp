// The running partial results of a thread during a pass over its part of a row.
#pragma once
#include "parts.hpp"

namespace sinter::inline v1::jit::loops {

/// Combines parts of a stage into one.
class Accumulator {
 public:
  enum Kind : std::uint8_t {
    Plain,  // without online sums
    Exact,  // the same, and sums of floats keep what rounding loses (Knuth, TAOCP 2, 4.2.2, theorem B)
    Whole,
  };
  Accumulator(const Frame& frame, Builder& b, const Parts& parts, Kind kind);

  void add(const Part& part);
  /// The part, without compensation.
  Part current() const;
  Part finalize() const;

 private:
  bool is_exact(const Parts::Field& f) const noexcept { return kind_ == Exact && f.is_float_sum(); }

  Builder& b_;
  const Parts& parts_;
  const Kind kind_;
  std::vector<Value> values_, compensations_;  // locals; none where there is no compensation
};

/// The online sums of a stage, each about a pivot: the running value of the reduction that it depends on, its lead. The
/// pivot of a sum of exponentials moves only if the maximum has grown by more than 8, so each move multiplies earlier
/// rounding errors by at most e^-8. The pivot of a sum of squares is, after the first two batches, the mean of at least
/// a third of the elements so far; the sum about it loses at most one rounding at each of log2(n) moves, and is at most
/// four times the sum about the mean.
class OnlineSums {
 public:
  /// Sums of distances from pivots, as `add` takes them: of each online sum its terms' sum, and of squares the sum of
  /// the distances as well.
  using Centered = std::vector<Value>;

  /// Adds up terms of several vectors.
  class Batch {
   public:
    explicit Batch(Builder& b) : b_(b) {}
    void add(const Centered& centered);
    Centered current() const;

   private:
    friend class OnlineSums;
    Builder& b_;
    std::vector<Value> locals_;
  };

  OnlineSums(const Frame& frame, Builder& b, const Parts& parts);

  /// Updates the leads with the next elements, of which there are `count`.
  void advance(const Part& batch, int count);
  /// The pivot of one of the stage's online sums.
  Value pivot(std::size_t i) const { return b_.get(states_[i].pivot); }
  Batch batch() const;
  void add(const Centered& centered);
  Part finalize() const;

 private:
  struct Sum {
    Value value = none, compensation = none;  // locals
  };
  struct State {
    Value pivot = none;
    Sum terms, distances;
  };

  Sum sum(Type type, const char* name);
  void move_means(const Part& batch, int added);
  Value as_float(Value index, DType dtype) const;
  Value finalize(const Sum& sum) const;

  Builder& b_;
  const Parts& parts_;
  const DType position_dtype_;
  Accumulator leads_;
  std::vector<State> states_;
  Value count_ = none, next_ = none;  // of elements: those so far, and with which means move
};

}  // namespace sinter::inline v1::jit::loops
