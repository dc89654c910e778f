// The key of a compiled kernel.
#pragma once
#include <string>
#include <string_view>

namespace sinter::inline v1::jit {

/// Everything that the binary depends on: target and compiler, name, text.
struct KernelKey {
  std::string target;  // KernelTarget::binary_tag
  std::string name;
  std::string text;
  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};

}  // namespace sinter::inline v1::jit
