#include "parts.hpp"

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

bool finds_least(Op op) noexcept { return op == Op::amin || op == Op::argmin; }

template <class T>
T worst(bool greatest) noexcept {
  using Limits = std::numeric_limits<T>;
  if (Limits::has_infinity) return greatest ? Limits::infinity() : -Limits::infinity();
  return greatest ? Limits::max() : Limits::lowest();
}

std::uint64_t worst_bits(DType dtype, bool greatest) noexcept {
  switch (dtype) {
    case DType::Float64: return std::bit_cast<std::uint64_t>(worst<double>(greatest));
    case DType::Float32: return std::bit_cast<std::uint32_t>(worst<float>(greatest));
    case DType::Int64: return static_cast<std::uint64_t>(worst<std::int64_t>(greatest));
    case DType::Bool: return greatest;
    default: return static_cast<std::uint32_t>(worst<std::int32_t>(greatest));
  }
}

}  // namespace

std::uint64_t identity_bits(Op reduction, DType dtype) noexcept {
  const std::string_view identity = identity_of(reduction);
  if (identity == "none") return worst_bits(dtype, finds_least(reduction));
  const auto number = static_cast<std::uint64_t>(identity[2] - '0');  // T(0), T(1)
  return convert_bits(number, DType::Int64, dtype);
}

Parts::Parts(const Frame& frame, Builder& b, int stage) : b_(b) {
  const Graph& graph = frame.graph;
  const RowPass& pass = frame.passes.passes[static_cast<std::size_t>(stage)];
  for (const Operand o : pass.reductions) {
    const Op op = graph[o].op;
    fields_.push_back({o, op, graph[graph.operands(graph[o])[0]].dtype, facts(op).gives_position, dtypes_.size()});
    dtypes_.push_back(fields_.back().dtype);
    if (fields_.back().has_position) dtypes_.push_back(frame.position_dtype());
  }
  field_values_ = dtypes_.size();
  for (const OnlineSum& s : pass.online) {
    const auto lead = std::ranges::find(fields_, s.lead, &Field::reduction);
    online_.push_back({s, graph[s.sum].dtype, dtypes_.size(), lead->at});
    dtypes_.insert(dtypes_.end(), online_.back().is_square() ? 4 : 1, online_.back().dtype);
  }
}

bool Parts::has_float_sum() const noexcept { return std::ranges::any_of(fields_, &Field::is_float_sum); }

std::string Parts::name(std::size_t value) const {
  for (const Field& f : fields_)
    if (value - f.at <= (f.has_position ? 1u : 0u))
      return std::string(sinter::name(f.op)) + (value > f.at ? "_at" : "");
  return "online";
}

Part Parts::identity() const {
  Part part;
  for (const Field& f : fields_) {
    part.push_back(b_.constant(f.dtype, identity_bits(f.op, f.dtype)));
    if (f.has_position) part.push_back(b_.constant(dtypes_[f.at + 1], worst_bits(dtypes_[f.at + 1], true)));
  }
  for (const Online& o : online_) part.insert(part.end(), o.is_square() ? 4 : 1, b_.constant(o.dtype, 0));
  return part;
}

Part Parts::combine(const Part& a, const Part& b) const {
  Part out(a.size(), none);
  for (const Field& f : fields_) combine_field(f, a, b, out);
  if (a.size() > field_values_)
    for (const Online& o : online_) combine_online(o, a, b, out);
  return out;
}

void Parts::combine_field(const Field& f, const Part& a, const Part& b, Part& out) const {
  const Value x = a[f.at], y = b[f.at];
  if (!f.has_position) {
    out[f.at] = b_.alu(f.op, f.dtype, {x, y});
    return;
  }
  const Value x_at = a[f.at + 1], y_at = b[f.at + 1];
  const Value wins = b_.alu(f.op, DType::Bool, {x, y}), loses = b_.alu(f.op, DType::Bool, {y, x});
  const Value earlier = b_.alu(Op::lt, DType::Bool, {y_at, x_at});
  const Value wins_or_ties = b_.alu(Op::logical_or, DType::Bool, {wins, earlier});
  const Value taken = b_.select(loses, wins, wins_or_ties);
  out[f.at] = b_.select(taken, y, x);
  out[f.at + 1] = b_.select(taken, y_at, x_at);
}

/// The sum of exponentials with the smaller maximum is rescaled to the larger one (Milakov and Gimelshein, 2018). Of
/// moments: Chan, Golub and LeVeque, 1979.
void Parts::combine_online(const Online& o, const Part& a, const Part& b, Part& out) const {
  const Type type = element_type(o.dtype);
  if (!o.is_square()) {
    const Value of_a = b_.call("raised", type, {a[o.at], a[o.lead], b[o.lead]});
    const Value of_b = b_.call("raised", type, {b[o.at], b[o.lead], a[o.lead]});
    out[o.at] = b_.alu(Op::add, o.dtype, {of_a, of_b});
    return;
  }
  std::vector<Value> operands;
  const char* const names[] = {"squares", "mean", "mean_rest", "count"};
  const Type all = b_.type(a[o.at]);
  for (std::size_t i = 0; i < 4; ++i) operands.push_back(b_.local(all, 1, a[o.at + i], names[i]));
  operands.insert(operands.end(), b.begin() + static_cast<std::ptrdiff_t>(o.at),
                  b.begin() + static_cast<std::ptrdiff_t>(o.at + 4));
  b_.call("merge_moments", {}, operands);
  for (std::size_t i = 0; i < 4; ++i) out[o.at + i] = b_.get(operands[i]);
}

Part Parts::combine_lanes(Part a) const {
  while (b_.lanes(a[0]) > 1) {
    Part low, high;
    for (const Value v : a) low.push_back(b_.low(v)), high.push_back(b_.high(v));
    a = combine(low, high);
  }
  return a;
}

Part Parts::select(Value condition, const Part& a, const Part& b) const {
  if (condition == none) return a;
  Part out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(b_.select(condition, a[i], b[i]));
  return out;
}

void Parts::results(const Part& whole, std::vector<Value>& values) const {
  for (const Field& f : fields_)
    values[static_cast<std::size_t>(f.reduction.node)] =
        f.has_position ? b_.cast(whole[f.at + 1], DType::Int64) : whole[f.at];
  for (const Online& o : online_) {
    Value& result = values[static_cast<std::size_t>(o.sum.sum.node)];
    result = whole[o.at];
    if (o.is_square() || o.sum.pivot != o.sum.lead) continue;
    // x - amax(x) is NaN if the maximum is infinite or NaN, so the sum must be NaN too.
    const Value greatest = whole[o.lead];
    const Value none_if_infinite = b_.alu(Op::sub, o.dtype, {greatest, greatest});
    result = b_.alu(Op::add, o.dtype, {result, none_if_infinite});
  }
}

}  // namespace sinter::inline v1::jit::loops
