#include "layout.hpp"

#include <algorithm>
#include <cstdlib>

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t shortest_row = 256;
constexpr int panel_rows = 16;

// Elements of one size, whatever their type.
using Word1 = std::uint8_t;
using Word4 [[gnu::may_alias]] = std::uint32_t;
using Word8 [[gnu::may_alias]] = std::uint64_t;

Walk walk_of(const LoopNest& nest, int split, const NestOperand& o) {
  if (o.data == nullptr) return Walk::Packed;
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

/// Calls f(offset, stride, count, done) for the runs of the innermost dim that make up [first, first + n) of a row.
template <class F>
void for_runs(const LoopNest& nest, int split, const NestOperand& o, std::int64_t first, std::int64_t n, F f) {
  const int inner = nest.rank - 1;
  std::int64_t at[max_rank] = {}, offset = 0;
  for (int d = inner; d >= split; --d) {
    at[d] = d == split ? first : first % nest.extents[d];
    first /= nest.extents[d];
    offset += at[d] * o.strides[d];
  }
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t left = nest.extents[inner] - at[inner], count = left < n - done ? left : n - done;
    f(offset, o.strides[inner], count, done);
    done += count;
    offset += count * o.strides[inner];
    at[inner] += count;
    for (int d = inner; d > split && at[d] == nest.extents[d]; --d) {
      offset += o.strides[d - 1] - at[d] * o.strides[d];
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

template <class T>
void pack_as(T* to, const T* row, const LoopNest& nest, int split, const NestOperand& o, std::int64_t first,
             std::int64_t n) {
  for_runs(nest, split, o, first, n,
           [&](std::int64_t offset, std::int64_t stride, std::int64_t count, std::int64_t done) {
             const T* from = row + offset;
             T* t = to + done;
             if (stride == 0)
               for (std::int64_t i = 0; i < count; ++i) t[i] = *from;
             else if (stride == 1)
               for (std::int64_t i = 0; i < count; ++i) t[i] = from[i];
             else
               for (std::int64_t i = 0; i < count; ++i) t[i] = from[i * stride];
           });
}
template <class T>
void unpack_as(T* row, const T* from, const LoopNest& nest, int split, const NestOperand& o, std::int64_t first,
               std::int64_t n) {
  for_runs(nest, split, o, first, n,
           [&](std::int64_t offset, std::int64_t stride, std::int64_t count, std::int64_t done) {
             T* to = row + offset;
             const T* f = from + done;
             if (stride == 1)
               for (std::int64_t i = 0; i < count; ++i) to[i] = f[i];
             else
               for (std::int64_t i = 0; i < count; ++i) to[i * stride] = f[i];
           });
}

}  // namespace

void make_layout(Layout& layout, const LoopNest& nest) {
  if (nest.linear) {
    layout.row = nest.numel;
    layout.walks.resize(nest.operands.size(), boost::container::default_init);
    for (std::size_t k = 0; k < nest.operands.size(); ++k)
      layout.walks[k] = nest.operands[k].data ? Walk::InPlace : Walk::Packed;
    return;
  }
  layout.split = nest.rank - 1;
  layout.row = nest.extents[layout.split];
  while (layout.split > 0 && layout.row < shortest_row) layout.row *= nest.extents[--layout.split];
  layout.rows = layout.split == 0 ? 1 : nest.numel / layout.row;
  layout.uniform = {};
  layout.walks.clear();
  int leaf = -nest.outputs;
  for (const NestOperand& o : nest.operands) {
    Walk w = walk_of(nest, layout.split, o);
    if (w == Walk::Same || w == Walk::RowSame) {
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

void pack(void* to, const std::byte* row, std::size_t size, const LoopNest& nest, int split, const NestOperand& operand,
          std::int64_t first, std::int64_t n) {
  switch (size) {
    case 1:
      return pack_as(static_cast<Word1*>(to), reinterpret_cast<const Word1*>(row), nest, split, operand, first, n);
    case 4:
      return pack_as(static_cast<Word4*>(to), reinterpret_cast<const Word4*>(row), nest, split, operand, first, n);
    default:
      return pack_as(static_cast<Word8*>(to), reinterpret_cast<const Word8*>(row), nest, split, operand, first, n);
  }
}

void pack_panel(void* to, std::int64_t pitch, const std::byte* row, std::size_t size, std::int64_t rows,
                std::int64_t row_stride, std::int64_t stride, std::int64_t n) {
  const auto pack_as = [&](auto* t, const auto* from) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t r = 0; r < rows; ++r) t[r * pitch + i] = from[r * row_stride + i * stride];
  };
  switch (size) {
    case 1: return pack_as(static_cast<Word1*>(to), reinterpret_cast<const Word1*>(row));
    case 4: return pack_as(static_cast<Word4*>(to), reinterpret_cast<const Word4*>(row));
    default: return pack_as(static_cast<Word8*>(to), reinterpret_cast<const Word8*>(row));
  }
}

void unpack(std::byte* row, const void* from, std::size_t size, const LoopNest& nest, int split,
            const NestOperand& operand, std::int64_t first, std::int64_t n) {
  switch (size) {
    case 1:
      return unpack_as(reinterpret_cast<Word1*>(row), static_cast<const Word1*>(from), nest, split, operand, first, n);
    case 4:
      return unpack_as(reinterpret_cast<Word4*>(row), static_cast<const Word4*>(from), nest, split, operand, first, n);
    default:
      return unpack_as(reinterpret_cast<Word8*>(row), static_cast<const Word8*>(from), nest, split, operand, first, n);
  }
}

void pack_index(std::int64_t* to, std::int64_t row, const LoopNest& nest, int split, const NestOperand& operand,
                std::int64_t first, std::int64_t n) {
  for_runs(nest, split, operand, first, n,
           [&](std::int64_t offset, std::int64_t stride, std::int64_t count, std::int64_t done) {
             for (std::int64_t i = 0; i < count; ++i) to[done + i] = row + offset + i * stride;
           });
}

}  // namespace sinter::inline v1::jit::cpu
