// Extents in the types of tensors: what follows from them at compile time, and the checks at run time.
#include <sinter/data.hpp>
#include <sinter/sinter.hpp>

#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices.hpp"

namespace sinter_tests {
namespace {

namespace sn = sinter;
using sn::dyn;
using sn::Extents;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

template <std::int64_t... E>
using Static = sn::Tensor<float, sn::Cpu, Extents<E...>>;
#define EXPECT_EXTENTS(e, ...) static_assert(std::is_same_v<sn::extents_of<decltype(e)>, __VA_ARGS__>)

TEST(StaticExtents, FollowFromOperands) {
  const Static<dyn, 256> x(sn::randn({8, 256}));
  const Static<256, 10> w = sn::randn({256, 10}) * 0.1;
  const Static<10> b(sn::zeros({10}));
  const sn::Tensor<float, sn::Cpu> any = sn::randn({8, 256});
  EXPECT_EXTENTS(x, Extents<dyn, 256>);
  EXPECT_EXTENTS(x * 2 + 1, Extents<dyn, 256>);
  EXPECT_EXTENTS(where(x > 0, x, 0), Extents<dyn, 256>);
  EXPECT_EXTENTS(sn::cast<double>(x), Extents<dyn, 256>);
  EXPECT_EXTENTS(x.softmax(1), Extents<dyn, 256>);
  EXPECT_EXTENTS(sn::matmul(x, w), Extents<dyn, 10>);
  EXPECT_EXTENTS(sn::matmul(x, w) + b, Extents<dyn, 10>);
  EXPECT_EXTENTS(sn::matmul(w.t(), x.t()), Extents<10, dyn>);
  EXPECT_EXTENTS(sn::matmul(b, w.t()), Extents<256>);
  EXPECT_EXTENTS(sn::dot(b, b), Extents<>);
  EXPECT_EXTENTS(x.to<double>(), Extents<dyn, 256>);
  EXPECT_EXTENTS(x + any, sn::AnyExtents);
  EXPECT_EXTENTS(x.sum(1), sn::AnyExtents);
  EXPECT_EXTENTS((x + 1).t(), sn::AnyExtents);
  EXPECT_EXTENTS(x[0], sn::AnyExtents);
  const sn::Tensor y = sn::matmul(x, w) + b;
  EXPECT_EXTENTS(y, Extents<dyn, 10>);
  EXPECT_EQ(y.shape(), sn::Shape(8, 10));
}

TEST(StaticExtents, BroadcastAsShapesDo) {
  const Static<1, 3> row(sn::ones({1, 3}));
  const Static<4, 1> column(sn::ones({4, 1}));
  const Static<dyn, 1> some(sn::ones({4, 1}));
  const Static<> one(sn::ones({}));
  EXPECT_EXTENTS(row + column, Extents<4, 3>);
  EXPECT_EXTENTS(row + some, Extents<dyn, 3>);
  EXPECT_EXTENTS(one + row, Extents<1, 3>);
  EXPECT_EXTENTS(row + 1, Extents<1, 3>);
  const Static<dyn, 3> sum = row + some;
  EXPECT_EQ(sum.shape(), sn::Shape(4, 3));
}

TEST(StaticExtents, ValuesAreThoseOfOtherTensors) {
  for (const sn::Device device : devices()) {
    const sn::Tensor any = sn::randn({5, 7}).to(device);
    const sn::Tensor<float, sn::AnyDevice, Extents<dyn, 7>> x(any);
    EXPECT_TRUE(equal(sn::Tensor((x.exp() - x).softmax(1)), sn::Tensor((any.exp() - any).softmax(1))));
    EXPECT_TRUE(equal(sn::Tensor((x + 1).t()), sn::Tensor((any + 1).t())));
    EXPECT_TRUE(equal(sn::Tensor((x * 2)[3]), sn::Tensor((any * 2)[3])));
    EXPECT_TRUE(equal(x.t(), any.t()));
    EXPECT_TRUE(equal(sn::cat({x, x}), sn::cat({any, any})));
    EXPECT_TRUE(equal(sn::sort(x, 1).values, sn::sort(any, 1).values));
    EXPECT_TRUE(equal(sn::Tensor(grad((x * x).sum(), x)), sn::Tensor(any * 2)));
    const auto parts = (x + 1).chunk(7, 1);
    EXPECT_EQ(parts[6].shape(), sn::Shape(5, 1));
    int rows = 0;
    for (auto row : x) rows += static_cast<int>(row.numel() == 7);
    EXPECT_EQ(rows, 5);
  }
}

TEST(StaticExtents, EveryFunctionTakesThem) {
  Static<dyn, 3> x(sn::arange(6).to<float>().reshape({2, 3})), y(sn::ones({2, 3}));
  const sn::Tensor<float, sn::Cpu> any = x;
  const auto takes_any = [](const sn::Tensor<float>& t) { return t.numel(); };
  EXPECT_EQ(takes_any(x), 6);
  EXPECT_EXTENTS(sn::zeros_like(x), Extents<dyn, 3>);
  EXPECT_EXTENTS(sn::full_like<double>(x, 2), Extents<dyn, 3>);
  EXPECT_EXTENTS(sn::randn_like(x), Extents<dyn, 3>);
  EXPECT_TRUE(equal(sn::Tensor(x[sn::tensor({1, 0})]), sn::Tensor(any[sn::tensor({1, 0})])));
  EXPECT_TRUE(equal(sn::gather(x, 1, sn::tensor({{2}, {0}})), sn::gather(any, 1, sn::tensor({{2}, {0}}))));
  EXPECT_TRUE(equal(sn::masked_select(x, x > 2), sn::masked_select(any, any > 2)));
  EXPECT_TRUE(equal(x.cumsum(1), any.cumsum(1)));
  EXPECT_TRUE(equal(sn::Tensor(sn::einsum("ij,kj->ik", x, y)), sn::Tensor(sn::einsum("ij,kj->ik", any, y))));
  EXPECT_TRUE(equal(sn::Tensor(sn::let(x + 1, [](auto a) { return a * a; })), sn::Tensor((any + 1) * (any + 1))));
  EXPECT_TRUE(equal(sn::eager(x * 2), sn::Tensor(any * 2)));
  EXPECT_TRUE(equal(sn::Tensor(sn::Lazy(x) + y), sn::Tensor(any + 1)));
  EXPECT_TRUE(equal(sn::stack({x, y}), sn::stack({any, sn::Tensor<float, sn::Cpu>(y)})));
  EXPECT_EQ(sn::TensorDataset(x, y).size(), 2);
  const auto [sum, product] = sn::evaluate(x + y, x * y);
  EXPECT_TRUE(equal(sum, sn::Tensor(any + 1)));
  EXPECT_TRUE(equal(product, any));
  sn::evaluate(sn::into(x, y + 1), sn::into(y, x * 2));
  EXPECT_TRUE(equal(x, sn::full<float>({2, 3}, 2)));
  EXPECT_EQ(y.to_vector(), (std::vector<float>{0, 2, 4, 6, 8, 10}));
  std::swap(x, y);
  x.masked_fill_(x > 5, -1);
  x.scatter_(1, sn::tensor({{0}, {0}}), sn::tensor<float>({{7}, {8}}));
  EXPECT_EQ(x.to_vector(), (std::vector<float>{7, 2, 4, 8, -1, -1}));
  EXPECT_EQ((sn::Tensor<sn::AnyType, sn::Cpu, Extents<dyn, 3>>(x).visit([](const auto& t) { return t.numel(); })), 6);
  EXPECT_EQ(Static<>(x.sum()).item(), 19);
}

TEST(StaticExtents, AreWrittenTo) {
  Static<2, 3> x(sn::zeros({2, 3}));
  const Static<3> row(sn::tensor<float>({1, 2, 3}));
  x += row;
  x *= 2;
  x[1] = row * 10;
  EXPECT_EQ(x.to_vector(), (std::vector<float>{2, 4, 6, 10, 20, 30}));
  x.assign(row);
  x = x + 1;
  EXPECT_EQ(x.to_vector(), (std::vector<float>{2, 3, 4, 2, 3, 4}));
  sn::Tensor<float, sn::Cpu> any = x;  // less specific
  any = x + 1;
  EXPECT_EQ(any.shape(), sn::Shape(2, 3));
}

TEST(StaticExtents, AreCheckedAtRunTimeWhereTypesDoNotShowThem) {
  const sn::Tensor<float, sn::Cpu> any = sn::randn({8, 255});
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)Static<dyn, 256>(any); }),
              AllOf(HasSubstr("(8, 255) has 255 positions along axis 1"), HasSubstr("Extents<dyn, 256>"),
                    HasSubstr("has 256")));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)Static<dyn>(any); }),
              AllOf(HasSubstr("has 2 axes"), HasSubstr("Extents<dyn> in a tensor's type has 1")));
  Static<dyn, 256> x;
  EXPECT_THAT(message_of<sn::ShapeError>([&] { x = any * 2; }), HasSubstr("has 255 positions"));
  EXPECT_FALSE(x.defined());
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)Static<8>(any.sum(0)); }), HasSubstr("(255,)"));
  EXPECT_NO_THROW(Static<255>(any.sum(0)));
  const Static<dyn, dyn> wide(any);
  EXPECT_THROW((Static<8, 8>(wide)), sn::ShapeError);
  EXPECT_NO_THROW((Static<8, 255>(wide)));
}

TEST(StaticExtents, ConvertImplicitlyToLessSpecificTypesOnly) {
  static_assert(std::is_convertible_v<Static<2, 3>, Static<dyn, 3>>);
  static_assert(std::is_convertible_v<Static<2, 3>, sn::AnyTensor>);
  static_assert(!std::is_convertible_v<Static<dyn, 3>, Static<2, 3>>);
  static_assert(std::is_constructible_v<Static<2, 3>, Static<dyn, 3>>);
  static_assert(!std::is_convertible_v<sn::Tensor<float, sn::Cpu>, Static<dyn, 3>>);
}

TEST(StaticExtents, FixTheSizesOfExportedKernels) {
  const Static<dyn, 256> x(sn::ones({8, 256}));
  const sn::Tensor<float, sn::Cpu> any = x;
  const sn::LibraryOptions for_cpu{.architectures = {}};
  const auto header = [&](const auto& e) {
    return sn::export_kernel(e, {.name = "k", .sizes = {{"rows"}}}, for_cpu).files.at("k.h");
  };
  EXPECT_THAT(header(x.softmax(1)), AllOf(HasSubstr("int64_t rows"), Not(HasSubstr("int64_t s0"))));
  EXPECT_THAT(header(any.softmax(1)), HasSubstr("int64_t s0"));
  EXPECT_THAT(header(any + x), Not(HasSubstr("int64_t s0"))) << "the other operand's extents follow";
}

}  // namespace
}  // namespace sinter_tests
