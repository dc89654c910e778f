#include "layout.hpp"

#include <algorithm>
#include <cstdlib>

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr int panel_rows = 16;

/// Where its elements lie; of an index operand, whose elements lie nowhere, how their positions follow each other.
Walk walk_of(const LoopNest& nest, int split, const NestOperand& o) {
  if (nest.numel == 1 || (nest.rank == 1 && o.strides[0] == 1)) return Walk::InPlace;
  bool neighbours = true, still = true;
  std::int64_t step = 1;
  for (int d = nest.rank; d-- > split;) {
    neighbours = neighbours && o.strides[d] == step;
    still = still && o.strides[d] == 0;
    step *= nest.extents[d];
  }
  if (neighbours) return Walk::InPlace;
  if (!still) return Walk::Packed;
  for (int d = 0; d < split; ++d)
    if (o.strides[d] != 0) return Walk::RowSame;
  return Walk::Same;
}

}  // namespace

void make_layout(Layout& layout, const LoopNest& nest, std::int64_t shortest) {
  if (nest.linear) {
    layout.row = nest.numel;
    layout.walks.resize(nest.operands.size(), boost::container::default_init);
    for (std::size_t k = 0; k < nest.operands.size(); ++k)
      layout.walks[k] = nest.operands[k].data ? Walk::InPlace : Walk::Packed;
    return;
  }
  layout.split = nest.rank - 1;
  layout.row = nest.extents[layout.split];
  while (layout.split > 0 && layout.row < shortest) layout.row *= nest.extents[--layout.split];
  layout.rows = layout.split == 0 ? 1 : nest.numel / layout.row;
  layout.uniform = {};
  layout.walks.clear();
  int leaf = -nest.outputs;
  for (const NestOperand& o : nest.operands) {
    Walk w = walk_of(nest, layout.split, o);
    if (o.data == nullptr && w != Walk::Same) {
      if (w == Walk::InPlace && leaf < 64) layout.uniform.counting |= std::uint64_t{1} << leaf;
      w = Walk::Packed;
    } else if (w == Walk::Same || w == Walk::RowSame) {
      if (leaf >= 0 && leaf < 64)
        (w == Walk::Same ? layout.uniform.nest : layout.uniform.row) |= std::uint64_t{1} << leaf;
      else
        w = Walk::Packed;  // more than the steps keep account of
    }
    layout.walks.push_back(w);
    ++leaf;
  }
  const auto transposed = [&](const NestOperand& o) { return is_transposed(nest, layout, o); };
  layout.panel = std::any_of(nest.operands.begin() + nest.outputs, nest.operands.end(), transposed) ? panel_rows : 1;
}

bool is_transposed(const LoopNest& nest, const Layout& layout, const NestOperand& o) {
  const int inner = nest.rank - 1;
  return layout.split == inner && inner > 0 && o.data != nullptr && nest.extents[inner - 1] >= panel_rows &&
         std::abs(o.strides[inner - 1]) == 1 && std::abs(o.strides[inner]) >= panel_rows;
}

void spread_uniform(Layout& layout) {
  for (Walk& w : layout.walks)
    if (w == Walk::Same || w == Walk::RowSame) w = Walk::Packed;
  layout.uniform = {};
}

std::int64_t row_offset(const LoopNest& nest, const Layout& layout, const NestOperand& operand, std::int64_t row) {
  std::int64_t offset = 0;
  for (int d = layout.split; d-- > 0;) {
    offset += row % nest.extents[d] * operand.strides[d];
    row /= nest.extents[d];
  }
  return offset;
}

}  // namespace sinter::inline v1::jit::cpu
