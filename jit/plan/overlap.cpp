#include "overlap.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {

using runtime::TensorImpl;

namespace {

/// Where in memory steps along some dims lead: whether
///   sum of k[d] * stride[d] == apart   for some k[d] in [low, high] of each dim.
class Steps {
 public:
  /// Gives up, and says yes, after so many trials.
  explicit Steps(int trials) noexcept : trials_(trials) {}

  void add(std::int64_t stride, std::int64_t low, std::int64_t high) noexcept {
    if (stride == 0 || (low == 0 && high == 0)) return;
    insert(stride > 0 ? Dim{stride, low, high} : Dim{-stride, -high, -low});
  }

  bool lead(std::int64_t apart) noexcept {
    sum_up();
    return is_possible(apart, 0);
  }
  /// The same of 0, with some k[d] that is not 0. The lows are the highs' negatives.
  bool lead_back() noexcept {
    sum_up();
    for (int d = 0; d < ndim_; ++d)  // the first such k; that of the other sign is the same one
      for (std::int64_t k = 1; k <= std::min(dims_[d].high, most_[d + 1] / dims_[d].stride); ++k)
        if (--trials_ < 0 || is_possible(-k * dims_[d].stride, d + 1)) return true;
    return false;
  }

 private:
  struct Dim {
    std::int64_t stride, low, high;
  };
  /// By falling stride.
  void insert(const Dim& dim) noexcept {
    int at = ndim_++;
    for (; at > 0 && dims_[at - 1].stride < dim.stride; --at) dims_[at] = dims_[at - 1];
    dims_[at] = dim;
  }
  void sum_up() noexcept {
    least_[ndim_] = most_[ndim_] = 0;
    for (int d = ndim_ - 1; d >= 0; --d) {
      least_[d] = least_[d + 1] + dims_[d].low * dims_[d].stride;
      most_[d] = most_[d + 1] + dims_[d].high * dims_[d].stride;
    }
  }
  bool is_possible(std::int64_t apart, int d) noexcept {
    if (apart < least_[d] || apart > most_[d]) return false;
    if (d == ndim_) return true;
    const auto [stride, low, high] = dims_[d];
    const std::int64_t first = std::max(low, -floor_divide(most_[d + 1] - apart, stride)),
                       last = std::min(high, floor_divide(apart - least_[d + 1], stride));
    for (std::int64_t k = first; k <= last; ++k)
      if (--trials_ < 0 || is_possible(apart - k * stride, d + 1)) return true;
    return false;
  }
  static std::int64_t floor_divide(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0); }

  static constexpr int most_dims = 2 * max_ndim + 1;  // of two arrays, and the bytes of their elements

  int ndim_ = 0;
  int trials_;
  Dim dims_[most_dims];
  std::int64_t least_[most_dims + 1], most_[most_dims + 1];  // what dims d, d + 1, ... can add up to
};

/// Whether two arrays, whose first elements lie so many bytes apart, have a byte in common. Whole elements are counted
/// where all lie at multiples of their size, which takes fewer trials.
bool meet(const TensorImpl& a, const TensorImpl& b, std::int64_t apart, int trials) noexcept {
  const auto size = static_cast<std::int64_t>(size_of(a.dtype)),
             size_of_b = static_cast<std::int64_t>(size_of(b.dtype));
  const bool is_whole = size == size_of_b && apart % size == 0;
  const std::int64_t unit = is_whole ? 1 : size, unit_of_b = is_whole ? 1 : size_of_b;
  Steps steps(trials);
  steps.add(1, 1 - unit_of_b, unit - 1);
  for (int from_end = 1; from_end <= std::max(a.ndim(), b.ndim()); ++from_end) {
    const int axis = a.ndim() - from_end, axis_of_b = b.ndim() - from_end;
    const std::int64_t last = axis < 0 ? 0 : a.shape[axis] - 1, last_of_b = axis_of_b < 0 ? 0 : b.shape[axis_of_b] - 1;
    const std::int64_t stride = last == 0 ? 0 : a.strides[axis] * unit,
                       stride_of_b = last_of_b == 0 ? 0 : b.strides[axis_of_b] * unit_of_b;
    if (stride == stride_of_b) {
      steps.add(stride, -last_of_b, last);
    } else {
      steps.add(stride, 0, last);
      steps.add(stride_of_b, -last_of_b, 0);
    }
  }
  return steps.lead(is_whole ? apart / size : apart);
}

constexpr int few_trials = 256;       // where a temporary is what yes costs
constexpr int many_trials = 1 << 16;  // where it is an error: views whose strides are multiples of each other take none

}  // namespace

Overlap overlap_in_full(const TensorImpl& written, const TensorImpl& read) noexcept {
  const auto [begin, end] = runtime::byte_range(written);
  const auto [read_begin, read_end] = runtime::byte_range(read);
  if (begin >= read_end || read_begin >= end) return Overlap::None;
  const bool alike = written.data == read.data && size_of(written.dtype) == size_of(read.dtype);
  if (!alike) return meet(written, read, read.data - written.data, few_trials) ? Overlap::Some : Overlap::None;
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
  if (a.data && b.data) return overlap(a, b) != Overlap::None && meet(a, b, b.data - a.data, many_trials);
  const auto place = [](const TensorImpl& t) { return t.first * static_cast<std::int64_t>(size_of(t.dtype)); };
  return a.buffer && a.buffer == b.buffer && meet(a, b, place(b) - place(a), many_trials);  // on a mesh
}

bool strides_overlap(const TensorImpl& t) noexcept {
  if (t.numel == 0) return false;
  Steps steps(many_trials);
  for (int axis = 0; axis < t.ndim(); ++axis) {
    const std::int64_t last = t.shape[axis] - 1;
    if (last > 0 && t.strides[axis] == 0) return true;
    steps.add(t.strides[axis], -last, last);
  }
  return steps.lead_back();
}

}  // namespace sinter::inline v1::jit
