// Traversals of a DAG of lazy nodes, without recursion.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include "lazy_node.hpp"

namespace sinter::inline v1::jit {

/// An operand with a device, which is also the result's; null if none has one. Throws DeviceError if they differ.
const LazyNode* operand_with_device(std::string_view what, std::span<const LazyRef> operands);

/// The number of operations that the operands depend on, each counted once; stops counting past `enough`.
std::uint32_t count_operations(std::span<const LazyRef> operands, std::uint32_t enough);

/// Sets an operation's history to that of what it depends on now, some of which may have become leaves since it was
/// made: the longest chain, and the bytes of the tensors that only the operation and such a chain hold.
void update_history(LazyContent& content);

/// The values together. `changed` receives those nodes among their ancestors whose cached results the user has
/// modified.
Recorded record(std::span<const LazyRef> values, std::vector<LazyRef>& changed);

/// Keeps the result of an evaluation for those that depend on the value, and drops those of its ancestors that nothing
/// else refers to.
void keep_result(const LazyRef& value, runtime::TensorRef result);

}  // namespace sinter::inline v1::jit
