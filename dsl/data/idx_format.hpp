// The IDX format over any source of bytes; load_idx applies it to files.
#pragma once
#include <sinter/runtime/tensor_impl.hpp>
#include "../files/byte_source.hpp"

namespace sinter::inline v1::detail::idx {

/// The array, in CPU memory; a gzip file is unpacked first. Throws FormatError, OutOfMemory.
runtime::TensorRef read(ByteSource& file);

}  // namespace sinter::inline v1::detail::idx
