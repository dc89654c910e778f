// jit::PointerMap: values by address.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include <jit/graph/pointer_map.hpp>

namespace sinter::testing {
namespace {

TEST(PointerMap, HoldsWhatAStandardMapDoes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<char> memory(3000);
  jit::PointerMap<int> map;
  std::map<const void*, int> expected;
  for (int i = 0; i < 10'000; ++i) {
    const void* const address = &memory[random() % memory.size()];
    const auto [value, is_new] = map.try_emplace(address);
    EXPECT_EQ(is_new, !expected.contains(address));
    if (is_new) *value = expected[address] = i;
    EXPECT_EQ(*value, expected[address]);
  }
  for (const char& c : memory) {
    const int* const found = map.find(&c);
    ASSERT_EQ(found != nullptr, expected.contains(&c));
    if (found) {
      EXPECT_EQ(*found, expected[&c]);
    }
  }
}

TEST(PointerMap, IsEmptyAtFirst) {
  const int x = 0;
  jit::PointerMap<int> map;
  EXPECT_EQ(map.find(&x), nullptr);
  EXPECT_EQ(*map.try_emplace(&x).first, 0);
}

}  // namespace
}  // namespace sinter::testing
