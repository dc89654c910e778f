// Gradients with respect to tensors that an expression reads through views or at computed offsets.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "differentiator.hpp"

namespace sinter::inline v1::jit {

/// Whether two tensors are the same elements in the same order.
bool is_same_view(const runtime::TensorImpl& a, const runtime::TensorImpl& b) noexcept;
/// Whether two tensors are views of the same memory that have a byte in common.
bool shares_memory(const runtime::TensorImpl& a, const runtime::TensorImpl& b) noexcept;

class PlacedZeros;

/// How evaluated values are added to zeros in the place of a tensor, and how the gradient with respect to that sum
/// gives those with respect to the values: null for values without one.
class Placement {
 public:
  virtual ~Placement() = default;
  virtual void add(const PlacedZeros& zeros, std::span<const runtime::TensorRef> values) const = 0;
  virtual std::vector<LazyRef> read(const runtime::TensorImpl& wrt, const LazyRef& gradient,
                                    std::span<const LazyRef> values) const = 0;
};

/// What a leaf of an expression contributes to the gradient with respect to a tensor: values[0], of the tensor's shape,
/// or what becomes of the values in their place.
struct Contribution {
  std::vector<Operand> values;                 // in the differentiator's graph
  std::shared_ptr<const Placement> placement;  // may be null
};

/// The contribution of a leaf that shares memory with `wrt`; nothing if the expression does not depend on it. A
/// permuted leaf's gradient is permuted back. Those of any other view, such as a slice, and of an array that is
/// gathered from have to be placed. Throws Error if the leaf reads memory that `wrt` does not have, or is on a mesh.
std::optional<Contribution> contribution(Differentiator& of, std::uint32_t leaf, const runtime::TensorImpl& wrt);

/// Values of a contribution with a placement.
struct PlacedValues {
  std::shared_ptr<const Placement> placement;
  std::vector<LazyRef> values;
  std::vector<runtime::TensorRef> evaluated;  // the same
};
/// The sum of such contributions to one tensor.
LazyRef placed(const runtime::TensorImpl& wrt, std::vector<PlacedValues> parts);

}  // namespace sinter::inline v1::jit
