// The functions of one exported kernel in C.
#pragma once
#include <string>
#include <vector>

#include "model.hpp"

namespace sinter::inline v1::jit::exporting {

/// `NAME_arguments`, what its functions hand to each other.
std::string c_arguments(const Model& model);
/// `NAME_S_nest(a, n)`: the loops of a step.
std::string c_nest(const Model& model, std::size_t step, const LayoutVersion& version, const std::string& name);
/// `NAME_check(a, layout, is_empty)`: what a caller may have got wrong.
std::string c_check(const Model& model);
/// NAME_cpu and, where the library has kernels for GPUs, NAME_launch and NAME_workspace_bytes, with `name` for NAME.
std::string c_public_functions(const Model& model, const std::string& name);
/// The same for NAME_cpu_dlpack and NAME_launch_dlpack, behind those. Throws Error where a size is no tensor's extent.
std::string c_dlpack_functions(const Model& model, const std::string& name);

/// The first line of a function: `int NAME(PARAMETERS) {`.
std::string function_head(const std::string& type, const std::string& name, const std::vector<std::string>& parameters);
/// Statements that put the parameters, or the sizes alone, into NAME_arguments. Its name is none that a parameter can
/// have.
std::string take_arguments(const Model& model, bool sizes_alone);
/// Statements that place the temporaries from `memory` on, and leave their size in `bytes`.
std::string place_temporaries(const Model& model, const std::string& memory);

}  // namespace sinter::inline v1::jit::exporting
