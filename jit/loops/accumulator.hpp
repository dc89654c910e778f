// The running partial result of a thread during a pass over its vectors of a row.
#pragma once
#include "reducer.hpp"

namespace sinter::inline v1::jit::loops {

/// Combines partial results of a stage into one.
class Accumulator {
 public:
  enum Kind : std::uint8_t {
    Plain,        // without online sums
    Compensated,  // without online sums; sums of floats are compensated (Knuth, TAOCP 2, 4.2.2, theorem B)
    Whole,
  };
  Accumulator(const LoweringContext& context, Builder& b, const Reducer& reducer, Kind kind);

  void add(const Partial& partial);
  /// The partial result without compensations.
  Partial current() const;
  Partial finalize() const;

 private:
  bool is_compensated(const Reducer::Field& f) const noexcept { return kind_ == Compensated && f.is_float_sum(); }

  Builder& b_;
  const Reducer& reducer_;
  const Kind kind_;
  std::vector<Value> values_, compensations_;  // locals; none where there is no compensation
};

/// The online sums of a stage, each relative to a shift: the running value of the reduction that it depends on, its
/// base. The shift of a sum of exponentials changes only if the maximum has grown by more than 8, so each rescaling
/// multiplies earlier rounding errors by at most e^-8. The shift of a sum of squares is, after the first two batches,
/// the mean of at least a third of the elements so far; the shifted sum loses at most one rounding at each of log2(n)
/// changes, and is at most four times the sum of squared deviations from the mean.
class OnlineSums {
 public:
  /// The terms that `add` takes: for each online sum the sum of its terms and, if it is one of squares, the sum of the
  /// deviations.
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

  OnlineSums(const LoweringContext& context, Builder& b, const Reducer& reducer);

  /// Updates the bases and the shifts with the next `count` elements.
  void advance(const Partial& batch, int count);
  /// The current shift of one of the stage's online sums.
  Value shift(std::size_t i) const { return b_.get(states_[i].shift); }
  Batch batch() const;
  void add(const Centered& centered);
  Partial finalize() const;

 private:
  struct Sum {
    Value value = none, compensation = none;  // locals
  };
  struct State {
    Value shift = none;
    Sum terms, deviations;
  };

  Sum sum(Type type, const char* name);
  void recenter(const Partial& batch, int added);
  Value as_float(Value index, DType dtype) const;
  Value finalize(const Sum& sum) const;

  Builder& b_;
  const Reducer& reducer_;
  const DType position_dtype_;
  Accumulator bases_;
  std::vector<State> states_;
  Value count_ = none, next_ = none;  // the numbers of elements so far, and at the next change of the means' shifts
};

}  // namespace sinter::inline v1::jit::loops
