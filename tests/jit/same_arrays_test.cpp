#include <jit/graph/same_arrays.hpp>

#include <gtest/gtest.h>

#include <random>

namespace sinter::testing {
namespace {

TEST(SameArrays, FindsTheFirstAtAnyCount) {
  std::mt19937_64 random(5);
  for (const std::size_t count : {0, 1, 2, 10, 16, 17, 40, 300, 512, 513, 2000}) {
    std::vector<runtime::TensorImpl> arrays(count / 2 + 1);
    std::vector<runtime::TensorImpl*> leaves;
    for (std::size_t i = 0; i < count; ++i) leaves.push_back(&arrays[random() % arrays.size()]);
    std::vector<std::uint16_t> same(count);
    jit::same_arrays(leaves, same.data());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(same[i], std::ranges::find(leaves, leaves[i]) - leaves.begin()) << i << " of " << count;
  }
}

}  // namespace
}  // namespace sinter::testing
