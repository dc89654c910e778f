// Arrays in plain C++, on which the reference of random programs computes.
#pragma once
#include <array>
#include <functional>
#include <vector>

#include <sinter/sinter.hpp>
#include "../../jit/bits.hpp"

namespace sinter::fuzz {

using test::Bits;

/// The bits of an element; a complex one has two parts.
using Cell = std::array<Bits, 2>;

/// Row-major.
struct Plain {
  DType dtype = DType::Float32;
  Shape shape{};
  std::vector<Cell> cells{};

  std::size_t size() const noexcept { return cells.size(); }
};

Plain plain(const AnyTensor& x);
AnyTensor tensor_of(const Plain& x);

using Position = std::vector<std::int64_t>;

/// Calls f(position) for all positions of a shape, in row-major order.
void for_each_position(const Shape& shape, const std::function<void(const Position&)>& f);
/// The row-major number of a position; axes of extent 1 accept any position, and axes missing in the shape are skipped.
std::size_t number_of(const Shape& shape, const Position& position);
/// An array of this shape whose elements are those of x at the positions that `from` gives.
Plain moved(const Plain& x, const Shape& shape, const std::function<Position(const Position&)>& from);

/// Real and imaginary part as numbers.
std::array<long double, 2> numbers(DType dtype, const Cell& cell);
/// A real number as an element, rounded once.
Cell cell_of(DType dtype, long double value);
Plain converted(const Plain& x, DType to);

}  // namespace sinter::fuzz
