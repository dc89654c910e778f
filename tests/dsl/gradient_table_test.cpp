// Derivatives of every operation and reduction against PyTorch's (tests/data/gradients.tsv), at special values and
// kinks too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <map>
#include <optional>

#include <sinter/jit/grad.hpp>
#include <sinter/runtime/error.hpp>
#include "table.hpp"

namespace sinter::gradient_table {
namespace {

using jit::LazyRef;
using runtime::TensorRef;
using testing::Row;

const std::vector<Row>& table() {
  static const std::vector<Row> rows = testing::read_table("gradients.tsv");
  return rows;
}

std::vector<double> numbers(const std::string& bits) {
  std::vector<double> found;
  for (const std::string& word : testing::split(bits, ' '))
    found.push_back(std::bit_cast<double>(std::stoull(word, nullptr, 16)));
  return found;
}

const std::vector<double>& values(const std::string& name) {
  static const std::map<std::string, std::vector<double>> sets = [] {
    std::map<std::string, std::vector<double>> made;
    for (const Row& row : table())
      if (row[0] == "values") made[row[1]] = numbers(row[2]);
    return made;
  }();
  return sets.at(name);
}

Op op_named(std::string_view text) {
  for (int i = 0; i < all_op_count; ++i)
    if (name(static_cast<Op>(i)) == text) return static_cast<Op>(i);
  throw Error("no operation is called " + std::string(text));
}

TensorRef tensor_of(DType dtype, const Shape& shape, const std::vector<double>& parts) {
  const TensorRef t = runtime::empty(shape, dtype, Device());
  std::memcpy(t->data, parts.data(), parts.size() * sizeof(double));
  return t;
}

std::vector<double> elements(const LazyRef& value) {
  TensorRef result;
  jit::evaluate({&value, 1}, &result);
  const bool complex = is_complex(result->dtype);
  result = jit::to(*result, complex ? DType::Complex128 : DType::Float64, Device());
  const auto* data = reinterpret_cast<const double*>(result->data);
  return {data, data + result->numel * (complex ? 2 : 1)};
}

LazyRef number(double value) { return jit::lazy(jit::Scalar(value), Category::Float); }
LazyRef sum_of(const LazyRef& value) { return jit::lazy(Op::sum, {&value, 1}); }

/// Operand i at all combinations of the elements of a set: those of the last operand change fastest.
std::vector<TensorRef> operands_of(Op op, const std::string& set, std::size_t count) {
  const std::size_t parts = set == "complex" ? 2 : 1, size = values(set).size() / parts;
  std::size_t total = 1;
  for (std::size_t i = 0; i < count; ++i) total *= size;
  std::vector<TensorRef> operands;
  std::size_t step = total;
  for (std::size_t i = 0; i < count; ++i) {
    step /= size;
    std::vector<double> elements;
    for (std::size_t k = 0; k < total; ++k)
      for (std::size_t part = 0; part < parts; ++part)
        elements.push_back(values(set)[(k / step % size) * parts + part]);
    const Shape shape(static_cast<std::int64_t>(total));
    if (op == Op::where && i == 0) {
      operands.push_back(runtime::empty(shape, DType::Bool, Device()));
      for (std::size_t k = 0; k < total; ++k) operands[0]->data[k] = std::byte{elements[k] > 0};
    } else {
      operands.push_back(tensor_of(parts == 2 ? DType::Complex128 : DType::Float64, shape, elements));
    }
  }
  return operands;
}

struct Slope {
  Op op;
  std::vector<double> parameters;
  std::string set;
  std::size_t which;
  int order;
  std::vector<double> expected;

  explicit Slope(const Row& row)
      : op(op_named(row[1])),
        set(row[3]),
        which(std::stoul(row[4])),
        order(std::stoi(row[5])),
        expected(numbers(row[6])) {
    if (row[2] != "-")
      for (const std::string& p : testing::split(row[2], ',')) parameters.push_back(std::stod(p));
  }

  std::vector<TensorRef> operands() const { return operands_of(op, set, info(op).arity - parameters.size()); }

  std::vector<double> computed() const { return computed(operands()); }
  std::vector<double> computed(const std::vector<TensorRef>& tensors) const {
    std::vector<LazyRef> nodes;
    for (const TensorRef& t : tensors) nodes.push_back(jit::lazy(*t));
    for (const double p : parameters) nodes.push_back(number(p));
    runtime::TensorImpl* const by = tensors[which].get();
    const LazyRef value = jit::lazy(op, nodes);
    const LazyRef first = jit::gradients(value, {&by, 1}, jit::lazy_cast(number(1), value->dtype()))[0];
    if (order == 1) return elements(first);
    return elements(jit::gradients(sum_of(first), {&by, 1}, {}, jit::UnusedInput::Zeros)[0]);
  }
};

bool agrees(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::abs(b) + 1e-14;  // slopes such as 1 - tanh^2 cancel
}

/// PyTorch's constants are rounded to float32 in some.
double tolerance_of(Op op) { return op == Op::celu || op == Op::hardsigmoid ? 1e-6 : 1e-11; }

/// Where PyTorch's derivative is 0 times an infinite number, where its digamma or sinc loses digits, and the second
/// derivatives that it masks at kinks and NaN.
bool is_better(const Slope& slope, double computed, double expected) {
  if (slope.op == Op::sinc || slope.op == Op::lgamma) return std::isfinite(computed);
  if ((slope.op == Op::softplus || slope.op == Op::hardswish) && slope.order == 2) return expected == 0;
  const bool is_second = slope.order == 2 || (slope.op == Op::pow && slope.set == "complex");
  return is_second && !std::isnan(computed) && std::isnan(expected);
}

TEST(GradientTable, Slopes) {
  for (const Row& row : table()) {
    if (row[0] != "slope") continue;
    const Slope slope(row);
    if (slope.op == Op::lgamma && slope.order == 2) {  // digamma has no derivative
      EXPECT_THROW(slope.computed(), Error);
      continue;
    }
    const std::vector<double> computed = slope.computed();
    ASSERT_EQ(computed.size(), slope.expected.size()) << row[1];
    const std::vector<TensorRef> operands = slope.operands();
    int shown = 0;
    for (std::size_t i = 0; i < computed.size(); ++i) {
      if (agrees(computed[i], slope.expected[i], tolerance_of(slope.op)) ||
          is_better(slope, computed[i], slope.expected[i]))
        continue;
      std::string at;
      for (const TensorRef& t : operands)
        at += t->dtype == DType::Float64 ? fmt::format(" {}", reinterpret_cast<const double*>(t->data)[i]) : " .";
      if (shown++ < 4)
        ADD_FAILURE() << fmt::format("{} by {}, order {}, at{}: {}, PyTorch has {}", row[1], slope.which, slope.order,
                                     at, computed[i], slope.expected[i]);
    }
  }
}

/// In the other dtypes, against float64 at the same numbers.
TEST(GradientTable, EveryDType) {
  const std::pair<DType, double> dtypes[] = {
      {DType::Float32, 0x1p-23}, {DType::Float16, 0x1p-10}, {DType::BFloat16, 0x1p-7}, {DType::Complex64, 0x1p-23}};
  for (const Row& row : table()) {
    if (row[0] != "slope" || row[5] != "1") continue;
    Slope slope(row);
    const bool complex = slope.set == "complex";
    if (!complex) slope.set = "plain";
    for (const auto& [dtype, epsilon] : dtypes) {
      if (is_complex(dtype) != complex) continue;
      std::vector<TensorRef> narrow, wide;
      for (const TensorRef& t : slope.operands()) {
        narrow.push_back(t->dtype == DType::Bool ? t : jit::to(*t, dtype, Device()));
        wide.push_back(jit::to(*narrow.back(), t->dtype, Device()));
      }
      const std::vector<double> got = slope.computed(narrow), expected = slope.computed(wide);
      ASSERT_EQ(got.size(), expected.size());
      int shown = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (agrees(got[i], expected[i], (complex ? 32 : 8) * epsilon) || std::abs(got[i] - expected[i]) < 4 * epsilon)
          continue;
        if (shown++ < 2)
          ADD_FAILURE() << fmt::format("{} {} by {}, {}, at {}: {}, {} in float64", row[1], row[2], slope.which,
                                       name(dtype), i, got[i], expected[i]);
      }
    }
  }
}

TEST(GradientTable, Reductions) {
  for (const Row& row : table()) {
    if (row[0] != "reduction") continue;
    if (row[1] == "prod" && row[5] == "special") continue;  // PyTorch's formula depends on whether there are zeros
    const Op op = op_named(row[1]);
    const TensorRef x = tensor_of(DType::Float64, Shape({2, 2, 3}), values(row[5]));
    jit::ReduceAxes along{0, row[4] == "1"};
    for (const std::string& axis : testing::split(row[3], ',')) along.axes |= 1u << (2 - std::stoi(axis));
    std::vector<LazyRef> nodes{jit::lazy(*x)};
    if (row[2] != "-") nodes.push_back(number(std::stod(row[2])));
    const LazyRef value = jit::lazy(op, nodes, along);
    Shape shape = info(op).reduction == Reduction::Reduces ? jit::reduced_shape(x->shape, along) : x->shape;
    std::vector<double> weights;
    for (int i = 1; i <= shape.numel(); ++i) weights.push_back(i % 2 ? i : -i);
    const LazyRef seed = jit::lazy(*tensor_of(DType::Float64, shape, weights));
    runtime::TensorImpl* const by = x.get();
    const std::vector<double> computed = elements(jit::gradients(value, {&by, 1}, seed)[0]), expected = numbers(row[6]);
    ASSERT_EQ(computed.size(), expected.size()) << row[1];
    for (std::size_t i = 0; i < computed.size(); ++i)
      EXPECT_TRUE(agrees(computed[i], expected[i], 1e-11))
          << fmt::format("{}({}) of {}, axes {}, at {}: {}, PyTorch has {}", row[1], row[2], row[5], row[3], i,
                         computed[i], expected[i]);
  }
}

}  // namespace
}  // namespace sinter::gradient_table
