#include "whole_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <sinter/runtime/error.hpp>
#include "write.hpp"

namespace sinter::inline v1::runtime {

void write_whole_file(const std::string& path, const std::string& content) {
  if (const int error = write_file(path, content))
    throw Error(fmt::format("Cannot write {} ({}).", path, write_problem(error)));
}

std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), {});
  if (!file) throw Error(fmt::format("Cannot read {} ({}).", path, std::strerror(errno)));
  return content;
}

}  // namespace sinter::inline v1::runtime
