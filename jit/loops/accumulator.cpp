#include "accumulator.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace sinter::inline v1::jit::loops {
namespace {

/// The least finite value of a float dtype.
std::uint64_t lowest_bits(DType dtype) noexcept {
  return dtype == DType::Float64 ? std::bit_cast<std::uint64_t>(std::numeric_limits<double>::lowest())
                                 : std::bit_cast<std::uint32_t>(std::numeric_limits<float>::lowest());
}

}  // namespace

Accumulator::Accumulator(const LoweringContext& context, Builder& b, const Reducer& reducer, Kind kind)
    : b_(b), reducer_(reducer), kind_(kind) {
  const Partial identity = reducer.identity();
  const std::size_t count = kind == Whole ? identity.size() : reducer.field_values();
  for (std::size_t i = 0; i < count; ++i)
    values_.push_back(
        b.local(element_type(reducer.dtypes()[i], context.rows_of_thread()), 1, identity[i], reducer.name(i)));
  compensations_.resize(count, none);
  for (const Reducer::Field& f : reducer.fields())
    if (is_compensated(f))
      compensations_[f.at] = b.local(b.type(values_[f.at]), 1, b.constant(f.dtype, 0), reducer.name(f.at) + "_comp");
}

void Accumulator::add(const Partial& partial) {
  const Partial before = current(), after = reducer_.combine(before, partial);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (compensations_[i] != none)
      b_.call("compensated_add", {}, {values_[i], compensations_[i], partial[i]});
    else
      b_.set(values_[i], after[i]);
  }
}

Partial Accumulator::current() const {
  Partial partial;
  for (const Value v : values_) partial.push_back(b_.get(v));
  return partial;
}

Partial Accumulator::finalize() const {
  Partial partial = current();
  for (std::size_t i = 0; i < partial.size(); ++i)
    if (compensations_[i] != none)
      partial[i] = b_.call("compensated_value", b_.type(partial[i]), {partial[i], b_.get(compensations_[i])});
  return partial;
}

OnlineSums::OnlineSums(const LoweringContext& context, Builder& b, const Reducer& reducer)
    : b_(b),
      reducer_(reducer),
      position_dtype_(context.position_dtype()),
      bases_(context, b, reducer, reducer.has_float_sum() ? Accumulator::Compensated : Accumulator::Plain) {
  bool has_squares = false;
  for (const Reducer::Online& o : reducer.online()) {
    const Type type = element_type(o.dtype, context.rows_of_thread());
    State s;
    s.shift = b.local(type, 1, b.constant(o.dtype, o.is_square() ? 0 : lowest_bits(o.dtype)), "shift");
    s.terms = sum(type, o.is_square() ? "squares" : "exponentials");
    if (o.is_square()) s.deviations = sum(type, "deviations");
    has_squares |= o.is_square();
    states_.push_back(s);
  }
  if (!has_squares) return;
  const Type index = index_type(Kind::Index);
  count_ = b.local(index, 1, b.integer(Kind::Index, 0), "count");
  next_ = b.local(index, 1, b.integer(Kind::Index, 0), "next");
}

OnlineSums::Sum OnlineSums::sum(Type type, const char* name) {
  const Value zero = b_.constant(type.dtype, 0);
  return {b_.local(type, 1, zero, name), b_.local(type, 1, zero, std::string(name) + "_comp")};
}

/// A mean remains the shift until there are twice as many elements; a maximum, until there is a much larger one.
void OnlineSums::advance(const Partial& batch, int count) {
  if (count_ != none) recenter(batch, count);
  bases_.add(batch);
  const Partial bases = bases_.current();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Reducer::Online& o = reducer_.online()[i];
    const State& s = states_[i];
    if (!o.is_square()) b_.call("update_max_shift", {}, {s.shift, s.terms.value, s.terms.compensation, bases[o.base]});
  }
}

void OnlineSums::recenter(const Partial& batch, int added) {
  const Value before = b_.get(count_), after = b_.add(before, b_.integer(Kind::Index, added));
  const Value next = b_.get(next_), beyond = b_.add(before, b_.integer(Kind::Index, 1));
  b_.emit_if(b_.less(next, beyond), [&] {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const Reducer::Online& o = reducer_.online()[i];
      const State& s = states_[i];
      if (!o.is_square()) continue;
      const Value count = as_float(before, o.dtype),
                  more = b_.constant(o.dtype, convert_bits(static_cast<std::uint64_t>(added), DType::Int64, o.dtype));
      b_.call("recenter", {},
              {s.shift, s.terms.value, s.terms.compensation, s.deviations.value, s.deviations.compensation,
               batch[o.base], count, more});
    }
    b_.set(next_, b_.mul_by(after, 2));
  });
  b_.set(count_, after);
}

Value OnlineSums::as_float(Value index, DType dtype) const {
  return b_.cast(b_.element(index, position_dtype_), dtype);
}

OnlineSums::Batch OnlineSums::batch() const {
  Batch batch(b_);
  const auto add = [&](const Sum& s) {
    if (s.value != none)
      batch.locals_.push_back(b_.local(b_.type(s.value), 1, b_.constant(b_.type(s.value).dtype, 0), "batch"));
  };
  for (const State& s : states_) add(s.terms), add(s.deviations);
  return batch;
}

void OnlineSums::Batch::add(const Centered& centered) {
  for (std::size_t i = 0; i < locals_.size(); ++i)
    b_.set(locals_[i], b_.op(Op::add, b_.type(centered[i]).dtype, {b_.get(locals_[i]), centered[i]}));
}

OnlineSums::Centered OnlineSums::Batch::current() const {
  Centered terms;
  for (const Value local : locals_) terms.push_back(b_.get(local));
  return terms;
}

void OnlineSums::add(const Centered& centered) {
  std::size_t at = 0;
  const auto add = [&](const Sum& s) {
    if (s.value != none) b_.call("compensated_add", {}, {s.value, s.compensation, centered[at++]});
  };
  for (const State& s : states_) add(s.terms), add(s.deviations);
}

Value OnlineSums::finalize(const Sum& sum) const {
  const Value value = b_.get(sum.value);
  return b_.call("compensated_value", b_.type(value), {value, b_.get(sum.compensation)});
}

Partial OnlineSums::finalize() const {
  Partial partial = bases_.finalize();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Reducer::Online& o = reducer_.online()[i];
    const Value shift = b_.get(states_[i].shift), terms = finalize(states_[i].terms);
    if (!o.is_square()) {
      partial.push_back(b_.call("rescale_to_max", element_type(o.dtype), {terms, shift, partial[o.base]}));
      continue;
    }
    const Value count = b_.splat(as_float(b_.get(count_), o.dtype), b_.width(terms));
    const Value squares = b_.local(b_.type(terms), 1, terms, "squares");
    const Value mean_comp = b_.local(b_.type(terms), 1, b_.constant(o.dtype, 0), "mean_comp");
    b_.call("moments_from_shifted_sums", {}, {squares, mean_comp, finalize(states_[i].deviations), count});
    partial.insert(partial.end(), {b_.get(squares), shift, b_.get(mean_comp), count});
  }
  return partial;
}

}  // namespace sinter::inline v1::jit::loops
