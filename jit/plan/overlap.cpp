#include "overlap.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {

using runtime::TensorImpl;

namespace {

/// Decides whether strides reach an offset: whether
///   sum of k[d] * stride[d] == apart   for some k[d] in [low, high] of each dim.
class StrideSums {
 public:
  /// After this many trials the search stops and the answer is yes, which is conservative.
  explicit StrideSums(int trials) noexcept : trials_(trials) {}

  void add(std::int64_t stride, std::int64_t low, std::int64_t high) noexcept {
    if (stride == 0 || (low == 0 && high == 0)) return;
    insert(stride > 0 ? Dim{stride, low, high} : Dim{-stride, -high, -low});
  }

  bool reach(std::int64_t apart) noexcept {
    find_bounds();
    return is_reachable(apart, 0);
  }
  /// Whether some nonzero k[d] reaches an offset of 0. Expects low == -high for each dim.
  bool reach_zero_again() noexcept {
    find_bounds();
    for (int d = 0; d < ndim_; ++d)  // the first nonzero k; by symmetry only positive ones
      for (std::int64_t k = 1; k <= std::min(dims_[d].high, most_[d + 1] / dims_[d].stride); ++k)
        if (--trials_ < 0 || is_reachable(-k * dims_[d].stride, d + 1)) return true;
    return false;
  }

 private:
  struct Dim {
    std::int64_t stride, low, high;
  };
  /// Keeps dims in descending order of stride.
  void insert(const Dim& dim) noexcept {
    int at = ndim_++;
    for (; at > 0 && dims_[at - 1].stride < dim.stride; --at) dims_[at] = dims_[at - 1];
    dims_[at] = dim;
  }
  void find_bounds() noexcept {
    least_[ndim_] = most_[ndim_] = 0;
    for (int d = ndim_ - 1; d >= 0; --d) {
      least_[d] = least_[d + 1] + dims_[d].low * dims_[d].stride;
      most_[d] = most_[d + 1] + dims_[d].high * dims_[d].stride;
    }
  }
  bool is_reachable(std::int64_t apart, int d) noexcept {
    if (apart < least_[d] || apart > most_[d]) return false;
    if (d == ndim_) return true;
    const auto [stride, low, high] = dims_[d];
    const std::int64_t first = std::max(low, -floor_divide(most_[d + 1] - apart, stride)),
                       last = std::min(high, floor_divide(apart - least_[d + 1], stride));
    for (std::int64_t k = first; k <= last; ++k)
      if (--trials_ < 0 || is_reachable(apart - k * stride, d + 1)) return true;
    return false;
  }
  static std::int64_t floor_divide(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0); }

  static constexpr int max_searched_dims = 2 * max_ndim + 1;  // the dims of two arrays, and the bytes of an element

  int ndim_ = 0;
  int trials_;
  Dim dims_[max_searched_dims];
  std::int64_t least_[max_searched_dims + 1],
      most_[max_searched_dims + 1];  // bounds of the sum over dims d, d + 1, ...
};

/// Whether two arrays, whose first elements are `apart` bytes apart, have a byte in common. Counts in elements instead
/// of bytes if all addresses are multiples of the element size, which takes fewer trials.
bool share_a_byte(const TensorImpl& a, const TensorImpl& b, std::int64_t apart, int trials) noexcept {
  const auto size = static_cast<std::int64_t>(size_of(a.dtype)),
             size_of_b = static_cast<std::int64_t>(size_of(b.dtype));
  const bool in_elements = size == size_of_b && apart % size == 0;
  const std::int64_t unit = in_elements ? 1 : size, unit_of_b = in_elements ? 1 : size_of_b;
  StrideSums sums(trials);
  sums.add(1, 1 - unit_of_b, unit - 1);
  for (int from_end = 1; from_end <= std::max(a.ndim(), b.ndim()); ++from_end) {
    const int axis = a.ndim() - from_end, axis_of_b = b.ndim() - from_end;
    const std::int64_t last = axis < 0 ? 0 : a.shape[axis] - 1, last_of_b = axis_of_b < 0 ? 0 : b.shape[axis_of_b] - 1;
    const std::int64_t stride = last == 0 ? 0 : a.strides[axis] * unit,
                       stride_of_b = last_of_b == 0 ? 0 : b.strides[axis_of_b] * unit_of_b;
    if (stride == stride_of_b) {
      sums.add(stride, -last_of_b, last);
    } else {
      sums.add(stride, 0, last);
      sums.add(stride_of_b, -last_of_b, 0);
    }
  }
  return sums.reach(in_elements ? apart / size : apart);
}

constexpr int few_trials = 256;       // for operands: a wrong yes costs only a temporary
constexpr int many_trials = 1 << 16;  // for outputs: a wrong yes is an error; regular views need no search

}  // namespace

Overlap overlap_in_full(const TensorImpl& written, const TensorImpl& read) noexcept {
  const auto [begin, end] = runtime::byte_range(written);
  const auto [read_begin, read_end] = runtime::byte_range(read);
  if (begin >= read_end || read_begin >= end) return Overlap::None;
  const bool alike = written.data == read.data && size_of(written.dtype) == size_of(read.dtype);
  if (!alike) return share_a_byte(written, read, read.data - written.data, few_trials) ? Overlap::Some : Overlap::None;
  for (int from_end = 1; from_end <= written.ndim(); ++from_end) {
    const int axis = written.ndim() - from_end, read_axis = read.ndim() - from_end;
    if (written.shape[axis] == 1) continue;
    if (read_axis < 0 || read.shape[read_axis] != written.shape[axis] ||
        read.strides[read_axis] != written.strides[axis])
      return Overlap::Some;
  }
  return Overlap::Same;
}

bool overlap_as_targets(const TensorImpl& a, const TensorImpl& b) noexcept {
  if (a.numel == 0 || b.numel == 0) return false;
  if (a.data && b.data) return overlap(a, b) != Overlap::None && share_a_byte(a, b, b.data - a.data, many_trials);
  const auto place = [](const TensorImpl& t) { return t.first * static_cast<std::int64_t>(size_of(t.dtype)); };
  return a.buffer && a.buffer == b.buffer && share_a_byte(a, b, place(b) - place(a), many_trials);  // on a mesh
}

bool strides_overlap(const TensorImpl& t) noexcept {
  if (t.numel == 0) return false;
  StrideSums sums(many_trials);
  for (int axis = 0; axis < t.ndim(); ++axis) {
    const std::int64_t last = t.shape[axis] - 1;
    if (last > 0 && t.strides[axis] == 0) return true;
    sums.add(t.strides[axis], -last, last);
  }
  return sums.reach_zero_again();
}

}  // namespace sinter::inline v1::jit
