// Where libraries of the CUDA toolkit may be.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline v1::runtime {

/// Folders of toolkits and of Python's wheels, as patterns.
std::vector<std::string> toolkit_folders();

/// Best first: names for the loader's own search, then absolute paths of files that exist. What the environment
/// variable names, a file or a folder, replaces the list. `stem` is the file's name up to the version: libnvrtc.so
std::vector<std::string> library_candidates(const char* variable, std::string_view stem,
                                            std::span<const char* const> sonames);

/// "the loader's path, ...", or what the variable names: for errors.
std::string searched_places(const char* variable);

}  // namespace sinter::inline v1::runtime
