// Matrix products, as calls of the device's BLAS.
#pragma once
#include <optional>
#include <span>
#include <string>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "../infer/product_shape.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// A product's kernel computes alpha matmul(a, b) + beta c. Its graph is a matmul, optionally multiplied by a number,
/// to which a third input, optionally multiplied by a number, may be added. Absent operands are default values.
struct ProductForm {
  Operand alpha, beta;  // scalar or constant nodes
  Transposed transposes;
};
ProductForm product_form(const Graph& kernel);

/// Runs a product's kernel. `operands` are its output and its inputs, of one dtype and on one device. The output has
/// the product's shape, as has the addend. The output may be the addend itself, but shares no memory with the other
/// inputs. Operands in a layout that the BLAS does not accept are copied first. Throws what Backend::multiply throws,
/// and OutOfMemory.
void multiply(const Kernel& kernel, std::span<runtime::TensorImpl* const> operands, const Scalar* scalars);

}  // namespace sinter::inline v1::jit
