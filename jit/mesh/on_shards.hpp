// Applies a function for single-device arrays to each shard of a tensor on a mesh.
#pragma once
#include <functional>

#include <sinter/jit/sort.hpp>

namespace sinter::inline v1::jit {

/// Calls f(shard) on each rank of this process. f works along `axis`, counted from the first, and removes it unless
/// `keeps`. Throws DeviceError, which names `what`, if `axis` is sharded.
ValuesAndIndices on_shards(const char* what, runtime::TensorImpl& x, int axis, bool keeps,
                           const std::function<ValuesAndIndices(runtime::TensorImpl&)>& f);

}  // namespace sinter::inline v1::jit
