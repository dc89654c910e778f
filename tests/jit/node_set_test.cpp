// jit::NodeSet: each node once, until it is emptied.
#include <gtest/gtest.h>

#include <jit/graph/node_set.hpp>

namespace sinter::testing {
namespace {

TEST(NodeSet, HoldsEachNodeOnceUntilItIsCleared) {
  jit::NodeSet set;
  for (int round = 0; round < 3; ++round) {
    for (const jit::NodeId id : {0, 7, 5000}) EXPECT_TRUE(set.add(id)) << round;
    for (const jit::NodeId id : {5000, 0, 7}) EXPECT_FALSE(set.add(id)) << round;
    set.clear();
  }
}

}  // namespace
}  // namespace sinter::testing
