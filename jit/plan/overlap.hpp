// Whether two arrays share memory, and how.
#pragma once
#include <cstdint>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

enum class Overlap : std::uint8_t {
  None,  // no byte in common
  Same,  // element by element, after `read` is broadcast to the shape of `written`
  Some,
};

/// overlap() for arrays that are not contiguous or whose byte ranges intersect.
Overlap overlap_in_full(const runtime::TensorImpl& written, const runtime::TensorImpl& read) noexcept;

/// Overlap::Some also if the exact answer would take too long, which needs views whose strides are not multiples of
/// each other.
inline Overlap overlap(const runtime::TensorImpl& written, const runtime::TensorImpl& read) noexcept {
  const auto end = [](const runtime::TensorImpl& t) {
    return t.data + t.numel * static_cast<std::int64_t>(size_of(t.dtype));
  };
  const bool plain = written.contiguous && read.contiguous && written.data && read.data;
  if (plain && (end(written) <= read.data || end(read) <= written.data)) return Overlap::None;
  return overlap_in_full(written, read);
}

/// Whether two outputs have a byte in common; also for tensors on a mesh.
bool overlap_as_targets(const runtime::TensorImpl& a, const runtime::TensorImpl& b) noexcept;

/// overlaps_itself() for an array that is not contiguous.
bool strides_overlap(const runtime::TensorImpl& t) noexcept;

/// Whether two elements of an array share memory, as in an expanded view or in overlapping windows.
inline bool overlaps_itself(const runtime::TensorImpl& t) noexcept { return !t.contiguous && strides_overlap(t); }

}  // namespace sinter::inline v1::jit
