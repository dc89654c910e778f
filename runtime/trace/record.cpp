#include "record.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

#include "../text.hpp"

namespace sinter::inline v1::runtime {

const char* name(TraceCategory category) noexcept {
  constexpr const char* names[] = {"plan",    "compile", "load", "launch",     "kernel",
                                   "product", "library", "copy", "collective", "wait"};
  static_assert(std::size(names) == trace_categories);
  return names[static_cast<std::size_t>(category)];
}

std::int64_t trace_clock() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

TraceRecord::TraceRecord(TraceCategory c, std::string_view text, std::initializer_list<TraceValue> all) noexcept
    : category(c) {
  for (const TraceValue& v : all) add(v);
  const std::size_t most = name.size() - 1;
  std::string cut;
  if (text.size() > most) try {
      text = cut = shortened(text, most);
    } catch (...) {  // out of memory
      text = text.substr(0, most);
    }
  *std::ranges::copy(text, name.begin()).out = '\0';
}

}  // namespace sinter::inline v1::runtime
