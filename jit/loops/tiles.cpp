#include "tiles.hpp"

namespace sinter::inline v1::jit::loops {

/// An array of vectors: the rows of the tile or, of a crossed operand, its columns.
Value Tiles::load(const OperandLayout& a, Value tile) const {
  const int lanes = frame_.c.lanes, dim = a.along == Along::Crossed ? frame_.c.ndim - 1 : frame_.c.tile_dim;
  const Value begin = operands_.tile_offset(a, tile);
  const Type type = element_type(a.memory ? a.dtype : DType::Int64, a.along == Along::Broadcast ? 1 : lanes);
  const Value array = b_.local(type, lanes, none, a.name + "_tile");
  const Value step = b_.unrolled(lanes, "k");
  b_.set(array, step, operands_.load_at(a, operands_.step(a, begin, dim, step), lanes));
  b_.end();
  return array;
}

void Tiles::visit(Value tile, const std::function<void(const TileRow&)>& row) const {
  std::vector<Value> arrays(frame_.kernel.inputs.size(), none), begins;
  for (const OperandLayout& a : operands_.all())
    if (is_tiled(a)) arrays[a.number] = load(a, tile);
  for (const OperandLayout& a : operands_.all())
    if (a.output) begins.push_back(operands_.tile_offset(a, tile));
  const Value step = b_.unrolled(frame_.c.lanes, "k");
  const auto input = [&](std::size_t number) {
    const bool is_crossed = operands_.input(number).along == Along::Crossed;
    return is_crossed ? b_.column(arrays[number], step, frame_.c.lanes) : b_.get(arrays[number], step);
  };
  const auto offset = [&](const OperandLayout& a) {
    return operands_.step(a, begins[a.number], frame_.c.tile_dim, step);
  };
  row({input, offset});
  b_.end();
}

}  // namespace sinter::inline v1::jit::loops
