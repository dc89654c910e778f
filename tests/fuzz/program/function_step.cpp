// Calls of device functions.
#include <fmt/format.h>

#include <algorithm>

#include <sinter/dsl/device_function.hpp>
#include "step.hpp"

namespace sinter::fuzz {
namespace {

/// A loop and a branch, and parameters of three dtypes: no operation is like them.
const char* defined(bool is_integer) {
  static const bool once = [] {
    define_function(
        "float fuzzed(float x, bool up, double y) {\n"
        "  float sum = 0;\n"
        "  for (int i = 0; i < 3; ++i) sum += up ? x : (float)y;\n"
        "  return x > y ? sum : x;\n}");
    define_function("int64_t fuzzed_integers(int64_t a, int b) { return a % 7 > 2 ? a ^ b : (int64_t)b; }");
    return true;
  }();
  static_cast<void>(once);
  return is_integer ? "fuzzed_integers" : "fuzzed";
}

}  // namespace

Step function_step(Choices& choices, std::span<const Known> known) {
  const bool is_integer = choices.often(30);
  std::vector<std::size_t> values;
  std::string arguments;
  for (int i = 0; i < (is_integer ? 2 : 3); ++i) {
    std::size_t value = any_value(choices, known.size());
    // One that fits, unless the call is to be refused.
    const Category most = is_integer || i == 1 ? is_integer ? Category::Int : Category::Bool : Category::Float;
    for (std::size_t tried = 0; tried < known.size() && !choices.often(3); ++tried, value = (value + 1) % known.size())
      if (known[value].exact && category(known[value].dtype) <= most) break;
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    arguments += fmt::format("{}{}", i > 0 ? ", " : "", name_of(value));
  }
  return text_step(fmt::format("{}({})", defined(is_integer), arguments), values, Kind::Other);
}

}  // namespace sinter::fuzz
