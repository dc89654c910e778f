// Expressions as values: what their types contain, what they own, what happens when they are moved.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace sn = sinter;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using F = sn::Tensor<float, sn::Cpu>;
using I = sn::Tensor<std::int64_t, sn::Cpu>;
using B = sn::Tensor<bool, sn::Cpu>;

template <class E>
using T = typename std::remove_cvref_t<E>::value_type;

TEST(Expression, TypesFollowPromotion) {
  F f;
  I i;
  B b;
  sn::Tensor<std::int32_t, sn::Cpu> i32;
  sn::Tensor<double, sn::Cpu> d;
  static_assert(std::is_same_v<T<decltype(f + i)>, float>);
  static_assert(std::is_same_v<T<decltype(i32 + i)>, std::int64_t>);
  static_assert(std::is_same_v<T<decltype(i32 + 1L)>, std::int32_t>);
  static_assert(std::is_same_v<T<decltype(i32 + 2.5)>, float>);
  static_assert(std::is_same_v<T<decltype(f * 2.5)>, float>);
  static_assert(std::is_same_v<T<decltype(f * d)>, double>);
  static_assert(std::is_same_v<T<decltype(b + b)>, bool>);
  static_assert(std::is_same_v<T<decltype(b + 1)>, std::int64_t>);
  static_assert(std::is_same_v<T<decltype(i / i)>, float>);
  static_assert(std::is_same_v<T<decltype(i < f)>, bool>);
  static_assert(std::is_same_v<T<decltype(sn::exp(i))>, float>);
  static_assert(std::is_same_v<T<decltype(sn::where(b, i, f))>, float>);
  static_assert(std::is_same_v<T<decltype(sn::cast<double>(i))>, double>);
  sn::AnyTensor any;
  static_assert(std::is_same_v<T<decltype(any + f)>, sn::AnyType>);
  static_assert(std::is_same_v<T<decltype(any < f)>, bool>);
}

TEST(Expression, DeviceTypesJoin) {
  sn::Tensor<float, sn::Cuda<>> any_gpu;
  sn::Tensor<float, sn::Cuda<1>> gpu1;
  sn::Tensor<float> anywhere;
  static_assert(std::is_same_v<decltype(any_gpu + gpu1)::device_type, sn::Cuda<1>>);
  static_assert(std::is_same_v<decltype(anywhere + any_gpu)::device_type, sn::Cuda<>>);
  static_assert(std::is_same_v<decltype(anywhere * 2)::device_type, sn::AnyDevice>);
  static_assert(std::is_same_v<decltype(2 - gpu1)::device_type, sn::Cuda<1>>);
}

TEST(Expression, ConceptsTellTensorsFromNumbers) {
  static_assert(sn::expression<F> && sn::expression<decltype(F() + 1)> && !sn::expression<float>);
  static_assert(sn::expression_of<F, float> && !sn::expression_of<F, double>);
}

F make() { return sn::tensor({1.f, 2.f, 3.f}); }

TEST(Expression, OwnsWhatATemporaryGave) {
  auto e = (make() + 2).exp();
  const sn::Tensor r = e;
  EXPECT_THAT(r.to_vector(), ElementsAre(std::exp(3.f), testing::FloatNear(std::exp(4.f), 1e-4f),
                                         testing::FloatNear(std::exp(5.f), 1e-3f)));
}

TEST(Expression, CopiesAndMoves) {
  const F x = make();
  auto e = x * 2 + 1;
  auto copy = e;
  auto moved = std::move(e);
  EXPECT_THAT(sn::Tensor(copy).to_vector(), ElementsAre(3, 5, 7));
  EXPECT_THAT(sn::Tensor(moved).to_vector(), ElementsAre(3, 5, 7));
  EXPECT_THAT(sn::Tensor(moved + copy).to_vector(), ElementsAre(6, 10, 14));
}

TEST(Expression, MethodsTakeTheArrayOfATemporary) {
  F x = make(), y = make(), z = make(), v = make();
  EXPECT_THAT(sn::Tensor(std::move(x).exp() * 0 + 1).to_vector(), ElementsAre(1, 1, 1));
  EXPECT_THAT(sn::Tensor(std::move(y).maximum(2)).to_vector(), ElementsAre(2, 2, 3));
  EXPECT_THAT(sn::Tensor(std::move(z).clamp(2, 2)).to_vector(), ElementsAre(2, 2, 2));
  EXPECT_THAT(sn::Tensor(std::move(v).where(true, 0)).to_vector(), ElementsAre(1, 2, 3));
  EXPECT_FALSE(x.defined() || y.defined() || z.defined() || v.defined());
}

TEST(Expression, WhereAsAMethodPutsTheValueFirst) {
  const F x = sn::tensor({-1.f, 2.f});
  EXPECT_THAT(sn::Tensor(x.where(x > 0, 5)).to_vector(), ElementsAre(5, 2));
  EXPECT_THAT(sn::Tensor((x * 2).where(x > 0, x)).to_vector(), ElementsAre(-1, 4));
  EXPECT_TRUE(sn::equal(x.where(x > 0, 5), sn::where(x > 0, x, 5)));
  EXPECT_THAT(sn::Tensor(sn::Lazy(x + 0).where(x > 0, 5)).to_vector(), ElementsAre(5, 2));
}

template <int Steps, class E, class F>
auto grown(const E& e, F step) {
  if constexpr (Steps == 1)
    return step(e);
  else
    return grown<Steps / 2>(grown<Steps - Steps / 2>(e, step), step);
}

/// e + e, so many times: n operations become 2 n + 1 each time, in few types, which compile quickly.
template <int Times, class E>
auto doubled(const E& e) {
  if constexpr (Times == 0)
    return e;
  else
    return doubled<Times - 1>(e + e);
}

// 256 operations; the operation after these is one of the programs in tests/errors.
TEST(Expression, HoldsAsManyOperationsAsItSays) {
  using namespace sn::literals;
  const F x = sn::tensor({1.f, 2.f});
  const auto values = [](const auto& e) { return sn::Tensor(e).to_vector(); };
  EXPECT_THAT(values(doubled<8>(x) + x), ElementsAre(257, 514));
  EXPECT_THAT(values(doubled<7>(x - 0.5f) - 0.5f), ElementsAre(63.5, 191.5));
  EXPECT_THAT(values(doubled<7>(x - 2_c) - 2_c), ElementsAre(-130, -2));
  EXPECT_THAT(values(-doubled<7>(-x)), ElementsAre(128, 256));
  EXPECT_THAT(values(-grown<32>(doubled<6>(x.clamp(2, 3)), [](const auto& e) { return e.clamp(2, 3); })),
              ElementsAre(-3, -3));  // a clamp counts as two
  EXPECT_THAT(values(grown<69>(x, [](const auto& e) { return e + 1000_c; })), ElementsAre(69001, 69002));
}

TEST(Expression, UsingAMovedFromOneThrows) {
  auto e = make() + 1;
  [[maybe_unused]] auto taken = std::move(e);
  EXPECT_THAT(sinter_tests::message_of<sn::Error>([&] { sn::Tensor r = e; }), HasSubstr("moved from"));
  EXPECT_THROW(sn::Tensor r = e * 2, sn::Error);
  EXPECT_THROW(sn::Tensor r = std::move(e) + make(), sn::Error);
  EXPECT_THROW(sn::Tensor r = -std::move(e) * taken, sn::Error);
  auto copy = e;
  EXPECT_THROW(sn::Tensor r = copy, sn::Error);
  F x = make();
  F y = std::move(x);
  EXPECT_THROW(sn::Tensor r = x + y, sn::Error);
  EXPECT_THROW(x.shape(), sn::Error);
}

TEST(Expression, ReadsLeavesWhenEvaluated) {
  F x = make();
  auto e = x + 1;
  x += 10;
  EXPECT_THAT(sn::Tensor(e).to_vector(), ElementsAre(12, 13, 14));
  x = sn::tensor({0.f});  // rebinds the name; the expression keeps the array
  EXPECT_THAT(sn::Tensor(e).to_vector(), ElementsAre(12, 13, 14));
}

TEST(Expression, EveryOperatorMeansItsFunction) {
  const I a = sn::tensor({7, -7, 6}), b = sn::tensor({2, 2, -4});
  const auto same = [](const auto& x, const auto& y) { return sn::equal(x, y); };
  EXPECT_TRUE(same(a + b, sn::add(a, b)) && same(a - b, sn::sub(a, b)) && same(a * b, sn::mul(a, b)));
  EXPECT_TRUE(same(a / b, sn::div(a, b)) && same(a % b, sn::remainder(a, b)) && same(a & b, sn::bitwise_and(a, b)));
  EXPECT_TRUE(same(a | b, sn::bitwise_or(a, b)) && same(a ^ b, sn::bitwise_xor(a, b)) && same(~a, sn::bitwise_not(a)));
  EXPECT_TRUE(same(a == b, sn::eq(a, b)) && same(a != b, sn::ne(a, b)) && same(a < b, sn::lt(a, b)));
  EXPECT_TRUE(same(a <= b, sn::le(a, b)) && same(a > b, sn::gt(a, b)) && same(a >= b, sn::ge(a, b)));
  EXPECT_TRUE(same(-a, sn::neg(a)) && same(!a, sn::logical_not(a)));
  EXPECT_THAT(sn::Tensor(a % b).to_vector(), ElementsAre(1, 1, -2));
  EXPECT_THAT(sn::Tensor(a.floor_divide(b)).to_vector(), ElementsAre(3, -4, -2));
  EXPECT_THAT(sn::Tensor(10 - a).to_vector(), ElementsAre(3, 17, 4));
}

TEST(Expression, TakesCompileTimeIntegers) {
  using namespace sn::literals;
  const F x = make();
  EXPECT_THAT(sn::Tensor(sn::pow(x, 2_c)).to_vector(), ElementsAre(1, 4, 9));
  EXPECT_THAT(sn::Tensor(x * std::integral_constant<int, -3>()).to_vector(), ElementsAre(-3, -6, -9));
  EXPECT_THAT(sn::Tensor(x + 127_c - std::integral_constant<int, -128>()).to_vector(), ElementsAre(256, 257, 258));
  EXPECT_THAT(sn::Tensor(x + 128_c - std::integral_constant<int, -129>()).to_vector(), ElementsAre(258, 259, 260));
  static_assert(std::is_same_v<T<decltype(sn::Tensor<std::int32_t, sn::Cpu>() + 2_c)>, std::int32_t>);
  const sn::Tensor<std::int32_t, sn::Cpu> i = sn::tensor<std::int32_t>({1, 2});
  EXPECT_THAT(sn::Tensor(i + 2_c).to_vector(), ElementsAre(3, 4));
  EXPECT_THAT(sn::Tensor(10_c - i).to_vector(), ElementsAre(9, 8));
  EXPECT_THAT(sn::Tensor((i * 3_c) % 2_c == 0_c).to_vector(), ElementsAre(false, true));
  EXPECT_THAT(sn::Tensor((i < 2_c) | (2_c <= i)).to_vector(), ElementsAre(true, true));
}

TEST(Expression, DtypesKnownAtRunTimePromoteByTheSameTable) {
  const sn::AnyTensor i = sn::tensor({1, 2, 3}), f = sn::tensor({0.5f, 0.5f, 0.5f}), d = sn::tensor<double>({1, 1, 1});
  EXPECT_EQ(sn::Tensor(i + i).dtype(), sn::DType::Int64);
  EXPECT_EQ(sn::Tensor(i + f).dtype(), sn::DType::Float32);
  EXPECT_EQ(sn::Tensor(f + d).dtype(), sn::DType::Float64);
  EXPECT_EQ(sn::Tensor(i + 0.5).dtype(), sn::DType::Float32);
  EXPECT_EQ(sn::Tensor(i / 2).dtype(), sn::DType::Float32);
  EXPECT_EQ(sn::Tensor((i > 1) + 0).dtype(), sn::DType::Int64);
  EXPECT_THAT(sn::Tensor(i * f).as<float>().to_vector(), ElementsAre(0.5f, 1.f, 1.5f));
  const auto bits = [](const sn::AnyTensor& x) { return sn::Tensor(x & 1); };
  EXPECT_EQ(bits(i).dtype(), sn::DType::Int64);
  EXPECT_THAT(sinter_tests::message_of<sn::DTypeError>([&] { bits(f); }),
              testing::AllOf(HasSubstr("bitwise_and"), HasSubstr("float32")));
  EXPECT_THAT(sinter_tests::message_of<sn::DTypeError>([&] { f.as<double>(); }),
              testing::AllOf(HasSubstr("float64"), HasSubstr("float32 (3,)")));
}

TEST(Expression, MixedRunTimeDevicesNameEveryOperand) {
  const sn::Tensor<float> x = sn::ones({2, 3}), y = sn::ones({2, 3}, "cuda:1"), z = sn::ones({3}, "cuda:0");
  const std::string both = sinter_tests::message_of<sn::DeviceError>([&] { sn::Tensor r = (x + 1) * y; });
  EXPECT_THAT(both, testing::AllOf(HasSubstr("Expected all tensors to be on the same device"), HasSubstr("mul"),
                                   HasSubstr("cpu"), HasSubstr("cuda:1"), HasSubstr("float32"), HasSubstr("(2, 3)"),
                                   HasSubstr(".to(")));
  EXPECT_THROW(sn::Tensor r = y + z, sn::DeviceError);
  EXPECT_EQ(sn::Tensor(y + z.to("cuda:1")).device(), sn::Device("cuda:1"));
}

TEST(Expression, ShapesThatDoNotBroadcastNameTheOperation) {
  const F a = sn::ones({2, 3}), b = sn::ones({4});
  const std::string text = sinter_tests::message_of<sn::ShapeError>([&] { sn::Tensor r = (a + 1) * (b - 2); });
  EXPECT_THAT(text,
              testing::AllOf(HasSubstr("mul"), HasSubstr("(2, 3)"), HasSubstr("(4,)"), HasSubstr("3"), HasSubstr("4")));
}

}  // namespace
