#include "online_sums.hpp"

namespace sinter::inline v1::jit {
namespace {

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  std::optional<OnlineSum> of(Operand sum) const {
    if (!is(sum, Op::sum) || category(graph_[sum].dtype) != Category::Float) return std::nullopt;
    const Operand term = operand(sum, 0);
    if (is(term, Op::exp)) return exponentials(sum, operand(term, 0));
    if (is(term, Op::mul) && operand(term, 0) == operand(term, 1)) return squares(sum, operand(term, 0));
    return is(term, Op::square) ? squares(sum, operand(term, 0)) : std::nullopt;
  }

 private:
  bool is(Operand o, Op op) const { return graph_[o].op == op; }
  Operand operand(Operand o, std::size_t i) const { return graph_.operands(graph_[o])[i]; }
  bool is_of(Operand reduction, Op op, Operand v) const { return is(reduction, op) && operand(reduction, 0) == v; }

  std::optional<OnlineSum> exponentials(Operand sum, Operand deviation) const {
    if (!is(deviation, Op::sub)) return std::nullopt;
    const Operand v = operand(deviation, 0), shift = operand(deviation, 1);
    const Operand base = finite_of(shift).value_or(shift);
    if (!is_of(base, Op::amax, v)) return std::nullopt;
    return OnlineSum{OnlineSum::Kind::Exponentials, sum, base, shift, deviation};
  }

  /// The operand x if `o` is where(isfinite(x), x, 0).
  std::optional<Operand> finite_of(Operand o) const {
    if (!is(o, Op::where)) return std::nullopt;
    const Operand condition = operand(o, 0), x = operand(o, 1), zero = operand(o, 2);
    const bool finite = is(condition, Op::isfinite) && operand(condition, 0) == x && is(zero, Op::constant);
    return finite && graph_[zero].attribute == 0 ? std::optional(x) : std::nullopt;
  }

  std::optional<OnlineSum> squares(Operand sum, Operand deviation) const {
    if (!is(deviation, Op::sub)) return std::nullopt;
    const Operand v = operand(deviation, 0), mean = operand(deviation, 1);
    if (!is(mean, Op::div) || !is_of(operand(mean, 0), Op::sum, v)) return std::nullopt;
    const Operand n = operand(mean, 1);
    if (!is(n, Op::cast) || !is(operand(n, 0), Op::count)) return std::nullopt;
    return OnlineSum{OnlineSum::Kind::Squares, sum, operand(mean, 0), mean, deviation};
  }

  const Graph& graph_;
};

}  // namespace

std::optional<OnlineSum> online_sum(const Graph& graph, Operand sum) { return Matcher(graph).of(sum); }

}  // namespace sinter::inline v1::jit
