// What a compiled kernel depends on.
#pragma once
#include <string>
#include <string_view>

namespace sinter::inline v1::jit {

/// All of it: the generator's version, where and how it is compiled, its name, its text.
struct KernelKey {
  std::string target;  // GpuBackend::binary_tag
  std::string name;
  std::string text;
  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};

}  // namespace sinter::inline v1::jit
