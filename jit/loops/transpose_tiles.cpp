#include "transpose_tiles.hpp"

namespace sinter::inline v1::jit::loops {

/// An array of vectors: the rows of the tile or, of a transposed operand, its columns.
Value TransposeTiles::load(const OperandLayout& a, Value tile) const {
  const int width = context_.c.vector_width,
            dim = a.layout == Layout::Transposed ? context_.c.ndim - 1 : context_.c.tile_dim;
  const Value begin = operands_.tile_offset(a, tile);
  const Type type = element_type(a.memory ? a.dtype : DType::Int64, a.layout == Layout::InnerBroadcast ? 1 : width);
  const Value array = b_.local(type, width, none, a.name + "_tile");
  b_.emit_unrolled(width, "k", [&](Value step) {
    b_.set(array, step, operands_.load_at(a, operands_.step(a, begin, dim, step), width));
  });
  return array;
}

void TransposeTiles::visit(Value tile, const std::function<void(const TransposeTileRow&)>& row) const {
  std::vector<Value> arrays(context_.kernel.inputs.size(), none), begins;
  for (const OperandLayout& a : operands_.all())
    if (is_tiled(a)) arrays[a.index] = load(a, tile);
  for (const OperandLayout& a : operands_.all())
    if (a.output) begins.push_back(operands_.tile_offset(a, tile));
  b_.emit_unrolled(context_.c.vector_width, "k", [&](Value step) {
    const auto input = [&](std::size_t i) {
      const bool is_transposed = operands_.input(i).layout == Layout::Transposed;
      return is_transposed ? b_.column(arrays[i], step, context_.c.vector_width) : b_.get(arrays[i], step);
    };
    const auto offset = [&](const OperandLayout& a) {
      return operands_.step(a, begins[a.index], context_.c.tile_dim, step);
    };
    row({input, offset});
  });
}

}  // namespace sinter::inline v1::jit::loops
