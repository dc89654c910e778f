#include "extent.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {

/// Products of numbers wrap: whoever computes with the values checks them.
Extent& Extent::operator*=(const Extent& other) {
  factor_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(factor_) * static_cast<std::uint64_t>(other.factor_));
  symbols_.insert(symbols_.end(), other.symbols_.begin(), other.symbols_.end());
  if (factor_ == 0) symbols_.clear();
  std::ranges::sort(symbols_);
  return *this;
}

Extent SymbolicShape::numel() const {
  Extent product = 1;
  for (const Extent& e : *this) product *= e;
  return product;
}

SymbolicShape contiguous_strides(const SymbolicShape& shape) {
  SymbolicShape strides(shape.size());
  Extent step = 1;
  for (std::size_t d = shape.size(); d-- > 0; step *= shape[d]) strides[d] = step;
  return strides;
}

}  // namespace sinter::inline v1::jit
