// Arithmetic and functions of complex numbers in terms of real ones, for the bodies of operations that take them.
// As in PyTorch, products do not recover infinities, and quotients use Smith's method. Functions follow C99's Annex G
// for zeros, infinities, NaN and branch cuts, as far as noted.
#pragma once
#include <limits>
#include <optional>

#include "special_functions.hpp"

namespace sinter::inline v1::jit::terms {

/// A complex value in a graph. A real value has no imaginary part: products and sums with it are those of
/// std::complex<T> with T, so that infinity * 2 contains no NaN. A bool condition is also such a value.
struct Complex {
  Term re;
  std::optional<Term> imaginary = std::nullopt;

  Complex(Term r) : re(r) {}
  Complex(Term r, Term i) : re(r), imaginary(i) {}

  bool is_real() const noexcept { return !imaginary; }
  Term im() const { return imaginary ? *imaginary : re.number(0); }
};

namespace numbers {
constexpr double pi = 3.14159265358979323846, half_pi = pi / 2, ln2 = 0.69314718055994530942;
constexpr double one_over_ln2 = 1.4426950408889634074, one_over_ln10 = 0.43429448190325182765;
constexpr double exp_40 = 235385266837019985.41;
}  // namespace numbers

// ---- Parts

inline Complex complex(const Complex& a, const Complex& b) { return {a.re, b.re}; }
inline Complex polar(const Complex& magnitude, const Complex& turn) {
  return {magnitude.re * cos(turn.re), magnitude.re * sin(turn.re)};
}
inline Complex real(const Complex& a) { return a.re; }
inline Complex imag(const Complex& a) { return a.im(); }
inline Complex conj(const Complex& a) { return {a.re, -a.im()}; }
inline Complex abs(const Complex& a) { return a.is_real() ? abs(a.re) : hypot(a.re, a.im()); }
inline Complex angle(const Complex& a) { return atan2(a.im(), a.re); }
/// i a and -i a.
inline Complex times_i(const Complex& a) { return {-a.im(), a.re}; }
inline Complex times_minus_i(const Complex& a) { return {a.im(), -a.re}; }

// ---- Comparisons and choice

inline Term operator==(const Complex& a, const Complex& b) {
  return a.is_real() && b.is_real() ? a.re == b.re : (a.re == b.re) & (a.im() == b.im());
}
inline Term operator!=(const Complex& a, const Complex& b) {
  return a.is_real() && b.is_real() ? a.re != b.re : (a.re != b.re) | (a.im() != b.im());
}
/// Ordering of two real values.
inline Term operator<(const Complex& a, const Complex& b) { return a.re < b.re; }
inline Term operator<=(const Complex& a, const Complex& b) { return a.re <= b.re; }
inline Complex operator&(const Complex& a, const Complex& b) { return a.re & b.re; }
inline Complex operator|(const Complex& a, const Complex& b) { return a.re | b.re; }
inline Term isinf(const Complex& a) { return isinf(a.re) | isinf(a.im()); }
inline Term isfinite(const Complex& a) { return isfinite(a.re) & isfinite(a.im()); }
inline Complex select(const Complex& condition, const Complex& a, const Complex& b) {
  return {select(condition.re, a.re, b.re), select(condition.re, a.im(), b.im())};
}

// ---- Arithmetic

inline Complex operator-(const Complex& a) { return {-a.re, -a.im()}; }

inline Complex operator+(const Complex& a, const Complex& b) {
  if (a.is_real() && b.is_real()) return a.re + b.re;
  if (a.is_real() || b.is_real()) return {a.re + b.re, a.is_real() ? b.im() : a.im()};
  return {a.re + b.re, a.im() + b.im()};
}

inline Complex operator-(const Complex& a, const Complex& b) {
  if (a.is_real() && b.is_real()) return a.re - b.re;
  if (a.is_real() || b.is_real()) return {a.re - b.re, a.is_real() ? -b.im() : a.im()};
  return {a.re - b.re, a.im() - b.im()};
}

inline Complex operator*(const Complex& a, const Complex& b) {
  if (b.is_real()) return {a.re * b.re, a.im() * b.re};
  if (a.is_real()) return {a.re * b.re, a.re * b.im()};
  return {a.re * b.re - a.im() * b.im(), a.re * b.im() + a.im() * b.re};
}

/// R. Smith, "Algorithm 116: Complex division", 1962, as in NumPy and PyTorch; a divisor of 0 gives infinities.
inline Complex operator/(const Complex& a, const Complex& b) {
  if (b.is_real()) return {a.re / b.re, a.im() / b.re};
  const Term swaps = abs(b.re) < abs(b.im()), zero = b.re.number(0);
  const Term large = select(swaps, b.im(), b.re), small = select(swaps, b.re, b.im());
  const Term is_zero = large == zero;
  const Term ratio = select(is_zero, zero, small / large);
  const Term divisor = select(is_zero, zero, large + small * ratio);
  if (a.is_real()) {
    const Term one = a.re / divisor, other = a.re * ratio / divisor;
    return {select(swaps, other, one), -select(swaps, one, other)};
  }
  const Term first = select(swaps, a.im(), a.re), second = select(swaps, a.re, a.im());
  const Term re = (first + second * ratio) / divisor, im = (second - first * ratio) / divisor;
  return {re, select(swaps, -im, im)};
}

inline Complex fma(const Complex& a, const Complex& b, const Complex& c) { return a * b + c; }

inline Complex sgn(const Complex& a) {
  const Term magnitude = abs(a).re, is_zero = magnitude == magnitude.number(0);
  return {select(is_zero, magnitude, a.re / magnitude), select(is_zero, magnitude, a.im() / magnitude)};
}

// ---- Square root

/// sqrt((|re| + |a|) / 2) and what follows from it; the parts are scaled if their squares would overflow or underflow.
inline Complex sqrt(const Complex& a) {
  const bool wide = is_double(a.re);
  const Term x = a.re, y = a.im(), zero = x.number(0), one = x.number(1), half = x.number(0.5);
  const Term magnitude = maximum(abs(x), abs(y));
  const Term huge = magnitude > x.number(wide ? 0x1p1020 : 0x1p124),
             tiny = magnitude < x.number(wide ? 0x1p-960 : 0x1p-90);
  const Term scale = select(huge, x.number(0x1p-4), select(tiny, x.number(0x1p60), one));
  const Term unscale = select(huge, x.number(4), select(tiny, x.number(0x1p-30), one));
  const Term xs = x * scale, ys = y * scale;
  const Term root = sqrt(half * (abs(xs) + hypot(xs, ys)));
  const Term other = select(root == zero, ys, ys / (root + root));
  const Term left = xs < zero;
  const Term re = select(left, abs(other), root) * unscale, im = select(left, copysign(root, ys), other) * unscale;
  const Term lost = isinf(y);  // the result is infinite whatever the real part is
  return {select(lost, abs(y), re), select(lost, y, im)};
}

// ---- Exponential and hyperbolic functions

/// cosh(x) and sinh(x) times `factor`, which prevents e^x from overflowing before it is multiplied by a small number.
struct Hyperbolic {
  Term cosh, sinh, factor;
};
inline Hyperbolic hyperbolic(Term x) {
  const Term magnitude = abs(x), large = magnitude > x.number(is_double(x) ? 700 : 80);
  const Term grown = exp(magnitude - x.number(40));
  return {select(large, grown, cosh(x)), select(large, copysign(grown, x), sinh(x)),
          select(large, x.number(numbers::exp_40 / 2), x.number(1))};
}

/// The cosine of y; for an infinite x and a y without a cosine 1, so that the result is infinite or 0 as C99 requires.
inline Term cosine_beside(Term x, Term y) { return select(isinf(x) & !isfinite(y), x.number(1), cos(y)); }

inline Complex exp(const Complex& a) {
  const Term x = a.re, y = a.im(), zero = x.number(0);
  const Term large = x > x.number(is_double(x) ? 700 : 80),
             factor = select(large, x.number(numbers::exp_40), x.number(1));
  const Term magnitude = exp(select(large, x - x.number(40), x));
  const Term is_zero = (y == zero) | ((x == x.number(-std::numeric_limits<double>::infinity())) & !isfinite(y));
  const Term im = select(is_zero, copysign(zero, y), magnitude * sin(y) * factor);
  return {magnitude * cosine_beside(x, y) * factor, im};
}

inline Complex exp2(const Complex& a) { return exp(a * Complex(a.re.number(numbers::ln2))); }
inline Complex sigmoid(const Complex& a) {
  const Complex one = a.re.number(1);
  return one / (one + exp(-a));
}
inline Complex silu(const Complex& a) { return a / (Complex(a.re.number(1)) + exp(-a)); }

inline Complex sinh(const Complex& a) {
  const Term x = a.re, y = a.im(), zero = x.number(0);
  const Hyperbolic h = hyperbolic(x);
  const Term none = (x == zero) & !isfinite(y);
  return {select(none, x, h.sinh * cosine_beside(x, y) * h.factor), select(y == zero, y, h.cosh * sin(y) * h.factor)};
}
inline Complex cosh(const Complex& a) {
  const Term x = a.re, y = a.im(), zero = x.number(0);
  const Hyperbolic h = hyperbolic(x);
  const Term none = (y == zero) | ((x == zero) & !isfinite(y));
  const Term sign = copysign(x.number(1), x) * copysign(zero, y);
  return {h.cosh * cosine_beside(x, y) * h.factor, select(none, sign, h.sinh * sin(y) * h.factor)};
}

/// W. Kahan, "Branch cuts for complex elementary functions", 1987.
inline Complex tanh(const Complex& a) {
  const Term x = a.re, y = a.im(), zero = x.number(0), one = x.number(1);
  const Term large = abs(x) > x.number(is_double(x) ? 22 : 11);
  const Term near = select(large, zero, x);
  const Term t = tan(y), s = sinh(near), secant = fma(t, t, one), denominator = fma(secant * s, s, one);
  const Term far = x.number(4) * sin(y) * cos(y) * exp(x.number(-2) * abs(x));
  const Term has_turn = isfinite(y), one_way = select(has_turn | isinf(x), copysign(one, x), y - y);
  const Term re = select(large, one_way, secant * cosh(near) * s / denominator);
  const Term im = select(large, select(isinf(x) & !has_turn, copysign(zero, y), far), t / denominator);
  return {select((x == zero) & !has_turn, x, re), select(y == zero, y, im)};
}

inline Complex sin(const Complex& a) { return times_minus_i(sinh(times_i(a))); }
inline Complex cos(const Complex& a) { return cosh(times_i(a)); }
inline Complex tan(const Complex& a) { return times_minus_i(tanh(times_i(a))); }

/// expm1(x) cos(y) - 2 sin(y / 2)^2 for the real part, accurate where the result is small.
inline Complex expm1(const Complex& a) {
  const Term x = a.re, y = a.im(), half = sin(y * x.number(0.5));
  const Complex whole = exp(a);
  const Term near = fma(expm1(x), cos(y), x.number(-2) * half * half);
  const Term uses = abs(x) < x.number(1);
  return {select(uses, near, whole.re - x.number(1)), whole.im()};
}

// ---- Logarithms

/// log(|x + iy|), also if |x + iy| overflows, underflows or is subnormal.
inline Term log_size(Term x, Term y) {
  const bool wide = is_double(x);
  const Term magnitude = maximum(abs(x), abs(y)), one = x.number(1);
  const Term huge = magnitude > x.number(wide ? 0x1p1020 : 0x1p124),
             tiny = magnitude < x.number(wide ? 0x1p-960 : 0x1p-90);
  const Term scale = select(huge, x.number(0x1p-4), select(tiny, x.number(0x1p60), one));
  const Term shift = select(huge, x.number(4 * numbers::ln2), select(tiny, x.number(-60 * numbers::ln2), x.number(0)));
  return log(hypot(x * scale, y * scale)) + shift;
}

/// For a magnitude m near 1, log(m^2) / 2 is computed as log1p of (m - 1)(m + 1), whose first factor is exact.
inline Complex log(const Complex& a) {
  const Term x = abs(a.re), y = abs(a.im()), one = x.number(1);
  const Term large = maximum(x, y), small = minimum(x, y);
  const Term near = (large > x.number(0.5)) & (large < x.number(2)) & (small < one);
  const Term close = x.number(0.5) * log1p(fma(large - one, large + one, small * small));
  return {select(near, close, log_size(x, y)), angle(a).re};
}
inline Complex log2(const Complex& a) { return log(a) * Complex(a.re.number(numbers::one_over_ln2)); }
inline Complex log10(const Complex& a) { return log(a) * Complex(a.re.number(numbers::one_over_ln10)); }

inline Complex log1p(const Complex& a) {
  const Term x = a.re, y = a.im(), one = x.number(1), half = x.number(0.5);
  const Term near = (abs(x) < half) & (abs(y) < half);
  const Term close = half * log1p(fma(x, x + x.number(2), y * y));
  return {select(near, close, log_size(one + x, y)), atan2(y, one + x)};
}

// ---- Inverse functions: Kahan's formulas, and logarithms for numbers so large that adding 1 has no effect

struct Roots {
  Complex minus, plus;  // of 1 - a, of 1 + a
  Term far;
};
inline Term is_far(const Complex& a) { return abs(a).re > a.re.number(is_double(a.re) ? 0x1p500 : 0x1p60); }
inline Term log_of_twice(const Complex& a) { return log_size(a.re, a.im()) + a.re.number(numbers::ln2); }
/// Even for a converted real number, the imaginary part of 1 - a is -0, which is across the branch cut from +0.
inline Roots roots_beside_one(const Complex& a) {
  const Complex one = a.re.number(1), whole(a.re, a.im());
  return {sqrt(one - whole), sqrt(one + whole), is_far(a)};
}

inline Complex asin(const Complex& a) {
  const auto [minus, plus, far] = roots_beside_one(a);
  const Term denominator = minus.re * plus.re - minus.im() * plus.im();
  const Term im = asinh(minus.re * plus.im() - minus.im() * plus.re);
  const Term re = select(far, atan2(a.re, abs(a.im())), atan2(a.re, denominator));
  return {select(a.re == a.re.number(0), a.re, re), select(far, copysign(log_of_twice(a), a.im()), im)};
}
inline Complex acos(const Complex& a) {
  const auto [minus, plus, far] = roots_beside_one(a);
  const Term im = asinh(plus.re * minus.im() - plus.im() * minus.re);
  return {select(far, atan2(abs(a.im()), a.re), a.re.number(2) * atan2(minus.re, plus.re)),
          select(far, copysign(log_of_twice(a), -a.im()), im)};
}
inline Complex acosh(const Complex& a) {
  const Complex one = a.re.number(1), minus = sqrt(a - one), plus = sqrt(a + one);
  const Term far = is_far(a);
  const Term re = asinh(minus.re * plus.re + minus.im() * plus.im());
  return {select(far, log_of_twice(a), re), select(far, angle(a).re, a.re.number(2) * atan2(minus.im(), plus.re))};
}
inline Complex asinh(const Complex& a) { return times_minus_i(asin(times_i(a))); }

/// Computed for |re|, then given its sign: log1p(4 re / |1 - a|^2) / 4, or from the two distances if a is close to 1.
inline Complex atanh(const Complex& a) {
  const bool wide = is_double(a.re);
  const Term x = abs(a.re), y = a.im(), one = x.number(1), half = x.number(0.5);
  const Term distance = hypot(one - x, y), close = distance < half;
  const Term by_distances = half * (log(hypot(one + x, y)) - log(distance));
  const Term by_ratio = x.number(0.25) * log1p(x / distance * (x.number(4) / distance));
  const Term far = (maximum(x, abs(y)) > x.number(wide ? 0x1p500 : 0x1p60)) | isinf(y);
  const Term re = select(isinf(distance), x.number(0), select(close, by_distances, by_ratio));
  const Term im = half * atan2(x.number(2) * y, (one - x) * (one + x) - y * y);
  return {select(x == x.number(0), a.re, copysign(re, a.re)), select(far, copysign(x.number(numbers::half_pi), y), im)};
}
inline Complex atan(const Complex& a) { return times_minus_i(atanh(times_i(a))); }

// ---- Powers

/// Whether the term is a scalar or a constant, possibly cast.
inline bool is_number(Term t) {
  const Node* n = &(*t.graph)[t.operand];
  while (n->op == Op::cast) n = &(*t.graph)[t.graph->operands(*n)[0]];
  return n->op == Op::scalar || n->op == Op::constant;
}

/// Like PyTorch, computes some exponents as products, roots and quotients.
inline Complex pow_of_number(const Complex& a, Term b, const Complex& fallback) {
  const Term magnitude = abs(b), inverse = b < b.number(0);
  const Complex square = a * a;
  Complex power = a;
  Term known = magnitude == b.number(1);
  const auto choose = [&](Term chosen, const Complex& value) {
    power = select(Complex(chosen), value, power);
    known = known | chosen;
  };
  choose(magnitude == b.number(2), square);
  choose(b == b.number(3), square * a);
  choose(magnitude == b.number(0.5), sqrt(a));
  power = select(Complex(inverse), Complex(b.number(1)) / power, power);
  return select(Complex(known), power, fallback);
}

/// e^(b log(a)); for a base of 0: 1 if the exponent is 0, else 0 if the exponent's real part is positive.
inline Complex pow(const Complex& a, const Complex& b) {
  const Term zero = a.re.number(0), one = a.re.number(1);
  const Term is_zero = (a.re == zero) & (a.im() == zero), exponent_is_zero = (b.re == zero) & (b.im() == zero);
  const Complex power = exp(b * log(a));
  const Term always = is_zero & (b.re > zero);
  const Complex result{select(exponent_is_zero, one, select(always, zero, power.re)),
                       select(exponent_is_zero | always, zero, power.im())};
  return b.is_real() && is_number(b.re) ? pow_of_number(a, b.re, result) : result;
}

}  // namespace sinter::inline v1::jit::terms
