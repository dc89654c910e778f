// Errors that show where in a text they are.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include <sinter/dsl/parse.hpp>

namespace sinter::inline v1::detail {

/// So many bytes of a text from one on.
struct Place {
  std::size_t at = 0;
  std::size_t length = 1;
};
/// Of what stands in no text.
inline constexpr Place nowhere{static_cast<std::size_t>(-1), 0};

/// The line of the text around the place, and below it a caret. Empty for nowhere.
std::string pointed(std::string_view text, Place place);
[[noreturn]] void throw_at(std::string_view text, Place place, const std::string& what);

/// The name among these that is most like it, in few edits; empty where none is near.
std::string_view nearest(std::string_view name, std::span<const std::string_view> names);
/// " (did you mean 'exp'?)", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> names);

}  // namespace sinter::inline v1::detail
