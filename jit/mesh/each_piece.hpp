// What works on one device's array, done to each piece of one that is on a mesh.
#pragma once
#include <functional>

#include <sinter/jit/sort.hpp>

namespace sinter::inline v1::jit {

/// By f(piece) at each position of this process; `axis`, from the first one, is what f works along and, unless `keeps`,
/// takes away. Throws DeviceError, which names `what`, where that is the one in pieces.
ValuesAndIndices on_pieces(const char* what, runtime::TensorImpl& x, int axis, bool keeps,
                           const std::function<ValuesAndIndices(runtime::TensorImpl&)>& f);

}  // namespace sinter::inline v1::jit
