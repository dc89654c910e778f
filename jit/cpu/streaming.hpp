// Results that are written past the caches.
#pragma once
#include <cstdint>

#include "../plan/loop_nest.hpp"

namespace sinter::inline v1::jit::cpu {

/// The longest run whose output is not streamed, in elements, by the bytes of one element of all arrays. Longer ones
/// leave little of it in the caches, so compiled loops write it to memory without reading its lines there first.
std::int64_t longest_cached_run(std::int64_t array_bytes);

/// Whether the nest's output, of elements of this size, can be streamed: it is the only one, in an array of its own.
bool can_stream(const LoopNest& nest, std::int64_t element_bytes) noexcept;

/// Makes streamed elements visible to threads that learn of them by later writes.
void finish_streaming() noexcept;

}  // namespace sinter::inline v1::jit::cpu
