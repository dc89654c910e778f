#include "serial_reduction.hpp"

#include "../ops/facts.hpp"
#include "parts.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

DType wide_dtype(Op op, DType dtype) noexcept {
  const bool adds_up = op == Op::sum || op == Op::prod;
  return adds_up && category(dtype) == Category::Float ? DType::Float64 : dtype;
}

}  // namespace

SerialReduction::SerialReduction(Builder& b, Op op, DType dtype)
    : b_(b), op_(op), dtype_(dtype), wide_(wide_dtype(op, dtype)) {
  const std::string name(sinter::name(op));
  value_ = b.local(element_type(wide_), 1, b.constant(wide_, identity_bits(op, wide_)), name);
  if (facts(op).gives_position)
    other_ = b.local(element_type(DType::Int64), 1, b.constant(DType::Int64, 0), name + "_at");
  if (is_compensated()) other_ = b.local(element_type(wide_), 1, b.constant(wide_, 0), name + "_lost");
}

void SerialReduction::add(Value element, Value position) {
  if (facts(op_).gives_position) return choose(element, position);
  const Value wide = b_.cast(element, wide_);
  if (is_compensated()) return void(b_.call("add_exactly", {}, {value_, other_, wide}));
  b_.set(value_, b_.alu(op_, wide_, {b_.get(value_), wide}));
}

/// The first of those that are equal stays. Only floats are NaN, of which the table's comparison takes the first.
void SerialReduction::choose(Value element, Value position) {
  const Value best = b_.get(value_);
  const Value wins = category(dtype_) == Category::Float ? b_.alu(op_, DType::Bool, {best, element})
                     : op_ == Op::argmax                 ? b_.alu(Op::gt, DType::Bool, {element, best})
                                                         : b_.alu(Op::lt, DType::Bool, {element, best});
  b_.when(wins);
  b_.set(value_, element);
  b_.set(other_, position);
  b_.end();
}

Value SerialReduction::result() const {
  if (facts(op_).gives_position) return b_.get(other_);
  const Value value = b_.get(value_);
  return b_.cast(is_compensated() ? b_.alu(Op::add, wide_, {value, b_.get(other_)}) : value, dtype_);
}

}  // namespace sinter::inline v1::jit::loops
