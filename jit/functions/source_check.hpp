// What can be said about a function without a compiler.
#pragma once
#include <string_view>

#include <sinter/jit/device_function.hpp>

namespace sinter::inline v1::jit {

/// Parameters of derivatives: the gradient of the result, and the result.
inline constexpr std::string_view gradient_name = "g", result_name = "r";

/// Throws Error; see define_function.
void check_source(const FunctionSource& source);

/// Where the body that begins behind an opening brace ends: the position of its closing brace, or npos. Skips comments,
/// strings and characters.
std::size_t end_of_body(std::string_view text) noexcept;

}  // namespace sinter::inline v1::jit
