// Evaluations on a mesh of many steps: each sum over the sharded dim needs the one before.
#include <sinter/dsl/sharded.hpp>
#include <sinter/jit/lazy.hpp>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "devices.hpp"
#include "gathered.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
namespace jit = sinter::jit;

sn::Tensor<float> waves(const sn::Shape& shape) {
  return sn::Tensor<float>(sn::Tensor((sn::arange<float>(shape.numel()) * 0.37f).sin().reshape(shape)));
}

/// Each step centers what the one before gave.
sn::Lazy<float> chain(const sn::Tensor<float, sn::Mesh>& x, int steps) {
  sn::Lazy<float> y = x;
  for (int i = 0; i < steps; ++i) y = sn::Lazy<float>(y * 0.99f - sn::mean(y, 0) * 0.5f);
  return y;
}
sn::Lazy<float> chain(const sn::Tensor<float>& x, int steps) {
  sn::Lazy<float> y = x;
  for (int i = 0; i < steps; ++i) y = sn::Lazy<float>(y * 0.99f - sn::mean(y, 0) * 0.5f);
  return y;
}

/// All operations of the first rank's kernels: "..., 512 operations: ..." or "1.58 k operations".
double operations(const sn::Lazy<float>& e) {
  const std::string text = sn::explain(e);
  double sum = 0;
  for (std::size_t at = text.find(" written, "); at != std::string::npos; at = text.find(" written, ", at + 1)) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str() + at + 10, &end);
    sum += number * (end[1] == 'k' ? 1e3 : end[1] == 'M' ? 1e6 : 1);
  }
  return sum;
}

TEST(ShardedSteps, WorkGrowsWithTheirNumber) {
  const sn::Mesh mesh({sn::Device(), sn::Device()});
  const auto x = sn::shard(waves({64, 16}), mesh);
  const double few = operations(chain(x, 20)), many = operations(chain(x, 160));
  EXPECT_GT(few, 20 * 32 * 16);
  EXPECT_LT(many, 12 * few);  // 8 times as many steps; 64 times the work if each computed all before again
}

/// A costly value that several others of a step need, none of which is worth keeping by itself.
TEST(ShardedSteps, WorkGrowsWithTheirNumberWhereValuesAreShared) {
  const sn::Mesh mesh({sn::Device(), sn::Device()});
  const auto x = sn::shard(waves({64, 16}), mesh);
  const auto shared = [&](int steps) {
    sn::Lazy<float> y = x;
    for (int i = 0; i < steps; ++i) {
      const sn::Lazy<float> c = sn::Lazy<float>(lgamma(abs(y) + 1)), a = sn::Lazy<float>(c * 2),
                            b = sn::Lazy<float>(c * c);
      y = sn::Lazy<float>(a * sn::sum(a, 0) - b * sn::sum(b, 0));
    }
    return y;
  };
  EXPECT_LT(operations(shared(40)), 12 * operations(shared(5)));
}

TEST(ShardedSteps, HaveTheResultsOfOneDevice) {
  for (const std::size_t ranks : {1, 2, 3, 8}) {
    const sn::Mesh mesh{std::vector<sn::Device>(ranks)};
    for (const int steps : {1, 2, 25, 70}) {
      const auto x = waves({10, 6});
      EXPECT_TRUE(near(sn::Tensor(chain(sn::shard(x, mesh), steps)), sn::Tensor(chain(x, steps)))) << steps;
    }
  }
}

/// What a step keeps is also an output, or needed by one.
TEST(ShardedSteps, ValuesThatAreKept) {
  const sn::Mesh mesh({sn::Device(), sn::Device(0), sn::Device()});
  const auto x = waves({7, 5});
  const auto s = sn::shard(x, mesh);
  const auto costly = [](const auto& t) { return sn::lgamma(sn::exp(t) + 2) * sn::cos(t); };
  for (int again = 0; again < 2; ++again) {
    const auto [total, value, scaled] =
        sn::evaluate(sn::sum(costly(s), 0), costly(s), costly(s) / sn::sum(costly(s), 0));
    EXPECT_TRUE(near(total, sn::sum(costly(x), 0)));
    EXPECT_TRUE(near(value, costly(x)));
    EXPECT_TRUE(near(scaled, costly(x) / sn::sum(costly(x), 0)));
    EXPECT_TRUE(near(costly(s) - sn::amax(costly(s), 0), costly(x) - sn::amax(costly(x), 0)));
  }
  // Some ranks have no rows; the value is replicated; the output exists.
  const auto few = sn::shard(waves({2, 5}), mesh);
  EXPECT_TRUE(near(costly(few) / sn::sum(costly(few), 0), costly(waves({2, 5})) / sn::sum(costly(waves({2, 5})), 0)));
  const auto r = sn::replicate(waves({5}), mesh);
  EXPECT_TRUE(near(sn::sum(s * costly(r), 0) + costly(r), sn::sum(x * costly(waves({5})), 0) + costly(waves({5}))));
  auto out = sn::shard(waves({7, 5}), mesh);
  out.assign(costly(out) / sn::sum(costly(out), 0));
  EXPECT_TRUE(near(out, costly(x) / sn::sum(costly(x), 0)));
}

/// A number of elements needs no communication, but is that of all ranks.
TEST(ShardedSteps, CountsAreThoseOfTheWholeDim) {
  for (const std::size_t ranks : {1, 2, 3, 8}) {
    const sn::Mesh mesh{std::vector<sn::Device>(ranks)};
    const sn::Tensor<float> x = waves({3, 2}), y = waves({3, 2}) * 2;
    const auto s = sn::shard(x, mesh), t = sn::shard(y, mesh);
    EXPECT_TRUE(
        near(sn::Tensor(sn::grad(sn::sum(sn::mean(s, 0)), s)), sn::Tensor(sn::grad(sn::sum(sn::mean(x, 0)), x))));
    EXPECT_TRUE(near(sn::Tensor(sn::grad(sn::sum(sn::mean(s * t, 0)), s)),
                     sn::Tensor(sn::grad(sn::sum(sn::mean(x * y, 0)), x))));
    EXPECT_TRUE(near(sn::Tensor(sn::grad(sn::mean(s * s), s)), sn::Tensor(sn::grad(sn::mean(x * x), x))));
    EXPECT_TRUE(near(sn::Tensor(sn::var(s, 0)), sn::Tensor(sn::var(x, 0))));
  }
}

jit::LazyRef apply(sn::Op op, const std::vector<jit::LazyRef>& operands, jit::ReduceAxes along = {}) {
  return jit::lazy(op, operands, along);
}

/// Where nothing else has the shape of the number of elements.
TEST(ShardedSteps, CountsKeepTheirShape) {
  const sn::Mesh mesh{std::vector<sn::Device>(3)};
  const auto x = waves({7, 2});
  const auto count = [](const jit::LazyRef& v) { return apply(sn::Op::count, {v}, {2, false}); };
  const std::vector<std::function<jit::LazyRef(jit::LazyRef)>> programs{
      [&](const jit::LazyRef& v) { return count(v); },
      [&](const jit::LazyRef& v) { return apply(sn::Op::add, {count(v), count(apply(sn::Op::mul, {v, v}))}); },
      [&](const jit::LazyRef& v) {
        const jit::LazyRef e = apply(sn::Op::exp, {count(v)});
        return apply(sn::Op::add, {e, apply(sn::Op::sin, {e})});
      },
      [&](const jit::LazyRef& v) { return apply(sn::Op::sum, {apply(sn::Op::exp, {count(v)})}, {1, false}); },
      [&](const jit::LazyRef& v) { return apply(sn::Op::add, {v, count(v)}); },
      [&](const jit::LazyRef& v) { return apply(sn::Op::add, {count(v), apply(sn::Op::amax, {v}, {2, false})}); },
  };
  for (const auto& program : programs)
    EXPECT_TRUE(near(sn::AnyTensor(jit::evaluate_one(program(jit::lazy(sn::shard(x, mesh).impl())))),
                     sn::AnyTensor(jit::evaluate_one(program(jit::lazy(x.impl()))))));
}

TEST(ShardedSteps, WritingAResultChangesNoOther) {
  const sn::Mesh mesh({sn::Device(), sn::Device()});
  const auto s = sn::shard(waves({4, 3}), mesh);
  auto [a, b, c] = sn::evaluate(sn::sum(s, 0), sn::sum(s, 0), sn::sum(s * 2, 0));
  const auto before = sn::gather(b).to_vector();
  a.assign(a * 0 + 7);
  EXPECT_EQ(sn::gather(b).to_vector(), before);
  EXPECT_EQ(sn::gather(a).to_vector(), std::vector<float>(3, 7));
  EXPECT_TRUE(near(c, b * 2));
}

}  // namespace
}  // namespace sinter_tests
