// Folders of Python packages, some of which contain libraries that are opened at run time: NVRTC, cuBLAS, OpenBLAS.
#pragma once
#include <string>
#include <vector>

namespace sinter::inline v1::runtime {

/// Sets the folders, such as ".../site-packages", in which the libraries' wheels are looked for. The Python package
/// does so when it is imported.
void set_package_folders(std::vector<std::string> folders);
std::vector<std::string> package_folders();

}  // namespace sinter::inline v1::runtime
