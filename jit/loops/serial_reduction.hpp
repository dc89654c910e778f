// A reduction of elements in their order.
#pragma once
#include "builder.hpp"

namespace sinter::inline v1::jit::loops {

class SerialReduction {
 public:
  /// `dtype` is that of the elements.
  SerialReduction(Builder& b, Op op, DType dtype);

  /// `position` is the element's in its row.
  void add(Value element, Value position);
  Value result() const;

 private:
  bool is_compensated() const noexcept { return op_ == Op::sum && dtype_ == DType::Float64; }
  void choose(Value element, Value position);

  Builder& b_;
  const Op op_;
  const DType dtype_, wide_;                                    // of the elements, and of what they are combined in
  Value value_ = none, position_ = none, compensation_ = none;  // locals; none if there is none
};

}  // namespace sinter::inline v1::jit::loops
