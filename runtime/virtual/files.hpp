// Files beside the host's compiler.
#pragma once
#include <string>

namespace sinter::inline v1::runtime::vgpu {

/// Throw Error with the path and the reason.
void write_file(const std::string& path, const std::string& content);
std::string read_file(const std::string& path);

}  // namespace sinter::inline v1::runtime::vgpu
