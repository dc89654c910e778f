// The loops of a tiled kernel: a thread handles a square tile of the tile dim and the innermost dim.
#pragma once
#include <functional>

#include "operands.hpp"

namespace sinter::inline v1::jit::loops {

/// A row of a tile: an input's elements, and where an output's are.
struct TransposeTileRow {
  std::function<Value(std::size_t)> input;
  std::function<Value(const OperandLayout&)> offset;
};

class TransposeTiles {
 public:
  TransposeTiles(const LoweringContext& context, Builder& b, const Operands& operands)
      : context_(context), b_(b), operands_(operands) {}

  /// Loads a tile of each input, except uniform ones, and visits its rows.
  void visit(Value tile, const std::function<void(const TransposeTileRow&)>& row) const;

 private:
  bool is_tiled(const OperandLayout& a) const noexcept {
    return !a.output && a.is_element() && a.layout != Layout::Uniform;
  }
  Value load(const OperandLayout& a, Value tile) const;

  const LoweringContext& context_;
  Builder& b_;
  const Operands& operands_;
};

}  // namespace sinter::inline v1::jit::loops
