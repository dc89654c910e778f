#include "product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include <sinter/jit/evaluate.hpp>
#include <sinter/jit/lazy.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/precision.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::Matrix;
using runtime::MatrixProduct;
using runtime::TensorImpl;
using runtime::TensorRef;

/// An operand as a batch of matrices. The axis that a vector lacks has an extent of 1.
struct Stack {
  Stack(const TensorImpl& t, bool is_right) : data(t.data) {
    const bool is_column = is_right && t.ndim() == 1;
    rows = is_column ? t.shape[-1] : t.ndim() == 1 ? 1 : t.shape[-2];
    columns = is_column ? 1 : t.shape[-1];
    row_stride = is_column ? t.strides[-1] : t.ndim() == 1 ? 0 : t.strides[-2];
    column_stride = is_column ? 0 : t.strides[-1];
  }
  /// In BLAS terms; nullopt if neither rows nor columns are contiguous.
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

/// A batch axis, with its strides in the result, a, b and the addend.
struct BatchAxis {
  std::int64_t extent;
  std::array<std::int64_t, 4> strides;
};

/// Whether the two axes can be merged: every operand traverses both with one stride.
bool continues(const BatchAxis& outer, const BatchAxis& axis) {
  return std::ranges::equal(outer.strides, axis.strides, [&](auto step, auto s) { return step == axis.extent * s; });
}

/// An operand's stride along an axis of the result's batch; 0 if it is broadcast.
std::int64_t batch_stride(const TensorImpl& t, int from_end) {
  const int axis = std::max(t.ndim() - 2, 0) - from_end;
  return axis < 0 || t.shape[axis] == 1 ? 0 : t.strides[axis];
}

/// The batch axes, merged if possible. The first operand is the result; the last one, the addend, may be null.
std::vector<BatchAxis> batch_axes(const Shape& batch, const std::array<const TensorImpl*, 4>& operands) {
  std::vector<BatchAxis> axes;
  for (int i = 0; i < batch.ndim(); ++i) {
    if (batch[i] == 1) continue;
    BatchAxis axis{batch[i], {operands[0]->strides[i]}};
    for (std::size_t k = 1; k < 4; ++k)
      axis.strides[k] = operands[k] ? batch_stride(*operands[k], batch.ndim() - i) : axis.strides[0];
    if (!axes.empty() && continues(axes.back(), axis))
      axes.back() = {axes.back().extent * axis.extent, axis.strides};
    else
      axes.push_back(axis);
  }
  return axes;
}

/// Moves the innermost batch axis into the BLAS call: as more rows of one matrix if all products share b, as in a
/// Linear layer, else as a strided batch.
void take_batch(MatrixProduct& p, const BatchAxis& axis) {
  const auto [c, a, b, added] = axis.strides;
  const auto goes_on = [&](const Matrix& m, std::int64_t step) {
    return !m.transposed && (p.rows == 1 ? step >= m.leading : step == p.rows * m.leading);
  };
  if (b == 0 && goes_on(p.a, a) && goes_on(p.c, c) && (!p.addend.data || goes_on(p.addend, added))) {
    if (p.rows == 1) p.a.leading = a, p.c.leading = c, p.addend.leading = added;
    p.rows *= axis.extent;
    return;
  }
  p.batch = axis.extent;
  p.c.step = c, p.a.step = a, p.b.step = b, p.addend.step = added;
}

/// Calls take(product) for each BLAS call that the batch needs.
template <class F>
void for_each_product(MatrixProduct p, std::span<const BatchAxis> outer, F take) {
  if (outer.empty()) return take(p);
  const auto size = static_cast<std::int64_t>(size_of(p.dtype));
  for (std::int64_t i = 0; i < outer[0].extent; ++i) {
    for_each_product(p, outer.subspan(1), take);
    Matrix* const matrices[] = {&p.c, &p.a, &p.b, &p.addend};
    for (std::size_t k = 0; k < 4; ++k)
      if (matrices[k]->data) matrices[k]->data += size * outer[0].strides[k];
  }
}

/// The matrices of a batch, one below the other: a view if its strides allow that, else a copy.
TensorRef stacked(TensorImpl& t) {
  std::int64_t rows = 1, step = 1;
  for (int axis = t.ndim() - 1; axis-- > 0;) {
    if (t.shape[axis] == 1) continue;
    if (rows == 1) step = t.strides[axis];
    if (t.strides[axis] != rows * step) return stacked(*contiguous(t));
    rows *= t.shape[axis];
  }
  return runtime::view(t, Shape(rows, t.shape[-1]), Shape(step, t.strides[-1]));
}

/// The factor as it is, or as the matrix that the sum over its batch multiplies; or the transposed view of that.
TensorRef as_multiplied(TensorImpl& t, bool transposes, bool stacks) {
  const TensorRef factor = stacks ? stacked(t) : TensorRef::share(&t);
  if (!transposes || t.ndim() < 2) return factor;
  return runtime::view(*factor, transposed(factor->shape), transposed(factor->strides));
}

/// The operand itself, or a copy in a layout that BLAS accepts.
TensorRef readable(TensorImpl& t, bool is_right) {
  if (Stack(t, is_right).matrix()) return TensorRef::share(&t);
  return contiguous(t);
}

void fill_with_zeros(TensorImpl& out) {
  const std::vector<std::byte> zeros(static_cast<std::size_t>(out.numel) * size_of(out.dtype));
  runtime::backend(out.device).upload(out.data, zeros.data(), zeros.size());
}

/// The addend itself, or a copy in a layout that BLAS accepts: not transposed.
TensorRef addable(TensorImpl& t) {
  const std::optional<Matrix> m = Stack(t, false).matrix();
  return m && !m->transposed ? TensorRef::share(&t) : contiguous(t);
}

double factor_of(const Graph& kernel, Operand number, const Scalar* scalars) {
  if (number.node < 0) return 1;
  const Node& n = kernel[number];
  if (n.op == Op::constant) return std::bit_cast<double>(convert_bits(n.attribute, n.dtype, DType::Float64));
  const std::uint64_t bits = scalars[scalar_use(n).number].bits;
  return scalar_use(n).arrives_as == Category::Float ? std::bit_cast<double>(bits)
                                                     : static_cast<double>(static_cast<std::int64_t>(bits));
}

/// The factors of a product; its matrices are set later.
MatrixProduct factors_of(const Kernel& kernel, const Scalar* scalars) {
  const ProductForm form = product_form(kernel.graph);
  MatrixProduct p;
  p.dtype = kernel.graph[kernel.graph.outputs()[0]].dtype;
  p.alpha = factor_of(kernel.graph, form.alpha, scalars);
  p.beta = factor_of(kernel.graph, form.beta, scalars);
  p.tensor_float32 = float32_matmul_precision() != "highest";
  return p;
}

/// Whether BLAS can write directly to this output.
bool is_writable(const TensorImpl& out, const TensorImpl& a, const TensorImpl& b) {
  if (out.contiguous) return true;
  if (a.ndim() == 1 || b.ndim() == 1 || a.shape[-1] == 0) return false;
  if (std::ranges::any_of(out.strides, [](std::int64_t stride) { return stride < 0; })) return false;
  const std::optional<Matrix> m = Stack(out, false).matrix();
  return m && !m->transposed;
}

/// Requires is_writable(out). `added` may be null, or `out` itself.
void multiply_into(TensorImpl& out, TensorImpl& a, TensorImpl& b, TensorImpl* added, MatrixProduct p) {
  if (a.shape[-1] == 0) return fill_with_zeros(out);
  const TensorRef left = readable(a, false), right = readable(b, true), third = added ? addable(*added) : TensorRef();
  const Stack in_a(*left, false), in_b(*right, true);
  p.rows = in_a.rows, p.columns = in_b.columns, p.inner = in_a.columns;
  p.a = *in_a.matrix(), p.b = *in_b.matrix(), p.c = {out.data, p.columns, false, 0};
  if (!out.contiguous) p.c = *Stack(out, false).matrix();
  if (third) p.addend = *Stack(*third, false).matrix();
  Shape batch = batch_of(left->shape);
  (void)broadcast(batch, batch_of(right->shape));
  const std::vector<BatchAxis> axes = batch_axes(batch, {&out, left.get(), right.get(), third.get()});
  if (!axes.empty()) take_batch(p, axes.back());
  const std::span outer(axes.data(), axes.empty() ? 0 : axes.size() - 1);
  runtime::Backend& device = runtime::backend(out.device);
  for_each_product(p, outer, [&](const MatrixProduct& one) { device.multiply(one); });
}

/// Computes in `dtype`, and rounds once, like a BLAS that accumulates 16-bit floats in float32.
void multiply_as(DType dtype, TensorImpl& out, TensorImpl& a, TensorImpl& b, TensorImpl* added, MatrixProduct factors) {
  const auto converted = [&](TensorImpl& t) { return to(t, dtype, t.device); };
  const TensorRef made = runtime::empty(out.shape, dtype, out.device), left = converted(a), right = converted(b);
  const TensorRef third = added ? converted(*added) : TensorRef();
  factors.dtype = dtype;
  multiply_into(*made, *left, *right, third.get(), factors);
  copy(out, *made);
}

/// For nonzero factors.
void multiply_arrays(TensorImpl& out, TensorImpl& a, TensorImpl& b, TensorImpl* added, const MatrixProduct& factors) {
  const DType dtype = runtime::backend(out.device).product_dtype(factors.dtype);
  if (dtype != factors.dtype) return multiply_as(dtype, out, a, b, added, factors);
  if (is_writable(out, a, b)) return multiply_into(out, a, b, added, factors);
  const TensorRef made = runtime::empty(out.shape, out.dtype, out.device);
  multiply_into(*made, a, b, added, factors);
  copy(out, *made);
}

/// A BLAS does not read what it multiplies by 0, but 0 times NaN must be NaN.
void multiply_by_zero(TensorImpl& out, TensorImpl& a, TensorImpl& b, TensorImpl* added, MatrixProduct factors) {
  const TensorRef product = runtime::empty(out.shape, out.dtype, out.device);
  const auto times = [](TensorImpl& x, double factor) {
    const LazyRef operands[] = {lazy(x), lazy(Scalar(factor), Category::Float)};
    return lazy(Op::mul, operands);
  };
  const double alpha = std::exchange(factors.alpha, 1), beta = std::exchange(factors.beta, 1);
  multiply_arrays(*product, a, b, nullptr, factors);
  LazyRef result = times(*product, alpha);
  if (added) {
    const LazyRef terms[] = {result, times(*added, beta)};
    result = lazy(Op::add, terms);
  }
  TensorRef to = TensorRef::share(&out);
  evaluate({&result, 1}, &to);
}

}  // namespace

ProductForm product_form(const Graph& kernel) {
  ProductForm form;
  for (const Node& n : kernel.nodes()) {
    if (n.op == Op::matmul) form.transposes = Transposed::of(n.attribute);
    if (n.op == Op::sum) form.sum = ReduceAxes::of(n.attribute);
    if (n.op != Op::mul) continue;
    const Operand value = kernel.operands(n)[0], number = kernel.operands(n)[1];
    (kernel[value].op == Op::leaf ? form.beta : form.alpha) = number;
  }
  return form;
}

bool sums_batch(const Shape& a, const Shape& b, Transposed transposes, ReduceAxes along) {
  if (a.ndim() < 3 || a.ndim() != b.ndim() || batch_of(a) != batch_of(b) || a.numel() == 0 || b.numel() == 0)
    return false;
  const unsigned all = (1u << a.ndim()) - 1, matrix = 3;
  return transposes.a && !transposes.b && along.axes == (all & ~matrix);
}

Shape product_shape(const Kernel& kernel, const Shape& a, const Shape& b) {
  const ProductForm form = product_form(kernel.graph);
  const Shape each = product_shape(a, b, form.transposes).value();
  return form.sum ? reduced_shape(each, *form.sum) : each;
}

std::int64_t contracted_extent(const ProductForm& form, const Shape& a) {
  if (a.empty()) return 1;
  return transposed(a, form.transposes.a)[-1] * (form.sum ? batch_of(a).numel() : 1);
}

void multiply(const Kernel& kernel, std::span<TensorImpl* const> operands, const Scalar* scalars) {
  TensorImpl& out = *operands[0];
  TensorImpl* const added = operands.size() > 3 ? operands[3] : nullptr;
  if (out.numel == 0) return;
  const ProductForm form = product_form(kernel.graph);
  const bool stacks = form.sum.has_value();
  const TensorRef left = as_multiplied(*operands[1], form.transposes.a, stacks);
  const TensorRef right = as_multiplied(*operands[2], form.transposes.b, stacks);
  TensorImpl &a = *left, &b = *right;
  const MatrixProduct factors = factors_of(kernel, scalars);
  if (factors.alpha == 0 || (added && factors.beta == 0)) return multiply_by_zero(out, a, b, added, factors);
  multiply_arrays(out, a, b, added, factors);
}

}  // namespace sinter::inline v1::jit
