#include "log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "environment.hpp"
#include "text.hpp"
#include "write.hpp"

namespace sinter::inline v1::runtime {
namespace {

struct LogCategory {
  Log bit;
  std::string_view name;
};
constexpr LogCategory categories[] = {
    {Log::Jit, "jit"}, {Log::Cache, "cache"}, {Log::Schedule, "schedule"}, {Log::Memory, "memory"}};

/// A single write, so that lines of several threads and processes are not interleaved.
void write_line(std::string line) {
  line += '\n';
  write_some(STDERR_FILENO, std::as_bytes(std::span(line)));
}

std::string_view trimmed(std::string_view word) {
  while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
  while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
  return word;
}

unsigned parse(std::string_view list) {
  const std::string_view all = list;
  unsigned wanted = 0;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view word = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const auto* known = std::ranges::find_if(categories, [&](const LogCategory& c) { return same_word(c.name, word); });
    if (known != std::end(categories))
      wanted |= static_cast<unsigned>(known->bit);
    else if (!word.empty())
      report_unreadable("SINTER_LOG", all, "a list of jit, cache, schedule, memory", "ignoring " + quote(word));
  }
  return wanted;
}

}  // namespace

namespace detail {

constinit std::atomic<unsigned> log_categories{log_not_read};

unsigned read_log_categories() noexcept try {
  static_cast<void>(is_on("SINTER_QUIET"));  // otherwise an invalid value is found only at the first notice
  const unsigned wanted = parse(environment("SINTER_LOG"));
  log_categories.store(wanted, std::memory_order_relaxed);
  return wanted;
} catch (...) {
  return 0;
}

}  // namespace detail

void log(Log category, std::string_view text) noexcept try {
  const auto* named = std::ranges::find(categories, category, &LogCategory::bit);
  write_line(fmt::format("sinter[{}]: {}", named->name, text));
} catch (...) {
}

void notice(std::string_view text) noexcept try {
  if (!is_on("SINTER_QUIET")) write_line(fmt::format("sinter: {}", text));
} catch (...) {
}

}  // namespace sinter::inline v1::runtime
