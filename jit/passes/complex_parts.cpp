#include "complex_parts.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "../infer/shapes.hpp"
#include "complex_functions.hpp"

namespace sinter::inline v1::jit {

namespace terms {
namespace {

/// T(2) in a body: a real number.
template <class Value>
struct NumbersLike {
  Term like;
  Value operator()(double value) const { return like.number(value); }
};

/// An operation's body over complex operands; operands beyond its arity are ignored. A template, so that bodies that do
/// not support complex numbers are not compiled.
template <class V>
V complex_body(Op op, [[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c, [[maybe_unused]] V d,
               [[maybe_unused]] V e, [[maybe_unused]] const NumbersLike<V>& T) {
  switch (op) {
#define SINTER_OP(name, arity, rule, cost, traits, body, derivative, doc)                             \
  case Op::name:                                                                                      \
    if constexpr (takes_complex(Op::name) || DTypeRule::rule == DTypeRule::ComplexParts) return body; \
    break;
#define SINTER_COMPOSITE_OP(name, arity, rule, body, derivative, doc)                                 \
  case Op::name:                                                                                      \
    if constexpr (takes_complex(Op::name) || DTypeRule::rule == DTypeRule::ComplexParts) return body; \
    break;
#include "../ops/ops.def"
    default: break;
  }
  throw Error(std::string(name(op)) + " does not support complex numbers");
}

}  // namespace
}  // namespace terms

namespace {

using terms::Complex;
using terms::Term;

bool meets_complex(const Graph& graph, const Node& n) {
  return n.op == Op::real || is_complex(n.dtype) ||
         std::ranges::any_of(graph.operands(n), [&](Operand o) { return is_complex(graph[o].dtype); });
}

class ComplexLowering {
 public:
  ComplexLowering(const Graph& graph, bool keeps_shapes) : graph_(graph), keeps_shapes_(keeps_shapes) {
    values_.reserve(graph.nodes().size());
    out_.reserve(4 * graph.nodes().size(), 8 * graph.all_operands().size());
  }

  Graph run() {
    for (const Node& n : graph_.nodes()) values_.push_back(meets_complex(graph_, n) ? split(n) : copied(n));
    for (const Operand o : graph_.outputs()) out_.output(is_complex(graph_[o].dtype) ? joined(o) : at(o).re.operand);
    return std::move(out_);
  }

 private:
  const Complex& at(Operand o) const { return values_[static_cast<std::size_t>(o.node)]; }
  Term term(Operand o) { return {&out_, o}; }
  Term part(Op op, Operand whole) { return terms::apply(op, {term(whole)}); }
  Term cast(Term a, DType to) { return term(out_.cast(a.operand, to)); }

  Complex copied(const Node& n) {
    std::array<Operand, max_arity> operands;
    std::ranges::transform(graph_.operands(n), operands.begin(), [&](Operand o) { return at(o).re.operand; });
    return term(out_.node(n.op, n.dtype, std::span(operands).first(n.arity), n.attribute));
  }

  Complex split(const Node& n) {
    switch (n.op) {
      case Op::array: return copied(n);
      case Op::count: return reduced_part(n, n.dtype, whole_re(n));
      case Op::leaf:
      case Op::load: {
        const Operand whole = copied(n).re.operand;
        return {part(Op::real, whole), part(Op::imag, whole)};
      }
      case Op::cast: return cast(at(graph_.operands(n)[0]), n.dtype);
      case Op::real: return whole_re(n);
      case Op::imag: return whole_im(n);
      case Op::sum:
      case Op::mean: return reduced(n);
      case Op::broadcast_like: return broadcast(n);
      default: return body(n);
    }
  }

  Term reduced_part(const Node& n, DType dtype, Term part) {
    return term(out_.node(n.op, dtype, {&part.operand, 1}, n.attribute));
  }
  Complex reduced(const Node& n) {
    const auto of = [&](Term part) { return reduced_part(n, real_of(n.dtype), part); };
    const bool is_real =
        n.op == Op::sum && at(graph_.operands(n)[0]).is_real();  // the mean of no elements is NaN in both parts
    return is_real ? Complex(of(whole_re(n))) : Complex(of(whole_re(n)), of(whole_im(n)));
  }

  Complex broadcast(const Node& n) {
    const Complex &value = at(graph_.operands(n)[0]), &like = at(graph_.operands(n)[1]);
    const auto to_shape = [&](Term part) {
      const Operand operands[] = {part.operand, like.re.operand};
      return term(out_.node(Op::broadcast_like, part.dtype(), operands));
    };
    return value.is_real() ? Complex(to_shape(value.re)) : Complex(to_shape(value.re), to_shape(value.im()));
  }

  /// A part of a node's operand in the shape of both: in x + z with a real x, the imaginary part has only z's shape.
  Term whole_re(const Node& n) {
    const Complex& a = at(graph_.operands(n)[0]);
    return a.is_real() ? a.re : in_shape_of(a.re, a.im());
  }
  Term whole_im(const Node& n) {
    const Complex& a = at(graph_.operands(n)[0]);
    return in_shape_of(a.im(), a.re);
  }
  Term in_shape_of(Term part, Term other) {
    if (!keeps_shapes_) return part;
    const auto has_own_shape = [&](NodeId id) { return changes_shape(out_.nodes()[static_cast<std::size_t>(id)].op); };
    std::vector<NodeId> there = shape_sources(out_, part.operand.node, seen_, has_own_shape);
    for (const NodeId source : shape_sources(out_, other.operand.node, seen_, has_own_shape)) {
      if (std::ranges::find(there, source) != there.end()) continue;
      const Operand operands[] = {part.operand, Operand{source}};
      part = term(out_.node(Op::broadcast_like, part.dtype(), operands));
    }
    return part;
  }

  Complex cast(const Complex& a, DType to) {
    if (to == DType::Bool) return a != Complex(a.re.number(0));
    if (!is_complex(to)) throw Error("a complex number is converted to a real one");
    const Term re = cast(a.re, real_of(to));
    return a.is_real() ? Complex(re) : Complex(re, cast(a.im(), real_of(to)));
  }

  Complex body(const Node& n) {
    const std::span<const Operand> operands = graph_.operands(n);
    const auto operand = [&](std::size_t i) { return at(operands[std::min(i, operands.size() - 1)]); };
    const Complex result = terms::complex_body<Complex>(n.op, operand(0), operand(1), operand(2), operand(3),
                                                        operand(4), {operand(max_arity).re});
    if (result.re.dtype() != real_of(n.dtype))
      throw Error(std::string(name(n.op)) + " of complex numbers has a dtype other than its rule's");
    return result;
  }

  /// A value that is only loaded is not split into parts.
  Operand joined(Operand o) {
    const Complex& value = at(o);
    const Term im = value.im();
    const Node &first = out_[value.re.operand], &second = out_[im.operand];
    if (first.op == Op::real && second.op == Op::imag && out_.operands(first)[0] == out_.operands(second)[0])
      return out_.operands(first)[0];
    return terms::complex(value.re, im).operand;
  }

  const Graph& graph_;
  Graph out_;
  std::vector<Complex> values_;
  const bool keeps_shapes_;
  NodeSet seen_;
};

}  // namespace

Graph lower_complex(const Graph& graph, bool keeps_shapes) {
  const bool any = std::ranges::any_of(graph.nodes(), [&](const Node& n) { return meets_complex(graph, n); });
  return any ? ComplexLowering(graph, keeps_shapes || depends_on_shapes(graph)).run() : graph;
}

}  // namespace sinter::inline v1::jit
