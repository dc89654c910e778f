// The leaves of an evaluation: the arrays that a graph's leaf, iota and array nodes number.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

using Leaves = std::span<runtime::TensorImpl* const>;

/// Throws Error: an expression was used after it was moved from.
[[noreturn]] void throw_empty_expression();

/// Numbers of leaves, in order, each once.
struct LeafSets {
  std::vector<std::uint32_t> elementwise;  // leaves and iotas, which determine the shape
  std::vector<std::uint32_t> arrays;       // arrays of indirect loads
};

/// The leaves that a graph's output depends on. Only for recorded graphs, since simplification can drop a leaf (x * 0)
/// that determines the shape.
LeafSets leaves_of(const Graph& recorded, Operand output);

}  // namespace sinter::inline v1::jit
