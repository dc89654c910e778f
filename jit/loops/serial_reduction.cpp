#include "serial_reduction.hpp"

#include "../ops/traits.hpp"
#include "reducer.hpp"

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
  if (traits_of(op).gives_position)
    position_ = b.local(element_type(DType::Int64), 1, b.constant(DType::Int64, 0), name + "_at");
  if (is_compensated()) compensation_ = b.local(element_type(wide_), 1, b.constant(wide_, 0), name + "_comp");
}

void SerialReduction::add(Value element, Value position) {
  if (traits_of(op_).gives_position) return choose(element, position);
  const Value wide = b_.cast(element, wide_);
  if (is_compensated()) return void(b_.call("compensated_add", {}, {value_, compensation_, wide}));
  b_.set(value_, b_.op(op_, wide_, {b_.get(value_), wide}));
}

/// The first of those that are equal stays. Only floats are NaN, of which the table's comparison takes the first.
void SerialReduction::choose(Value element, Value position) {
  const Value best = b_.get(value_);
  const Value wins = category(dtype_) == Category::Float ? b_.op(op_, DType::Bool, {best, element})
                     : op_ == Op::argmax                 ? b_.op(Op::gt, DType::Bool, {element, best})
                                                         : b_.op(Op::lt, DType::Bool, {element, best});
  b_.emit_if(wins, [&] {
    b_.set(value_, element);
    b_.set(position_, position);
  });
}

Value SerialReduction::result() const {
  if (traits_of(op_).gives_position) return b_.get(position_);
  const Value value = b_.get(value_);
  return b_.cast(is_compensated() ? b_.op(Op::add, wide_, {value, b_.get(compensation_)}) : value, dtype_);
}

}  // namespace sinter::inline v1::jit::loops
