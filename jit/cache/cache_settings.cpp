#include "cache_settings.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include <runtime/environment.hpp>
#include <runtime/log.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::environment;

CacheMode mode() {
  struct Word {
    const char* text;
    CacheMode mode;
  };
  constexpr Word words[] = {{"on", CacheMode::On},         {"1", CacheMode::On},
                            {"true", CacheMode::On},       {"yes", CacheMode::On},
                            {"off", CacheMode::Off},       {"0", CacheMode::Off},
                            {"false", CacheMode::Off},     {"no", CacheMode::Off},
                            {"memory", CacheMode::Memory}, {"readonly", CacheMode::ReadOnly}};
  const std::string value = environment("SINTER_CACHE");
  if (value.empty()) return CacheMode::On;
  for (const Word& w : words)
    if (runtime::same_word(value, w.text)) return w.mode;
  runtime::report_unreadable("SINTER_CACHE", value, "on, readonly, memory or off", "treating it as on");
  return CacheMode::On;
}

/// The user's home folder; empty if there is none.
std::string home() {
  if (std::string named = environment("HOME"); named.starts_with('/')) return named;
  std::vector<char> memory(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, memory.data(), memory.size(), &found) != 0 || !found || !found->pw_dir) return "";
  std::string folder = found->pw_dir;
  return folder.starts_with('/') ? folder : "";
}

std::string folder() {
  if (const std::string named = environment("SINTER_CACHE_DIR"); !named.empty()) {
    std::error_code failed;
    const auto absolute = std::filesystem::absolute(named, failed);  // the program may change its working directory
    return failed ? named : absolute.string();
  }
  // Its specification says to ignore relative paths.
  if (std::string named = environment("XDG_CACHE_HOME", "/sinter"); named.starts_with('/')) return named;
  std::string user = home();
  return user.empty() ? user : user + "/.cache/sinter";
}

}  // namespace

std::uint64_t max_kernel_bytes() {
  return runtime::environment_bytes("SINTER_KERNELS_MAX_BYTES", default_kernel_bytes);
}

CacheSettings cache_settings() {
  CacheSettings s;
  s.mode = mode();
  if (s.mode == CacheMode::Memory || s.mode == CacheMode::Off) return s;
  s.folder = folder();
  s.max_bytes = runtime::environment_bytes("SINTER_CACHE_MAX_BYTES", s.max_bytes);
  if (s.folder.empty())
    runtime::notice(
        "compiled kernels are not kept on disk: the user has no home folder. Name a folder in SINTER_CACHE_DIR, or set "
        "SINTER_CACHE=memory");
  return s;
}

}  // namespace sinter::inline v1::jit
