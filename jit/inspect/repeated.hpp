// Values that several kernels of a plan recompute.
#pragma once
#include <vector>

#include "../plan/plan_shapes.hpp"

namespace sinter::inline v1::jit {

struct Repeated {
  Op op;
  DType dtype;
  int kernels = 0;     // that compute it
  int operations = 0;  // that it depends on and that are computed by as many kernels
  int weight = 0;      // of it and these: a division or function counts as several
  Shape shape;         // of the first of these kernels: an upper bound on its elements
};

struct Repetitions {
  std::vector<Repeated> values;          // in the plan's order, without those that are only part of another one
  std::vector<std::vector<bool>> nodes;  // by kernel, by node: whether other kernels compute it too
};

/// Values that more than one kernel computes.
Repetitions repetitions(const Plan& plan, const PlanShapes& shapes);

}  // namespace sinter::inline v1::jit
