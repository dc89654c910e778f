// What a thread knows of its part of a row during a pass.
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

/// The online sums of a stage, by pivots: what is known of their leads so far. A pivot of exponentials moves by more
/// than 8 or not at all, so what earlier moves rounded shrinks by e^-8 each time; one of squares is the mean of a third
/// of the thread's elements at least, but for the first two batches, so their sum about it, of which u is lost at each
/// of log2(n) moves, is at most four times that about the mean.
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

  /// What is known of the leads in the next elements, of which there are so many.
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
