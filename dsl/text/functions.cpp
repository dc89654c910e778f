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

/// The order of a norm. 'fro' is 2: the Frobenius norm of a matrix is the norm of all its elements.
double order_of(const Arguments& a) {
  if (!a[1] || a[1]->kind != TextValue::Kind::Text) return a.real(1, 2);
  if (a[1]->text != "fro") a.wrong(1, "a number, infinity, or 'fro'");
  return 2;
}

TextValue norm_of(const Arguments& a) {
  const Any x = a.tensor(0).lazy();
  return TextValue::tensor(
      with_order(order_of(a), [&](auto p) -> Any { return norm(x, p, a.axes(2), KeepDim(a.flag(3))); }));
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

/// a + alpha b, a - alpha b
template <Op op>
TextValue with_factor(const Arguments& a) {
  TextValue both[] = {a.operand(0), a.operand(1)};
  if (a[2]) {
    const TextValue factors[] = {both[1], a.operand(2)};
    both[1] = applied(Op::mul, factors);
  }
  return applied(op, both);
}

TextValue quotient(const Arguments& a) {
  const TextValue both[] = {a.operand(0), a.operand(1)};
  if (!a[2]) return applied(Op::div, both);
  const std::string_view mode = a.text(2, "");
  if (mode != "floor" && mode != "trunc") a.wrong(2, "None, 'floor' or 'trunc'");
  return applied(mode == "floor" ? Op::floor_divide : Op::trunc_divide, both);
}

TextValue rounded(const Arguments& a) {
  const TextValue x = a.operand(0);
  const std::int64_t decimals = a.integer(1, 0);
  if (decimals == 0) return applied(Op::round, {&x, 1});
  const TextValue scale = TextValue::of(TextNumber::of(std::pow(10.0, std::abs(static_cast<double>(decimals)))));
  const TextValue first[] = {x, scale};
  const TextValue scaled = applied(decimals > 0 ? Op::mul : Op::div, first);
  const TextValue second[] = {applied(Op::round, {&scaled, 1}), scale};
  return applied(decimals > 0 ? Op::div : Op::mul, second);
}

TextValue gelu_of(const Arguments& a) {
  const TextValue x = a.operand(0);
  const std::string_view approximate = a.text(1, "none");
  if (approximate != "none" && approximate != "tanh") a.wrong(1, "'none' or 'tanh'");
  return applied(approximate == "none" ? Op::gelu : Op::gelu_tanh, {&x, 1});
}

}  // namespace

std::span<const TextFunction> text_functions() {
  static const auto& all = *new std::vector<TextFunction>{
      {"add", "input, other, *, alpha=None", doc(Op::add), with_factor<Op::add>},
      {"sub", "input, other, *, alpha=None", doc(Op::sub), with_factor<Op::sub>},
      {"subtract", "input, other, *, alpha=None", doc(Op::sub), with_factor<Op::sub>},
      {"div", "input, other, *, rounding_mode=None", doc(Op::div), quotient},
      {"divide", "input, other, *, rounding_mode=None", doc(Op::div), quotient},
      {"round", "input, decimals=0", "the nearest number of so many decimals, halves to even", rounded},
      {"gelu", "input, approximate=\"none\"", doc(Op::gelu), gelu_of},
      {"norm", "input, p=2, axis=None, keepdim=False", "the p-norm along axes, or of all elements", norm_of},
      {"normalize", "input, p=2, axis=1, eps=1e-12",
       "x divided by its p-norm along an axis, or by eps where that is smaller", normalized},
      {"cosine_similarity", "input, other, axis=1, eps=1e-08", "the cosine of the angle between a and b along an axis",
       similarity},
      {"layer_norm", "input, normalized_shape, weight=None, bias=None, eps=1e-05",
       "x less its mean, divided by its standard deviation, over the last axes; times weight, plus bias",
       layer_normalized},
      {"rms_norm", "input, normalized_shape, weight=None, eps=None",
       "x divided by its root mean square over the last axes; times weight", rms_normalized},
      {"matmul", "input, other", "the matrix product of a and b, of batches of them, of matrix and vector",
       product_of<matmul>},
      {"mm", "input, other", "the product of two matrices", product_of<mm>},
      {"bmm", "input, other", "the products of two batches of matrices", product_of<bmm>},
      {"mv", "input, other", "the product of a matrix and a vector", product_of<mv>},
      {"dot", "input, other", "the inner product of two vectors", product_of<dot>},
      {"max", "input, other=None", "the largest element, or the larger one of each two",
       extreme<Op::amax, Op::maximum>},
      {"min", "input, other=None", "the smallest element, or the smaller one of each two",
       extreme<Op::amin, Op::minimum>},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
