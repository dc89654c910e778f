#include <sinter/runtime/error.hpp>

#include <fmt/format.h>

#include <string_view>

namespace sinter::inline v1 {
namespace {

/// "  12 | text" for every line, as compilers print source.
std::string numbered(std::string_view source) {
  std::string out;
  for (int line = 1; !source.empty(); ++line) {
    const std::size_t end = source.find('\n');
    fmt::format_to(std::back_inserter(out), "{:5} | {}\n", line, source.substr(0, end));
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
  return out;
}

std::string with_log_and_source(const std::string& what, std::string_view log, std::string_view source) {
  while (!log.empty() && (log.back() == '\n' || log.back() == '\0')) log.remove_suffix(1);
  return fmt::format("{}\n{}\nThe source:\n{}", what, log.empty() ? "(the compiler gave no log)" : log,
                     numbered(source));
}

}  // namespace

CompileError::CompileError(const std::string& what, std::string log, std::string source)
    : Error(with_log_and_source(what, log, source)), log_(std::move(log)), source_(std::move(source)) {}

}  // namespace sinter::inline v1
