// Losses, dense layers, and group_norm.
#include <fmt/format.h>

#include <sinter/dsl/loss.hpp>
#include <sinter/dsl/matmul.hpp>

#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Any = Lazy<AnyType>;

/// The losses reduced as the argument says: 'mean', 'sum' or 'none'. f returns them for a reduction.
template <class F>
TextValue reduced_by(const Arguments& a, std::size_t i, F f) {
  const std::string_view kind = a.text(i, "mean");
  if (kind == "mean") return value_of(Any(f(reduction::mean)));
  if (kind == "sum") return value_of(Any(f(reduction::sum)));
  if (kind != "none") a.wrong(i, "'mean', 'sum' or 'none'");
  return value_of(Any(f(reduction::none)));
}

Any floats_in(const Arguments& a, std::size_t i) {
  const TextValue& x = a.tensor(i);
  check_real_floats(a.name(), {x.shape, x.node->dtype(), x.node->device()});
  return x.lazy();
}

/// Of losses by element.
TextValue mean_of(const Arguments& a, std::size_t i, const Any& losses) {
  return reduced_by(a, i, [&](auto kind) { return reduced(kind, losses); });
}

TextValue mse(const Arguments& a) { return mean_of(a, 2, mse_loss(floats_in(a, 0), floats_in(a, 1), reduction::none)); }
TextValue l1(const Arguments& a) { return mean_of(a, 2, l1_loss(floats_in(a, 0), floats_in(a, 1), reduction::none)); }
TextValue huber(const Arguments& a) {
  return mean_of(a, 2, huber_loss(floats_in(a, 0), floats_in(a, 1), a.real(3, 1), reduction::none));
}
TextValue smooth_l1(const Arguments& a) {
  return mean_of(a, 2, smooth_l1_loss(floats_in(a, 0), floats_in(a, 1), a.real(3, 1), reduction::none));
}

/// Elementwise losses times an optional weight.
TextValue weighted(const Arguments& a, Any losses, std::size_t weight, std::size_t kind) {
  if (a[weight]) losses = losses * a.tensor(weight).lazy();
  return mean_of(a, kind, losses);
}
TextValue bce(const Arguments& a) {
  return weighted(a, binary_cross_entropy(floats_in(a, 0), floats_in(a, 1), reduction::none), 2, 3);
}
TextValue bce_with_logits(const Arguments& a) {
  const Any x = floats_in(a, 0), y = floats_in(a, 1);
  const Any losses =
      a[3] ? Any(binary_cross_entropy_with_logits(x, y, loss::pos_weight(a.tensor(3).lazy()), reduction::none))
           : Any(binary_cross_entropy_with_logits(x, y, reduction::none));
  return weighted(a, losses, 2, 4);
}

/// Calls f with the weight of each class as an option, or with none.
template <class F>
auto with_weight(const Arguments& a, std::size_t i, F f) {
  return a[i] ? f(loss::weight(a.tensor(i).lazy())) : f();
}

TextValue nll(const Arguments& a) {
  const Any x = floats_in(a, 0), target = a.tensor(1).lazy();
  const loss::ignore_index ignored(a.integer(3, -100));
  return reduced_by(a, 4, [&](auto kind) {
    return with_weight(a, 2, [&](const auto&... weight) { return Any(nll_loss(x, target, ignored, kind, weight...)); });
  });
}

TextValue ce(const Arguments& a) {
  const Any x = floats_in(a, 0), target = a.tensor(1).lazy();
  const bool of_classes = category(target.node()->dtype()) < Category::Float;
  const loss::ignore_index ignored(a.integer(3, -100));
  const double smoothing = checked_smoothing(a.real(5, 0));
  return reduced_by(a, 4, [&](auto kind) {
    return with_weight(a, 2, [&](const auto&... weight) {
      if (!of_classes)
        return Any(cross_entropy_of_probabilities(x, target, operand_among<loss::weight>(weight...), kind, smoothing));
      if (smoothing == 0) return Any(cross_entropy(x, target, ignored, kind, weight...));
      return Any(cross_entropy(x, target, ignored, kind, loss::label_smoothing(smoothing), weight...));
    });
  });
}

TextValue dense(const Arguments& a) {
  const Any product = matmul(a.tensor(0).lazy(), a.tensor(1).lazy().t());
  return value_of(a[2] ? Any(product + a.tensor(2).lazy()) : product);
}

/// beta x + alpha a b
template <const auto& product>
TextValue added_product(const Arguments& a) {
  TextValue sum = a.tensor(0), made = value_of(Any(product(a.tensor(1).lazy(), a.tensor(2).lazy())));
  const auto scaled = [&](const TextValue& x, std::size_t by) {
    if (!a[by]) return x;
    const TextValue factors[] = {x, a.operand(by)};
    return applied(Op::mul, factors);
  };
  const TextValue terms[] = {scaled(sum, 3), scaled(made, 4)};
  return applied(Op::add, terms);
}

TextValue outer_product(const Arguments& a) { return value_of(outer(a.tensor(0).lazy(), a.tensor(1).lazy())); }

TextValue classes(const Arguments& a) { return value_of(one_hot(a.tensor(0).lazy(), a.integer(1))); }

/// In x's dtype, whose category must not be lower than the value's.
TextValue masked(const Arguments& a) {
  const TextValue &x = a.tensor(0), &mask = a.tensor(1), &value = a.operand(2);
  if (mask.node->dtype() != DType::Bool) a.wrong(1, "a mask of bools");
  const DType dtype = x.node->dtype();
  const Category given =
      value.kind == TextValue::Kind::Number ? value.number.category : category(node_of(value)->dtype());
  if (given > category(dtype))
    throw DTypeError(fmt::format("masked_fill: the value, {}, is of a higher category than {}: convert one of them",
                                 describe(value), describe(x)));
  const TextValue operands[] = {mask, value, x};
  const TextValue filled = applied(Op::where, operands);
  return filled.node->dtype() == dtype ? filled : cast_value(filled, dtype);
}

TextValue group_normalized(const Arguments& a) {
  const Any x = floats_in(a, 0);
  const TextValue& given = a.tensor(0);
  const Groups g = groups_of({given.shape, x.node()->dtype(), x.device()}, a.integer(1));
  Any normal = standardized(g.axes, Any(x.unflatten(1, g.split)), a.real(4, 1e-5));
  if (a[2]) normal = normal * a.tensor(2).lazy().reshape(g.of_channels);
  if (a[3]) normal = normal + a.tensor(3).lazy().reshape(g.of_channels);
  return value_of(normal.flatten(1, 2));
}

}  // namespace

std::span<const TextFunction> loss_functions() {
  static const auto& all = *new std::vector<TextFunction>{
      {"mse_loss", "input, target, *, reduction=\"mean\"", "(x - y)^2, reduced by \"mean\", \"sum\" or \"none\"", mse},
      {"l1_loss", "input, target, *, reduction=\"mean\"", "|x - y|, reduced by \"mean\", \"sum\" or \"none\"", l1},
      {"huber_loss", "input, target, *, reduction=\"mean\", delta=1.0",
       "(x - y)^2 / 2 where |x - y| is below delta, else delta (|x - y| - delta / 2)", huber},
      {"smooth_l1_loss", "input, target, *, reduction=\"mean\", beta=1.0",
       "(x - y)^2 / 2 / beta where |x - y| is below beta, else |x - y| - beta / 2", smooth_l1},
      {"binary_cross_entropy", "input, target, weight=None, *, reduction=\"mean\"",
       "the cross entropy of probabilities and targets in [0, 1]", bce},
      {"binary_cross_entropy_with_logits", "input, target, weight=None, *, pos_weight=None, reduction=\"mean\"",
       "the binary cross entropy of sigmoid(x), without its rounding", bce_with_logits},
      {"nll_loss", "input, target, weight=None, *, ignore_index=-100, reduction=\"mean\"",
       "-x at each row's class, of log-probabilities (rows, classes, ...)", nll},
      {"cross_entropy", "input, target, weight=None, *, ignore_index=-100, reduction=\"mean\", label_smoothing=0.0",
       "the cross entropy of scores (rows, classes, ...) and targets: classes, or probabilities in the scores' shape",
       ce},
      {"linear", "input, weight, bias=None", "x times the transposed weight, plus the bias", dense},
      {"addmm", "input, mat1, mat2, *, beta=None, alpha=None", "beta x + alpha times the product of two matrices",
       added_product<mm>},
      {"baddbmm", "input, batch1, batch2, *, beta=None, alpha=None",
       "beta x + alpha times the products of two batches of matrices", added_product<bmm>},
      {"outer", "input, vec2", "the products of all pairs of elements of two vectors", outer_product},
      {"one_hot", "input, num_classes", "1 where the class equals the element, else 0, along a new last axis", classes},
      {"masked_fill", "input, mask, value", "x with a value where the mask is true", masked},
      {"group_norm", "input, num_groups, weight=None, bias=None, eps=1e-05",
       "x less its mean, divided by its standard deviation, over groups of channels, the second axis; times weight, "
       "plus bias",
       group_normalized},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
