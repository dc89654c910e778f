#include <sinter/dsl/matmul.hpp>

#include <fmt/format.h>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {

void check_ranks(std::string_view operation, const Facts& a, int rank_of_a, const Facts& b, int rank_of_b) {
  if (a.shape.rank() == rank_of_a && b.shape.rank() == rank_of_b) return;
  throw ShapeError(fmt::format(
      "{}: {}D and {}D tensors expected, but got {}D and {}D\n    a: {}\n    b: {}\n  matmul(a, b) takes operands "
      "of any number of dimensions; flatten and unsqueeze change it",
      operation, rank_of_a, rank_of_b, a.shape.rank(), b.shape.rank(), describe(a), describe(b)));
}

}  // namespace sinter::inline v1::detail
