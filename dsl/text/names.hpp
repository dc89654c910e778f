// The built-in names of texts: constants, dtypes, operations.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "number.hpp"

namespace sinter::inline v1::detail {

/// and, or, not, if, else, ...: words that cannot be names.
bool is_keyword(std::string_view word) noexcept;
/// pi, inf, True: nullopt for other names.
std::optional<TextNumber> constant_named(std::string_view name) noexcept;
/// float32, f32, and PyTorch's float, double, half, int, long, short.
std::optional<DType> dtype_named(std::string_view name) noexcept;
/// Whether a name needs no operand.
bool has_meaning(std::string_view name) noexcept;
/// f32, bf16, i64, u8, c64, bool.
std::string short_name(DType dtype);

/// The parameters of a function, from its signature in Python's syntax: "input, axis=None, *, dtype=None". One that
/// begins with a star takes all further positional arguments, as a list; those after it, or after a lone star, are
/// passed by name.
struct TextParameters {
  TextParameters() = default;
  TextParameters(const char* signature);

  static constexpr auto none = static_cast<std::size_t>(-1);
  std::vector<std::string_view> names;
  std::vector<std::string_view> defaults;  // of the last parameters
  std::size_t positional = 0;              // how many may be passed by position
  std::size_t gathers = none;
};

/// An operation of ops.def, with the defaults of its calls.
struct TextOperation {
  std::string_view name;
  Op op;
  TextParameters parameters;
  std::vector<TextNumber> defaults;  // of the last operands
};
/// Null if there is no public operation of this name.
const TextOperation* operation_named(std::string_view name);
/// The operation that a call with this many operands names.
Op overload_of(Op op, std::size_t operands) noexcept;
std::optional<Op> reduction_named(std::string_view name) noexcept;
/// The name of a function that NumPy or the array API standard calls otherwise: abs for absolute. Other names as they
/// are.
std::string_view without_alias(std::string_view function) noexcept;
struct FunctionAlias {
  std::string_view alias, name;
};
std::span<const FunctionAlias> function_aliases();
/// Names of all operations and reductions.
std::span<const std::string_view> operation_names();

}  // namespace sinter::inline v1::detail
