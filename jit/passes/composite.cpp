#include "composite.hpp"

#include <algorithm>

#include "reduction_functions.hpp"
#include "special_functions.hpp"
#include "terms.hpp"

namespace sinter::inline v1::jit {

namespace terms {
namespace {

/// The expansion of a composite operation with these operands; operands beyond its arity are ignored.
Term expansion(Op op, [[maybe_unused]] Term a, [[maybe_unused]] Term b, [[maybe_unused]] Term c,
               [[maybe_unused]] Term d, [[maybe_unused]] Term e, const Constants& T) {
  switch (op) {
#define SINTER_OP(name, arity, rule, cost, traits, body, derivative, doc)
#define SINTER_COMPOSITE_OP(name, arity, rule, body, derivative, doc) \
  case Op::name: return body;
#include "../ops/ops.def"
    default: throw Error(std::string(name(op)) + " is not a composite operation");
  }
}

/// The body of a composite reduction.
Term reduction_expansion(const Node& n, Term a, Term b, const Constants& T) {
  const Reducer along(ReduceAxes::of(n.attribute), T);
  const auto sum = [&](Term x) { return along.sum(x); };
  const auto amax = [&](Term x) { return along.amax(x); };
  const auto all = [&](Term x) { return along.all(x); };
  const auto count = [&](Term x) { return along.count(x); };
  const auto keep_dims = [&](Term x) { return along.keep_dims(x); };
  const auto ones = [&](Term x) { return along.ones(x); };
  const auto variance = [&](Term x, Term correction) { return along.variance(x, correction); };
  switch (n.op) {
#define SINTER_REDUCTION(name, arity, rule, identity, combine, derivative, doc)
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind, body, derivative, doc) \
  case Op::name: return body;
#include "../ops/reductions.def"
    default: throw Error(std::string(name(n.op)) + " is not a composite reduction");
  }
}

}  // namespace
}  // namespace terms

namespace {

/// Whether an operation uses the infinities and limits of its own dtype, not those of its compute dtype.
bool asks_its_dtype(Op op) noexcept {
  return op == Op::nan_to_num || op == Op::nan_to_num_posinf || op == Op::nan_to_num_infinities;
}

}  // namespace

Graph expand_composites(const Graph& graph, Composites which) {
  switch (which) {
    case Composites::Reductions: return expand_composites(graph, is_reduction);
    case Composites::WithLimits: return expand_composites(graph, asks_its_dtype);
    case Composites::All: break;
  }
  return expand_composites(graph, is_composite);
}

Graph expand_composites(const Graph& graph, bool (*expands)(Op)) {
  Graph out;
  out.reserve(2 * graph.nodes().size(), 2 * graph.all_operands().size());
  std::vector<Operand> remap, operands;
  remap.reserve(graph.nodes().size());
  for (const Node& n : graph.nodes()) {
    operands.clear();
    for (Operand o : graph.operands(n)) operands.push_back(remap[static_cast<std::size_t>(o.node)]);
    if (!is_composite(n.op) || !expands(n.op)) {
      remap.push_back(out.node(n.op, n.dtype, operands, n.attribute));
      continue;
    }
    const auto term = [&](std::size_t i) { return terms::Term{&out, operands[std::min(i, operands.size() - 1)]}; };
    const terms::Constants numbers{term(max_arity)};
    const terms::Term expanded = is_reduction(n.op)
                                     ? terms::reduction_expansion(n, term(0), term(1), numbers)
                                     : terms::expansion(n.op, term(0), term(1), term(2), term(3), term(4), numbers);
    remap.push_back(expanded.operand);
    if (out[remap.back()].dtype != n.dtype)
      throw Error(std::string(name(n.op)) + " expands to a dtype other than its rule's");
  }
  for (Operand o : graph.outputs()) out.output(remap[static_cast<std::size_t>(o.node)]);
  return out;
}

}  // namespace sinter::inline v1::jit
