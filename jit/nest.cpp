#include "nest.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;

/// Contiguous operands with as many elements as the output differ from its shape by extents of 1 alone.
bool walks_as_one(std::span<TensorImpl* const> operands) noexcept {
  const std::int64_t numel = operands[0]->numel;
  for (const TensorImpl* t : operands)
    if (!t->contiguous || t->numel != numel) return false;
  return true;
}

/// Axes of the output, outermost first: by memory, so that neighbours in memory are neighbours in time.
void order_axes(const TensorImpl& output, int (&axes)[max_rank]) noexcept {
  const int rank = output.rank();
  for (int i = 0; i < rank; ++i) axes[i] = i;
  if (output.contiguous) return;
  const auto step = [&](int axis) { return std::abs(output.strides[axis]); };
  for (int i = 1; i < rank; ++i)  // insertion sort: stable, and never allocates
    for (int j = i; j > 0 && step(axes[j]) > step(axes[j - 1]); --j) std::swap(axes[j], axes[j - 1]);
}

/// The operand's stride along an axis of the output, counted from its end; 0 where it is broadcast.
std::int64_t stride_along(const TensorImpl& t, int axis_from_end) noexcept {
  const int axis = t.rank() - 1 - axis_from_end;
  return axis < 0 || t.shape.begin()[axis] == 1 ? 0 : t.strides.begin()[axis];
}

}  // namespace

void make_nest(LoopNest& nest, std::span<TensorImpl* const> operands, int outputs) {
  const TensorImpl& output = *operands[0];
  nest.outputs = outputs;
  nest.numel = output.numel;
  nest.operands.resize(operands.size(), boost::container::default_init);
  for (std::size_t k = 0; k < operands.size(); ++k) nest.operands[k].data = operands[k]->data;
  if (output.numel == 1 || walks_as_one(operands)) {
    nest.rank = 1;
    nest.linear = true;
    nest.extents[0] = output.numel;
    for (NestOperand& o : nest.operands) o.strides[0] = 1;
    return;
  }
  int axes[max_rank];
  order_axes(output, axes);
  int rank = 0;
  for (int i = 0; i < output.rank(); ++i) {
    const std::int64_t extent = output.shape.begin()[axes[i]];
    if (extent == 1) continue;
    const int from_end = output.rank() - 1 - axes[i];
    bool merges = rank > 0;  // into the dim before
    for (std::size_t k = 0; k < operands.size(); ++k) {
      NestOperand& o = nest.operands[k];
      o.strides[rank] = stride_along(*operands[k], from_end);
      if (merges) merges = o.strides[rank - 1] == o.strides[rank] * extent;
    }
    if (merges) {
      nest.extents[rank - 1] *= extent;
      for (NestOperand& o : nest.operands) o.strides[rank - 1] = o.strides[rank], o.strides[rank] = 0;
    } else {
      nest.extents[rank++] = extent;
    }
  }
  nest.rank = rank;
}

}  // namespace sinter::inline v1::jit
