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

/// Zeros in the place of the memory that a tensor spans.
class Span {
 public:
  explicit Span(const TensorImpl& wrt) : wrt_(wrt), range_(runtime::byte_range(wrt)) {
    if (wrt.device.is_mesh())
      throw DeviceError(
          fmt::format("grad with respect to {}: it is read through a view or at computed indices, which is not "
                      "supported on a mesh\n  "
                      "Pass the tensor itself to the expression",
                      runtime::describe(wrt)));
    const std::int64_t count = (range_.second - range_.first) / size();
    elements_ = evaluate_one(lazy_zeros(Shape(count), wrt.dtype, wrt.device));
  }
  /// Holds a value in the place of the tensor.
  Span(const TensorImpl& wrt, const LazyRef& value) : Span(wrt) {
    TensorRef target = at(wrt);
    const LazyRef terms[] = {lazy(*target), value};  // the value may have fewer axes
    const LazyRef sum = lazy(Op::add, terms);
    evaluate({&sum, 1}, &target);
  }

  /// The part that corresponds to a view of the tensor. Throws Error if it is not within the tensor.
  TensorRef at(const TensorImpl& view) const {
    const auto [first, last] = runtime::byte_range(view);
    if (first < range_.first || last > range_.second || (view.data - range_.first) % size() != 0)
      throw Error(
          fmt::format("grad with respect to {}: the expression reads {}, and the tensor is only part of it\n  Take the "
                      "gradient with respect to the whole tensor, and a "
                      "view of that",
                      runtime::describe(wrt_), runtime::describe(view)));
    return runtime::view(*elements_, view.shape, view.strides, offset(view));
  }
  /// The elements from the first one of a view on.
  TensorRef from(const TensorImpl& view) const {
    return runtime::view(*elements_, Shape(elements_->numel - offset(view)), Shape(1), offset(view));
  }

 private:
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(size_of(wrt_.dtype)); }
  std::int64_t offset(const TensorImpl& view) const { return (view.data - range_.first) / size(); }

  const TensorImpl& wrt_;
  std::pair<const std::byte*, const std::byte*> range_;
  TensorRef elements_;
};

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

/// A value that was put into zeros, and what it was computed from.
Operand added(Differentiator& of, const TensorImpl& wrt, const Span& span, std::vector<LazyRef> inputs,
              Pullback pullback) {
  const TensorRef result = span.at(wrt);
  return of.add_leaf(result, std::make_shared<const Origin>(Origin{std::move(inputs), std::move(pullback), result}));
}

/// The value's part that a view of `wrt` reads, where the value has the shape of `wrt`.
LazyRef read_through(const TensorImpl& wrt, const TensorImpl& view, const LazyRef& value) {
  const Span span(wrt, value);
  return lazy(*span.at(view), Origin{{value}, {}, span.at(wrt)});
}

std::optional<Operand> of_array(Differentiator& of, std::uint32_t leaf, const TensorImpl& wrt) {
  const std::vector<Differentiator::Gathered> loads = of.of_array(leaf);
  if (loads.empty()) return std::nullopt;
  const Span span(wrt);
  const TensorRef array = TensorRef::share(of.recorded().leaves[leaf]);
  (void)span.at(*array);
  std::vector<LazyRef> offsets, gradients;
  for (const auto& [offset, g] : loads) {
    Shape shape = of.shape(offset);
    (void)broadcast(shape, of.shape(g));
    const Operand both[] = {of.broadcast_to(offset, shape), of.broadcast_to(g, shape)};
    const std::vector<LazyRef> values = lazy_outputs(of.taken(both));
    std::array<TensorRef, 2> results;
    evaluate(values, results.data());
    scatter_add(*span.from(*array), *results[0], *results[1]);
    offsets.push_back(values[0]);
    gradients.push_back(values[1]);
  }
  const auto gather = [array, offsets, wrt = TensorRef::share(const_cast<TensorImpl*>(&wrt))](const LazyRef& value) {
    const LazyRef read = read_through(*wrt, *array, value);
    std::vector<LazyRef> parts;
    for (const LazyRef& offset : offsets) parts.push_back(lazy_load(read, offset));
    return parts;
  };
  return added(of, wrt, span, std::move(gradients), gather);
}

/// The gradient with respect to a tensor for that of a view of it.
Operand of_view(Differentiator& of, Operand gradient, const TensorRef& view, const TensorImpl& wrt) {
  const Span span(wrt);
  const LazyRef value = lazy(of.taken({&gradient, 1}));
  accumulate(*span.at(*view), *evaluate_one(value));
  const auto read = [view, wrt = TensorRef::share(const_cast<TensorImpl*>(&wrt))](const LazyRef& g) {
    return std::vector<LazyRef>{read_through(*wrt, *view, g)};
  };
  return added(of, wrt, span, {value}, read);
}

}  // namespace

bool is_same_view(const TensorImpl& a, const TensorImpl& b) noexcept {
  return a.data == b.data && a.first == b.first && a.buffer == b.buffer && a.dtype == b.dtype && a.shape == b.shape &&
         has_same_strides(a, b);
}

bool shares_memory(const TensorImpl& a, const TensorImpl& b) noexcept {
  return a.buffer && a.buffer == b.buffer && overlap_as_targets(a, b);
}

std::optional<Operand> contribution(Differentiator& of, std::uint32_t leaf, const TensorImpl& wrt) {
  const TensorRef read = TensorRef::share(of.recorded().leaves[leaf]);
  const std::optional<Operand> gathered = of_array(of, leaf, wrt);
  const std::optional<Operand> g = of.of_leaf(leaf);
  if (!g) return gathered;
  if (is_same_view(*read, wrt)) return of.broadcast_to(*g, wrt.shape);
  const Shape shape = unexpanded(*read);
  const Operand summed = of.sum_to_shape(shape, *g, read->shape);
  if (const std::optional<AxisMap> map = permutation(*read, wrt))
    return of.broadcast_to(of.apply_axis_map(of.broadcast_to(summed, shape), *map), wrt.shape);
  Shape strides = read->strides;
  for (int i = 0; i < strides.ndim(); ++i)
    if (shape[i] != read->shape[i]) strides[i] = 0;
  return of_view(of, of.broadcast_to(summed, shape), runtime::view(*read, shape, strides), wrt);
}

}  // namespace sinter::inline v1::jit
