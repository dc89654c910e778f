#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <span>

#include "environment.hpp"
#include "write.hpp"

namespace sinter::inline v1::runtime {
namespace {

constexpr std::string_view start_of_line = "\r\033[K";  // and nothing on it

constinit std::atomic<ProgressLines> shown{ProgressLines::OnTerminals};

bool is_terminal() noexcept {
  const char* const kind = trusted_getenv("TERM");
  return ::isatty(STDERR_FILENO) && (!kind || std::string_view(kind) != "dumb");
}

bool shows_progress() noexcept { return (shown == ProgressLines::On || is_terminal()) && !is_on("SINTER_QUIET"); }

void write(std::string_view text) noexcept { write_some(STDERR_FILENO, std::as_bytes(std::span(text))); }

}  // namespace

void show_progress(ProgressLines where) noexcept { shown = where; }

void draw_progress(std::string_view text) noexcept try {
  if (shows_progress()) write(fmt::format("{}sinter: {}", start_of_line, text));
} catch (...) {
}

void clear_progress() noexcept {
  if (shows_progress()) write(start_of_line);
}

}  // namespace sinter::inline v1::runtime
