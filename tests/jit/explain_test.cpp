#include <sinter/jit/inspect.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sinter/jit/evaluate.hpp>

#include "trees.hpp"

namespace sinter::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TensorRef zeros(const Shape& shape, DType t = f32) { return runtime::empty(shape, t, Device()); }

std::string explained(Tree tree) { return jit::explain(tree.bound()); }

/// The text with the digits of kernel hashes blanked out.
std::string without_hashes(std::string text) {
  for (std::size_t p = text.find("  sinter_"); p != std::string::npos; p = text.find("  sinter_", p + 1)) {
    const std::size_t end = text.find(' ', p + 2);
    text.replace(end - 4, 4, "####");
  }
  return text;
}

TEST(Explain, TheExample) {
  Written p;
  p.leaf(f32).scalar(Category::Int).op(Op::add).op(Op::exp).leaf(f32).op(Op::mul);
  EXPECT_EQ(without_hashes(explained({p, {zeros({3}), zeros({3})}, {std::int64_t{2}}})),
            "float32 (3,) on cpu\n"
            "3 operations in 1 kernel\n"
            "  sinter_add_exp_mul_f32_#### over (3,)\n"
            "    computes   add, exp, mul\n"
            "    reads      leaf 0: float32 (3,), contiguous\n"
            "               leaf 1: float32 (3,), contiguous\n"
            "               1 number, passed at each launch\n"
            "    writes     output 0: float32 (3,)\n"
            "    costs      24 B read, 12 B written, 30 operations: 0.833 per byte\n"
            "memory: 36 B read and written in 1 kernel\n"
            "        one kernel per operation would move 84 B in 3 kernels, 2.3 times as much\n"
            "temporaries: none\n");
}

TEST(Explain, LayoutsAndWhatWasSimplified) {
  Written p;  // x * y + z, and x * y again under a cosine
  p.leaf(f32).leaf(f32).op(Op::mul).leaf(f32).op(Op::add);
  p.leaf(f32, 0).leaf(f32, 1).op(Op::add).op(Op::cos).op(Op::sub);
  p.leaf(f32, 0).leaf(f32, 1).op(Op::add).op(Op::mul);
  const TensorRef x = zeros({1000, 1000}), row = zeros({1000});
  const TensorRef transposed = runtime::view(*x, Shape{1000, 1000}, Shape{1, 1000});
  const std::string text = explained({p, {x, row, transposed, x, row, x, row}});
  EXPECT_THAT(text, HasSubstr("leaf 0: float32 (1000, 1000), contiguous, 3 times in the expression"));
  EXPECT_THAT(text, HasSubstr("leaf 1: float32 (1000,), broadcast"));
  EXPECT_THAT(text, HasSubstr("leaf 2: float32 (1000, 1000), strides (1, 1000)"));
  EXPECT_THAT(text, HasSubstr("1 common subexpression, computed once"));
  EXPECT_THAT(text, HasSubstr("1 product contracted to fma: x * y + z, rounded once"));
  EXPECT_THAT(text, HasSubstr("memory: 12 MB read and written in 1 kernel"));
}

TEST(Explain, KernelsThatWereCut) {
  Written p;
  p.leaf(f32);
  for (int i = 0; i < 600; ++i) p.leaf(f32).op(i % 2 ? Op::maximum : Op::add);
  std::vector<TensorRef> arrays;
  for (int i = 0; i <= 600; ++i) arrays.push_back(zeros({100}));
  const std::string text = explained({p, arrays});
  EXPECT_THAT(text, HasSubstr("600 operations in"));
  EXPECT_THAT(text, ContainsRegex("               [0-9]+ more arrays\n"));
  EXPECT_THAT(text, HasSubstr("writes     temporary 0: float32 (100,)"));
  EXPECT_THAT(text, HasSubstr("reads      temporary 0: float32"));
  EXPECT_THAT(text, ContainsRegex("temporaries: [0-9]+ \\(.*KB\\), values that one kernel stores for a later one"));
  EXPECT_THAT(text, ContainsRegex("not fused: kernels 1 and 2, 2 and 3.*\n"
                                  "        one kernel would have more than 128 arrays: cut where the fewest"));
}

TEST(Explain, OutputsOfDifferentShapes) {
  Written p;
  p.leaf(f32).op(Op::exp).leaf(f32).op(Op::log);
  p.outputs = 2;
  const std::string text = explained({p, {zeros({3}), zeros({2, 2})}});
  EXPECT_THAT(text, HasSubstr("float32 (3,) on cpu\nfloat32 (2, 2) on cpu\n2 operations in 2 kernels"));
  EXPECT_THAT(text, HasSubstr("writes     output 1: float32 (2, 2)"));
  EXPECT_THAT(text, HasSubstr("not fused: kernels 1 and 2\n        they run over different shapes, (3,) and (2, 2)\n"));
}

TEST(Explain, CopiesAndEmptyArrays) {
  Written p;
  p.leaf(f32);
  EXPECT_THAT(explained({p, {zeros({3})}}), HasSubstr("computes   a copy"));
  EXPECT_THAT(explained({p, {zeros({0, 4})}}), HasSubstr("memory: 0 B read and written"));
  Written index;
  index.leaf(DType::Int64).scalar(Category::Int).op(Op::mul);
  EXPECT_THAT(explained({index, {runtime::iota_tensor(Shape{5}, Device())}, {std::int64_t{2}}}),
              HasSubstr("iota tensor without memory"));
}

TEST(Explain, LongExpressionsStayReadable) {
  Written p;
  p.leaf(f32);
  constexpr Op ops[] = {Op::exp, Op::log, Op::sin};
  for (int i = 0; i < 60; ++i) p.op(ops[i % 3]);
  for (int i = 0; i < 10; ++i) p.leaf(f32).op(Op::add);
  std::vector<TensorRef> arrays;
  for (int i = 0; i < 11; ++i) arrays.push_back(zeros({8}));
  const std::string text = explained({p, arrays});
  EXPECT_THAT(text, HasSubstr(" more\n"));
  std::size_t longest = 0, line = 0;
  for (char c : text) {
    line = c == '\n' ? 0 : line + 1;
    longest = std::max(longest, line);
  }
  EXPECT_LE(longest, 130u) << text;
}

// What promotion inserts is no operation of the user's.
TEST(Explain, ConversionsAreNotCounted) {
  Written p;
  p.leaf(DType::Int32).leaf(f32).op(Op::add).leaf(DType::Float64).op(Op::mul);
  const std::string text = explained({p, {zeros({3}, DType::Int32), zeros({3}), zeros({3}, DType::Float64)}});
  EXPECT_THAT(text, HasSubstr("\n2 operations in 1 kernel\n"));
  EXPECT_THAT(text, HasSubstr("computes   cast to float32, add, cast to float64, mul\n"));
  EXPECT_THAT(text, Not(HasSubstr("simplified")));
  Written same;  // the same leaf is converted twice
  same.leaf(DType::Int32).leaf(f32).op(Op::add).leaf(DType::Int32, 0).leaf(f32).op(Op::sub).op(Op::mul);
  const TensorRef whole = zeros({3}, DType::Int32);
  EXPECT_THAT(explained({same, {whole, zeros({3}), whole, zeros({3})}}), Not(HasSubstr("common subexpression")));
  Written stored;  // half is computed in float
  stored.leaf(DType::Float16).op(Op::exp);
  EXPECT_THAT(explained({stored, {zeros({3}, DType::Float16)}}),
              AllOf(HasSubstr("\n1 operation in 1 kernel\n"), Not(HasSubstr("simplified"))));
}

TEST(Explain, ComplexOperationsAndTheirParts) {
  constexpr auto c64 = DType::Complex64;
  Written p;
  p.leaf(c64).leaf(c64).op(Op::mul);
  EXPECT_THAT(explained({p, {zeros({3}, c64), zeros({3}, c64)}}),
              AllOf(HasSubstr("\n1 operation in 1 kernel\n"),
                    HasSubstr("complex: 1 operation on real and imaginary parts, 6 in total\n"),
                    HasSubstr("simplified: 6 operations in total, 5 left\n"), HasSubstr("2 products contracted to fma"),
                    Not(HasSubstr("as written"))));
  Written parts;
  parts.leaf(c64).op(Op::real);
  EXPECT_THAT(explained({parts, {zeros({3}, c64)}}), HasSubstr("\n1 operation in 1 kernel\n"));
}

TEST(Explain, CompositeOperations) {
  Written p;
  p.leaf(f32).op(Op::mish).leaf(f32, 0).op(Op::mish).op(Op::add);
  const TensorRef x = zeros({3});
  const std::string text = explained({p, {x, x}});
  EXPECT_THAT(text, HasSubstr("\n2 operations in 1 kernel\n"));
  EXPECT_THAT(text, ContainsRegex("composite: 2 operations composed of others, [0-9]+ in total\n"));
  EXPECT_THAT(text, HasSubstr("1 common subexpression, computed once"));
}

TEST(Explain, BadOperandsThrowAsTheyWouldWhenEvaluated) {
  Written p;
  p.leaf(f32).leaf(f32).op(Op::add);
  EXPECT_THROW(explained({p, {zeros({2}), zeros({3})}}), ShapeError);
}

}  // namespace
}  // namespace sinter::testing
