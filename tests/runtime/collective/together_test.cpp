// What is done together by the ranks of one process: nobody is told, and nothing changes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <runtime/collective/together.hpp>
#include <sinter/runtime/error.hpp>

namespace {

namespace sn = sinter;
using sn::runtime::together;

TEST(Together, GivesWhatTheFunctionGives) {
  const sn::Mesh mesh(std::vector<sn::Device>(3));
  EXPECT_EQ(together(mesh, [] { return 5; }), 5);
  EXPECT_EQ(*together(mesh, [] { return std::make_unique<int>(7); }), 7);
  int x = 0;
  int& same = together(mesh, [&]() -> int& { return x; });
  EXPECT_EQ(&same, &x);
  together(mesh, [&] { x = 3; });
  EXPECT_EQ(x, 3);
}

TEST(Together, ThrowsWhatItThrows) {
  const sn::Mesh mesh(std::vector<sn::Device>(3));
  EXPECT_THROW(together(mesh, [] { throw sn::ShapeError("no"); }), sn::ShapeError);
  EXPECT_THROW(together(mesh, [] { throw std::string("of another type"); }), std::string);
  EXPECT_THROW(together(mesh, [&] { together(mesh, [] { throw sn::OutOfMemory("no"); }); }), sn::OutOfMemory);
}

}  // namespace
