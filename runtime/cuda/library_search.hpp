// The search for libraries of the CUDA toolkit.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline v1::runtime {

/// Folders of toolkits and of Python's wheels, as patterns.
std::vector<std::string> toolkit_folders();

/// Candidates, best first: names for the loader's own search, then absolute paths of existing files. If the environment
/// variable is set to a file or a folder, that replaces the list. `stem` is the file's name up to the version:
/// libnvrtc.so
std::vector<std::string> library_candidates(const char* variable, std::string_view stem,
                                            std::span<const char* const> sonames);

/// "the loader's path, ...", or the variable's value: for errors.
std::string searched_places(const char* variable);

}  // namespace sinter::inline v1::runtime
