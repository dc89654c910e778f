#include "product_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace sinter::inline v1::jit {
namespace {

std::int64_t inner_left(const Shape& a) { return a[-1]; }
std::int64_t inner_right(const Shape& b) { return b[b.ndim() == 1 ? 0 : -2]; }

std::string extents(const Shape& matrix) { return fmt::format("{}x{}", matrix[-2], matrix[-1]); }

}  // namespace

Shape batch_of(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(std::max(shape.ndim() - 2, 0))));
}

bool multiplies(const Graph& graph) noexcept {
  return std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.op == Op::matmul; });
}

std::optional<Shape> product_shape(const Shape& a, const Shape& b) noexcept {
  if (a.empty() || b.empty() || inner_left(a) != inner_right(b)) return std::nullopt;
  Shape shape = batch_of(a);
  if (!broadcast(shape, batch_of(b))) return std::nullopt;
  if (a.ndim() > 1) shape.push_back(a[-2]);
  if (b.ndim() > 1) shape.push_back(b[-1]);
  return shape;
}

Shape transposed(Shape shape, bool swaps) noexcept {
  if (swaps && shape.ndim() > 1) std::swap(shape[-1], shape[-2]);
  return shape;
}

std::optional<Shape> product_shape(const Shape& a, const Shape& b, Transposed transposes) noexcept {
  return product_shape(transposed(a, transposes.a), transposed(b, transposes.b));
}

std::string product_mismatch(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty())
    return fmt::format("both arguments to matmul need to be at least 1D, but they are {}D and {}D", a.ndim(), b.ndim());
  if (inner_left(a) == inner_right(b))
    return fmt::format("the batches {} and {} of the matrices do not broadcast", to_string(batch_of(a)),
                       to_string(batch_of(b)));
  if (a.ndim() == 1 && b.ndim() == 1)
    return fmt::format(
        "inconsistent tensor size, expected tensor [{0}] and src [{1}] to have the same number of elements, but got "
        "{0} "
        "and {1} elements respectively",
        a[0], b[0]);
  if (b.ndim() == 1) return fmt::format("size mismatch, got input ({}), mat ({}), vec ({})", a[-2], extents(a), b[0]);
  if (a.ndim() == 1) return fmt::format("size mismatch, got input ({}), mat ({}), vec ({})", b[-1], extents(b), a[0]);
  return fmt::format("mat1 and mat2 shapes cannot be multiplied ({} and {})", extents(a), extents(b));
}

std::string product_advice(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) return "Multiply by a number with *";
  if (inner_left(a) == inner_right(b))
    return "The dimensions before the last two broadcast: extents must be equal, or one of them 1 (x.unsqueeze(0) adds "
           "one)";
  if (b.ndim() == 1) return "The last dimension of a and that of b must be equal";
  return fmt::format(
      "The {} dimension of a and the one before the last of b must be equal (x.transpose(-2, -1) swaps two)",
      a.ndim() == 1 ? "only" : "last");
}

}  // namespace sinter::inline v1::jit
