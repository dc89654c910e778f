#include "files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <sinter/runtime/error.hpp>
#include "../write.hpp"

namespace sinter::inline v1::runtime::vgpu {

void write_file(const std::string& path, const std::string& content) {
  if (const int error = runtime::write_file(path, content))
    throw Error(fmt::format("Cannot write {} ({}).", path, write_problem(error)));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), {});
  if (!file) throw Error(fmt::format("Cannot read {} ({}).", path, std::strerror(errno)));
  return content;
}

}  // namespace sinter::inline v1::runtime::vgpu
