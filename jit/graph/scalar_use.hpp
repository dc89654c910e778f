// What a scalar node's attribute holds.
#pragma once
#include <cstdint>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

struct ScalarUse {
  std::uint32_t number;
  Category arrives_as;
};
ScalarUse scalar_use(const Node& node) noexcept;

}  // namespace sinter::inline v1::jit
