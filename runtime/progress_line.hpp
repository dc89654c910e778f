// A line on stderr that shows what takes long, and disappears when it is done.
#pragma once
#include <string_view>

namespace sinter::inline v1::runtime {

enum class ProgressLines { OnTerminals, On };

/// Where progress is shown: only if stderr is a terminal, or everywhere (for a notebook, which shows stderr in its page
/// and honors carriage returns). SINTER_QUIET turns it off in any case.
void show_progress(ProgressLines where) noexcept;

/// Draws "sinter: text" over the line that was drawn before. Thread-safe; the last to draw is seen.
void draw_progress(std::string_view text) noexcept;

/// Removes the line.
void clear_progress() noexcept;

}  // namespace sinter::inline v1::runtime
