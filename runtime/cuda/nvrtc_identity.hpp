// Telling one NVRTC from another without loading it, so that a kernel found on disk costs no compiler.
#pragma once
#include <string>
#include <vector>

namespace sinter::inline v1::runtime {

/// A hash of every file that opening one of the candidates could find, in the order of the search: path, inode, size
/// and time. A name without a folder stands for what the loader's folders and its cache hold. Where it is equal, the
/// same library would be opened. "none" when there is no such file.
std::string nvrtc_identity(const std::vector<std::string>& candidates);

/// That of the process's NVRTC as it was opened; before, of what would be opened.
const std::string& nvrtc_identity();

}  // namespace sinter::inline v1::runtime
