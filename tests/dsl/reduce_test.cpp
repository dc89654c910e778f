// Reductions against PyTorch's table, and how their axes are written.
#include "devices.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include <jit/evaluate/evaluator.hpp>
#include "operand_table.hpp"
#include "visit_real.hpp"

namespace sn = sinter;
using namespace sn::literals;
using sinter::testing::Row;
using sinter_tests::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Request {
  std::string operation;
  double parameter;
  std::vector<std::int64_t> axes;  // none: all
  bool keep;
};

/// Calls use(expression) of a reduction of x.
template <class X, class F>
void with_reduction(const Request& r, const X& x, F use) {
  const sn::detail::Axes axes = r.axes.empty() ? sn::detail::Axes() : sn::detail::Axes(r.axes);
  const std::string& op = r.operation;
  if (op == "sum") return use(sn::sum(x, axes, r.keep));
  if (op == "nansum") return use(sn::nansum(x, axes, r.keep));
  if (op == "mean") return use(sn::mean(x, axes, r.keep));
  if (op == "nanmean") return use(sn::nanmean(x, axes, r.keep));
  if (op == "prod") return use(sn::prod(x, axes, r.keep));
  if (op == "amax") return use(sn::amax(x, axes, r.keep));
  if (op == "amin") return use(sn::amin(x, axes, r.keep));
  if (op == "argmax") return use(sn::argmax(x, axes, r.keep));
  if (op == "argmin") return use(sn::argmin(x, axes, r.keep));
  if (op == "all") return use(sn::all(x, axes, r.keep));
  if (op == "any") return use(sn::any(x, axes, r.keep));
  if (op == "logsumexp") return use(sn::logsumexp(x, axes, r.keep));
  if (op == "count_nonzero") return use(sn::count_nonzero(x, axes, r.keep));
  if (op == "softmax") return use(sn::softmax(x, axes));
  if (op == "log_softmax") return use(sn::log_softmax(x, axes));
  if (op == "var") return use(sn::var(x, axes, r.parameter, r.keep));
  if (op == "std") return use(sn::std(x, axes, r.parameter, r.keep));
  if (op != "norm") throw sn::Error("no reduction is called " + op);
  if (r.parameter == 2) return use(sn::norm(x, 2_c, axes, r.keep));
  if (r.parameter == 1) return use(sn::norm(x, 1_c, axes, r.keep));
  if (std::isinf(r.parameter) && r.parameter > 0) return use(sn::norm(x, sn::inf, axes, r.keep));
  if (std::isinf(r.parameter)) return use(sn::norm(x, -sn::inf, axes, r.keep));
  use(sn::norm(x, r.parameter, axes, r.keep));
}

/// One line of the table.
struct Result {
  Request request;
  bool raises;
  sn::DType dtype{};
  sn::Shape shape{};
  std::vector<std::uint64_t> bits{};

  explicit Result(const Row& row) : request{row[1], std::stod(row[2]), {}, row[5] == "1"}, raises(row[6] == "raises") {
    if (row[4] != "all")
      for (const std::string& axis : sinter::testing::split(row[4], ',')) request.axes.push_back(std::stoll(axis));
    if (raises) return;
    dtype = sinter::testing::dtype_named(row[6]);
    shape = sinter::testing::parse_shape(row.size() > 7 ? row[7] : "");
    bits = sinter::testing::parse_bits(row.size() > 8 ? row[8] : "");
  }
  /// norm with a run-time order of 0 is rejected: see docs/differences.md.
  bool is_left_out() const { return request.operation == "norm" && request.parameter == 0; }
};
struct Input {
  std::string name;
  sn::runtime::TensorRef array;
  std::vector<Result> results;
};

void add(Input& input, Result result) {
  if (!result.is_left_out()) input.results.push_back(std::move(result));
}

const std::vector<Input>& inputs() {
  static const std::vector<Input> all = [] {
    std::vector<Input> made;
    for (Row row : sinter::testing::read_table("reductions.tsv")) {
      row.resize(9);
      if (row[0] == "input")
        made.push_back(
            {row[1],
             sinter::testing::host_tensor(sinter::testing::dtype_named(row[2]), sinter::testing::parse_shape(row[3]),
                                          sinter::testing::parse_bits(row[4])),
             {}});
      else
        add(made.back(), Result(row));
    }
    return made;
  }();
  return all;
}

double as_double(sn::DType dtype, const void* bits) {
  return sinter::test::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, bits, sizeof value);
    return static_cast<double>(value);
  });
}

/// Sums are exact in the table; what remains is the rounding of a few operations.
double tolerance(sn::DType dtype) {
  switch (dtype) {
    case sn::DType::Float16: return 0x1p-10;
    case sn::DType::BFloat16: return 0x1p-7;
    case sn::DType::Float32: return 8 * 0x1p-23;
    case sn::DType::Float64: return 8 * 0x1p-52;
    default: return 0;
  }
}

void compare(const std::string& where, const Input& input, const Result& wanted, const sn::runtime::TensorImpl& got) {
  std::string axes;
  for (const std::int64_t axis : wanted.request.axes) axes += fmt::format(" {}", axis);
  const std::string call =
      fmt::format("{}: {} {} of {}, axes{}{}", where, wanted.request.operation, wanted.request.parameter, input.name,
                  axes.empty() ? " all" : axes, wanted.request.keep ? ", keepdim" : "");
  ASSERT_EQ(got.dtype, wanted.dtype) << call;
  ASSERT_EQ(got.shape, wanted.shape) << call;
  const sn::runtime::TensorRef host =
      sn::jit::contiguous(*sn::jit::to(const_cast<sn::runtime::TensorImpl&>(got), got.dtype, sn::Device()));
  sn::runtime::backend(got.device).synchronize();
  for (std::size_t i = 0; i < static_cast<std::size_t>(host->numel); ++i) {
    const double ours = as_double(got.dtype, host->data + i * size_of(got.dtype));
    const double theirs = as_double(got.dtype, &wanted.bits[i]);
    const bool same = ours == theirs || (std::isnan(ours) && std::isnan(theirs)) ||
                      std::abs(ours - theirs) <= tolerance(got.dtype) * std::max(1.0, std::abs(theirs));
    EXPECT_TRUE(same) << call << ", element " << i << ": " << ours << " instead of " << theirs;
  }
}

TEST(ReduceTable, EachByItself) {
  for (const Input& input : inputs()) {
    const sn::AnyTensor x(input.array);
    for (const Result& wanted : input.results) {
      if (wanted.raises) {
        EXPECT_THROW(with_reduction(wanted.request, x, [](const auto& e) { (void)sn::evaluate(e); }), sn::DTypeError)
            << wanted.request.operation << " of " << input.name;
        continue;
      }
      with_reduction(wanted.request, x, [&](const auto& e) {
        compare("cpu", input, wanted, sn::Tensor(e).impl());
        compare("cpu, eager", input, wanted, sn::eager(e).impl());
      });
    }
  }
}

/// Those that GPUs compute too, since their kernels take long to compile.
bool is_for_gpus(const Input& input) {
  return input.name == "float32_special" || input.name == "float16_3x4" || input.name == "int32_2x3x4" ||
         input.name == "float64_0x3";
}

/// All results of an input in one evaluation, of expressions built at run time.
TEST(ReduceTable, AllTogether) {
  for (const sn::Device device : sinter_tests::devices())
    for (const Input& input : inputs()) {
      if (device.is_cuda() && (device.index() > 0 || !is_for_gpus(input))) continue;
      const sn::Lazy<sn::AnyType> x = sn::AnyTensor(input.array).to(device);
      std::vector<sn::jit::LazyRef> nodes;
      std::vector<const Result*> wanted;
      for (const Result& result : input.results) {
        if (result.raises) continue;
        with_reduction(result.request, x, [&](const auto& e) { nodes.push_back(e.node()); });
        wanted.push_back(&result);
      }
      std::vector<sn::runtime::TensorRef> outputs(nodes.size());
      sn::jit::evaluate(nodes, outputs.data());
      for (std::size_t i = 0; i < nodes.size(); ++i) compare(to_string(device), input, *wanted[i], *outputs[i]);
    }
}

class Reduce : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
  sn::Tensor<float> x = sn::tensor({{1.f, 5.f, 3.f}, {4.f, 2.f, 6.f}}, d);
  sn::Tensor<std::int64_t> counted(const sn::Shape& shape) { return sn::arange(shape.numel(), d).reshape(shape); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Reduce, testing::ValuesIn(sinter_tests::devices()), [](const auto& device) {
  return device.param.is_cuda() ? "cuda" + std::to_string(device.param.index()) : "cpu";
});

TEST_P(Reduce, WaysToWriteAxes) {
  EXPECT_EQ(sn::sum(x).item(), 21);
  for (const sn::Tensor<float>& rows :
       {sn::Tensor(sn::sum(x, 1)), sn::Tensor(sn::sum(x, -1)), sn::Tensor(sn::sum(x, 1_c)), sn::Tensor(x.sum(1u)),
        sn::Tensor(x.sum({1})), sn::Tensor(x.sum({-1})), sn::Tensor(x.sum(std::vector<std::int64_t>{1})),
        sn::Tensor(x.sum(std::array<std::int64_t, 1>{-1}))})
    EXPECT_THAT(rows.to_vector(), ElementsAre(9, 12));
  EXPECT_EQ(sn::sum(x, {0, 1}).shape(), sn::Shape());
  EXPECT_EQ(sn::sum(x, {}).shape(), sn::Shape());
  EXPECT_EQ(sn::sum(x, {0, -1}, sn::keepdim).shape(), sn::Shape(1, 1));
  EXPECT_EQ(sn::sum(x, sn::keepdim).shape(), sn::Shape(1, 1));
  EXPECT_EQ(x.sum(-2, sn::keepdim).shape(), sn::Shape(1, 3));
  EXPECT_EQ(x.sum(0, false).shape(), sn::Shape(3));
  const auto cube = counted({2, 3, 4});
  EXPECT_THAT(cube.sum({0, 2}).to_vector(), ElementsAre(60, 92, 124));
  EXPECT_THAT(cube.sum({-1, 0}).to_vector(), ElementsAre(60, 92, 124));
  EXPECT_EQ((cube + 1).sum({0, 2}, sn::keepdim).shape(), sn::Shape(1, 3, 1));
}

TEST_P(Reduce, MethodsAndFunctions) {
  EXPECT_THAT((x * 2).mean(0).to_vector(), ElementsAre(5, 7, 9));
  EXPECT_EQ(x.max().item(), 6);
  EXPECT_EQ(sn::min(x - 1).item(), 0);
  EXPECT_EQ(x.argmax().item(), 5);
  EXPECT_THAT(x.std(1, 0).to_vector(), ElementsAre(std::sqrt(8.f / 3), std::sqrt(8.f / 3)));
  EXPECT_THAT(sn::var(x, 0).to_vector(), ElementsAre(4.5f, 4.5f, 4.5f));
  EXPECT_THAT(sn::var(x, 0, 0_c, sn::keepdim).to_vector(), ElementsAre(2.25f, 2.25f, 2.25f));
  EXPECT_EQ(sn::var(x, 0, sn::keepdim).shape(), sn::Shape(1, 3));
  EXPECT_TRUE((x > 0).all().item());
  EXPECT_THAT((x > 4).any(1).to_vector(), ElementsAre(true, true));
  EXPECT_EQ(x.count_nonzero().item(), 6);
}

TEST_P(Reduce, ValuesAndTheirPositions) {
  const auto [values, indices] = sn::max(x, 1);
  EXPECT_THAT(values.to_vector(), ElementsAre(5, 6));
  EXPECT_THAT(indices.to_vector(), ElementsAre(1, 2));
  const auto low = (x + 1).min(0, sn::keepdim);
  EXPECT_EQ(low.values.shape(), sn::Shape(1, 3));
  EXPECT_THAT(low.values.to_vector(), ElementsAre(2, 3, 4));
  EXPECT_THAT(low.indices.to_vector(), ElementsAre(0, 1, 0));
  const auto bools = sn::max(x > 4, 1);
  EXPECT_THAT(bools.values.to_vector(), ElementsAre(true, true));
  EXPECT_THAT(bools.indices.to_vector(), ElementsAre(1, 2));
  const auto of_any = sn::min(sn::AnyTensor(x > 4), 1);  // whose dtype is known at run time
  EXPECT_THAT(of_any.values.as<bool>().to_vector(), ElementsAre(false, false));
  EXPECT_THAT(of_any.indices.to_vector(), ElementsAre(0, 0));
  const auto [least, most] = x.aminmax(1);
  EXPECT_THAT(least.to_vector(), ElementsAre(1, 2));
  EXPECT_THAT(most.to_vector(), ElementsAre(5, 6));
  const auto [variance, mean] = sn::var_mean(x, 1, 0);
  EXPECT_THAT(mean.to_vector(), ElementsAre(3, 4));
  EXPECT_FLOAT_EQ(variance[0].item(), 8.f / 3);
  EXPECT_FLOAT_EQ(sn::std_mean(x).deviation.item(), std::sqrt(3.5f));
}

TEST_P(Reduce, ValuesAndPositionsAreOneKernel) {
  (void)sn::max(x, 1);  // compiles
  const auto before = sn::jit_stats();
  (void)sn::max(x, 1);
  EXPECT_EQ(sn::jit_stats().launches - before.launches, 1u);
}

TEST_P(Reduce, PartsOfLargerExpressions) {
  const sn::Tensor centred = x - x.mean(-1, sn::keepdim);
  EXPECT_THAT(centred.to_vector(), ElementsAre(-2, 2, 0, 0, -2, 2));
  const sn::Tensor weights = x / x.sum(0, sn::keepdim) * 10;
  EXPECT_FLOAT_EQ(weights[0][1].item(), 5.f / 7 * 10);
  const sn::Tensor total = (x.sum(0) * x.amax(0)).sum() + 1;
  EXPECT_EQ(total.item(), 5 * 4 + 7 * 5 + 9 * 6 + 1);
}

/// A tensor whose values are simplified away still determines the shape, together with reductions and products.
TEST_P(Reduce, WhatIsSimplifiedAwayGivesItsShape) {
  const sn::Tensor x = sn::tensor({{1, 2, 3}, {4, 5, 6}}, GetParam());
  const sn::Tensor sums = ((x - x) + x.sum()).sum(1);
  EXPECT_THAT(sums.to_vector(), ElementsAre(63, 63));
  const sn::Tensor m = sn::tensor({true, false, true}, GetParam());
  EXPECT_EQ(sn::Tensor(sn::where(m, m.any(), m.any())).shape(), sn::Shape(3));
  const sn::Tensor chosen =
      sn::Tensor(sn::logical_xor(x - x, x.any(0, sn::keepdim))).index_select(0, sn::tensor({1}, GetParam()));
  EXPECT_EQ(chosen.shape(), sn::Shape(1, 3));
  EXPECT_EQ(sn::Tensor((x == x) & x.any(1, sn::keepdim)).shape(), sn::Shape(2, 3));
  const sn::Tensor row = sn::ones({8}, GetParam()), largest = row.amax();
  EXPECT_THAT(sn::Tensor(sn::where(row > 2, largest, largest)).to_vector(), ::testing::Each(1));
  const sn::Tensor square = sn::ones({3, 3}, GetParam()), v = sn::ones({3}, GetParam());
  EXPECT_EQ(sn::Tensor(sn::where(square > 1, sn::matmul(square, v), sn::matmul(square, v))).shape(), sn::Shape(3, 3));
}

TEST_P(Reduce, OfAScalar) {
  const sn::Tensor<float> s = sn::tensor(3.f, d);
  EXPECT_EQ(s.sum(0).item(), 3);
  EXPECT_EQ(s.sum(-1, sn::keepdim).shape(), sn::Shape());
  EXPECT_EQ(s.argmax(0).item(), 0);
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)s.sum(1); }),
              HasSubstr("expected to be in range of [-1, 0], but got 1"));
}

TEST_P(Reduce, WrongAxesAreReportedWhereTheyAreWritten) {
  const std::string on = to_string(d);
  for (const std::int64_t axis : {2, -3})
    EXPECT_EQ(message_of<sn::IndexError>([&] { (void)sn::sum(x * 2, axis); }),
              fmt::format("sum: Dimension out of range (expected to be in range of [-2, 1], but got {}) for float32 "
                          "(2, 3) on {}",
                          axis, on));
  EXPECT_EQ(message_of<sn::IndexError>([&] { (void)x.mean({1, -1}); }),
            fmt::format("mean: dim 1 appears multiple times in the list of dims for float32 (2, 3) on {}", on));
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.sum(0).sum(1); }), HasSubstr("range of [-1, 0], but got 1"));
  const sn::Lazy lazy = x.sum(0);
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)lazy.sum(1); }), HasSubstr("range of [-1, 0], but got 1"));
  const sn::AnyTensor any = x;
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)(any + 1).sum(2); }), HasSubstr("float32 (2, 3)"));
}

TEST_P(Reduce, NoElements) {
  const sn::Tensor<float> none = sn::zeros({0, 3}, d);
  EXPECT_EQ(message_of<sn::IndexError>([&] { (void)sn::amax(none, 0); }),
            fmt::format("amax: Expected reduction dim 0 to have non-zero size, for float32 (0, 3) on {}: without "
                        "elements there is no largest or smallest one",
                        to_string(d)));
  EXPECT_THROW((void)none.argmin(), sn::IndexError);
  EXPECT_THROW((void)(none + 1).max(0), sn::IndexError);
  EXPECT_THROW((void)sn::norm(none, sn::inf), sn::IndexError);
  EXPECT_EQ(none.amax(1).shape(), sn::Shape(0));
  EXPECT_EQ(none.sum().item(), 0);
  EXPECT_EQ(none.prod().item(), 1);
  EXPECT_THAT(none.sum(0).to_vector(), ElementsAre(0, 0, 0));
  EXPECT_TRUE(std::isnan(none.mean().item()));
  EXPECT_EQ(sn::softmax(none, 0).shape(), sn::Shape(0, 3));
  EXPECT_EQ(sn::logsumexp(none, 0).to_vector(), std::vector<float>(3, -HUGE_VALF));
}

TEST_P(Reduce, ExtremesWithoutNan) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = HUGE_VALF;
  const sn::Tensor t = sn::tensor({{nan, 3.f, -2.f}, {nan, nan, nan}, {-inf, nan, -inf}, {4.f, inf, 5.f}}, d);
  const auto largest = sn::Tensor(sn::nanmax(t, 1)).to_vector(), smallest = sn::Tensor(t.nanmin(1)).to_vector();
  EXPECT_THAT(largest, ElementsAre(3, ::testing::IsNan(), -inf, inf));
  EXPECT_THAT(smallest, ElementsAre(-2, ::testing::IsNan(), -inf, 4));
  EXPECT_EQ(t.nanmax(0, sn::keepdim).shape(), sn::Shape(1, 3));
  EXPECT_EQ(t.nanmin().item(), -inf);
}

TEST_P(Reduce, InsideLetAxesCountFromTheEnd) {
  const sn::Tensor r = sn::let(x + 1, [](auto v) { return v - sn::mean(v, -1, sn::keepdim); });
  EXPECT_THAT(r.to_vector(), ElementsAre(-2, 2, 0, 0, -2, 2));
  const sn::Tensor total = sn::let(x + 1, [](auto v) { return v / sn::sum(v); });
  EXPECT_FLOAT_EQ(total[0][0].item(), 2.f / 27);
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)sn::let(x + 1, [](auto v) { return v.sum(0); }); }),
              HasSubstr("sum: axis 0 of an operand of let or function"));
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)sn::let(x + 1, [](auto v) { return v.sum({-1, -1}); }); }),
              HasSubstr("appears multiple times"));
  EXPECT_THROW((void)sn::evaluate(sn::let(x + 1, [](auto v) { return v.sum(-3); })), sn::IndexError);
  const sn::Tensor<float> other = x;
  EXPECT_THAT(sn::let(x + 1, [&](auto v) { return v.sum(-1) + other.sum(1); }).to_vector(), ElementsAre(21, 27));
}

TEST_P(Reduce, ViewsAreOfTheResult) {
  const sn::Tensor turned = sn::softmax(x * 0, 1).t();
  EXPECT_EQ(turned.shape(), sn::Shape(3, 2));
  EXPECT_THAT(x.sum(0)(sn::range(1, 3)).to_vector(), ElementsAre(7, 9));
  EXPECT_EQ((x - x.mean())[1][2].item(), 2.5f);
  EXPECT_EQ((x - x.amax(0, sn::keepdim)).split(1, 1)[2].to_vector(), (std::vector<float>{-3, 0}));
  const sn::Lazy lazy = x - x.amax(0, sn::keepdim);
  EXPECT_THAT(lazy.t()[2].to_vector(), ElementsAre(-3, 0));
  EXPECT_THAT(lazy.split(1, 1)[2].to_vector(), ElementsAre(-3, 0));
  EXPECT_THAT(sn::roll(x.sum(0), 1).to_vector(), ElementsAre(9, 5, 7));
  EXPECT_THAT(sn::roll(lazy, 1, 0)[0].to_vector(), ElementsAre(0, -3, 0));
  EXPECT_THAT(sn::cat(0, x.sum(0), x.mean(1)).to_vector(), ElementsAre(5, 7, 9, 3, 4));
}

TEST_P(Reduce, AsIndicesAndForRandomNumbers) {
  const auto w = sn::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}, d);
  EXPECT_THAT(w[x.argmax(1)].to_vector(), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(x.gather(1, x.argmax(1, sn::keepdim)).to_vector(), ElementsAre(5, 6));
  EXPECT_EQ(sn::Tensor(sn::rand_like(x.sum(0))).shape(), sn::Shape(3));
  EXPECT_EQ(sn::Tensor(sn::dropout(sn::softmax(x, 1), 0.0)).shape(), sn::Shape(2, 3));
  const sn::Lazy lazy = x.sum(0);
  EXPECT_EQ(sn::Tensor(sn::rand_like(lazy)).shape(), sn::Shape(3));
}

TEST_P(Reduce, DtypesAreKnownToTheCompiler) {
  const sn::Tensor<std::int32_t> i = counted({2, 3}).to<std::int32_t>();
  const sn::AnyTensor any = i;
  static_assert(std::is_same_v<decltype(sn::sum(i))::value_type, std::int64_t>);
  static_assert(std::is_same_v<decltype(sn::amax(i))::value_type, std::int32_t>);
  static_assert(std::is_same_v<decltype(sn::argmax(any))::value_type, std::int64_t>);
  static_assert(std::is_same_v<decltype(sn::any(any))::value_type, bool>);
  static_assert(std::is_same_v<decltype(sn::sum(any))::value_type, sn::AnyType>);
  for (const Input& input : inputs())
    for (const Result& wanted : input.results) {
      if (wanted.request.operation == "norm") continue;
      std::array<sn::OperandType, 2> operands{{{input.array->dtype}, {sn::DType::Int64, true}}};
      for (int op = static_cast<int>(sn::first_reduction); op < sn::all_op_count; ++op) {
        if (sn::name(static_cast<sn::Op>(op)) != wanted.request.operation) continue;
        const sn::OpTypes types =
            sn::op_types(static_cast<sn::Op>(op), std::span(operands).first(sn::info(static_cast<sn::Op>(op)).arity));
        EXPECT_EQ(types.ok, !wanted.raises) << wanted.request.operation << " " << input.name;
        if (wanted.raises) continue;
        EXPECT_EQ(types.result, wanted.dtype) << wanted.request.operation << " " << input.name;
      }
    }
}

/// A number with the shape of another value: an elementwise kernel takes it from the result of a reduction.
TEST_P(Reduce, ResultsGiveShapesToNumbers) {
  const sn::Tensor a = x.flip(1);
  const sn::Tensor z = sn::complex(a, x);
  const auto s = sn::sum(z != a, 1, sn::keepdim);
  const auto [difference, none] = sn::evaluate(a - s, sn::logical_and(sn::logical_xor(z, z), s));
  EXPECT_TRUE(sn::equal(difference, sn::Tensor(a - sn::Tensor(s))));
  EXPECT_TRUE(sn::equal(none, sn::zeros<bool>({2, 3}, a.device())));
}

TEST_P(Reduce, ComplexNumbers) {
  const auto z = sn::complex(x, x * 2);
  EXPECT_EQ(z.sum().item(), std::complex<float>(21, 42));
  EXPECT_THAT(sn::mean(z, 1).to_vector(), ElementsAre(std::complex<float>(3, 6), std::complex<float>(4, 8)));
  EXPECT_FLOAT_EQ(sn::norm(z).item(), std::sqrt(5.f * 91));
}

}  // namespace
