// The derivative columns of the tables, over the nodes of a graph.
#pragma once
#include <vector>

#include "derivative_functions.hpp"

namespace sinter::inline v1::jit {

/// Whether an operation's derivative is that of its body.
bool derives_from_body(Op op) noexcept;

/// For each operand of node `of`, an operation of the tables, its derivative times `g`, the gradient of the result. `g`
/// keeps the reduce axes of a reduction, and has the full shape of an operation that keeps its operand's. Appends
/// nodes to the graph.
std::vector<terms::slopes::Slope> slopes_of(Graph& graph, NodeId of, Operand g);

}  // namespace sinter::inline v1::jit
