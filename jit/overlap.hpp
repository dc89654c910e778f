// Whether two arrays share memory, and how.
#pragma once
#include <cstdint>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

enum class Overlap : std::uint8_t {
  None,  // no byte in common
  Same,  // element for element, once `read` is broadcast to the shape of `written`
  Some,
};

/// Judges by byte ranges, so two interleaved views count as Some.
Overlap overlap(const runtime::TensorImpl& written, const runtime::TensorImpl& read) noexcept;

/// Whether some element of an array is also another one of it, as in an expanded view.
bool overlaps_itself(const runtime::TensorImpl& t) noexcept;

}  // namespace sinter::inline v1::jit
