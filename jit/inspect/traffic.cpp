#include "traffic.hpp"

#include <algorithm>
#include <numeric>

#include "../plan/row_walks.hpp"

namespace sinter::inline v1::jit {
namespace {

double bytes_of(const Shape& shape, DType dtype) {
  return static_cast<double>(shape.numel()) * static_cast<double>(size_of(dtype));
}

/// Elements of memory that a tensor stands for: an expanded dim holds one.
double stored_elements(const runtime::TensorImpl& t) {
  if (is_index(t)) return 0;
  double n = 1;
  for (int i = 0; i < t.rank(); ++i)
    n *= static_cast<double>(t.strides[i] == 0 ? std::min<std::int64_t>(t.shape[i], 1) : t.shape[i]);
  return n;
}

double bytes_of(const Slot& s, const Plan& plan, const Shape& kernel, const PlanShapes& shapes, Leaves leaves) {
  if (s.kind == Slot::Kind::Temporary) return bytes_of(shapes.temporaries[s.number], plan.temporaries[s.number]);
  const runtime::TensorImpl& t = *leaves[s.number];  // of an array one element for each of the kernel's
  const double elements = s.kind == Slot::Kind::Array ? static_cast<double>(kernel.numel()) : stored_elements(t);
  return elements * static_cast<double>(size_of(t.dtype));
}

double sum(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

}  // namespace

double KernelTraffic::bytes_read() const { return sum(read); }
double KernelTraffic::bytes_written() const { return sum(written); }

KernelTraffic traffic_of(const Plan& plan, std::size_t number, const PlanShapes& shapes, Leaves leaves, bool rereads) {
  const Kernel& kernel = plan.kernels[number];
  KernelTraffic found;
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
    found.read.push_back(bytes_of(kernel.inputs[i], plan, shapes.kernels[number], shapes, leaves) *
                         (rereads ? std::max(RowWalks(kernel, true).reads(i), 1) : 1));
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
