#include "reducer.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace sinter::inline v1::jit::loops {
namespace {

/// The identity column of reductions.def.
std::string_view identity_of(Op op) noexcept {
  switch (op) {
#define SINTER_REDUCTION(name, arity, rule, identity, combine, derivative, doc) \
  case Op::name: return #identity;
#include "../ops/reductions.def"
    default: return "none";
  }
}

bool finds_min(Op op) noexcept { return op == Op::amin || op == Op::argmin; }

template <class T>
T identity_of_min_max(bool is_min) noexcept {
  using Limits = std::numeric_limits<T>;
  if (Limits::has_infinity) return is_min ? Limits::infinity() : -Limits::infinity();
  return is_min ? Limits::max() : Limits::lowest();
}

std::uint64_t identity_bits_of_min_max(DType dtype, bool is_min) noexcept {
  switch (dtype) {
    case DType::Float64: return std::bit_cast<std::uint64_t>(identity_of_min_max<double>(is_min));
    case DType::Float32: return std::bit_cast<std::uint32_t>(identity_of_min_max<float>(is_min));
    case DType::Int64: return static_cast<std::uint64_t>(identity_of_min_max<std::int64_t>(is_min));
    case DType::Bool: return is_min;
    default: return static_cast<std::uint32_t>(identity_of_min_max<std::int32_t>(is_min));
  }
}

}  // namespace

std::uint64_t identity_bits(Op reduction, DType dtype) noexcept {
  const std::string_view identity = identity_of(reduction);
  if (identity == "none") return identity_bits_of_min_max(dtype, finds_min(reduction));
  const auto number = static_cast<std::uint64_t>(identity[2] - '0');  // T(0), T(1)
  return convert_bits(number, DType::Int64, dtype);
}

Reducer::Reducer(const LoweringContext& context, Builder& b, int stage) : b_(b) {
  const Graph& graph = context.graph;
  const RowPass& pass = context.passes.passes[static_cast<std::size_t>(stage)];
  for (const Operand o : pass.reductions) {
    const Op op = graph[o].op;
    fields_.push_back({o, op, graph[graph.operands(graph[o])[0]].dtype, traits_of(op).gives_position, dtypes_.size()});
    dtypes_.push_back(fields_.back().dtype);
    if (fields_.back().has_position) dtypes_.push_back(context.position_dtype());
  }
  field_values_ = dtypes_.size();
  for (const OnlineSum& s : pass.online) {
    const auto base = std::ranges::find(fields_, s.base, &Field::reduction);
    online_.push_back({s, graph[s.sum].dtype, dtypes_.size(), base->at});
    dtypes_.insert(dtypes_.end(), online_.back().is_square() ? 4 : 1, online_.back().dtype);
  }
}

bool Reducer::has_float_sum() const noexcept { return std::ranges::any_of(fields_, &Field::is_float_sum); }

std::string Reducer::name(std::size_t value) const {
  for (const Field& f : fields_)
    if (value - f.at <= (f.has_position ? 1u : 0u))
      return std::string(sinter::name(f.op)) + (value > f.at ? "_at" : "");
  return "online";
}

Partial Reducer::identity() const {
  Partial partial;
  for (const Field& f : fields_) {
    partial.push_back(b_.constant(f.dtype, identity_bits(f.op, f.dtype)));
    if (f.has_position)
      partial.push_back(b_.constant(dtypes_[f.at + 1], identity_bits_of_min_max(dtypes_[f.at + 1], true)));
  }
  for (const Online& o : online_) partial.insert(partial.end(), o.is_square() ? 4 : 1, b_.constant(o.dtype, 0));
  return partial;
}

Partial Reducer::combine(const Partial& a, const Partial& b) const {
  Partial out(a.size(), none);
  for (const Field& f : fields_) combine_field(f, a, b, out);
  if (a.size() > field_values_)
    for (const Online& o : online_) combine_online(o, a, b, out);
  return out;
}

void Reducer::combine_field(const Field& f, const Partial& a, const Partial& b, Partial& out) const {
  const Value x = a[f.at], y = b[f.at];
  if (!f.has_position) {
    out[f.at] = b_.op(f.op, f.dtype, {x, y});
    return;
  }
  const Value x_at = a[f.at + 1], y_at = b[f.at + 1];
  const Value wins = b_.op(f.op, DType::Bool, {x, y}), loses = b_.op(f.op, DType::Bool, {y, x});
  const Value earlier = b_.op(Op::lt, DType::Bool, {y_at, x_at});
  const Value wins_or_ties = b_.op(Op::logical_or, DType::Bool, {wins, earlier});
  const Value taken = b_.select(loses, wins, wins_or_ties);
  out[f.at] = b_.select(taken, y, x);
  out[f.at + 1] = b_.select(taken, y_at, x_at);
}

/// The sum of exponentials with the smaller maximum is rescaled to the larger one (Milakov and Gimelshein, 2018).
/// Moments are merged as by Chan, Golub and LeVeque, 1979.
void Reducer::combine_online(const Online& o, const Partial& a, const Partial& b, Partial& out) const {
  const Type type = element_type(o.dtype);
  if (!o.is_square()) {
    const Value of_a = b_.call("rescale_to_larger_max", type, {a[o.at], a[o.base], b[o.base]});
    const Value of_b = b_.call("rescale_to_larger_max", type, {b[o.at], b[o.base], a[o.base]});
    out[o.at] = b_.op(Op::add, o.dtype, {of_a, of_b});
    return;
  }
  std::vector<Value> operands;
  const char* const names[] = {"squares", "mean", "mean_comp", "count"};
  const Type all = b_.type(a[o.at]);
  for (std::size_t i = 0; i < 4; ++i) operands.push_back(b_.local(all, 1, a[o.at + i], names[i]));
  operands.insert(operands.end(), b.begin() + static_cast<std::ptrdiff_t>(o.at),
                  b.begin() + static_cast<std::ptrdiff_t>(o.at + 4));
  b_.call("merge_moments", {}, operands);
  for (std::size_t i = 0; i < 4; ++i) out[o.at + i] = b_.get(operands[i]);
}

Partial Reducer::reduce_vector(Partial a) const {
  while (b_.width(a[0]) > 1) {
    Partial low, high;
    for (const Value v : a) low.push_back(b_.low(v)), high.push_back(b_.high(v));
    a = combine(low, high);
  }
  return a;
}

Partial Reducer::select(Value condition, const Partial& a, const Partial& b) const {
  if (condition == none) return a;
  Partial out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(b_.select(condition, a[i], b[i]));
  return out;
}

void Reducer::results(const Partial& whole, std::vector<Value>& values) const {
  for (const Field& f : fields_)
    values[static_cast<std::size_t>(f.reduction.node)] =
        f.has_position ? b_.cast(whole[f.at + 1], DType::Int64) : whole[f.at];
  for (const Online& o : online_) {
    Value& result = values[static_cast<std::size_t>(o.sum.sum.node)];
    result = whole[o.at];
    if (o.is_square() || o.sum.shift != o.sum.base) continue;
    // x - amax(x) is NaN if the maximum is infinite or NaN, so the sum must be NaN too.
    const Value max = whole[o.base];
    const Value nan_if_infinite = b_.op(Op::sub, o.dtype, {max, max});
    result = b_.op(Op::add, o.dtype, {result, nan_if_infinite});
  }
}

}  // namespace sinter::inline v1::jit::loops
