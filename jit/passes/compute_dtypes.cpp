#include "compute_dtypes.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "../graph/scalar_use.hpp"
#include "../ops/traits.hpp"

namespace sinter::inline v1::jit {

namespace {

/// Like elementwise selection, amax and amin return one of their operands.
bool selects(Op op) noexcept { return has(op, ReturnsOperand) || op == Op::amax || op == Op::amin; }

std::uint64_t limit_bits(DType stored, bool upper) noexcept {
  const int bits = 8 * static_cast<int>(size_of(stored));
  if (is_unsigned(stored)) return upper ? (std::uint64_t{1} << bits) - 1 : 0;
  const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
  return static_cast<std::uint32_t>(upper ? most : -most - 1);
}

class ComputeDtypeLowering {
 public:
  explicit ComputeDtypeLowering(const Graph& graph) : graph_(graph) {
    values_.reserve(graph.nodes().size());
    out_.reserve(2 * graph.nodes().size(), 2 * graph.all_operands().size());
  }

  Graph run() {
    for (const Node& n : graph_.nodes()) values_.push_back(computed(n));
    for (const Operand o : graph_.outputs()) out_.output(is_stored_only(graph_[o].dtype) ? stored(o) : at(o).value);
    return std::move(out_);
  }

 private:
  /// A node's value in its compute dtype.
  struct Computed {
    Operand value;
    bool exact = true;  // else only the low bits of an integer are right, and a float is not rounded yet
    Operand stored{};   // the same in the dtype itself, if known
  };

  Computed& at(Operand o) { return values_[static_cast<std::size_t>(o.node)]; }

  Operand convert(Operand a, DType to) { return out_[a].dtype == to ? a : out_.node(Op::cast, to, {&a, 1}); }

  Operand stored(Operand o) {
    Computed& c = at(o);
    if (c.stored.node < 0) c.stored = convert(c.value, graph_[o].dtype);
    return c.stored;
  }
  Operand exact(Operand o) {
    Computed& c = at(o);
    if (!c.exact) c.value = convert(stored(o), compute_dtype(graph_[o].dtype)), c.exact = true;
    return c.value;
  }

  Computed computed(const Node& n) {
    const bool narrow = is_stored_only(n.dtype);
    switch (n.op) {
      case Op::leaf:
      case Op::iota: {
        const Operand leaf = out_.node(n.op, n.dtype, {}, n.attribute);
        return {convert(leaf, compute_dtype(n.dtype)), true, leaf};
      }
      case Op::array: return {out_.array(n.dtype, static_cast<std::uint32_t>(n.attribute))};
      case Op::load: {
        const Operand element = out_.load(at(operand(n)).value, exact(graph_.operands(n)[1]));
        return {convert(element, compute_dtype(n.dtype)), true, element};
      }
      case Op::scalar: return scalar(n);
      case Op::constant:
        return {out_.constant(compute_dtype(n.dtype), convert_bits(n.attribute, n.dtype, compute_dtype(n.dtype)))};
      case Op::cast: return narrow ? narrowed(n) : Computed{convert(seen(operand(n), n.dtype), n.dtype)};
      default: return operation(n);
    }
  }

  static bool is_integer(DType t) noexcept { return is_stored_only(t) && category(t) == Category::Int; }
  Operand operand(const Node& n) const { return graph_.operands(n)[0]; }

  /// The value of an operand for a result of this dtype: floats are computed from unrounded floats; other results, such
  /// as those of comparisons, use the value rounded to its dtype. A uint64 converts to floats itself: in int64, its
  /// upper half is negative.
  Operand seen(Operand o, DType result) {
    if (graph_[o].dtype == DType::UInt64 && category(result) == Category::Float) return stored(o);
    const bool rounds = category(graph_[o].dtype) == Category::Float && category(result) == Category::Float;
    return rounds ? at(o).value : exact(o);
  }

  Computed scalar(const Node& n) {
    const bool integer = is_integer(n.dtype);
    if (integer && scalar_use(n).arrives_as == Category::Float)
      return saturated(out_.node(n.op, DType::Float64, {}, n.attribute), n.dtype);
    return {out_.node(n.op, compute_dtype(n.dtype), {}, n.attribute), !is_stored_only(n.dtype)};
  }

  /// A conversion to a dtype that is not its own compute dtype.
  Computed narrowed(const Node& n) {
    const DType from = graph_[operand(n)].dtype;
    if (category(n.dtype) == Category::Float) {
      const Operand value = convert(seen(operand(n), n.dtype), DType::Float32);
      if (n.attribute == weak_result) return {value, false};
      const Operand rounded = convert(value, n.dtype);
      return {convert(rounded, DType::Float32), true, rounded};
    }
    if (category(from) == Category::Float) return saturated(exact(operand(n)), n.dtype);
    const bool wide_enough = size_of(from) >= size_of(n.dtype);
    return {convert(wide_enough ? at(operand(n)).value : exact(operand(n)), compute_dtype(n.dtype)), false};
  }

  Computed saturated(Operand value, DType to) {
    const DType compute = compute_dtype(to);
    if (to == DType::UInt64) {
      const Operand whole = convert(value, to);
      return {convert(whole, compute), true, whole};
    }
    const std::array limited{convert(value, compute), out_.constant(compute, limit_bits(to, false)),
                             out_.constant(compute, limit_bits(to, true))};
    return {out_.node(Op::clamp, compute, limited)};
  }

  Computed operation(const Node& n) {
    std::array<Operand, max_arity> operands;
    bool all_exact = true;
    for (std::size_t i = 0; i < n.arity; ++i) {
      const Operand o = graph_.operands(n)[i];
      operands[i] = has(n.op, TruncationSafe) ? at(o).value : seen(o, n.dtype);
      all_exact &= at(o).exact;
    }
    const Operand value = out_.node(n.op, compute_dtype(n.dtype), std::span(operands).first(n.arity), n.attribute);
    return {value, !is_stored_only(n.dtype) || (all_exact && selects(n.op))};
  }

  const Graph& graph_;
  Graph out_;
  std::vector<Computed> values_;
};

}  // namespace

Graph lower_compute_dtypes(const Graph& graph) {
  const auto is_computed = [&](const Node& n) {
    if (n.op == Op::load) return true;
    if (n.op == Op::cast) return has_conversion(graph[graph.operands(n)[0]].dtype, n.dtype);
    const auto carries_itself = [&](Operand o) { return !is_stored_only(graph[o].dtype); };
    return n.arity == 0 || (!is_stored_only(n.dtype) && std::ranges::all_of(graph.operands(n), carries_itself));
  };
  return std::ranges::all_of(graph.nodes(), is_computed) ? graph : ComputeDtypeLowering(graph).run();
}

}  // namespace sinter::inline v1::jit
