#include <sinter/jit/graph.hpp>

#include <gtest/gtest.h>

#include <jit/evaluate/evaluator.hpp>

#include "interpreter.hpp"

namespace sinter::testing {
namespace {

using jit::hash;

Operand apply(Graph& g, Op op, std::initializer_list<Operand> o) { return g.apply(op, {o.begin(), o.size()}); }

std::string error_of(auto f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Graph, InsertsCasts) {
  Graph g;
  const Operand x = g.leaf(DType::Int32, 0), y = g.leaf(DType::Float64, 1);
  g.output(apply(g, Op::add, {x, y}));
  EXPECT_EQ(to_text(g),
            "%0 = leaf 0 int32\n%1 = leaf 1 float64\n%2 = cast(%0) float64\n%3 = add(%2, %1) float64\noutput %3\n");
}

TEST(Graph, ScalarsTakeTheDtypeTheyAreUsedAs) {
  Graph g;
  const Operand x = g.leaf(DType::Float64, 0), s = g.scalar(DType::Int64, Category::Int, 3);
  g.output(apply(g, Op::mul, {x, s}));
  const Node& used = g[g.operands(g[g.outputs()[0]])[1]];
  EXPECT_EQ(used.op, Op::scalar);
  EXPECT_EQ(used.dtype, DType::Float64);
  EXPECT_EQ(jit::scalar_use(used).number, 3u);
  EXPECT_EQ(jit::scalar_use(used).arrives_as, Category::Int);
}

// A part that was float32 in between would be rounded.
TEST(Graph, ComplexNumbersTakeTheDtypeTheyAreUsedAs) {
  Graph g;
  const Operand parts[] = {g.scalar(f32, Category::Float, 0), g.scalar(f32, Category::Float, 1)};
  const Operand z = g.leaf(c128, 0), number = g.node(Op::complex, c64, parts, jit::weak_result);
  g.output(apply(g, Op::mul, {z, number}));
  const Node& used = g[g.operands(g[g.outputs()[0]])[1]];
  EXPECT_EQ(used.op, Op::complex);
  EXPECT_EQ(used.dtype, c128);
  for (const Operand part : g.operands(used)) {
    EXPECT_EQ(g[part].op, Op::scalar);
    EXPECT_EQ(g[part].dtype, f64);
  }
  // What is computed from tensors is converted as a whole.
  const Operand computed = apply(g, Op::complex, {g.leaf(f32, 1), g.leaf(f32, 2)});
  EXPECT_EQ(g[g.cast(computed, c128)].op, Op::cast);
}

TEST(Graph, WeaknessSurvivesOperations) {
  Graph g;
  const Operand s = g.scalar(DType::Float32, Category::Float, 0), two = g.constant(DType::Int64, 2);
  const Operand product = apply(g, Op::mul, {s, two});
  EXPECT_EQ(g[product].dtype, DType::Float32);
  // A weak float leaves float64 and lifts int32 to float32.
  EXPECT_EQ(g[apply(g, Op::add, {g.leaf(DType::Float64, 0), product})].dtype, DType::Float64);
  EXPECT_EQ(g[apply(g, Op::add, {g.leaf(DType::Int32, 1), product})].dtype, DType::Float32);
  // One that was cast counts in full, even to its own dtype.
  EXPECT_EQ(g[apply(g, Op::add, {g.leaf(DType::Float32, 2), g.explicit_cast(s, DType::Float64)})].dtype,
            DType::Float64);
  const Operand strong = g.explicit_cast(g.scalar(DType::Int64, Category::Int, 1), DType::Int64);
  EXPECT_EQ(g[apply(g, Op::add, {g.leaf(DType::Int32, 3), strong})].dtype, DType::Int64);
}

TEST(Graph, ConditionOfWhereStaysBool) {
  Graph g;
  const Operand r =
      apply(g, Op::where, {g.leaf(DType::Bool, 0), g.leaf(DType::Float32, 1), g.constant(DType::Int64, 0)});
  EXPECT_EQ(g[r].dtype, DType::Float32);
  EXPECT_EQ(g[g.operands(g[r])[0]].dtype, DType::Bool);
  EXPECT_EQ(g[g.operands(g[r])[2]].dtype, DType::Float32);
}

TEST(Graph, ErrorsNameOperationOperandsAndFix) {
  Graph g;
  const Operand b = g.leaf(DType::Bool, 0), f = g.leaf(DType::Float32, 1), s = g.scalar(DType::Int64, Category::Int, 0);
  EXPECT_EQ(error_of([&] { apply(g, Op::sub, {b, b}); }),
            "sub(bool, bool): sub takes integers and floats, not bool: convert with cast<float>(x) or cast<int>(x)");
  EXPECT_EQ(error_of([&] { apply(g, Op::bitwise_and, {f, s}); }),
            "bitwise_and(float32, a C++ integer number): bitwise_and takes bool and integers, not floats: convert with "
            "cast<int>(x)");
  EXPECT_EQ(error_of([&] { apply(g, Op::gelu, {b}); }),
            "gelu(bool): gelu takes floats: convert an operand with cast<float>(x)");
  EXPECT_EQ(error_of([&] { apply(g, Op::where, {f, f, f}); }),
            "where(float32, float32, float32): where takes a bool as first operand: write x != 0");
  EXPECT_EQ(
      error_of([&] { apply(g, Op::random_uniform, {f, s, s}); }),
      "random_uniform(float32, a C++ integer number, a C++ integer number): random_uniform takes int64: convert with "
      "cast<std::int64_t>(x)");
  EXPECT_EQ(error_of([&] { apply(g, Op::add, {f}); }), "add takes 2 operands, not 1");
  EXPECT_THROW(apply(g, Op::leaf, {}), Error);
}

TEST(Graph, ConvertsConstants) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto from = static_cast<DType>(random() % real_dtype_count),
               to = static_cast<DType>(random() % real_dtype_count);
    std::uint64_t bits = special_bits(from, random);
    if (random() % 2 && from != DType::Bool) bits = random() & (size_of(from) == 8 ? ~0ull : 0xFFFFFFFFull);
    EXPECT_TRUE(same_value(to, jit::convert_bits(bits, from, to), converted_bits(bits, from, to)))
        << name(from) << " to " << name(to) << ": " << bits;
  }
  const auto to_int = [](double v) {
    return static_cast<std::int32_t>(jit::convert_bits(to_bits(v), DType::Float64, DType::Int32));
  };
  EXPECT_EQ(to_int(2147483647.5), 2147483647);
  EXPECT_EQ(to_int(-2147483648.5), -2147483648);
  EXPECT_EQ(to_int(-2147483647.5), -2147483647);
  EXPECT_EQ(to_int(std::nan("")), 0);
}

TEST(Graph, HashSeesEverything) {
  const auto make = [](int change) {
    Graph g;
    const Operand x = g.leaf(change == 1 ? DType::Float64 : DType::Float32, change == 2 ? 1 : 0);
    const Operand y = g.leaf(g[x].dtype, 2), s = g.scalar(g[x].dtype, change == 3 ? Category::Int : Category::Float, 0);
    const Operand o[] = {change == 4 ? y : x, change == 4 ? x : y}, p[] = {s, x};
    const Operand a = g.node(change == 5 ? Op::mul : Op::add, g[x].dtype, o), b = g.node(Op::mul, g[x].dtype, p);
    g.output(change == 6 ? b : a);
    if (change != 7) g.output(b);
    if (change == 8) g.constant(DType::Float32, 0);
    return g;
  };
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      EXPECT_EQ(hash(make(i)) == hash(make(j)), i == j) << i << ' ' << j;
      EXPECT_EQ(make(i) == make(j), i == j) << i << ' ' << j;
    }
  EXPECT_NE(hash(Graph()).low, 0u);
}

TEST(Graph, PartOfKeepsWhatAnOutputNeeds) {
  Graph g;
  const Operand x = g.leaf(DType::Float32, 0), y = g.leaf(DType::Float32, 1);
  g.output(apply(g, Op::exp, {x}));
  g.output(apply(g, Op::add, {x, y}));
  g.output(apply(g, Op::log, {y}));
  const std::uint32_t last[] = {2, 0};
  EXPECT_EQ(
      to_text(jit::part_of(g, last)),
      "%0 = leaf 0 float32\n%1 = leaf 1 float32\n%2 = exp(%0) float32\n%3 = log(%1) float32\noutput %3\noutput %2\n");
  EXPECT_EQ(jit::leaves_of(g, g.outputs()[0]).elementwise, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(jit::leaves_of(g, g.outputs()[1]).elementwise, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(jit::leaves_of(g, g.outputs()[2]).elementwise, (std::vector<std::uint32_t>{1}));
}

TEST(Graph, ArraysGiveNoShape) {
  Graph g;
  const Operand array = g.array(DType::Float16, 2), offset = g.iota(1), x = g.leaf(DType::Float16, 2);
  const Operand element = g.load(array, offset);
  EXPECT_EQ(g[element].dtype, DType::Float16);
  g.output(apply(g, Op::add, {element, x}));
  g.output(element);
  EXPECT_EQ(jit::leaves_of(g, g.outputs()[0]).elementwise, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(jit::leaves_of(g, g.outputs()[1]).elementwise, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(jit::leaves_of(g, g.outputs()[1]).arrays, (std::vector<std::uint32_t>{2}));
  EXPECT_THROW(g.load(x, offset), Error);
  EXPECT_THROW(g.load(array, x), Error);
}

}  // namespace
}  // namespace sinter::testing
