#include "traffic.hpp"

#include <algorithm>
#include <numeric>

#include "../plan/row_passes.hpp"
#include "../plan/row_stages.hpp"
#include "operations.hpp"

namespace sinter::inline v1::jit {
namespace {

double bytes_of(const Shape& shape, DType dtype) {
  return static_cast<double>(shape.numel()) * static_cast<double>(size_of(dtype));
}

/// Elements of memory that a tensor occupies: an expanded dim counts as one.
double stored_elements(const runtime::TensorImpl& t) {
  if (lacks_memory(t)) return 0;
  double n = 1;
  for (int i = 0; i < t.ndim(); ++i)
    n *= static_cast<double>(t.strides[i] == 0 ? std::min<std::int64_t>(t.shape[i], 1) : t.shape[i]);
  return n;
}

/// The shape that a kernel's node broadcasts to, not counting its reductions.
Shape shape_of(const Graph& g, Operand o, std::span<const Shape> inputs) {
  std::vector<Shape> shapes;
  for (const Node& n : g.nodes().first(static_cast<std::size_t>(o.node) + 1)) {
    Shape& shape = shapes.emplace_back();
    if (is_element_leaf(n.op)) shape = inputs[n.attribute];
    for (const Operand operand : g.operands(n))
      static_cast<void>(broadcast(shape, shapes[static_cast<std::size_t>(operand.node)]));
  }
  return shapes.back();
}

/// Elements that a kernel gathers from input `number`, an array: one for each index.
double loaded_elements(const Kernel& kernel, std::uint32_t number, const Shape& domain, std::span<const Shape> inputs) {
  const Graph& g = kernel.graph;
  double loaded = 0;
  for (const Node& n : g.nodes()) {
    if (n.op != Op::load || g[g.operands(n)[0]].attribute != number) continue;
    const Operand place = g.operands(n)[1];
    const bool once_a_row = kernel.rows && RowStages(kernel).is_per_row(place);
    loaded += once_a_row ? rows_in(kernel, domain) : static_cast<double>(shape_of(g, place, inputs).numel());
  }
  return loaded;
}

double bytes_of(const Slot& s, const Plan& plan, const PlanShapes& shapes, Leaves leaves) {
  if (s.kind == Slot::Kind::Temporary) return bytes_of(shapes.temporaries[s.number], plan.temporaries[s.number]);
  const runtime::TensorImpl& t = *leaves[s.number];
  return stored_elements(t) * static_cast<double>(size_of(t.dtype));
}

std::vector<Shape> input_shapes(const Kernel& kernel, const PlanShapes& shapes, Leaves leaves) {
  std::vector<Shape> all;
  for (const Slot& s : kernel.inputs)
    all.push_back(s.kind == Slot::Kind::Temporary ? shapes.temporaries[s.number] : leaves[s.number]->shape);
  return all;
}

double sum(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

}  // namespace

double KernelTraffic::bytes_read() const { return sum(read); }
double KernelTraffic::bytes_written() const { return sum(written); }

KernelTraffic traffic_of(const Plan& plan, std::size_t number, const PlanShapes& shapes, Leaves leaves, bool rereads) {
  const Kernel& kernel = plan.kernels[number];
  const std::vector<Shape> inputs = input_shapes(kernel, shapes, leaves);
  KernelTraffic found;
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
    const Slot& s = kernel.inputs[i];
    const double bytes = s.kind == Slot::Kind::Array
                             ? loaded_elements(kernel, static_cast<std::uint32_t>(i), shapes.kernels[number], inputs) *
                                   static_cast<double>(size_of(leaves[s.number]->dtype))
                             : bytes_of(s, plan, shapes, leaves);
    found.read.push_back(bytes * (rereads ? std::max(RowPasses(kernel, true).reads(i), 1) : 1));
  }
  for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
    const Slot& s = kernel.outputs[i];
    const Shape& shape = (s.kind == Slot::Kind::Output ? shapes.outputs : shapes.temporaries)[s.number];
    found.written.push_back(bytes_of(shape, kernel.graph[kernel.graph.outputs()[i]].dtype));
  }
  return found;
}

double bytes_moved(const Plan& plan, const PlanShapes& shapes, Leaves leaves) {
  double bytes = 0;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const KernelTraffic t = traffic_of(plan, k, shapes, leaves, false);
    bytes += t.bytes_read() + t.bytes_written();
  }
  return bytes;
}

}  // namespace sinter::inline v1::jit
