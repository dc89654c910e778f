// The shapes of matrix products, and what is said where there is none.
#include <jit/infer/product_shape.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sinter::testing {
namespace {

using jit::product_advice;
using jit::product_mismatch;
using jit::product_shape;
using ::testing::HasSubstr;

TEST(ProductShape, FollowsTorchMatmul) {
  struct Case {
    Shape a, b, result;
  };
  for (const auto& [a, b, result] : std::vector<Case>{{{3}, {3}, {}},
                                                      {{2, 3}, {3}, {2}},
                                                      {{3}, {3, 4}, {4}},
                                                      {{2, 3}, {3, 4}, {2, 4}},
                                                      {{5, 2, 3}, {3, 4}, {5, 2, 4}},
                                                      {{5, 1, 2, 3}, {6, 3, 4}, {5, 6, 2, 4}},
                                                      {{3}, {5, 3, 4}, {5, 4}},
                                                      {{5, 2, 3}, {3}, {5, 2}}})
    EXPECT_EQ(product_shape(a, b), result) << to_string(a) << " @ " << to_string(b);
}

struct Mismatch {
  Shape a, b;
  const char *message, *advice;
};

TEST(ProductShape, SaysWhatDoesNotMatch) {
  for (const Mismatch& m : std::vector<Mismatch>{
           {{}, {3}, "need to be at least 1D, but they are 0D and 1D", "Multiply by a number with *"},
           {{2, 3}, {}, "need to be at least 1D, but they are 2D and 0D", "Multiply by a number with *"},
           {{2, 4, 3},
            {5, 3, 4},
            "the batches (2,) and (5,) of the matrices do not broadcast",
            "(x.unsqueeze(0) adds one)"},
           {{3},
            {4},
            "expected tensor [3] and src [4] to have the same number of elements",
            "last dimension of a and that of b"},
           {{2, 3}, {4}, "size mismatch, got input (2), mat (2x3), vec (4)", "last dimension of a and that of b"},
           {{7, 2, 3}, {4}, "size mismatch, got input (2), mat (2x3), vec (4)", "last dimension of a and that of b"},
           {{3}, {4, 5}, "size mismatch, got input (5), mat (4x5), vec (3)", "The only dimension of a"},
           {{2, 3}, {4, 5}, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "The last dimension of a"},
           {{7, 2, 3}, {4, 5}, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "The last dimension of a"}}) {
    SCOPED_TRACE(to_string(m.a) + " @ " + to_string(m.b));
    EXPECT_EQ(product_shape(m.a, m.b), std::nullopt);
    EXPECT_THAT(product_mismatch(m.a, m.b), HasSubstr(m.message));
    EXPECT_THAT(product_advice(m.a, m.b), HasSubstr(m.advice));
  }
}

}  // namespace
}  // namespace sinter::testing
