// Functions that neither instruction sets nor CUDA's library have, in terms of those that they have. Each evaluates all
// of its formulas and selects among the results by the operand, so there are no branches.
#pragma once
#include <span>

#include "terms.hpp"

namespace sinter::inline v1::jit::terms {

/// Horner's scheme; coefficients[i] is that of x^i.
inline Term polynomial(Term x, std::span<const double> coefficients) {
  Term p = x.number(coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) p = fma(p, x, x.number(coefficients[i]));
  return p;
}

inline bool is_double(Term x) { return x.dtype() == DType::Float64; }

/// x / (1 - x).
inline Term odds(Term x) { return x / (x.number(1) - x); }

/// a tanh(log(1 + e^a)) = a n / d, n = e^a (e^a + 2), d = n + 2. The quotient is 1 from 40 on, where n need not grow.
/// The rounding errors of n, d and the quotient are compensated.
inline Term mish_quotient(Term a) {
  const Term two = a.number(2), limited = minimum(a, a.number(40));
  const Term e = exp(limited), twice = e + e, n = fma(e, e, twice), d = n + two, q = n / d;
  const Term lost_of_n = fma(e, e, twice - n), lost_of_d = (n - (d - two)) + lost_of_n;
  const Term rest = (fma(-q, d, n) + (lost_of_n - q * lost_of_d)) / d;
  return copysign(fma(a, q, limited * rest), a);  // zeros of two signs would be +0
}

// ---- Functions of complex numbers, for real ones

inline Term conj(Term x) { return x; }
inline Term sgn(Term x) { return sign(x); }
inline Term polar(Term size, Term turn) { return complex(size * cos(turn), size * sin(turn)); }
inline Term angle(Term x) {
  return select(x < x.number(0), x.number(3.14159265358979323846), select(x == x, x.number(0), x));
}

// ---- The inverse of erf

namespace erfinv_minimax {  // erfinv(x) / x - 1 as functions of log(1 - x^2) + 1, and of log(1 - x^2) + 12
constexpr double near[] = {0.1273743897,    -0.2478328934,   0.004250766862,  0.002376495199,
                           0.0001000430678, -3.840735443e-5, -4.325453092e-6, 6.492525272e-7,
                           1.936297019e-7,  1.811784631e-8,  6.334741039e-10};
constexpr double far[] = {2.299327116,     -0.1453660239,   -0.002955362395, -0.000116438078,
                          -5.469055912e-6, -2.544332549e-7, -8.216876373e-9, 5.367409793e-11,
                          2.944005569e-11, 1.226272051e-11, 1.633413607e-12};
}  // namespace erfinv_minimax

/// Minimax polynomials in the logarithm, like those of M. Giles (GPU Computing Gems 2, 2011) and N. Juffa, with more
/// terms.
inline Term erfinv_single(Term x) {
  const Term t = log(fma(-x, x, x.number(1)));
  const Term above = select(t < x.number(-6.125), polynomial(t + x.number(12), erfinv_minimax::far),
                            polynomial(t + x.number(1), erfinv_minimax::near));
  return copysign(fma(x, above, x), x);  // the sum of zeros of two signs would be +0
}

namespace quantile {                                                               // numerators and denominators
constexpr double slope = 0.886226925452758, slope_rest = -3.8332932499128993e-17;  // sqrt(pi) / 2
constexpr double center[] = {0.43087250673264127, 4.647457007334462,  19.475997461324393,
                             40.20620172217676,   42.87716925194352,  22.69034108860156,
                             5.212541225078127,   0.3700259553006543, 0.0008430250749965878};
constexpr double center_below[] = {1.0,
                                   12.292232980713399,
                                   60.495614753245604,
                                   152.92357116724736,
                                   212.18511294256913,
                                   160.47372712883856,
                                   61.94240714319775,
                                   10.497008116521963,
                                   0.5418314257520953};
constexpr double middle_slope = 0.8125, tail_slope = 0.9375;
constexpr double middle[] = {-0.2934779663963121,   -0.20750582442708043,   0.23213213344967498,
                             0.32065807717507866,   0.14537851649236255,    0.030872042953147397,
                             0.0030073963525564236, 0.00010276469654948157, -8.537344332110887e-10};
constexpr double middle_below[] = {1.0,
                                   2.05319162663775882187e+0,
                                   1.67638483018380384940e+0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
constexpr double tail[] = {0.02034952191303369,    0.11426589339815872,   0.05786143914576983,
                           0.011599971956568944,   0.001126990871551157,  5.4458001031513585e-05,
                           1.1980254388590603e-06, 8.885371694566045e-09, -1.9164966594280684e-15};
constexpr double tail_below[] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};
}  // namespace quantile

/// A multiple of the operand plus a smaller remainder, whose rounding error is negligible. Rational functions: up to
/// 0.85 one in x^2 (interpolated, 2^-54), above it one in r = sqrt(-log((1 - x) / 2)) from M. Wichura, "Algorithm AS
/// 241: The percentage points of the normal distribution", 1988, minus the multiple of r.
inline Term erfinv_double(Term x) {
  const auto ratio = [](Term at, std::span<const double> above, std::span<const double> below) {
    return polynomial(at, above) / polynomial(at, below);
  };
  const Term one = x.number(1), size = abs(x), limit = x.number(0.7225);
  const Term rest = fma(size * size, ratio(fma(-size, size, limit), quantile::center, quantile::center_below),
                        x.number(quantile::slope_rest));
  const Term center = fma(size, x.number(quantile::slope), size * rest);
  const Term r = sqrt(-log((one - size) * x.number(0.5)));
  const Term middle = ratio(r - x.number(1.6), quantile::middle, quantile::middle_below);
  const Term tail = ratio(r - x.number(5), quantile::tail, quantile::tail_below), inner = r <= x.number(5);
  const Term slope = select(inner, x.number(quantile::middle_slope), x.number(quantile::tail_slope));
  const Term outside = fma(r, slope, select(inner, middle, tail));
  const Term result = copysign(select(size <= x.number(0.85), center, outside), x);
  return select(size == one, x / x.number(0), result);
}

inline Term erfinv_polynomial(Term x) { return is_double(x) ? erfinv_double(x) : erfinv_single(x); }

// ---- The derivative of log(gamma)

namespace boost_digamma {  // on [1, 2]: (x - root) * (0.99558 + above / below), the root in two or three parts
constexpr double slope = 0.99558162689208984;
constexpr double single_root[] = {1532632.0 / 1048576, 0x1.8d5af8p-22, 0.3700660185912626595e-6 - 0x1.8d5af8p-22};
constexpr double single_above[] = {0.25479851023250261, -0.44981331915268368, -0.43916936919946835,
                                   -0.061041765350579073};
constexpr double single_below[] = {1.0, 1.5890202430554952, 0.65341249856146947, 0.063851690523355715};
constexpr double double_root[] = {1569415565 / 1073741824.0, 381566830 / 1073741824.0 / 1073741824.0,
                                  0.9016312093258695918615e-19};
constexpr double double_above[] = {0.25479851061131551,  -0.32555031186804491,  -0.65031853770896507,
                                   -0.28919126444774784, -0.045251321448739056, -0.0020713321167745952};
constexpr double double_below[] = {1.0,
                                   2.0767117023730469,
                                   1.4606242909763515,
                                   0.43593529692665969,
                                   0.054151797245674225,
                                   0.0021284987017821144,
                                   -0.55789841321675513e-6};
}  // namespace boost_digamma

/// For 1 <= x <= 2.
inline Term digamma_at_root(Term x) {
  namespace d = boost_digamma;
  Term from_root = x;
  for (const double part : is_double(x) ? std::span<const double>(d::double_root) : d::single_root)
    from_root = from_root - x.number(part);
  const Term above =
      polynomial(x - x.number(1), is_double(x) ? std::span<const double>(d::double_above) : d::single_above);
  const Term below =
      polynomial(x - x.number(1), is_double(x) ? std::span<const double>(d::double_below) : d::single_below);
  return fma(from_root, x.number(d::slope), from_root * (above / below));
}

/// For x >= 5 in float32, x >= 10 in float64: log(y) + 1 / 2y - sum of B_2k / 2k y^2k, y = x - 1.
inline Term digamma_far(Term x) {
  static constexpr double bernoulli[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                         1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
  const Term y = x - x.number(1), z = x.number(1) / (y * y);
  const Term series = z * polynomial(z, std::span(bernoulli).first(is_double(x) ? 8 : 6));
  return log(y) + (x.number(0.5) / y - series);
}

namespace cotangent {  // interpolated in y^2: (pi cot(pi y) - 1 / y) / y, and (pi tan(pi y) - 8 y / (1 - 4 y^2)) / y
constexpr double single_cot[] = {-3.2898681380692705, -2.164642973540362, -2.035130407173702, -1.9885385345915474,
                                 -2.3491947593605};
constexpr double single_tan[] = {1.8696043966895863, 0.46969926206973106, 0.18504659180023933, 0.08398581496100589};
constexpr double double_cot[] = {-3.2898681336964533, -2.164646467421509,  -2.0346861242956797,
                                 -2.008154658917316,  -2.0019935241890625, -2.0002919022176484,
                                 -2.005478642425247,  -1.9174609891003684, -2.6677375727101458};
constexpr double double_tan[] = {1.8696044010893587,   0.4696970113341678,   0.18522581003319763,
                                 0.07945166189601066,  0.03490065236682581,  0.015450878583814335,
                                 0.006818837841461923, 0.0034076097347082454};
}  // namespace cotangent

/// pi cot(pi x) for |x| <= 1/2. Near 1/2 it is the tangent of the complement, which is exact. The term of the nearest
/// pole dominates the result.
inline Term pi_cotangent(Term x) {
  const bool wide = is_double(x);
  const Term size = abs(x), half = x.number(0.5), one = x.number(1), outer = size > x.number(0.25);
  const Term y = select(outer, half - size, size), square = y * y, twice = y + y;
  const Term pole = select(outer, x.number(8) * y, one) / select(outer, (one - twice) * (one + twice), y);
  const Term tangent =
      polynomial(square, wide ? std::span<const double>(cotangent::double_tan) : cotangent::single_tan);
  const Term cotangent =
      polynomial(square, wide ? std::span<const double>(cotangent::double_cot) : cotangent::single_cot);
  return copysign(fma(y, select(outer, tangent, cotangent), pole), x);
}

/// Reflected if x <= -1; then by recurrence to [1, 2] or, if x is large, by the asymptotic series.
inline Term digamma_series(Term x) {
  const Term one = x.number(1), zero = x.number(0), reflects = x <= x.number(-1);
  const Term fraction = x - round(x);
  const Term start = select(reflects, one - x, x);
  const double far = is_double(x) ? 10 : 5;
  Term at = start, sum = zero;
  for (int step = 0; step < 2; ++step) {
    const Term low = at < one;
    sum = select(low, sum - one / at, sum);
    at = select(low, at + one, at);
  }
  for (double limit = far; limit > 2; --limit) {
    const Term high = at > x.number(2);
    at = select(high, at - one, at);
    sum = select(high, sum + one / at, sum);
  }
  const Term positive_side = select(start >= x.number(far), digamma_far(start), digamma_at_root(at) + sum);
  const Term reflected = select(fraction == zero, zero / zero, positive_side - pi_cotangent(fraction));
  return select(reflects, reflected, positive_side);
}

// ---- The modified Bessel function I0

namespace bessel {  // near: (I0(x) - 1) / q of q = x^2 / 4; the others: I0(x) e^-x sqrt(x) of 1 / x
constexpr double single_near[] = {0.999999995306,   0.250000033386,   0.0277777017512,  0.0017361908091,
                                  6.93999815614e-5, 1.94300401563e-6, 3.68926643464e-8, 8.40822307621e-10};
constexpr double single_far[] = {0.398942335911, 0.049858100731, 0.0286449275838, 0.0122523524432, 0.289386111461,
                                 -1.59817428042, 3.53831092158,  17.5434750439,   -58.8482098761};
constexpr double double_near[] = {1.00000000000000000e+00, 2.49999999999999909e-01, 2.77777777777782257e-02,
                                  1.73611111111023792e-03, 6.94444444453352521e-05, 1.92901234513219920e-06,
                                  3.93675991102510739e-08, 6.15118672704439289e-10, 7.59407002058973446e-12,
                                  7.59389793369836367e-14, 6.27767773636292611e-16, 4.34709704153272287e-18,
                                  2.63417742690109154e-20, 1.13943037744822825e-22, 9.07926920085624812e-25};
constexpr double double_middle[] = {
    3.98942280401425088e-01,  4.98677850604961985e-02, 2.80506233928312623e-02,  2.92211225166047873e-02,
    4.44207299493659561e-02,  1.30970574605856719e-01, -3.35052280231727022e+00, 2.33025711583514727e+02,
    -1.13366350697172355e+04, 4.24057674317867331e+05, -1.23157028595698731e+07, 2.80231938155267516e+08,
    -5.01883999713777929e+09, 7.08029243015109113e+10, -7.84261082124811106e+11, 6.76825737854096565e+12,
    -4.49034849696138065e+13, 2.24155239966958995e+14, -8.13426467865659318e+14, 2.02391097391687777e+15,
    -3.08675715295370878e+15, 2.17587543863819074e+15};
constexpr double double_far[] = {3.98942280401432905e-01, 4.98677850491434560e-02, 2.80506308916506102e-02,
                                 2.92179096853915176e-02, 4.53371208762579442e-02};

/// e^8 times coefficients, which the compiler computes in more precision than double. The first one has a second part,
/// the error of rounding it to float or double.
template <std::size_t n>
struct ScaledByE8 {
  double all[n] = {};
  double first_single, rest_single, rest_double;

  constexpr explicit ScaledByE8(const double (&coefficients)[n]) {
    constexpr long double e8 = 2980.95798704172827474359L;
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<double>(e8 * coefficients[i]);
    const long double first = e8 * coefficients[0];
    first_single = static_cast<double>(static_cast<float>(first));
    rest_single = static_cast<double>(first - first_single);
    rest_double = static_cast<double>(first - all[0]);
  }
};
constexpr ScaledByE8 scaled_single_far(single_far);
constexpr ScaledByE8 scaled_double_middle(double_middle);
constexpr ScaledByE8 scaled_double_far(double_far);
}  // namespace bessel

/// An unrounded sum, high + low.
struct TwoTerms {
  Term high, low;
};

/// e^8 times a polynomial in 1 / x. Its first coefficient dominates, so only that has a second part.
template <std::size_t n>
TwoTerms scaled_by_e8(Term inverse, const bessel::ScaledByE8<n>& coefficients) {
  const bool wide = is_double(inverse);
  Term p = inverse.number(coefficients.all[n - 1]);
  for (std::size_t i = n - 1; i-- > 1;) p = fma(p, inverse, inverse.number(coefficients.all[i]));
  const Term high = inverse.number(wide ? coefficients.all[0] : coefficients.first_single);
  const Term rest = fma(p, inverse, inverse.number(wide ? coefficients.rest_double : coefficients.rest_single));
  const Term sum = high + rest;
  return {sum, rest - (sum - high)};
}

/// 1 + q p(q) for small x. The derivative compensates the rounding error of q, which the result magnifies.
inline Term bessel_i0_near(Term x, std::span<const double> coefficients) {
  const Term half = x * x.number(0.5), q = half * half, lost = fma(half, half, -q);
  const std::size_t last = coefficients.size() - 1;
  Term slope = x.number(coefficients[last]), p = fma(slope, q, x.number(coefficients[last - 1]));
  for (std::size_t i = last - 1; i-- > 0;) {
    slope = fma(slope, q, p);
    p = fma(p, q, x.number(coefficients[i]));
  }
  return fma(q, p, lost * fma(slope, q, p)) + x.number(1);
}

/// P. Holoborodko's approximations in float64, with the coefficients of Boost.Math; minimax approximations of the same
/// form in float32. e^x overflows before the result does, so e^(x - 8) is used, and x - 8 is exact.
inline Term bessel_i0(Term a) {
  const bool wide = is_double(a);
  // The result is infinite beyond this.
  const Term x = minimum(abs(a), a.number(wide ? 717 : 96)), inverse = a.number(1) / x;
  TwoTerms n =
      wide ? scaled_by_e8(inverse, bessel::scaled_double_middle) : scaled_by_e8(inverse, bessel::scaled_single_far);
  if (wide) {
    const Term middle = x < a.number(500);
    const TwoTerms far = scaled_by_e8(inverse, bessel::scaled_double_far);
    n = {select(middle, n.high, far.high), select(middle, n.low, far.low)};
  }
  // The rounding errors of the root and the quotient are compensated.
  const Term root = sqrt(x), short_of = fma(-root, root, x), quotient = n.high / root;
  const Term rest = (fma(-quotient, root, n.high) + n.low - quotient * short_of * a.number(0.5) / root) / root;
  const Term power = exp(x - a.number(8));
  const Term outside = fma(power, quotient, power * rest);
  const Term near = bessel_i0_near(x, wide ? std::span<const double>(bessel::double_near) : bessel::single_near);
  return select(x < a.number(wide ? 7.75 : 5), near, outside);
}

}  // namespace sinter::inline v1::jit::terms
