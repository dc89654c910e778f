#include <sinter/nn/linear.hpp>

#include <fmt/format.h>

namespace sinter::inline v1::detail {

std::string linear_text(std::int64_t in_features, std::int64_t out_features, bool bias) {
  return fmt::format("in_features={}, out_features={}, bias={}", in_features, out_features, python_text(bias));
}

}  // namespace sinter::inline v1::detail
