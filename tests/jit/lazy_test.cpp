// Lazy expressions: values, weak scalars, versions of storage, loops that grow, threads.
#include <sinter/jit/lazy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include <sinter/jit/recorded.hpp>
#include "arrays.hpp"
#include "programs.hpp"

namespace sinter::testing {
namespace {

using jit::lazy;
using jit::LazyRef;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

LazyRef apply(Op op, std::initializer_list<LazyRef> operands) { return lazy(op, {operands.begin(), operands.size()}); }
LazyRef number(double v) { return lazy(jit::Scalar(v), Category::Float); }
LazyRef number(std::int64_t v) { return lazy(jit::Scalar(v), Category::Int); }
LazyRef operator+(const LazyRef& a, const LazyRef& b) { return apply(Op::add, {a, b}); }
LazyRef operator*(const LazyRef& a, const LazyRef& b) { return apply(Op::mul, {a, b}); }

TensorRef evaluated(const LazyRef& v) {
  TensorRef result;
  jit::evaluate({&v, 1}, &result);
  return result;
}

template <element T>
std::vector<T> evaluated_to(const LazyRef& v) {
  return values<T>(evaluated(v));
}

/// Writes `value` into an existing array, as y.assign() does.
void write(const TensorRef& to, float value) {
  TensorRef out = to;
  const LazyRef v = lazy(*array<float>({value}));
  jit::evaluate({&v, 1}, &out);
}

TEST(Lazy, TheExample) {
  const LazyRef z = lazy(*array<float>({1, 2, 3})), y = lazy(*array<float>({1, 0, 2}));
  const LazyRef e = apply(Op::exp, {z + number(std::int64_t{2})}) * y;
  EXPECT_EQ(e->dtype(), DType::Float32);
  EXPECT_TRUE(e->device().is_cpu());
  const auto v = evaluated_to<float>(e);
  ASSERT_EQ(v.size(), 3u);
  EXPECT_NEAR(v[0], 20.085537f, 1e-5);
  EXPECT_EQ(v[1], 0);
  EXPECT_NEAR(v[2], 296.8263f, 1e-3);
}

TEST(Lazy, BroadcastsAndKeepsOnePlanForEqualStructures) {
  const LazyRef row = lazy(*array<float>({1, 2, 3})), column = lazy(*array<float>({10, 20}, Shape{2, 1}));
  const TensorRef r = evaluated(row + column);
  EXPECT_EQ(r->shape, (Shape{2, 3}));
  EXPECT_THAT(values<float>(r), ElementsAre(11, 12, 13, 21, 22, 23));
  const auto plans = jit_stats().plans;
  evaluated(lazy(*array<float>({5})) + lazy(*array<float>({6})));
  EXPECT_EQ(jit_stats().plans, plans);
}

TEST(Lazy, NumbersLiftTheCategoryOnly) {
  const LazyRef i = lazy(*array<std::int32_t>({1, 2})), d = lazy(*array<double>({1, 2}));
  EXPECT_EQ((i * number(std::int64_t{2}))->dtype(), DType::Int32);
  EXPECT_EQ((i * number(2.5))->dtype(), DType::Float32);
  // Operations on only numbers are computed as in C++, so nothing is lost before the conversion to double.
  const LazyRef fifth = number(std::int64_t{2}) * number(0.1);
  EXPECT_EQ((d * fifth)->dtype(), DType::Float64);
  EXPECT_THAT(evaluated_to<double>(d * fifth), ElementsAre(0.2, 0.4));
  EXPECT_EQ((i * fifth)->dtype(), DType::Float32);
  EXPECT_EQ(apply(Op::lt, {number(1.0), number(2.0)})->dtype(), DType::Bool);
  EXPECT_THAT(evaluated_to<float>(number(0.5)), ElementsAre(0.5f));
  const LazyRef quotient = apply(Op::div, {number(std::int64_t{1}), number(std::int64_t{4})});
  EXPECT_THAT(evaluated_to<std::int32_t>(apply(Op::maximum, {i, number(std::int64_t{2})})), ElementsAre(2, 2));
  EXPECT_THAT(evaluated_to<float>(i * quotient), ElementsAre(0.25f, 0.5f));
  // As C++ and Python divide; by 0 integers are refused, and doubles give infinity or NaN.
  const auto divided = [](Op op, auto x, auto y) {
    return evaluated_to<double>(jit::lazy_cast(apply(op, {number(x), number(y)}), DType::Float64))[0];
  };
  const std::int64_t zero = 0, two = 2, seven = 7;
  EXPECT_EQ(divided(Op::floor_divide, -seven, two), -4);
  EXPECT_EQ(divided(Op::trunc_divide, -seven, two), -3);
  EXPECT_EQ(divided(Op::remainder, -seven, two), 1);
  EXPECT_EQ(divided(Op::fmod, -seven, two), -1);
  EXPECT_EQ(divided(Op::floor_divide, -7.5, 2.0), -4);
  EXPECT_EQ(divided(Op::div, 1.0, 0.0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(divided(Op::remainder, 1.0, 0.0)));
  EXPECT_EQ(divided(Op::mul, seven, zero), 0);
  for (const Op op : {Op::floor_divide, Op::trunc_divide, Op::remainder, Op::fmod})
    EXPECT_THROW(divided(op, seven, zero), Error) << name(op);
}

TEST(Lazy, CastsAreStrong) {
  const LazyRef f = lazy(*array<float>({1.75f, -2.5f}));
  EXPECT_THAT(evaluated_to<std::int32_t>(jit::lazy_cast(f, DType::Int32)), ElementsAre(1, -2));
  EXPECT_EQ((f + jit::lazy_cast(number(0.1), DType::Float64))->dtype(), DType::Float64);
  EXPECT_EQ(jit::lazy_cast(f, DType::Float32), f);
  EXPECT_THAT(evaluated_to<double>(jit::lazy_cast(number(0.1), DType::Float64)), ElementsAre(0.1));
}

TEST(Lazy, FromATypedTree) {
  Written p;
  p.leaf(DType::Float32)
      .leaf(DType::Float32)
      .op(Op::mul)
      .scalar(Category::Float)
      .op(Op::add)
      .leaf(DType::Float32)
      .op(Op::sub);
  const jit::Program program = p.program();
  jit::CallSiteCache entry;
  const TensorRef x = array<float>({1, 2}), y = array<float>({3, 4});
  TensorImpl* const leaves[] = {x.get(), y.get(), x.get()};
  const jit::Scalar scalars[] = {0.5};
  const LazyRef e = lazy(jit::Bound{&entry, &program, leaves, scalars});
  EXPECT_THAT(evaluated_to<float>(e + e), ElementsAre(5, 13));
  TensorImpl* const moved[] = {x.get(), nullptr, x.get()};
  EXPECT_THROW(lazy(jit::Bound{&entry, &program, moved, scalars}), Error);
}

TEST(Lazy, ConstantsOfATypedTree) {
  Written p;
  p.leaf(DType::Float32).constant(3).op(Op::mul).constant(-2).op(Op::add);
  const jit::Program program = p.program();
  jit::CallSiteCache entry;
  const TensorRef x = array<float>({1, 2});
  TensorImpl* const leaves[] = {x.get()};
  const jit::Scalar none[1] = {};
  EXPECT_THAT(evaluated_to<float>(lazy(jit::Bound{&entry, &program, leaves, none})), ElementsAre(1, 4));
}

TEST(Lazy, NumbersThatMakeNoSenseAreRefusedAtOnce) {
  const auto constant = [](std::int64_t value) {
    Written p;
    p.constant(value);
    const jit::Program program = p.program();
    jit::CallSiteCache entry;
    return lazy(jit::Bound{&entry, &program, nullptr, nullptr});
  };
  const LazyRef x = lazy(*array<float>({1}));
  const auto hardtanh = [&](const LazyRef& least, const LazyRef& most) {
    return apply(Op::hardtanh, {x, least, most});
  };
  EXPECT_THROW(hardtanh(constant(2), constant(1)), Error);
  EXPECT_THROW(hardtanh(number(2.0), constant(1)), Error);
  EXPECT_THROW(hardtanh(constant(-1), number(-2.0)), Error);
  EXPECT_NO_THROW(hardtanh(constant(1), x));  // it is not known yet
  EXPECT_NO_THROW(hardtanh(x, number(-1.0)));
}

TEST(Lazy, OnlyTensorsHaveNames) {
  const LazyRef x = lazy(*array<float>({1})), i = lazy(*runtime::iota_tensor(Shape{1}, Device()));
  const LazyRef sum = x + i, two = number(2.0);
  EXPECT_EQ(jit::named(sum, "sum"), sum);
  EXPECT_EQ(jit::named(two, "two"), two);
  EXPECT_THAT(jit::Recorded(jit::named(x, "x") + jit::named(i, "i")).names, ElementsAre("x", "i"));
  const LazyRef elsewhere = lazy(*runtime::iota_tensor(Shape{1}, Device("cuda:1")));
  EXPECT_THROW(jit::named(elsewhere, "j") + x, DeviceError);
}

TEST(Lazy, DroppedExpressionsReleaseTheirTensors) {
  const TensorRef x = array<float>({1, 2});
  for (int time = 0; time < 2; ++time) {
    const LazyRef sum = lazy(*x) + number(1.0);
    EXPECT_GT(x->owners(), 1u);
  }
  EXPECT_EQ(x->owners(), 1u);
}

TEST(Lazy, IndexTensors) {
  const LazyRef i = lazy(*runtime::iota_tensor(Shape{4}, Device()));
  EXPECT_THAT(evaluated_to<std::int64_t>(i * number(std::int64_t{3})), ElementsAre(0, 3, 6, 9));
}

TEST(Lazy, SeveralAtOnce) {
  const LazyRef x = lazy(*array<float>({1, 2, 3})), s = lazy(*array<float>({10}, Shape{}));
  const LazyRef all[] = {x + s, s + s, jit::lazy_cast(x, DType::Int64)};
  TensorRef results[3];
  jit::evaluate(all, results);
  EXPECT_THAT(values<float>(results[0]), ElementsAre(11, 12, 13));
  EXPECT_EQ(results[1]->shape, Shape{});
  EXPECT_THAT(values<float>(results[1]), ElementsAre(20));
  EXPECT_THAT(values<std::int64_t>(results[2]), ElementsAre(1, 2, 3));
}

TEST(Lazy, ALeafThatWasWrittenToIsRefused) {
  const TensorRef x = array<float>({1, 2});
  const LazyRef e = lazy(*x) + number(1.0);
  write(x, 7);
  try {
    evaluated(e);
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("float32 (2,) on cpu"));
    EXPECT_THAT(error.what(), HasSubstr("written to after"));
  }
  EXPECT_THAT(evaluated_to<float>(lazy(*x) + number(1.0)), ElementsAre(8, 8));
}

TEST(Lazy, ATensorIsNoResultOfItself) {
  const TensorRef x = array<float>({1, 2});
  const LazyRef e = lazy(*x);
  EXPECT_THAT(evaluated_to<float>(e), ElementsAre(1, 2));
  write(x, 7);
  EXPECT_THROW(evaluated(e), Error);
}

TEST(Lazy, ResultsAreKeptUntilSomeoneWritesToThem) {
  const LazyRef x = lazy(*array<float>({1, 2}));
  const LazyRef e = apply(Op::exp, {x}) * x;
  const TensorRef first = evaluated(e);
  const auto before = values<float>(first);
  const auto plans = jit_stats().plans;
  evaluated(e + number(1.0));  // one addition on the kept result, a structure that has no plan yet
  EXPECT_LE(jit_stats().plans, plans + 1);
  write(first, 0);  // the result was the user's to overwrite; the expression still means what it did
  EXPECT_EQ(evaluated_to<float>(e), before);
}

TEST(Lazy, WritingInPlaceBumpsTheVersion) {
  const TensorRef x = array<float>({1, 2});
  const auto version = x->buffer->version();
  write(x, 3);
  EXPECT_GT(x->buffer->version(), version);
  EXPECT_THAT(values<float>(x), ElementsAre(3, 3));
}

TEST(Lazy, ErrorsAreThoseOfTypedExpressions) {
  const LazyRef f = lazy(*array<float>({1})), b = lazy(*array<bool>({true}));
  EXPECT_THROW(apply(Op::bitwise_and, {f, b}), DTypeError);
  EXPECT_THROW(apply(Op::sub, {b, b}), DTypeError);
  EXPECT_THROW(apply(Op::add, {f}), Error);
  EXPECT_THROW(apply(Op::leaf, {}), Error);
  EXPECT_THROW(apply(Op::add, {f, LazyRef()}), Error);
  EXPECT_THROW(jit::lazy_cast(LazyRef(), DType::Bool), Error);
  EXPECT_THROW(evaluated(LazyRef()), Error);
  EXPECT_THROW(evaluated(lazy(*array<float>({1, 2})) + lazy(*array<float>({1, 2, 3}))), ShapeError);
  try {
    apply(Op::add, {lazy(*runtime::iota_tensor(Shape{1}, Device("cuda:1"))), f});
    FAIL() << "must throw";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("add"));
    EXPECT_THAT(error.what(), HasSubstr("int64 on cuda:1, float32 on cpu"));
  }
}

TEST(Lazy, ALoopOfManyStepsStaysBounded) {
  LazyRef y = lazy(*array<float>({1, -3}));
  float a = 1, b = -3;
  const auto before = jit_stats();
  for (int i = 0; i < 100'000; ++i) {
    y = y * number(0.5) + number(static_cast<double>(i % 7));
    a = a * 0.5f + static_cast<float>(i % 7);
    b = b * 0.5f + static_cast<float>(i % 7);
  }
  EXPECT_THAT(evaluated_to<float>(y), ElementsAre(a, b));
  // 200,000 operations in chunks of about 16,384: the chunks are alike and share a plan; the rest has its own.
  EXPECT_LE(jit_stats().plans - before.plans, 3u);
}

TEST(Lazy, ALoopWithSharingIsCountedAsTheGraphItIs) {
  LazyRef y = lazy(*array<double>({0.5}));
  double v = 0.5;
  const auto before = jit_stats();
  for (int i = 0; i < 1'000; ++i) {
    const LazyRef half = y * number(0.5);
    y = apply(Op::maximum, {half * half, half}) + half;
    const double h = v * 0.5;
    v = std::max(h * h, h) + h;
  }
  EXPECT_THAT(evaluated_to<double>(y), ElementsAre(v));
  EXPECT_LE(jit_stats().plans - before.plans, 8u);
}

TEST(Lazy, AnEvaluatedPartKeepsItsDtype) {
  LazyRef y = lazy(*array<std::int64_t>({1, -3}));
  std::uint64_t a = 1, b = static_cast<std::uint64_t>(-3);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    y = y * number(std::int64_t{3}) + number(static_cast<std::int64_t>(i));
    a = a * 3 + i;
    b = b * 3 + i;
    ASSERT_EQ(y->dtype(), DType::Int64) << i;
  }
  EXPECT_LE(operations(jit::Recorded(y).graph), static_cast<std::size_t>(jit::max_lazy_nodes));
  EXPECT_THAT(evaluated_to<std::int64_t>(y), ElementsAre(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

// Neither what else is created meanwhile counts, nor that some operands are shared.
TEST(Lazy, NothingIsEvaluatedBelowTheLimit) {
  const LazyRef x = lazy(*array<float>({1}));
  LazyRef y = x;
  const auto before = jit_stats().launches;
  for (int i = 0; i < jit::max_lazy_nodes / 4 * 3; ++i) {
    x + x;
    y = y + x;
  }
  EXPECT_EQ(jit_stats().launches, before);
  EXPECT_EQ(operations(jit::Recorded(y).graph), static_cast<std::size_t>(jit::max_lazy_nodes / 4 * 3));
}

TEST(Lazy, WhatIsCopiedIsSmall) {
  constexpr auto most = static_cast<std::size_t>(jit::max_copied_nodes);
  const LazyRef x = lazy(*array<float>({1}));
  const auto copied = [](const LazyRef& value) { return operations(jit::record_for_copy(value).graph); };
  const auto chain = [&](std::size_t length) {
    LazyRef y = x;
    for (std::size_t i = 0; i < length; ++i) y = apply(Op::neg, {y});
    return y;
  };
  EXPECT_EQ(copied(chain(most)), most);
  EXPECT_EQ(copied(chain(most + 1)), 0u);
  LazyRef wide = x, shared = x;
  for (std::size_t i = 0; i < most / 2 + 1; ++i) wide = wide + apply(Op::neg, {x});
  EXPECT_EQ(copied(wide), 0u);
  for (std::size_t i = 0; i < 20; ++i) shared = shared + shared;
  EXPECT_EQ(copied(shared), 20u);
}

TEST(Lazy, ManyExpressionsOnOneNode) {
  const LazyRef x = lazy(*array<float>({1, 2})) * number(2.0);
  std::vector<LazyRef> all;
  for (int i = 0; i < 50'000; ++i) all.push_back(x + number(static_cast<double>(i)));
  EXPECT_THAT(evaluated_to<float>(all[49'999]), ElementsAre(50'001, 50'003));
}

TEST(Lazy, DestroyingALongChainDoesNotRecurse) {
  Written p;
  p.leaf(DType::Float32);
  for (int i = 0; i < 1'000'000; ++i) p.op(i % 2 ? Op::relu : Op::neg);
  const jit::Program program = p.program();
  jit::CallSiteCache entry;
  const TensorRef x = array<float>({1});
  TensorImpl* const leaves[] = {x.get()};
  const jit::Scalar none[1] = {};
  LazyRef chain = lazy(jit::Bound{&entry, &program, leaves, none});
  chain = LazyRef();
}

TEST(Lazy, SharedByThreads) {
  const LazyRef x = lazy(*array<float>({1, 2, 3}));
  LazyRef shared = x;
  for (int i = 0; i < 200; ++i) shared = shared * number(0.5) + x;
  const auto expected = evaluated_to<float>(shared * number(2.0));
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        LazyRef mine = shared;
        // Some grow past the limit, which replaces nodes that the others read.
        for (int i = 0; i < (t == 0 ? 10'000 : 1); ++i) mine = mine * number(2.0);
        if (t > 0) wrong += evaluated_to<float>(mine) != expected;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Lazy, RandomDagsAgreeWithTheInterpreter) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    constexpr Op ops[] = {Op::add, Op::sub, Op::mul, Op::maximum, Op::minimum, Op::neg, Op::abs, Op::floor};
    const double leaf_values[] = {1, -2, 3};
    Graph g;
    std::vector<LazyRef> nodes;
    std::vector<Operand> ids;
    std::vector<std::uint64_t> leaves;
    for (std::uint32_t i = 0; i < 3; ++i) {
      nodes.push_back(lazy(*array<double>({leaf_values[i]})));
      ids.push_back(g.leaf(DType::Float64, i));
      leaves.push_back(to_bits(leaf_values[i]));
    }
    for (int i = 0; i < 60; ++i) {
      const Op op = ops[random() % std::size(ops)];
      std::vector<LazyRef> operands;
      std::vector<Operand> operand_ids;
      for (int k = 0; k < info(op).arity; ++k) {
        const std::size_t which = nodes.size() - 1 - random() % std::min<std::size_t>(nodes.size(), 6);
        operands.push_back(nodes[which]);
        operand_ids.push_back(ids[which]);
      }
      nodes.push_back(lazy(op, operands));
      ids.push_back(g.apply(op, operand_ids));
    }
    g.output(ids.back());
    // Contraction must be on both sides, since products overflow the integers that doubles hold.
    const auto expected = outputs_of(jit::simplify(g), leaves, {});
    EXPECT_TRUE(same_value(DType::Float64, to_bits(evaluated_to<double>(nodes.back())[0]), expected[0]));
  }
}

}  // namespace
}  // namespace sinter::testing
