// Random programs of tensors on meshes compared with the same programs on one device: the same bits, or an error that
// says what to do. Numbers are small integers, whose sums are exact in every order; rounded results are compared within
// a bound and not used further. SINTER_RANDOM_SEED and SINTER_RANDOM_PROGRAMS select other programs.
#include <sinter/dsl/sharded.hpp>
#include <sinter/jit/lazy.hpp>
#include <sinter/jit/recorded.hpp>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "devices.hpp"

#include <gtest/gtest.h>

namespace {

namespace sn = sinter;
namespace jit = sn::jit;
namespace runtime = sn::runtime;
using jit::LazyRef, runtime::TensorRef;
using sn::AnyTensor, sn::DType, sn::Op, sn::Shape;

/// How a value may be used further: as integers, elementwise, or not at all.
enum class Kind { Whole, Bits, Rounded };

struct Value {
  LazyRef alone, on_mesh;
  TensorRef result;  // of one device
  Kind kind = Kind::Whole;
  std::string text;
};

TensorRef evaluated(const LazyRef& value) {
  TensorRef result;
  jit::evaluate(std::span(&value, 1), &result);
  return result;
}

class Programs {
 public:
  Programs(unsigned seed, const sn::Mesh& mesh) : random_(seed), mesh_(mesh) {
    dims_ = {pick({0, 1, 2, 5, 7}), pick({1, 3, 4}), pick({1, 2, 5})};
    for (int i = 0; i < 4; ++i) add_leaf();
  }

  int refused = 0, compared = 0;

  void run(int steps) {
    for (int i = 0; i < steps; ++i) try {
        grow();
      } catch (const sn::Error&) {
        // Nor is it an operation of one device.
      }
    for (int i = 0; i < 3; ++i) check({last(below(4)), last(below(4))});
    check({last(0)});
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int pick(std::initializer_list<int> of) { return of.begin()[below(static_cast<int>(of.size()))]; }
  bool often(int percent) { return below(100) < percent; }
  Value& last(int i) { return values_[values_.size() - 1 - static_cast<std::size_t>(i) % values_.size()]; }
  Value& any() { return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))]; }
  Value& any_but_rounded() {
    for (;;)
      if (Value& v = any(); v.kind != Kind::Rounded) return v;
  }

  /// Extents of the program, 1 here and there, sometimes without the first dims or transposed.
  void add_leaf() {
    Shape shape;
    for (int d = often(20) ? 1 : 0; d < 3; ++d) shape.push_back(often(15) ? 1 : dims_[static_cast<std::size_t>(d)]);
    AnyTensor x = sn::AnyTensor((sn::arange(shape.numel()) * (1 + below(5)) % (3 + below(4)) - 1).reshape(shape));
    const DType dtype = DType(pick({int(DType::Float32), int(DType::Float32), int(DType::Float16), int(DType::Int64),
                                    int(DType::Int32), int(DType::Bool), int(DType::Float64), int(DType::Complex64)}));
    TensorRef alone = jit::to(x.impl(), dtype, sn::Device()), placed;
    std::string text;
    if (often(65)) {
      const int axis = often(70) ? 0 : below(shape.ndim());
      placed = jit::shard(*alone, mesh_, axis);
      text = " sharded along " + std::to_string(axis);
    } else {
      placed = jit::replicate(*alone, mesh_);
      text = " replicated";
    }
    const auto t = [](TensorRef& r) { return sn::AnyTensor(r); };
    if (often(20)) {
      alone = t(alone).transpose(0, -1).ref(), placed = t(placed).transpose(0, -1).ref();
      text += " transposed";
    }
    if (often(15)) alone = t(alone).unsqueeze(0).ref(), placed = t(placed).unsqueeze(0).ref(), text += " unsqueezed";
    if (often(15)) alone = t(alone).flip(-1).contiguous().ref(), text += " flipped", placed = flipped(placed);
    text = std::string(sn::name(dtype)) + to_string(alone->shape) + text;
    values_.push_back({jit::lazy(*alone), jit::lazy(*placed), alone, Kind::Whole, "leaf " + text});
  }
  TensorRef flipped(const TensorRef& x) {
    try {
      return AnyTensor(x).flip(-1).ref();
    } catch (const sn::ShapeError&) {  // along the sharded dim
      return jit::shard(*AnyTensor(jit::gather(*x, {})).flip(-1).contiguous().ref(), mesh_, 0);
    }
  }

  std::string number(const Value& v) { return std::to_string(&v - values_.data()); }
  void add(Value v) {
    v.result = evaluated(v.alone);
    // Numbers stay small, so that every sum of them is exact, in half too.
    const bool is_big = v.kind == Kind::Whole && !is_small(*v.result);
    if (is_big && v.result->dtype >= DType::Complex64) return;
    if (is_big) {
      const LazyRef seven = jit::lazy(jit::Scalar(std::int64_t{7}), sn::Category::Int);
      const LazyRef a[] = {v.alone, seven}, b[] = {v.on_mesh, seven};
      v.alone = jit::lazy(Op::remainder, a), v.on_mesh = jit::lazy(Op::remainder, b);
      v.text += " % 7";
      v.result = evaluated(v.alone);
    }
    values_.push_back(std::move(v));
  }
  static bool is_small(const runtime::TensorImpl& t) {
    if (sn::category(t.dtype) == sn::Category::Bool) return true;
    TensorRef real = runtime::Ref<runtime::TensorImpl>::share(const_cast<runtime::TensorImpl*>(&t));
    if (sn::category(t.dtype) == sn::Category::Complex) {
      const sn::Tensor<std::complex<double>> z(jit::to(*real, DType::Complex128, sn::Device()));
      for (const std::complex<double> v : z.to_vector())
        if (!(std::abs(v) <= 8)) return false;
      return true;
    }
    const sn::Tensor<double> x(jit::to(*real, DType::Float64, sn::Device()));
    for (const double v : x.to_vector())
      if (!(std::abs(v) <= 8)) return false;
    return true;
  }

  void grow() {
    const int what = below(100);
    if (what < 35)
      elementwise();
    else if (what < 65)
      reduce();
    else if (what < 75)
      cast();
    else if (what < 85)
      multiply();
    else if (what < 92)
      rounding();
    else
      scalar();
  }
  void apply(Op op, std::vector<const Value*> operands, Kind kind) {
    std::vector<LazyRef> alone, on_mesh;
    std::string text = std::string(sn::name(op)) + "(";
    for (const Value* v : operands) alone.push_back(v->alone), on_mesh.push_back(v->on_mesh), text += number(*v) + " ";
    add({jit::lazy(op, alone), jit::lazy(op, on_mesh), {}, kind, text + ")"});
  }
  void elementwise() {
    static constexpr Op unary[] = {Op::neg, Op::abs, Op::sign, Op::square, Op::logical_not, Op::relu};
    static constexpr Op binary[] = {Op::add, Op::sub, Op::mul,         Op::maximum,     Op::minimum, Op::eq,
                                    Op::lt,  Op::ge,  Op::logical_and, Op::logical_xor, Op::ne};
    const Value &a = any_but_rounded(), &b = any_but_rounded(), &c = any_but_rounded();
    const Kind kind = std::max({a.kind, b.kind, c.kind});
    const int arity = pick({1, 2, 2, 2, 3});
    if (arity == 1) return apply(unary[below(std::size(unary))], {&a}, a.kind);
    if (arity == 2) return apply(binary[below(std::size(binary))], {&a, &b}, std::max(a.kind, b.kind));
    apply(Op::where, {&a, &b, &c}, kind);
  }
  void reduce() {
    static constexpr Op exact[] = {Op::sum, Op::sum,    Op::amax,   Op::amin,          Op::any,
                                   Op::all, Op::argmax, Op::argmin, Op::count_nonzero, Op::count};
    static constexpr Op inexact[] = {Op::mean, Op::logsumexp, Op::softmax, Op::log_softmax, Op::prod, Op::nansum};
    const Value& a = any_but_rounded();
    const bool rounds = a.kind == Kind::Bits || often(30);
    const Op op = rounds ? inexact[below(std::size(inexact))] : exact[below(std::size(exact))];
    const int ndim = a.result->ndim();
    if (ndim == 0) return;
    const bool spreads = op == Op::softmax || op == Op::log_softmax;
    jit::ReduceAxes along{};
    along.axes = static_cast<std::uint8_t>(1 + below((1 << ndim) - 1));
    if (spreads || ((op == Op::argmax || op == Op::argmin) && often(50))) along.axes = std::uint8_t(1 << below(ndim));
    along.keeps = !spreads && often(50);
    const std::string text = std::string(sn::name(op)) + "(" + number(a) + " axes " + std::to_string(int(along.axes)) +
                             (along.keeps ? " keeps)" : ")");
    add({jit::lazy(op, std::span(&a.alone, 1), along),
         jit::lazy(op, std::span(&a.on_mesh, 1), along),
         {},
         rounds ? Kind::Rounded : Kind::Whole,
         text});
  }
  void cast() {
    const Value& a = any_but_rounded();
    const DType to = DType(pick({int(DType::Float32), int(DType::Float16), int(DType::BFloat16), int(DType::Int64),
                                 int(DType::Bool), int(DType::Float64), int(DType::Complex64)}));
    const Kind kind = a.kind == Kind::Bits && size_of(to) == 2 ? Kind::Rounded : a.kind;
    add({jit::lazy_cast(a.alone, to),
         jit::lazy_cast(a.on_mesh, to),
         {},
         kind,
         "cast(" + number(a) + " " + std::string(sn::name(to)) + ")"});
  }
  void multiply() {
    const Value &a = any_but_rounded(), &b = any_but_rounded();
    apply(Op::matmul, {&a, &b}, std::max(a.kind, b.kind) == Kind::Whole ? Kind::Whole : Kind::Rounded);
  }
  void rounding() {
    static constexpr Op ops[] = {Op::sin, Op::exp, Op::sqrt, Op::sigmoid};
    const Value& a = any_but_rounded();
    if (sn::category(a.result->dtype) == sn::Category::Complex) return;  // a sum's zero has either sign
    // Between 16-bit operations of one kernel there is no rounding, and which are in one kernel depends on the mesh.
    apply(ops[below(std::size(ops))], {&a}, size_of(a.result->dtype) == 2 ? Kind::Rounded : Kind::Bits);
  }
  void scalar() {
    const Value& a = any_but_rounded();
    const LazyRef s = jit::lazy(jit::Scalar(std::int64_t{2}), sn::Category::Int);
    const LazyRef x[] = {a.alone, s}, y[] = {a.on_mesh, s};
    add({jit::lazy(Op::mul, x), jit::lazy(Op::mul, y), {}, a.kind, "2 * " + number(a)});
  }

  std::string listing() const {
    std::string text;
    for (std::size_t i = 0; i < values_.size(); ++i) text += std::to_string(i) + ": " + values_[i].text + "\n";
    return text;
  }

  void check(std::vector<Value> of) {
    std::vector<LazyRef> nodes, alone;
    for (const Value& v : of) nodes.push_back(v.on_mesh), alone.push_back(v.alone);
    std::vector<TensorRef> results(of.size()), expected(of.size());
    const jit::Mode mode = often(15) ? jit::Mode::Eager : jit::Mode::Fused;  // 16-bit floats round in between, or not
    jit::evaluate(alone, expected.data(), mode);
    for (std::size_t i = 0; i < of.size(); ++i) of[i].result = expected[i];
    try {
      jit::evaluate(nodes, results.data(), mode);
    } catch (const sn::DeviceError& e) {
      ++refused;
      EXPECT_NE(std::string(e.what()).find("replicate(x"), std::string::npos) << e.what();
      return;
    } catch (const sn::IndexError& e) {  // logsumexp over shards that have no row
      EXPECT_NE(std::string(e.what()).find("to have non-zero size"), std::string::npos) << e.what() << listing();
      return;
    } catch (const std::exception& e) {
      std::string outputs;
      for (const Value& v : of) outputs += v.text + (mode == jit::Mode::Eager ? " eager; " : "; ");
      ADD_FAILURE() << outputs << "\n" << e.what() << "\n" << listing();
      return;
    }
    ++compared;
    for (std::size_t i = 0; i < of.size(); ++i) compare(of[i], *results[i]);
  }
  void compare(const Value& v, runtime::TensorImpl& got) {
    ASSERT_EQ(got.dtype, v.result->dtype) << v.text << "\n" << listing();
    ASSERT_EQ(got.shape, v.result->shape) << v.text << "\n" << listing();
    const DType wide = sn::category(got.dtype) == sn::Category::Complex ? DType::Complex128
                       : sn::category(got.dtype) == sn::Category::Float ? DType::Float64
                                                                        : got.dtype;
    const TensorRef here = jit::to(*jit::gather(got, sn::Device()), wide, sn::Device());
    const AnyTensor a(here), b(jit::to(*v.result, wide, sn::Device()));
    const bool is_half = size_of(got.dtype) == 2;
    const double bound = v.kind == Kind::Rounded ? (is_half ? 2e-2 : 1e-5) : 0;
    const bool good =
        sn::category(got.dtype) < sn::Category::Float ? sn::equal(a, b) : sn::allclose(a, b, bound, bound / 10, true);
    EXPECT_TRUE(good) << v.text << "\n"
                      << sinter_tests::printed(a) << "\n instead of \n"
                      << sinter_tests::printed(b) << "\n"
                      << listing();
  }

  std::mt19937 random_;
  sn::Mesh mesh_;
  std::vector<int> dims_;
  std::vector<Value> values_;
};

unsigned setting(const char* variable, unsigned otherwise) {
  const char* const value = std::getenv(variable);
  return value ? static_cast<unsigned>(std::atoi(value)) : otherwise;
}

void run_program(unsigned seed, int& compared, int& refused) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const int positions[] = {1, 2, 3, 5};
  Programs programs(seed, sn::Mesh(std::vector<sn::Device>(static_cast<std::size_t>(positions[seed % 4]))));
  programs.run(14);
  refused += programs.refused, compared += programs.compared;
}

TEST(ShardedRandom, ProgramsThatFailedOnce) {
  int refused = 0, compared = 0;
  for (const unsigned seed : {2188u, 6870u, 12692u}) run_program(seed, compared, refused);
  EXPECT_GT(compared, 0);
}

TEST(ShardedRandom, ProgramsGiveWhatOneDeviceGives) {
  const unsigned first = setting("SINTER_RANDOM_SEED", 1), count = setting("SINTER_RANDOM_PROGRAMS", 60);
  int refused = 0, compared = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    run_program(seed, compared, refused);
    if (testing::Test::HasFailure()) break;
  }
  std::printf("seeds %u to %u: %d results compared, %d refused\n", first, first + count - 1, compared, refused);
  EXPECT_GT(compared, refused);
}

}  // namespace
