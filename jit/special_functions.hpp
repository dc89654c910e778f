// Functions that no instruction set and no CUDA library has, in terms of those that they have. Each is computed by
// every formula that it has, and the operand chooses between the results: all elements go the same way.
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

// ---- The inverse of erf

namespace juffa {  // as functions of log(1 - x^2)
constexpr double near[] = {8.86226892e-1,  -2.32015476e-1, 1.15392581e-2, 2.31468678e-3, -1.47697632e-4,
                           -5.61530760e-5, 1.12963626e-7,  1.22774793e-6, 1.43285448e-7, 5.43877832e-9};
constexpr double far[] = {8.40016484e-1, -2.64646143e-1, 4.83185798e-3, 3.02698812e-3, 3.93552968e-4,
                          2.84108955e-5, 1.22150334e-6,  2.93243101e-8, 3.03697567e-10};
}  // namespace juffa

/// Within 3 ulp in float32 (N. Juffa, stackoverflow.com/questions/27229371).
inline Term erfinv_single(Term x) {
  const Term t = log(fma(-x, x, x.number(1)));
  return x * select(t < x.number(-6.125), polynomial(t, juffa::far), polynomial(t, juffa::near));
}

namespace wichura {  // numerators and denominators
constexpr double center[] = {3.3871328727963666080e+0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                             1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                             3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr double center_below[] = {1.0,
                                   4.2313330701600911252e+1,
                                   6.8718700749205790830e+2,
                                   5.3941960214247511077e+3,
                                   2.1213794301586595867e+4,
                                   3.9307895800092710610e+4,
                                   2.8729085735721942674e+4,
                                   5.2264952788528545610e+3};
constexpr double middle[] = {1.42343711074968357734e+0, 4.63033784615654529590e+0, 5.76949722146069140550e+0,
                             3.64784832476320460504e+0, 1.27045825245236838258e+0, 2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double middle_below[] = {1.0,
                                   2.05319162663775882187e+0,
                                   1.67638483018380384940e+0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
constexpr double tail[] = {6.65790464350110377720e+0, 5.46378491116411436990e+0, 1.78482653991729133580e+0,
                           2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double tail_below[] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};
}  // namespace wichura

/// The normal distribution's quantile at (1 + x) / 2, over sqrt(2) (M. Wichura, "Algorithm AS 241: The percentage
/// points of the normal distribution", 1988).
inline Term erfinv_double(Term x) {
  const auto ratio = [](Term at, std::span<const double> above, std::span<const double> below) {
    return polynomial(at, above) / polynomial(at, below);
  };
  const Term one = x.number(1), half = x * x.number(0.5), size = abs(x);
  const Term center = half * ratio(fma(-half, half, x.number(0.180625)), wichura::center, wichura::center_below);
  const Term r = sqrt(-log((one - size) * x.number(0.5)));
  const Term outside = select(r <= x.number(5), ratio(r - x.number(1.6), wichura::middle, wichura::middle_below),
                              ratio(r - x.number(5), wichura::tail, wichura::tail_below));
  const Term quantile = select(size <= x.number(0.85), center, copysign(outside, x));
  return select(size == one, x / x.number(0), quantile * x.number(0.70710678118654752440));
}

inline Term erfinv_polynomial(Term x) { return is_double(x) ? erfinv_double(x) : erfinv_single(x); }

// ---- The derivative of log(gamma)

namespace boost_digamma {  // on [1, 2]: (x - root) * (0.99558 + above / below), the root in two or three parts
constexpr double slope = 0.99558162689208984;
constexpr double single_root[] = {1532632.0 / 1048576, 0.3700660185912626595e-6};
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

/// Of 1 <= x <= 2.
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

/// Of x >= 5 in float32, x >= 10 in float64: log(y) + 1 / 2y - sum of B_2k / 2k y^2k, y = x - 1.
inline Term digamma_far(Term x) {
  static constexpr double bernoulli[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                         1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
  const Term y = x - x.number(1), z = x.number(1) / (y * y);
  const Term series = z * polynomial(z, std::span(bernoulli).first(is_double(x) ? 8 : 6));
  return log(y) + (x.number(0.5) / y - series);
}

/// Reflected where x <= -1; then by steps to [1, 2] or, if it is large, by the asymptotic series.
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
  const Term pi = x.number(3.14159265358979323846);
  const Term reflected = select(fraction == zero, zero / zero, positive_side - pi / tan(pi * fraction));
  return select(reflects, reflected, positive_side);
}

// ---- The modified Bessel function I0

namespace holoborodko {  // near: of x^2 / 4; the others: of 1 / x
constexpr double single_near[] = {1.00000003928615375e+00, 2.49999576572179639e-01, 2.77785268558399407e-02,
                                  1.73560257755821695e-03, 6.96166518788906424e-05, 1.89645733877137904e-06,
                                  4.29455004657565361e-08, 3.90565476357034480e-10, 1.48095934745267240e-11};
constexpr double single_middle[] = {3.98942651588301770e-01, 4.98327234176892844e-02, 2.91866904423115499e-02,
                                    1.35614940793742178e-02, 1.31409251787866793e-01};
constexpr double single_far[] = {3.98942391532752700e-01, 4.98455950638200020e-02, 2.94835666900682535e-02};
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
}  // namespace holoborodko

/// P. Holoborodko's rational approximations, with the coefficients of Boost.Math.
inline Term bessel_i0(Term a) {
  namespace h = holoborodko;
  const bool wide = is_double(a);
  const auto of = [&](Term x, std::span<const double> if_double, std::span<const double> if_single) {
    return polynomial(x, wide ? if_double : if_single);
  };
  const Term x = abs(a), quarter = x * x * a.number(0.25), inverse = a.number(1) / x;
  const Term near = fma(quarter, of(quarter, h::double_near, h::single_near), a.number(1));
  const Term ratio = select(x < a.number(wide ? 500 : 50), of(inverse, h::double_middle, h::single_middle),
                            of(inverse, h::double_far, h::single_far));
  // e^x overflows before the result does; x - 8 is exact.
  const Term outside = exp(x - a.number(8)) * (a.number(2980.9579870417282747) * ratio / sqrt(x));
  return select(x < a.number(7.75), near, select(isinf(x), x, outside));
}

}  // namespace sinter::inline v1::jit::terms
