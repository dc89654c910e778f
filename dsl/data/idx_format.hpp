// The IDX format over any source of bytes; load_idx puts files under it.
#pragma once
#include <sinter/runtime/tensor_impl.hpp>
#include "../files/byte_source.hpp"

namespace sinter::inline v1::detail::idx {

/// The array, in the CPU's memory; of a file that begins as gzip's do what it unpacks to. Throws FormatError,
/// OutOfMemory.
runtime::TensorRef read(ByteSource& file);

}  // namespace sinter::inline v1::detail::idx
