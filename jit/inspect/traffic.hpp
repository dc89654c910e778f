// What the kernels of a plan read and write, in bytes.
#pragma once
#include <vector>

#include "../plan/plan_shapes.hpp"

namespace sinter::inline v1::jit {

struct KernelTraffic {
  std::vector<double> read, written;  // by input, by output

  double bytes_read() const;
  double bytes_written() const;
};

/// The traffic of a kernel with these leaves. `rereads`: each pass over a row reads it from memory.
KernelTraffic traffic_of(const Plan& plan, std::size_t kernel, const PlanShapes& shapes, Leaves leaves, bool rereads);

/// The bytes of a plan whose kernels read everything once.
double bytes_moved(const Plan& plan, const PlanShapes& shapes, Leaves leaves);

}  // namespace sinter::inline v1::jit
