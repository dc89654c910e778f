// Blocks of memory in use, and those that nothing points to any more.
#pragma once
#include <string>

namespace sinter::faults {

/// Records an allocated block: the number of the library's allocation, negative for any other.
void block_taken(void* block, long nth) noexcept;
void block_given_back(void* block) noexcept;

long live_blocks() noexcept;

/// The library's allocations whose blocks no word in memory points into, directly or through other blocks; empty if
/// there are none. Requires that malloc uses a single heap and no mappings.
std::string lost_blocks();

}  // namespace sinter::faults
