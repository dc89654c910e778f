// Handwritten and random programs.
#pragma once
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <ranges>
#include <utility>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "interpreter.hpp"

namespace sinter::testing {

/// Which random programs a test runs: the usual number of them, as many as SINTER_TEST_PROGRAMS says, or from one to
/// another, 2719-2720.
inline auto programs_of_tests(unsigned usual) {
  unsigned first = 0, last = usual;
  if (const char* const given = std::getenv("SINTER_TEST_PROGRAMS"))
    if (std::sscanf(given, "%u-%u", &first, &last) == 1) last = std::exchange(first, 0u);
  return std::views::iota(first, last);
}

/// Postfix bytes, and what a recorder needs besides.
struct Written {
  std::vector<std::uint8_t> code;
  std::vector<DType> dtypes;
  std::vector<std::uint16_t> same_as;
  std::vector<std::uint8_t> categories;  // of scalars
  std::uint16_t outputs = 1;

  Written& byte(auto b) { return code.push_back(static_cast<std::uint8_t>(b)), *this; }
  Written& leaf(DType t, int same = -1) {
    same_as.push_back(static_cast<std::uint16_t>(same < 0 ? static_cast<int>(dtypes.size()) : same));
    dtypes.push_back(t);
    return byte(Op::leaf).byte(t);
  }
  /// A leaf that op(Op::load) gathers from, at the offset that follows.
  Written& array(DType t, int same = -1) {
    leaf(t, same).code.end()[-2] = static_cast<std::uint8_t>(Op::array);
    return *this;
  }
  Written& scalar(Category c) {
    categories.push_back(static_cast<std::uint8_t>(c));
    return byte(Op::scalar).byte(c);
  }
  Written& constant(std::int64_t v) { return constant(DType::Int64, static_cast<std::uint64_t>(v)); }
  Written& constant(DType t, std::uint64_t bits) {
    byte(Op::constant).byte(t);
    for (int i = 0; i < 8; ++i) byte(bits >> (8 * i) & 0xFF);
    return *this;
  }
  Written& cast(DType t) { return byte(Op::cast).byte(t); }
  Written& op(Op o) { return byte(o); }

  jit::Program program() const {
    return {code, static_cast<std::uint16_t>(dtypes.size()), static_cast<std::uint16_t>(categories.size()), outputs};
  }
  Graph record() const { return jit::record(program(), dtypes, same_as); }

  std::vector<std::uint64_t> leaf_values(std::mt19937_64& random) const {
    std::vector<std::uint64_t> v;
    for (std::size_t i = 0; i < dtypes.size(); ++i)
      v.push_back(same_as[i] == i ? special_bits(dtypes[i], random) : v[same_as[i]]);
    return v;
  }
  std::vector<std::uint64_t> scalar_values(std::mt19937_64& random) const {
    constexpr DType arrives[] = {DType::Bool, DType::Int64, DType::Float64};
    std::vector<std::uint64_t> v;
    for (std::uint8_t c : categories) v.push_back(special_bits(arrives[c], random));
    return v;
  }
};

/// A valid program of about `steps` steps, from the operations that the interpreter rounds correctly. Excludes
/// copysign, which depends on the sign of NaN, and hardtanh and isclose, which reject most random numbers.
inline Written random_program(std::mt19937_64& random, int steps, bool many_constants = true) {
  static constexpr Op operations[] = {Op::add,
                                      Op::sub,
                                      Op::mul,
                                      Op::div,
                                      Op::fma,
                                      Op::neg,
                                      Op::abs,
                                      Op::sign,
                                      Op::square,
                                      Op::relu,
                                      Op::floor,
                                      Op::ceil,
                                      Op::trunc,
                                      Op::round,
                                      Op::maximum,
                                      Op::minimum,
                                      Op::fmax,
                                      Op::fmin,
                                      Op::clamp,
                                      Op::eq,
                                      Op::ne,
                                      Op::lt,
                                      Op::le,
                                      Op::gt,
                                      Op::ge,
                                      Op::isnan,
                                      Op::isinf,
                                      Op::isfinite,
                                      Op::where,
                                      Op::logical_and,
                                      Op::logical_or,
                                      Op::logical_xor,
                                      Op::logical_not,
                                      Op::bitwise_and,
                                      Op::bitwise_or,
                                      Op::bitwise_xor,
                                      Op::bitwise_not,
                                      Op::floor_divide,
                                      Op::remainder,
                                      Op::fmod,
                                      Op::reciprocal,
                                      Op::sqrt,
                                      Op::trunc_divide,
                                      Op::gcd,
                                      Op::lcm,
                                      Op::bitwise_left_shift,
                                      Op::bitwise_right_shift,
                                      Op::nextafter,
                                      Op::positive,
                                      Op::heaviside,
                                      Op::relu6,
                                      Op::threshold,
                                      Op::nan_to_num,
                                      Op::nan_to_num_infinities,
                                      Op::isposinf,
                                      Op::isneginf,
                                      Op::frac,
                                      Op::deg2rad,
                                      Op::addcdiv};
  struct Entry {
    OperandType type;
    bool is_constant;
  };
  Written p;
  std::vector<Entry> stack, names;
  // Unsigned dtypes do not accept numbers below 0, so a program has either.
  const bool has_unsigned = random() % 4 == 0;
  const auto any_dtype = [&] {
    const auto t = static_cast<DType>(random() % real_dtype_count);
    return is_unsigned(t) && !has_unsigned ? DType::Int8 : t;
  };
  const auto push_source = [&] {
    switch (random() % (many_constants ? 6 : 3)) {
      case 0:
      case 1: {
        const DType t = any_dtype();
        int same = -1;
        if (random() % 2)
          for (std::size_t i = 0; i < p.dtypes.size(); ++i)
            if (p.dtypes[i] == t && p.same_as[i] == i) same = static_cast<int>(i);
        p.leaf(t, same);
        return stack.push_back({{t}, false});
      }
      case 2: {
        const auto c = static_cast<Category>(random() % 3);
        p.scalar(c);
        return stack.push_back({{default_dtype(c), true}, false});
      }
      case 3:
        if (!names.empty()) {
          const std::size_t n = random() % names.size();
          p.byte(jit::Code::reference).byte(n);
          return stack.push_back(names[n]);
        }
        [[fallthrough]];
      default: {
        const DType t = any_dtype();
        constexpr double values[] = {0, -0.0, 1, 2, 0.5, 3, -1, -4};
        const bool positive = has_unsigned && category(t) == Category::Int;
        const double value = values[random() % (positive ? 6 : 8)];
        p.constant(t, converted_bits(std::bit_cast<std::uint64_t>(value), DType::Float64, t));
        return stack.push_back({{default_dtype(category(t)), true}, true});
      }
    }
  };
  const auto try_operation = [&](Op op) {
    const std::size_t arity = info(op).arity;
    if (stack.size() < arity) return;
    std::array<OperandType, max_arity> types;
    bool weak = true, constant = true;
    for (std::size_t i = 0; i < arity; ++i) {
      const Entry& e = stack[stack.size() - arity + i];
      types[i] = e.type;
      weak &= e.type.weak;
      constant &= e.is_constant;
    }
    const OpTypes t = op_types(op, std::span(types).first(arity));
    if (!t.ok) return;
    p.op(op);
    stack.resize(stack.size() - arity);
    stack.push_back({{weak ? default_dtype(category(t.result)) : t.result, weak}, constant});
  };
  for (int i = 0; i < steps; ++i) {
    switch (random() % 12) {
      case 0:
      case 1:
      case 2:
      case 3: push_source(); break;
      case 4:
        if (stack.empty()) break;
        p.cast(any_dtype());
        stack.back().type = {static_cast<DType>(p.code.back())};
        break;
      case 5:
        if (stack.empty() || names.size() > 5) break;
        p.byte(jit::Code::bind);
        names.push_back(stack.back());
        stack.pop_back();
        break;
      default: try_operation(operations[random() % std::size(operations)]);
    }
  }
  if (stack.empty()) push_source();
  for (std::size_t i = 0; i < names.size(); ++i) p.byte(jit::Code::unbind);
  p.outputs = static_cast<std::uint16_t>(stack.size());
  return p;
}

}  // namespace sinter::testing
