// Losses, as in torch.nn.functional: formulas of elementwise operations and reductions, which fuse with the expression
// around them.
#pragma once
#include <sinter/dsl/function.hpp>
#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/normalize.hpp>

namespace sinter::inline v1 {

/// How the losses of elements or rows are reduced: to their mean, to their sum, or not at all.
namespace reduction {
inline constexpr struct Mean {
} mean;
inline constexpr struct Sum {
} sum;
inline constexpr struct None {
} none;
}  // namespace reduction

/// Further arguments of losses, in any order.
namespace loss {
/// A class whose rows are ignored.
struct ignore_index {
  std::int64_t value;
  explicit constexpr ignore_index(std::int64_t v) : value(v) {}
};
/// The share of the target's probability that is spread over all classes.
struct label_smoothing {
  double value;
  explicit constexpr label_smoothing(double v) : value(v) {}
};
/// The weight of each class.
template <class W>
struct weight {
  W value;
  explicit weight(const W& w) : value(w) {}
};
/// The weight of positive targets.
template <class W>
struct pos_weight {
  W value;
  explicit pos_weight(const W& w) : value(w) {}
};
}  // namespace loss

namespace detail {

template <class R>
concept loss_reduction =
    std::is_same_v<R, reduction::Mean> || std::is_same_v<R, reduction::Sum> || std::is_same_v<R, reduction::None>;

/// The reduction among a call's arguments, or `fallback`.
template <class Otherwise>
constexpr Otherwise reduction_among(Otherwise fallback) noexcept {
  return fallback;
}
template <class Otherwise, class First, class... Rest>
constexpr auto reduction_among(Otherwise fallback, First first, Rest... rest) noexcept {
  if constexpr (loss_reduction<First>)
    return first;
  else
    return reduction_among(fallback, rest...);
}
template <class Wanted>
constexpr Wanted option_among(Wanted fallback) noexcept {
  return fallback;
}
template <class Wanted, class First, class... Rest>
constexpr Wanted option_among(Wanted fallback, const First& first, const Rest&... rest) noexcept {
  if constexpr (std::is_same_v<First, Wanted>)
    return first;
  else
    return option_among(fallback, rest...);
}
/// The value of an option with an operand, or None if it is not given.
template <template <class> class Wanted>
constexpr reduction::None operand_among() noexcept {
  return {};
}
template <template <class> class Wanted, class First, class... Rest>
constexpr auto operand_among(const First& first, const Rest&... rest) noexcept {
  if constexpr (requires { []<class W>(const Wanted<W>&) {}(first); })
    return first.value;
  else
    return operand_among<Wanted>(rest...);
}
/// Whether an argument is an option with an operand.
template <class O, template <class> class Wanted>
inline constexpr bool is_option = requires { []<class W>(const Wanted<W>&) {}(std::declval<const O&>()); };
/// The options of losses of probabilities and of classes. Others are rejected rather than ignored.
template <class O>
inline constexpr bool is_probability_option = loss_reduction<O> || is_option<O, loss::weight>;
template <class O>
inline constexpr bool is_class_option = is_probability_option<O> || std::is_same_v<O, loss::ignore_index>;
#define SINTER_LOSS_OPTION(takes) \
  "after its operands this loss takes " takes ", and a reduction, such as reduction::sum"

template <class A>
inline constexpr bool is_given = !std::is_same_v<std::remove_cvref_t<A>, reduction::None>;

template <class R, class E>
auto reduced(R, const E& losses) {
  if constexpr (is_error<E> || std::is_same_v<R, reduction::None>)
    return losses;
  else if constexpr (std::is_same_v<R, reduction::Mean>)
    return mean(losses);
  else
    return sum(losses);
}

#define SINTER_LOSS_FLOATS "a loss takes floats: convert with cast<float>(x)"

/// An elementwise loss of two operands that the formula uses several times.
template <class R, class X, class Y, class F>
auto elementwise_loss(R kind, X&& x, Y&& y, F formula) {
  static_assert(same_device<device_of<X>, device_of<Y>>, SINTER_DIFFERENT_DEVICES);
  static_assert(may_be_float<value_type_of<X>> && may_be_float<value_type_of<Y>>, SINTER_LOSS_FLOATS);
  if constexpr (!same_device<device_of<X>, device_of<Y>> || is_error<X> || is_error<Y>)
    return ErrorExpression();
  else
    return reduced(kind, function(formula)(std::forward<X>(x), std::forward<Y>(y)));
}

/// The classes axis of scores: axis 1, or axis 0 for scores without a batch.
struct Classes {
  int axis;
  jit::ReduceAxes along;
  std::int64_t count;   // number of classes
  Shape each;           // shape of one number per class that broadcasts against the scores
  TensorRef positions;  // the class numbers, in that shape
};
/// Throws ShapeError if a target of classes does not have the scores' shape without the classes axis, or one of
/// probabilities does not have the scores' shape; DTypeError, DeviceError.
Classes classes_among(const char* what, const OperandInfo& scores, const OperandInfo& target, bool is_class);
/// Throws ShapeError unless the weight is one number for each class.
void check_class_weight(const char* what, const OperandInfo& scores, const OperandInfo& weight, std::int64_t classes);
double checked_smoothing(double smoothing);
void check_positive(const char* what, const char* argument, double value);
void check_not_negative(const char* what, const char* argument, double value);

/// Accepts None.
template <class X, class W>
void check_weight_of(const char* what, const X& x, const W& weight, const Classes& classes) {
  if constexpr (is_given<W>) check_class_weight(what, info_of(lift(x)), info_of(lift(weight)), classes.count);
}

template <class X, class Y>
struct ClassLossCheck {
  static_assert(may_be_float<value_type_of<X>>, SINTER_LOSS_FLOATS);
  static_assert(
      !has_free_names<lifted<X>> && !has_free_names<lifted<Y>>,
      "the shape of an operand of let or function is not known inside the body: take the loss of classes outside");
  static constexpr bool ok = same_device<device_of<X>, device_of<Y>> && !is_error<X> && !is_error<Y>;
};

/// A target of classes, with the options that apply to it.
template <class T, class W>
class ClassTarget {
 public:
  ClassTarget(const Classes& classes, const T& target, const W& weight, std::int64_t ignored)
      : classes_(classes), target_(target), weight_(weight), ignored_(ignored) {}

  /// Whether a row is not ignored.
  auto counts() const { return as_int64(target_) != ignored_; }
  /// The class of each row; an IndexError if it does not exist.
  auto of_row() const { return of(target_); }
  /// Whether a score belongs to its row's class.
  template <class D>
  auto is_hit() const {
    return equals_class<D>(of(target_.unsqueeze(classes_.axis)), classes_.positions);
  }
  /// The weight of each class, in a shape that broadcasts against the scores.
  auto weights() const { return weight_.reshape(classes_.each); }
  template <class D>
  auto weight_of_row() const {
    return of_class<D>(weights());
  }
  /// Of numbers over the scores' shape, the one that belongs to a row's class, as a sum in which all others are 0.
  template <class D, class E>
  auto of_class(const E& numbers) const {
    return apply_along<Op::sum>(classes_.along, where(is_hit<D>(), numbers, std::integral_constant<int, 0>()));
  }
  /// The mean or the sum of the losses of rows that are not ignored, or all losses.
  template <class D, class R, class L>
  auto reduced(R, const L& losses) const {
    const auto counted = where(counts(), losses, 0);
    if constexpr (std::is_same_v<R, reduction::None>)
      return counted;
    else if constexpr (std::is_same_v<R, reduction::Sum>)
      return sum(counted);
    else if constexpr (is_given<W>)
      return sum(counted) / sum(where(counts(), weight_of_row<D>(), 0));
    else
      return sum(counted) / sum(counts());
  }

 private:
  template <class I>
  auto of(const I& target) const {
    const auto number = as_int64(target);  // because a small integer dtype may not hold ignored_
    return apply<Op::class_index>(where(number == ignored_, 0, number), classes_.count);
  }

  const Classes& classes_;
  const T& target_;
  const W& weight_;
  std::int64_t ignored_;
};

/// The maximum of a row, as a constant to grad: log-probabilities do not depend on it, so the terms of its gradient
/// cancel.
template <class X>
auto row_maximum(jit::ReduceAxes along, const X& x) {
  return apply<Op::stop_gradient>(apply_along<Op::amax>(along, x));
}
/// The terms of a row's log-probabilities: x, x - max(x), and log(sum(exp(x - max(x)))).
template <class F>
auto with_shifted(jit::ReduceAxes along, F use) {
  return function([=](const auto& x) {
    const jit::ReduceAxes keeps{along.axes, true};
    const auto shifted = x - row_maximum(keeps, x);
    return use(x, shifted, [=](bool keep) { return log(apply_along<Op::sum>(keep ? keeps : along, exp(shifted))); });
  });
}

/// For a target of classes.
template <class X, class T, class W, class R>
auto cross_entropy_of_classes(const X& x, const T& target, const W& weight, R kind, std::int64_t ignored,
                              double smoothing, auto smooths) {
  using D = device_of<X>;
  const Classes classes = classes_among("cross_entropy", info_of(lift(x)), info_of(lift(target)), true);
  check_weight_of("cross_entropy", x, weight, classes);
  const ClassTarget<T, W> to(classes, target, weight, ignored);
  const auto loss = with_shifted(classes.along, [&](const auto& logits, const auto& shifted, auto log_sum) {
    // The loss's own term needs x itself, not x - max(x), so one pass computes it with the other terms.
    const auto own = to.template of_class<D>(logits);
    const auto hit = log_sum(false) + (row_maximum(classes.along, logits) - own);
    const auto all_of = [&](auto&& terms) { return apply_along<Op::sum>(classes.along, terms); };
    const double share = smoothing / static_cast<double>(classes.count);
    // Without label smoothing a score of -inf must not contribute.
    const auto shared = [&](auto&& all) { return apply<Op::where>(share > 0, all * share, 0); };
    if constexpr (is_given<W> && smooths)
      return hit * to.template weight_of_row<D>() * (1 - smoothing) +
             shared(all_of(to.weights() * (log_sum(true) - shifted)));
    else if constexpr (is_given<W>)
      return hit * to.template weight_of_row<D>();
    else if constexpr (smooths)
      return hit * (1 - smoothing) + shared(all_of(log_sum(true) - shifted));
    else
      return hit;
  });
  return to.template reduced<D>(kind, loss(x));
}
/// For a target with a probability per class.
template <class X, class T, class W, class R>
auto cross_entropy_of_probabilities(const X& x, const T& target, const W& weight, R kind, double smoothing) {
  const Classes classes = classes_among("cross_entropy", info_of(lift(x)), info_of(lift(target)), false);
  check_weight_of("cross_entropy", x, weight, classes);
  const auto loss = with_shifted(classes.along, [&](const auto&, const auto& shifted, auto log_sum) {
    const auto smooth = target * (1 - smoothing) + smoothing / static_cast<double>(classes.count);
    const auto terms = smooth * (log_sum(true) - shifted);
    if constexpr (is_given<W>)
      return apply_along<Op::sum>(classes.along, terms * weight.reshape(classes.each));
    else
      return apply_along<Op::sum>(classes.along, terms);
  });
  return detail::reduced(kind, loss(x));
}

}  // namespace detail

/// (x - y)^2
template <expression X, expression Y, class R = reduction::Mean>
  requires detail::loss_reduction<R>
auto mse_loss(X&& x, Y&& y, R kind = {}) {
  return detail::elementwise_loss(kind, std::forward<X>(x), std::forward<Y>(y),
                                  [](const auto& a, const auto& b) { return square(a - b); });
}
/// |x - y|
template <expression X, expression Y, class R = reduction::Mean>
  requires detail::loss_reduction<R>
auto l1_loss(X&& x, Y&& y, R kind = {}) {
  return detail::elementwise_loss(kind, std::forward<X>(x), std::forward<Y>(y),
                                  [](const auto& a, const auto& b) { return abs(a - b); });
}
/// (x - y)^2 / 2 where |x - y| is below delta, else delta * (|x - y| - delta / 2)
template <expression X, expression Y, class R = reduction::Mean>
  requires detail::loss_reduction<R>
auto huber_loss(X&& x, Y&& y, double delta = 1, R kind = {}) {
  detail::check_positive("huber_loss", "delta", delta);
  return detail::elementwise_loss(kind, std::forward<X>(x), std::forward<Y>(y), [=](const auto& a, const auto& b) {
    const auto far = abs(a - b);
    return where(far < delta, square(far) * 0.5, (far - 0.5 * delta) * delta);
  });
}
/// (x - y)^2 / 2 / beta where |x - y| is below beta, else |x - y| - beta / 2
template <expression X, expression Y, class R = reduction::Mean>
  requires detail::loss_reduction<R>
auto smooth_l1_loss(X&& x, Y&& y, double beta = 1, R kind = {}) {
  detail::check_not_negative("smooth_l1_loss", "beta", beta);
  return detail::elementwise_loss(kind, std::forward<X>(x), std::forward<Y>(y), [=](const auto& a, const auto& b) {
    const auto far = abs(a - b);
    const double divisor = beta > 0 ? beta : 1;  // also where it is not chosen, it has a finite derivative
    return where(far < beta, square(far) * 0.5 / divisor, far - 0.5 * beta);
  });
}

/// -(y log(p) + (1 - y) log(1 - p)), each logarithm clamped to at least -100. Options: loss::weight(w), which
/// multiplies the losses, and a reduction. p is not checked to be in [0, 1]: other values give NaN.
template <expression P, expression Y, class... Options>
auto binary_cross_entropy(P&& p, Y&& y, const Options&... options) {
  static_assert((detail::is_probability_option<Options> && ...), SINTER_LOSS_OPTION("loss::weight(w)"));
  const auto kind = detail::reduction_among(reduction::mean, options...);
  const auto weight = detail::operand_among<loss::weight>(options...);
  return detail::elementwise_loss(kind, std::forward<P>(p), std::forward<Y>(y), [&](const auto& a, const auto& b) {
    const auto losses = detail::apply<Op::cross_entropy_term>(a, b);
    if constexpr (detail::is_given<decltype(weight)>)
      return losses * weight;
    else
      return losses;
  });
}
/// The binary cross entropy of p = sigmoid(x), without its rounding. Options: loss::weight(w); loss::pos_weight(w),
/// which multiplies the positive targets' terms; and a reduction.
template <expression X, expression Y, class... Options>
auto binary_cross_entropy_with_logits(X&& x, Y&& y, const Options&... options) {
  static_assert(((detail::is_probability_option<Options> || detail::is_option<Options, loss::pos_weight>) && ...),
                SINTER_LOSS_OPTION("loss::weight(w), loss::pos_weight(w)"));
  const auto kind = detail::reduction_among(reduction::mean, options...);
  const auto weight = detail::operand_among<loss::weight>(options...);
  const auto of_positive = detail::operand_among<loss::pos_weight>(options...);
  return detail::elementwise_loss(kind, std::forward<X>(x), std::forward<Y>(y), [&](const auto& a, const auto& b) {
    const auto tail = log1p(exp(-abs(a))) + maximum(-a, 0);
    const auto losses = [&] {
      if constexpr (detail::is_given<decltype(of_positive)>)
        return (1 - b) * a + ((of_positive - 1) * b + 1) * tail;
      else
        return (1 - b) * a + tail;
    }();
    if constexpr (detail::is_given<decltype(weight)>)
      return losses * weight;
    else
      return losses;
  });
}

/// -x at each row's class. x has shape (rows, classes, ...) or (classes) and holds log-probabilities; target has shape
/// (rows, ...) or () and holds classes as integers. Options: loss::weight(w), one number per class;
/// loss::ignore_index(i), -100 by default; and a reduction, whose mean is weighted and taken over the rows that are not
/// ignored. A class out of range is an IndexError, on evaluation or at the next synchronization with the GPU. Throws
/// ShapeError, DTypeError.
template <expression X, expression T, class... Options>
auto nll_loss(const X& x, const T& target, const Options&... options) {
  static_assert(detail::same_device<detail::device_of<X>, detail::device_of<T>>, SINTER_DIFFERENT_DEVICES);
  static_assert((detail::is_class_option<Options> && ...),
                SINTER_LOSS_OPTION("loss::weight(w), loss::ignore_index(i)"));
  static_assert(!floating_element<value_type_of<T>>, "a target of nll_loss holds classes, which are integers");
  if constexpr (detail::ClassLossCheck<X, T>::ok) {
    using D = detail::device_of<X>;
    const auto weight = detail::operand_among<loss::weight>(options...);
    const auto ignored = detail::option_among(loss::ignore_index(-100), options...).value;
    const detail::Classes classes = detail::classes_among("nll_loss", detail::info_of(detail::lift(x)),
                                                          detail::info_of(detail::lift(target)), true);
    detail::check_weight_of("nll_loss", x, weight, classes);
    const detail::ClassTarget<T, std::remove_const_t<decltype(weight)>> to(classes, target, weight, ignored);
    const auto hit = to.template of_class<D>(-x);
    const auto kind = detail::reduction_among(reduction::mean, options...);
    if constexpr (detail::is_given<decltype(weight)>)
      return to.template reduced<D>(kind, hit * to.template weight_of_row<D>());
    else
      return to.template reduced<D>(kind, hit);
  } else {
    return detail::ErrorExpression();
  }
}

/// nll_loss(log_softmax(x, 1), target) in one pass over x. A target of floats holds a probability for each class and
/// has x's shape. Options: those of nll_loss, and loss::label_smoothing(s), which spreads s of the target over all
/// classes.
template <expression X, expression T, class... Options>
auto cross_entropy(const X& x, const T& target, const Options&... options) {
  static_assert(detail::same_device<detail::device_of<X>, detail::device_of<T>>, SINTER_DIFFERENT_DEVICES);
  static_assert(((detail::is_class_option<Options> || std::is_same_v<Options, loss::label_smoothing>) && ...),
                SINTER_LOSS_OPTION("loss::weight(w), loss::ignore_index(i), loss::label_smoothing(s)"));
  if constexpr (detail::ClassLossCheck<X, T>::ok) {
    const auto kind = detail::reduction_among(reduction::mean, options...);
    const auto weight = detail::operand_among<loss::weight>(options...);
    const double smoothing =
        detail::checked_smoothing(detail::option_among(loss::label_smoothing(0), options...).value);
    if constexpr (floating_element<value_type_of<T>>)
      return detail::cross_entropy_of_probabilities(x, target, weight, kind, smoothing);
    else
      return detail::cross_entropy_of_classes(
          x, target, weight, kind, detail::option_among(loss::ignore_index(-100), options...).value, smoothing,
          std::bool_constant<(std::is_same_v<Options, loss::label_smoothing> || ...)>());
  } else {
    return detail::ErrorExpression();
  }
}

}  // namespace sinter::inline v1
