// The elementwise part of a kernel: its graph as flat assignments.
#pragma once
#include <string>

#include "../plan.hpp"

namespace sinter::inline v1::jit::cuda {

/// How a value lies in memory: bools as bytes, which are 0 or 1.
std::string_view storage_type(DType dtype) noexcept;

/// `element(p, x0, ..., y0, ...)`: the outputs y of one element from the inputs x and the parameters' scalars s.
std::string element_function(const Kernel& kernel, std::string_view params);

}  // namespace sinter::inline v1::jit::cuda
