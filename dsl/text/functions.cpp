#include <fmt/format.h>

#include <cmath>

#include <sinter/dsl/matmul.hpp>
#include <sinter/dsl/normalize.hpp>
#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Any = Lazy<AnyType>;

/// Calls use() with the order as a constant if it has a formula of its own, else as a number.
template <class F>
Any with_order(double p, F use) {
  if (p == 0) return use(std::integral_constant<int, 0>());
  if (p == 1) return use(std::integral_constant<int, 1>());
  if (p == 2) return use(std::integral_constant<int, 2>());
  if (std::isinf(p)) return p > 0 ? use(Infinity()) : use(NegativeInfinity());
  return use(p);
}

TextValue norm_of(const Arguments& a) {
  const Any x = a.tensor(0).lazy();
  return TextValue::tensor(
      with_order(a.real(1, 2), [&](auto p) -> Any { return norm(x, p, a.axes(2), KeepDim(a.flag(3))); }));
}

TextValue normalized(const Arguments& a) {
  const Any x = a.tensor(0).lazy();
  return TextValue::tensor(
      with_order(a.real(1, 2), [&](auto p) -> Any { return normalize(x, p, a.axes(2, 1), a.real(3, 1e-12)); }));
}

TextValue similarity(const Arguments& a) {
  return TextValue::tensor(cosine_similarity(a.tensor(0).lazy(), a.tensor(1).lazy(), a.axes(2, 1), a.real(3, 1e-8)));
}

/// x weight + bias over the normalized axes; either may be missing.
Any scaled(std::string_view operation, Any x, const Arguments& a, std::size_t weight, std::size_t bias) {
  const auto parameter = [&](std::string_view called, std::size_t i) {
    Any given = a.tensor(i).lazy();
    check_parameter(operation, called, given, a.shape(1));
    return given;
  };
  if (a[weight]) x = x * parameter("weight", weight);
  if (bias < a.size() && a[bias]) x = x + parameter("bias", bias);
  return x;
}

TextValue layer_normalized(const Arguments& a) {
  return TextValue::tensor(scaled("layer_norm", layer_norm(a.tensor(0).lazy(), a.shape(1), a.real(4, 1e-5)), a, 2, 3));
}

TextValue rms_normalized(const Arguments& a) {
  std::optional<double> eps;
  if (a[3]) eps = a.real(3, 0);
  return TextValue::tensor(scaled("rms_norm", rms_norm(a.tensor(0).lazy(), a.shape(1), eps), a, 2, a.size()));
}

template <const auto& product>
TextValue product_of(const Arguments& a) {
  return TextValue::tensor(Any(product(a.tensor(0).lazy(), a.tensor(1).lazy())));
}

/// The largest element, or the larger of two tensors: torch.max chooses by its second argument.
template <Op of_all, Op of_two>
TextValue extreme(const Arguments& a) {
  if (!a[1]) {
    const Any x = a.tensor(0).lazy();
    return TextValue::tensor(Any(Reduces1<of_all>{}(x)));
  }
  if (!a[1]->is_tensor())
    a.wrong(1, fmt::format("another tensor; along an axis there are {0}(x, axis) and arg{1}(x, axis)", name(of_all),
                           name(of_all).substr(1)));
  const TextValue both[] = {a.tensor(0), a.tensor(1)};
  return applied(of_two, both);
}

}  // namespace

std::span<const TextFunction> text_functions() {
  static const auto& all = *new std::vector<TextFunction>{
      {"norm",
       {"input", "p", "axis", "keepdim"},
       {"2", "None", "False"},
       "the p-norm along axes, or of all elements",
       norm_of},
      {"normalize",
       {"input", "p", "axis", "eps"},
       {"2", "1", "1e-12"},
       "x divided by its p-norm along an axis, or by eps where that is smaller",
       normalized},
      {"cosine_similarity",
       {"input", "other", "axis", "eps"},
       {"1", "1e-08"},
       "the cosine of the angle between a and b along an axis",
       similarity},
      {"layer_norm",
       {"input", "normalized_shape", "weight", "bias", "eps"},
       {"None", "None", "1e-05"},
       "x less its mean, divided by its standard deviation, over the last axes; times weight, plus bias",
       layer_normalized},
      {"rms_norm",
       {"input", "normalized_shape", "weight", "eps"},
       {"None", "None"},
       "x divided by its root mean square over the last axes; times weight",
       rms_normalized},
      {"matmul",
       {"input", "other"},
       {},
       "the matrix product of a and b, of batches of them, of matrix and vector",
       product_of<matmul>},
      {"mm", {"input", "other"}, {}, "the product of two matrices", product_of<mm>},
      {"bmm", {"input", "other"}, {}, "the products of two batches of matrices", product_of<bmm>},
      {"mv", {"input", "other"}, {}, "the product of a matrix and a vector", product_of<mv>},
      {"dot", {"input", "other"}, {}, "the inner product of two vectors", product_of<dot>},
      {"max",
       {"input", "other"},
       {"None"},
       "the largest element, or the larger one of each two",
       extreme<Op::amax, Op::maximum>},
      {"min",
       {"input", "other"},
       {"None"},
       "the smallest element, or the smaller one of each two",
       extreme<Op::amin, Op::minimum>},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
