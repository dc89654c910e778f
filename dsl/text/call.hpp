// Calls by name, of texts and of other languages: what ops.def, reductions.def and the further functions have.
#pragma once
#include <optional>

#include "value.hpp"

namespace sinter::inline v1::detail {

struct TextCall {
  std::string_view text;  // for messages; empty where there is none
  Place place;
  std::string_view name;
  bool is_method = false;  // the first value stands before the dot
};
/// What the call gives, of values of which the last ones are for the keywords; nothing where there is no such function.
/// Throws ParseError for arguments that it does not take, and what the operations throw.
std::optional<TextValue> call(const TextCall& call, std::span<const TextValue> values,
                              std::span<const std::string_view> keywords);

/// How a function is called, as Python writes it.
struct CallSignature {
  std::string name;
  std::vector<std::string> parameters;  // "input", "axis=None", "*shape"
  std::string doc;
  bool is_view = false;
};
/// Of all functions that call() knows but casts, by name.
std::vector<CallSignature> call_signatures();

}  // namespace sinter::inline v1::detail
