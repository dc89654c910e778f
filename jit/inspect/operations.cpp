#include "operations.hpp"

#include <algorithm>

#include "../ops/traits.hpp"
#include "../plan/product.hpp"
#include "../plan/row_stages.hpp"

namespace sinter::inline v1::jit {
namespace {

double elements(const Shape& shape) { return static_cast<double>(shape.numel()); }

Arithmetic product_arithmetic(const Kernel& kernel, const Shape& result, std::span<const Shape> inputs) {
  const DType dtype = kernel.graph[kernel.graph.outputs()[0]].dtype;
  const auto length = static_cast<double>(contracted_extent(product_form(kernel.graph), inputs[0]));
  return {(is_complex(dtype) ? 8 : 2) * elements(result) * length, dtype};
}

DType wider(DType found, DType dtype) {
  if (is_complex(dtype)) dtype = real_of(dtype);
  if (category(dtype) != Category::Float || found == DType::Float64) return found;
  return dtype == DType::Float64 ? dtype : DType::Float32;
}

}  // namespace

Operations::Operations(const Graph& g, bool lowered)
    : graph_(g), lowered_(lowered), is_place_(g.nodes().size(), false) {
  for (const Node& n : g.nodes())
    if (n.op == Op::load && adds_offsets(n)) is_place_[static_cast<std::size_t>(g.operands(n)[1].node)] = true;
}

bool Operations::contains(const Node& n) const {
  if (!is_computed(n) || n.op == Op::cast || n.op == Op::axis_offset || n.op == Op::class_index) return false;
  if (lowered_ && (n.op == Op::real || n.op == Op::imag || n.op == Op::complex)) return false;
  const bool is_number = n.op == Op::complex && n.attribute == weak_result;
  return !is_number && !is_place_[static_cast<std::size_t>(&n - graph_.nodes().data())];
}

std::size_t Operations::count() const {
  return static_cast<std::size_t>(std::ranges::count_if(graph_.nodes(), [&](const Node& n) { return contains(n); }));
}

/// Whether a load's offset is the sum of an index's offset and that of the other axes.
bool Operations::adds_offsets(const Node& load) const {
  const Node& place = graph_[graph_.operands(load)[1]];
  const auto is_offset = [&](Operand o) { return graph_[o].op == Op::axis_offset; };
  return place.op == Op::add && std::ranges::any_of(graph_.operands(place), is_offset);
}

double rows_in(const Kernel& kernel, const Shape& domain) {
  double rows = elements(domain);
  for (int axis = 0; axis < domain.ndim(); ++axis)
    if (kernel.rows->axes >> axis & 1 && domain[-1 - axis] > 0) rows /= static_cast<double>(domain[-1 - axis]);
  return rows;
}

Arithmetic arithmetic_of(const Kernel& kernel, const Shape& domain, std::span<const Shape> inputs) {
  if (kernel.is_product) return product_arithmetic(kernel, domain, inputs);
  const Operations counts(kernel.graph, true);
  std::vector<bool> per_row;
  double rows = 0;
  if (kernel.rows) per_row = RowStages(kernel).per_row, rows = rows_in(kernel, domain);
  Arithmetic found{.dtype = DType::Int64};
  for (std::size_t i = 0; const Node& n : kernel.graph.nodes()) {
    const bool once_a_row = kernel.rows && per_row[i++] && !is_reduction(n.op);
    if (!counts.contains(n) || n.op == Op::load || n.op == Op::broadcast_like || n.op == Op::count) continue;
    found.operations += (n.op == Op::fma ? 2 : weight(n.op)) * (once_a_row ? rows : elements(domain));
    found.dtype = wider(found.dtype, n.dtype);
  }
  return found;
}

}  // namespace sinter::inline v1::jit
