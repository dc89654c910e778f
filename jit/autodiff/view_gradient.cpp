#include "view_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include <sinter/jit/lazy.hpp>
#include <sinter/jit/scatter.hpp>
#include <sinter/runtime/error.hpp>
#include "../evaluate/evaluator.hpp"
#include "../plan/overlap.hpp"
#include "zeros.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

/// Whether the strides are equal along all axes with an extent above 1.
bool has_same_strides(const TensorImpl& a, const TensorImpl& b) noexcept {
  for (int i = 0; i < a.ndim(); ++i)
    if (a.shape[i] > 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

/// For each axis of `wrt`, the axis of the leaf that shows it; nullopt if the leaf is not a permutation of its axes.
/// Axes along which the leaf is expanded have been summed over.
std::optional<AxisMap> permutation(const TensorImpl& leaf, const TensorImpl& wrt) {
  if (leaf.data != wrt.data || leaf.first != wrt.first) return std::nullopt;
  std::vector<bool> used(static_cast<std::size_t>(leaf.ndim()));
  AxisMap map;
  for (int axis = wrt.ndim(); axis-- > 0;) {
    std::int8_t found = AxisMap::added;
    for (int i = 0; i < leaf.ndim() && wrt.shape[axis] != 1; ++i) {
      if (used[static_cast<std::size_t>(i)] || leaf.shape[i] != wrt.shape[axis] || leaf.strides[i] != wrt.strides[axis])
        continue;
      used[static_cast<std::size_t>(i)] = true;
      found = static_cast<std::int8_t>(leaf.ndim() - 1 - i);
      break;
    }
    if (found == AxisMap::added && wrt.shape[axis] != 1) return std::nullopt;
    map.push_back(found);
  }
  for (int i = 0; i < leaf.ndim(); ++i)
    if (!used[static_cast<std::size_t>(i)] && leaf.shape[i] != 1 && leaf.strides[i] != 0) return std::nullopt;
  return map;
}

/// The leaf's shape with an extent of 1 along the axes along which it is expanded.
Shape unexpanded(const TensorImpl& leaf) {
  Shape shape = leaf.shape;
  for (int i = 0; i < shape.ndim(); ++i)
    if (leaf.strides[i] == 0) shape[i] = std::min<std::int64_t>(shape[i], 1);
  return shape;
}

/// x += values.
void add_in_place(TensorRef x, TensorImpl& values) {
  const LazyRef terms[] = {lazy(*x), lazy(values)};
  const LazyRef sum = lazy(Op::add, terms);
  evaluate({&sum, 1}, &x);
}

/// Adds the values to x, a view in which several indices may refer to one element.
void accumulate(const TensorImpl& x, const TensorImpl& values) {
  if (!overlaps_itself(x)) {
    const TensorRef target = runtime::view(x, x.shape, x.strides);
    return add_in_place(target, *runtime::view(values, values.shape, values.strides));
  }
  const auto at = [](const TensorImpl& t, int axis, std::int64_t i) {
    Shape shape, strides;
    for (int k = 0; k < t.ndim(); ++k)
      if (k != axis) shape.push_back(t.shape[k]), strides.push_back(t.strides[k]);
    return runtime::view(t, shape, strides, i * t.strides[axis]);
  };
  int shortest = 0;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (x.shape[axis] > 1 && (x.shape[shortest] <= 1 || x.shape[axis] < x.shape[shortest])) shortest = axis;
  for (std::int64_t i = 0; i < x.shape[shortest]; ++i) accumulate(*at(x, shortest, i), *at(values, shortest, i));
}

}  // namespace

/// The memory that a tensor spans.
class SpannedMemory {
 public:
  explicit SpannedMemory(const TensorImpl& wrt) : wrt_(wrt), range_(runtime::byte_range(wrt)) {
    if (wrt.device.is_mesh())
      throw DeviceError(
          fmt::format("grad with respect to {}: it is read through a view or at computed indices, which is not "
                      "supported on a mesh\n  "
                      "Pass the tensor itself to the expression",
                      runtime::describe(wrt)));
  }

  /// Throws Error unless a view is within the tensor.
  void check(const TensorImpl& view) const {
    const auto [first, last] = runtime::byte_range(view);
    if (first < range_.first || last > range_.second || (view.data - range_.first) % size() != 0)
      throw Error(
          fmt::format("grad with respect to {}: the expression reads {}, and the tensor is only part of it\n  Take the "
                      "gradient with respect to the whole tensor, and a "
                      "view of that",
                      runtime::describe(wrt_), runtime::describe(view)));
  }
  std::int64_t numel() const noexcept { return (range_.second - range_.first) / size(); }
  std::int64_t offset(const TensorImpl& view) const { return (view.data - range_.first) / size(); }

 private:
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(size_of(wrt_.dtype)); }

  const TensorImpl& wrt_;
  std::pair<const std::byte*, const std::byte*> range_;
};

/// Zeros in the place of the memory that a tensor spans.
class PlacedZeros {
 public:
  explicit PlacedZeros(const TensorImpl& wrt)
      : memory_(wrt), elements_(evaluate_one(lazy_zeros(Shape(memory_.numel()), wrt.dtype, wrt.device))) {}
  /// Holds a value in the place of the tensor.
  PlacedZeros(const TensorImpl& wrt, const LazyRef& value) : PlacedZeros(wrt) {
    TensorRef target = at(wrt);
    const LazyRef terms[] = {lazy(*target), value};  // the value may have fewer axes
    const LazyRef sum = lazy(Op::add, terms);
    evaluate({&sum, 1}, &target);
  }

  /// The part that corresponds to a view of the tensor.
  TensorRef at(const TensorImpl& view) const {
    return runtime::view(*elements_, view.shape, view.strides, memory_.offset(view));
  }
  /// The elements from one of a view on, at this offset from the view's first.
  TensorRef from(const TensorImpl& view, std::int64_t offset) const {
    const std::int64_t first = memory_.offset(view) + offset;
    return runtime::view(*elements_, Shape(elements_->numel - first), Shape(1), first);
  }

 private:
  SpannedMemory memory_;
  TensorRef elements_;
};

namespace {

/// Adds values to the elements at these offsets, counted from the first one.
void scatter_add(TensorImpl& elements, TensorImpl& offsets, TensorImpl& values) {
  if (offsets.ndim() == 0)
    return scatter_add(elements, *runtime::view(offsets, Shape(1), Shape(1)),
                       *runtime::view(values, Shape(1), Shape(1)));
  if (!elements.device.is_cpu()) return write_at(elements, offsets, values, Write::Add, "grad");
  const IndexedAxis axis{0, TensorRef::share(&offsets), false};
  Shape own;
  for (int i = 0; i < offsets.ndim(); ++i) own.push_back(0);
  write_indexed(elements, offsets.shape, own, {&axis, 1}, values, Write::Add, "grad");
}

/// The value's part that a view of `wrt` reads, where the value has the shape of `wrt`.
LazyRef read_through(const TensorImpl& wrt, const TensorImpl& view, const LazyRef& value) {
  const PlacedZeros zeros(wrt, value);
  return lazy(*zeros.at(view), Origin{{value}, {}, zeros.at(wrt)});
}

/// values[0] is the gradient of a view.
class ViewPlacement final : public Placement {
 public:
  explicit ViewPlacement(TensorRef view) : view_(std::move(view)) {}

  void add(const PlacedZeros& zeros, std::span<const TensorRef> values) const override {
    accumulate(*zeros.at(*view_), *values[0]);
  }
  std::vector<LazyRef> read(const TensorImpl& wrt, const LazyRef& gradient, std::span<const LazyRef>) const override {
    return {read_through(wrt, *view_, gradient)};
  }

 private:
  TensorRef view_;
};

/// The offset of a view's element with the lowest address, from its first: 0 unless the view is flipped.
std::int64_t lowest_offset(const TensorImpl& view) {
  std::int64_t lowest = 0;
  for (int i = 0; i < view.ndim(); ++i) lowest += std::min<std::int64_t>(0, (view.shape[i] - 1) * view.strides[i]);
  return lowest;
}
/// Offsets from the first element as those from the one at `lowest`.
TensorRef counted_from(std::int64_t lowest, const TensorRef& offsets) {
  if (lowest == 0) return offsets;
  const LazyRef terms[] = {lazy(*offsets), lazy(Scalar(-lowest), Category::Int)};
  return evaluate_one(lazy(Op::add, terms));
}

/// values[2 k] are offsets in an array, values[2 k + 1] the gradients of the elements that are read from there.
class GatherPlacement final : public Placement {
 public:
  explicit GatherPlacement(TensorRef array) : array_(std::move(array)) {}

  void add(const PlacedZeros& zeros, std::span<const TensorRef> values) const override {
    const std::int64_t lowest = lowest_offset(*array_);
    for (std::size_t i = 0; i < values.size(); i += 2)
      scatter_add(*zeros.from(*array_, lowest), *counted_from(lowest, values[i]), *values[i + 1]);
  }
  std::vector<LazyRef> read(const TensorImpl& wrt, const LazyRef& gradient,
                            std::span<const LazyRef> values) const override {
    const LazyRef whole = read_through(wrt, *array_, gradient);
    std::vector<LazyRef> parts(values.size());
    for (std::size_t i = 0; i < values.size(); i += 2) parts[i + 1] = lazy_load(whole, values[i]);
    return parts;
  }

 private:
  TensorRef array_;
};

std::optional<Contribution> of_array(Differentiator& of, std::uint32_t leaf, const TensorImpl& wrt) {
  const std::vector<Differentiator::Gathered> loads = of.of_array(leaf);
  if (loads.empty()) return std::nullopt;
  const TensorRef array = TensorRef::share(of.recorded().leaves[leaf]);
  SpannedMemory(wrt).check(*array);
  Contribution found{{}, std::make_shared<const GatherPlacement>(array)};
  for (const auto& [offset, g] : loads) {
    Shape shape = of.shape(offset);
    (void)broadcast(shape, of.shape(g));
    found.values.push_back(of.broadcast_to(offset, shape));
    found.values.push_back(of.broadcast_to(g, shape));
  }
  return found;
}

}  // namespace

bool is_same_view(const TensorImpl& a, const TensorImpl& b) noexcept {
  return a.data == b.data && a.first == b.first && a.buffer == b.buffer && a.dtype == b.dtype && a.shape == b.shape &&
         has_same_strides(a, b);
}

bool shares_memory(const TensorImpl& a, const TensorImpl& b) noexcept {
  return a.buffer && a.buffer == b.buffer && overlap_as_targets(a, b);
}

std::optional<Contribution> contribution(Differentiator& of, std::uint32_t leaf, const TensorImpl& wrt) {
  const TensorRef read = TensorRef::share(of.recorded().leaves[leaf]);
  std::optional<Contribution> gathered = of_array(of, leaf, wrt);
  const std::optional<Operand> g = of.of_leaf(leaf);
  if (!g) return gathered;
  if (is_same_view(*read, wrt)) return Contribution{{of.broadcast_to(*g, wrt.shape)}, {}};
  const Shape shape = unexpanded(*read);
  const Operand summed = of.broadcast_to(of.sum_to_shape(shape, *g, read->shape), shape);
  if (const std::optional<AxisMap> map = permutation(*read, wrt))
    return Contribution{{of.broadcast_to(of.apply_axis_map(summed, *map), wrt.shape)}, {}};
  Shape strides = read->strides;
  for (int i = 0; i < strides.ndim(); ++i)
    if (shape[i] != read->shape[i]) strides[i] = 0;
  TensorRef view = runtime::view(*read, shape, strides);
  SpannedMemory(wrt).check(*view);
  return Contribution{{summed}, std::make_shared<const ViewPlacement>(std::move(view))};
}

LazyRef placed(const TensorImpl& wrt, std::vector<PlacedValues> parts) {
  const PlacedZeros zeros(wrt);
  std::vector<LazyRef> inputs;
  for (PlacedValues& part : parts) {
    part.placement->add(zeros, part.evaluated);
    part.evaluated.clear();
    inputs.insert(inputs.end(), part.values.begin(), part.values.end());
  }
  const auto read = [parts = std::move(parts),
                     wrt = TensorRef::share(const_cast<TensorImpl*>(&wrt))](const LazyRef& gradient) {
    std::vector<LazyRef> gradients;
    for (const PlacedValues& part : parts)
      for (LazyRef& g : part.placement->read(*wrt, gradient, part.values)) gradients.push_back(std::move(g));
    return gradients;
  };
  const TensorRef result = zeros.at(wrt);
  return lazy(*result, Origin{std::move(inputs), read, result});
}

}  // namespace sinter::inline v1::jit
