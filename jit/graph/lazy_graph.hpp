// A DAG of lazy nodes seen as a whole. Nothing here recurses.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "lazy_node.hpp"

namespace sinter::inline v1::jit {

/// The device of the operands that have one. Throws DeviceError where they differ.
const LazyNode* placed_operand(std::string_view what, std::span<const LazyRef> operands);

/// Operations that the operands depend on, each once; stops counting past `enough`.
std::uint32_t count_operations(std::span<const LazyRef> operands, std::uint32_t enough);

/// The nodes that the values depend on whose results were written to by those who got them.
std::vector<LazyRef> changed_results(std::span<const LazyRef> values);

/// Lets go of the results that only evaluating `value` again could ask for: a loop that evaluates each step would keep
/// all of them.
void drop_results_below(const LazyRef& value);

}  // namespace sinter::inline v1::jit
