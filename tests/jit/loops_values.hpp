// What single instructions of the loop IR compute, in plain C++: elements by the reference of the operations, indices
// by the rules of their kinds.
#pragma once
#include <array>
#include <limits>
#include <span>
#include <string_view>

#include <jit/loops/loops.hpp>
#include "host_prelude.hpp"
#include "loops_memory.hpp"
#include "reference.hpp"

namespace sinter::testing {

using jit::loops::Instruction;
using jit::loops::Kind;
using jit::loops::LoopProgram;
using jit::loops::Opcode;
using test::Bits;

/// Integers of a kind, as 64-bit words: those of signed kinds are sign-extended.
class IndexKind {
 public:
  IndexKind(Kind kind, bool wide) noexcept
      : is_signed_(kind == Kind::Offset || kind == Kind::Int64),
        is_wide_(kind == Kind::Int64 || (wide && kind != Kind::UInt32)) {}

  Bits add(Bits a, Bits b) const {
    std::int64_t exact;
    return result(__builtin_add_overflow(s(a), s(b), &exact), a + b);
  }
  Bits sub(Bits a, Bits b) const {
    std::int64_t exact;
    return result(__builtin_sub_overflow(s(a), s(b), &exact), a - b);
  }
  Bits mul(Bits a, Bits b) const {
    std::int64_t exact;
    return result(__builtin_mul_overflow(s(a), s(b), &exact), a * b);
  }
  Bits div(Bits a, Bits b) const {
    if (b == 0 || (is_signed_ && s(b) < 0)) throw WrongProgram("divides by a number that is not positive");
    return is_signed_ ? static_cast<Bits>(s(a) / s(b)) : a / b;
  }
  Bits rem(Bits a, Bits b) const { return a - mul(div(a, b), b); }
  bool less(Bits a, Bits b) const noexcept { return is_signed_ ? s(a) < s(b) : a < b; }
  /// What is left of a number of another kind.
  Bits wrap(Bits a) const noexcept {
    if (is_wide_) return a;
    return is_signed_ ? static_cast<Bits>(std::int64_t{static_cast<std::int32_t>(a)}) : static_cast<std::uint32_t>(a);
  }

 private:
  static std::int64_t s(Bits a) noexcept { return static_cast<std::int64_t>(a); }
  /// Unsigned numbers wrap.
  Bits result(bool overflows, Bits a) const {
    if (is_signed_ && (overflows || wrap(a) != a)) throw WrongProgram("a signed index overflows");
    return wrap(a);
  }

  bool is_signed_, is_wide_;
};

/// A fast divisor of the launch's parameters.
struct FastDivisorWords {
  std::uint64_t multiplier = 0, shift = 0;

  Bits divide(Bits a, bool wide) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const Bits high = wide ? static_cast<Bits>(static_cast<Wide>(a) * multiplier >> 64) : a * multiplier >> 32;
    return wide ? (high + a) >> shift : static_cast<std::uint32_t>(high + a) >> shift;
  }
};

/// Whether b, which comes later, replaces a as the greatest or least element.
template <class T>
bool replaces(bool greatest, T a, T b) noexcept {
  return a == a && (b != b || (greatest ? b > a : b < a));
}

/// An operation of the tables; a reduction combines two partial results.
inline Bits elementwise(Op op, DType result, DType compute, const std::vector<Bits>& v) {
  switch (op) {
    case Op::cast: return test::convert_bits(v[0], compute, result);
    case Op::sum: return test::apply(Op::add, compute, v);
    case Op::prod: return test::apply(Op::mul, compute, v);
    case Op::amax: return test::apply(Op::maximum, compute, v);
    case Op::amin: return test::apply(Op::minimum, compute, v);
    case Op::any: return v[0] | v[1];
    case Op::all: return v[0] & v[1];
    case Op::argmax:
    case Op::argmin:
      return sinter::test::visit_real(compute, [&]<class T>(std::type_identity<T>) -> Bits {
        if constexpr (test::is_16_bit_float<T>)
          throw WrongProgram("compares 16-bit floats");
        else
          return replaces(op == Op::argmax, test::as<T>(v[0]), test::as<T>(v[1]));
      });
    default: return test::apply(op, compute, v);
  }
}

/// Calls a function of the prelude, which may change its operands. Returns the result, if any.
template <class T>
Bits call(std::string_view function, std::span<Bits> operands) {
  std::array<T, 9> v{};
  for (std::size_t i = 0; i < operands.size(); ++i) v[i] = test::as<T>(operands[i]);
  T result{};
  if (function == "compensated_add") prelude::compensated_add(v[0], v[1], v[2]);
  if (function == "compensated_value") result = prelude::compensated_value(v[0], v[1]);
  if (function == "update_max_shift") prelude::update_max_shift(v[0], v[1], v[2], v[3]);
  if (function == "rescale_to_max") result = prelude::rescale_to_max(v[0], v[1], v[2]);
  if (function == "rescale_to_larger_max") result = prelude::rescale_to_larger_max(v[0], v[1], v[2]);
  if (function == "recenter") prelude::recenter(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
  if (function == "moments_from_shifted_sums") prelude::moments_from_shifted_sums(v[0], v[1], v[2], v[3]);
  if (function == "merge_moments") prelude::merge_moments(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
  for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = test::to_bits(v[i]);
  return test::to_bits(result);
}

inline Bits call(std::string_view function, DType dtype, std::span<Bits> operands) {
  if (dtype == DType::Float32) return call<float>(function, operands);
  if (dtype == DType::Float64) return call<double>(function, operands);
  throw WrongProgram("functions of the prelude are of float32 and float64");
}

}  // namespace sinter::testing
