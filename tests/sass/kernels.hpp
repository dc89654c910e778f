// The kernels that scripts/sass measures.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <sinter/sinter.hpp>

namespace sass {

struct Case {
  std::string name;
  std::string text;       // an expression as text; what that cannot say is a function
  std::string arguments;  // a signature: "x: f32[16384, 1024]"
  sinter::AnyTensor (*function)(std::span<const sinter::AnyTensor>) = nullptr;
};

/// In the order of the tables.
std::vector<Case> cases();

}  // namespace sass
