// The log of internal events, one line per event, on request: SINTER_LOG=jit,cache.
#pragma once
#include <atomic>
#include <string_view>

namespace sinter::inline v1::runtime {

enum class Log : unsigned { Jit = 1, Cache = 2, Schedule = 4, Memory = 8 };

namespace detail {
inline constexpr unsigned log_not_read = ~0u;
extern std::atomic<unsigned> log_categories;
unsigned read_log_categories() noexcept;
}  // namespace detail

/// Whether SINTER_LOG names the category. Check it before building a message: it costs one load if not.
inline bool logs(Log category) noexcept {
  unsigned wanted = detail::log_categories.load(std::memory_order_relaxed);
  if (wanted == detail::log_not_read) [[unlikely]]
    wanted = detail::read_log_categories();
  return wanted & static_cast<unsigned>(category);
}

/// Writes "sinter[jit]: text" to stderr, as one line. Thread-safe.
void log(Log category, std::string_view text) noexcept;

/// Writes "sinter: text" to stderr unless SINTER_QUIET is on: for conditions that users should know but that are not
/// errors.
void notice(std::string_view text) noexcept;

}  // namespace sinter::inline v1::runtime
