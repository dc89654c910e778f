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

SerialReduction::SerialReduction(Builder& b, Op op, DType dtype, int lanes)
    : b_(b), op_(op), dtype_(dtype), wide_(wide_dtype(op, dtype)), lanes_(lanes) {
  const std::string name(sinter::name(op));
  value_ = local(wide_, identity_bits(op, wide_), name);
  if (traits_of(op).gives_position) position_ = local(DType::Int64, 0, name + "_at");
  if (is_compensated()) compensation_ = local(wide_, 0, name + "_comp");
  if (op == Op::sum && dtype == DType::Float32 && lanes > 1) block_ = local(dtype, 0, name + "_block");
}

Value SerialReduction::local(DType dtype, std::uint64_t first, const std::string& name) {
  return b_.local(element_type(dtype), lanes_, lanes_ == 1 ? b_.constant(dtype, first) : none, name);
}

void SerialReduction::start(Value lane) {
  if (lanes_ == 1) return;
  b_.set(value_, lane, b_.constant(wide_, identity_bits(op_, wide_)));
  if (position_ != none) b_.set(position_, lane, b_.constant(DType::Int64, 0));
  if (compensation_ != none) b_.set(compensation_, lane, b_.constant(wide_, 0));
}

void SerialReduction::add(Value element, Value position, Value lane) {
  if (traits_of(op_).gives_position) return choose(element, position, at(lane));
  const Value wide = b_.cast(element, wide_);
  if (is_compensated()) return add_compensated(wide, at(lane));
  b_.set(value_, at(lane), b_.op(op_, wide_, {b_.get(value_, at(lane)), wide}));
}

void SerialReduction::add_in_block(Value element, Value position, Value lane) {
  if (block_ == none) return add(element, position, lane);
  b_.set(block_, lane, b_.op(op_, dtype_, {b_.get(block_, lane), element}));
}

void SerialReduction::start_block(Value lane) {
  if (block_ != none) b_.set(block_, lane, b_.constant(dtype_, 0));
}

void SerialReduction::finish_block(Value lane) {
  if (block_ != none) add(b_.get(block_, lane), none, lane);
}

/// Knuth, TAOCP 2, 4.2.2, theorem B. The rounding errors of infinities and NaN are not added.
void SerialReduction::add_compensated(Value element, Value lane) {
  const auto sub = [&](Value a, Value b) { return b_.op(Op::sub, wide_, {a, b}); };
  const auto add = [&](Value a, Value b) { return b_.op(Op::add, wide_, {a, b}); };
  const Value zero = b_.constant(wide_, 0), sum = b_.get(value_, lane);
  const Value next = add(sum, element), rounded = sub(next, sum);
  const Value error = add(sub(sum, sub(next, rounded)), sub(element, rounded));
  const Value is_finite = b_.op(Op::eq, DType::Bool, {sub(error, error), zero});
  b_.set(compensation_, lane, add(b_.get(compensation_, lane), b_.select(is_finite, error, zero)));
  b_.set(value_, lane, next);
}

void SerialReduction::combine_lanes() {
  for (int half = lanes_ / 2; half > 0; half /= 2)
    b_.emit_counted(half, "l", [&](Value lane) {
      const Value other = b_.add(lane, b_.integer(Kind::Index, half)), element = b_.get(value_, other);
      if (!is_compensated()) return b_.set(value_, lane, b_.op(op_, wide_, {b_.get(value_, lane), element}));
      add_compensated(element, lane);
      b_.set(compensation_, lane, b_.op(Op::add, wide_, {b_.get(compensation_, lane), b_.get(compensation_, other)}));
    });
}

/// The first of those that are equal stays. Only floats are NaN, of which the table's comparison takes the first.
void SerialReduction::choose(Value element, Value position, Value lane) {
  const Value best = b_.get(value_, lane);
  const Value wins = category(dtype_) == Category::Float ? b_.op(op_, DType::Bool, {best, element})
                     : op_ == Op::argmax                 ? b_.op(Op::gt, DType::Bool, {element, best})
                                                         : b_.op(Op::lt, DType::Bool, {element, best});
  b_.emit_if(wins, [&] {
    b_.set(value_, lane, element);
    b_.set(position_, lane, position);
  });
}

Value SerialReduction::results() const noexcept {
  if (position_ != none) return position_;
  return wide_ == dtype_ && compensation_ == none ? value_ : none;
}

Value SerialReduction::result(Value lane) const {
  if (results() != none) return b_.get(results(), at(lane));
  const Value value = b_.get(value_, at(lane));
  return b_.cast(is_compensated() ? b_.op(Op::add, wide_, {value, b_.get(compensation_, at(lane))}) : value, dtype_);
}

}  // namespace sinter::inline v1::jit::loops
