// Every operation in exported C, for the dtypes that it takes, compared with the library.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "exported.hpp"

namespace sinter::testing {
namespace {

/// Functions of the C library, each with its own accuracy, and functions composed of them.
bool is_exact(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::floor_divide:
    case Op::trunc_divide:
    case Op::remainder:
    case Op::fmod:
    case Op::fma:
    case Op::neg:
    case Op::abs:
    case Op::sign:
    case Op::square:
    case Op::reciprocal:
    case Op::lerp:
    case Op::gcd:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::relu:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round:
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin:
    case Op::clamp:
    case Op::copysign:
    case Op::nextafter:
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::isnan:
    case Op::isinf:
    case Op::isfinite:
    case Op::where: return true;
    default: return false;
  }
}

bool is_left_out(Op op) {
  switch (op) {
    case Op::complex:
    case Op::polar:
    case Op::imag:
    case Op::random_uniform:
    case Op::random_uniform_double:
    case Op::random_normal:
    case Op::random_normal_double:
    case Op::random_bits:
    case Op::mul_high:
    case Op::axis_offset:
    case Op::class_index: return true;
    default: return false;
  }
}

constexpr std::int64_t rows = 8, columns = 41;

double special(std::mt19937& random, DType dtype) {
  static constexpr double floats[] = {0.0, -0.0, 1.0,  -1.0, 0.5,   INFINITY, -INFINITY,
                                      NAN, 3.0,  -2.5, 1e-3, 700.0, 88.0};
  static constexpr double integers[] = {0, 1, -1, 2, -2, 7, -7, 127, -128, 31, 32, 63};
  if (category(dtype) == Category::Float) return floats[random() % std::size(floats)];
  return is_unsigned(dtype) ? static_cast<double>(random() % 256) : integers[random() % std::size(integers)];
}

/// Integer divisors are not 0: another test covers that.
Tensor<double> data(std::mt19937& random, DType dtype, bool divisor) {
  const Tensor<double> t = zeros<double>({rows, columns});
  std::normal_distribution<double> normal(0, category(dtype) == Category::Float ? 2 : 40);
  for (std::int64_t i = 0; i < t.numel(); ++i) {
    double v = i % 3 == 0 ? special(random, dtype) : normal(random);
    if (category(dtype) != Category::Float) v = std::trunc(v);
    if (divisor && category(dtype) == Category::Int && v == 0) v = 3;
    t.data()[i] = is_unsigned(dtype) ? std::fabs(v) : v;
  }
  return t;
}

struct Case {
  Op op;
  DType dtype;
  std::vector<runtime::TensorRef> inputs;
  runtime::TensorRef expected;
};

class ExportOpsTest : public ::testing::TestWithParam<DType> {};

/// The operation on tensors of a dtype; nothing if it does not take that dtype.
std::optional<jit::LazyRef> expression(const Case& c) {
  std::vector<jit::LazyRef> operands;
  for (const runtime::TensorRef& t : c.inputs) operands.push_back(jit::lazy(*t));
  try {
    if (is_reduction(c.op)) {
      if (sinter::info(c.op).arity == 2) operands.push_back(jit::lazy(jit::Scalar(std::int64_t{1}), Category::Int));
      return jit::lazy(c.op, operands, jit::ReduceAxes{1, false});
    }
    return jit::lazy(c.op, operands);
  } catch (const DTypeError&) {
    return std::nullopt;
  }
}

std::vector<Case> cases(DType dtype, std::vector<jit::Export>& exports) {
  std::mt19937 random(7);
  std::vector<Case> out;
  for (int number = static_cast<int>(Op::add); number < all_op_count; ++number) {
    const Op op = static_cast<Op>(number);
    // Compiling C is slow, and stored dtypes differ only in their conversions.
    if (is_stored_only(dtype) && number % 6 != 0) continue;
    if (is_left_out(op) || op == Op::matmul || sinter::name(op) == "broadcast_like") continue;
    Case c{op, dtype, {}, {}};
    const int tensors = is_reduction(op) ? 1 : sinter::info(op).arity;
    for (int i = 0; i < tensors; ++i) {
      const DType of = op == Op::where && i == 0 ? DType::Bool : dtype;
      Tensor<double> values = data(random, of, i == 1);
      c.inputs.push_back(jit::to(values.impl(), of, Device()));
    }
    const auto e = expression(c);
    if (!e || is_complex((*e)->dtype())) continue;
    jit::evaluate(std::span(&*e, 1), &c.expected);
    exports.push_back({jit::Recorded(*e), {.name = fmt::format("k{}", out.size())}});
    out.push_back(std::move(c));
  }
  return out;
}

int call(void* function, const std::vector<void*>& p) {
  using I = std::int64_t;
  using V = void*;
  switch (p.size()) {
    case 2: return reinterpret_cast<int (*)(V, V, I, I)>(function)(p[0], p[1], rows, columns);
    case 3: return reinterpret_cast<int (*)(V, V, V, I, I)>(function)(p[0], p[1], p[2], rows, columns);
    case 4: return reinterpret_cast<int (*)(V, V, V, V, I, I)>(function)(p[0], p[1], p[2], p[3], rows, columns);
    case 5:
      return reinterpret_cast<int (*)(V, V, V, V, V, I, I)>(function)(p[0], p[1], p[2], p[3], p[4], rows, columns);
    case 6:
      return reinterpret_cast<int (*)(V, V, V, V, V, V, I, I)>(function)(p[0], p[1], p[2], p[3], p[4], p[5], rows,
                                                                         columns);
    default: return -1;
  }
}

double element(const runtime::TensorImpl& t, std::int64_t i) {
  return sinter::visit(t.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (complex_element<T>)
      return 0.0;
    else
      return static_cast<double>(reinterpret_cast<const T*>(t.data)[i]);
  });
}

/// The tolerance, relative to the larger of the result and 1.
double bound(const Case& c) {
  switch (c.dtype) {
    case DType::Float16: return 4e-3;
    case DType::BFloat16: return 3e-2;
    case DType::Float64: return 1e-12;
    default: return 1e-5;
  }
}

void expect_equal(const Case& c, const runtime::TensorImpl& found) {
  for (std::int64_t i = 0; i < found.numel; ++i) {
    const double a = element(found, i), b = element(*c.expected, i);
    const bool same = (a == b && std::signbit(a) == std::signbit(b)) || (a != a && b != b);
    const bool may_differ = !is_exact(c.op) && category(found.dtype) == Category::Float;
    if (same || (may_differ && std::fabs(a - b) <= bound(c) * std::max(1.0, std::fabs(b)))) continue;
    std::string from;
    if (!is_reduction(c.op))
      for (const auto& t : c.inputs) from += fmt::format(" {}", element(*t, i));
    ADD_FAILURE() << fmt::format("{} of {}, element {}:{}: {} and {}", sinter::name(c.op), name(c.dtype), i, from, a,
                                 b);
    return;
  }
}

TEST_P(ExportOpsTest, ComputesWhatTheLibraryComputes) {
  std::vector<jit::Export> exports;
  const std::vector<Case> all = cases(GetParam(), exports);
  const ExportedLibrary library(exports, {.name = "ops", .architectures = {}});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const runtime::TensorRef found = runtime::empty(all[i].expected->shape, all[i].expected->dtype, Device());
    std::vector<void*> pointers{found->data};
    for (const runtime::TensorRef& t : all[i].inputs) pointers.push_back(t->data);
    ASSERT_EQ(call(reinterpret_cast<void*>(library.get<int()>(fmt::format("k{}_cpu", i))), pointers), ok)
        << sinter::name(all[i].op);
    expect_equal(all[i], *found);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, ExportOpsTest,
                         ::testing::Values(DType::Bool, DType::UInt8, DType::Int8, DType::UInt16, DType::UInt32,
                                           DType::UInt64, DType::Int32, DType::Int64, DType::Float16, DType::BFloat16,
                                           DType::Float32, DType::Float64),
                         [](const auto& of) { return std::string(name(of.param)); });

}  // namespace
}  // namespace sinter::testing
