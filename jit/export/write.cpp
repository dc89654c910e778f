#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <runtime/text.hpp>
#include <sinter/jit/export.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1 {

void Exported::write(const std::string& folder) const {
  namespace fs = std::filesystem;
  if (folder.find('\0') != std::string::npos)
    throw Error(
        fmt::format("the name of a folder, {} of {} bytes, has a byte of 0", runtime::quote(folder), folder.size()));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(
        fmt::format("the folder {} cannot be made: {}. Name one that you may write to", folder, error.message()));
  for (const auto& [name, text] : files) {
    const fs::path path = fs::path(folder) / name;
    if (std::ifstream known(path, std::ios::binary); known && fs::is_regular_file(path)) {
      const std::string old{std::istreambuf_iterator<char>(known), {}};
      if (old == text) continue;  // what depends on it need not be built again
    }
    errno = 0;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush())
      throw Error(fmt::format("{} cannot be written: {}. Name a folder that you may write to, with room for {} bytes",
                              path.string(), std::generic_category().message(errno), text.size()));
  }
}

}  // namespace sinter::inline v1
