// What the scheduler makes of a graph: kernels in order, and the temporaries between them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "../graph/scalar_use.hpp"
#include "../ops/facts.hpp"

namespace sinter::inline v1::jit {

/// Where a kernel's operand comes from or goes to.
struct Slot {
  enum class Kind : std::uint8_t { Leaf, Array, Temporary, Output } kind;  // Array: a leaf read at computed places
  std::uint32_t number;  // of the evaluation's leaf, of the plan's temporary, of the evaluation's output
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// How a tensor lies in the domain of a kernel that reduces.
enum class Over : std::uint8_t {
  Domain,  // it broadcasts to the domain
  Kept,    // the same, and it has one element for each row: an extent of 1, or none, where axes are reduced
  Rows,    // it broadcasts to the domain without the axes that are reduced: one element for each row as well
};

/// What a kernel that reduces adds to an elementwise one. Its domain is what its inputs over the domain broadcast to.
/// All its reductions combine the same axes: the elements that one result comes from are a row.
struct Rows {
  std::uint8_t axes = 0;     // as in ReduceAxes; not 0
  std::vector<Over> over;    // of the outputs, then of the inputs
  std::vector<Slot> domain;  // tensors that give the domain their shape and are not read
};

/// One kernel: a graph whose leaves are numbered 0, 1, ... in the order of `inputs`. A leaf, an index and an array node
/// each take one input. The graph is elementwise unless there are `rows`; then it may have reductions, all along
/// rows->axes whatever their attributes say, whose results are one element for each row, as are the values that depend
/// on no element. KernelClass says what its parameters are. A product is no kernel of ours: a BLAS runs it.
struct Kernel {
  Graph graph;
  std::vector<Slot> inputs;           // Leaf, Array or Temporary
  std::vector<Slot> outputs;          // Output or Temporary, one for each of graph.outputs()
  std::string name;                   // sinter_add_exp_mul_f32_3f9a: the operations, the result, the hash
  std::vector<std::uint32_t> arrays;  // where among outputs and inputs the arrays are
  std::optional<Rows> rows = {};      // where it reduces
  bool is_product = false;            // its graph is of the form that product.hpp says
  std::string limit = {};             // what ends it before the graph does, for explain(): "more than 128 arrays"
};

/// All outputs of a plan have one shape, unless it reduces: an evaluation whose outputs differ in shape takes one plan
/// for each of them. A kernel that writes an output has the outputs' shape, any other the shape that its inputs
/// broadcast to (Slots: leaves and earlier temporaries); the temporaries that it writes are contiguous arrays of the
/// kernel's shape. The outputs' shape comes from the recorded graph: simplifying drops leaves (x * 0), not shapes. With
/// several kernels, an output that overlaps a leaf must not be written before the last kernel has read.
struct Plan {
  Graph graph;  // simplified, of the whole evaluation
  std::vector<Kernel> kernels;
  std::vector<DType> temporaries;
  std::vector<std::uint32_t> last_use;  // for each temporary, the last kernel that reads it
};

/// One kernel where the limits allow; else cut where the fewest values cross. Never refuses, nothing recurses.
Plan schedule(Graph simplified);

/// One kernel for each operation of the graph as written.
Plan schedule_eager(const Graph& recorded);

/// The same for a graph with reductions, of leaves with these shapes: the plan holds for all shapes that are alike,
/// that is, whose extents are 0, 1 or equal where these are. Throws what shapes_of throws.
Plan schedule_rows(Graph simplified, std::span<const Shape> leaves);
Plan schedule_rows_eager(const Graph& recorded, std::span<const Shape> leaves);

/// The same for a graph with matrix products, as recorded: these one by one, and what is between them as `eager` says.
Plan schedule_products(const Graph& recorded, std::span<const Shape> leaves, bool eager);

/// sinter_add_exp_mul_f32_3f9a: what a kernel computes, as profilers show it.
std::string kernel_name(const Graph& kernel);

/// The most bytes of values that are alive at once, per element, when a kernel's nodes run in their order; leaves count
/// from their first use. What a choice of lanes per thread depends on.
int live_bytes(const Graph& kernel);

}  // namespace sinter::inline v1::jit
