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

Accumulator::Accumulator(const Frame& frame, Builder& b, const Parts& parts, Kind kind)
    : b_(b), parts_(parts), kind_(kind) {
  const Part identity = parts.identity();
  const std::size_t count = kind == Whole ? identity.size() : parts.field_values();
  for (std::size_t i = 0; i < count; ++i)
    values_.push_back(b.local(element_type(parts.dtypes()[i], frame.rows_of_thread()), 1, identity[i], parts.name(i)));
  compensations_.resize(count, none);
  for (const Parts::Field& f : parts.fields())
    if (is_exact(f))
      compensations_[f.at] = b.local(b.type(values_[f.at]), 1, b.constant(f.dtype, 0), parts.name(f.at) + "_rest");
}

void Accumulator::add(const Part& part) {
  const Part before = current(), after = parts_.combine(before, part);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (compensations_[i] != none)
      b_.call("add_exactly", {}, {values_[i], compensations_[i], part[i]});
    else
      b_.set(values_[i], after[i]);
  }
}

Part Accumulator::current() const {
  Part part;
  for (const Value v : values_) part.push_back(b_.get(v));
  return part;
}

Part Accumulator::finalize() const {
  Part part = current();
  for (std::size_t i = 0; i < part.size(); ++i)
    if (compensations_[i] != none)
      part[i] = b_.call("compensated", b_.type(part[i]), {part[i], b_.get(compensations_[i])});
  return part;
}

OnlineSums::OnlineSums(const Frame& frame, Builder& b, const Parts& parts)
    : b_(b),
      parts_(parts),
      position_dtype_(frame.position_dtype()),
      leads_(frame, b, parts, parts.has_float_sum() ? Accumulator::Exact : Accumulator::Plain) {
  bool has_squares = false;
  for (const Parts::Online& o : parts.online()) {
    const Type type = element_type(o.dtype, frame.rows_of_thread());
    State s;
    s.pivot = b.local(type, 1, b.constant(o.dtype, o.is_square() ? 0 : lowest_bits(o.dtype)), "pivot");
    s.terms = sum(type, o.is_square() ? "squares" : "exponentials");
    if (o.is_square()) s.distances = sum(type, "distances");
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
  return {b_.local(type, 1, zero, name), b_.local(type, 1, zero, std::string(name) + "_rest")};
}

/// A mean is a pivot until there are twice as many elements; the greatest element until one is much greater.
void OnlineSums::advance(const Part& batch, int count) {
  if (count_ != none) move_means(batch, count);
  leads_.add(batch);
  const Part leads = leads_.current();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Parts::Online& o = parts_.online()[i];
    const State& s = states_[i];
    if (!o.is_square()) b_.call("raise_pivot", {}, {s.pivot, s.terms.value, s.terms.compensation, leads[o.lead]});
  }
}

void OnlineSums::move_means(const Part& batch, int added) {
  const Value before = b_.get(count_), after = b_.add(before, b_.integer(Kind::Index, added));
  const Value next = b_.get(next_), beyond = b_.add(before, b_.integer(Kind::Index, 1));
  b_.when(b_.less(next, beyond));
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Parts::Online& o = parts_.online()[i];
    const State& s = states_[i];
    if (!o.is_square()) continue;
    const Value count = as_float(before, o.dtype),
                more = b_.constant(o.dtype, convert_bits(static_cast<std::uint64_t>(added), DType::Int64, o.dtype));
    b_.call("move_mean", {},
            {s.pivot, s.terms.value, s.terms.compensation, s.distances.value, s.distances.compensation, batch[o.lead],
             count, more});
  }
  b_.set(next_, b_.times(after, 2));
  b_.end();
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
  for (const State& s : states_) add(s.terms), add(s.distances);
  return batch;
}

void OnlineSums::Batch::add(const Centered& centered) {
  for (std::size_t i = 0; i < locals_.size(); ++i)
    b_.set(locals_[i], b_.alu(Op::add, b_.type(centered[i]).dtype, {b_.get(locals_[i]), centered[i]}));
}

OnlineSums::Centered OnlineSums::Batch::current() const {
  Centered terms;
  for (const Value local : locals_) terms.push_back(b_.get(local));
  return terms;
}

void OnlineSums::add(const Centered& centered) {
  std::size_t at = 0;
  const auto add = [&](const Sum& s) {
    if (s.value != none) b_.call("add_exactly", {}, {s.value, s.compensation, centered[at++]});
  };
  for (const State& s : states_) add(s.terms), add(s.distances);
}

Value OnlineSums::finalize(const Sum& sum) const {
  const Value value = b_.get(sum.value);
  return b_.call("compensated", b_.type(value), {value, b_.get(sum.compensation)});
}

Part OnlineSums::finalize() const {
  Part part = leads_.finalize();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Parts::Online& o = parts_.online()[i];
    const Value pivot = b_.get(states_[i].pivot), terms = finalize(states_[i].terms);
    if (!o.is_square()) {
      part.push_back(b_.call("at_greatest", element_type(o.dtype), {terms, pivot, part[o.lead]}));
      continue;
    }
    const Value count = b_.splat(as_float(b_.get(count_), o.dtype), b_.lanes(terms));
    const Value squares = b_.local(b_.type(terms), 1, terms, "squares");
    const Value rest = b_.local(b_.type(terms), 1, b_.constant(o.dtype, 0), "mean_rest");
    b_.call("about_mean", {}, {squares, rest, finalize(states_[i].distances), count});
    part.insert(part.end(), {b_.get(squares), pivot, b_.get(rest), count});
  }
  return part;
}

}  // namespace sinter::inline v1::jit::loops
