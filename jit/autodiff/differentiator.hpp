// Reverse accumulation over one graph: gradients as further nodes.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include "axis_map.hpp"

namespace sinter::inline v1::jit {

/// Appends the gradients of a recorded expression's first output to its graph.
class Differentiator {
 public:
  /// Composite operations whose derivative is that of their body are expanded.
  explicit Differentiator(Recorded recorded);

  /// Finds the gradients of the leaves for which wanted[leaf] is true. `seed` is the gradient of the output; it
  /// broadcasts to the output's shape. Throws Error where an operation on the way has no derivative.
  void run(Operand seed, const std::vector<bool>& wanted);

  /// The gradient of a leaf, or of the elements of an array at the offsets that a load reads them from.
  struct Gathered {
    Operand offset, gradient;
  };
  std::optional<Operand> of_leaf(std::uint32_t leaf) const;
  /// Whether the output depends on a leaf or array, if only by operations whose derivative is 0.
  bool is_reached(std::uint32_t leaf) const;
  std::vector<Gathered> of_array(std::uint32_t leaf) const;

  /// The sum of `g` over the axes along which `shape` broadcasts to the value's shape, `from`.
  Operand sum_to_shape(const Shape& shape, Operand g, const Shape& from);
  /// A view of a value. Evaluates matrix products that are viewed otherwise than transposed.
  Operand apply_axis_map(Operand value, const AxisMap& map);
  /// `g` with the full shape of a value.
  Operand broadcast_to(Operand g, const Shape& shape);

  const Shape& shape(Operand o) const { return shapes_[static_cast<std::size_t>(o.node)]; }
  Operand output() const { return recorded_.graph.outputs()[0]; }
  Recorded& recorded() noexcept { return recorded_; }
  /// `origin`: null if the tensor is no view of a computation's result.
  Operand add_leaf(runtime::TensorRef tensor, std::shared_ptr<const Origin> origin = {});
  /// Null if a leaf has none.
  std::shared_ptr<const Origin> origin(std::size_t leaf) const;
  /// The expression of these values alone.
  Recorded taken(std::span<const Operand> values) const;

 private:
  Node node(Operand o) const { return recorded_.graph[o]; }
  Operand operand(Operand o, std::size_t i) const { return recorded_.graph.operands(node(o))[i]; }
  void add(Operand to, Operand g);
  void find_needed(const std::vector<bool>& wanted);
  void visit(Operand value);
  void visit_cast(Operand value, Operand g);
  void visit_product(Operand value, Operand g);
  void visit_table_op(Operand value, Operand g);
  Operand vector_product(Operand value, Operand g, std::size_t which);
  Operand emit_matmul(Operand a, Operand b, Transposed transposes);
  Operand emit_mul(Operand a, Operand b);
  Operand emit_conj(Operand a);
  std::optional<Operand> push_view(Operand value, const AxisMap& map);
  Operand view_of_reduction(Operand value, const AxisMap& map);
  Operand materialize(Operand value);
  Operand made(Op op, DType dtype, std::span<const Operand> operands, std::uint64_t attribute = 0);
  void update_shapes();

  Recorded recorded_;
  std::vector<Shape> leaf_shapes_, shapes_;
  std::vector<bool> needed_, reached_;
  std::vector<std::optional<Operand>> gradients_;  // of the nodes of the expression itself
  std::vector<Operand> loads_;                     // those with a gradient
  std::map<std::pair<NodeId, AxisMap>, Operand> views_;
};

}  // namespace sinter::inline v1::jit
