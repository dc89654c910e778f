// Preprocessor conditions that are resolved before the source is printed.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace sinter::inline v1::jit::cuda {

struct Macro {
  std::string_view name;
  bool is_defined;
};

/// Evaluates the conditional directives that depend on `known` macros only, and removes the branches not taken; other
/// directives stay as they are. Evaluated are `#ifdef X`, `#ifndef X`, `#if defined(X)` and `#elif defined(X)`; if X is
/// not defined, `&&` may follow. An #elif on another macro comes only after conditions on others.
std::string resolve_conditions(std::string_view text, std::span<const Macro> known);

}  // namespace sinter::inline v1::jit::cuda
