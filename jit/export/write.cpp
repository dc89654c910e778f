#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <runtime/atomic_file_writer.hpp>
#include <runtime/text.hpp>
#include <sinter/jit/export.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1 {
namespace {

namespace fs = std::filesystem;

bool has_text(const fs::path& path, const std::string& text) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;  // a pipe would wait for somebody to write
  std::ifstream known(path, std::ios::binary);
  return known && std::string{std::istreambuf_iterator<char>(known), {}} == text;
}

}  // namespace

void Exported::write(const std::string& folder) const {
  if (folder.find('\0') != std::string::npos)
    throw Error(fmt::format("the name of a folder, {} of {} bytes, contains a NUL byte", runtime::quote(folder),
                            folder.size()));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(
        fmt::format("the folder {} cannot be made: {}. Name one that you may write to", folder, error.message()));
  std::size_t bytes = 0;
  for (const auto& [name, text] : files) bytes += text.size();
  try {
    std::deque<runtime::AtomicFileWriter> written;
    for (const auto& [name, text] : files) {
      const fs::path path = fs::path(folder) / name;
      if (has_text(path, text)) continue;  // what depends on it need not be built again
      written.emplace_back(path).write(text);
      written.back().finish();
    }
    for (runtime::AtomicFileWriter& file : written) file.commit();
  } catch (const FormatError& e) {
    throw Error(fmt::format("{}. Name a folder that you may write to, with room for {} bytes", e.what(), bytes));
  }
}

}  // namespace sinter::inline v1
