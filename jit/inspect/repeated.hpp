// Values that several kernels of a plan recompute.
#pragma once
#include <vector>

#include "../plan/plan_shapes.hpp"

namespace sinter::inline v1::jit {

struct Repeated {
  Op op;
  DType dtype;
  int kernels = 0;     // that compute it
  int operations = 0;  // that lead to it, each computed by as many kernels
  int weight = 0;      // of it and of these: a division or function is several
  Shape shape;         // of the first of these kernels: it has as many elements at most
};

struct Repetitions {
  std::vector<Repeated> values;          // without those that only lead to another of them; in the plan's order
  std::vector<std::vector<bool>> nodes;  // by kernel, by node: whether other kernels compute it, too
};

/// Values that more than one kernel computes.
Repetitions repetitions(const Plan& plan, const PlanShapes& shapes);

}  // namespace sinter::inline v1::jit
