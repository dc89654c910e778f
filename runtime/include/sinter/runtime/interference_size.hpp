// How far apart memory is that different threads write.
#pragma once
#include <cstddef>

namespace sinter::inline v1::runtime {

/// Bytes that avoid false sharing: twice a cache line, since processors prefetch lines in pairs.
inline constexpr std::size_t interference_size = 128;

}  // namespace sinter::inline v1::runtime
