#include "row_boxes.hpp"

#include <algorithm>
#include <cstdlib>

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t box_bytes = 256 << 10;      // stays in L2 from one pass to the next
constexpr std::int64_t max_box_bytes = 768 << 10;  // for rows that several passes read
constexpr std::int64_t least_box = 4096;           // elements: smaller boxes cost more to start than to compute
constexpr std::int64_t vector_lanes = 16, least_lanes = 64, max_lanes = 4096, max_tile_lanes = 256;
constexpr std::int64_t chunk = 32 << 10, least_across = 128;  // elements of a row that is split; of one of many rows

constexpr std::int64_t divided(std::int64_t a, std::int64_t by) { return (a + by - 1) / by; }

std::int64_t extent_of(const std::int64_t* extents, int first, int last) {
  std::int64_t count = 1;
  for (int d = first; d < last; ++d) count *= extents[d];
  return count;
}

}  // namespace

bool lies_across(const LoopNest& nest, const std::uint8_t* sizes) noexcept {
  const int rows = nest.row_dims() - 1, columns = nest.ndim - 1;
  if (nest.extents[rows] <= 1) return false;
  if (nest.extents[columns] <= 1) return true;
  std::int64_t across = 0, along = 0, indices_across = 0;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const NestOperand& o = nest.operands[k];
    const std::int64_t by_row = std::abs(o.strides[rows]), by_column = std::abs(o.strides[columns]);
    const bool steps_by_row = by_row != 0 && (by_column == 0 || by_row < by_column);
    if (o.data == nullptr)
      indices_across += steps_by_row;
    else if (by_row != 0 && by_column != 0)
      (steps_by_row ? across : along) += sizes[k];
  }
  return across > along || (across == 0 && along == 0 && indices_across > 0);
}

/// Tiles of at most `most` positions with whole inner dims; returns how many positions a tile has.
std::int64_t Boxes::cut(int first, int last, std::int64_t most) noexcept {
  std::int64_t count = 1;
  bool is_cut = false;
  for (int d = last; d-- > first;) {
    const std::int64_t extent = extents[d], room = is_cut ? 1 : std::max<std::int64_t>(most / count, 1);
    is_cut = is_cut || extent > room;
    const std::int64_t parts = std::max<std::int64_t>(divided(extent, room), 1);
    std::int64_t even = std::max<std::int64_t>(divided(extent, parts), 1);
    if (d == last - 1 && even > vector_lanes) even = divided(even, vector_lanes) * vector_lanes;
    tile[d] = std::min(std::max<std::int64_t>(extent, 1), even);
    count *= tile[d];
  }
  return count;
}

Boxes::Boxes(const LoopNest& nest, const BoxRequirements& required, bool lies_across)
    : across(lies_across), row_dims(nest.row_dims()), dims(nest.ndim) {
  std::copy_n(nest.extents, dims, extents);
  for (int i = 0; i < dims; ++i) order[i] = i;
  if (across) std::rotate(order + row_dims - 1, order + row_dims, order + dims);
  rows = extent_of(extents, 0, row_dims);
  columns = extent_of(extents, row_dims, dims);
  const std::int64_t length = std::max<std::int64_t>(columns, 1);
  const std::int64_t most = (required.one_pass ? box_bytes : max_box_bytes) / required.bytes;  // elements
  if (across) {
    const std::int64_t lanes = std::min(rows, required.in_place ? max_lanes : least_lanes);
    whole = required.in_place ? length <= 2 * least_across : lanes * length <= most;
    const std::int64_t wide = required.in_place ? max_lanes : max_tile_lanes;
    rows_in_tile = cut(0, row_dims, whole ? std::clamp(box_bytes / required.bytes / length, lanes, max_lanes) : wide);
    columns_in_tile = cut(row_dims, dims, whole ? length : std::max(chunk / rows_in_tile, least_across));
  } else {
    const bool few = rows < 8 && columns > chunk;
    whole = !few && length <= most;
    const std::int64_t box =
        std::clamp(rows * columns / 64, least_box, std::max(box_bytes / required.bytes, least_box));
    rows_in_tile = cut(0, row_dims, whole ? std::max<std::int64_t>(box / length, 1) : 1);
    columns_in_tile = cut(row_dims, dims, whole ? length : chunk);
  }
  row_tiles = column_tiles = 1;
  for (int d = 0; d < row_dims; ++d) row_tiles *= divided(extents[d], tile[d]);
  for (int d = row_dims; d < dims; ++d) column_tiles *= divided(extents[d], tile[d]);
}

Box Boxes::at(std::int64_t row_tile, std::int64_t column_tile) const noexcept {
  Box box;
  box.number = column_tile;
  box.rows = box.columns = 1;
  for (int d = dims; d-- > 0;) {
    std::int64_t& number = d >= row_dims ? column_tile : row_tile;
    const std::int64_t tiles = std::max<std::int64_t>(divided(extents[d], tile[d]), 1);
    box.first[d] = number % tiles * tile[d];
    number /= tiles;
    box.extent[d] = std::min(tile[d], extents[d] - box.first[d]);
    (d >= row_dims ? box.columns : box.rows) *= box.extent[d];
  }
  box.position = 0;
  for (int d = row_dims; d < dims; ++d) box.position = box.position * extents[d] + box.first[d];
  return box;
}

}  // namespace sinter::inline v1::jit::cpu
