#include "graphviz.hpp"

#include <sys/auxv.h>

#include <runtime/process.hpp>

namespace sinter::inline v1::jit::page {

std::string graphviz_svg(std::string_view text) {
  if (::getauxval(AT_SECURE)) return "";
  int error = 0;
  const std::string program = runtime::find_program("dot", error);
  if (program.empty()) return "";
  const runtime::ProcessOptions options{
      .input = text, .merges_errors = false, .limit = std::chrono::milliseconds(5000)};
  const runtime::ProcessResult drawn = runtime::run_process({program, "-Tsvg"}, options);
  const std::size_t begin = drawn.output.find("<svg"), end = drawn.output.rfind("</svg>");
  if (drawn.failed() || begin == std::string::npos || end == std::string::npos || end < begin) return "";
  return drawn.output.substr(begin, end + std::string_view("</svg>").size() - begin);
}

}  // namespace sinter::inline v1::jit::page
