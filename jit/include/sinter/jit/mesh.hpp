// Onto a mesh, over it, and off it.
#pragma once
#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// A tensor on the mesh whose axis `axis`, from the first one, is in pieces; itself where it is there so already. Of
/// several processes each gives the same tensor, and keeps what belongs to its positions.
/// Throws IndexError for a tensor without that axis, OutOfMemory, what communicators throw.
runtime::TensorRef shard(runtime::TensorImpl& x, const Mesh& mesh, int axis);

/// A tensor of which every position of the mesh has all; itself where it is there so already.
runtime::TensorRef replicate(runtime::TensorImpl& x, const Mesh& mesh);

/// All of a tensor on one device, in every process that has positions of its mesh.
runtime::TensorRef gather(runtime::TensorImpl& x, Device device);

}  // namespace sinter::inline v1::jit
