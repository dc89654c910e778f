// Copies to, from and between meshes.
#pragma once
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// Like copy(), for shapes that were checked.
void copy_on_mesh(runtime::TensorImpl& to, runtime::TensorImpl& from);

/// A row-major copy of another dtype that is sharded along the same axis.
runtime::TensorRef converted_on_mesh(runtime::TensorImpl& from, DType dtype);
inline runtime::TensorRef contiguous_on_mesh(runtime::TensorImpl& from) { return converted_on_mesh(from, from.dtype); }

}  // namespace sinter::inline v1::jit
