// The shapes of matrix products.
#pragma once
#include <optional>
#include <string>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::jit {

/// Whether a graph multiplies matrices.
bool multiplies(const Graph& graph) noexcept;

/// The axes before the last two, which are matrices.
Shape batch_of(const Shape& shape);

/// The shape of matmul(a, b), by torch.matmul's rules: the last two axes are matrices, those before them broadcast; a
/// vector is a row on the left, a column on the right, and its axis goes. None where they are not to be multiplied.
std::optional<Shape> product_shape(const Shape& a, const Shape& b) noexcept;

/// Why there is none, in PyTorch's words; and what to do about it.
std::string product_mismatch(const Shape& a, const Shape& b);
std::string product_advice(const Shape& a, const Shape& b);

}  // namespace sinter::inline v1::jit
