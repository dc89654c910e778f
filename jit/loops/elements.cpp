#include "elements.hpp"

#include "../plan/faults.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

Value value_of(const Values& values, Operand o) { return values[static_cast<std::size_t>(o.node)]; }

}  // namespace

Values Elements::uniform(Value columns, const std::function<Value(std::size_t)>& scalar,
                         const std::function<Value(std::size_t)>& array) const {
  const std::span<const Node> nodes = graph_.nodes();
  Values values(nodes.size(), none);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    if (n.op == Op::constant) values[i] = b_.constant(n.dtype, n.attribute);
    if (n.op == Op::scalar) values[i] = scalar(i);
    if (n.op == Op::array) values[i] = array(n.attribute);
    if (n.op == Op::count) values[i] = b_.element(columns, DType::Int64);
  }
  return values;
}

void Elements::compute(const std::vector<bool>& needed, Values& values, Value guard,
                       const std::function<Value(std::size_t)>& input) const {
  const std::span<const Node> nodes = graph_.nodes();
  const auto missing = [&](std::size_t i) { return needed[i] && values[i] == none; };
  // Inputs first, so that all loads are on their way before one is waited for.
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (is_element_leaf(nodes[i].op) && missing(i)) values[i] = input(nodes[i].attribute);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    if (nodes[i].op == Op::leaf) values[i] = b_.cast(values[i], nodes[i].dtype);
    if (missing(i)) values[i] = node(nodes[i], values, guard);
  }
}

Value Elements::node(const Node& n, const Values& values, Value guard) const {
  if (n.op == Op::load) return gather(n, values, guard);
  record_faults(n, values, guard);
  boost::container::small_vector<Value, 4> operands;
  for (const Operand o : graph_.operands(n)) operands.push_back(value_of(values, o));
  const bool is_call = n.op == Op::call;
  if (is_call && guard != none) operands.push_back(guard);
  return b_.op(n.op, n.dtype, std::span<const Value>(operands.data(), operands.size()), is_call ? n.attribute : 0);
}

Value Elements::gather(const Node& n, const Values& values, Value guard) const {
  const auto operands = graph_.operands(n);
  const Value array = value_of(values, operands[0]), position = value_of(values, operands[1]);
  const int width = b_.width(position);
  const Value first = width > 1 && (guard == none || b_.width(guard) == 1) ? b_.first_of_run(position) : none;
  const Value loaded = first == none ? b_.load(array, position, width, Access::Gather, guard)
                                     : b_.load(array, first, width, Access::Run, guard);
  return b_.cast(loaded, n.dtype);
}

void Elements::record_faults(const Node& n, const Values& values, Value guard) const {
  const auto zero_of = [&](Value v) { return b_.constant(b_.type(v).dtype, 0); };
  const auto operands = graph_.operands(n);
  if (const auto divisor = nonzero_operand(graph_, n)) {
    const Value d = value_of(values, *divisor);
    b_.record_fault(Fault::DivisionByZero, b_.op(Op::eq, DType::Bool, {d, zero_of(d)}), guard);
  }
  if (!has(n.op, BoundsChecked)) return;
  const Value position = value_of(values, operands[0]), extent = value_of(values, operands[1]);
  const Value lower_bound =
      has(n.op, AllowsNegativeIndex) ? b_.op(Op::neg, b_.type(extent).dtype, {extent}) : zero_of(position);
  b_.record_fault(Fault::IndexOutOfRange, b_.op(Op::lt, DType::Bool, {position, lower_bound}), guard);
  b_.record_fault(Fault::IndexOutOfRange, b_.op(Op::ge, DType::Bool, {position, extent}), guard);
}

}  // namespace sinter::inline v1::jit::loops
