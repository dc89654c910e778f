// Blocks of memory that are in use, and those that nothing points to any more.
#pragma once
#include <string>

namespace sinter::faults {

/// A block that was given: which of the library's allocations it was, negative where it was none of those.
void block_taken(void* block, long nth) noexcept;
void block_given_back(void* block) noexcept;

long live_blocks() noexcept;

/// The allocations of the library whose blocks no word in memory points into, directly or by way of other blocks; empty
/// where there are none. For a program that has told malloc to use one heap and no mappings.
std::string lost_blocks();

}  // namespace sinter::faults
