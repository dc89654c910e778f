// jit::evaluate on every device against the reference: random programs over arrays of every layout.
#include <sinter/jit/evaluate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <jit/evaluate/evaluator.hpp>
#include <jit/passes/complex_parts.hpp>

#include "closeness.hpp"
#include "device_arrays.hpp"
#include "programs.hpp"
#include "setup.hpp"
#include "when_compiled.hpp"

namespace sinter::testing {
namespace {

/// Bits agree with the reference only where nothing is contracted.
const sinter::test::Setup without_fma([] { setenv("SINTER_FMA", "off", 1); });

/// A random program with arrays and scalars for it.
struct Case {
  Written text;
  std::vector<TensorRef> arrays;
  std::vector<jit::Scalar> scalars;
  std::vector<TensorImpl*> leaves;
  jit::Program program;
  jit::CallSiteCache entry;

  Case(std::mt19937_64& random, Device device, Layout layout) : text(random_program(random, 30, random() % 2)) {
    const Shape shape = random_shape(random);
    for (std::size_t i = 0; i < text.dtypes.size(); ++i) {
      if (text.same_as[i] < i)
        arrays.push_back(arrays[text.same_as[i]]);
      else
        arrays.push_back(random_array(text.dtypes[i], broadcastable(shape, random), device, layout, random));
      leaves.push_back(arrays.back().get());
    }
    for (const std::uint64_t bits : text.scalar_values(random)) {
      scalars.emplace_back(false);
      scalars.back().bits = bits;
    }
    const Graph g = text.record();
    for (const Node& n : g.nodes())  // numbers that do not fit are refused
      if (n.op == Op::scalar && category(n.dtype) == Category::Int && n.dtype != DType::Int64)
        scalars[jit::scalar_use(n).number].bits &= 0x7F;
    program = text.program();
  }

  jit::Bound bound() { return {&entry, &program, leaves.data(), scalars.data()}; }

  Shape shape_of(std::size_t output) const {
    const Graph g = text.record();
    Shape shape;
    for (const std::uint32_t i : jit::leaves_of(g, g.outputs()[output]).elementwise)
      EXPECT_TRUE(broadcast(shape, arrays[i]->shape));
    return shape;
  }

  /// The reference's values of an output.
  std::vector<std::uint64_t> expected(std::size_t output, jit::Mode mode) const {
    const auto rounding = mode == jit::Mode::Eager ? test::Rounding::EachOperation : test::Rounding::Outputs;
    const Graph g = text.record();
    const Shape shape = shape_of(output);
    std::vector<std::vector<std::uint64_t>> inputs(arrays.size());
    for (const std::uint32_t i : jit::leaves_of(g, g.outputs()[output]).elementwise)
      inputs[i] = values_over(*arrays[i], shape);
    std::vector<std::uint64_t> bits, values;
    for (const jit::Scalar& s : scalars) bits.push_back(s.bits);
    const std::uint32_t number = static_cast<std::uint32_t>(output);
    const Graph part = jit::part_of(g, {&number, 1});
    for (std::size_t e = 0; e < static_cast<std::size_t>(shape.numel()); ++e) {
      std::vector<std::uint64_t> at(arrays.size());
      for (std::size_t i = 0; i < at.size(); ++i)
        if (!inputs[i].empty()) at[i] = inputs[i][e];
      values.push_back(outputs_of(part, at, bits, rounding)[0]);
    }
    return values;
  }
};

void expect_equal(DType t, const std::vector<std::uint64_t>& expected, const std::vector<std::uint64_t>& got) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(same_value(t, expected[i], got[i])) << "element " << i << " of " << got.size() << " " << name(t) << ": "
                                                    << std::hex << expected[i] << ", got " << got[i];
}

class Evaluate : public ::testing::TestWithParam<Device> {};

TEST_P(Evaluate, RandomProgramsMatchTheReference) {
  for (const unsigned seed : programs_of_tests(60)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Case c(random, GetParam(), seed % 4 ? Layout::Any : Layout::Contiguous);
    std::vector<TensorRef> outputs(c.program.outputs);
    std::optional<test::When> compiled;
    if (seed % 8 == 7) compiled.emplace(CpuJit::Always);
    const jit::Mode mode = seed % 5 == 4 && GetParam().is_cpu() ? jit::Mode::Eager : jit::Mode::Fused;
    despite_faults([&] {
      jit::evaluate(c.bound(), outputs.data(), mode, GetParam());
      runtime::backend(GetParam()).synchronize();
    });
    const Graph g = c.text.record();
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      EXPECT_EQ(outputs[o]->dtype, g[g.outputs()[o]].dtype);
      EXPECT_EQ(outputs[o]->shape, c.shape_of(o));
      EXPECT_TRUE(outputs[o]->contiguous);
      expect_equal(outputs[o]->dtype, c.expected(o, mode), values_of(*outputs[o]));
      if (HasFatalFailure()) {
        ADD_FAILURE() << "output " << o << " of\n" << to_text(g);
        return;
      }
    }
  }
}

TEST_P(Evaluate, SizesAroundVectorsBlocksAndTiles) {
  Written p;
  p.leaf(DType::Float32).leaf(DType::Float32).op(Op::mul).leaf(DType::Int32).op(Op::add);
  const jit::Program program = p.program();
  jit::CallSiteCache entry;
  std::mt19937_64 random(7);
  for (const std::int64_t n :
       {0, 1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 8191, 8192, 8193, 65535, 65536, 65537}) {
    SCOPED_TRACE(::testing::Message() << n << " elements");
    const TensorRef x = random_array(DType::Float32, Shape{n}, GetParam(), Layout::Contiguous, random),
                    y = random_array(DType::Float32, Shape{n}, GetParam(), Layout::Contiguous, random),
                    z = random_array(DType::Int32, Shape{n}, GetParam(), Layout::Contiguous, random);
    TensorImpl* const leaves[] = {x.get(), y.get(), z.get()};
    TensorRef out;
    jit::evaluate({&entry, &program, leaves, nullptr}, &out);
    const auto a = values_of(*x), b = values_of(*y), c = values_of(*z);
    std::vector<std::uint64_t> expected;
    for (std::size_t i = 0; i < a.size(); ++i)
      expected.push_back(
          to_bits(test::as<float>(a[i]) * test::as<float>(b[i]) + static_cast<float>(test::as<std::int32_t>(c[i]))));
    expect_equal(DType::Float32, expected, values_of(*out));
    if (HasFatalFailure()) return;
  }
}

/// Some operations on the same operands of one dtype, as outputs of one evaluation.
class Sweep {
 public:
  Sweep(DType t, Device device, std::mt19937_64& random) : types_{OperandType{DType::Bool}, {t}, {t}, {t}, {t}, {t}} {
    for (const OperandType& type : types_)
      arrays_.push_back(random_array(type.dtype, Shape{300}, device, Layout::Contiguous, random));
  }

  bool takes(Op op) const {
    const OpTypes types = op_types(op, operands(op));
    return types.ok && !jit::is_of_parts(op) && !is_complex(types.result);
  }
  void add(Op op) {
    ops_.push_back(op);
    for (std::size_t i = first(op); i < first(op) + info(op).arity; ++i) {
      text_.leaf(types_[i].dtype);
      leaves_.push_back(arrays_[i].get());
    }
    text_.op(op);
  }
  std::size_t size() const { return ops_.size(); }

  void run() {
    text_.outputs = static_cast<std::uint16_t>(ops_.size());
    const jit::Program program = text_.program();
    jit::CallSiteCache entry;
    std::vector<TensorRef> outputs(ops_.size());
    despite_faults([&] {
      jit::evaluate({&entry, &program, leaves_.data(), nullptr}, outputs.data());
      runtime::backend(arrays_[0]->device).synchronize();
    });
    std::vector<std::vector<std::uint64_t>> inputs;
    for (const TensorRef& a : arrays_) inputs.push_back(values_of(*a));
    for (std::size_t o = 0; o < ops_.size(); ++o) check(ops_[o], *outputs[o], inputs);
  }

 private:
  /// where takes the bools first.
  static std::size_t first(Op op) { return op == Op::where ? 0 : 1; }
  std::span<const OperandType> operands(Op op) const { return std::span(types_).subspan(first(op), info(op).arity); }

  void check(Op op, const TensorImpl& out, const std::vector<std::vector<std::uint64_t>>& inputs) const {
    const OpTypes rule = op_types(op, operands(op));
    SCOPED_TRACE(::testing::Message() << name(op) << " of " << name(types_[1].dtype));
    ASSERT_EQ(out.dtype, rule.result);
    Written alone;
    for (const OperandType& t : operands(op)) alone.leaf(t.dtype);
    const Graph g = alone.op(op).record();
    const std::vector<std::uint64_t> got = values_of(out);
    for (std::size_t e = 0; e < got.size(); ++e) {
      std::vector<std::uint64_t> at;
      for (std::size_t i = 0; i < info(op).arity; ++i) at.push_back(inputs[first(op) + i][e]);
      if (loses_sign_of_nan(op, at[0], at.back(), out.device) || is_signalled(op, at, rule.result, got[e])) continue;
      const std::uint64_t expected = outputs_of(g, at, {})[0];
      ASSERT_TRUE(test::close(op, rule.result, at, rule.compute, expected, got[e]))
          << "element " << e << ": " << test::show(rule.result, expected) << ", got " << test::show(rule.result, got[e])
          << " from " << test::show(alone.dtypes[0], at[0])
          << (at.size() > 1 ? ", " + test::show(alone.dtypes[1], at[1]) : "");
    }
  }

  /// The C library's hypot of infinity and a signaling NaN is NaN, of infinity and a quiet one infinity.
  static bool is_signalled(Op op, const std::vector<std::uint64_t>& operands, DType t, std::uint64_t got) {
    const auto is_nan = [t](std::uint64_t v) {
      return std::isnan(test::as<double>(test::convert_bits(v, t, DType::Float64)));
    };
    return op == Op::hypot && is_nan(got) && std::ranges::any_of(operands, is_nan);
  }
  /// GPUs convert a NaN of float16 to a positive one of float32.
  bool loses_sign_of_nan(Op op, std::uint64_t first_operand, std::uint64_t last_operand, Device device) const {
    const std::uint64_t sign = op == Op::signbit ? first_operand : last_operand;
    return (op == Op::signbit || op == Op::copysign) && types_[1].dtype == DType::Float16 && (sign & 0x7fff) > 0x7c00 &&
           device.is_cuda() && !test::virtual_gpus;
  }

  std::array<OperandType, 6> types_;
  std::vector<TensorRef> arrays_;
  Written text_;
  std::vector<TensorImpl*> leaves_;
  std::vector<Op> ops_;
};

TEST_P(Evaluate, EveryOperationOnEveryDtype) {
  constexpr std::size_t ops_at_once = 6;  // a kernel for each operation would take long to compile
  std::mt19937_64 random(11);
  for (int d = 0; d < real_dtype_count; ++d) {
    const auto t = static_cast<DType>(d);
    Sweep sweep(t, GetParam(), random);
    for (int number = static_cast<int>(first_table_op); number < op_count; ++number) {
      const Op op = static_cast<Op>(number);
      if (sweep.takes(op)) sweep.add(op);
      if (sweep.size() < ops_at_once && number + 1 < op_count) continue;
      if (sweep.size() > 0) sweep.run();
      sweep = Sweep(t, GetParam(), random);
    }
  }
}

TEST_P(Evaluate, RandomNumbersHaveTheirBits) {
  for (const Op op :
       {Op::random_uniform, Op::random_uniform_double, Op::random_normal, Op::random_normal_double, Op::random_bits}) {
    SCOPED_TRACE(name(op));
    Written p;
    p.leaf(DType::Int64).scalar(Category::Int).op(Op::add).scalar(Category::Int).scalar(Category::Int).op(op);
    const TensorRef index = runtime::iota_tensor(Shape{37, 29}, GetParam());
    TensorImpl* const leaf = index.get();
    const std::int64_t first = 0x1'0000'0000 - 500, draw = 0x1'2345'6789, seed = -12345;
    const jit::Scalar scalars[] = {first, draw, seed};
    const jit::Program program = p.program();
    jit::CallSiteCache entry;
    TensorRef out;
    jit::evaluate({&entry, &program, &leaf, scalars}, &out);
    const std::vector<std::uint64_t> got = values_of(*out);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::uint64_t expected =
          test::random_value(op, static_cast<std::uint64_t>(first) + i, draw, static_cast<std::uint64_t>(seed));
      ASSERT_TRUE(test::close(op, out->dtype, {i}, DType::Int64, expected, got[i]))
          << i << ": " << test::show(out->dtype, expected) << ", got " << test::show(out->dtype, got[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Evaluate, ::testing::ValuesIn(test_devices()),
                         [](const auto& i) { return std::string(i.param.is_cpu() ? "Cpu" : "Gpu"); });

}  // namespace
}  // namespace sinter::testing
