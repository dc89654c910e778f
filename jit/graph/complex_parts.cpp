#include "complex_parts.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

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

/// An operation's body over complex operands. Of those that it does not take any will do. A template, so that bodies
/// which know no complex numbers are not compiled.
template <class V>
V complex_body(Op op, [[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c, [[maybe_unused]] V d,
               [[maybe_unused]] V e, [[maybe_unused]] const NumbersLike<V>& T) {
  switch (op) {
#define SINTER_OP(name, arity, rule, body, doc)                                                       \
  case Op::name:                                                                                      \
    if constexpr (takes_complex(Op::name) || DTypeRule::rule == DTypeRule::ComplexParts) return body; \
    break;
#define SINTER_COMPOSITE_OP SINTER_OP
#include "../ops/ops.def"
    default: break;
  }
  throw Error(std::string(name(op)) + " does not compute in complex numbers");
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

class Splitting {
 public:
  explicit Splitting(const Graph& graph) : graph_(graph) {
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
      case Op::array:
      case Op::count: return copied(n);
      case Op::leaf:
      case Op::load: {
        const Operand whole = copied(n).re.operand;
        return {part(Op::real, whole), part(Op::imag, whole)};
      }
      case Op::cast: return cast(at(graph_.operands(n)[0]), n.dtype);
      case Op::real: return at(graph_.operands(n)[0]).re;
      case Op::sum:
      case Op::mean: return reduced(n);
      default: return body(n);
    }
  }

  Complex reduced(const Node& n) {
    const Complex& a = at(graph_.operands(n)[0]);
    const auto of = [&](Term part) { return term(out_.node(n.op, real_of(n.dtype), {&part.operand, 1}, n.attribute)); };
    return a.is_real() ? Complex(of(a.re)) : Complex(of(in_shape_of(a.re, a.im())), of(in_shape_of(a.im(), a.re)));
  }

  /// A part that is a number, as 0 times a scalar is, in the shape of the other one: as many are combined.
  Term in_shape_of(Term part, Term other) {
    if (has_shape(part.operand) || !has_shape(other.operand)) return part;
    const Operand operands[] = {part.operand, other.operand};
    return term(out_.node(Op::like, part.dtype(), operands));
  }
  bool has_shape(Operand o) {
    for (std::size_t id = has_shape_.size(); id < out_.nodes().size(); ++id) {
      const Node& n = out_.nodes()[id];
      const auto operands = out_.operands(n);
      has_shape_.push_back(n.op == Op::leaf || n.op == Op::index || std::ranges::any_of(operands, [&](Operand x) {
                             return has_shape_[static_cast<std::size_t>(x.node)];
                           }));
    }
    return has_shape_[static_cast<std::size_t>(o.node)];
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
      throw Error(std::string(name(n.op)) + " of complex numbers gives another dtype than its rule says");
    return result;
  }

  /// An element that nothing was done to is not taken apart.
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
  std::vector<bool> has_shape_;  // by node of out_: whether a tensor is part of it
};

}  // namespace

Graph with_complex_parts(const Graph& graph) {
  const bool any = std::ranges::any_of(graph.nodes(), [&](const Node& n) { return meets_complex(graph, n); });
  return any ? Splitting(graph).run() : graph;
}

}  // namespace sinter::inline v1::jit
