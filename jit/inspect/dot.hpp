// A graph as text for Graphviz.
#pragma once
#include <span>
#include <string>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// `leaves` are the leaves by number; if empty, their shapes are left out.
std::string to_dot(const Graph& graph, std::span<runtime::TensorImpl* const> leaves = {});

/// The value of a constant node, exact in its dtype.
std::string constant_text(const Node& constant);

}  // namespace sinter::inline v1::jit
