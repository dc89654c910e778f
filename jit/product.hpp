// Matrix products: their shapes, and how a device's BLAS is asked for one.
#pragma once
#include <optional>
#include <span>
#include <string>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// Whether a graph multiplies matrices.
bool multiplies(const Graph& graph) noexcept;

/// The shape of matmul(a, b), by torch.matmul's rules: the last two axes are matrices, those before them broadcast; a
/// vector is a row on the left, a column on the right, and its axis goes. None where they are not to be multiplied.
std::optional<Shape> product_shape(const Shape& a, const Shape& b) noexcept;

/// Why there is none, in PyTorch's words.
std::string product_mismatch(const Shape& a, const Shape& b);

/// out = matmul(a, b): `operands` are out, a and b, of one dtype and on one device; out has their product's shape and
/// no memory of theirs. Operands are read where they lie if a BLAS can; else a copy is. Throws what Backend::multiply
/// and memory throw.
void multiply(std::span<runtime::TensorImpl* const> operands);

}  // namespace sinter::inline v1::jit
