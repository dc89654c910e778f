// Extents and strides with symbols: products, equality, row-major strides.
#include <jit/infer/extent.hpp>

#include <gtest/gtest.h>

namespace sinter::testing {
namespace {

using jit::Extent;
using jit::SymbolicShape;

const Extent n = Extent::symbol(0), m = Extent::symbol(1);

TEST(Extent, IsAProductOfANumberAndSymbolsInAnyOrder) {
  EXPECT_EQ(n * m * Extent(6), Extent(2) * m * (n * Extent(3)));
  EXPECT_NE(n * n, n * m);
  EXPECT_NE(n * Extent(2), n * Extent(3));
  EXPECT_EQ((n * Extent(0) * Extent(5)).factor(), 0);
  EXPECT_TRUE((Extent(2) * Extent(3)).is_number());
  EXPECT_FALSE(n.is_number());
}

TEST(Extent, OnlyNumbersAreKnownToBeFartherThanOthers) {
  EXPECT_TRUE(jit::is_farther(Extent(-3), Extent(2)));
  EXPECT_FALSE(jit::is_farther(Extent(2), Extent(-3)));
  EXPECT_FALSE(jit::is_farther(n, Extent(1)));
  EXPECT_FALSE(jit::is_farther(Extent(1), n));
}

TEST(Extent, StridesAreTheProductsOfTheExtentsBehind) {
  const SymbolicShape shape{n, 4, m}, strides = jit::contiguous_strides(shape);
  EXPECT_EQ(strides, (SymbolicShape{Extent(4) * m, m, 1}));
  EXPECT_EQ(shape.numel(), n * Extent(4) * m);
  EXPECT_TRUE(jit::contiguous_strides(SymbolicShape()).empty());
  EXPECT_EQ(SymbolicShape().numel(), Extent(1));
}

}  // namespace
}  // namespace sinter::testing
