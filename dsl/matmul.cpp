#include <sinter/dsl/matmul.hpp>

#include <fmt/format.h>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {

void check_ndims(std::string_view operation, const OperandInfo& a, int ndim_of_a, const OperandInfo& b, int ndim_of_b) {
  if (a.shape.ndim() == ndim_of_a && b.shape.ndim() == ndim_of_b) return;
  throw ShapeError(fmt::format(
      "{}: {}D and {}D tensors expected, but got {}D and {}D\n    a: {}\n    b: {}\n  matmul(a, b) takes operands "
      "of any number of dimensions; flatten and unsqueeze change it",
      operation, ndim_of_a, ndim_of_b, a.shape.ndim(), b.shape.ndim(), describe(a), describe(b)));
}

}  // namespace sinter::inline v1::detail
