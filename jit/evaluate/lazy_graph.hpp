// Traversals of a DAG of lazy nodes, without recursion.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "lazy_node.hpp"

namespace sinter::inline v1::jit {

/// The device of the operands that have one. Throws DeviceError if they differ.
const LazyNode* placed_operand(std::string_view what, std::span<const LazyRef> operands);

/// The number of operations that the operands depend on, each counted once; stops counting past `enough`.
std::uint32_t count_operations(std::span<const LazyRef> operands, std::uint32_t enough);

/// The nodes that the values depend on whose results were modified by the user.
std::vector<LazyRef> changed_results(std::span<const LazyRef> values);

/// Releases the results that only another evaluation of `value` would use: a loop that evaluates each step would keep
/// all of them.
void drop_results_below(const LazyRef& value);

}  // namespace sinter::inline v1::jit
