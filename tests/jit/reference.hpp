// The meaning of a graph, one element at a time and in plain C++: the reference for executors. Written from the
// documentation of the operations, not from their bodies in ops.def.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <jit/plan/plan.hpp>
#include "bits.hpp"
#include "composite_reference.hpp"

namespace sinter::test {

/// Philox4x32-10 with the counter {group, draw}.
inline std::array<std::uint32_t, 4> philox(std::uint64_t group, std::uint64_t draw, std::uint64_t key) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  std::array<std::uint32_t, 4> c{low(group), low(group >> 32), low(draw), low(draw >> 32)};
  std::uint32_t k0 = low(key), k1 = low(key >> 32);
  for (int i = 0; i < 10; ++i, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const std::uint64_t p = std::uint64_t{0xD2511F53u} * c[0], q = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {low(q >> 32) ^ c[1] ^ k0, low(q), low(p >> 32) ^ c[3] ^ k1, low(p)};
  }
  return c;
}

inline Bits random_value(Op op, std::uint64_t index, std::uint64_t draw, std::uint64_t seed) {
  const auto bits = [&](std::uint64_t i) {  // two of a counter
    const auto w = philox(i / 2 + (std::uint64_t{1} << 63), draw, seed);
    return i % 2 ? w[2] | std::uint64_t{w[3]} << 32 : w[0] | std::uint64_t{w[1]} << 32;
  };
  const auto u24 = [&](std::uint64_t i) {  // four of a counter
    return static_cast<float>(philox(i / 4, draw, seed)[i % 4] >> 8) * 0x1p-24f;
  };
  const auto u53 = [&](std::uint64_t i) { return static_cast<double>(bits(i) >> 11) * 0x1p-53; };
  const std::uint64_t even = index - index % 2;
  const auto normal = [&](double first, double second) {
    const double turns = index % 2 ? second - 0.25 : second;
    return std::sqrt(-2 * std::log(1 - first)) * std::cos(6.283185307179586476925 * turns);
  };
  switch (op) {
    case Op::random_uniform: return to_bits(u24(index));
    case Op::random_uniform_double: return to_bits(u53(index));
    case Op::random_normal:
      return to_bits(static_cast<float>(normal(static_cast<double>(u24(even)), static_cast<double>(u24(even + 1)))));
    case Op::random_normal_double: return to_bits(normal(u53(even), u53(even + 1)));
    case Op::random_bits: return bits(index);
    default: throw std::logic_error("not a random operation");
  }
}

template <class T>
bool compare(Op op, const std::array<T, 5>& v) {
  const T a = v[0], b = v[1];
  switch (op) {
    case Op::eq: return a == b;
    case Op::ne: return a != b;
    case Op::lt: return a < b;
    case Op::le: return a <= b;
    case Op::gt: return a > b;
    case Op::ge: return a >= b;
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case Op::isnan: return std::isnan(a);
      case Op::isinf: return std::isinf(a);
      case Op::isfinite: return std::isfinite(a);
      default: break;
    }
  }
  return op == Op::isfinite || composite_compare(op, v);
}

/// The larger of two numbers; -0 is less than +0.
template <std::floating_point T>
T larger(T a, T b) noexcept {
  return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}
template <std::floating_point T>
T smaller(T a, T b) noexcept {
  return -larger(-a, -b);
}

/// Floats: transcendental functions in double, rounded once.
template <std::floating_point T>
T real(Op op, const std::array<T, 5>& v) {
  const T a = v[0], b = v[1], c = v[2];
  const auto d = [](T exact) { return static_cast<double>(exact); };
  const auto r = [](double rounded) { return static_cast<T>(rounded); };
  const double x = d(a), y = d(b);
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::floor_divide: {  // as in PyTorch: from the remainder, for consistency with it
      if (b == 0) return a / b;
      const T rest = std::fmod(a, b);
      T q = (a - rest) / b;
      if (rest != 0 && (b < 0) != (rest < 0)) q -= 1;
      if (q == 0) return std::copysign(T(0), a / b);
      return q - std::floor(q) > T(0.5) ? std::floor(q) + 1 : std::floor(q);
    }
    case Op::remainder: {
      const T rest = std::fmod(a, b);
      return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
    }
    case Op::fmod: return std::fmod(a, b);
    case Op::pow: return r(std::pow(x, y));
    case Op::fma: return std::fma(a, b, c);
    case Op::neg: return -a;
    case Op::abs: return std::fabs(a);
    case Op::sign: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Op::square: return a * a;
    case Op::reciprocal: return 1 / a;
    case Op::lerp: return std::fabs(c) < T(0.5) ? std::fma(c, b - a, a) : std::fma(c - T(1), b - a, b);
    case Op::sqrt: return std::sqrt(a);
    case Op::rsqrt: return 1 / std::sqrt(a);
    case Op::exp: return r(std::exp(x));
    case Op::exp2: return r(std::exp2(x));
    case Op::expm1: return r(std::expm1(x));
    case Op::log: return r(std::log(x));
    case Op::log2: return r(std::log2(x));
    case Op::log10: return r(std::log10(x));
    case Op::log1p: return r(std::log1p(x));
    case Op::sin: return r(std::sin(x));
    case Op::cos: return r(std::cos(x));
    case Op::tan: return r(std::tan(x));
    case Op::asin: return r(std::asin(x));
    case Op::acos: return r(std::acos(x));
    case Op::atan: return r(std::atan(x));
    case Op::atan2: return r(std::atan2(x, y));
    case Op::sinh: return r(std::sinh(x));
    case Op::cosh: return r(std::cosh(x));
    case Op::tanh: return r(std::tanh(x));
    case Op::hypot: return r(std::hypot(x, y));
    case Op::erf: return r(std::erf(x));
    case Op::erfc: return r(std::erfc(x));
    case Op::sigmoid: return r(1 / (1 + std::exp(-x)));
    case Op::silu: return r(x / (1 + std::exp(-x)));
    case Op::relu: return a < 0 ? T(0) : a;
    case Op::gelu: return r(0.5 * x * (1 + std::erf(x * 0.70710678118654752440)));
    case Op::gelu_tanh: return r(0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))));
    case Op::floor: return std::floor(a);
    case Op::ceil: return std::ceil(a);
    case Op::trunc: return std::trunc(a);
    case Op::round: return std::nearbyint(a);
    case Op::maximum: return std::isnan(a) ? a : std::isnan(b) ? b : larger(a, b);
    case Op::minimum: return std::isnan(a) ? a : std::isnan(b) ? b : smaller(a, b);
    case Op::fmax: return std::isnan(a) ? b : std::isnan(b) ? a : larger(a, b);
    case Op::fmin: return std::isnan(a) ? b : std::isnan(b) ? a : smaller(a, b);
    case Op::clamp: {
      const T low = std::isnan(a) ? a : std::isnan(b) ? b : larger(a, b);
      return std::isnan(low) ? low : std::isnan(c) ? c : smaller(low, c);
    }
    case Op::copysign: return std::copysign(a, b);
    default: return composite_real(op, v);
  }
}

/// Integers: two's complement, wrapping.
template <class T, class U = std::common_type_t<std::make_unsigned_t<T>, unsigned>>  // no product of it overflows
T whole(Op op, const std::array<T, 5>& v) {
  const T a = v[0], b = v[1], c = v[2];
  const U ua = static_cast<U>(a), ub = static_cast<U>(b);
  const auto quotient = [&] { return is_minus_one(b) ? static_cast<T>(0 - ua) : static_cast<T>(a / b); };
  const auto rest = [&] { return is_minus_one(b) ? T(0) : static_cast<T>(a % b); };
  switch (op) {
    case Op::add: return static_cast<T>(ua + ub);
    case Op::sub: return static_cast<T>(ua - ub);
    case Op::mul: return static_cast<T>(ua * ub);
    case Op::fma: return static_cast<T>(ua * ub + static_cast<U>(c));
    case Op::floor_divide:
      return b == 0 ? T(0) : rest() != 0 && (rest() < 0) != (b < 0) ? static_cast<T>(quotient() - 1) : quotient();
    case Op::remainder:
      return b == 0 ? T(0) : rest() != 0 && (rest() < 0) != (b < 0) ? static_cast<T>(rest() + b) : rest();
    case Op::fmod: return b == 0 ? T(0) : rest();
    case Op::pow: {
      if (b < 0) return a == 1 ? T(1) : is_minus_one(a) ? (b & 1 ? T(-1) : T(1)) : T(0);
      U result = 1;
      for (int bit = 62; bit >= 0; --bit) {
        result *= result;
        if (static_cast<std::uint64_t>(b) >> bit & 1) result *= ua;
      }
      return static_cast<T>(result);
    }
    case Op::neg: return static_cast<T>(0 - ua);
    case Op::abs: return a < 0 ? static_cast<T>(0 - ua) : a;
    case Op::sign: return a > 0 ? T(1) : a < 0 ? T(-1) : T(0);
    case Op::square: return static_cast<T>(ua * ua);
    case Op::relu: return a < 0 ? T(0) : a;
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round: return a;
    case Op::maximum:
    case Op::fmax: return std::max(a, b);
    case Op::minimum:
    case Op::fmin: return std::min(a, b);
    case Op::clamp: return std::min(std::max(a, b), c);
    case Op::bitwise_and: return a & b;
    case Op::bitwise_or: return a | b;
    case Op::bitwise_xor: return a ^ b;
    case Op::bitwise_not: return ~a;
    case Op::axis_offset: {
      const T position = a < 0 ? static_cast<T>(ua + ub) : a;
      return position < 0 || position >= b ? T(0) : static_cast<T>(static_cast<U>(position) * static_cast<U>(c));
    }
    case Op::class_index: return a < 0 || a >= b ? T(0) : a;
    default: return composite_whole(op, v);
  }
}

inline bool truth(Op op, bool a, bool b) {
  switch (op) {
    case Op::add:
    case Op::logical_or:
    case Op::bitwise_or:
    case Op::maximum:
    case Op::fmax: return a || b;
    case Op::mul:
    case Op::logical_and:
    case Op::bitwise_and:
    case Op::minimum:
    case Op::fmin: return a && b;
    case Op::logical_xor:
    case Op::bitwise_xor: return a != b;
    case Op::logical_not:
    case Op::bitwise_not: return !a;
    case Op::sign:
    case Op::stop_gradient:
    case Op::sgn:
    case Op::conj:
    case Op::nan_to_num:
    case Op::nan_to_num_posinf:
    case Op::nan_to_num_infinities: return a;
    case Op::heaviside: return a || b;
    default: throw std::logic_error("not an operation on bools: " + std::string(name(op)));
  }
}

/// One operation on operands of dtype `compute`.
inline Bits apply(Op op, DType compute, const std::vector<Bits>& v) {
  const Bits a = v[0], b = v.size() > 1 ? v[1] : 0, c = v.size() > 2 ? v[2] : 0;
  const auto all = [&]<class T>(std::type_identity<T>) {
    std::array<T, 5> values{};
    for (std::size_t i = 0; i < v.size(); ++i) values[i] = as<T>(v[i]);
    return values;
  };
  if (op == Op::where) return a ? b : c;
  if (is_random(op)) return random_value(op, a, b, c);
  if (op == Op::mul_high) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
  }
  switch (info(op).rule) {
    case DTypeRule::Compare:
    case DTypeRule::FloatCompare:
      return sinter::test::visit_real(held(compute),
                                      [&]<class T>(std::type_identity<T> t) { return to_bits(compare(op, all(t))); });
    default: break;
  }
  return sinter::test::visit_real(compute, [&]<class T>(std::type_identity<T> t) {
    if constexpr (is_16_bit_float<T>) {
      const float x = as<float>(a), most = std::is_same_v<T, half> ? 65504.f : 0x1.FEp127f;
      const bool limited = op == Op::nan_to_num || (op == Op::nan_to_num_posinf && x < 0);
      return limited && std::isinf(x) ? to_bits(std::copysign(most, x)) : apply(op, DType::Float32, v);
    } else if constexpr (std::is_same_v<T, bool>)
      return to_bits(truth(op, as<bool>(a), as<bool>(b)));
    else if constexpr (std::is_floating_point_v<T>)
      return to_bits(real(op, all(t)));
    else
      return to_bits(whole(op, all(t)));
  });
}

/// Whether 16-bit floats are rounded after each operation, as in eager evaluation.
enum class Rounding { Outputs, EachOperation };

/// The outputs for one element. `leaf(n)` is leaf n's value (an index for index nodes); `scalar(node)` is a scalar's,
/// in the dtype that holds the node.
inline std::vector<Bits> interpret(const jit::Graph& graph, const std::function<Bits(std::uint64_t)>& leaf,
                                   const std::function<Bits(const jit::Node&)>& scalar,
                                   Rounding rounding = Rounding::Outputs) {
  const auto rounded = [](Bits value, DType t) { return convert_bits(convert_bits(value, held(t), t), t, held(t)); };
  std::vector<Bits> values;
  for (const jit::Node& n : graph.nodes()) {
    std::vector<Bits> operands;
    DType compute = n.dtype;
    for (const jit::Operand o : graph.operands(n)) {
      compute = graph[o].dtype;
      const Bits value = values[static_cast<std::size_t>(o.node)];
      // Results that are not floats depend on the rounding, and so does whether an infinity is replaced.
      const bool sees =
          category(n.dtype) != Category::Float || (operands.empty() && name(n.op).starts_with("nan_to_num"));
      operands.push_back(sees ? rounded(value, compute) : value);
    }
    switch (n.op) {
      case Op::leaf:
      case Op::iota: values.push_back(convert_bits(leaf(n.attribute), n.dtype, held(n.dtype))); break;
      case Op::scalar: values.push_back(scalar(n)); break;
      case Op::constant: values.push_back(convert_bits(n.attribute, n.dtype, held(n.dtype))); break;
      case Op::cast: {
        const Bits value = convert_bits(operands[0], held(compute), held(n.dtype));
        values.push_back(n.attribute == jit::weak_result ? value : rounded(value, n.dtype));
        break;
      }
      default: {
        const Bits value = apply(n.op, compute, operands);
        values.push_back(rounding == Rounding::EachOperation ? rounded(value, n.dtype) : value);
      }
    }
  }
  std::vector<Bits> outputs;
  for (const jit::Operand o : graph.outputs())
    outputs.push_back(convert_bits(values[static_cast<std::size_t>(o.node)], held(graph[o].dtype), graph[o].dtype));
  return outputs;
}

}  // namespace sinter::test
