// Functions that the derivative columns of ops.def and reductions.def call besides the operations; like those of
// terms.hpp, on the nodes of a graph. A slope is a derivative times the gradient g of the result. Gradients of complex
// numbers follow PyTorch's convention: the derivative is conjugated.
#pragma once
#include <cmath>

#include "../passes/reduction_functions.hpp"

namespace sinter::inline v1::jit::terms::slopes {

/// What a derivative column has for one operand.
struct Slope {
  enum class Kind : std::uint8_t {
    Value,
    Zero,  // the operand does not change the result, or only in jumps
    None,  // there is no derivative
    Body   // that of the composite operation's body; stands alone
  };
  Slope(Term value) : value(value) {}
  explicit constexpr Slope(Kind kind) : kind(kind), value{} {}

  Kind kind = Kind::Value;
  Term value;
};
inline const Slope zero(Slope::Kind::Zero), none(Slope::Kind::None), body(Slope::Kind::Body);

/// T(2) in a derivative: also of complex dtypes.
struct Numbers {
  Term like;
  Term operator()(double value) const {
    if (!is_complex(like.dtype())) return like.number(value);
    const DType part = real_of(like.dtype());
    const auto number = [&](double v) {
      const std::uint64_t bits = convert_bits(std::bit_cast<std::uint64_t>(v), DType::Float64, part);
      return Term{like.graph, like.graph->constant(part, bits)};
    };
    return complex(number(value), number(0));
  }
};

inline Term conjugate(Term a) { return is_complex(a.dtype()) ? apply(Op::conj, {a}) : a; }
inline Term as_complex(Term real) { return complex(real, real.number(0)); }
inline Term digamma(Term a) { return apply(Op::digamma, {a}); }

inline Term abs_slope(Term g, Term a) {
  return is_complex(a.dtype()) ? as_complex(g) * apply(Op::sgn, {a}) : g * sign(a);
}
inline Term real_slope(Term g, Term a) { return is_complex(a.dtype()) ? as_complex(g) : g; }
inline Term imag_slope(Term g) { return complex(g.number(0), g); }

/// g times the derivative of a^b with respect to a, which is 0 where b is 0.
inline Term base_slope(Term g, Term a, Term b) {
  const Numbers T{a};
  return select(b == T(0), T(0), g * conjugate(b * pow(a, b - T(1))));
}
/// g times the derivative of r = a^b with respect to b, which is 0 where a is 0 and b is not negative.
inline Term exponent_slope(Term g, Term a, Term b, Term r) {
  const Numbers T{a};
  const Term is_zero = is_complex(a.dtype()) ? a == T(0) : (a == T(0)) & (b >= T(0));
  return select(is_zero, T(0), g * conjugate(r * log(a)));
}
inline Term acosh_slope(Term g, Term a) {
  const Numbers T{a};
  return g * (is_complex(a.dtype()) ? conjugate(rsqrt(a - T(1)) * rsqrt(a + T(1))) : rsqrt(a * a - T(1)));
}
/// g times the derivative of the angle of a, which is 0 where a is 0.
inline Term phase_slope(Term g, Term a) {
  if (!is_complex(a.dtype())) return a.number(0);
  const Term x = real(a), y = imag(a), squares = x * x + y * y, nothing = x.number(0);
  return complex(select(squares == nothing, nothing, -g * y / squares),
                 select(squares == nothing, nothing, g * x / squares));
}
/// Of r = a / |a|: the part of g that is perpendicular to r, over |a|.
inline Term sgn_slope(Term g, Term a, Term r) {
  if (!is_complex(a.dtype())) return a.number(0);
  const Numbers T{a};
  return select(a == T(0), T(0), (g - r * as_complex(real(g * conjugate(r)))) / as_complex(abs(a)));
}

/// Of a / (1 + |a|): g less its part along a, which also changes |a|.
inline Term softsign_slope(Term g, Term a) {
  const Term size = abs(a), below = size.number(1) + size;
  if (!is_complex(a.dtype())) return (g - sign(a) * (g * a / below)) / below;
  return (g - apply(Op::sgn, {a}) * as_complex(real(g * conjugate(a)) / below)) / as_complex(below);
}

/// a where it is negative or NaN, else 0: exp of it does not overflow where it is not used.
inline Term below_zero(Term a) { return select(a >= a.number(0), a.number(0), a); }

inline Term gelu_tanh_slope(Term g, Term a) {
  const Term one = a.number(1), half = a.number(0.5);
  const Term k = a.number(0.79788456080286535588), cubic = a.number(0.044715), square = a * a;
  const Term t = tanh(k * fma(cubic * square, a, a));
  return g * (half * (one + t) + half * a * (one - t * t) * k * (one + a.number(3) * cubic * square));
}
inline Term mish_slope(Term g, Term a) {
  const Term one = a.number(1), t = tanh(log1p(exp(a)));
  return g * (t + a * sigmoid(a) * (one - t * t));
}

/// Functions of the reduced elements; their results keep the reduce axes.
class Rows {
 public:
  Rows(ReduceAxes along, Term elements) : numbers_{elements}, rows_({along.axes, true}, numbers_) {}

  Term sum(Term a) const { return rows_.sum(a); }
  Term count(Term a) const { return rows_.count(a); }
  Term mean(Term a) const { return sum(a) / count(a); }
  /// 1 divided evenly among the elements where the mask is true, 0 elsewhere.
  Term share_of(Term mask) const {
    const Term ones = select(mask, numbers_(1), numbers_(0));
    return ones / sum(ones);
  }
  /// g times the product of the other elements.
  Term prod_slope(Term g, Term a, Term r) const {
    const Term one = numbers_(1), nothing = numbers_(0), is_zero = a == nothing;
    const Term zeros = sum(select(is_zero, one, nothing)), others = select(is_zero, one, a);
    const Term product = rows_.prod(others);
    return g * select(zeros == nothing, r / others, select(is_zero & (zeros == one), product, nothing));
  }

 private:
  Constants numbers_;
  Reducer rows_;
};

}  // namespace sinter::inline v1::jit::terms::slopes
