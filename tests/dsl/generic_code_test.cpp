// What generic C++ code relies on: functions found by argument-dependent lookup, numbers as operands, tensors as
// ranges, dtypes that are known only at run time.
#include <sinter/sinter.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <ranges>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices.hpp"

namespace sinter_tests {
namespace {

namespace sn = sinter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
auto log_of_one_plus_exp(const T& x) {
  using std::exp, std::log;
  return log(exp(x) + 1);
}

TEST(GenericCode, TheSameTemplateTakesNumbersTensorsExpressionsAndLazyOnes) {
  const sn::Tensor x = sn::tensor<double>({0, 1, 2});
  const sn::Lazy lazy = x + 0;
  for (int i = 0; i < 3; ++i) {
    const double want = log_of_one_plus_exp(static_cast<double>(i));
    EXPECT_NEAR(sn::Tensor(log_of_one_plus_exp(x)).to_vector()[static_cast<std::size_t>(i)], want, 1e-15);
    EXPECT_NEAR(sn::Tensor(log_of_one_plus_exp(x * 1)).to_vector()[static_cast<std::size_t>(i)], want, 1e-15);
    EXPECT_NEAR(sn::Tensor(log_of_one_plus_exp(lazy)).to_vector()[static_cast<std::size_t>(i)], want, 1e-15);
  }
}

TEST(GenericCode, FunctionsAreFoundByTheirArguments) {
  const sn::Tensor x = sn::tensor<float>({{-1, 2}, {3, -4}});
  EXPECT_EQ(sn::Tensor(abs(x)).to_vector(), sn::Tensor(sn::abs(x)).to_vector());
  EXPECT_EQ(sn::Tensor(where(x > 0, x, 0)).to_vector(), (std::vector<float>{0, 2, 3, 0}));
  EXPECT_EQ(sn::Tensor(maximum(x, 1)).to_vector(), (std::vector<float>{1, 2, 3, 1}));
  EXPECT_EQ(sum(x + 1).item(), 4);
  EXPECT_THAT(sn::Tensor(sum(x, 0)).to_vector(), ElementsAre(2, -2));
  EXPECT_THAT(sn::Tensor(amax(x, {0, 1}, sn::keepdim)).shape(), sn::Shape({1, 1}));
  EXPECT_EQ(sn::Tensor(softmax(x, 1)).to_vector(), sn::Tensor(sn::softmax(x, 1)).to_vector());
  EXPECT_EQ(sn::Tensor(var(x, 0, 0)).to_vector(), sn::Tensor(sn::var(x, 0, 0)).to_vector());
}

/// A program's own functions, some named like operations.
namespace own {

struct Own {};
[[maybe_unused]] Own gelu(const sn::Tensor<float>&) { return {}; }
template <class X>
Own sigmoid(const X&) {
  return {};
}
template <class X>
Own mean(X&&) {
  return {};
}
template <sn::expression X>
Own silu(const X&) {
  return {};
}
[[maybe_unused]] Own log(const std::string&, const sn::AnyTensor&) { return {}; }
[[maybe_unused]] Own add(const std::vector<int>&, const sn::AnyTensor&) { return {}; }

TEST(GenericCode, AFunctionOfTheProgramsOwnIsPreferred) {
  sn::Tensor<float> x = sn::tensor<float>({1, 2});
  static_assert(std::is_same_v<decltype(gelu(x)), Own>);
  static_assert(std::is_same_v<decltype(sigmoid(x)), Own> && std::is_same_v<decltype(sigmoid(x + 1)), Own>);
  static_assert(std::is_same_v<decltype(mean(x)), Own> && std::is_same_v<decltype(mean(x + 1)), Own>);
  static_assert(std::is_same_v<decltype(silu(x)), Own> && std::is_same_v<decltype(silu(x + 1)), Own>);
  EXPECT_THAT(sn::Tensor(square(x)).to_vector(), ElementsAre(1, 4));
  static_assert(std::is_same_v<decltype(log("loss", x)), Own> && std::is_same_v<decltype(add(std::vector{1}, x)), Own>);
}

// An expression is no number, so it converts to a tensor where both are taken.
std::string taken(double) { return "number"; }
std::string taken(const sn::Tensor<float>&) { return "tensor"; }

TEST(GenericCode, AnExpressionConvertsToATensorOnly) {
  const sn::Tensor<float> x = sn::tensor<float>({1, 2});
  EXPECT_EQ(taken(x + 1), "tensor");
  EXPECT_EQ(taken(3), "number");
  const std::variant<double, sn::Tensor<float>> v = x + 1;
  EXPECT_EQ(v.index(), 1u);
  static_assert(!std::is_convertible_v<sn::Tensor<float>, double> && !std::is_convertible_v<sn::Tensor<float>, bool>);
  static_assert(!std::equality_comparable<sn::Tensor<float>>);
  const sn::Tensor<float> y = std::ref(x);
  sn::Tensor<float> z = x.clone();
  z = std::ref(x);
  EXPECT_TRUE(y.same_storage(x) && z.same_storage(x));
}

}  // namespace own

TEST(Infinity, IsANumber) {
  const sn::Tensor x = sn::tensor<float>({1, 2, 3});
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(sn::Tensor(sn::where(x > 1, x, -sn::inf)).to_vector(), ElementsAre(-inf, 2, 3));
  EXPECT_THAT(sn::Tensor(x * sn::inf).to_vector(), ElementsAre(inf, inf, inf));
  EXPECT_THAT(sn::Tensor(x == sn::inf).to_vector(), ElementsAre(false, false, false));
  EXPECT_THAT(sn::full({2}, -sn::inf).to_vector(), ElementsAre(-inf, -inf));
  EXPECT_THAT(sn::full_like(x, sn::inf).to_vector(), ElementsAre(inf, inf, inf));
  sn::Tensor y = x.clone();
  y.masked_fill_(y > 2, -sn::inf);
  y[0] = sn::inf;
  EXPECT_THAT(y.to_vector(), ElementsAre(inf, 2, -inf));
  EXPECT_EQ(sn::Tensor(sn::norm(x, sn::inf)).item(), 3);
  EXPECT_EQ(sn::Tensor(sn::norm(x, -sn::inf)).item(), 1);
  const sn::Lazy lazy = x + 0;
  EXPECT_THAT(sn::Tensor(lazy - sn::inf).to_vector(), ElementsAre(-inf, -inf, -inf));
  EXPECT_EQ(static_cast<double>(-sn::inf), -std::numeric_limits<double>::infinity());
  EXPECT_THROW(sn::full<std::int32_t>({2}, sn::inf), sn::Error);
}

TEST(Rows, ARangeOfViews) {
  sn::Tensor x = sn::tensor<float>({{1, 2}, {3, 4}, {5, 6}});
  std::vector<float> sums;
  for (auto row : x) {
    row += 1;  // the view's memory is x's
    sums.push_back(row.sum().item());
  }
  EXPECT_THAT(sums, ElementsAre(5, 9, 13));
  EXPECT_THAT(x.to_vector(), ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_EQ(x.end() - x.begin(), 3);
  EXPECT_THAT((*(x.begin() + 2)).to_vector(), ElementsAre(6, 7));
  EXPECT_THAT(x.begin()[1].to_vector(), ElementsAre(4, 5));
  EXPECT_EQ(std::prev(x.end()) - x.begin(), 2);
  static_assert(std::ranges::random_access_range<sn::Tensor<float>>);
  const auto last = std::ranges::max_element(x, {}, [](const auto& row) { return row.sum().item(); });
  EXPECT_EQ(last - x.begin(), 2);
  std::ranges::reverse(x);
  EXPECT_THAT(x.to_vector(), ElementsAre(6, 7, 4, 5, 2, 3));
  std::ranges::rotate(x, x.begin() + 1);
  EXPECT_THAT(x.to_vector(), ElementsAre(4, 5, 2, 3, 6, 7));
  std::ranges::iter_swap(x.begin(), x.begin() + 1);
  EXPECT_THAT(x.to_vector(), ElementsAre(2, 3, 4, 5, 6, 7));
  int scalars = 0;
  for (const auto& element : x[0]) scalars += element.dim() == 0;
  EXPECT_EQ(scalars, 2);
  EXPECT_TRUE(sn::zeros({0, 3}).begin() == sn::zeros({0, 3}).end());
  EXPECT_THROW((void)sn::tensor(1.f).end(), sn::IndexError);
}

TEST(RunTimeDtype, ConvertsReadsAndVisits) {
  const sn::AnyTensor x = sn::tensor<double>({1.5, -2.5});
  const sn::AnyTensor whole = x.to(sn::DType::Int32);
  EXPECT_EQ(whole.dtype(), sn::DType::Int32);
  EXPECT_THAT(whole.as<std::int32_t>().to_vector(), ElementsAre(1, -2));
  EXPECT_EQ(sn::Tensor((x + 1).to(sn::DType::Float16)).dtype(), sn::DType::Float16);
  EXPECT_EQ((x + 1).sum().item<float>(), 1);
  const sn::Tensor w = sn::tensor<double>({3, 4});
  const sn::Tensor squares = sn::grad((w * w).to(sn::DType::Float32).sum(), w);  // an unevaluated conversion
  EXPECT_THAT(squares.to_vector(), ElementsAre(6, 8));
  EXPECT_EQ(x[0].item<float>(), 1.5f);
  EXPECT_EQ(x[1].item<std::int64_t>(), -2);
  EXPECT_THROW((void)x.item<float>(), sn::Error);
  for (const sn::DType t : {sn::DType::Bool, sn::DType::UInt8, sn::DType::BFloat16, sn::DType::Complex64})
    EXPECT_EQ(x.to(t).visit([](const auto& typed) {
      return sn::dtype_of<typename std::remove_cvref_t<decltype(typed)>::value_type>;
    }),
              t);
  EXPECT_THROW((void)sn::tensor(std::complex<float>(1, 2)).to(sn::DType::Float32), sn::DTypeError);
}

TEST(ValuesAndIndices, PrintAsPyTorchsReturnTypes) {
  const sn::Tensor x = sn::tensor<float>({{1, 5}, {4, 2}});
  std::ostringstream out;
  out << x.max(0);
  EXPECT_EQ(out.str(), "(\nvalues=tensor([4., 5.]),\nindices=tensor([1, 0]))");
  std::ostringstream lazy;
  lazy << (x + 0).max(1);
  EXPECT_THAT(lazy.str(), HasSubstr("values=tensor([5., 4.])"));
}

TEST(Permute, TakesBraces) {
  const sn::Tensor x = sn::tensor<float>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(x.permute({1, 0}).shape(), sn::Shape({3, 2}));
  EXPECT_THAT(x.flip({0, 1}).to_vector(), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_EQ((x + 1).permute({-1, 0}).shape(), sn::Shape({3, 2}));
  EXPECT_THROW((void)x.permute({0}), sn::Error);
}

}  // namespace
}  // namespace sinter_tests
