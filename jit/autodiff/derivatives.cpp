#include "derivatives.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "../functions/functions.hpp"

namespace sinter::inline v1::jit {
namespace terms::slopes {
namespace {

template <class... S>
std::vector<Slope> list(const S&... slopes) {
  return {Slope(slopes)...};
}

/// Operands beyond an operation's arity are copies of its last one.
struct Operands {
  Term a, b, c, d, e;
};

std::vector<Slope> elementwise(Op op, Term r, Term g, const Operands& operands) {
  [[maybe_unused]] const auto [a, b, c, d, e] = operands;
  const Numbers T{r};
  switch (op) {
#define SINTER_OP(name, arity, rule, cost, traits, body_, derivative, doc) \
  case Op::name: return list derivative;
#define SINTER_COMPOSITE_OP(name, arity, rule, body_, derivative, doc) \
  case Op::name: return list derivative;
#include "../ops/ops.def"
    default: return {};
  }
}

std::vector<Slope> reduction(const Node& n, Term r, Term g, const Operands& operands) {
  [[maybe_unused]] const auto [a, b, c, d, e] = operands;
  const Constants T{a};
  const Rows rows(ReduceAxes::of(n.attribute), a);
  const auto sum = [&](Term x) { return rows.sum(x); };
  const auto count = [&](Term x) { return rows.count(x); };
  const auto mean = [&](Term x) { return rows.mean(x); };
  const auto share_of = [&](Term mask) { return rows.share_of(mask); };
  const auto prod_slope = [&](Term slope, Term x, Term product) { return rows.prod_slope(slope, x, product); };
  switch (n.op) {
#define SINTER_REDUCTION(name, arity, rule, identity, combine, derivative, doc) \
  case Op::name: return list derivative;
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind, body_, derivative, doc) \
  case Op::name: return list derivative;
#include "../ops/reductions.def"
    default: return {};
  }
}

/// A call's, by functions of its operands, the gradient and the result.
std::vector<Slope> call(Graph& graph, const Node& n, Operand r, Operand g) {
  const DeviceFunction& f = called_function(n);
  std::vector<Operand> operands(graph.operands(n).begin(), graph.operands(n).end());
  std::vector<Slope> slopes(operands.size(), none);
  if (f.gradient_parameter) {
    operands[*f.gradient_parameter] = g;
    slopes[*f.gradient_parameter] = Term{&graph, graph.call(f.id, operands)};
    return slopes;
  }
  operands.insert(operands.end(), {g, r});
  for (std::size_t i = 0; i < f.derivatives.size(); ++i) {
    if (!f.derivatives[i]) continue;
    const std::size_t count = source_of(*f.derivatives[i]).parameters.size();
    slopes[i] = Term{&graph, graph.call(*f.derivatives[i], std::span(operands).first(count))};
  }
  return slopes;
}

}  // namespace
}  // namespace terms::slopes

bool derives_from_body(Op op) noexcept {
  switch (op) {
#define SINTER_OP(name, arity, rule, cost, traits, body, derivative, doc)
#define SINTER_COMPOSITE_OP(name, arity, rule, body, derivative, doc) \
  case Op::name: return std::string_view(#derivative) == "(body)";
#include "../ops/ops.def"
#define SINTER_REDUCTION(name, arity, rule, identity, combine, derivative, doc)
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind, body, derivative, doc) \
  case Op::name: return std::string_view(#derivative) == "(body)";
#include "../ops/reductions.def"
    default: return false;
  }
}

std::vector<terms::slopes::Slope> slopes_of(Graph& graph, NodeId of, Operand g) {
  using namespace terms;
  const Node n = graph.nodes()[static_cast<std::size_t>(of)];
  const auto operand = [&](std::size_t i) {
    return Term{&graph, graph.operands(n)[std::min<std::size_t>(i, n.arity - 1u)]};
  };
  if (n.op == Op::call) return slopes::call(graph, n, {of}, g);
  const slopes::Operands operands{operand(0), operand(1), operand(2), operand(3), operand(4)};
  const Term gradient{&graph, g};
  if (!is_reduction(n.op)) return slopes::elementwise(n.op, {&graph, {of}}, gradient, operands);
  Term result{&graph, {of}};
  if (info(n.op).reduction == Reduction::Reduces) {
    const std::vector<Operand> same(graph.operands(n).begin(), graph.operands(n).end());
    result.operand = graph.node(n.op, n.dtype, same, ReduceAxes{ReduceAxes::of(n.attribute).axes, true}.bits());
  }
  return slopes::reduction(n, result, gradient, operands);
}

}  // namespace sinter::inline v1::jit
