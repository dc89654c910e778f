// What exported C has for GPUs: tables that its launcher reads, and the functions that launch.
#pragma once
#include <string>

#include "library.hpp"

namespace sinter::inline v1::jit::exporting {

/// The sizes of the launcher's arrays.
std::string c_launch_limits(const Library& library);
/// The compiled kernels, or where in the file of kernels they are.
std::string c_images(const Library& library);
/// Variants and rules of one version of a step.
std::string c_kernel_tables(const Library& library, const Model& model, std::size_t step, const LayoutVersion& version);
/// NAME_launch and NAME_workspace_bytes, with `name` for NAME.
std::string c_launch_functions(const Model& model, const std::string& name);
/// LIBRARY_load and LIBRARY_unload; LIBRARY_open, LIBRARY_use and LIBRARY_close of a file of kernels.
std::string c_load_functions(const Library& library);

}  // namespace sinter::inline v1::jit::exporting
