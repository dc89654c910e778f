// Results written to arrays that exist: overlaps of every kind, at sizes below and above what one tile or block holds.
#include <gtest/gtest.h>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include "device_arrays.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

constexpr std::int64_t sizes[] = {1, 2, 5, 31, 33, 257, 1025, 8193, 100'003};

class InPlace : public ::testing::TestWithParam<Device> {
 protected:
  TensorRef filled(const Shape& shape) {
    std::vector<std::uint64_t> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(to_bits(static_cast<float>(i % 1000)));
    return device_array(f32, shape, GetParam(), values);
  }
  std::vector<float> floats(const TensorImpl& t) {
    std::vector<float> v;
    for (const std::uint64_t bits : values_of(t)) v.push_back(test::as<float>(bits));
    return v;
  }
  /// out = a + b.
  void sum(TensorRef out, TensorRef a, TensorRef b, jit::Mode mode = jit::Mode::Fused) {
    Tree tree(Written().leaf(f32).leaf(f32).op(Op::add), {std::move(a), std::move(b)});
    TensorImpl* const before = out.get();
    jit::evaluate(tree.bound(), &out, mode);
    EXPECT_EQ(out.get(), before);
  }
};

std::vector<float> plus(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

TEST_P(InPlace, ElementForElement) {
  for (const std::int64_t n : sizes) {
    const TensorRef x = filled({n}), y = filled({n});
    const auto expected = plus(floats(*x), floats(*y));
    sum(x, x, y);
    EXPECT_EQ(floats(*x), expected) << n;
    const auto twice = plus(expected, expected);
    sum(x, x, x);
    EXPECT_EQ(floats(*x), twice) << n;
  }
}

TEST_P(InPlace, ShiftedByOne) {  // x[1:] = x[:-1] + y, where each result is the next one's operand
  for (const std::int64_t n : sizes) {
    if (n < 2) continue;
    const TensorRef x = filled({n}), y = filled({n - 1});
    const TensorRef head = runtime::view(*x, {n - 1}, {1}), tail = runtime::view(*x, {n - 1}, {1}, 1);
    const auto up = plus(floats(*head), floats(*y));
    sum(tail, head, y);
    EXPECT_EQ(floats(*tail), up) << n;
    const auto down = plus(floats(*tail), floats(*y));
    sum(head, tail, y);
    EXPECT_EQ(floats(*head), down) << n;
  }
}

TEST_P(InPlace, Flipped) {  // x = flip(x) + y
  for (const std::int64_t n : sizes) {
    const TensorRef x = filled({n}), y = filled({n}), flipped = runtime::view(*x, {n}, {-1}, n - 1);
    const auto expected = plus(floats(*flipped), floats(*y));
    sum(x, flipped, y);
    EXPECT_EQ(floats(*x), expected) << n;
  }
}

TEST_P(InPlace, Transposed) {
  for (const std::int64_t n : {1, 2, 7, 33, 301}) {
    const TensorRef x = filled({n, n}), y = filled({n, n}), transposed = runtime::view(*x, {n, n}, {1, n});
    const auto expected = plus(floats(*transposed), floats(*y));
    sum(x, transposed, y);
    EXPECT_EQ(floats(*x), expected) << n;
  }
}

TEST_P(InPlace, ABroadcastRowOfItself) {  // x += x[0]
  for (const std::int64_t n : {1, 3, 64, 1025}) {
    const TensorRef x = filled({9, n}), row = runtime::view(*x, {n}, {1});
    const auto a = floats(*x), b = floats(*row);
    sum(x, x, row);
    const auto got = floats(*x);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], a[i] + b[i % static_cast<std::size_t>(n)]) << n;
  }
}

TEST_P(InPlace, TheSecondCallMayOverlapWhereTheFirstDidNot) {
  for (const std::int64_t n : sizes) {
    if (n < 2) continue;
    const TensorRef x = filled({n}), y = filled({n - 1}), out = filled({n - 1});
    const TensorRef head = runtime::view(*x, {n - 1}, {1}), tail = runtime::view(*x, {n - 1}, {1}, 1);
    const auto expected = plus(floats(*head), floats(*y));
    sum(out, head, y);
    EXPECT_EQ(floats(*out), expected);
    sum(tail, head, y);
    EXPECT_EQ(floats(*tail), expected) << n;
  }
}

TEST_P(InPlace, EagerAndFusedAgree) {
  for (const std::int64_t n : {5, 1025}) {
    for (const jit::Mode mode : {jit::Mode::Fused, jit::Mode::Eager}) {
      const TensorRef x = filled({n}), y = filled({n - 1});
      const TensorRef head = runtime::view(*x, {n - 1}, {1}), tail = runtime::view(*x, {n - 1}, {1}, 1);
      // tail = (head + y) * head + head: several kernels in eager mode
      const auto a = floats(*head), b = floats(*y);
      Tree tree(Written().leaf(f32).leaf(f32).op(Op::add).leaf(f32, 0).op(Op::mul).leaf(f32, 0).op(Op::add),
                {head, y, head, head});
      TensorRef out = tail;
      jit::evaluate(tree.bound(), &out, mode);
      const auto got = floats(*tail);
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], std::fma(a[i] + b[i], a[i], a[i])) << n;
    }
  }
}

TEST_P(InPlace, TwoOutputsSwap) {  // x, y = y + 0, x + 0: everything is read before anything is written
  for (const std::int64_t n : sizes) {
    const TensorRef x = filled({n}), y = filled({n});
    sum(y, y, y);
    const auto a = floats(*x), b = floats(*y);
    Written p;
    p.leaf(f32).op(Op::neg).leaf(f32).op(Op::neg);
    p.outputs = 2;
    Tree tree(p, {y, x});
    TensorRef outputs[] = {x, y};
    jit::evaluate(tree.bound(), outputs);
    const auto got_x = floats(*x), got_y = floats(*y);
    for (std::size_t i = 0; i < got_x.size(); ++i) {
      ASSERT_EQ(got_x[i], -b[i]);
      ASSERT_EQ(got_y[i], -a[i]);
    }
  }
}

TEST_P(InPlace, OutputsOfDifferentShapesReadBeforeTheyWrite) {
  const TensorRef x = filled({6}), y = filled({4, 6});
  const auto a = floats(*x), b = floats(*y);
  Written p;  // x = -x, y = y + x: the second reads what the first writes
  p.leaf(f32).op(Op::neg).leaf(f32).leaf(f32, 0).op(Op::add);
  p.outputs = 2;
  Tree tree(p, {x, y, x});
  TensorRef outputs[] = {x, y};
  jit::evaluate(tree.bound(), outputs);
  const auto got_x = floats(*x), got_y = floats(*y);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(got_x[i], -a[i]);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(got_y[i], b[i] + a[i % 6]);
}

TEST_P(InPlace, OutputsOfDifferentShapesNeedNoTemporaries) {  // an optimiser's step
  const TensorRef base = filled({12}), w = runtime::view(*base, {6}, {2}), v = filled({4, 6}), g = filled({6}),
                  h = filled({4, 6});
  Written p;
  p.leaf(f32).leaf(f32).op(Op::sub).leaf(f32).leaf(f32).op(Op::sub);
  p.outputs = 2;
  Tree tree(p, {w, g, v, h});
  TensorRef outputs[] = {w, v};
  const std::uint64_t before = jit_stats().launches;
  const auto a = floats(*w), b = floats(*v);
  jit::evaluate(tree.bound(), outputs);
  EXPECT_EQ(jit_stats().launches - before, 2u);  // a temporary would be copied by one more
  const auto got_w = floats(*w), got_v = floats(*v), by_w = floats(*g), by_v = floats(*h);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(got_w[i], a[i] - by_w[i]);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_EQ(got_v[i], b[i] - by_v[i]);
}

TEST_P(InPlace, ShapesDoNotDecideOnContraction) {  // p + c, p * d with p = a * b: p has two readers, so no fma
  const auto first = [&](const Shape& shape) {
    const auto tenths = [&](const Shape& s) {  // products of these are rounded
      std::vector<std::uint64_t> values;
      for (std::int64_t i = 0; i < s.numel(); ++i) values.push_back(to_bits(static_cast<float>(i + 1) / 10));
      return device_array(f32, s, GetParam(), values);
    };
    const TensorRef a = tenths({64}), b = tenths({64}), c = tenths({64}), d = tenths(shape);
    Written p;
    p.leaf(f32).leaf(f32).op(Op::mul).leaf(f32).op(Op::add).leaf(f32, 0).leaf(f32, 1).op(Op::mul).leaf(f32).op(Op::mul);
    p.outputs = 2;
    Tree tree(p, {a, b, c, a, b, d});
    TensorRef outputs[2];
    jit::evaluate(tree.bound(), outputs);
    return floats(*outputs[0]);
  };
  EXPECT_EQ(first({64}), first({2, 64}));
}

TEST_P(InPlace, OutputsThatOverlapEachOtherAreRefused) {
  const TensorRef base = filled({8}), low = runtime::view(*base, {5}, {1}), high = runtime::view(*base, {5}, {1}, 3);
  const TensorRef x = filled({5});
  Written p;
  p.leaf(f32).op(Op::neg).leaf(f32, 0).op(Op::square);
  p.outputs = 2;
  Tree tree(p, {x, x});
  const std::vector<float> before = floats(*base);
  TensorRef outputs[] = {low, high};
  EXPECT_THROW(jit::evaluate(tree.bound(), outputs), Error);
  EXPECT_EQ(floats(*base), before);
}

TEST_P(InPlace, BroadcastsToALargerOutput) {
  const TensorRef out = filled({3, 4}), row = filled({4}), one = filled({1});
  sum(out, row, one);
  EXPECT_EQ(floats(*out), (std::vector<float>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST_P(InPlace, WritesThroughStridedViewsAndNothingBeside) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Shape shape = random_shape(random, 2000);
    const TensorRef out = random_array(f32, shape, GetParam(), Layout::Any, random);
    const TensorRef x = random_array(f32, broadcastable(shape, random), GetParam(), Layout::Any, random);
    if (out->numel == 0) continue;
    const std::vector<std::byte> before = bytes_of_buffer(*out);
    const auto expected = values_over(*x, shape);
    TensorRef target = out;
    Tree tree(Written().leaf(f32).op(Op::abs), {x});
    jit::evaluate(tree.bound(), &target);
    std::vector<std::byte> wanted = before;
    const std::vector<std::byte> got = bytes_of_buffer(*out);
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      float v = std::fabs(test::as<float>(expected[static_cast<std::size_t>(i)])), written;
      const std::ptrdiff_t at = (out->data - out->buffer->data()) + offset_of(*out, shape, i) * 4;
      std::memcpy(&written, got.data() + at, 4);
      if (std::isnan(v) && std::isnan(written)) v = written;  // GPUs give NaN other bits
      std::memcpy(wanted.data() + at, &v, 4);
    }
    ASSERT_EQ(got, wanted);
  }
}

TEST_P(InPlace, ConvertsWithinWhatTheCategoryAllows) {
  const TensorRef x = device_array(DType::Int32, {3}, GetParam(), {1, 2, 3}),
                  wide = runtime::empty({3}, DType::Float64, GetParam());
  Tree tree(Written().leaf(DType::Int32).leaf(DType::Int32, 0).op(Op::mul), {x, x});
  TensorRef out = wide;
  jit::evaluate(tree.bound(), &out);
  EXPECT_EQ(values_of(*wide), (std::vector<std::uint64_t>{to_bits(1.0), to_bits(4.0), to_bits(9.0)}));
}

TEST_P(InPlace, WritingBumpsTheVersion) {
  const TensorRef x = filled({8}), y = filled({8});
  const std::uint64_t before = x->buffer->version(), other = y->buffer->version();
  sum(x, x, y);
  EXPECT_GT(x->buffer->version(), before);
  EXPECT_EQ(y->buffer->version(), other);
}

INSTANTIATE_TEST_SUITE_P(Devices, InPlace, ::testing::ValuesIn(test_devices()),
                         [](const auto& i) { return std::string(i.param.is_cpu() ? "Cpu" : "Gpu"); });

}  // namespace
}  // namespace sinter::testing
