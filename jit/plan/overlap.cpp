#include "overlap.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {

using runtime::TensorImpl;

namespace {

/// Two arrays that walk memory with the same strides: whether they meet, which is whether
///   sum of k[d] * stride[d] == apart   for some k[d] in [low, high] of each dim.
class Meeting {
 public:
  /// False where the strides differ.
  bool set(const TensorImpl& a, const TensorImpl& b) noexcept {
    for (int from_end = 1; from_end <= std::max(a.rank(), b.rank()); ++from_end) {
      const auto [rows, step] = dim(a, from_end);
      const auto [others, other_step] = dim(b, from_end);
      if (rows > 1 && others > 1 && step != other_step) return false;
      if ((rows == 1 && others == 1) || (rows > 1 ? step : other_step) == 0) continue;
      const std::int64_t stride = rows > 1 ? step : other_step;
      insert(stride > 0 ? Dim{stride, 1 - others, rows - 1} : Dim{-stride, 1 - rows, others - 1});
    }
    for (int d = rank_ - 1; d >= 0; --d) {
      least_[d] = least_[d + 1] + dims_[d].low * dims_[d].stride;
      most_[d] = most_[d + 1] + dims_[d].high * dims_[d].stride;
    }
    return true;
  }

  /// Finds it out by trial, and says yes where that would take too long.
  bool is_possible(std::int64_t apart, int d = 0) noexcept {
    if (apart < least_[d] || apart > most_[d]) return false;
    if (d == rank_) return true;
    const auto [stride, low, high] = dims_[d];
    const std::int64_t first = std::max(low, -floor_divide(most_[d + 1] - apart, stride)),
                       last = std::min(high, floor_divide(apart - least_[d + 1], stride));
    for (std::int64_t k = first; k <= last; ++k)
      if (--trials_ < 0 || is_possible(apart - k * stride, d + 1)) return true;
    return false;
  }

 private:
  struct Dim {
    std::int64_t stride, low, high;
  };
  struct Extent {
    std::int64_t extent, stride;
  };
  /// By falling stride.
  void insert(const Dim& dim) noexcept {
    int at = rank_++;
    for (; at > 0 && dims_[at - 1].stride < dim.stride; --at) dims_[at] = dims_[at - 1];
    dims_[at] = dim;
  }
  static Extent dim(const TensorImpl& t, int from_end) noexcept {
    const int axis = t.rank() - from_end;
    return axis < 0 ? Extent{1, 0} : Extent{t.shape[axis], t.strides[axis]};
  }
  static std::int64_t floor_divide(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0); }

  int rank_ = 0;
  int trials_ = 64;
  Dim dims_[max_rank];
  std::int64_t least_[max_rank + 1] = {}, most_[max_rank + 1] = {};  // what dims d, d + 1, ... can add up to
};

/// Whether two arrays lie between each other without touching, as the columns of a matrix do.
bool are_interleaved(const TensorImpl& a, const TensorImpl& b) noexcept {
  const auto size = static_cast<std::int64_t>(size_of(a.dtype));
  Meeting meeting;
  return (b.data - a.data) % size == 0 && meeting.set(a, b) && !meeting.is_possible((b.data - a.data) / size);
}

}  // namespace

Overlap overlap_in_full(const TensorImpl& written, const TensorImpl& read) noexcept {
  const auto [begin, end] = runtime::byte_range(written);
  const auto [read_begin, read_end] = runtime::byte_range(read);
  if (begin >= read_end || read_begin >= end) return Overlap::None;
  if (size_of(written.dtype) != size_of(read.dtype)) return Overlap::Some;
  if (written.data != read.data) return are_interleaved(written, read) ? Overlap::None : Overlap::Some;
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
