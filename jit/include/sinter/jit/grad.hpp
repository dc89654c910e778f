// Derivatives of lazy expressions, by reverse accumulation over their graphs.
#pragma once
#include <span>
#include <vector>

#include <sinter/jit/lazy.hpp>

namespace sinter::inline v1::jit {

/// What the gradient by a tensor is that the value does not depend on.
enum class Unused : std::uint8_t { Error, Zeros, Null };

/// For each of the tensors, the gradient of the sum of `value` times `seed` by it: of its shape, dtype and device. A
/// null `seed` stands for 1 and requires a value of one element. Equal operations of forward and backward pass are
/// computed once if they are evaluated together. A tensor also counts where the value reads views of it. Tensors that
/// were evaluated are constants. Throws Error for a value that is not a float or complex number of one element, for an
/// operation without a derivative, and for a tensor of integers; DeviceError.
std::vector<LazyRef> gradients(const LazyRef& value, std::span<runtime::TensorImpl* const> by, const LazyRef& seed = {},
                               Unused unused = Unused::Error);

}  // namespace sinter::inline v1::jit
