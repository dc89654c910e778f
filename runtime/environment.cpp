#include "environment.hpp"

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace sinter::inline v1::runtime {
namespace {

bool is_one_of(const char* value, std::initializer_list<const char*> words) noexcept {
  return std::ranges::any_of(words, [&](const char* word) { return strcasecmp(value, word) == 0; });
}

void report_once(const char* variable, const char* value) noexcept try {
  static std::mutex mutex;
  static std::set<std::string>& reported = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (reported.insert(variable).second)
    std::fprintf(stderr, "sinter: %s=%s: expected on or off; taking it as on\n", variable, value);
} catch (...) {
}

}  // namespace

std::string environment(const char* variable, const char* suffix) {
  const char* value = std::getenv(variable);
  return value && *value ? std::string(value) + suffix : std::string();
}

bool is_on(const char* variable) noexcept {
  const char* value = std::getenv(variable);
  return value && !is_one_of(value, {"", "off", "0", "false", "no"});
}

bool is_off(const char* variable) noexcept {
  const char* value = std::getenv(variable);
  if (!value || is_one_of(value, {"", "on", "1", "true", "yes"})) return false;
  if (is_one_of(value, {"off", "0", "false", "no"})) return true;
  report_once(variable, value);
  return false;
}

}  // namespace sinter::inline v1::runtime
