// Matrix products: how a device's BLAS is asked for one.
#pragma once
#include <optional>
#include <span>
#include <string>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "../infer/product_shape.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// What a product's kernel computes is alpha matmul(a, b) + beta c: its graph is a matmul, which a number may multiply,
/// and to which a third input may be added, or a number times that. Values of operands that are not there are 1.
struct ProductForm {
  Operand alpha, beta;  // scalar or constant nodes
};
ProductForm product_form(const Graph& kernel);

/// Runs a product's kernel: `operands` are its output and its inputs, of one dtype and on one device. The output has
/// the product's shape, as has what is added, which may be the output itself, and no memory of the others. Operands are
/// read where they lie if a BLAS can; else a copy is. Throws what Backend::multiply and memory throw.
void multiply(const Kernel& kernel, std::span<runtime::TensorImpl* const> operands, const Scalar* scalars);

}  // namespace sinter::inline v1::jit
