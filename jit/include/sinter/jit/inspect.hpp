// Inspection of expressions, typed or lazy. Nothing runs.
#pragma once
#include <string>
#include <string_view>

#include <sinter/jit/recorded.hpp>

namespace sinter::inline v1::jit {

/// A description of the plan: device, kernels, what is fused, what is not and why, bytes moved, temporaries.
std::string explain(const Recorded& expression);

/// What explain() says, as a self-contained HTML page, with the plan drawn as a graph and the kernels' CUDA source.
/// Graphviz does the layout if its program `dot` is installed. Throws what explain throws.
std::string explain_html(const Recorded& expression);

/// The CUDA source of every kernel of the plan, as it would run on `device` (a GPU; operands on the CPU are treated as
/// if they were there).
std::string cuda_source(const Recorded& expression);

/// The kernels as HIP source, for AMD's GPUs. It is compiled in tests, but was never run on an AMD GPU.
std::string hip_source(const Recorded& expression);

/// The PTX of the plan's kernels for an architecture, "sm_90" or "compute_90". Needs NVRTC but no GPU. Throws
/// CompileError, DeviceError if NVRTC cannot be found (with the places searched).
std::string ptx(const Recorded& expression, std::string_view architecture);

/// Like result_shape(Bound). Makes no plan.
Shape result_shape(const Recorded& expression);

/// The simplified graph in Graphviz's DOT language.
std::string to_dot(const Recorded& expression);

}  // namespace sinter::inline v1::jit
