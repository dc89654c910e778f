// A graph as text for Graphviz.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// `leaves` are the leaves by number; if empty, their shapes are left out.
std::string to_dot(const Graph& graph, std::span<runtime::TensorImpl* const> leaves = {});

/// A quoted string in the DOT language.
std::string dot_string(std::string_view text);

/// The value of a constant node, exact in its dtype.
std::string constant_text(const Node& constant);

}  // namespace sinter::inline v1::jit
