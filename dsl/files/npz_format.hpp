// The .npz format over any source of bytes; load_npz applies it to files.
#pragma once
#include <sinter/dsl/state_dict.hpp>
#include "byte_source.hpp"

namespace sinter::inline v1::detail::npz {

/// Throws what load_npz throws.
StateDict read(ByteSource& source, Device device);

}  // namespace sinter::inline v1::detail::npz
