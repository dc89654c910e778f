// The scheduler's result: kernels in execution order, and the temporaries between them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "../graph/scalar_use.hpp"
#include "../ops/traits.hpp"
#include "cost_model.hpp"

namespace sinter::inline v1::jit {

/// Where a kernel's operand comes from or goes to.
struct Slot {
  enum class Kind : std::uint8_t { Leaf, Array, Temporary, Output } kind;  // Array: a leaf of indirect loads
  std::uint32_t number;  // of the evaluation's leaf, of the plan's temporary, of the evaluation's output
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// How a tensor's axes correspond to those of the domain of a kernel that reduces.
enum class AxisMapping : std::uint8_t {
  Domain,  // broadcasts to the domain
  Kept,    // the same, with one element per row: the reduced axes have an extent of 1 or are missing
  Rows,    // broadcasts to the domain without its reduced axes: also one element per row
};

/// The additional properties of a kernel that reduces. Its domain is the shape that its Indexing::Domain inputs
/// broadcast to. All its reductions reduce the same axes; a row is the set of elements that one result is computed
/// from.
struct Rows {
  std::uint8_t axes = 0;                  // ReduceAxes::axes; not 0
  std::vector<AxisMapping> axis_mapping;  // of the outputs, then of the inputs
  std::vector<Slot> domain;               // tensors that only contribute their shape to the domain
};

/// One kernel: a graph whose leaves are numbered 0, 1, ... in the order of `inputs`; each leaf, index and array node is
/// one input. The graph is elementwise unless `rows` is set. Then it may contain reductions, all along rows->axes
/// whatever their attributes say; their results, and values that depend on no element, have one element per row. The
/// kernel's parameters are listed at KernelClass. A matrix product is also a Kernel, but a BLAS runs it.
struct Kernel {
  Graph graph;
  std::vector<Slot> inputs;           // Leaf, Array or Temporary
  std::vector<Slot> outputs;          // Output or Temporary, one for each of graph.outputs()
  std::string name;                   // sinter_add_exp_mul_f32_3f9a: the operations, the result, the hash
  std::vector<std::uint32_t> arrays;  // positions of the arrays among outputs and inputs
  std::optional<Rows> rows = {};      // for a kernel that reduces
  bool is_product = false;            // its graph has the form that ProductForm describes
  std::string limit = {};             // why it was cut from the next kernel, for explain(): "more than 128 arrays"
};

/// The outputs of an elementwise plan for all shapes have one shape; a plan for the leaves' shapes has outputs of any.
/// In the former, a kernel that writes an output runs over the outputs' shape, which comes from the recorded graph,
/// since simplification may drop a leaf (x * 0) that determines it; any other kernel runs over the shape that its
/// inputs broadcast to. Temporaries are contiguous arrays. An output may take the place of a leaf that its kernel is
/// the last to read.
struct Plan {
  Graph graph;  // simplified, of the whole evaluation
  std::vector<Kernel> kernels;
  std::vector<DType> temporaries;
  std::vector<std::uint32_t> last_use;  // for each temporary, the last kernel that reads it
};

/// Plans a simplified elementwise graph, whose outputs have one shape: one kernel if the limits allow it; otherwise the
/// graph is cut where the fewest bytes cross. Always succeeds, and does not recurse, so graphs may be arbitrarily deep.
Plan schedule(Graph simplified);

/// Plans any simplified graph without matrix products. `leaves` are the leaves' shapes; the plan is valid for all
/// shapes with the same pattern of extents that are 0, 1 or equal to each other. `rows` says what becomes of costly
/// values that an elementwise kernel would compute for each row. Throws what shapes_of throws.
Plan schedule(Graph simplified, std::span<const Shape> leaves, RowValues rows);

/// Plans a graph with matrix products, as recorded: each product is one kernel, and the operations between them
/// are scheduled as graphs without products. Throws what shapes_of throws.
Plan schedule_products(const Graph& recorded, std::span<const Shape> leaves, RowValues rows);

/// One kernel for each operation of an elementwise graph as written, whose outputs have one shape.
Plan schedule_eager(const Graph& recorded);

/// One kernel for each operation of any graph as written. Throws what shapes_of throws.
Plan schedule_eager(const Graph& recorded, std::span<const Shape> leaves);

/// The slot of a leaf, index or array node.
inline Slot leaf_slot(const Node& n) noexcept {
  return {n.op == Op::array ? Slot::Kind::Array : Slot::Kind::Leaf, static_cast<std::uint32_t>(n.attribute)};
}

/// The name that profilers show: the operations, the result's dtype, a hash (sinter_add_exp_mul_f32_3f9a).
std::string kernel_name(const Graph& kernel);

/// The peak number of bytes, per element, of values that are live at the same time when a kernel's nodes run in order;
/// a leaf is live from its first use. The vector width depends on it.
int live_bytes(const Graph& kernel);

}  // namespace sinter::inline v1::jit
