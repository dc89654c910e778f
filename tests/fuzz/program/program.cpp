#include "program.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <sstream>

#include "error_bound.hpp"

namespace sinter::fuzz {
namespace {

std::string printed(const Plain& x) {
  std::ostringstream out;
  out << tensor_of(x);
  return out.str();
}

/// Elements of a dtype: small whole numbers most often, here and there what is likely to go wrong.
Plain random_elements(DType dtype, const Shape& shape, unsigned seed, bool special) {
  std::minstd_rand random(seed + 1);
  const bool negative = !is_unsigned(dtype) && seed % 3 != 0;
  const auto element = [&]() -> long double {
    const int what = static_cast<int>(random() >> 8 & 0xFFFF);
    if (dtype == DType::Bool) return what % 2;
    const int small = what % 9 - (negative ? 4 : 0);
    if (!special || what / 16 % 3 != 0) return small;
    if (category(dtype) >= Category::Float) {
      constexpr long double values[] = {NAN, INFINITY, -INFINITY, -0.0L, 0.5L, -1.5L, 0.1L, 7.25L, 100.0L};
      return values[what % 9];
    }
    const int bits = 8 * static_cast<int>(size_of(dtype));
    const long double most = std::ldexp(1.0L, is_unsigned(dtype) ? bits : bits - 1) - 1;
    const long double values[] = {most, is_unsigned(dtype) ? 0 : -most - 1, 17, 64, 100};
    return values[what % 5];
  };
  Plain x{dtype, shape, {}};
  const DType part = is_complex(dtype) ? real_of(dtype) : dtype;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    Cell cell = cell_of(part, element());
    if (is_complex(dtype)) cell[1] = cell_of(part, element())[0];
    x.cells.push_back(cell);
  }
  return x;
}

/// The same elements in another layout.
AnyTensor laid_out(const AnyTensor& x, int how) {
  if (x.dim() == 0) return x;
  if (how == 1) return AnyTensor(x.transpose(0, -1)).contiguous().transpose(0, -1);
  if (how == 2) return AnyTensor(x.flip(-1)).contiguous().flip(-1);
  if (how == 3) return AnyTensor(cat(-1, x, x)).narrow(-1, 0, x.size(-1));
  return x;
}

AnyTensor evaluated(const Any& value) { return AnyTensor(value); }

bool is_internal(const std::string& message) { return message.find("internal error") != std::string::npos; }

}  // namespace

Program::Program(std::span<const std::uint8_t> bytes, std::optional<Device> gpu) : choices_(bytes), gpu_(gpu) {
  extents_ = {choices_.pick({2, 3, 1, 4, 0, 5, 7, 8, 9}), choices_.pick({3, 1, 2, 16, 17, 8, 33, 64, 15}),
              choices_.pick({1, 2, 3, 5, 31, 32, 65})};
}

void Program::run() {
  for (int leaves = choices_.between(1, 3); leaves > 0; --leaves) add_leaf();
  for (int steps = 0; steps < 14 && !choices_.empty(); ++steps) choices_.often(8) ? add_leaf() : grow();
  if (gpu_) replay_on_gpu();
  const std::size_t last = values_.size() - 1;
  evaluate_together({&last, 1});
  std::vector<std::size_t> several{last};
  for (int i = choices_.between(1, 3); i > 0; --i) several.push_back(any_value(choices_, values_.size()));
  evaluate_together(several);
}

void Program::add_leaf() {
  Shape shape;
  for (int d = choices_.pick({1, 1, 0, 2, 3}); d < 3; ++d)
    shape.push_back(choices_.often(15) ? 1 : extents_[static_cast<std::size_t>(d)]);
  const DType dtype = choices_.pick({DType::Float32, DType::Int32, DType::Int64, DType::Bool, DType::Float32,
                                     DType::Float16, DType::BFloat16, DType::Float64, DType::UInt8, DType::Int8,
                                     DType::Int16, DType::Complex64, DType::Complex128, DType::UInt16, DType::UInt32});
  const bool special = choices_.often(25);
  const Plain elements = random_elements(dtype, shape, static_cast<unsigned>(choices_.below(256)), special);
  const AnyTensor x = laid_out(tensor_of(elements), choices_.below(6));
  const Extent extent = extent_of(elements);
  std::string layout = x.is_contiguous() ? "" : fmt::format(" with strides {}", to_string(x.strides()));
  values_.push_back({fmt::format("{} {}{} = {}", name(dtype), to_string(shape), layout, printed(elements)), Any(x), x,
                     0, Known{dtype, shape, true, extent.largest, extent.has_nan}});
}

std::vector<Any> Program::operands(const Step& step, bool alone) const {
  std::vector<Any> taken;
  for (const std::size_t v : step.operands) taken.push_back(alone ? Any(values_[v].alone) : values_[v].fused);
  return taken;
}

void Program::grow() {
  std::vector<Known> known;
  for (const Value& v : values_) known.push_back(v.known);
  const Step step = random_step(choices_, known);
  std::optional<AnyTensor> alone;
  try {
    alone = evaluated(step.run(operands(step, true)));
  } catch (const Error& e) {
    return expect_refusal(step, e.what());
  }
  std::optional<Any> fused;
  try {
    fused = step.run(operands(step, false));
  } catch (const Error& e) {
    fail(fmt::format("{}\nis refused as part of an expression, and not of tensors: {}", step.text, e.what()));
  }
  Value value = made(step, *alone, *fused);
  if (value.known.largest >= 0) values_.push_back(std::move(value));
}

void Program::expect_refusal(const Step& step, const std::string& message) {
  if (is_internal(message)) fail(fmt::format("{}\n{}", step.text, message));
  try {
    evaluated(step.run(operands(step, false)));
  } catch (const Error& e) {
    if (is_internal(e.what())) fail(fmt::format("{}\n{}", step.text, e.what()));
    return;
  }
  fail(fmt::format("{}\nis refused of tensors, and not as part of an expression: {}", step.text, message));
}

Program::Value Program::made(const Step& step, const AnyTensor& result, Any fused) const {
  const Plain got = plain(result);
  std::vector<Plain> arrays;
  std::vector<double> errors;
  for (const std::size_t v : step.operands) {
    arrays.push_back(plain(values_[v].alone));
    errors.push_back(values_[v].error);
  }
  if (step.reference)
    if (const Reference expected = step.reference(arrays))
      agree(*expected, got, reference_bound(step, got, arrays), step.text + "\nalone, beside the reference");
  const std::optional<double> error = error_of(step, got, arrays, errors);
  const Extent extent = extent_of(got);
  const Known known{got.dtype, got.shape, error == 0.0, error ? extent.largest : -1, extent.has_nan};
  return {step.text, std::move(fused), result, error.value_or(0), known, step};
}

void Program::evaluate_together(std::span<const std::size_t> of) {
  std::vector<jit::LazyRef> nodes, on_gpu;
  for (const std::size_t v : of) {
    nodes.push_back(values_[v].fused.node());
    if (gpu_) on_gpu.push_back(values_[v].on_gpu->node());
  }
  const auto evaluate = [&](const std::vector<jit::LazyRef>& graph, jit::Mode mode, const char* way) {
    std::vector<runtime::TensorRef> results(of.size());
    try {
      jit::evaluate(graph, results.data(), mode);
      for (std::size_t i = 0; i < of.size(); ++i) agree(values_[of[i]], plain(AnyTensor(results[i])), way);
    } catch (const Error& e) {
      std::string outputs;
      for (const std::size_t v : of) outputs += fmt::format(" v{}", v);
      fail(fmt::format("{}, is refused{}: {}", way, outputs, e.what()));
    }
  };
  evaluate(nodes, jit::Mode::Fused, "fused");
  evaluate(nodes, jit::Mode::Eager, "one kernel for each operation");
  if (gpu_) evaluate(on_gpu, jit::Mode::Fused, "fused on the GPU");
}

void Program::replay_on_gpu() {
  for (Value& value : values_) {
    if (!value.step) {
      value.on_gpu = Any(value.alone.to(*gpu_));
      continue;
    }
    std::vector<Any> operands;
    for (const std::size_t v : value.step->operands) operands.push_back(*values_[v].on_gpu);
    try {
      value.on_gpu = value.step->run(operands);
    } catch (const Error& e) {
      fail(fmt::format("{}\nis refused on the GPU: {}", value.text, e.what()));
    }
  }
}

void Program::agree(const Value& expected, const Plain& got, const char* way) const {
  agree(plain(expected.alone), got, expected.error,
        fmt::format("v{} = {}\n{}, beside what it is step by step", &expected - values_.data(), expected.text, way));
}

void Program::agree(const Plain& expected, const Plain& got, double bound, const std::string& what) const {
  if (expected.dtype != got.dtype || expected.shape != got.shape)
    fail(fmt::format("{}: {} {} instead of {} {}", what, name(got.dtype), to_string(got.shape), name(expected.dtype),
                     to_string(expected.shape)));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto a = numbers(got.dtype, got.cells[i]), b = numbers(expected.dtype, expected.cells[i]);
    for (std::size_t part = 0; part < 2; ++part) {
      if (a[part] == b[part] || (std::isnan(a[part]) && std::isnan(b[part]))) continue;
      if (std::abs(a[part] - b[part]) <= static_cast<long double>(bound)) continue;
      fail(fmt::format("{}: element {} is {} instead of {}, with a bound of {}\n{}\ninstead of\n{}", what, i,
                       static_cast<double>(a[part]), static_cast<double>(b[part]), bound, printed(got),
                       printed(expected)));
    }
  }
}

std::string Program::listing() const {
  std::string text;
  for (std::size_t i = 0; i < values_.size(); ++i)
    text += fmt::format("v{} {} {}\n", i, values_[i].step ? "=" : "is", values_[i].text);
  return text;
}

void Program::fail(const std::string& what) const { throw Disagreement(fmt::format("{}\nof\n{}", what, listing())); }

}  // namespace sinter::fuzz
