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

/// A product's kernel computes alpha matmul(a, b) + beta c. Its graph is a matmul, optionally summed over its batch and
/// multiplied by a number, to which a third input, optionally multiplied by a number, may be added. Absent operands are
/// default values.
struct ProductForm {
  Operand alpha, beta;  // scalar or constant nodes
  Transposed transposes;
  std::optional<ReduceAxes> sum;
};
ProductForm product_form(const Graph& kernel);

/// Whether the sum of a product along these axes is one product: that of the matrices of each batch, one below the
/// other, a^T with b.
bool sums_batch(const Shape& a, const Shape& b, Transposed transposes, ReduceAxes along);

/// The shape that a product's kernel writes.
Shape product_shape(const Kernel& kernel, const Shape& a, const Shape& b);
/// The number of elements of a that each element of the result is computed from.
std::int64_t contracted_extent(const ProductForm& form, const Shape& a);

/// Runs a product's kernel. `operands` are its output and its inputs, of one dtype and on one device. The output has
/// the product's shape, as has the addend. The output may be the addend itself, but shares no memory with the other
/// inputs. Operands in a layout that the BLAS does not accept are copied first. Throws what Backend::multiply throws,
/// and OutOfMemory.
void multiply(const Kernel& kernel, std::span<runtime::TensorImpl* const> operands, const Scalar* scalars);

}  // namespace sinter::inline v1::jit
