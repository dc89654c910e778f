// Looking at what an expression becomes.
#pragma once
#include <string>
#include <string_view>

#include <sinter/jit/program.hpp>

namespace sinter::inline v1::jit {

/// The plan in words: device, kernels, what is fused and what is not and why, bytes moved, temporaries.
std::string explain(const Bound& tree);

/// The CUDA text of every kernel of the plan, as it would run on `device` (a GPU, or the CPU's operands taken as they
/// are).
std::string cuda_source(const Bound& tree);

/// The PTX of the plan's kernels for an architecture, "sm_90" or "compute_90". Needs NVRTC, no GPU. Throws
/// CompileError, DeviceError when NVRTC cannot be found (with the places searched).
std::string ptx(const Bound& tree, std::string_view architecture);

/// The simplified graph in Graphviz's language.
std::string to_dot(const Bound& tree);

}  // namespace sinter::inline v1::jit
