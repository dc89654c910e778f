// Why kernels of a plan were not fused.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "../plan/plan_shapes.hpp"

namespace sinter::inline v1::jit {

struct Boundary {
  std::size_t before, after;  // numbers of kernels
  std::string reason;
};

/// One for each pair of a kernel and another that it reads a temporary of; a kernel that reads none is paired with the
/// one before it. `blas` runs the products; an eager plan has one kernel for each operation.
std::vector<Boundary> boundaries_of(const Plan& plan, const PlanShapes& shapes, std::string_view blas, bool eager);

}  // namespace sinter::inline v1::jit
