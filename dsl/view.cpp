#include <sinter/dsl/view.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "checked_axis.hpp"

namespace sinter::inline v1::detail {

namespace {

/// Throws where a view of x would have too many axes.
void check_ndim(const char* what, const TensorImpl& x, int ndim) {
  if (ndim <= max_ndim) return;
  throw ShapeError(
      fmt::format("{}: {} would have {} dimensions, and a tensor has at most {}; merge axes first, with flatten", what,
                  describe(x), ndim, max_ndim));
}

/// The shape with its single -1 computed from the number of elements; of() describes the tensor.
template <class Of>
Shape filled_in(const char* what, Shape shape, std::int64_t numel, Of of) {
  int hole = -1;
  std::int64_t known = 1;
  for (int i = 0; i < shape.ndim(); ++i) {
    if (shape[i] == -1 && hole < 0)
      hole = i;
    else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
      throw ShapeError(fmt::format("{}: shape {} is invalid for {}", what, to_string(shape), of()));
  }
  if (hole >= 0 && known > 0 && numel % known == 0) shape[hole] = numel / known, known = numel;
  if (known != numel || (hole >= 0 && shape[hole] < 0))
    throw ShapeError(
        fmt::format("{}: shape {} does not hold the {} elements of {}", what, to_string(shape), numel, of()));
  return shape;
}

/// The sharded axis of a view without axis `axis`.
int without(const TensorImpl& x, int axis) noexcept {
  return x.sharded_axis == axis ? runtime::no_axis : x.sharded_axis - (x.sharded_axis > axis);
}

/// Strides of `shape` over x's memory without moving an element, by visiting groups of dims that are contiguous in x.
bool regroup(const TensorImpl& x, const Shape& shape, Shape& strides) {
  strides = contiguous_strides(shape);
  if (x.numel == 0 || x.contiguous) return true;
  int to = shape.ndim() - 1;
  std::int64_t group = 1, covered = 1, inner = x.ndim() > 0 ? x.strides[x.ndim() - 1] : 1;
  for (int from = x.ndim() - 1; from >= 0; --from) {
    group *= x.shape[from];
    const bool ends = from == 0 || (x.shape[from - 1] != 1 && x.strides[from - 1] != group * inner);
    if (!ends) continue;
    while (to >= 0 && (covered < group || shape[to] == 1)) {
      strides[to] = covered * inner;
      covered *= shape[to--];
    }
    if (covered != group) return false;
    if (from > 0) group = covered = 1, inner = x.strides[from - 1];
  }
  return to == -1;
}

}  // namespace

void check_index_count(const TensorImpl& x, std::size_t indices) {
  const int ndim = x.ndim();
  if (indices <= static_cast<std::size_t>(ndim)) return;
  if (ndim == 0) throw IndexError(fmt::format("a 0-d tensor cannot be indexed; use item() of {}", describe(x)));
  throw IndexError(fmt::format("too many indices: {} given for a tensor of {} dimension{}, {}", indices, ndim,
                               ndim == 1 ? "" : "s", describe(x)));
}

TensorRef t(const TensorImpl& x) {
  if (x.ndim() > 2)
    throw ShapeError(fmt::format("t() expects a tensor with <= 2 dimensions, but self is {}D: {}; use transpose(a, b)",
                                 x.ndim(), describe(x)));
  return x.ndim() < 2 ? runtime::view(x, x.shape, x.strides) : transpose(x, 0, 1);
}

TensorRef transpose(const TensorImpl& x, std::int64_t axis0, std::int64_t axis1) {
  const int ndim = std::max(x.ndim(), 1);  // a 0-d tensor accepts the axes of a 1-d one, as in PyTorch
  const int a = checked_axis("transpose", axis0, ndim, x), b = checked_axis("transpose", axis1, ndim, x);
  if (a == b) return runtime::view(x, x.shape, x.strides);
  Shape shape = x.shape, strides = x.strides;
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return runtime::view(x, shape, strides, 0, x.sharded_axis == a ? b : x.sharded_axis == b ? a : x.sharded_axis);
}

TensorRef permute(const TensorImpl& x, std::span<const std::int64_t> axes) {
  unsigned seen = 0;
  int sharded_axis = runtime::no_axis;
  Shape shape, strides;
  if (axes.size() != static_cast<std::size_t>(x.ndim()))
    throw ShapeError(fmt::format("permute: {} axes given for {}", axes.size(), describe(x)));
  for (std::int64_t axis : axes) {
    const int a = checked_axis("permute", axis, x);
    if (seen >> a & 1) throw IndexError(fmt::format("permute: axis {} is named twice for {}", axis, describe(x)));
    seen |= 1u << a;
    if (a == x.sharded_axis) sharded_axis = shape.ndim();
    shape.push_back(x.shape[a]);
    strides.push_back(x.strides[a]);
  }
  return runtime::view(x, shape, strides, 0, sharded_axis);
}

TensorRef slice(const TensorImpl& x, std::int64_t axis, range r) {
  const int a = checked_axis("slice", axis, x);
  if (r.step == 0) throw IndexError(fmt::format("slice: the step is 0 on axis {} of {}", axis, describe(x)));
  const std::int64_t n = x.shape[a];
  // Python's rule: a negative bound counts from the end; then both are clamped to what the steps can reach.
  const bool forwards = r.step > 0;
  const std::int64_t low = forwards ? 0 : -1, high = forwards ? n : n - 1;
  const auto cut = [&](std::int64_t i, std::int64_t fallback) {
    return i == range::none ? fallback : std::clamp(i < 0 ? i + n : i, low, high);
  };
  const std::int64_t first = cut(r.first, forwards ? low : high), last = cut(r.last, forwards ? high : low);
  const std::int64_t span = forwards ? last - first : first - last;
  // The step may be any int64, so its magnitude is unsigned.
  const std::uint64_t magnitude = forwards ? static_cast<std::uint64_t>(r.step) : -static_cast<std::uint64_t>(r.step);
  const std::int64_t count =
      span <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(span) - 1) / magnitude + 1);
  Shape shape = x.shape, strides = x.strides;
  shape[a] = count;
  strides[a] = count > 1 ? x.strides[a] * r.step : x.strides[a];
  return runtime::view(x, shape, strides, count > 0 ? first * x.strides[a] : 0, x.sharded_axis);
}

TensorRef narrow(const TensorImpl& x, std::int64_t axis, std::int64_t start, std::int64_t length) {
  const int a = checked_axis("narrow", axis, x);
  const std::int64_t n = x.shape[a];
  if (length < 0)
    throw IndexError(fmt::format("narrow: the length {} is negative, on axis {} of {}", length, a, describe(x)));
  if (start < -n || start > n)
    throw IndexError(fmt::format("narrow: start out of range (expected to be in range of [{}, {}], but got {}) for {}",
                                 -n, n, start, describe(x)));
  const std::int64_t first = start < 0 ? start + n : start;
  if (length > n - first)
    throw IndexError(fmt::format("narrow: start ({}) + length ({}) exceeds dimension size ({}) of axis {} of {}", first,
                                 length, n, a, describe(x)));
  return slice(x, a, range(first, first + length));
}

TensorRef select(const TensorImpl& x, std::int64_t axis, std::int64_t index) {
  const int a = checked_axis("select", axis, x);
  const std::int64_t n = x.shape[a];
  if (index < -n || index >= n)
    throw IndexError(
        fmt::format("index {} is out of bounds for dimension {} with size {} of {}", index, a, n, describe(x)));
  Shape shape, strides;
  for (int i = 0; i < x.ndim(); ++i)
    if (i != a) shape.push_back(x.shape[i]), strides.push_back(x.strides[i]);
  return runtime::view(x, shape, strides, (index < 0 ? index + n : index) * x.strides[a], without(x, a));
}

TensorRef expand(const TensorImpl& x, const Shape& shape) {
  const int extra = shape.ndim() - x.ndim();
  Shape to = shape, strides;
  const auto refuse = [&] {
    return ShapeError(fmt::format("expand: {} cannot be expanded to {}: only extents of 1 and new leading ones grow",
                                  describe(x), to_string(shape)));
  };
  if (extra < 0) throw refuse();
  for (int i = 0; i < shape.ndim(); ++i) {
    const std::int64_t from = i < extra ? 1 : x.shape[i - extra];
    if (to[i] == -1 && i >= extra) to[i] = from;
    if (to[i] < 0 || (from != 1 && from != to[i])) throw refuse();
    strides.push_back(from == to[i] && i >= extra ? x.strides[i - extra] : 0);
  }
  return runtime::view(x, to, strides, 0, x.sharded_axis < 0 ? runtime::no_axis : x.sharded_axis + extra);
}

TensorRef squeeze(const TensorImpl& x) {
  Shape shape, strides;
  int sharded_axis = runtime::no_axis;
  for (int i = 0; i < x.ndim(); ++i) {
    if (x.shape[i] == 1) continue;
    if (i == x.sharded_axis) sharded_axis = shape.ndim();
    shape.push_back(x.shape[i]), strides.push_back(x.strides[i]);
  }
  return runtime::view(x, shape, strides, 0, sharded_axis);
}

TensorRef squeeze(const TensorImpl& x, std::int64_t axis) {
  if (x.ndim() == 0) return runtime::view(x, x.shape, x.strides);
  const int a = checked_axis("squeeze", axis, x);
  return x.shape[a] == 1 ? select(x, a, 0) : runtime::view(x, x.shape, x.strides);
}

TensorRef unsqueeze(const TensorImpl& x, std::int64_t axis) {
  const int a = checked_axis("unsqueeze", axis, x.ndim() + 1, x);
  check_ndim("unsqueeze", x, x.ndim() + 1);
  Shape shape, strides;
  for (int i = 0; i <= x.ndim(); ++i) {
    if (i == a) shape.push_back(1), strides.push_back(i < x.ndim() ? x.strides[i] * x.shape[i] : 1);
    if (i < x.ndim()) shape.push_back(x.shape[i]), strides.push_back(x.strides[i]);
  }
  return runtime::view(x, shape, strides, 0, x.sharded_axis + (x.sharded_axis >= a));
}

namespace {

/// Null if the shape needs a copy.
TensorRef try_view(const TensorImpl& x, const Shape& full) {
  Shape strides;
  return regroup(x, full, strides) ? runtime::view(x, full, strides) : TensorRef{};
}

/// The shape with its axes [first, last] replaced.
Shape replaced(const Shape& shape, int first, int last, const Shape& by) {
  Shape out;
  for (int i = 0; i < first; ++i) out.push_back(shape[i]);
  for (const std::int64_t extent : by) out.push_back(extent);
  for (int i = last + 1; i < shape.ndim(); ++i) out.push_back(shape[i]);
  return out;
}

}  // namespace

TensorRef view_as_shape(const TensorImpl& x, const Shape& shape) {
  const Shape full = filled_in("view", shape, x.numel, [&] { return describe(x); });
  if (TensorRef v = try_view(x, full)) return v;
  throw ShapeError(fmt::format("view: shape {} needs a copy of {}, whose strides are {}; reshape makes one",
                               to_string(shape), describe(x), to_string(x.strides)));
}

TensorRef reshape(TensorImpl& x, const Shape& shape) {
  const Shape full = filled_in("reshape", shape, x.numel, [&] { return describe(x); });
  if (TensorRef v = try_view(x, full)) return v;
  if (TensorRef v = try_view(*jit::contiguous(x), full)) return v;
  throw ShapeError(
      fmt::format("reshape: shape {} merges a sharded dim with others, of {}; gather the tensor on one device, "
                  "gather(x, device), or shard the first dim, shard(x, mesh)",
                  to_string(shape), describe(x)));
}

TensorRef flatten(TensorImpl& x, std::int64_t first, std::int64_t last) {
  if (x.ndim() == 0) return reshape(x, Shape(1));
  const int a = checked_axis("flatten", first, x), b = checked_axis("flatten", last, x);
  if (a > b) throw IndexError(fmt::format("flatten: axis {} comes after axis {} of {}", a, b, describe(x)));
  std::int64_t together = 1;
  for (int i = a; i <= b; ++i) together *= x.shape[i];
  return reshape(x, replaced(x.shape, a, b, Shape(together)));
}

TensorRef unflatten(const TensorImpl& x, std::int64_t axis, const Shape& extents) {
  const int a = checked_axis("unflatten", axis, x);
  const auto of = [&] { return fmt::format("axis {} of {}", a, describe(x)); };
  const Shape parts = filled_in("unflatten", extents, x.shape[a], of);
  check_ndim("unflatten", x, x.ndim() - 1 + parts.ndim());
  Shape strides = contiguous_strides(parts);
  for (int i = 0; i < strides.ndim(); ++i) strides[i] *= x.strides[a];
  const int sharded_axis = x.sharded_axis == a  ? runtime::axis_by_strides
                           : x.sharded_axis < a ? x.sharded_axis
                                                : x.sharded_axis + parts.ndim() - 1;
  return runtime::view(x, replaced(x.shape, a, a, parts), replaced(x.strides, a, a, strides), 0, sharded_axis);
}

TensorRef movedim(const TensorImpl& x, std::int64_t from, std::int64_t to) {
  const int a = checked_axis("movedim", from, x), b = checked_axis("movedim", to, x);
  std::vector<std::int64_t> axes;
  for (int i = 0; i < x.ndim(); ++i)
    if (i != a) axes.push_back(i);
  axes.insert(axes.begin() + b, a);
  return permute(x, axes);
}

TensorRef flip(const TensorImpl& x, std::span<const std::int64_t> axes) {
  Shape strides = x.strides;
  std::int64_t offset = 0;
  unsigned seen = 0;
  for (const std::int64_t axis : axes) {
    const int a = checked_axis("flip", axis, x);
    if (seen >> a & 1) throw IndexError(fmt::format("flip: axis {} is named twice for {}", axis, describe(x)));
    seen |= 1u << a;
    if (x.numel > 0) offset += (x.shape[a] - 1) * x.strides[a];
    strides[a] = -x.strides[a];
  }
  return runtime::view(x, x.shape, strides, offset, x.sharded_axis);
}

TensorRef diagonal(const TensorImpl& x, std::int64_t offset, std::int64_t axis0, std::int64_t axis1) {
  const int a = checked_axis("diagonal", axis0, x), b = checked_axis("diagonal", axis1, x);
  if (a == b) throw IndexError(fmt::format("diagonal: axis {} is named twice for {}", axis0, describe(x)));
  // Where the diagonal begins along each axis; beyond an axis it is empty.
  const std::int64_t down = offset < 0 ? -std::max(offset, -x.shape[a]) : 0,
                     right = offset > 0 ? std::min(offset, x.shape[b]) : 0;
  const std::int64_t length = std::min(x.shape[a] - down, x.shape[b] - right);
  Shape shape, strides;
  for (int i = 0; i < x.ndim(); ++i)
    if (i != a && i != b) shape.push_back(x.shape[i]), strides.push_back(x.strides[i]);
  shape.push_back(length);
  strides.push_back(x.strides[a] + x.strides[b]);
  const int sharded_axis =
      x.sharded_axis == a || x.sharded_axis == b ? runtime::no_axis : without(x, a) - (x.sharded_axis > b);
  return runtime::view(x, shape, strides, length > 0 ? down * x.strides[a] + right * x.strides[b] : 0, sharded_axis);
}

TensorRef unfold(const TensorImpl& x, std::int64_t axis, std::int64_t size, std::int64_t step) {
  const int a = checked_axis("unfold", axis, x);
  if (size < 0 || size > x.shape[a] || step <= 0)
    throw ShapeError(fmt::format(
        "unfold: windows of {} positions, {} apart, along axis {} of {}; a window has at most the positions "
        "of the axis, and the step is positive",
        size, step, a, describe(x)));
  check_ndim("unfold", x, x.ndim() + 1);
  Shape shape = x.shape, strides = x.strides;
  shape[a] = (x.shape[a] - size) / step + 1;
  strides[a] = shape[a] > 1 ? x.strides[a] * step : x.strides[a];
  shape.push_back(size);
  strides.push_back(x.strides[a]);
  return runtime::view(x, shape, strides, 0, x.sharded_axis);
}

std::vector<TensorRef> split(const TensorImpl& x, std::int64_t size, std::int64_t axis) {
  const int a = checked_axis("split", axis, x);
  if (size < 0 || (size == 0 && x.shape[a] > 0))
    throw ShapeError(fmt::format("split: parts of {} positions along axis {} of {}; the size must be at least 1", size,
                                 a, describe(x)));
  std::vector<TensorRef> parts;
  for (std::int64_t first = 0; first < x.shape[a] || parts.empty(); first += size)
    parts.push_back(narrow(x, a, first, std::min(size, x.shape[a] - first)));
  return parts;
}

std::vector<TensorRef> chunk(const TensorImpl& x, std::int64_t count, std::int64_t axis) {
  const int a = checked_axis("chunk", axis, x);
  if (count <= 0)
    throw ShapeError(fmt::format("chunk: {} parts of {}; the number must be at least 1", count, describe(x)));
  return split(x, x.shape[a] / count + (x.shape[a] % count != 0), a);
}

std::vector<TensorRef> unbind(const TensorImpl& x, std::int64_t axis) {
  const int a = checked_axis("unbind", axis, x);
  std::vector<TensorRef> parts;
  for (std::int64_t i = 0; i < x.shape[a]; ++i) parts.push_back(select(x, a, i));
  return parts;
}

namespace {

/// The same memory as elements of another dtype: `scale` new elements for each old one.
TensorRef reinterpreted(const TensorImpl& x, DType dtype, const Shape& shape, const Shape& strides,
                        std::int64_t offset) {
  if (x.device.is_mesh())
    throw DeviceError(
        fmt::format("{} cannot be viewed as another dtype: its elements are on several devices. Take this view of each "
                    "shard, x.shard(i), or before sharding the tensor",
                    describe(x)));
  const TensorRef other = runtime::view(x, x.shape, x.strides);
  other->dtype = dtype;
  return runtime::view(*other, shape, strides, offset);
}

Shape doubled(const Shape& strides) {
  Shape twice = strides;
  for (int axis = 0; axis < twice.ndim(); ++axis) twice[axis] *= 2;
  return twice;
}

}  // namespace

TensorRef part_view(const TensorImpl& x, int part) {
  if (is_complex(x.dtype)) return reinterpreted(x, real_of(x.dtype), x.shape, doubled(x.strides), part);
  if (part == 0) return runtime::view(x, x.shape, x.strides);
  throw DTypeError(
      fmt::format("imag: {} has no imaginary part: imag takes complex numbers, not real ones", describe(x)));
}

TensorRef view_as_real(const TensorImpl& x) {
  if (!is_complex(x.dtype))
    throw DTypeError(fmt::format("view_as_real: {} is not complex: it is its own real part", describe(x)));
  Shape shape = x.shape, strides = doubled(x.strides);
  check_ndim("view_as_real", x, x.ndim() + 1);
  shape.push_back(2);
  strides.push_back(1);
  return reinterpreted(x, real_of(x.dtype), shape, strides, 0);
}

TensorRef view_as_complex(const TensorImpl& x) {
  if (x.dtype != DType::Float32 && x.dtype != DType::Float64)
    throw DTypeError(fmt::format("view_as_complex takes pairs of floats or doubles, not {}: convert with .to<float>()",
                                 describe(x)));
  const int last = x.ndim() - 1;
  bool pairs = last >= 0 && x.shape[last] == 2 && x.strides[last] == 1;
  pairs = pairs && runtime::is_aligned(x.data, complex_of(x.dtype));
  Shape shape, strides;
  for (int axis = 0; axis < last; ++axis) {
    shape.push_back(x.shape[axis]);
    strides.push_back(x.strides[axis] / 2);
    pairs = pairs && (x.shape[axis] == 1 || x.strides[axis] % 2 == 0);
  }
  if (!pairs)
    throw ShapeError(
        fmt::format("view_as_complex: {} with strides {} holds no pairs: the last axis has extent 2 and stride 1, the "
                    "other strides are even and the address is that of a complex number; copy it with .clone() first",
                    describe(x), to_string(x.strides)));
  return reinterpreted(x, complex_of(x.dtype), shape, strides, 0);
}

}  // namespace sinter::inline v1::detail
