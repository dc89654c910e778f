#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <jit/inspect/dot.hpp>
#include <sinter/jit/inspect.hpp>

#include "trees.hpp"

namespace sinter::testing {
namespace {

using ::testing::MatchesRegex;

TEST(Dot, OneNodeALine) {
  Written p;
  p.leaf(DType::Float32).scalar(Category::Int).op(Op::add).op(Op::exp).leaf(DType::Float32).op(Op::mul);
  Tree tree(p, {array<float>({1, 2, 3}), array<float>({1, 2, 3})}, {std::int64_t{2}});
  const std::string expected = R"dot(digraph sinter {
  rankdir=TB;
  node [fontname="monospace"];
  n0 [shape=box, label="leaf 0\nfloat32 (3,)"];
  n1 [shape=box, label="scalar 0\nfloat32"];
  n2 [shape=ellipse, label="add\nfloat32"];
  n3 [shape=ellipse, label="exp\nfloat32"];
  n4 [shape=box, label="leaf 1\nfloat32 (3,)"];
  n5 [shape=ellipse, label="mul\nfloat32"];
  output0 [shape=doubleoctagon, label="output 0"];
  n0 -> n2 [label="a"];
  n1 -> n2 [label="b"];
  n2 -> n3;
  n3 -> n5 [label="a"];
  n4 -> n5 [label="b"];
  n5 -> output0;
}
)dot";
  EXPECT_EQ(jit::to_dot(tree.bound()), expected);
}

TEST(Dot, ConstantsAreExactInAnyLocale) {
  const auto text = [](DType t, double v) {
    Graph g;
    return jit::constant_text(g[g.constant(t, jit::convert_bits(to_bits(v), DType::Float64, t))]);
  };
  EXPECT_EQ(text(DType::Float64, 0.1), "0.1");
  EXPECT_EQ(text(DType::Float64, 0.1f), "0.10000000149011612");
  EXPECT_EQ(text(DType::Float32, 0.1), "0.1");
  EXPECT_EQ(text(DType::Float32, -0.0), "-0");
  EXPECT_EQ(text(DType::Float32, std::nan("")), "nan");
  EXPECT_EQ(text(DType::Float64, -INFINITY), "-inf");
  EXPECT_EQ(text(DType::Int64, -7), "-7");
  EXPECT_EQ(text(DType::Bool, 1), "true");
}

TEST(Dot, EveryLineIsAStatement) {
  const std::string statement = R"(  (rankdir=TB|node \[fontname="monospace"\]|(n|output)[0-9]+( -> (n|output)[0-9]+)?)"
                                R"(( \[(shape=[a-z]+, )?label="([^"\\]|\\["\\n])*"\])?);)";
  for (unsigned seed = 0; seed < 15; ++seed) {
    std::mt19937_64 random(seed);
    std::istringstream text(jit::to_dot(jit::simplify(random_program(random, 60).record())));
    std::string line, last;
    ASSERT_TRUE(std::getline(text, line));
    EXPECT_EQ(line, "digraph sinter {");
    while (std::getline(text, line)) {
      if (line != "}") {
        EXPECT_THAT(line, MatchesRegex(statement));
      }
      last = line;
    }
    EXPECT_EQ(last, "}");
  }
}

TEST(Dot, GraphvizReadsIt) {
  if (std::system("dot -V > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no Graphviz: scripts/deps pictures installs it";
  const std::string path = ::testing::TempDir() + "sinter_dot_test.gv";
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    std::ofstream(path) << jit::to_dot(jit::simplify(random_program(random, 60).record()));
    EXPECT_EQ(std::system(("dot -Tplain '" + path + "' > /dev/null").c_str()), 0) << "seed " << seed;
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace sinter::testing
