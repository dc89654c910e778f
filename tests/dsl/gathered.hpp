// Comparison of tensors on a mesh, after gathering them.
#pragma once
#include <sinter/dsl/sharded.hpp>

#include "devices.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {

template <class A, class B>
::testing::AssertionResult same(const A& got, const B& expected) {
  const sinter::Tensor a = sinter::gather(got), b = sinter::gather(expected);
  if (sinter::equal(a, b)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << printed(a) << "\n instead of \n" << printed(b);
}
template <class A, class B>
::testing::AssertionResult near(const A& got, const B& expected, double rtol = 1e-5, double atol = 1e-6) {
  const sinter::Tensor a = sinter::gather(got), b = sinter::gather(expected);
  if (a.shape() == b.shape() && sinter::allclose(a, b, rtol, atol, true)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << printed(a) << "\n instead of \n" << printed(b);
}

}  // namespace sinter_tests
