// Gradients with respect to tensors that an expression reads through views or at computed offsets.
#pragma once
#include <optional>

#include "differentiator.hpp"

namespace sinter::inline v1::jit {

/// Whether two tensors are the same elements in the same order.
bool is_same_view(const runtime::TensorImpl& a, const runtime::TensorImpl& b) noexcept;
/// Whether two tensors are views of the same memory that have a byte in common.
bool shares_memory(const runtime::TensorImpl& a, const runtime::TensorImpl& b) noexcept;

/// What a leaf of an expression, which shares memory with `wrt`, contributes to the gradient with respect to it: a
/// value of its shape; nothing if the expression does not depend on it. A permuted leaf's gradient is permuted back.
/// That of any other view, such as a slice, and that of an array that is gathered from are evaluated: they are added to
/// zeros. Throws Error if the leaf reads memory that `wrt` does not have, or is on a mesh.
std::optional<Operand> contribution(Differentiator& of, std::uint32_t leaf, const runtime::TensorImpl& wrt);

}  // namespace sinter::inline v1::jit
