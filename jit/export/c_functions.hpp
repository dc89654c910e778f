// The functions of one exported kernel in C.
#pragma once
#include <string>

#include "model.hpp"

namespace sinter::inline v1::jit::exporting {

/// `NAME_arguments`, what its functions hand to each other.
std::string c_arguments(const Model& model);
/// `NAME_S_nest(a, n)`: the loops of a step.
std::string c_nest(const Model& model, std::size_t step, const LayoutVersion& version, const std::string& name);
/// `NAME_check(a, layout, is_empty)`: what a caller may have got wrong.
std::string c_check(const Model& model);
/// NAME_launch, NAME_cpu and NAME_workspace_bytes, with `name` for NAME.
std::string c_public_functions(const Model& model, const std::string& name);
/// NAME_launch_dlpack and NAME_cpu_dlpack, behind those. Throws Error where a size is no tensor's extent.
std::string c_dlpack_functions(const Model& model, const std::string& name);

}  // namespace sinter::inline v1::jit::exporting
