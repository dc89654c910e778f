// Kernels that reduce, below evaluation: built by hand, over nests from strides, with their meaning in plain C++.
#pragma once
#include <algorithm>
#include <cmath>

#include <jit/cpu/row_program.hpp>
#include "cpu_kernels.hpp"

namespace sinter::test {

using jit::AxisMapping;
using Extents = std::vector<std::int64_t>;

/// A kernel that reduces, and its arrays. Arrays have a stride for each axis of the domain: 0 along reduce axes for
/// arrays with one element per row.
struct RowCase {
  jit::Kernel kernel;
  Extents extents;
  std::vector<bool> reduced;  // by axis
  std::vector<Array> outputs, leaves;
  std::vector<int> in_place;  // for each output the leaf that it overwrites, or -1
  std::vector<Bits> scalars;

  RowCase(Extents domain, std::vector<bool> axes) : extents(std::move(domain)), reduced(std::move(axes)) {
    kernel.rows.emplace();
    for (std::size_t a = 0; a < extents.size(); ++a)
      if (reduced[a]) kernel.rows->axes = static_cast<std::uint8_t>(kernel.rows->axes | 1 << (extents.size() - 1 - a));
  }

  Graph& graph() { return kernel.graph; }
  /// Row-major strides, over the domain or for one element per row.
  Extents strides(AxisMapping axis_mapping) const {
    Extents own = extents;
    for (std::size_t a = 0; a < own.size(); ++a)
      if (axis_mapping != AxisMapping::Domain && reduced[a]) own[a] = 1;
    Extents strides = row_major(own);
    for (std::size_t a = 0; a < own.size(); ++a)
      if (axis_mapping != AxisMapping::Domain && reduced[a]) strides[a] = 0;
    return strides;
  }
  Operand leaf(DType dtype, AxisMapping axis_mapping = AxisMapping::Domain) {
    return leaf(dtype, axis_mapping, strides(axis_mapping));
  }
  Operand leaf(DType dtype, AxisMapping axis_mapping, Extents strides) {
    kernel.rows->axis_mapping.push_back(axis_mapping);
    leaves.push_back(make_array(dtype, extents, std::move(strides)));
    return graph().leaf(dtype, static_cast<std::uint32_t>(leaves.size() - 1));
  }
  Operand iota(Extents strides, std::int64_t first) {
    kernel.rows->axis_mapping.push_back(AxisMapping::Domain);
    leaves.push_back(make_iota(std::move(strides), first));
    return graph().iota(static_cast<std::uint32_t>(leaves.size() - 1));
  }
  Operand op(Op op, std::vector<Operand> operands) {
    std::vector<OperandType> types;
    for (const Operand o : operands) types.push_back({graph()[o].dtype});
    return graph().node(op, op_types(op, types).result, operands, is_reduction(op) ? jit::ReduceAxes().bits() : 0);
  }
  Operand number(float v) { return graph().constant(DType::Float32, to_bits(v)); }
  void output(Operand o, AxisMapping axis_mapping, int over_leaf = -1) {
    output(o, axis_mapping, strides(axis_mapping), over_leaf);
  }
  void output(Operand o, AxisMapping axis_mapping, Extents strides, int over_leaf = -1) {
    graph().output(o);
    kernel.rows->axis_mapping.insert(kernel.rows->axis_mapping.begin() + static_cast<std::ptrdiff_t>(outputs.size()),
                                     axis_mapping);
    kernel.outputs.push_back({jit::Slot::Kind::Output, static_cast<std::uint32_t>(outputs.size())});
    outputs.push_back(make_array(graph()[o].dtype, extents, std::move(strides)));
    in_place.push_back(over_leaf);
  }
  const Array& output_array(std::size_t k) const {
    return in_place[k] < 0 ? outputs[k] : leaves[static_cast<std::size_t>(in_place[k])];
  }

  /// The row axes, then the reduce axes; adjacent ones of a kind are merged if all operands allow it.
  LoopNest nest() const {
    LoopNest nest;
    nest.outputs = static_cast<int>(outputs.size());
    std::vector<const Array*> all;
    for (std::size_t k = 0; k < outputs.size(); ++k) all.push_back(&output_array(k));
    for (const Array& a : leaves) all.push_back(&a);
    for (const Array* a : all) nest.operands.push_back({a->index ? nullptr : a->first(), {}, a->first_position});
    nest.ndim = 0;
    for (const bool kind : {false, true}) {
      const int before = nest.ndim;
      for (std::size_t a = 0; a < extents.size(); ++a)
        if (reduced[a] == kind && extents[a] != 1) add_dim(nest, all, a, before);
      if (nest.ndim == before) {
        for (jit::NestOperand& o : nest.operands) o.strides[nest.ndim] = 0;
        nest.extents[nest.ndim++] = 1;
      }
      if (kind) nest.reduced = nest.ndim - before;
    }
    nest.numel = 1;
    for (const std::int64_t e : extents) nest.numel *= e;
    return nest;
  }

 private:
  void add_dim(LoopNest& nest, const std::vector<const Array*>& all, std::size_t axis, int first) const {
    bool merges = nest.ndim > first;
    for (std::size_t k = 0; k < all.size(); ++k)
      merges = merges && nest.operands[k].strides[nest.ndim - 1] == all[k]->strides[axis] * extents[axis];
    if (!merges) nest.extents[nest.ndim++] = 1;
    nest.extents[nest.ndim - 1] *= extents[axis];
    for (std::size_t k = 0; k < all.size(); ++k) nest.operands[k].strides[nest.ndim - 1] = all[k]->strides[axis];
  }
};

inline long double number_of(DType dtype, Bits bits) {
  return visit_real(dtype, [&]<class T>(std::type_identity<T>) { return static_cast<long double>(as<T>(bits)); });
}
inline Bits bits_of(DType dtype, long double v) {
  return visit_real(dtype, [&]<class T>(std::type_identity<T>) { return to_bits(static_cast<T>(v)); });
}

/// The reduction of a row's elements.
inline Bits reduced(Op op, DType of, DType result, const std::vector<Bits>& row) {
  const auto at = [&](std::size_t i) { return number_of(of, row[i]); };
  if (op == Op::count) return row.size();
  if (op == Op::any) return std::ranges::any_of(row, [](Bits b) { return b != 0; });
  if (op == Op::all) return std::ranges::all_of(row, [](Bits b) { return b != 0; });
  if (op == Op::sum || op == Op::prod) {
    Bits wrapped = op == Op::prod;
    long double exact = op == Op::prod ? 1 : 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      wrapped = op == Op::prod ? wrapped * row[i] : wrapped + row[i];
      exact = op == Op::prod ? exact * at(i) : exact + at(i);
    }
    return category(result) == Category::Float ? bits_of(result, exact) : wrapped;
  }
  const bool most = op == Op::amax || op == Op::argmax;
  std::size_t best = 0;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (std::isnan(at(best))) break;
    if (std::isnan(at(i)) || (most ? at(i) > at(best) : at(i) < at(best))) best = i;
  }
  return op == Op::argmax || op == Op::argmin ? best : row[best];
}

/// The expected outputs for rows with elements: for each row, a value for each element.
class RowReference {
 public:
  using Values = std::vector<std::vector<Bits>>;  // by node or output, and element

  explicit RowReference(const RowCase& c) : case_(c), rows(1), columns(1) {
    for (std::size_t a = 0; a < c.extents.size(); ++a) (c.reduced[a] ? columns : rows) *= c.extents[a];
  }
  Values row(std::int64_t r) const {
    Values values, outputs;
    for (const jit::Node& n : case_.kernel.graph.nodes()) values.push_back(node(n, values, r));
    for (const Operand o : case_.kernel.graph.outputs()) outputs.push_back(values[static_cast<std::size_t>(o.node)]);
    return outputs;
  }
  /// The bits of an array's element.
  Bits element(const Array& a, std::int64_t row, std::int64_t column) const {
    std::int64_t offset = 0;
    for (std::size_t d = case_.extents.size(); d-- > 0;) {
      std::int64_t& left = case_.reduced[d] ? column : row;
      offset += left % case_.extents[d] * a.strides[d];
      left /= case_.extents[d];
    }
    if (a.index) return static_cast<Bits>(a.first_position + offset);
    return read(a.dtype, a.first() + offset * static_cast<std::int64_t>(size_of(a.dtype)));
  }

 private:
  std::vector<Bits> node(const jit::Node& n, const Values& values, std::int64_t r) const {
    const auto operands = case_.kernel.graph.operands(n);
    const auto value = [&](Operand o) -> const std::vector<Bits>& { return values[static_cast<std::size_t>(o.node)]; };
    const DType compute = operands.empty() ? n.dtype : case_.kernel.graph[operands.back()].dtype;
    const auto count = static_cast<std::size_t>(columns);
    if (is_reduction(n.op)) return std::vector<Bits>(count, reduced(n.op, compute, n.dtype, value(operands[0])));
    std::vector<Bits> v(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Bits> in;
      for (const Operand o : operands) in.push_back(value(o)[i]);
      switch (n.op) {
        case Op::leaf:
        case Op::iota: v[i] = element(case_.leaves[n.attribute], r, static_cast<std::int64_t>(i)); break;
        case Op::constant: v[i] = n.attribute; break;
        case Op::scalar: v[i] = case_.scalars.at(0); break;  // kernels here have only one
        case Op::cast: v[i] = convert_bits(in[0], compute, n.dtype); break;
        default: v[i] = apply(n.op, compute, in);
      }
    }
    return v;
  }

  const RowCase& case_;

 public:
  std::int64_t rows, columns;
};

}  // namespace sinter::test
