// Looking at what an expression, typed or lazy, becomes. Nothing runs.
#pragma once
#include <string>
#include <string_view>

#include <sinter/jit/recorded.hpp>

namespace sinter::inline v1::jit {

/// The plan in words: device, kernels, what is fused and what is not and why, bytes moved, temporaries.
std::string explain(const Recorded& expression);

/// The same as a page of HTML that needs no other file, with the plan drawn as a graph and the kernels' CUDA text.
/// Graphviz draws it where its program `dot` is installed. Throws what explain throws.
std::string explain_html(const Recorded& expression);

/// The CUDA text of every kernel of the plan, as it would run on `device` (a GPU, or the CPU's operands taken as they
/// are).
std::string cuda_source(const Recorded& expression);

/// The PTX of the plan's kernels for an architecture, "sm_90" or "compute_90". Needs NVRTC, no GPU. Throws
/// CompileError, DeviceError when NVRTC cannot be found (with the places searched).
std::string ptx(const Recorded& expression, std::string_view architecture);

/// As result_shape(Bound). Makes no plan.
Shape result_shape(const Recorded& expression);

/// The simplified graph in Graphviz's language.
std::string to_dot(const Recorded& expression);

}  // namespace sinter::inline v1::jit
