// The .npz format over any source of bytes; load_npz puts files under it.
#pragma once
#include <sinter/dsl/state_dict.hpp>
#include "byte_source.hpp"

namespace sinter::inline v1::detail::npz {

/// Throws as load_npz.
StateDict read(ByteSource& source, Device device);

}  // namespace sinter::inline v1::detail::npz
