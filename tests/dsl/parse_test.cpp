// Expressions as text against the same ones in C++.
#include <sinter/dsl/loss.hpp>
#include <sinter/dsl/parse.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "devices.hpp"
#include "text_test.hpp"

namespace sinter {
namespace {

using sinter_tests::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Any = Lazy<AnyType>;

class Parse : public sinter_tests::TextTest {
 protected:
  Parse() {
    operands = {{"x", x}, {"y", y}, {"d", d}, {"h", h}, {"i", i}, {"j", j}, {"b", b}, {"z", z}, {"s", 2.5}, {"n", 3}};
  }
  static Tensor<float> numbers(const Shape& shape, float from) {
    return Tensor<float>(Tensor<float, Cpu>((arange<float>(shape.numel()) * 0.37f + from).sin()).reshape(shape));
  }
  const Tensor<float> x = numbers({2, 3}, 0.5f), y = numbers({3}, 2);
  const Tensor<double> d = Tensor<double>(numbers({2, 3}, 1).to<double>());
  const Tensor<half> h = Tensor<half>(numbers({2, 3}, 3).to<half>());
  const Tensor<std::int64_t> i = arange(6).reshape({2, 3}) - 2;
  const Tensor<std::int32_t> j = (arange(3) + 1).to<std::int32_t>();
  const Tensor<bool> b = arange(6).reshape({2, 3}) % 2 == 0;
  const Tensor<std::complex<float>> z = Tensor<std::complex<float>>(complex(x, x * 2.f));
};

TEST_F(Parse, OperatorsBindAsPythons) {
  is("x + y * 2", x + y * 2);
  is("(x + y) * 2", (x + y) * 2);
  is("x - y - d", (x - y) - d);
  is("x / y * d", (x / y) * d);
  is("-x ** 2", -pow(x, 2));
  is("x.exp() ** -y", pow(exp(x), -y));
  is("i ** 2 ** 3", pow(i, 8));
  is("i * -j", i * -j);
  is("i // j % 3", floor_divide(i, j) % 3);
  is("i << 2 + 1", i << 3);
  is("i & j << 1 | 4 ^ i", (i & (j << 1)) | (4 ^ i));
  is("~b | (x > y)", ~b | (x > y));
  is("(x < y) & b", (x < y) & b);
  is("i & 3 == j", (i & 3) == j);
  is("not x < y", !(x < y));
  is("not not b", !!b);
  is("- - +x", -(-x));
  is("x @ y + 1", matmul(x, y) + 1);
  is(" x\n\t+ y ", x + y);
}

TEST_F(Parse, BindsComparisonsLooserThanBits) {
  // As in Python: i < (j & i), where C++ has (i < j) & i.
  is("i < j & i", i < (j & i));
}

TEST_F(Parse, NumbersLiftTheCategoryAlone) {
  is("h + 2", h + 2);
  is("h + 2.5", h + 2.5);
  is("i + 2", i + 2);
  is("j + 2.5", j + 2.5);
  is("d * 1e-3", d * 1e-3);
  is("x + 2j", x + std::complex<double>(0, 2));
  is("d + (1 + 2j)", d + std::complex<double>(1, 2));
  is("b + True", b + true);
  is("x * s + n", x * 2.5 + 3);
  is("j * n", j * 3);
  is("x * pi", x * 3.141592653589793);
  is("where(b, inf, x)", where(b, std::numeric_limits<double>::infinity(), x));
  is("x * .5e1 + 1.", x * 5. + 1.);
}

TEST_F(Parse, NumbersAloneArePythons) {
  is("x * (7 / 2)", x * 3.5);
  is("i + 7 // 2", i + 3);
  is("i + -7 // 2", i + -4);
  is("i + -7 % 3", i + 2);
  is("x * 2 ** -1", x * 0.5);
  is("i + (True + True)", i + 2);
  is("i + 2 ** 62 + 1", (i + (std::int64_t{1} << 62)) + 1);
  is("x * (1 + 2j) * (1 - 2j)", x * std::complex<double>(1, 2) * std::complex<double>(1, -2));
  is("i + (1 << 4 | 3)", i + 19);
  is("where(1 < 2, x, y)", where(true, x, y));
  is("x * -7.5 % 2", (x * -7.5) % 2);
  is("x * (-7.5 % 2)", x * 0.5);
  is("x * (1 // 0.1)", x * 9.);
  is("x * (-1 // 0.1)", x * -10.);
  is("x + sqrt(4)", x + 2.);
  EXPECT_THAT(error<Error>("i + 2 ** 63"), HasSubstr("64 bits"));
  EXPECT_THAT(error<Error>("i + 9223372036854775807 * 2"), HasSubstr("64 bits"));
  EXPECT_THAT(error<Error>("i + 1 // 0"), HasSubstr("divided by 0"));
  EXPECT_THAT(error<Error>("i + 1 % 0"), HasSubstr("divided by 0"));
  EXPECT_EQ(value("1 + 2").numel(), 1);
}

TEST_F(Parse, CallsAndMethods) {
  is("exp(x) + x.exp()", exp(x) + x.exp());
  is("where(b, x, 0)", where(b, x, 0));
  is("x.where(b, y)", x.where(b, y));
  is("x.where(other=y, condition=b)", x.where(b, y));
  is("where(condition=b, other=1, input=x)", where(b, x, 1));
  is("clamp(x, -0.5, 0.5)", clamp(x, -0.5, 0.5));
  is("x.clamp(max=0.5, min=-0.5)", clamp(x, -0.5, 0.5));
  is("x.clamp(min=0)", maximum(x, 0));
  is("clamp(x, None, 0.25)", minimum(x, 0.25));
  is("leaky_relu(x)", leaky_relu(x));
  is("softplus(x * 25)", softplus(x * 25));
  is("softplus(x * 25, threshold=10)", softplus(x * 25, 1, 10));
  is("hardtanh(x * 3)", hardtanh(x * 3));
  is("x.leaky_relu(negative_slope=0.2)", leaky_relu(x, 0.2));
  is("nan_to_num(x / 0, posinf=3)", nan_to_num(x / 0, 0, 3));
  is("isclose(x, y, equal_nan=True)", isclose(x, y, 1e-5, 1e-8, true));
  is("addcmul(x, y, y, value=2)", addcmul(x, y, y, 2));
  is("lerp(x, y, weight=0.25)", lerp(x, y, 0.25));
  is("subtract(x, y)", x - y);
  is("x.pow(exponent=2)", pow(x, 2));
  is("max(x, y)", maximum(x, y));
  is("max(x) - x.min()", max(x) - min(x));
  is("complex(x, imag=y)", complex(x, y));
}

TEST_F(Parse, Casts) {
  is("x.to(float16)", cast<half>(x));
  is("to(x, f64) + d", cast<double>(x) + d);
  is("float(i) / 2", cast<float>(i) / 2);
  is("x.double()", cast<double>(x));
  is("x.half() + h", cast<half>(x) + h);
  is("x.bool() | b", cast<bool>(x) | b);
  is("bf16(x)", cast<bfloat16>(x));
  is("x.to(dtype=int32)", cast<std::int32_t>(x));
  EXPECT_THAT(error<DTypeError>("float(z)"), HasSubstr("^"));
}

TEST_F(Parse, Reductions) {
  is("sum(x)", sum(x));
  is("x.sum(-1)", sum(x, -1));
  is("x - x.mean(axis=0, keepdim=True)", x - mean(x, 0, keepdim));
  is("x.sum(dim=(0, 1), keepdims=True)", sum(x, {0, 1}, keepdim));
  is("x.amax([1])", amax(x, 1));
  is("amax(x, None, True)", amax(x, {}, keepdim));
  is("argmax(x, 1)", argmax(x, 1));
  is("var(x, -1, 0)", var(x, -1, 0));
  is("x.std(axis=1, correction=0, keepdim=True)", x.std(1, 0, keepdim));
  is("var(x)", var(x));
  is("x.sum(0) * y + x.sum(1).sum(0)", sum(x, 0) * y + sum(sum(x, 1), 0));
  is("x.sum(1).softmax(0).sum()", sum(softmax(sum(x, 1), 0)));
  EXPECT_THAT(error<IndexError>("x.sum(1).sum(1)"), HasSubstr("float32 (2,)"));
  EXPECT_THAT(error<ShapeError>("x.sum(1) + y"), HasSubstr("float32 (2,)"));
  is("any(x > 0, 1) | all(b)", any(x > 0, 1) | all(b));
  is("softmax(x, -1) * log_softmax(x, axis=0)", softmax(x, -1) * log_softmax(x, 0));
  is("logsumexp(x * s, 1)", logsumexp(x * 2.5, 1));
  EXPECT_THAT(error("softmax(x)"), AllOf(HasSubstr("'axis' must be given"), HasSubstr("missing")));
  EXPECT_THAT(error<IndexError>("x.sum(2)"), AllOf(HasSubstr("out of range"), HasSubstr("^^^")));
  EXPECT_THAT(error("sum(2)"), HasSubstr("a tensor"));
  is("var(x, 1, True)", var(x, 1, 1));
  is("x.std(unbiased=False)", x.std({}, 0));
  is("x.sum(0, dtype=f64) + softmax(j, 0, dtype=double)", sum(cast<double>(x), 0) + softmax(cast<double>(j), 0));
  EXPECT_THAT(error("var(x, 1, 1j)"), HasSubstr("'correction'"));
  EXPECT_THAT(error("var(x, correction=1, unbiased=True)"), HasSubstr("'unbiased' must be omitted"));
  EXPECT_THAT(error("max(x, 1)"), HasSubstr("amax(x, axis)"));
}

TEST_F(Parse, FurtherArgumentsAndNames) {
  is("add(x, y, alpha=2)", x + y * 2);
  is("x.sub(1, alpha=y)", x - y * 1);
  is("round(x, 2)", (x * 100.0).round() / 100.0);
  is("absolute(x) + x.clip(min=0) + negative(y)", abs(x) + maximum(x, 0) + -y);
  is("where(less(x, 0), arctan(x), x.swapaxes(0, 1).swapdims(1, 0))", where(x < 0, atan(x), x));
  is("x.unsqueeze(0).squeeze((0,)).movedim((0, 1), [1, 0])", x.t());
  is("x.flip(axis=0)", x.flip(0));
  EXPECT_THAT(error("x.sum(0, False, f64)"), HasSubstr("'dtype' is passed by name"));
}

TEST_F(Parse, LossesAndDenseLayers) {
  is("mse_loss(x, x * 2)", mse_loss(x, x * 2));
  is("cross_entropy(x, j[:2] - 1)", cross_entropy(x, j(range(0, 2)) - 1));
  is("cross_entropy(x, softmax(x, 1), label_smoothing=0.1)",
     cross_entropy(x, softmax(x, 1), loss::label_smoothing(0.1)));
  is("linear(x, x, y[:2])", matmul(x, x.t()) + y(range(0, 2)));
  is("addmm(y[:2], x, x.t(), alpha=2)", addmm(y(range(0, 2)), x, x.t(), 1, 2.0));
  is("outer(y, y) + one_hot(j - 1, 3)", outer(y, y) + one_hot(j - 1, 3));
  is("masked_fill(x, b, 0)", masked_fill(x, b, 0));
  EXPECT_THAT(error<DTypeError>("masked_fill(i, b, 0.5)"), HasSubstr("category"));
  EXPECT_THAT(error("cat([x, x])"), HasSubstr("returns a tensor immediately"));
}

TEST_F(Parse, FunctionsBeyondTheTables) {
  is("layer_norm(x, (3,))", layer_norm(x, {3}));
  is("layer_norm(x, 3, weight=y, bias=y + 1, eps=1e-3)", layer_norm(x, {3}, y, y + 1, 1e-3));
  is("layer_norm(x, [3], bias=y)", layer_norm(x, {3}) + y);
  is("rms_norm(x, 3, y)", rms_norm(x, {3}, y));
  is("x.rms_norm(3, eps=0.5)", rms_norm(x, {3}, 0.5));
  is("norm(x)", norm(x));
  is("norm(x, 1, axis=-1, keepdim=True)", norm(x, std::integral_constant<int, 1>(), -1, keepdim));
  is("norm(x, inf, 0)", norm(x, inf, 0));
  is("norm(x, 2.5, 0)", norm(x, 2.5, 0));
  is("normalize(x)", normalize(x));
  is("cosine_similarity(x, y)", cosine_similarity(x, y));
  is("softmin(x, 0)", softmin(x, 0));
  is("gelu(x) + gelu_tanh(x)", gelu(x) + gelu_tanh(x));
  is("matmul(x, y) + mv(x, y)", matmul(x, y) + mv(x, y));
}

// Every operation of the table, with operands that it takes, is the same as its node.
TEST_F(Parse, EveryOperation) {
  int compared = 0;
  const std::pair<const char*, AnyTensor> sets[] = {{"x", x}, {"i", i}, {"b", b}, {"z", z}};
#define SINTER_INTERNAL_OP(name, arity, rule)
#define SINTER_INTERNAL_COMPOSITE_OP(name, arity, rule)
#define SINTER_OP(name, arity, rule)                                    \
  for (const auto& [called, t] : sets) {                                \
    std::string text = #name "(";                                       \
    std::vector<jit::LazyRef> nodes;                                    \
    for (int k = 0; k < arity; ++k) {                                   \
      const bool condition = Op::name == Op::where && k == 0;           \
      text += std::string(k ? ", " : "") + (condition ? "b" : called);  \
      nodes.push_back(detail::lazy_node(condition ? AnyTensor(b) : t)); \
    }                                                                   \
    try {                                                               \
      const Any expected(jit::lazy(Op::name, nodes));                   \
      const Any got = parse(text + ")", operands);                      \
      EXPECT_EQ(got.node()->dtype(), expected.node()->dtype()) << text; \
      EXPECT_EQ(to_dot(got), to_dot(expected)) << text;                 \
      ++compared;                                                       \
    } catch (const DTypeError&) {                                       \
      EXPECT_THROW(parse(text + ")", operands), DTypeError) << text;    \
    }                                                                   \
  }
#define SINTER_COMPOSITE_OP SINTER_OP
#include <sinter/jit/op_list.def>
  EXPECT_GT(compared, 250);
}

/// A random expression in C++ and as text, with parentheses only where Python's table of precedences asks for them.
class Grown {
  template <class E>
  static Any any(const E& e) {
    return Any(e.node());
  }

 public:
  struct Part {
    std::string text;
    int precedence;  // as docs.python.org's "operator precedence" lists them, upwards
    Any value;
  };
  Grown(std::mt19937_64& random, std::span<const NamedOperand> leaves) : random_(random), leaves_(leaves) {}

  Part grow(int depth) {
    if (depth == 0 || pick(8) == 0) return leaf();
    switch (pick(7)) {
      case 0: return call(grow(depth - 1));
      case 1: {
        const Part a = grow(depth - 1);
        return {"-" + wrapped(a, sign), sign, -a.value};
      }
      case 2: {
        const Part a = grow(depth - 1), e = leaf();
        return {wrapped(a, power + 1) + " ** " + wrapped(e, sign), power, pow(a.value, e.value)};
      }
      default: return binary(depth);
    }
  }

 private:
  static constexpr int comparison = 0, sum_ = 5, product = 6, sign = 7, power = 8, atom = 10;
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  static std::string wrapped(const Part& p, int least) { return p.precedence < least ? "(" + p.text + ")" : p.text; }

  Part leaf() {
    const NamedOperand& o = leaves_[pick(leaves_.size())];
    return {o.name, atom, o.value};
  }
  Part call(const Part& a) {
    const bool method = pick(2);
    const auto named = [&](const std::string& f, const std::string& rest, const Any& value) {
      const std::string text = method ? wrapped(a, atom) + "." + f + "(" + rest + ")"
                                      : f + "(" + a.text + (rest.empty() ? "" : ", " + rest) + ")";
      return Part{text, atom, value};
    };
    switch (pick(7)) {
      case 0: return named("sin", "", sin(a.value));
      case 1: return named("tanh", "", tanh(a.value));
      case 2: return named("sum", "-1, keepdim=True", sum(a.value, -1, keepdim));
      case 3: return {"softmax(float(" + a.text + "), -1)", atom, any(softmax(cast<float>(a.value), -1))};
      case 4: return named("clamp", "-1, 2", clamp(a.value, -1, 2));
      case 5: return named("to", "float64", any(cast<double>(a.value)));
      default: return named("maximum", "0.5", maximum(a.value, 0.5));
    }
  }
  Part binary(int depth) {
    const Part a = grow(depth - 1), b = grow(depth - 1);
    const auto of = [&](const char* symbol, int precedence, const Any& value) {
      return Part{wrapped(a, precedence) + symbol + wrapped(b, precedence + 1), precedence, value};
    };
    switch (pick(6)) {
      case 0: return of(" - ", sum_, a.value - b.value);
      case 1: return of("*", product, a.value * b.value);
      case 2: return of(" / ", product, a.value / b.value);
      case 3:
        return {"(" + wrapped(a, comparison + 1) + " < " + wrapped(b, comparison + 1) + ").to(f32)", atom,
                any(cast<float>(a.value < b.value))};
      case 4: return {"where(" + a.text + " >= 0, " + b.text + ", 1.5)", atom, where(a.value >= 0, b.value, 1.5)};
      default: return of("+", sum_, a.value + b.value);
    }
  }

  std::mt19937_64& random_;
  std::span<const NamedOperand> leaves_;
};

TEST_F(Parse, RandomExpressions) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  const std::vector<NamedOperand> leaves{{"x", x}, {"y", y}, {"d", d}, {"h", h}, {"i", i}, {"j", j}};
  int grown = 0;
  for (int round = 0; round < 60; ++round) try {
      const Grown::Part part = Grown(random, leaves).grow(1 + round % 6);
      SCOPED_TRACE(part.text);
      const Any got = parse(part.text, leaves);
      ASSERT_EQ(to_dot(got), to_dot(part.value));  // the same graph, before anything is simplified away
      const AnyTensor a{Tensor(got)}, e{Tensor(part.value)};
      ASSERT_EQ(a.dtype(), e.dtype());
      ASSERT_TRUE(same(a, e));
      ++grown;
    } catch (const DTypeError&) {  // of bools, which the generator does not keep apart
    }
  EXPECT_GT(grown, 30);
}

TEST_F(Parse, ErrorsShowThePlace) {
  EXPECT_EQ(error("exp(q + 2) * y").substr(error("exp(q + 2) * y").find('\n')), "\n  exp(q + 2) * y\n      ^");
  EXPECT_THAT(error("exq(x)"), AllOf(HasSubstr("there is no function 'exq'"), HasSubstr("did you mean 'exp'?"),
                                     HasSubstr("\n  exq(x)\n  ^^^")));
  EXPECT_THAT(error("sofmax(x, 1)"), HasSubstr("'softmax'"));
  EXPECT_THAT(error("layernorm(x, 1)"), HasSubstr("'layer_norm'"));
  EXPECT_THAT(error("x + dd"), AllOf(HasSubstr("'dd'"), HasSubstr("given are: x, y, d")));
  EXPECT_THAT(error("x + * y"), AllOf(HasSubstr("but got '*'"), HasSubstr("\n  x + * y\n      ^")));
  EXPECT_THAT(error("x y"), HasSubstr("an operator, or the end"));
  EXPECT_THAT(error("x +"), HasSubstr("the end of the text"));
  EXPECT_THAT(error(""), HasSubstr("empty"));
  EXPECT_THAT(error("exp(x"), HasSubstr("',' or ')'"));
  EXPECT_THAT(error("x < y < d"), HasSubstr("(a < b) & (b < c)"));
  EXPECT_THAT(error("x and y"), HasSubstr("write &"));
  EXPECT_THAT(error("x && y"), HasSubstr("write &"));
  EXPECT_THAT(error("!b"), HasSubstr("~x"));
  EXPECT_THAT(error("x if b else y"), HasSubstr("where(condition, a, b)"));
  EXPECT_THAT(error("x = y"), HasSubstr("=="));
  EXPECT_THAT(error("2x"), HasSubstr("operator"));
  EXPECT_THAT(error("x.exp"), HasSubstr(".exp()"));
  EXPECT_THAT(error("x $ y"), HasSubstr("no meaning"));
  EXPECT_THAT(error("x + ü"), HasSubstr("\n  x + ü\n      ^"));
  EXPECT_THAT(error("99999999999999999999 + x"), HasSubstr("64 bits"));
  EXPECT_THAT(error("x + 1e999"), HasSubstr("too large"));
  EXPECT_THAT(error("exp(x, y)"), HasSubstr("exp takes 1 argument, but 2"));
  EXPECT_THAT(error("clamp(x, mni=2, max=3)"), HasSubstr("did you mean 'min'?"));
  EXPECT_THAT(error("clamp(x, 1, min=3)"), HasSubstr("'min' is given twice"));
  EXPECT_THAT(error("sum(x, axis=1, axis=1)"), HasSubstr("is given twice"));
  EXPECT_THAT(error("sum(x, axis=1, 2)"), HasSubstr("a positional argument comes before keyword arguments"));
  EXPECT_THAT(error("lerp(x, y)"), AllOf(HasSubstr("'weight'"), HasSubstr("missing")));
  EXPECT_THAT(error("x.sum(x)"), HasSubstr("an axis or a list"));
  EXPECT_THAT(error("x.sum(1.5)"), HasSubstr("an axis or a list"));
  EXPECT_THAT(error("x + (1, 2)"), HasSubstr("a list"));
  EXPECT_THAT(error("(1, 2)"), HasSubstr("not an expression"));
  EXPECT_THAT(error("x.to(y)"), HasSubstr("a dtype"));
  EXPECT_THAT(error("float16"), HasSubstr("the dtype float16"));
  EXPECT_THAT(error("axis_offset(i, i, i)"), HasSubstr("no function"));
  EXPECT_THAT(error("x(2)"), HasSubstr("write *"));
  EXPECT_THAT(error<DTypeError>("x & y"), HasSubstr("\n  x & y\n    ^"));
  EXPECT_THAT(error<DTypeError>("where(x, y, 1)"), HasSubstr("^^^^^"));
  const Tensor<float> odd = numbers({4}, 0);
  EXPECT_THAT(message_of<ShapeError>([&] { parse("1 + (x + y * o)", {{"x", x}, {"y", y}, {"o", odd}}); }),
              AllOf(HasSubstr("float32 (3,) on cpu, float32 (4,) on cpu"), HasSubstr("          ^")));
  const Tensor<float> gpu = x.cuda(0);
  EXPECT_THAT(message_of<DeviceError>([&] { parse("x + g", {{"x", x}, {"g", gpu}}); }), HasSubstr("^"));
  try {
    parse("x +\n  qq", operands);
    FAIL();
  } catch (const ParseError& e) {
    EXPECT_EQ(e.position(), 6u);
    EXPECT_THAT(e.what(), HasSubstr("\n    qq\n    ^^"));
  }
}

TEST_F(Parse, IsReadOnceForManyOperands) {
  const ParsedExpression e("exp(z + 2) * y + pi + z");
  EXPECT_THAT(e.names(), ElementsAre("z", "y"));
  EXPECT_EQ(e.text(), "exp(z + 2) * y + pi + z");
  EXPECT_TRUE(
      same(AnyTensor{Tensor(e({{"z", x}, {"y", y}}))}, AnyTensor{Tensor(exp(x + 2) * y + 3.141592653589793 + x)}));
  EXPECT_EQ(Tensor(e({{"z", d}, {"y", 2}})).dtype(), DType::Float64);
  const Any part = x * 2;
  EXPECT_EQ(Tensor(parse("pi - e", {{"pi", part}, {"e", x + y}})).shape(), Shape(2, 3));  // a name that is given counts
  EXPECT_EQ(AnyTensor{Tensor(parse("z * 2", {{"z", x.cuda(0)}}))}.device(), Device(0));
}

}  // namespace
}  // namespace sinter
