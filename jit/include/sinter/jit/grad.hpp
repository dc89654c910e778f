// Derivatives of lazy expressions, by reverse accumulation over their graphs.
#pragma once
#include <span>
#include <vector>

#include <sinter/jit/lazy.hpp>

namespace sinter::inline v1::jit {

/// What to return as the gradient with respect to a tensor that the value does not depend on.
enum class UnusedInput : std::uint8_t { Error, Zeros, Null };

/// For each of the tensors, the gradient of the sum of `value` times `seed` with respect to it, of its shape, dtype and
/// device. A null `seed` stands for 1 and requires a value of one element. Equal operations of forward and backward
/// pass are computed once if they are evaluated together. A tensor also counts where the value reads views of it.
/// Tensors that were evaluated are constants. Throws ShapeError for a seed that does not broadcast to the value, Error
/// for a value that is not a float or complex number of one element, for an operation without a derivative, and for a
/// tensor of integers; DeviceError.
std::vector<LazyRef> gradients(const LazyRef& value, std::span<runtime::TensorImpl* const> wrt,
                               const LazyRef& seed = {}, UnusedInput unused = UnusedInput::Error);

/// The derivative of `value` at `x` along `tangent`, which broadcasts to x's shape: of the value's shape and dtype, 0
/// if it does not depend on x. For floats. Throws ShapeError, and what gradients() throws.
LazyRef jvp(const LazyRef& value, runtime::TensorImpl& x, const LazyRef& tangent);

/// The derivatives of each element of `value` with respect to each element of `x`, evaluated: of the value's shape and
/// then x's, 0 if it does not depend on x. For floats. Throws what gradients() and evaluate() throw, and ShapeError for
/// more than max_ndim dims.
runtime::TensorRef jacobian(const LazyRef& value, runtime::TensorImpl& x);

}  // namespace sinter::inline v1::jit
