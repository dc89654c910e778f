// Calls by name, from texts and other languages: functions of ops.def, reductions.def and the additional tables.
#pragma once
#include <optional>

#include "value.hpp"

namespace sinter::inline v1::detail {

struct TextCall {
  std::string_view text;  // for messages; may be empty
  TextRange place;
  std::string_view name;
  bool is_method = false;     // the first value is the object before the dot
  bool may_evaluate = false;  // includes the functions that evaluate, which texts lack
};
/// The result of a call. The last of the values are keyword arguments. Returns nullopt if there is no such function.
/// Throws ParseError for arguments that it does not accept, and what the operations throw.
std::optional<TextValue> call(const TextCall& call, std::span<const TextValue> values,
                              std::span<const std::string_view> keywords);

/// Whether texts have a function or an operation of this name.
bool is_function(std::string_view name);
/// A call of a device function.
TextValue called(jit::FunctionId function, const TextCall& call, std::span<const TextValue> values,
                 std::span<const std::string_view> keywords);

/// A function's signature, as in Python.
struct CallSignature {
  std::string name;
  std::vector<std::string> parameters;  // "input", "axis=None", "*", "*shape"
  std::string doc;
  std::string returns;  // as in TextFunction
  bool is_method = false;
  bool is_elementwise = false;  // its operands may be numbers
};
/// Whether a function is among those that only a call that may evaluate knows.
bool evaluates(std::string_view function);
/// Signatures of all functions that call() knows, except casts, by name.
std::vector<CallSignature> call_signatures();

}  // namespace sinter::inline v1::detail
