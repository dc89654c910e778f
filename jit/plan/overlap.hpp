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

/// overlap() of arrays that are not both contiguous, or not disjoint.
Overlap overlap_in_full(const runtime::TensorImpl& written, const runtime::TensorImpl& read) noexcept;

/// Some, too, where views whose strides are no multiples of each other take too long to tell.
inline Overlap overlap(const runtime::TensorImpl& written, const runtime::TensorImpl& read) noexcept {
  const auto end = [](const runtime::TensorImpl& t) {
    return t.data + t.numel * static_cast<std::int64_t>(size_of(t.dtype));
  };
  const bool plain = written.contiguous && read.contiguous && written.data && read.data;
  if (plain && (end(written) <= read.data || end(read) <= written.data)) return Overlap::None;
  return overlap_in_full(written, read);
}

/// Whether two arrays that are written have a byte in common, on a mesh as well.
bool overlap_as_targets(const runtime::TensorImpl& a, const runtime::TensorImpl& b) noexcept;

/// overlaps_itself() of an array that is not contiguous.
bool strides_overlap(const runtime::TensorImpl& t) noexcept;

/// Whether some element of an array is also another one of it, as in an expanded view or in windows that overlap.
inline bool overlaps_itself(const runtime::TensorImpl& t) noexcept { return !t.contiguous && strides_overlap(t); }

}  // namespace sinter::inline v1::jit
