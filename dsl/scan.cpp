#include <sinter/dsl/scan.hpp>

#include <sinter/sinter.hpp>

namespace sinter::inline v1::detail {
namespace {

using Value = Lazy<AnyType>;

/// A tensor or expression with the order along an axis reversed; a 0-d one as it is.
template <class X>
X reversed(const X& x, std::int64_t axis) {
  return x.shape().empty() ? x : X(x.flip(axis));
}

/// Sums of the elements up to each one, or from each one on.
Value sums(const Value& x, std::int64_t axis, bool from_end) {
  const AnyTensor array(evaluate_one(x));
  const auto in_order = [&](const AnyTensor& t) { return from_end ? reversed(t, axis) : t; };
  const AnyTensor scanned(jit::scan(in_order(array).impl(), axis, jit::Scan::Sum));
  const TensorRef result = in_order(scanned).ref();
  const auto pullback = [axis, from_end](const jit::LazyRef& gradient) {
    return std::vector{sums(Value(gradient), axis, !from_end).node()};
  };
  return Value(with_history(result, {x.node()}, pullback));
}

/// By PyTorch's convention for complex numbers. The elements before the first zero, at it, and after it are treated
/// apart, since others' products divide by them.
Value of_products(const Value& x, const Value& gradient, std::int64_t axis) {
  const Lazy<bool> is_zero = x == 0;
  const Lazy<std::int64_t> zeros = cast<std::int64_t>(is_zero).cumsum(axis);  // up to each element
  const Lazy<bool> is_first = logical_and(is_zero, zeros == 1);
  const Value others = where(is_first, 1, x), products = conj(others.cumprod(axis));
  const Value before = sums(gradient * conj(x.cumprod(axis)), axis, true) / conj(where(is_zero, 1, x));
  const Value at = sums(where(zeros == 0, 0, gradient * products), axis, true);
  return where(zeros == 0, before, where(is_first, at, 0));
}

/// Positive and negative gradients apart, as logarithms: exp(x - result) underflows. A gradient of 0 counts as
/// exp(-1000), whose logarithm has a derivative.
Value of_log_sums(const Value& x, const Value& gradient, std::int64_t axis) {
  const Value result = x.logcumsumexp(axis);
  const auto from_end = [&](const Value& logarithms) {
    return reversed(Value(reversed(logarithms, axis).logcumsumexp(axis)), axis);
  };
  const auto part = [&](const Value& g) {
    const Value logarithm = where(g > 0, log(where(g > 0, g, 1)), -1000);
    return Value(exp(from_end(logarithm - result) + x));
  };
  return part(gradient) - part(-gradient);
}

Value gradient_of(jit::Scan what, const Value& x, const Value& gradient, std::int64_t axis) {
  switch (what) {
    case jit::Scan::Sum: return sums(gradient, axis, true);
    case jit::Scan::Prod: return of_products(x, gradient, axis);
    case jit::Scan::LogSumExp: break;
  }
  return of_log_sums(x, gradient, axis);
}

}  // namespace

jit::LazyRef scan_of(const jit::LazyRef& x, std::int64_t axis, jit::Scan what) {
  TensorRef array;
  jit::evaluate({&x, 1}, &array);
  const auto pullback = [=](const jit::LazyRef& gradient) {
    return std::vector{gradient_of(what, Value(x), Value(gradient), axis).node()};
  };
  return with_history(jit::scan(*array, axis, what), {x}, pullback);
}

}  // namespace sinter::inline v1::detail
