#include "product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/precision.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::Matrix;
using runtime::MatrixProduct;
using runtime::TensorImpl;
using runtime::TensorRef;

/// The axes before the matrices.
Shape batch_of(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(std::max(shape.rank() - 2, 0))));
}
std::int64_t inner_left(const Shape& a) { return a[-1]; }
std::int64_t inner_right(const Shape& b) { return b[b.rank() == 1 ? 0 : -2]; }

std::string extents(const Shape& matrix) { return fmt::format("{}x{}", matrix[-2], matrix[-1]); }

}  // namespace

bool multiplies(const Graph& graph) noexcept {
  return std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.op == Op::matmul; });
}

std::optional<Shape> product_shape(const Shape& a, const Shape& b) noexcept {
  if (a.empty() || b.empty() || inner_left(a) != inner_right(b)) return std::nullopt;
  Shape shape = batch_of(a);
  if (!broadcast(shape, batch_of(b))) return std::nullopt;
  if (a.rank() > 1) shape.push_back(a[-2]);
  if (b.rank() > 1) shape.push_back(b[-1]);
  return shape;
}

std::string product_mismatch(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty())
    return fmt::format("both arguments to matmul need to be at least 1D, but they are {}D and {}D", a.rank(), b.rank());
  if (inner_left(a) == inner_right(b))
    return fmt::format("the batches {} and {} of the matrices do not broadcast", to_string(batch_of(a)),
                       to_string(batch_of(b)));
  if (a.rank() == 1 && b.rank() == 1)
    return fmt::format(
        "inconsistent tensor size, expected tensor [{0}] and src [{1}] to have the same number of elements, but got "
        "{0} "
        "and {1} elements respectively",
        a[0], b[0]);
  if (b.rank() == 1) return fmt::format("size mismatch, got input ({}), mat ({}), vec ({})", a[-2], extents(a), b[0]);
  if (a.rank() == 1) return fmt::format("size mismatch, got input ({}), mat ({}), vec ({})", b[-1], extents(b), a[0]);
  return fmt::format("mat1 and mat2 shapes cannot be multiplied ({} and {})", extents(a), extents(b));
}

namespace {

/// An operand as a stack of matrices. An axis that a vector lacks has an extent of 1.
struct Stack {
  Stack(const TensorImpl& t, bool is_right) : data(t.data) {
    const bool is_column = is_right && t.rank() == 1;
    rows = is_column ? t.shape[-1] : t.rank() == 1 ? 1 : t.shape[-2];
    columns = is_column ? 1 : t.shape[-1];
    row_stride = is_column ? t.strides[-1] : t.rank() == 1 ? 0 : t.strides[-2];
    column_stride = is_column ? 0 : t.strides[-1];
  }
  /// As BLAS takes it; none where neither rows nor columns lie side by side.
  std::optional<Matrix> matrix() const {
    if ((columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns))
      return Matrix{data, rows == 1 ? columns : row_stride, false, 0};
    if ((rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows))
      return Matrix{data, columns == 1 ? rows : column_stride, true, 0};
    return std::nullopt;
  }

  std::byte* data;
  std::int64_t rows, columns, row_stride, column_stride;
};

/// An axis of the batch, with its strides in out, a and b.
struct BatchAxis {
  std::int64_t extent;
  std::array<std::int64_t, 3> strides;
};

/// Whether all operands walk through both axes as through one.
bool continues(const BatchAxis& outer, const BatchAxis& axis) {
  return std::ranges::equal(outer.strides, axis.strides, [&](auto step, auto s) { return step == axis.extent * s; });
}

/// The stride of an operand along an axis of the result's batch: 0 where it is broadcast.
std::int64_t batch_stride(const TensorImpl& t, int from_end) {
  const int axis = std::max(t.rank() - 2, 0) - from_end;
  return axis < 0 || t.shape[axis] == 1 ? 0 : t.strides[axis];
}

/// The axes of the batch, joined where they can be.
std::vector<BatchAxis> batch_axes(const Shape& batch, const TensorImpl& out, const TensorImpl& a, const TensorImpl& b) {
  std::vector<BatchAxis> axes;
  for (int i = 0; i < batch.rank(); ++i) {
    if (batch[i] == 1) continue;
    const int from_end = batch.rank() - i;
    const BatchAxis axis{batch[i], {out.strides[i], batch_stride(a, from_end), batch_stride(b, from_end)}};
    if (!axes.empty() && continues(axes.back(), axis))
      axes.back() = {axes.back().extent * axis.extent, axis.strides};
    else
      axes.push_back(axis);
  }
  return axes;
}

/// Takes the innermost axis of the batch into the product: as rows of one large matrix where all multiply the same b,
/// as a Linear layer's do, else as a batch.
void take_batch(MatrixProduct& p, const BatchAxis& axis) {
  const auto [c, a, b] = axis.strides;
  const auto goes_on = [&](const Matrix& m, std::int64_t step) {
    return !m.transposed && (p.rows == 1 ? step >= m.leading : step == p.rows * m.leading);
  };
  if (b == 0 && goes_on(p.a, a) && goes_on(p.c, c)) {
    if (p.rows == 1) p.a.leading = a, p.c.leading = c;
    p.rows *= axis.extent;
    return;
  }
  p.batch = axis.extent;
  p.c.step = c, p.a.step = a, p.b.step = b;
}

/// The products of all matrices: `take` gets one call of BLAS after the other.
template <class F>
void for_each_product(MatrixProduct p, std::span<const BatchAxis> outer, F take) {
  if (outer.empty()) return take(p);
  const auto size = static_cast<std::int64_t>(size_of(p.dtype));
  for (std::int64_t i = 0; i < outer[0].extent; ++i) {
    for_each_product(p, outer.subspan(1), take);
    Matrix* const matrices[] = {&p.c, &p.a, &p.b};
    for (std::size_t k = 0; k < 3; ++k) matrices[k]->data += size * outer[0].strides[k];
  }
}

/// The operand itself, or a copy that BLAS takes.
TensorRef readable(TensorImpl& t, bool is_right) {
  if (Stack(t, is_right).matrix()) return TensorRef::share(&t);
  return contiguous(t);
}

void fill_with_zeros(TensorImpl& out) {
  const std::vector<std::byte> zeros(static_cast<std::size_t>(out.numel) * size_of(out.dtype));
  runtime::backend(out.device).upload(out.data, zeros.data(), zeros.size());
}

/// `out` is contiguous.
void multiply_into(TensorImpl& out, TensorImpl& a, TensorImpl& b) {
  if (a.shape[-1] == 0) return fill_with_zeros(out);
  const TensorRef left = readable(a, false), right = readable(b, true);
  const Stack in_a(*left, false), in_b(*right, true);
  Shape batch = batch_of(left->shape);
  (void)broadcast(batch, batch_of(right->shape));
  const Matrix c{out.data, in_b.columns, false, 0};
  const bool rounds = float32_matmul_precision() != "highest";
  const MatrixProduct one{out.dtype,      in_a.rows, in_b.columns, in_a.columns, 1, *in_a.matrix(),
                          *in_b.matrix(), c,         rounds};
  const std::vector<BatchAxis> axes = batch_axes(batch, out, *left, *right);
  MatrixProduct innermost = one;
  if (!axes.empty()) take_batch(innermost, axes.back());
  const std::span outer(axes.data(), axes.empty() ? 0 : axes.size() - 1);
  runtime::Backend& device = runtime::backend(out.device);
  for_each_product(innermost, outer, [&](const MatrixProduct& p) { device.multiply(p); });
}

}  // namespace

void multiply(std::span<TensorImpl* const> operands) {
  TensorImpl &out = *operands[0], &a = *operands[1], &b = *operands[2];
  if (out.numel == 0) return;
  if (out.contiguous) return multiply_into(out, a, b);
  const TensorRef made = runtime::empty(out.shape, out.dtype, out.device);
  multiply_into(*made, a, b);
  copy(out, *made);
}

}  // namespace sinter::inline v1::jit
