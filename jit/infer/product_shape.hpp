// The shapes of matrix products.
#pragma once
#include <optional>
#include <string>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::jit {

/// Whether a graph multiplies matrices.
bool multiplies(const Graph& graph) noexcept;

/// The batch axes: all but the last two.
Shape batch_of(const Shape& shape);

/// The shape, or the strides, with the last two axes swapped; a vector's as they are.
Shape transposed(Shape shape, bool swaps = true) noexcept;

/// The shape of matmul(a, b) by torch.matmul's rules: the last two axes are matrices, and the axes before them
/// broadcast; a vector is a row on the left or a column on the right, and its axis is dropped from the result. nullopt
/// if the shapes do not match.
std::optional<Shape> product_shape(const Shape& a, const Shape& b) noexcept;
/// The shape of the product of the transposed operands.
std::optional<Shape> product_shape(const Shape& a, const Shape& b, Transposed transposes) noexcept;

/// The error message if product_shape is nullopt: PyTorch's, and what to do.
std::string product_mismatch(const Shape& a, const Shape& b);
std::string product_advice(const Shape& a, const Shape& b);

}  // namespace sinter::inline v1::jit
