// Matrix products and networks made of them: operands, operations, and correct results.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// "linear:512x1024x1024": rows of x, elements per row, columns of the result. "mlp:32x512x1024": rows, elements per
/// row, width of the hidden layers. "block:8x128x512": sequences, their length, width; heads are 64 wide.
struct ProductShape {
  std::string kind;
  std::size_t a, b, c;

  std::size_t rows() const { return kind == "block" ? a * b : a; }  // of x and of the result
  std::size_t columns() const { return kind == "mlp" ? b : c; }     // of the result
  std::size_t heads() const { return c < 64 ? 1 : c / 64; }
  /// "512x1024x1024"
  std::string extents() const;
};
/// Throws std::invalid_argument.
ProductShape shape_of(const std::string& text);

/// An operand: a matrix, or a vector if it has one row. Uniform in [-bound, bound], like PyTorch's parameters of
/// Linear; the gains of norms are around 1.
struct Part {
  std::size_t rows, columns;
  float bound, around = 0;
};
/// x first, then weights (out, in) and biases in order of use.
std::vector<Part> parts_of(const ProductShape& of);
const std::vector<float>& values_of(const ProductShape& of, std::size_t part);

struct ProductCase {
  const char* name;
  const char* kind;  // of the shape

  /// Multiplications and additions of all matrix products; elementwise operations do not count.
  double operations(const ProductShape& of) const;
};
const std::vector<ProductCase>& product_cases();

/// Rows 0, step, 2 step ... of the result are checked.
std::size_t step_of_products(const ProductShape& of);
/// What is wrong with these rows; empty if nothing is.
std::string fault_of(const ProductCase& c, bool bfloat16, const ProductShape& of, std::span<const float> result);

}  // namespace bench
