// What a launch gives to a kernel that reduces.
#pragma once
#include "row_layout.hpp"

namespace sinter::inline v1::jit::cuda {

/// The struct of its parameters, which KernelClass lists.
std::string row_params(const RowLayout& layout);

}  // namespace sinter::inline v1::jit::cuda
