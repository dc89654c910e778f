#include "environment.hpp"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <set>

#include "text.hpp"
#include "write.hpp"

#include "fork.hpp"

namespace sinter::inline v1::runtime {
namespace {

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> words) noexcept {
  return std::ranges::any_of(words, [&](std::string_view word) { return same_word(value, word); });
}

/// The variable's value; `fallback` if it has none.
bool switched(const char* variable, bool fallback) noexcept {
  const char* value = trusted_getenv(variable);
  if (!value || !*value) return fallback;
  if (is_one_of(value, {"on", "1", "true", "yes"})) return true;
  if (is_one_of(value, {"off", "0", "false", "no"})) return false;
  report_unreadable(variable, value, "on or off", fallback ? "treating it as on" : "treating it as off");
  return fallback;
}

}  // namespace

const char* trusted_getenv(const char* variable) noexcept {
#if defined(__GLIBC__)
  return secure_getenv(variable);
#else
  return std::getenv(variable);
#endif
}

std::string environment(const char* variable, const char* suffix) {
  const char* value = trusted_getenv(variable);
  return value && *value ? std::string(value) + suffix : std::string();
}

bool is_off(const char* variable) noexcept { return !switched(variable, true); }
bool is_on(const char* variable) noexcept { return switched(variable, false); }

std::uint64_t environment_bytes(const char* variable, std::uint64_t fallback) {
  const char* const value = trusted_getenv(variable);
  if (!value || !*value) return fallback;
  const std::string_view text(value);
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error == std::errc{} && end == text.data() + text.size()) return bytes;
  report_unreadable(variable, text, "a number of bytes", fmt::format("treating it as {}", fallback));
  return fallback;
}

bool same_word(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string cannot_read(std::string_view variable, std::string_view value, std::string_view expected) {
  return fmt::format("{}={} is not valid: expected {}", variable, quote(value), expected);
}

void report_unreadable(std::string_view variable, std::string_view value, std::string_view expected,
                       std::string_view instead) noexcept try {
  static constinit std::mutex mutex;
  static constinit NoDestructor<std::set<std::string>> reported;
  const std::string line = fmt::format("sinter: {}; {}\n", cannot_read(variable, value, expected), instead);
  const ForkSafeLock lock(mutex);
  if (reported.get().insert(line).second) write_some(STDERR_FILENO, std::as_bytes(std::span(line)));
} catch (...) {
}

}  // namespace sinter::inline v1::runtime
