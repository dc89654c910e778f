// CUDA's functions as the shim defines them, against the C++ library and against what the PTX manual says.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> inputs() {
  std::vector<double> v{0.0,  -0.0,  1.0,    -1.0,  0.5,    -0.5,   1.5,  2.5,   -2.5, 3.0, 10.0, -10.0,
                        88.0, 100.0, -104.0, 1e-40, -1e-40, 1e-310, 1e10, -1e10, 1e30, inf, -inf, nan};
  std::mt19937 generator(7);  // NOLINT(cert-msc51-cpp): the same numbers in every run
  std::uniform_real_distribution<double> uniform(-20, 20);
  for (int i = 0; i < 200; ++i) v.push_back(uniform(generator));
  return v;
}

template <class T>
::testing::AssertionResult same(T a, T b) {
  if ((std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << fmt::format("{} and {}", a, b);
}

/// y[f][i] for every function f of one argument and input i.
template <class T>
void check_unary(const char* type, const std::vector<std::pair<std::string, T (*)(T)>>& functions) {
  std::string body = "  const int i = threadIdx.x, n = (int)p.n;\n  if (i >= n) return;\n";
  for (std::size_t f = 0; f < functions.size(); ++f)
    body += fmt::format("  p.y[{} * n + i] = {}(p.x[i]);\n", f, functions[f].first);
  const TestKernel k(
      kernel_source(fmt::format("unary_{}", type), fmt::format("{0}* y; const {0}* x; long long n;", type), body));
  std::vector<T> x;
  for (double v : inputs()) x.push_back(static_cast<T>(v));
  Array<T> dx(x), dy(x.size() * functions.size());
  k({1, 1024}, dy, dx, static_cast<long long>(x.size()));
  const std::vector<T> y = dy.get();
  for (std::size_t f = 0; f < functions.size(); ++f)
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_TRUE(same(y[f * x.size() + i], functions[f].second(x[i]))) << functions[f].first << " of " << x[i];
}

#define UNARY(f) {#f, [](T x) -> T { return std::f(x); }}
#define UNARY_F(f) {#f "f", [](T x) -> T { return std::f(x); }}

TEST(VirtualShim, FloatFunctionsByBothNames) {
  using T = float;
  check_unary<T>("float", {UNARY_F(exp),
                           UNARY_F(exp2),
                           UNARY_F(expm1),
                           UNARY_F(log),
                           UNARY_F(log2),
                           UNARY_F(log10),
                           UNARY_F(log1p),
                           UNARY_F(sin),
                           UNARY_F(cos),
                           UNARY_F(tan),
                           UNARY_F(asin),
                           UNARY_F(acos),
                           UNARY_F(atan),
                           UNARY_F(sinh),
                           UNARY_F(cosh),
                           UNARY_F(tanh),
                           UNARY_F(asinh),
                           UNARY_F(acosh),
                           UNARY_F(atanh),
                           UNARY_F(erf),
                           UNARY_F(erfc),
                           UNARY_F(sqrt),
                           UNARY_F(cbrt),
                           UNARY_F(floor),
                           UNARY_F(ceil),
                           UNARY_F(trunc),
                           UNARY_F(round),
                           UNARY_F(rint),
                           UNARY_F(nearbyint),
                           UNARY_F(fabs),
                           UNARY_F(lgamma),
                           UNARY_F(tgamma),
                           UNARY(exp),
                           UNARY(log),
                           UNARY(tanh),
                           UNARY(erf),
                           UNARY(sqrt),
                           UNARY(floor),
                           UNARY(rint),
                           UNARY(abs),
                           UNARY(fabs),
                           {"__expf", [](T x) { return std::exp(x); }},
                           {"rsqrtf", [](T x) { return static_cast<T>(1 / std::sqrt(static_cast<double>(x))); }}});
}

TEST(VirtualShim, DoubleFunctions) {
  using T = double;
  check_unary<T>("double",
                 {UNARY(exp),  UNARY(exp2),  UNARY(expm1), UNARY(log),  UNARY(log2), UNARY(log10), UNARY(log1p),
                  UNARY(sin),  UNARY(cos),   UNARY(tan),   UNARY(asin), UNARY(acos), UNARY(atan),  UNARY(sinh),
                  UNARY(cosh), UNARY(tanh),  UNARY(erf),   UNARY(erfc), UNARY(sqrt), UNARY(cbrt),  UNARY(floor),
                  UNARY(ceil), UNARY(trunc), UNARY(round), UNARY(rint), UNARY(fabs), UNARY(abs)});
}

TEST(VirtualShim, SinPi) {
  const TestKernel k(kernel_source(
      "sinpi_test", "double* y; const double* x; long long n;",
      "  if (threadIdx.x < p.n) sincospi(p.x[threadIdx.x], p.y + 2 * threadIdx.x, p.y + 2 * threadIdx.x + 1);"));
  std::vector<double> x;
  for (int i = -20; i <= 20; ++i) x.push_back(i * 0.25), x.push_back(i * 0.25 + 0.01);
  Array<double> dx(x), dy(2 * x.size());
  k({1, 128}, dy, dx, static_cast<long long>(x.size()));
  const std::vector<double> y = dy.get();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double r = std::fmod(static_cast<long double>(x[i]), 2.0L) * 3.14159265358979323846264338327950288L;
    EXPECT_NEAR(y[2 * i], static_cast<double>(std::sin(r)), 4e-16) << x[i];
    EXPECT_NEAR(y[2 * i + 1], static_cast<double>(std::cos(r)), 4e-16) << x[i];
    if (x[i] == std::rint(x[i])) {
      EXPECT_EQ(y[2 * i], 0.0);
    }
    if (x[i] + 0.5 == std::rint(x[i] + 0.5)) {
      EXPECT_EQ(y[2 * i + 1], 0.0);
    }
  }
}

TEST(VirtualShim, BinaryFunctions) {
  const std::pair<std::string, float (*)(float, float)> functions[] = {
      {"powf", [](float a, float b) { return std::pow(a, b); }},
      {"pow", [](float a, float b) { return std::pow(a, b); }},
      {"atan2f", [](float a, float b) { return std::atan2(a, b); }},
      {"fmodf", [](float a, float b) { return std::fmod(a, b); }},
      {"fmod", [](float a, float b) { return std::fmod(a, b); }},
      {"hypotf", [](float a, float b) { return std::hypot(a, b); }},
      {"copysignf", [](float a, float b) { return std::copysign(a, b); }},
      {"remainderf", [](float a, float b) { return std::remainder(a, b); }},
      {"fdimf", [](float a, float b) { return std::fdim(a, b); }}};
  std::string body = "  const int i = threadIdx.x, n = (int)p.n, j = (i * 37 + 11) % n;\n  if (i >= n) return;\n";
  for (std::size_t f = 0; f < std::size(functions); ++f)
    body += fmt::format("  p.y[{} * n + i] = {}(p.x[i], p.x[j]);\n", f, functions[f].first);
  const TestKernel k(kernel_source("binary_float", "float* y; const float* x; long long n;", body));
  std::vector<float> x;
  for (double v : inputs()) x.push_back(static_cast<float>(v));
  const std::size_t n = x.size();
  Array<float> dx(x), dy(n * std::size(functions));
  k({1, 1024}, dy, dx, static_cast<long long>(n));
  const std::vector<float> y = dy.get();
  for (std::size_t f = 0; f < std::size(functions); ++f)
    for (std::size_t i = 0; i < n; ++i) {
      const float a = x[i], b = x[(i * 37 + 11) % n];
      EXPECT_TRUE(same(y[f * n + i], functions[f].second(a, b))) << functions[f].first << " of " << a << ", " << b;
    }
}

TEST(VirtualShim, ExtremesAreThoseOfAGpu) {
  const TestKernel k(kernel_source("extremes", "float* y; const float* x;", R"(
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      p.y[(i * 5 + j) * 4] = fmaxf(p.x[i], p.x[j]);
      p.y[(i * 5 + j) * 4 + 1] = fminf(p.x[i], p.x[j]);
      p.y[(i * 5 + j) * 4 + 2] = max((double)p.x[i], (double)p.x[j]);
      p.y[(i * 5 + j) * 4 + 3] = min(p.x[i], p.x[j]);
    })"));
  const std::vector<float> x{0.0f, -0.0f, 1.0f, -2.0f, std::numeric_limits<float>::quiet_NaN()};
  Array<float> dx(x), dy(100);
  k({1, 1}, dy, dx);
  const std::vector<float> y = dy.get();
  const auto above = [](float a, float b) { return a > b || (a == b && !std::signbit(a)); };
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      const float most = std::isnan(x[i]) ? x[j] : std::isnan(x[j]) || above(x[i], x[j]) ? x[i] : x[j];
      const float least = std::isnan(x[i]) ? x[j] : std::isnan(x[j]) || !above(x[i], x[j]) ? x[i] : x[j];
      for (std::size_t f : {0, 2}) EXPECT_TRUE(same(y[(i * 5 + j) * 4 + f], most)) << x[i] << " " << x[j];
      for (std::size_t f : {1, 3}) EXPECT_TRUE(same(y[(i * 5 + j) * 4 + f], least)) << x[i] << " " << x[j];
    }
}

TEST(VirtualShim, ConversionsSaturate) {
  const std::vector<double> x{
      0,    0.5,  1.5,   2.5,    -0.5,    -1.5, 2147483646.5, 2147483648.0, -2147483649.0, 4294967295.5,
      1e19, 1e20, -1e20, 9.3e18, -9.3e18, inf,  -inf,         nan};
  const TestKernel k(kernel_source("conversions", "long long* y; const double* x; long long n;", R"(
  for (int i = 0; i < p.n; ++i) {
    const double v = p.x[i];
    long long* y = p.y + 9 * i;
    y[0] = __double2int_rz(v); y[1] = __double2uint_rz(v); y[2] = __double2ll_rz(v);
      y[3] = (long long)__double2ull_rz(v);
    y[4] = __float2int_rz((float)v); y[5] = __float2uint_rz((float)v); y[6] = __float2ll_rz((float)v);
      y[7] = __double2int_rn(v);
    y[8] = __double2ll_rd(v);
  })"));
  Array<double> dx(x);
  Array<long long> dy(9 * x.size());
  k({1, 1}, dy, dx, static_cast<long long>(x.size()));
  const std::vector<long long> y = dy.get();
  const auto clamp = [](double v, double lo, double hi, long long low, long long high) {
    return v >= hi ? high : v <= lo ? low : static_cast<long long>(v);
  };
  constexpr double two31 = 2147483648.0, two32 = 4294967296.0, two63 = 9223372036854775808.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE(x[i]);
    const long long* r = y.data() + 9 * i;
    const auto f = static_cast<double>(static_cast<float>(x[i]));
    if (std::isnan(x[i])) {
      const long long expected[] = {INT32_MIN, 1LL << 31, INT64_MIN, INT64_MIN, 0, 0, INT64_MIN, INT32_MIN, INT64_MIN};
      for (int c = 0; c < 9; ++c) EXPECT_EQ(r[c], expected[c]) << c;
      continue;
    }
    const auto to_int = [&](double v) { return clamp(v, -two31, two31, INT32_MIN, INT32_MAX); };
    const auto to_unsigned = [&](double v) { return clamp(v, 0, two32, 0, UINT32_MAX); };
    const auto to_ll = [&](double v) { return clamp(v, -two63, two63, INT64_MIN, INT64_MAX); };
    EXPECT_EQ(r[0], to_int(std::trunc(x[i])));
    EXPECT_EQ(r[1], to_unsigned(std::trunc(x[i])));
    EXPECT_EQ(r[2], to_ll(std::trunc(x[i])));
    EXPECT_EQ(static_cast<std::uint64_t>(r[3]), x[i] >= 2 * two63 ? UINT64_MAX
                                                : x[i] <= 0       ? 0
                                                                  : static_cast<std::uint64_t>(x[i]));
    EXPECT_EQ(r[4], to_int(std::trunc(f)));
    EXPECT_EQ(r[5], to_unsigned(std::trunc(f)));
    EXPECT_EQ(r[6], to_ll(std::trunc(f)));
    EXPECT_EQ(r[7], to_int(std::rint(x[i])));
    EXPECT_EQ(r[8], to_ll(std::floor(x[i])));
  }
}

TEST(VirtualShim, BitsAndIntegers) {
  const TestKernel k(kernel_source("bits", "unsigned long long* y; unsigned long long a; unsigned long long b;", R"(
  const unsigned long long a = p.a, b = p.b;
  const unsigned c = (unsigned)a, d = (unsigned)b;
  unsigned long long r[] = {__umul64hi(a, b), (unsigned long long)__mul64hi((long long)a, (long long)b),
    __umulhi(c, d), (unsigned)__mulhi((int)c, (int)d),
    (unsigned)__popc(c), (unsigned)__popcll(a), (unsigned)__clz((int)c), (unsigned)__clzll((long long)a),
      (unsigned)__ffs((int)c), (unsigned)__ffsll((long long)a),
    __brev(c), __brevll(a), __byte_perm(c, d, 0x3615), __funnelshift_l(c, d, 5), __funnelshift_r(c, d, 5),
    (unsigned)__float_as_int(__int_as_float((int)c)),
      (unsigned long long)__double_as_longlong(__longlong_as_double((long long)a)),
    min(c, d), max((int)c, (int)d) < 0 ? 0ull : (unsigned)max((int)c, (int)d),
      (unsigned long long)min((long long)a, (long long)b), (unsigned)abs((int)c)};
  for (int i = 0; i < 21; ++i) p.y[i] = r[i];)"));
  Array<unsigned long long> y(21);
  std::mt19937_64 generator(3);  // NOLINT(cert-msc51-cpp)
  for (int n = 0; n < 50; ++n) {
    const std::uint64_t a = n == 0 ? 0 : generator(), b = generator();
    const auto c = static_cast<std::uint32_t>(a), d = static_cast<std::uint32_t>(b);
    k({1, 1}, y, a, b);
    const auto r = y.get();
    __extension__ using wide = unsigned __int128;
    __extension__ using signed_wide = __int128;
    const auto reverse = [](std::uint64_t v, int bits) {
      std::uint64_t out = 0;
      for (int i = 0; i < bits; ++i) out |= (v >> i & 1) << (bits - 1 - i);
      return out;
    };
    const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
    const auto sc = static_cast<std::int32_t>(c), sd = static_cast<std::int32_t>(d);
    EXPECT_EQ(r[0], static_cast<std::uint64_t>(wide{a} * b >> 64));
    EXPECT_EQ(r[1], static_cast<std::uint64_t>(signed_wide{sa} * sb >> 64));
    EXPECT_EQ(r[2], std::uint64_t{c} * d >> 32);
    EXPECT_EQ(r[3], static_cast<std::uint32_t>(std::int64_t{sc} * sd >> 32));
    EXPECT_EQ(r[4], static_cast<unsigned>(std::popcount(c)));
    EXPECT_EQ(r[5], static_cast<unsigned>(std::popcount(a)));
    EXPECT_EQ(r[6], static_cast<unsigned>(std::countl_zero(c)));
    EXPECT_EQ(r[7], static_cast<unsigned>(std::countl_zero(a)));
    EXPECT_EQ(r[8], c ? static_cast<unsigned>(std::countr_zero(c)) + 1 : 0u);
    EXPECT_EQ(r[9], a ? static_cast<unsigned>(std::countr_zero(a)) + 1 : 0u);
    EXPECT_EQ(r[10], reverse(c, 32));
    EXPECT_EQ(r[11], reverse(a, 64));
    const std::uint64_t both = std::uint64_t{d} << 32 | c;
    EXPECT_EQ(r[12],
              (both >> 40 & 0xff) | (both >> 8 & 0xff) << 8 | (both >> 48 & 0xff) << 16 | (both >> 24 & 0xff) << 24);
    EXPECT_EQ(r[13], static_cast<std::uint32_t>(both << 5 >> 32));
    EXPECT_EQ(r[14], static_cast<std::uint32_t>(both >> 5));
    EXPECT_EQ(r[15], c);
    EXPECT_EQ(r[16], a);
    EXPECT_EQ(r[17], std::min(c, d));
    EXPECT_EQ(r[18], static_cast<std::uint64_t>(std::max({sc, sd, 0})));
    EXPECT_EQ(r[19], static_cast<std::uint64_t>(std::min(sa, sb)));
    EXPECT_EQ(r[20], sc < 0 ? 0u - c : c);
  }
}

TEST(VirtualShim, Atomics) {
  const TestKernel k(kernel_source("atomics", "int* i; unsigned* u; float* f; double* d; unsigned long long* l;", R"(
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(p.i, t); atomicSub(p.i + 1, t); atomicMax(p.i + 2, t); atomicMin(p.i + 3, -t);
  atomicInc(p.u, 9u); atomicOr(p.u + 1, 1u << (t % 32)); atomicAnd(p.u + 2, ~(1u << (t % 7))); atomicXor(p.u + 3,
    (unsigned)t);
  atomicAdd(p.f, 1.0f); atomicAdd(p.d, 0.5); atomicAdd(p.l, 1ull << 33); atomicMax(p.l + 1, (unsigned long long)t);
  unsigned seen = p.u[4], expected;
  do expected = seen; while ((seen = atomicCAS(p.u + 4, expected, expected + 2)) != expected);
  if (t == 5) atomicExch(p.i + 4, 77);)"));
  Array<int> i(std::vector<int>(5));
  Array<unsigned> u(std::vector<unsigned>{0, 0, ~0u, 0, 0});
  Array<float> f(std::vector<float>{0});
  Array<double> d(std::vector<double>{0});
  Array<unsigned long long> l(std::vector<unsigned long long>{0, 0});
  constexpr int n = 200000;
  k({n / 100, 100}, i, u, f, d, l);
  unsigned x = 0;
  std::uint64_t sum = 0;
  for (unsigned t = 0; t < n; ++t) x ^= t, sum += t;
  EXPECT_EQ(i.get(), (std::vector<int>{static_cast<int>(sum), static_cast<int>(0 - sum), n - 1, 1 - n, 77}));
  EXPECT_EQ(u.get(), (std::vector<unsigned>{0, ~0u, ~0x7fu, x, 2 * n}));
  EXPECT_EQ(f.get()[0], static_cast<float>(n));
  EXPECT_EQ(d.get()[0], n / 2);
  EXPECT_EQ(l.get(), (std::vector<unsigned long long>{(1ull << 33) * n, n - 1}));
}

TEST(VirtualShim, FloatArithmeticIsExact) {
  // No contraction, no excess precision, denormals kept.
  const TestKernel k(kernel_source("arithmetic", "float* y; const float* x;", R"(
  const float a = p.x[0], b = p.x[1], c = p.x[2], tiny = p.x[3];
  p.y[0] = a * b + c; p.y[1] = fmaf(a, b, c); p.y[2] = tiny * 0.5f; p.y[3] = a * a - b * b; p.y[4] = a / b;
    p.y[5] = tiny + tiny;)"));
  const float a = 1.0000001f, b = 1.0000002f, c = -1.0000003f, tiny = 1e-40f;
  Array<float> x(std::vector<float>{a, b, c, tiny}), dy(6);
  k({1, 1}, dy, x);
  const std::vector<float> y = dy.get();
  const volatile float ab = a * b, aa = a * a, bb = b * b;
  EXPECT_EQ(y[0], ab + c);
  EXPECT_EQ(y[1], std::fma(a, b, c));
  EXPECT_NE(y[0], y[1]);
  EXPECT_EQ(y[2], tiny * 0.5f);
  EXPECT_GT(y[2], 0.0f);
  EXPECT_EQ(y[3], aa - bb);
  EXPECT_EQ(y[4], a / b);
  EXPECT_EQ(y[5], tiny + tiny);
}

TEST(VirtualShim, VectorTypesHaveCudasLayout) {
  const TestKernel k(kernel_source("layout", "int* y;", R"(
  const int s[] = {sizeof(char4), sizeof(short2), sizeof(int2), sizeof(int3), sizeof(int4), sizeof(uint3),
    sizeof(uint4), sizeof(longlong2), sizeof(float2), sizeof(float3), sizeof(float4), sizeof(double2),
    sizeof(double4),
                   alignof(char4), alignof(short2), alignof(int2), alignof(int3), alignof(int4), alignof(uint3),
                     alignof(uint4), alignof(longlong2), alignof(float2), alignof(float3), alignof(float4),
                     alignof(double2), alignof(double4)};
  for (int i = 0; i < 26; ++i) p.y[i] = s[i];
  const float4 v = make_float4(1, 2, 3, 4); const double2 d = make_double2(5, 6);
    const longlong2 l = make_longlong2(7, 8);
  p.y[26] = (int)(v.x + v.y * 10 + v.z * 100 + v.w * 1000 + d.y + l.y);
  p.y[27] = dim3(3).y + warpSize;)"));
  Array<int> y(28);
  k({1, 1}, y);
  EXPECT_EQ(y.get(), (std::vector<int>{4, 4, 8, 12, 16, 12, 16, 16, 8, 12, 16, 16, 32,   4,
                                       4, 8, 4, 16, 4,  16, 16, 8,  4, 16, 16, 16, 4335, 33}));
}

}  // namespace
}  // namespace sinter::test
