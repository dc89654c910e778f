// Small files, read and written as a whole.
#pragma once
#include <string>

namespace sinter::inline v1::runtime {

/// Throw Error with the path and the reason.
void write_whole_file(const std::string& path, const std::string& content);
std::string read_whole_file(const std::string& path);

}  // namespace sinter::inline v1::runtime
