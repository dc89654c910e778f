// Moving tensors to a mesh, between meshes, and off a mesh.
#pragma once
#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// The tensor sharded over the mesh along `axis`, counted from the first; itself if it already is. If several processes
/// share the mesh, each passes the same tensor and keeps the shards of its own ranks.
/// Throws IndexError for a tensor without that axis, OutOfMemory, and what communicators throw.
runtime::TensorRef shard(runtime::TensorImpl& x, const Mesh& mesh, int axis);

/// The tensor replicated on every rank of the mesh; itself if it already is.
runtime::TensorRef replicate(runtime::TensorImpl& x, const Mesh& mesh);

/// The whole tensor on one device, in every process that has ranks of its mesh.
runtime::TensorRef gather(runtime::TensorImpl& x, Device device);

}  // namespace sinter::inline v1::jit
