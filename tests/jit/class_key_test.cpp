#include <jit/plan/class_key.hpp>

#include <gtest/gtest.h>

#include <jit/plan/nest.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "programs.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using jit::AccessPattern;
using jit::ClassKey;
using runtime::TensorImpl;
using runtime::TensorRef;

/// The kernel of x + y.
jit::Plan sum_plan(DType x, DType y) {
  Written p;
  return jit::schedule(jit::simplify(p.leaf(x).leaf(y).op(Op::add).record()));
}

/// An array of any size that is never read: kernels are classified only by addresses.
TensorRef array(DType t, const Shape& shape, const Shape& strides, std::uintptr_t address = 4096) {
  TensorRef a = runtime::iota_tensor(shape, Device());
  a->dtype = t;
  a->strides = strides;
  a->contiguous = strides == contiguous_strides(shape);
  a->data = reinterpret_cast<std::byte*>(address);
  return a;
}
TensorRef array(DType t, const Shape& shape, std::uintptr_t address = 4096) {
  return array(t, shape, contiguous_strides(shape), address);
}

class Classes {
 public:
  explicit Classes(DType x = DType::Float32, DType y = DType::Float32)
      : plan_(sum_plan(x, y)), traits_(plan_.kernels[0]) {}

  ClassKey operator()(const TensorRef& out, const TensorRef& x, const TensorRef& y, bool aliased = false) const {
    std::vector<TensorImpl*> operands{out.get(), x.get(), y.get()};
    jit::LoopNest nest;
    jit::make_nest(nest, operands, 1);
    return jit::classify(traits_, nest, aliased);
  }
  const jit::KernelTraits& traits() const { return traits_; }
  bool same(const ClassKey& a, const ClassKey& b) const { return a.equals(b, 3); }

 private:
  jit::Plan plan_;
  jit::KernelTraits traits_;
};

TEST(ClassKey, VectorsAreSixteenBytesOfTheWidestOperand) {
  EXPECT_EQ(Classes().traits().vector_width, 4);
  EXPECT_EQ(Classes(DType::Float64, f32).traits().vector_width, 2);
  EXPECT_EQ(Classes(DType::Bool, DType::Bool).traits().vector_width, 16);
  EXPECT_EQ(Classes(DType::Bool, f32).traits().vector_width, 4);
}

TEST(ClassKey,
     LongArithmeticTakesShorterVectors) {  // it compiles for seconds else, and memory is not what it waits for
  const auto width = [](Op op, int times) {
    Written p;
    p.leaf(DType::Float32);
    for (int i = 0; i < times; ++i) {
      if (op == Op::pow) p.leaf(DType::Float32, 0);
      p.op(op);
    }
    const jit::Plan plan = jit::schedule(jit::simplify(p.record()));
    return jit::KernelTraits(plan.kernels[0]).vector_width;
  };
  EXPECT_EQ(width(Op::pow, 2), 4);
  EXPECT_EQ(width(Op::pow, 60), 1);
  EXPECT_EQ(width(Op::sin, 60), 1);
  EXPECT_EQ(width(Op::exp, 10), 4);
}

TEST(ClassKey, ContiguousOperandsShareOneClass) {
  const Classes classes;
  const auto key = [&](const Shape& s) { return classes(array(f32, s), array(f32, s), array(f32, s)); };
  const ClassKey one = key(Shape{5});
  EXPECT_EQ(one.ndim(), 1);
  EXPECT_EQ(one.vector_width(), 4);
  EXPECT_FALSE(one.wide());
  EXPECT_EQ(one.pattern(1), AccessPattern::Contiguous);
  for (const Shape& s : {Shape{1}, Shape{}, Shape{2, 3}, Shape{1024, 1024, 8}, Shape{1, 1}})
    EXPECT_TRUE(classes.same(one, key(s)));
}

TEST(ClassKey, AlignmentDecidesOnVectors) {
  const Classes classes;
  const Shape s{64};
  EXPECT_EQ(classes(array(f32, s), array(f32, s, 4096 + 16), array(f32, s)).vector_width(), 4);
  for (const int misaligned : {0, 1, 2})
    for (const std::uintptr_t by : {4, 8, 12})
      EXPECT_EQ(
          classes(array(f32, s, misaligned == 0 ? 4096 + by : 4096), array(f32, s, misaligned == 1 ? 4096 + by : 4096),
                  array(f32, s, misaligned == 2 ? 4096 + by : 4096))
              .vector_width(),
          1);
  // A bool beside floats is read 4 bytes at a time.
  const Classes mixed(DType::Bool, f32);
  EXPECT_EQ(mixed(array(f32, s), array(DType::Bool, s, 4096 + 4), array(f32, s)).vector_width(), 4);
  EXPECT_EQ(mixed(array(f32, s), array(DType::Bool, s, 4096 + 2), array(f32, s)).vector_width(), 1);
}

TEST(ClassKey, PatternsOfRows) {
  const Classes classes;
  const ClassKey key = classes(array(f32, Shape{6, 8}), array(f32, Shape{8}), array(f32, Shape{6, 1}));
  EXPECT_EQ(key.ndim(), 2);
  EXPECT_EQ(key.vector_width(), 4);
  EXPECT_EQ(key.pattern(0), AccessPattern::Contiguous);
  EXPECT_EQ(key.pattern(1), AccessPattern::InnerContiguous);
  EXPECT_EQ(key.pattern(2), AccessPattern::InnerBroadcast);
  EXPECT_EQ(classes(array(f32, Shape{6, 8}), array(f32, Shape{6, 8}, Shape{1, 6}), array(f32, Shape{})).pattern(1),
            AccessPattern::Strided);
  EXPECT_EQ(classes(array(f32, Shape{6, 8}), array(f32, Shape{6, 8}, Shape{1, 6}), array(f32, Shape{})).pattern(2),
            AccessPattern::Uniform);
}

TEST(ClassKey, RowsAreVectorsWhereEveryRowIsAligned) {
  const Classes classes;
  const auto width_of = [&](std::int64_t columns, std::int64_t step) {
    return classes(array(f32, Shape{6, columns}), array(f32, Shape{6, columns}, Shape{step, 1}),
                   array(f32, Shape{columns}))
        .vector_width();
  };
  EXPECT_EQ(width_of(8, 12), 4);
  EXPECT_EQ(width_of(8, 13), 1);
  EXPECT_EQ(width_of(7, 12), 1);
}

TEST(ClassKey, AnotherSizeOrStrideIsTheSameClass) {
  const Classes classes;
  const auto key = [&](std::int64_t rows, std::int64_t width, std::int64_t step) {
    return classes(array(f32, Shape{rows, width}), array(f32, Shape{rows, width}, Shape{step, 1}),
                   array(f32, Shape{width}));
  };
  EXPECT_TRUE(classes.same(key(6, 8, 12), key(100, 4096, 8192)));
  const auto strided = [&](std::int64_t step) {
    return classes(array(f32, Shape{9}), array(f32, Shape{9}, Shape{step}), array(f32, Shape{9}));
  };
  EXPECT_TRUE(classes.same(strided(2), strided(-3)));
}

TEST(ClassKey, LargeOffsetsAreWide) {
  const Classes classes;
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  const auto line = [&](std::int64_t n) {
    return classes(array(f32, Shape{n}), array(f32, Shape{n}), array(f32, Shape{n})).wide();
  };
  EXPECT_FALSE(line(limit - 1));
  EXPECT_TRUE(line(limit));
  const auto strided = [&](std::int64_t n, std::int64_t step) {
    return classes(array(f32, Shape{n}), array(f32, Shape{n}, Shape{step}), array(f32, Shape{n})).wide();
  };
  EXPECT_FALSE(strided(3, (limit - 1) / 2));
  EXPECT_TRUE(strided(3, limit / 2));
  EXPECT_TRUE(strided(3, -limit / 2));
  EXPECT_TRUE(strided(2, std::int64_t{1} << 40));
  EXPECT_TRUE(
      classes(array(f32, Shape{3}), array(f32, Shape{3}, Shape{limit / 2}), array(f32, Shape{3}, Shape{2})).wide())
      << "the last operand is narrow";
  const auto rows = [&](std::int64_t step) {
    return classes(array(f32, Shape{4, 8}), array(f32, Shape{4, 8}, Shape{step, 1}), array(f32, Shape{8})).wide();
  };
  EXPECT_FALSE(rows(limit / 4));
  EXPECT_TRUE(rows(limit / 3));
  EXPECT_TRUE(rows(-limit));
}

TEST(ClassKey, LargeOffsetsInRowsAreWide) {
  RowKernel k("sum_of_rows");
  k.output(k.apply(Op::sum, {k.leaf(f32)}), AxisMapping::Rows);
  const jit::Kernel& kernel = k.done();
  const jit::KernelTraits traits(kernel);
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  const auto wide = [&](std::int64_t columns, const Shape& strides) {
    const TensorRef out = array(f32, Shape{3}), x = array(f32, Shape{3, columns}, strides);
    jit::LoopNest nest;
    jit::make_row_nest(nest, std::vector<TensorImpl*>{out.get(), x.get()}, kernel, x->shape);
    return jit::classify(traits, nest, false).wide();
  };
  EXPECT_FALSE(wide(limit - 1, {limit, 0}));
  EXPECT_TRUE(wide(limit, {1, 0})) << "positions along the row";
  EXPECT_FALSE(wide(limit - 1, {limit, 1}));
  EXPECT_TRUE(wide(limit, {limit, 1}));
  EXPECT_FALSE(wide(2, {1, limit - 1}));
  EXPECT_TRUE(wide(2, {1, limit}));
  EXPECT_TRUE(wide(2, {1, -limit}));
  EXPECT_FALSE(wide(3, {1, (limit - 1) / 2}));
  EXPECT_TRUE(wide(3, {1, limit / 2}));
}

TEST(ClassKey, AliasingIsPartOfIt) {
  const Classes classes;
  const TensorRef a = array(f32, Shape{9});
  EXPECT_FALSE(classes.same(classes(a, a, a, true), classes(a, a, a, false)));
}

TEST(ClassKey, DecodesToWhatItHolds) {
  const Classes classes;
  const jit::KernelClass c =
      classes(array(f32, Shape{6, 8}), array(f32, Shape{8}), array(f32, Shape{6, 1}), true).decode(3);
  EXPECT_EQ(c.ndim, 2);
  EXPECT_EQ(c.vector_width, 4);
  EXPECT_TRUE(c.aliased);
  EXPECT_EQ(c.patterns,
            (std::vector{AccessPattern::Contiguous, AccessPattern::InnerContiguous, AccessPattern::InnerBroadcast}));
  const jit::KernelClass generic = jit::generic_class(classes.traits());
  EXPECT_EQ(generic.ndim, max_ndim);
  EXPECT_TRUE(generic.wide && generic.aliased);
}

TEST(ClassKey, KeysOfManyOperandsAreComparedToTheLast) {
  ClassKey a, b;
  for (ClassKey* key : {&a, &b}) {
    key->set_head(1, 4, false, false);
    for (std::size_t k = 0; k < ClassKey::max_operands; ++k) key->set_pattern(k, AccessPattern::Contiguous);
  }
  EXPECT_TRUE(a.equals(b, ClassKey::max_operands));
  for (const std::size_t changed : {std::size_t{0}, std::size_t{15}, std::size_t{16}, std::size_t{127}}) {
    ClassKey c = a;
    ClassKey rebuilt;
    rebuilt.set_head(1, 4, false, false);
    for (std::size_t k = 0; k < ClassKey::max_operands; ++k)
      rebuilt.set_pattern(k, k == changed ? AccessPattern::Uniform : c.pattern(k));
    EXPECT_FALSE(a.equals(rebuilt, ClassKey::max_operands)) << changed;
  }
}

TEST(ClassKey, ManyOperandsTakeShorterVectors) {
  Written p;
  for (int i = 0; i < 100; ++i) {
    p.leaf(f32);
    if (i) p.op(Op::add);
  }
  const jit::Plan plan = jit::schedule(jit::simplify(p.record()));
  EXPECT_LT(jit::KernelTraits(plan.kernels[0]).vector_width, 4);
}

}  // namespace
}  // namespace sinter::testing
