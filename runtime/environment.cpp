#include "environment.hpp"

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include <sinter/runtime/fork.hpp>

namespace sinter::inline v1::runtime {
namespace {

bool is_one_of(const char* value, std::initializer_list<const char*> words) noexcept {
  return std::ranges::any_of(words, [&](const char* word) { return strcasecmp(value, word) == 0; });
}

void report_once(const char* variable, const char* value, bool otherwise) noexcept try {
  static constinit std::mutex mutex;
  static constinit Immortal<std::set<std::string>> reported;
  const ForkSafeLock lock(mutex);
  if (reported.get().insert(variable).second)
    std::fprintf(stderr, "sinter: %s=%s: expected on or off; taking it as %s\n", variable, value,
                 otherwise ? "on" : "off");
} catch (...) {
}

/// What the variable says; `otherwise` where it says nothing.
bool switched(const char* variable, bool otherwise) noexcept {
  const char* value = std::getenv(variable);
  if (!value || !*value) return otherwise;
  if (is_one_of(value, {"on", "1", "true", "yes"})) return true;
  if (is_one_of(value, {"off", "0", "false", "no"})) return false;
  report_once(variable, value, otherwise);
  return otherwise;
}

}  // namespace

std::string environment(const char* variable, const char* suffix) {
  const char* value = std::getenv(variable);
  return value && *value ? std::string(value) + suffix : std::string();
}

bool is_off(const char* variable) noexcept { return !switched(variable, true); }
bool is_on(const char* variable) noexcept { return switched(variable, false); }

}  // namespace sinter::inline v1::runtime
