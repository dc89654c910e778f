// Parts of graphs that depend on few leaves, such as the scale of a normalization, w / sqrt(var + eps):
// where these leaves are broadcast, a kernel would compute the part again in each row.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "cost_model.hpp"

namespace sinter::inline v1::jit {

struct CostlyPart {
  std::vector<std::uint32_t> leaves;  // that it depends on; others determine the rest of the graph
  std::size_t bytes;                  // of an element
  int instructions;                   // per element, counted up to a limit
  bool follows_reduction = false;     // it depends on a reduction's result, too
};

/// The parts of a simplified graph that take less time if they are stored once and read, where their leaves
/// are broadcast. Graphs with more than 64 leaves and reductions have none, others at most eight.
std::vector<CostlyPart> costly_parts(const Graph& graph);

/// Whether a kernel over so many elements would repeat one of the parts often enough that a plan by shapes stores it,
/// or may do so: the shapes of parts that follow reductions are not known here.
bool repeats(std::span<const CostlyPart> parts, std::int64_t elements, std::span<runtime::TensorImpl* const> leaves,
             RowValues rows) noexcept;

}  // namespace sinter::inline v1::jit
