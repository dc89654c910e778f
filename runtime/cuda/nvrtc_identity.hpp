// Identifies an NVRTC without loading it, so that a disk-cache hit does not load the compiler.
#pragma once
#include <string>
#include <vector>

namespace sinter::inline v1::runtime {

/// A hash of path, inode, size and time of every file that opening one of the candidates could find, in search order. A
/// name without a folder is looked up in the loader's folders and its cache. Equal hashes mean that the same
/// library would be loaded. "none" if there is no such file.
std::string nvrtc_identity(const std::vector<std::string>& candidates);

/// The identity of the process's NVRTC when it was loaded or, before that, of the one that would be loaded.
const std::string& nvrtc_identity();

}  // namespace sinter::inline v1::runtime
