#include "overlap.hpp"

namespace sinter::inline v1::jit {

using runtime::TensorImpl;

Overlap overlap_in_full(const TensorImpl& written, const TensorImpl& read) noexcept {
  const auto [begin, end] = runtime::byte_range(written);
  const auto [read_begin, read_end] = runtime::byte_range(read);
  if (begin >= read_end || read_begin >= end) return Overlap::None;
  if (written.data != read.data || size_of(written.dtype) != size_of(read.dtype)) return Overlap::Some;
  for (int from_end = 1; from_end <= written.rank(); ++from_end) {
    const int axis = written.rank() - from_end, read_axis = read.rank() - from_end;
    if (written.shape[axis] == 1) continue;
    if (read_axis < 0 || read.shape[read_axis] != written.shape[axis] ||
        read.strides[read_axis] != written.strides[axis])
      return Overlap::Some;
  }
  return Overlap::Same;
}

bool overlaps_itself(const TensorImpl& t) noexcept {
  if (t.contiguous || t.numel == 0) return false;
  for (int axis = 0; axis < t.rank(); ++axis)
    if (t.shape[axis] > 1 && t.strides[axis] == 0) return true;
  return false;
}

}  // namespace sinter::inline v1::jit
