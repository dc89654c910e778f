// Every operation, of every dtype that it takes, on every instruction set, with every form of its operands.
#include <gtest/gtest.h>

#include <map>

#include <jit/passes/complex_parts.hpp>
#include <jit/passes/lower.hpp>
#include "closeness.hpp"
#include "cpu_kernels.hpp"

namespace sinter::test {
namespace {

/// The operation in long double, for those whose result is rounded more than once.
long double precise(Op op, const Five& v) {
  using namespace std;
  const long double a = v[0], b = v[1];
  const long double half = 0.5L, pi = 3.14159265358979323846264338327950288L;
  switch (op) {
    case Op::pow: return pow(a, b);
    case Op::exp: return exp(a);
    case Op::exp2: return exp2(a);
    case Op::expm1: return expm1(a);
    case Op::log: return log(a);
    case Op::log2: return log2(a);
    case Op::log10: return log10(a);
    case Op::log1p: return log1p(a);
    case Op::sin: return sin(a);
    case Op::cos: return cos(a);
    case Op::tan: return tan(a);
    case Op::asin: return asin(a);
    case Op::acos: return acos(a);
    case Op::atan: return atan(a);
    case Op::atan2: return atan2(a, b);
    case Op::sinh: return sinh(a);
    case Op::cosh: return cosh(a);
    case Op::tanh: return tanh(a);
    case Op::hypot: return hypot(a, b);
    case Op::erf: return erf(a);
    case Op::erfc: return erfc(a);
    case Op::sigmoid: return 1 / (1 + exp(-a));
    case Op::silu: return a / (1 + exp(-a));
    case Op::gelu: return half * a * erfc(-a * sqrt(half));
    case Op::gelu_tanh: return half * a * (1 + tanh(sqrt(2 / pi) * (a + 0.044715L * a * a * a)));
    case Op::rsqrt: return 1 / sqrt(a);
    default: return precise_composite(op, v);
  }
}

/// Bounds in units in the last place of the exact result. The own approximations: 2. SLEEF's: 1, of erfc 1.5, of atan2
/// 2 for denormals; without fma, on SSE4, of erfc 2.5 and of hypot 2; of the hyperbolic sine and cosine near overflow 2
/// (see vector_sleef.hpp). Compositions add the errors of their parts.
const std::map<Op, double>& bounds() {
  static const std::map<Op, double> all = {
      {Op::exp, 2},   {Op::log, 2},      {Op::tanh, 2},       {Op::erf, 2},     {Op::exp2, 1},      {Op::expm1, 1},
      {Op::log2, 1},  {Op::log10, 1},    {Op::log1p, 1},      {Op::sin, 1},     {Op::cos, 1},       {Op::tan, 1},
      {Op::asin, 1},  {Op::acos, 1},     {Op::atan, 1},       {Op::atan2, 2},   {Op::sinh, 2},      {Op::cosh, 2},
      {Op::hypot, 2}, {Op::erfc, 2.5},   {Op::pow, 1},        {Op::rsqrt, 1.5}, {Op::sigmoid, 2.1}, {Op::silu, 2.1},
      {Op::asinh, 2}, {Op::acosh, 2},    {Op::atanh, 1.1},    {Op::i0, 5},      {Op::erfinv, 2.5},  {Op::elu, 2},
      {Op::selu, 3},  {Op::softsign, 2}, {Op::float_power, 1}};
  return all;
}

/// The distance of `got` from the exact value in units in the last place of T at that value.
template <std::floating_point T>
double ulps(long double exact, T got) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got)) {
    // The edge of overflow is no sharper than the functions are accurate; SLEEF's pow rounds it within 2^-40.
    const T edge =
        std::numeric_limits<T>::max() * (1 - std::ldexp(std::numeric_limits<T>::epsilon(), sizeof(T) == 8 ? 12 : 2));
    return rounded == got ||
                   (std::fabs(rounded) >= edge && std::fabs(got) >= edge && std::signbit(rounded) == std::signbit(got))
               ? 0
               : INFINITY;
  }
  if (rounded == 0 && got == 0) return std::signbit(exact) == std::signbit(got) || exact != 0 ? 0 : INFINITY;
  const int exponent = std::max(std::ilogb(rounded), std::numeric_limits<T>::min_exponent - 1);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits + 1);
  return static_cast<double>(std::fabs(exact - static_cast<long double>(got)) / unit);
}

class CpuOps : public testing::Test {
 protected:
  /// Compares one result; remembers the largest error of the operation.
  void check(Op op, DType compute, DType result, const std::vector<Bits>& in, Bits got, Isa isa) {
    if (result == DType::Bool) {
      ASSERT_LE(got, 1u) << name(op);
    }
    if (category(result) != Category::Float) {
      ASSERT_EQ(apply(op, compute, in), got) << message(op, compute, in, result, got, isa);
      return;
    }
    sinter::test::visit_real(result, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_floating_point_v<T>) check_float<T>(op, compute, in, as<T>(got), isa);
    });
  }

  template <class T>
  void check_float(Op op, DType compute, const std::vector<Bits>& in, T got, Isa isa) {
    const auto bound = bounds().find(op);
    const auto x = [&](std::size_t k) { return k < in.size() ? static_cast<long double>(as<T>(in[k])) : 0; };
    const Five operands{x(0), x(1), x(2), x(3), x(4)};
    if (bound != bounds().end()) {
      const double error = ulps<T>(precise(op, operands), got);
      double& most = worst_[{op, compute, isa}];
      most = std::max(most, error);
      // exp(-a) overflows before its reciprocal underflows.
      const bool vanishes = (op == Op::sigmoid || op == Op::silu) && x(0) < (sizeof(T) == 4 ? -85 : -705);
      if (vanishes && std::isinf(x(0)) && op == Op::silu) {
        ASSERT_TRUE(std::isnan(got));  // -inf / inf
      } else if (vanishes && error > bound->second) {
        ASSERT_LE(std::fabs(got), std::numeric_limits<T>::min() * T(1e4))
            << error << " ulp: " << message(op, compute, in, compute, to_bits(got), isa);
      } else {
        ASSERT_LE(error, bound->second) << error << " ulp: " << message(op, compute, in, compute, to_bits(got), isa);
      }
    } else if (op == Op::gelu || op == Op::gelu_tanh) {
      // 1 + erf cancels: the error is small against the operand.
      const long double exact = precise(op, operands), e = std::fabs(exact - static_cast<long double>(got));
      if (std::isinf(x(0)) || std::isnan(x(0))) {
        ASSERT_TRUE(std::isnan(got) || got == as<T>(in[0])) << message(op, compute, in, compute, to_bits(got), isa);
      } else {
        ASSERT_LE(e, 4 * std::numeric_limits<T>::epsilon() * std::fabs(x(0)) + std::numeric_limits<T>::min())
            << message(op, compute, in, compute, to_bits(got), isa);
      }
    } else if (is_composite(op) || op == Op::lgamma) {
      ASSERT_TRUE(close(op, info(op).rule == DTypeRule::Float64 ? DType::Float64 : compute, in, compute,
                        apply(op, compute, in), to_bits(got)))
          << message(op, compute, in, compute, to_bits(got), isa);
    } else if (op == Op::random_normal || op == Op::random_normal_double) {
      const T expected = as<T>(apply(op, compute, in));
      ASSERT_LE(std::fabs(got - expected), 32 * std::numeric_limits<T>::epsilon())
          << message(op, compute, in, compute, to_bits(got), isa);
    } else {
      const T expected = as<T>(apply(op, compute, in));
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(got) : to_bits(expected) == to_bits(got))
          << message(op, compute, in,
                     info(op).rule == DTypeRule::Int64ToFloat32 ? DType::Float32
                     : sizeof(T) == 8                           ? DType::Float64
                                                                : DType::Float32,
                     to_bits(got), isa);
    }
  }

  static std::string message(Op op, DType compute, const std::vector<Bits>& in, DType result, Bits got, Isa isa) {
    std::string text = fmt::format("{} of {} on {}:", name(op), name(compute), isa_name(isa));
    for (const Bits b : in) text += " " + show(compute, b);
    return text + fmt::format(" gives {}, expected {}", show(result, got), show(result, apply(op, compute, in)));
  }

  /// Runs one operation on arrays; bit k of `form` makes operand k a scalar, of `broadcast` a leaf of one element.
  void run(Op op, DType compute, const std::vector<std::vector<Bits>>& columns, int form, int broadcast, Isa isa) {
    const std::vector<std::int64_t> extents{static_cast<std::int64_t>(columns[0].size())};
    Graph graph;
    std::vector<Operand> operands;
    std::vector<OperandType> types;
    std::vector<Array> leaves;
    std::vector<std::uint64_t> scalars;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const DType t = k == 0 && info(op).rule == DTypeRule::Select ? DType::Bool : compute;
      types.push_back({t});
      if (form >> k & 1) {
        operands.push_back(graph.scalar(t, category(t), static_cast<std::uint32_t>(scalars.size())));
        scalars.push_back(columns[k][0]);
        continue;
      }
      const bool one = broadcast >> k & 1;
      operands.push_back(graph.leaf(t, static_cast<std::uint32_t>(leaves.size())));
      leaves.push_back(make_array(t, extents, {one ? 0 : 1}));
      for (std::int64_t i = 0; i < (one ? 1 : extents[0]); ++i)
        write(t, leaves.back().first() + i * static_cast<std::int64_t>(size_of(t)),
              columns[k][static_cast<std::size_t>(i)]);
    }
    const DType result = op_types(op, types).result;
    graph.output(graph.node(op, result, operands));
    Array out = make_array(result, extents, {1});
    std::vector<const Array*> all{&out};
    for (const Array& a : leaves) all.push_back(&a);
    TileProgram(jit::lower(graph)).run(make_nest(extents, all, 1), scalars);
    for (std::int64_t i = 0; i < extents[0]; ++i) {
      std::vector<Bits> in;
      for (std::size_t k = 0; k < columns.size(); ++k)
        in.push_back(columns[k][((form | broadcast) >> k & 1) ? 0 : static_cast<std::size_t>(i)]);
      check(op, compute, result, in, element(out, extents, i), isa);
      if (HasFatalFailure()) return;
    }
  }

  static bool takes(Op op, DType t) {
    if (is_stored_only(t) || jit::is_of_parts(op)) return false;
    const std::vector<OperandType> types(info(op).arity, OperandType{t});
    if (info(op).rule == DTypeRule::Select) return true;
    const OpTypes r = op_types(op, types);
    return r.ok && r.compute == t && !is_complex(r.result);
  }

  std::map<std::tuple<Op, DType, Isa>, double> worst_;
  EachIsa isas_;
};

std::vector<Bits> special_values(DType t) {
  return sinter::test::visit_real(t, [&]<class T>(std::type_identity<T>) -> std::vector<Bits> {
    using L = std::numeric_limits<T>;
    std::vector<Bits> v;
    if constexpr (test::is_16_bit_float<T>) {
      for (const Bits b : special_values(DType::Float32)) v.push_back(convert_bits(b, DType::Float32, t));
    } else if constexpr (std::is_same_v<T, bool>) {
      v = {0, 1};
    } else if constexpr (std::is_integral_v<T>) {
      for (const T x : {T(0), T(1), T(-1), T(2), T(-2), T(3), T(-3), T(7), T(-7), T(31), T(64), L::max(), L::min(),
                        T(L::max() - 1), T(L::min() + 1)})
        v.push_back(to_bits(x));
    } else {
      for (const T x : {T(0),
                        T(1),
                        T(2),
                        T(3),
                        T(0.5),
                        T(1.5),
                        T(2.5),
                        T(0.1),
                        T(1e-10),
                        T(20),
                        T(88.5),
                        T(88.7228),
                        T(89.2),
                        T(89.4159),
                        T(103.9),
                        T(104),
                        T(709.78271289),
                        T(710.2),
                        T(710.47586007),
                        T(745),
                        L::infinity(),
                        L::quiet_NaN(),
                        L::denorm_min(),
                        T(L::min() / 2),
                        L::min(),
                        L::max(),
                        T(1) / L::epsilon(),
                        T(0.5) / L::epsilon(),
                        T(1) + L::epsilon(),
                        T(1) - L::epsilon() / 2,
                        T(1e30),
                        T(0.625),
                        T(0.9277)})
        v.push_back(to_bits(x)), v.push_back(to_bits(-x));
    }
    return v;
  });
}

TEST_F(CpuOps, RandomAndSpecialValues) {
  const std::uint32_t seed = seed_of_tests();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  isas_.run([&](Isa isa) {
    std::mt19937_64 random(seed);
    for (int i = static_cast<int>(first_table_op); i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      for (const DType t : all_dtypes) {
        if (!takes(op, t)) continue;
        const bool real = info(op).rule == DTypeRule::Float || info(op).rule == DTypeRule::FloatOnly || op == Op::pow;
        std::vector<std::vector<Bits>> columns(info(op).arity);
        for (std::size_t k = 0; k < columns.size(); ++k)
          for (int n = 0; n < (real ? 20000 : 3001); ++n)
            columns[k].push_back(random_bits(k == 0 && info(op).rule == DTypeRule::Select ? DType::Bool : t, random));
        run(op, t, columns, 0, 0, isa);
        if (HasFatalFailure()) return;
        // All pairs of special values; the third operand runs through them at another pace.
        const std::vector<Bits> special = special_values(t);
        std::vector<std::vector<Bits>> pairs(info(op).arity);
        for (std::size_t n = 0; n < special.size() * special.size(); ++n)
          for (std::size_t k = 0; k < pairs.size(); ++k) {
            const std::size_t at[] = {n % special.size(), n / special.size(),
                                      (n * 7 + n / special.size()) % special.size(), (n * 5) % special.size(),
                                      n / 3 % special.size()};
            pairs[k].push_back(k == 0 && info(op).rule == DTypeRule::Select ? n & 1 : special[at[k]]);
          }
        run(op, t, pairs, 0, 0, isa);
        if (HasFatalFailure()) return;
      }
    }
  });
  for (const auto& [key, error] : worst_)
    RecordProperty(fmt::format("{}_{}_{}", name(std::get<0>(key)), name(std::get<1>(key)), isa_name(std::get<2>(key))),
                   fmt::format("{:.2f}", error));
}

TEST_F(CpuOps, UniformOperands) {
  const std::uint32_t seed = seed_of_tests();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  isas_.run([&](Isa isa) {
    std::mt19937_64 random(seed);
    for (int i = static_cast<int>(first_table_op); i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      for (const DType t : all_dtypes) {
        if (!takes(op, t)) continue;
        for (int form = 0; form < 1 << info(op).arity; ++form)
          for (int broadcast = 0; broadcast < 1 << info(op).arity; ++broadcast) {
            if (form & broadcast) continue;
            std::vector<std::vector<Bits>> columns(info(op).arity);
            for (std::size_t k = 0; k < columns.size(); ++k)
              for (int n = 0; n < 67; ++n)
                columns[k].push_back(
                    random_bits(k == 0 && info(op).rule == DTypeRule::Select ? DType::Bool : t, random));
            run(op, t, columns, form, broadcast, isa);
            if (HasFatalFailure()) return;
          }
      }
    }
  });
}

/// What stands beside an element, and whether it comes in a whole vector, does not matter.
/// The sign and payload of a NaN are the instruction's choice: all NaNs count as one.
Bits without_nan_bits(DType t, Bits bits) {
  if (t == DType::Float32 && std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))) return 0x7fc00000u;
  if (t == DType::Float64 && std::isnan(std::bit_cast<double>(bits))) return 0x7ff8000000000000u;
  return bits;
}

TEST_F(CpuOps, NeighboursDoNotMatter) {
  const std::uint32_t seed = seed_of_tests();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  isas_.run([&](Isa isa) {
    std::mt19937_64 random(seed);
    for (int i = static_cast<int>(first_table_op); i < op_count; ++i)
      for (const DType t : {DType::Float32, DType::Float64, DType::Int64}) {
        const Op op = static_cast<Op>(i);
        if (!takes(op, t) || info(op).rule == DTypeRule::Select) continue;
        const std::int64_t n = 203;
        Graph graph;
        std::vector<Operand> operands;
        std::vector<OperandType> types;
        std::vector<Array> leaves;
        for (std::uint32_t k = 0; k < info(op).arity; ++k) {
          operands.push_back(graph.leaf(t, k));
          types.push_back({t});
          leaves.push_back(make_array(t, {n}, {1}));
          fill(leaves.back(), random);
        }
        const DType result = op_types(op, types).result;
        graph.output(graph.node(op, result, operands));
        const TileProgram program(jit::lower(graph));
        const Array all = make_array(result, {n}, {1}), one = make_array(result, {1}, {1});
        const auto run = [&](const Array& out, std::int64_t first, std::int64_t count) {
          LoopNest nest;
          nest.numel = nest.extents[0] = count;
          nest.operands.push_back({out.first(), {1}});
          for (const Array& a : leaves)
            nest.operands.push_back({a.first() + first * static_cast<std::int64_t>(size_of(t)), {1}});
          program.run(nest, {});
        };
        run(all, 0, n);
        for (std::int64_t at = 0; at < n; ++at) {
          run(one, at, 1);
          ASSERT_EQ(without_nan_bits(result, element(one, {1}, 0)), without_nan_bits(result, element(all, {n}, at)))
              << name(op) << " of " << name(t) << " on " << isa_name(isa) << " of "
              << show(t, element(leaves[0], {n}, at));
        }
      }
  });
}

TEST_F(CpuOps, Casts) {
  const std::uint32_t seed = seed_of_tests();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  isas_.run([&](Isa isa) {
    std::mt19937_64 random(seed);
    for (const DType from : all_dtypes)
      for (const DType to : all_dtypes) {
        std::vector<Bits> values = special_values(from);
        for (int n = 0; n < 5000; ++n) values.push_back(random_bits(from, random));
        const auto edges = [&]<class T>(std::type_identity<T>) {
          if constexpr (std::is_floating_point_v<T>)
            for (const T x : {T(2147483648.0), T(2147483647.0), T(-2147483649.0), T(9.2233720368547758e18),
                              T(-9.2233720368547758e18), T(1e19), T(0.99), T(-0.99)})
              for (const T y : {x, std::nextafter(x, T(0)), std::nextafter(x, T(2) * x)}) values.push_back(to_bits(y));
          else
            for (const int s : {24, 25, 53, 54, 62})
              for (const int d : {-1, 0, 1})
                values.push_back(to_bits(static_cast<T>((1LL << s) + d))),
                    values.push_back(to_bits(static_cast<T>((3LL << (s - 1)) + d)));
        };
        if (from != DType::Bool) sinter::test::visit_real(from, edges);
        const std::vector<std::int64_t> extents{static_cast<std::int64_t>(values.size())};
        Graph graph;
        const Operand leaf[] = {graph.leaf(from, 0)};
        graph.output(graph.node(Op::cast, to, leaf));
        Array in = make_array(from, extents, {1}), out = make_array(to, extents, {1});
        for (std::size_t i = 0; i < values.size(); ++i) write(from, in.first() + i * size_of(from), values[i]);
        TileProgram(graph).run(make_nest(extents, {&out, &in}, 1), {});
        for (std::size_t i = 0; i < values.size(); ++i) {
          const Bits got = element(out, extents, static_cast<std::int64_t>(i)),
                     expected = convert_bits(values[i], from, to);
          const bool nans = category(to) == Category::Float &&
                            show(to, got).starts_with("nan") == show(to, expected).starts_with("nan") &&
                            show(to, got).find("nan") != std::string::npos;
          ASSERT_TRUE(got == expected || nans)
              << name(from) << " to " << name(to) << " on " << isa_name(isa) << ": " << show(from, values[i])
              << " gives " << show(to, got) << ", expected " << show(to, expected);
        }
      }
  });
}

}  // namespace
}  // namespace sinter::test
