// The CPU's form of a step: loops in C99.
#pragma once
#include <string>

#include "model.hpp"

namespace sinter::inline v1::jit::exporting {

/// `static void NAME_cpu_S(const NAME_arguments *a, const sinter_nest *n, int *faults)`: the step over a nest of its
/// most general layout.
std::string c_kernel(const Model& model, std::size_t step);

}  // namespace sinter::inline v1::jit::exporting
