// Algebraic rewrites that hold for every input.
#include <algorithm>
#include <cmath>

#include "../graph/scalar_use.hpp"
#include "../ops/traits.hpp"
#include "compute_dtypes.hpp"
#include "simplify.hpp"

namespace sinter::inline v1::jit {

namespace {

using Simpler = std::optional<Operand>;

/// Whether converting `from` to `to` and then to any dtype equals converting directly.
bool is_lossless(DType from, DType to) noexcept {
  switch (from) {
    case DType::Bool: return true;
    case DType::UInt8:
    case DType::Int8:
    case DType::UInt16:
    case DType::Int16: return to == compute_dtype(from) || is_lossless(compute_dtype(from), to) || to == DType::Float32;
    case DType::UInt32: return to == DType::Int64;  // by way of float64, what int32 does not hold would saturate
    case DType::Int32: return to == DType::Int64 || to == DType::Float64;
    case DType::Float16:
    case DType::BFloat16: return to == DType::Float32 || to == DType::Float64;
    case DType::Float32: return to == DType::Float64;
    default: return false;
  }
}

/// Whether a scalar's node holds the original value, unrounded.
bool holds_all(const Node& scalar) noexcept {
  switch (scalar_use(scalar).arrives_as) {
    case Category::Bool: return true;
    case Category::Int: return scalar.dtype == DType::Int64;
    case Category::Float: return scalar.dtype == DType::Float64;
    case Category::Complex: break;  // these are two scalars
  }
  return false;
}

/// The rewrite of one operation on operands of dtype t.
class Rewrite {
 public:
  Rewrite(Builder& b, Op op, DType dtype, Builder::Operands operands)
      : b_(b),
        op_(op),
        dtype_(dtype),
        operands_(operands),
        x_(operands[0]),
        y_(operands[operands.size() > 1]),
        t_(b[y_].dtype),
        is_float_(category(t_) == Category::Float),
        is_bool_(t_ == DType::Bool) {}

  Simpler find() {
    switch (op_) {
      case Op::cast: return cast();
      case Op::add: return is_bool_ ? make(Op::logical_or) : either_is(is_float_ ? -0.0 : 0);
      case Op::mul: return is_bool_ ? make(Op::logical_and) : mul();
      case Op::sub: return sub();
      case Op::div: return div();
      case Op::fma: return fma();
      case Op::square: return make(Op::mul, x_, x_);
      case Op::pow: return pow();
      case Op::neg:
      case Op::logical_not:
      case Op::bitwise_not: return inverse();
      case Op::abs:
      case Op::relu:
      case Op::floor:
      case Op::ceil:
      case Op::trunc:
      case Op::round: return idempotent();
      case Op::floor_divide:
      case Op::trunc_divide: return !is_float_ && b_.is(y_, 1) ? Simpler(x_) : std::nullopt;
      case Op::remainder:
      case Op::fmod: return !is_float_ && b_.is(y_, 1) ? Simpler(number(0)) : std::nullopt;
      case Op::maximum:
      case Op::minimum:
      case Op::fmax:
      case Op::fmin: return same() ? Simpler(x_) : std::nullopt;
      case Op::where: return where();
      case Op::eq:
      case Op::le:
      case Op::ge: return same() && !is_float_ ? Simpler(number(true)) : std::nullopt;
      case Op::ne: return same() && !is_float_ ? Simpler(number(false)) : std::nullopt;
      case Op::lt:
      case Op::gt: return same() ? Simpler(number(false)) : std::nullopt;
      case Op::isnan:
      case Op::isinf: return is_float_ ? std::nullopt : Simpler(number(false));
      case Op::isfinite: return is_float_ ? std::nullopt : Simpler(number(true));
      case Op::logical_and:
      case Op::bitwise_and: return is_bool_ ? as_logical(Op::logical_and) : all_bits(-1, 0);
      case Op::logical_or:
      case Op::bitwise_or: return is_bool_ ? as_logical(Op::logical_or) : all_bits(0, -1);
      case Op::logical_xor:
      case Op::bitwise_xor: return exclusive();
      default: return std::nullopt;
    }
  }

 private:
  bool same() const { return x_ == y_; }
  Operand number(double value) { return b_.number(dtype_, value); }
  Operand make(Op op, Operand a, Operand b) { return b_.make(op, dtype_, {a, b}); }
  Operand make(Op op, Operand a) { return b_.make(op, dtype_, {a}); }
  Operand make(Op op) { return b_.make(op, dtype_, operands_); }

  /// The other operand if one is this constant.
  Simpler either_is(double value) {
    if (b_.is(y_, value)) return x_;
    return b_.is(x_, value) ? Simpler(y_) : std::nullopt;
  }

  Simpler cast() {
    const Node n = b_[x_];
    if (n.dtype == dtype_) return x_;
    if (n.op == Op::constant)
      return b_.make(Op::constant, dtype_, Builder::Operands(), convert_bits(n.attribute, n.dtype, dtype_));
    if (n.op == Op::scalar && holds_all(n)) return b_.make(Op::scalar, dtype_, Builder::Operands(), n.attribute);
    if (n.op == Op::cast) {
      const DType from = b_[b_.operand(x_, 0)].dtype;
      if (is_lossless(from, n.dtype) && (from == dtype_ || has_conversion(from, dtype_)))
        return make(Op::cast, b_.operand(x_, 0));
    }
    return std::nullopt;
  }

  Simpler mul() {
    if (const Simpler other = either_is(1)) return other;
    if (const Simpler other = either_is(-1)) return make(Op::neg, *other);
    return !is_float_ && either_is(0) ? Simpler(number(0)) : std::nullopt;
  }

  Simpler sub() {
    if (b_.is(y_, 0)) return x_;
    if (b_.is(x_, is_float_ ? -0.0 : 0)) return make(Op::neg, y_);
    return !is_float_ && same() ? Simpler(number(0)) : std::nullopt;
  }

  Simpler div() {
    if (b_.is(y_, 1)) return x_;
    if (b_.is(y_, -1)) return make(Op::neg, x_);
    const Node& n = b_[y_];
    if (n.op != Op::constant) return std::nullopt;
    // A product with 2^-k rounds like the quotient by 2^k. The range keeps both normal in float32.
    const double divisor = std::bit_cast<double>(convert_bits(n.attribute, n.dtype, DType::Float64));
    int exponent;
    if (std::abs(std::frexp(divisor, &exponent)) != 0.5 || std::abs(exponent) > 100) return std::nullopt;
    return make(Op::mul, x_, number(1 / divisor));
  }

  Simpler fma() {
    if (b_.is(x_, 1)) return make(Op::add, y_, operands_[2]);
    if (b_.is(y_, 1)) return make(Op::add, x_, operands_[2]);
    return is_float_ && b_.is(operands_[2], -0.0) ? Simpler(make(Op::mul, x_, y_)) : std::nullopt;
  }

  Simpler pow() {
    if (b_.is(y_, 0)) return number(1);
    if (b_.is(y_, 1)) return x_;
    if (b_.is(y_, 2)) return make(Op::mul, x_, x_);
    if (b_.is(y_, 3)) return make(Op::mul, make(Op::mul, x_, x_), x_);
    return is_float_ && b_.is(y_, -1) ? Simpler(make(Op::reciprocal, x_)) : std::nullopt;
  }

  /// Involutions: f(f(x)) is x.
  Simpler inverse() {
    if (op_ == Op::bitwise_not && is_bool_) return make(Op::logical_not);
    if (b_[x_].op == op_) return b_.operand(x_, 0);
    if (op_ != Op::logical_not) return std::nullopt;
    const Op compared = b_[x_].op;
    if (compared != Op::eq && compared != Op::ne) return std::nullopt;
    return make(compared == Op::eq ? Op::ne : Op::eq, b_.operand(x_, 0), b_.operand(x_, 1));
  }

  /// Idempotent operations; the rounding ones leave integers unchanged.
  Simpler idempotent() {
    if (!is_float_ && op_ != Op::abs && op_ != Op::relu) return x_;
    if (b_[x_].op == op_) return x_;
    return op_ == Op::abs && b_[x_].op == Op::neg ? Simpler(make(Op::abs, b_.operand(x_, 0))) : std::nullopt;
  }

  Simpler where() {
    const Operand then = operands_[1], fallback = operands_[2];
    if (then == fallback || b_.is(x_, 1)) return then;
    if (b_.is(x_, 0)) return fallback;
    if (b_[x_].op == Op::logical_not) return b_.make(Op::where, dtype_, {b_.operand(x_, 0), fallback, then});
    return is_bool_ && b_.is(then, 1) && b_.is(fallback, 0) ? Simpler(x_) : std::nullopt;
  }

  /// On bools, the bitwise operations are the logical ones.
  Simpler as_logical(Op op) { return op_ == op ? all_bits(op == Op::logical_and, op != Op::logical_and) : make(op); }

  Simpler all_bits(double neutral, double absorbing) {
    if (same()) return x_;
    if (const Simpler other = either_is(neutral)) return other;
    return either_is(absorbing) ? Simpler(number(absorbing)) : std::nullopt;
  }

  Simpler exclusive() {
    if (is_bool_ && op_ == Op::bitwise_xor) return make(Op::logical_xor);
    if (same()) return number(0);
    if (const Simpler other = either_is(0)) return other;
    const Simpler other = either_is(is_bool_ ? 1 : -1);
    return other ? Simpler(make(is_bool_ ? Op::logical_not : Op::bitwise_not, *other)) : std::nullopt;
  }

  Builder& b_;
  const Op op_;
  const DType dtype_;
  const Builder::Operands operands_;
  const Operand x_, y_;
  const DType t_;  // the dtype that the operation computes in
  const bool is_float_, is_bool_;
};

}  // namespace

std::optional<Operand> rewrite(Builder& b, Op op, DType dtype, Builder::Operands operands) {
  return Rewrite(b, op, dtype, operands).find();
}

}  // namespace sinter::inline v1::jit
