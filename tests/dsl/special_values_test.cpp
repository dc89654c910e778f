// Every operation at special values against PyTorch's results (tests/data/special_values.tsv): on the CPU, with every
// build of its loops, fused and eager, and on a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <jit/evaluate/evaluator.hpp>
#include <visit_real.hpp>
#include "../jit/composite_reference.hpp"
#include "../runtime/gpus.hpp"
#include "each_isa.hpp"
#include "table.hpp"

namespace sinter {
namespace {

using jit::Graph;
using runtime::TensorImpl;
using runtime::TensorRef;
using testing::Row;

/// How far results may be from PyTorch's, in units of the last place. NaN, infinities and the sign of zero are right in
/// any case. Those that cancel are measured in the last place of something larger than the result.
enum class Unit { Result, Operand, One };
struct Bound {
  std::int64_t ulps = 0;
  Unit unit = Unit::Result;
};

/// Formulas that round where PyTorch's do.
const std::set<std::string_view> same_steps{"addcmul",    "addcdiv",  "deg2rad",     "rad2deg",
                                            "leaky_relu", "softsign", "hardsigmoid", "hardswish"};
constexpr double error_of_pytorch = 2;

/// By operation: the measured error (tests/data/accuracy.tsv) plus PyTorch's. Operations without one are exact.
std::map<std::string, Bound> measured_bounds() {
  std::map<std::string, Bound> bounds;
  for (const Row& row : testing::read_table("accuracy.tsv"))
    if (row[3] != "exact" && !same_steps.contains(row[0]))
      bounds[row[0]].ulps =
          std::max(bounds[row[0]].ulps, static_cast<std::int64_t>(std::ceil(std::stod(row[3]) + error_of_pytorch)));
  bounds["lerp"] = {1};
  bounds["digamma"].unit = Unit::One;
  for (const char* const op : {"gelu", "gelu_tanh", "logaddexp", "logaddexp2"}) bounds[op].unit = Unit::Operand;
  return bounds;
}

/// Where Sinter differs from PyTorch on purpose: the value that it gives for these operands, or none where it should
/// agree. An unused entry fails the test.
using Operands = std::span<const double>;
struct Difference {
  std::vector<std::string_view> ops;
  std::function<std::optional<double>(Operands, DType)> value;
  std::string_view reason;
};

double larger(double a, double b) { return std::signbit(a) ? b : a; }
double smaller(double a, double b) { return std::signbit(a) ? a : b; }
std::optional<double> where_zeros(Operands o, double value) {
  return o[0] == 0 && o[1] == 0 ? std::optional(value) : std::nullopt;
}

/// Where it is finite; PyTorch's infinities and NaN count.
std::optional<double> if_finite(long double value) {
  return std::isfinite(value) ? std::optional(static_cast<double>(value)) : std::nullopt;
}
std::optional<double> fma_of(Operands o, DType dtype) {
  const auto value = [&]<class T>(T) {
    return std::fma(static_cast<T>(o[3]) * static_cast<T>(o[1]), static_cast<T>(o[2]), static_cast<T>(o[0]));
  };
  if (category(dtype) != Category::Float) return {};
  return dtype == DType::Float64 ? value(0.) : static_cast<double>(value(0.f));  // 16-bit floats compute in float32
}
std::optional<double> lerp_of(Operands o, DType dtype) {
  const auto value = [&]<class T>(T) {
    const T a = static_cast<T>(o[0]), b = static_cast<T>(o[1]), c = static_cast<T>(o[2]);
    return std::fabs(c) < T(0.5) ? std::fma(c, b - a, a) : std::fma(c - T(1), b - a, b);
  };
  return dtype == DType::Float64 ? value(0.) : static_cast<double>(value(0.f));
}
std::optional<double> negative_part(Operands o, double scale, double steepness) {
  return o[0] <= 0 ? std::optional(scale * std::expm1(o[0] * steepness)) : std::nullopt;
}

const std::vector<Difference> differences = {
    {{"maximum", "fmax"},
     [](Operands o, DType) { return where_zeros(o, larger(o[0], o[1])); },
     "-0 is below +0, as IEEE 754-2019 and GPUs have it; PyTorch's CPU kernels return one of the two by position"},
    {{"minimum", "fmin"}, [](Operands o, DType) { return where_zeros(o, smaller(o[0], o[1])); }, "the same"},
    {{"clamp"},
     [](Operands o, DType) -> std::optional<double> {
       const auto zeros = std::ranges::count(o, 0.0);
       const double low = o[0] == o[1] ? larger(o[0], o[1]) : std::max(o[0], o[1]);
       const double value = low == o[2] ? smaller(low, o[2]) : std::min(low, o[2]);
       const bool nan = std::ranges::any_of(o, [](double v) { return std::isnan(v); });
       return zeros > 1 && value == 0 && !nan ? std::optional(value) : std::nullopt;
     },
     "the same"},
    {{"relu6"}, [](Operands o, DType) { return o[0] == 0 ? std::optional(0.0) : std::nullopt; }, "the same"},
    {{"elu"}, [](Operands o, DType) { return negative_part(o, o[1], 1); }, "PyTorch's CPU kernel computes exp(x) - 1"},
    {{"celu"}, [](Operands o, DType) { return negative_part(o, o[1], 1 / o[1]); }, "the same"},
    {{"selu"},
     [](Operands o, DType) { return negative_part(o, 1.0507009873554804934 * 1.6732632423543772848, 1); },
     "the same"},
    {{"digamma"},
     [](Operands o, DType) { return if_finite(test::precise_digamma(o[0])); },
     "PyTorch loses digits around the root, and to rounding in float32"},
    {{"sqrt"},
     [](Operands o, DType) { return if_finite(std::sqrt(o[0])); },
     "it is correctly rounded; PyTorch's CPU kernel for float64 is not"},
    {{"i0"},
     [](Operands o, DType) {
       return std::isnan(o[0]) ? std::nullopt : std::optional(static_cast<double>(test::precise_i0(o[0])));
     },
     "PyTorch's overflows with exp(x), and gives NaN of infinity"},
    {{"addcmul"}, fma_of, "the product and the sum are rounded once"},
    {{"lerp"}, lerp_of, "the same: the product may be too large where the result is not"},
    {{"isclose"},
     [](Operands o, DType) {
       const auto rounds = [](double v) { return std::fabs(v) > 0x1p24 && std::fabs(v) < 0x1p70; };
       const bool zero = o[2] == 0 && o[3] == 0 && rounds(o[0]) && static_cast<float>(o[0]) == static_cast<float>(o[1]);
       return zero ? std::optional(1.0) : std::nullopt;
     },
     "without a tolerance, too, integers are compared as float32"},
};

/// A set of operands, or of results, as bits.
struct Values {
  DType dtype;
  std::vector<std::optional<std::uint64_t>> bits;  // none where PyTorch defines no result
};

Values parse_values(const std::string& dtype, const std::string& text) {
  Values values{testing::dtype_named(dtype), {}};
  for (const std::string& token : testing::split(text, ' '))
    values.bits.push_back(token == "x" ? std::optional<std::uint64_t>() : std::stoull(token, nullptr, 16));
  return values;
}

struct Expected {
  std::string op;
  Values results;
};

/// Operations that take the same sets of operands and, as last operands, the same numbers: they are evaluated together.
struct Group {
  std::vector<Values> sets;
  std::vector<std::string> numbers;
  std::vector<Expected> operations;

  std::size_t count() const { return operations[0].results.bits.size(); }
  /// Which element of set `operand` combination i takes: the last operand changes fastest.
  std::size_t element(std::size_t i, std::size_t operand) const {
    for (std::size_t k = sets.size(); --k > operand;) i /= sets[k].bits.size();
    return i % sets[operand].bits.size();
  }
  TensorRef leaf(std::size_t operand) const {
    std::vector<std::uint64_t> bits;
    for (std::size_t i = 0; i < count(); ++i) bits.push_back(*sets[operand].bits[element(i, operand)]);
    return testing::host_tensor(sets[operand].dtype, Shape{count()}, bits);
  }
};

Op op_named(std::string_view text) {
  for (int i = 0; i < op_count; ++i)
    if (name(static_cast<Op>(i)) == text) return static_cast<Op>(i);
  throw Error("no operation is called " + std::string(text) + ": remake the table");
}

bool is_float(const std::string& number) { return number.find_first_of(".e") != number.npos; }

/// A number as PyTorch takes it, a constant of the expression.
jit::Operand constant(Graph& graph, const std::string& number) {
  if (is_float(number)) return graph.constant(DType::Float64, std::bit_cast<std::uint64_t>(std::stod(number)));
  return graph.constant(DType::Int64, static_cast<std::uint64_t>(std::stoll(number)));
}

/// Whether Sinter has the operation for these dtypes: promotion_test lists where it does not and PyTorch does. Numbers
/// that do not fit an integer's dtype are refused.
bool is_taken(std::string_view op, const std::vector<Values>& sets, const std::vector<std::string>& numbers) {
  std::vector<OperandType> types;
  for (const Values& set : sets) types.push_back({set.dtype});
  for (const std::string& number : numbers) types.push_back({is_float(number) ? DType::Float32 : DType::Int64, true});
  const auto fits = [&](const std::string& number) {
    return visit(sets[0].dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>)
        return true;
      else
        return is_float(number) || std::in_range<T>(std::stoll(number));
    });
  };
  return op == "cast" || (op_types(op_named(op), types).ok && std::ranges::all_of(numbers, fits));
}

/// PyTorch has no fma; the standard library's is exact, and integers wrap.
std::uint64_t fma_bits(DType dtype, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return sinter::test::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    T x, y, z, result;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    std::memcpy(&z, &c, sizeof z);
    if constexpr (std::is_floating_point_v<T>)
      result = std::fma(x, y, z);
    else
      result = static_cast<T>(a * b + c);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &result, sizeof result);
    return bits;
  });
}

void add_fma(Group& group) {
  Values results{group.sets[0].dtype, {}};
  for (std::size_t i = 0; i < group.count(); ++i) {
    const auto bits = [&](std::size_t operand) { return *group.sets[operand].bits[group.element(i, operand)]; };
    results.bits.push_back(fma_bits(results.dtype, bits(0), bits(1), bits(2)));
  }
  group.operations.push_back({"fma", std::move(results)});
}

std::map<std::string, Group> read_groups() {
  std::map<std::string, Values> sets;
  std::map<std::string, Group> groups;
  for (const Row& row : testing::read_table("special_values.tsv")) {
    if (row[0] == "values") {
      sets.emplace(row[1], parse_values(row[2], row[3]));
      continue;
    }
    std::vector<Values> operands;
    std::vector<std::string> numbers;
    for (const std::string& operand : testing::split(row[2], ','))
      if (sets.contains(operand))
        operands.push_back(sets.at(operand));
      else
        numbers.push_back(operand);
    if (!is_taken(row[1], operands, numbers)) continue;
    Group& group = groups[row[2]];
    group.operations.push_back({row[1], parse_values(row[3], row[4])});
    group.sets = std::move(operands);
    group.numbers = std::move(numbers);
  }
  for (const char* dtype : {"int32", "int64", "float32", "float64"})
    add_fma(groups.at(fmt::format("{0}/3,{0}/3,{0}/3", dtype)));
  return groups;
}

std::vector<TensorRef> evaluate(const Group& group, Device device, jit::Mode mode) {
  jit::Recorded all;
  std::vector<TensorRef> leaves;
  std::vector<jit::Operand> operands;
  for (std::size_t k = 0; k < group.sets.size(); ++k) {
    leaves.push_back(jit::to(*group.leaf(k), group.sets[k].dtype, device));
    all.leaves.push_back(leaves.back().get());
    operands.push_back(all.graph.leaf(group.sets[k].dtype, static_cast<std::uint32_t>(k)));
  }
  for (const std::string& number : group.numbers) operands.push_back(constant(all.graph, number));
  for (const Expected& e : group.operations)
    all.graph.output(e.op == "cast" ? all.graph.explicit_cast(operands[0], e.results.dtype)
                                    : all.graph.apply(op_named(e.op), operands));
  all.device = device;
  std::vector<TensorRef> outputs(group.operations.size());
  try {
    jit::evaluate_recorded(all, outputs.data(), mode);
    runtime::backend(device).synchronize();
  } catch (const Error& e) {  // of integers divided by zero, whose result is 0
    if (!std::string_view(e.what()).starts_with("ZeroDivisionError")) throw;
  }
  for (TensorRef& t : outputs) t = jit::contiguous(*jit::to(*t, t->dtype, Device()));
  return outputs;
}

double as_double(std::uint64_t bits, DType dtype) {
  return sinter::test::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<double>(value);
  });
}

std::uint64_t as_bits(double value, DType dtype) {
  std::uint64_t bits = 0;
  sinter::test::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    const T typed = static_cast<T>(value);
    std::memcpy(&bits, &typed, sizeof typed);
  });
  return bits;
}

std::uint64_t bits_at(const TensorImpl& t, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, t.data + i * size_of(t.dtype), size_of(t.dtype));
  return bits;
}

/// Whether CUDA's math library may give `got` (CUDA C++ Programming Guide, "Mathematical Functions"): overflow is
/// within its bound of hypot near the largest number, exp of large negative numbers may be 0, and lgamma is accurate
/// relative to 1 around its zeros.
bool is_within_cuda(std::string_view op, std::uint64_t got, std::uint64_t wanted, DType dtype) {
  const double g = as_double(got, dtype), w = as_double(wanted, dtype);
  if (op == "hypot") return g == INFINITY && std::nextafter(std::fabs(w), INFINITY) == INFINITY;
  if (op == "lgamma") return std::fabs(g - w) <= 8 * (dtype == DType::Float64 ? 0x1p-52 : 0x1p-23);
  return (op == "mish" || op == "logsigmoid") && std::fabs(g - w) <= 1024 * 0x1p-1074;
}

constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();

/// Distance in representable numbers between two numbers of one sign. Otherwise 0 if they are the same, else the
/// maximum.
std::int64_t distance(std::uint64_t a, std::uint64_t b, DType dtype) {
  if (a == b) return 0;
  if (category(dtype) != Category::Float) return far;
  const double x = as_double(a, dtype), y = as_double(b, dtype);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y) ? 0 : far;
  if (std::isinf(x) || std::isinf(y) || std::signbit(x) != std::signbit(y)) return far;
  return static_cast<std::int64_t>(a > b ? a - b : b - a);
}

/// The same in units of the last place of another number.
std::int64_t distance_at(double at, std::uint64_t a, std::uint64_t b, DType dtype) {
  const int digits = dtype == DType::BFloat16 ? 7 : dtype == DType::Float16 ? 10 : dtype == DType::Float32 ? 23 : 52;
  return static_cast<std::int64_t>(
      std::ceil(std::ldexp(std::abs(as_double(a, dtype) - as_double(b, dtype)), digits - std::ilogb(at))));
}

class Comparison {
 public:
  Comparison(std::string where, Device device)
      : where_(std::move(where)), by_cuda_(device.is_cuda() && !test::virtual_gpus) {}
  ~Comparison() {
    for (const auto& [op, count] : failures_)
      if (count > shown) ADD_FAILURE() << where_ << ": " << op << ": " << count - shown << " more";
  }

  void compare(const Group& group, const Expected& expected, const TensorImpl& got) {
    ASSERT_EQ(got.dtype, expected.results.dtype) << where_ << ": " << expected.op;
    ASSERT_EQ(static_cast<std::size_t>(got.numel), group.count());
    for (std::size_t i = 0; i < group.count(); ++i) {
      if (!expected.results.bits[i]) continue;
      const std::uint64_t ours = bits_at(got, i), theirs = *expected.results.bits[i];
      const std::uint64_t wanted = listed(group, expected, i).value_or(theirs);
      const Bound allowed = bound(expected.op);
      std::int64_t d = distance(ours, wanted, got.dtype);
      if (d > 0 && d < far && allowed.unit != Unit::Result) {
        const double at = allowed.unit == Unit::One ? 1 : largest_operand(group, i);
        d = distance_at(std::max(at, std::fabs(as_double(wanted, got.dtype))), ours, wanted, got.dtype);
      }
      std::int64_t& worst = worst_[expected.op + " " + std::string(name(got.dtype))];
      if (d <= allowed.ulps)
        worst = std::max(worst, d);
      else if (!by_cuda_ || !is_within_cuda(expected.op, ours, wanted, got.dtype))
        fail(group, expected, i, ours, wanted, d);
    }
  }
  std::string worst() const {
    std::string text;
    for (const auto& [op, ulps] : worst_)
      if (ulps > 0) text += fmt::format("{} {}, ", op, ulps);
    return text;
  }
  static inline std::vector<int> needed = std::vector<int>(differences.size());  // values that are not PyTorch's

 private:
  static constexpr int shown = 200;  // of each operation

  static Bound bound(const std::string& op) {
    static const std::map<std::string, Bound> bounds = measured_bounds();
    const auto found = bounds.find(op);
    return found == bounds.end() ? Bound() : found->second;
  }
  static double largest_operand(const Group& group, std::size_t i) {
    double largest = 0;
    for (std::size_t k = 0; k < group.sets.size(); ++k)
      largest = std::max(largest, std::fabs(as_double(*group.sets[k].bits[group.element(i, k)], group.sets[k].dtype)));
    return largest;
  }
  /// The value of a difference that is listed for these operands, if it is one.
  static std::optional<std::uint64_t> listed(const Group& group, const Expected& expected, std::size_t i) {
    const DType dtype = expected.results.dtype;
    std::vector<double> operands;
    for (std::size_t k = 0; k < group.sets.size(); ++k)
      operands.push_back(as_double(*group.sets[k].bits[group.element(i, k)], group.sets[k].dtype));
    for (const std::string& number : group.numbers) operands.push_back(std::stod(number));
    for (std::size_t d = 0; d < differences.size() && (dtype == DType::Bool || category(dtype) == Category::Float);
         ++d) {
      if (std::ranges::find(differences[d].ops, expected.op) == differences[d].ops.end()) continue;
      const std::optional<double> value = differences[d].value(operands, dtype);
      if (!value) continue;
      const std::uint64_t bits = as_bits(*value, dtype);
      needed[d] += bits != *expected.results.bits[i];
      return bits;
    }
    return {};
  }
  void fail(const Group& group, const Expected& expected, std::size_t i, std::uint64_t ours, std::uint64_t wanted,
            std::int64_t d) {
    if (++failures_[expected.op] > shown) return;
    std::string operands;
    for (std::size_t k = 0; k < group.sets.size(); ++k)
      operands += fmt::format("{}{:.9g}", k ? ", " : "",
                              as_double(*group.sets[k].bits[group.element(i, k)], group.sets[k].dtype));
    const DType dtype = expected.results.dtype;
    ADD_FAILURE() << fmt::format("{}: {}({}) of {}: expected {:.9g} ({:x}), got {:.9g} ({:x}), {} ulps", where_,
                                 expected.op, operands, name(group.sets.back().dtype), as_double(wanted, dtype), wanted,
                                 as_double(ours, dtype), ours, d);
  }

  std::string where_;
  bool by_cuda_;  // rather than by the host's library, as on virtual GPUs
  std::map<std::string, int> failures_;
  std::map<std::string, std::int64_t> worst_;
};

void compare_all(const std::string& where, Device device, jit::Mode mode) {
  static const std::map<std::string, Group> groups = read_groups();
  Comparison comparison(where, device);
  for (const auto& [sets, group] : groups) {
    const std::vector<TensorRef> results = evaluate(group, device, mode);
    for (std::size_t i = 0; i < results.size(); ++i) comparison.compare(group, group.operations[i], *results[i]);
  }
  ::testing::Test::RecordProperty("worst", comparison.worst());
  for (std::size_t d = 0; d < differences.size(); ++d)
    EXPECT_GT(Comparison::needed[d], 0) << differences[d].ops[0]
                                        << " agrees with PyTorch now: " << differences[d].reason;
}

TEST(SpecialValues, OnTheCpuWithEveryBuild) {
  test::EachIsa().run([](jit::cpu::Isa isa) { compare_all(std::string(isa_name(isa)), Device(), jit::Mode::Fused); });
}

TEST(SpecialValues, OnTheCpuEagerly) { compare_all("eager", Device(), jit::Mode::Eager); }

TEST(SpecialValues, OnAGpu) { compare_all("cuda:0", Device("cuda:0"), jit::Mode::Fused); }

}  // namespace
}  // namespace sinter
