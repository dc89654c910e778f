// The trace record of a matrix product.
#pragma once
#include <sinter/runtime/matrix_product.hpp>
#include "record.hpp"

namespace sinter::inline v1::runtime {

inline TraceRecord record_of(const MatrixProduct& p) noexcept {
  return {
      TraceCategory::Product,
      "product",
      {{"rows", p.rows}, {"columns", p.columns}, {"inner", p.inner}, {"batch", p.batch}, {"dtype", 0, name(p.dtype)}}};
}

}  // namespace sinter::inline v1::runtime
