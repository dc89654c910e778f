// The CPU's form of a step: loops in C99.
#pragma once
#include <string>

#include "model.hpp"

namespace sinter::inline v1::jit::exporting {

/// `static void NAME_cpu_S(const NAME_arguments *a, const sinter_nest *n, bool *fault)`: the step over a nest of its
/// most general layout. Sums of floats are double, those of doubles know what they lose.
std::string c_loops(const Model& model, std::size_t step);

}  // namespace sinter::inline v1::jit::exporting
