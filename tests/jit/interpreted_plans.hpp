// Interprets plans of graphs that reduce without any executor: kernels are computed element by element, as Kernel is
// documented, and must give what the graph gives.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include <jit/infer/shapes.hpp>
#include <jit/plan/plan.hpp>
#include <jit/plan/row_stages.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::testing::plans {

using jit::AxisMapping;
using jit::Graph;
using jit::Kernel;
using jit::Node;
using jit::Operand;
using jit::Plan;
using jit::ReduceAxes;
using jit::Slot;

/// Row-major elements.
struct Array {
  Shape shape;
  std::vector<double> values;
};

/// The element of `a` at the place of the element number `i` of `whole`, which it broadcasts to.
inline double at(const Array& a, const Shape& whole, std::int64_t i) {
  std::int64_t offset = 0, step = 1;
  for (int axis = -1; axis >= -whole.ndim(); --axis) {
    const std::int64_t c = i % whole[axis];
    i /= whole[axis];
    if (-axis > a.shape.ndim()) continue;
    offset += a.shape[axis] == 1 ? 0 : c * step;
    step *= a.shape[axis];
  }
  return a.values[static_cast<std::size_t>(offset)];
}

inline double combine(Op op, double a, double b) {
  return op == Op::amax ? std::max(a, b) : op == Op::prod ? a * b : a + b;
}
inline double first_of(Op op) { return op == Op::amax ? -INFINITY : op == Op::prod ? 1 : 0; }

inline double elementwise(Op op, const std::vector<double>& v) {
  switch (op) {
    case Op::add: return v[0] + v[1];
    case Op::sub: return v[0] - v[1];
    case Op::mul: return v[0] * v[1];
    case Op::div: return v[0] / v[1];
    case Op::fma: return v[0] * v[1] + v[2];
    case Op::neg: return -v[0];
    case Op::abs: return std::fabs(v[0]);
    case Op::atan2: return std::atan2(v[0], v[1]);
    case Op::where: return v[0] != 0 ? v[1] : v[2];
    case Op::broadcast_like:
    case Op::cast: return v[0];
    default: throw Error("the test does not compute " + std::string(name(op)));
  }
}

inline double constant_of(const Node& n) {
  return std::bit_cast<double>(jit::convert_bits(n.attribute, n.dtype, DType::Float64));
}

/// The number of the first element of element `i`'s row, in a domain reduced along these axes.
inline std::int64_t first_of_row(std::int64_t i, const Shape& domain, std::uint8_t axes) {
  std::int64_t first = 0, step = 1;
  for (int axis = -1; axis >= -domain.ndim(); --axis) {
    if (!(axes >> (-axis - 1) & 1)) first += i % domain[axis] * step;
    i /= domain[axis];
    step *= domain[axis];
  }
  return first;
}

/// A graph's values, by its nodes.
inline std::vector<Array> values_of(const Graph& graph, const std::vector<Array>& leaves) {
  std::vector<Shape> leaf_shapes;
  for (const Array& a : leaves) leaf_shapes.push_back(a.shape);
  const std::vector<Shape> shapes = jit::shapes_of(graph, leaf_shapes);
  std::vector<Array> values;
  for (std::size_t id = 0; id < shapes.size(); ++id) {
    const Node& n = graph.nodes()[id];
    Array made{shapes[id], std::vector<double>(static_cast<std::size_t>(shapes[id].numel()))};
    const auto operand = [&](std::size_t k) -> const Array& {
      return values[static_cast<std::size_t>(graph.operands(n)[k].node)];
    };
    if (n.op == Op::leaf) {
      made = leaves[n.attribute];
    } else if (n.op == Op::constant) {
      made.values[0] = constant_of(n);
    } else if (is_reduction(n.op)) {
      const Array& from = operand(0);
      const ReduceAxes along = ReduceAxes::of(n.attribute);
      const Shape kept = jit::reduced_shape(from.shape, {along.axes, true});
      Array sums{kept, std::vector<double>(static_cast<std::size_t>(kept.numel()), first_of(n.op))};
      for (std::int64_t i = 0; i < from.shape.numel(); ++i) {
        std::int64_t offset = 0, step = 1, rest = i;
        for (int axis = -1; axis >= -from.shape.ndim(); --axis) {
          offset += kept[axis] == 1 ? 0 : rest % from.shape[axis] * step;
          rest /= from.shape[axis];
          step *= kept[axis];
        }
        double& sum = sums.values[static_cast<std::size_t>(offset)];
        sum = combine(n.op, sum, n.op == Op::count ? 1 : from.values[static_cast<std::size_t>(i)]);
      }
      made.values = sums.values;
    } else {
      for (std::int64_t i = 0; i < made.shape.numel(); ++i) {
        std::vector<double> v;
        for (std::size_t k = 0; k < n.arity; ++k) v.push_back(at(operand(k), made.shape, i));
        made.values[static_cast<std::size_t>(i)] = elementwise(n.op, v);
      }
    }
    values.push_back(std::move(made));
  }
  return values;
}

/// Runs a plan's kernels one after the other.
class PlanInterpreter {
 public:
  PlanInterpreter(const Plan& plan, const std::vector<Array>& leaves)
      : plan_(plan), leaves_(leaves), temporaries_(plan.temporaries.size()), outputs_(plan.graph.outputs().size()) {}

  std::vector<Array> run() {
    for (const Kernel& k : plan_.kernels) pass(k);
    return outputs_;
  }

 private:
  const Array& array(const Slot& s) const {
    if (s.kind == Slot::Kind::Leaf) return leaves_[s.number];
    EXPECT_EQ(s.kind, Slot::Kind::Temporary);
    EXPECT_TRUE(temporaries_[s.number].has_value()) << "a temporary is read before it is written";
    return *temporaries_[s.number];
  }

  Shape domain_of(const Kernel& k) const {
    Shape shape;
    const auto add = [&](const Slot& s) { EXPECT_TRUE(broadcast(shape, array(s).shape)); };
    for (std::size_t i = 0; i < k.inputs.size(); ++i)
      if (!k.rows || k.rows->axis_mapping[k.outputs.size() + i] != AxisMapping::Rows) add(k.inputs[i]);
    if (k.rows)
      for (const Slot& s : k.rows->domain) add(s);
    return shape;
  }

  /// An input as it lies over the domain.
  double input(const Kernel& k, std::size_t number, const Shape& domain, std::int64_t i) const {
    const Array& a = array(k.inputs[number]);
    if (!k.rows || k.rows->axis_mapping[k.outputs.size() + number] != AxisMapping::Rows) {
      if (k.rows && k.rows->axis_mapping[k.outputs.size() + number] == AxisMapping::Kept) {
        EXPECT_EQ(at(a, domain, i), at(a, domain, first_of_row(i, domain, k.rows->axes)));
      }
      return at(a, domain, i);
    }
    const Shape rows = jit::reduced_shape(domain, {k.rows->axes, false});
    std::int64_t row = 0, step = 1;
    for (int axis = -1; axis >= -domain.ndim(); --axis) {
      if (!(k.rows->axes >> (-axis - 1) & 1)) row += i % domain[axis] * step, step *= domain[axis];
      i /= domain[axis];
    }
    return at(a, rows, row);
  }

  void pass(const Kernel& k) {
    const Shape domain = domain_of(k);
    const std::int64_t numel = domain.numel();
    std::vector<std::vector<double>> values;
    for (const Node& n : k.graph.nodes()) {
      std::vector<double> made(static_cast<std::size_t>(numel));
      const auto operand = [&](std::size_t o) -> const std::vector<double>& {
        return values[static_cast<std::size_t>(k.graph.operands(n)[o].node)];
      };
      if (is_reduction(n.op)) {
        std::vector<double> sums(static_cast<std::size_t>(numel), first_of(n.op));
        for (std::int64_t i = 0; i < numel; ++i) {
          double& sum = sums[static_cast<std::size_t>(first_of_row(i, domain, k.rows->axes))];
          sum = combine(n.op, sum, n.op == Op::count ? 1 : operand(0)[static_cast<std::size_t>(i)]);
        }
        for (std::int64_t i = 0; i < numel; ++i)
          made[static_cast<std::size_t>(i)] = sums[static_cast<std::size_t>(first_of_row(i, domain, k.rows->axes))];
      } else {
        for (std::int64_t i = 0; i < numel; ++i) {
          std::vector<double> v;
          for (std::size_t o = 0; o < n.arity; ++o) v.push_back(operand(o)[static_cast<std::size_t>(i)]);
          made[static_cast<std::size_t>(i)] = n.op == Op::leaf       ? input(k, n.attribute, domain, i)
                                              : n.op == Op::constant ? constant_of(n)
                                                                     : elementwise(n.op, v);
        }
      }
      values.push_back(std::move(made));
    }
    check_stages(k);
    for (std::size_t o = 0; o < k.outputs.size(); ++o)
      store(k, o, domain, values[static_cast<std::size_t>(k.graph.outputs()[o].node)]);
  }

  /// What executors are told agrees with the outputs.
  void check_stages(const Kernel& k) const {
    if (!k.rows) return;
    const jit::RowStages stages(k);
    for (std::size_t o = 0; o < k.outputs.size(); ++o)
      EXPECT_EQ(stages.is_per_row(k.graph.outputs()[o]), k.rows->axis_mapping[o] != AxisMapping::Domain) << k.name;
  }

  void store(const Kernel& k, std::size_t o, const Shape& domain, const std::vector<double>& values) {
    Array made{domain, {}};
    if (!k.rows || k.rows->axis_mapping[o] == AxisMapping::Domain) {
      made.values = values;
    } else {
      made.shape = jit::reduced_shape(domain, {k.rows->axes, k.rows->axis_mapping[o] == AxisMapping::Kept});
      for (std::int64_t i = 0; i < domain.numel(); ++i)
        if (first_of_row(i, domain, k.rows->axes) == i) made.values.push_back(values[static_cast<std::size_t>(i)]);
    }
    (k.outputs[o].kind == Slot::Kind::Output ? outputs_[k.outputs[o].number]
                                             : temporaries_[k.outputs[o].number].emplace()) = std::move(made);
  }

  const Plan& plan_;
  const std::vector<Array>& leaves_;
  std::vector<std::optional<Array>> temporaries_;
  std::vector<Array> outputs_;
};

inline Plan schedule(const Graph& graph, const std::vector<Array>& leaves, bool eager = false) {
  std::vector<Shape> shapes;
  for (const Array& a : leaves) shapes.push_back(a.shape);
  return eager ? jit::schedule_eager(graph, shapes)
               : jit::schedule(jit::simplify(graph), shapes, jit::RowValues::StoredOnCpu);
}

inline void expect_equal(const Graph& graph, const std::vector<Array>& leaves, const Plan& plan) {
  const std::vector<Array> expected = values_of(graph, leaves), found = PlanInterpreter(plan, leaves).run();
  for (std::size_t o = 0; o < found.size(); ++o) {
    const Array& e = expected[static_cast<std::size_t>(graph.outputs()[o].node)];
    ASSERT_EQ(found[o].shape, e.shape) << "output " << o;
    for (std::size_t i = 0; i < e.values.size(); ++i)
      ASSERT_NEAR(found[o].values[i], e.values[i], 1e-9 * (1 + std::fabs(e.values[i]))) << "output " << o << ", " << i;
  }
}

inline Array filled(const Shape& shape, std::mt19937& random) {
  Array a{shape, std::vector<double>(static_cast<std::size_t>(shape.numel()))};
  for (double& v : a.values) v = std::uniform_real_distribution(-1.5, 1.5)(random);
  return a;
}

/// A graph that grows from leaves.
struct Growing {
  Graph graph;
  std::vector<Array> leaves;
  std::mt19937 random{7};

  Operand leaf(const Shape& shape) {
    leaves.push_back(filled(shape, random));
    return graph.leaf(DType::Float64, static_cast<std::uint32_t>(leaves.size() - 1));
  }
  Operand op(Op op, std::initializer_list<Operand> operands) {
    return graph.apply(op, std::span(operands.begin(), operands.size()));
  }
  Operand reduce(Op op, Operand a, ReduceAxes along) { return graph.apply(op, {&a, 1}, along); }
  Plan checked() {
    const Plan plan = schedule(graph, leaves);
    expect_equal(graph, leaves, plan);
    expect_equal(graph, leaves, schedule(graph, leaves, true));
    return plan;
  }
};

inline constexpr ReduceAxes last{1, false}, last_kept{1, true}, before{2, false};

}  // namespace sinter::testing::plans
