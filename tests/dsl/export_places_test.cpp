// Exported kernels of complex numbers, random numbers and indices, on the CPU and on virtual GPUs, compared with the
// library.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "exported.hpp"

namespace sinter::testing {
namespace {

class ExportPlacesTest : public ExportedTest {};

using Complex = std::complex<float>;
using Long = std::int64_t;

template <class T>
::testing::AssertionResult near(const Tensor<T>& a, const Tensor<T>& b, double bound) {
  const std::vector<T> x = values(a), y = values(b);
  if (x.size() != y.size()) return ::testing::AssertionFailure() << x.size() << " and " << y.size() << " elements";
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(x[i] - y[i]) <= bound * (1 + std::abs(y[i]))))
      return ::testing::AssertionFailure() << "element " << i << ": " << x[i] << " and " << y[i];
  return ::testing::AssertionSuccess();
}

TEST_F(ExportPlacesTest, ComplexNumbers) {
  const Tensor<Complex> x = zeros<Complex>({4, 5}), y = zeros<Complex>({5});
  const ExportedLibrary own(exported(exp(x * y) + conj(x), {.name = "own"}));
  using Launch = int(void*, float*, const float*, const float*, Long, Long);
  using OnCpu = int(float*, const float*, const float*, Long, Long);
  const auto floats = [](const Tensor<Complex>& t) { return reinterpret_cast<float*>(t.data()); };
  for (const auto& [m, n] : std::vector<std::array<Long, 2>>{{3, 5}, {1, 1}, {4, 8}, {7, 33}}) {
    const Tensor<Complex> hx = randn<Complex>({m, n}), hy = randn<Complex>({n}), host = zeros<Complex>({m, n}),
                          gx = hx.to(gpu0), gy = hy.to(gpu0), out = host.to(gpu0);
    ASSERT_EQ(own.get<Launch>("own_launch")(nullptr, floats(out), floats(gx), floats(gy), m, n), ok);
    EXPECT_TRUE(same_bits(out, Tensor<Complex>(exp(gx * gy) + conj(gx))));
    ASSERT_EQ(own.get<OnCpu>("own_cpu")(floats(host), floats(hx), floats(hy), m, n), ok);
    EXPECT_TRUE(near(host, Tensor<Complex>(exp(hx * hy) + conj(hx)), 1e-5));
  }
}

TEST_F(ExportPlacesTest, ComplexNumbersInRowsAndParts) {
  using Wide = std::complex<double>;
  const Tensor<Wide> x = zeros<Wide>({4, 5});
  const ExportedLibrary own({exported(sum(x * x, -1), {.name = "rows"}), exported(abs(x), {.name = "size"}),
                             exported(cast<Complex>(x), {.name = "narrow"})},
                            {.name = "own", .architectures = {90}});
  const Tensor<Wide> hx = randn<Wide>({6, 40}), gx = hx.to(gpu0), sums = zeros<Wide>({6});
  const Tensor<double> sizes = zeros<double>({6, 40}), gsizes = sizes.to(gpu0);
  const Tensor<Complex> narrow = zeros<Complex>({6, 40});
  const auto* const in = reinterpret_cast<const double*>(hx.data());
  ASSERT_EQ(
      own.get<int(double*, const double*, Long, Long)>("rows_cpu")(reinterpret_cast<double*>(sums.data()), in, 6, 40),
      ok);
  EXPECT_TRUE(near(sums, Tensor<Wide>(sum(hx * hx, -1)), 1e-14));
  ASSERT_EQ(own.get<int(double*, const double*, Long, Long)>("size_cpu")(sizes.data(), in, 6, 40), ok);
  EXPECT_TRUE(near(sizes, Tensor<double>(abs(hx)), 1e-15));
  ASSERT_EQ(
      own.get<int(float*, const double*, Long, Long)>("narrow_cpu")(reinterpret_cast<float*>(narrow.data()), in, 6, 40),
      ok);
  EXPECT_TRUE(same_bits(narrow, Tensor<Complex>(cast<Complex>(hx))));
  const Tensor<Wide> gsums = sums.to(gpu0);
  using Rows = int(void*, double*, const double*, Long, Long, void*, std::size_t);
  ASSERT_EQ(own.get<Rows>("rows_launch")(nullptr, reinterpret_cast<double*>(gsums.data()),
                                         reinterpret_cast<const double*>(gx.data()), 6, 40, nullptr, 0),
            ok);
  EXPECT_TRUE(near(gsums, Tensor<Wide>(sum(gx * gx, -1)), 1e-14));
  // Half an element off is aligned only on the CPU.
  EXPECT_EQ(own.get<int(double*, const double*, Long, Long)>("size_cpu")(sizes.data(), in + 1, 1, 3), ok);
  auto* const launch = own.get<int(void*, double*, const double*, Long, Long)>("size_launch");
  EXPECT_EQ(launch(nullptr, gsizes.data(), reinterpret_cast<const double*>(gx.data()) + 1, 1, 3), misaligned);
}

TEST_F(ExportPlacesTest, RandomNumbersTakeTheirPlaceAndSeed) {
  manual_seed(7);
  const Tensor<float> x = zeros<float>({4, 5});
  const jit::Export kernel =
      exported(x + rand_like(x * 1.0f), {.name = "own", .inputs = {"x"}, .numbers = {"draw", "seed"}});
  const ExportedLibrary own(kernel);
  using Launch = int(void*, float*, const float*, Long, Long, Long, Long);
  using OnCpu = int(float*, const float*, Long, Long, Long, Long);
  for (const auto& [m, n] : std::vector<std::array<Long, 2>>{{3, 5}, {1, 1}, {4, 8}, {7, 33}}) {
    const Tensor<float> hx = randn<float>({m, n}), gx = hx.to(gpu0), host = zeros<float>({m, n}), out = host.to(gpu0);
    manual_seed(99);
    for (int draw = 0; draw < 11; ++draw) (void)rand<float>({2});
    const Tensor<float> expected = hx + rand_like(hx * 1.0f);
    ASSERT_EQ(own.get<OnCpu>("own_cpu")(host.data(), hx.data(), m, n, 11, 99), ok);
    EXPECT_TRUE(same_bits(host, expected));
    ASSERT_EQ(own.get<Launch>("own_launch")(nullptr, out.data(), gx.data(), m, n, 11, 99), ok);
    EXPECT_TRUE(same_bits(out, expected));
  }
}

TEST_F(ExportPlacesTest, AllKindsOfRandomNumbers) {
  const Tensor<float> x = zeros<float>({7});
  const Tensor<double> d = zeros<double>({7});
  manual_seed(3);
  const ExportedLibrary own({exported(randn_like(x * 1.0f), {.name = "normal", .numbers = {"draw", "seed"}}),
                             exported(randn_like(d * 1.0), {.name = "wide", .numbers = {"draw", "seed"}}),
                             exported(rand_like(d * 1.0), {.name = "uniform", .numbers = {"draw", "seed"}}),
                             exported(dropout(x * 1.0f, 0.25), {.name = "drop", .numbers = {"draw", "seed"}})},
                            {.name = "own", .architectures = {90}});
  const Tensor<float> f = full<float>({1000}, 1.0f), out = zeros<float>({1000});
  const Tensor<double> wide = zeros<double>({1000});
  const auto reseed = [] { manual_seed(0xF234567890ABCDEF); };
  const auto seed = static_cast<Long>(0xF234567890ABCDEF);
  using OnCpu = int(float*, Long, Long, Long);
  using WideOnCpu = int(double*, Long, Long, Long);
  ASSERT_EQ(own.get<OnCpu>("normal_cpu")(out.data(), 1000, 0, seed), ok);
  reseed();
  EXPECT_TRUE(near(out, Tensor<float>(randn_like(f * 1.0f)), 1e-5));
  ASSERT_EQ(own.get<WideOnCpu>("wide_cpu")(wide.data(), 1000, 0, seed), ok);
  reseed();
  EXPECT_TRUE(near(wide, Tensor<double>(randn_like(wide * 1.0)), 1e-12));
  ASSERT_EQ(own.get<WideOnCpu>("uniform_cpu")(wide.data(), 1000, 0, seed), ok);
  reseed();
  EXPECT_TRUE(same_bits(wide, Tensor<double>(rand_like(wide * 1.0))));
  ASSERT_EQ(own.get<int(float*, const float*, Long, Long, Long)>("drop_cpu")(out.data(), f.data(), 1000, 0, seed), ok);
  reseed();
  EXPECT_TRUE(same_bits(out, Tensor<float>(dropout(f * 1.0f, 0.25))));
}

TEST_F(ExportPlacesTest, ReadsRowsThatIndicesName) {
  const Tensor<float> weight = zeros<float>({10, 3});
  const Tensor<Long> ids = zeros<Long>({4});
  const ExportedLibrary own(exported(
      embedding(weight, ids) * 2.0f,
      {.name = "own", .inputs = {"weight", "ids"}, .sizes = {{"rows", "columns"}, {"n"}}, .numbers = {"scale"}}));
  EXPECT_EQ(own.library.kernels[0].sizes->names().size(), 3u);
  using Launch = int(void*, float*, const float*, const Long*, Long, Long, Long, double, std::uint32_t*);
  using OnCpu = int(float*, const float*, const Long*, Long, Long, Long, double);
  auto* const on_cpu = own.get<OnCpu>("own_cpu");
  auto* const launch = own.get<Launch>("own_launch");
  const Tensor<std::int32_t> word = zeros<std::int32_t>({1}).to(gpu0);
  auto* const fault = reinterpret_cast<std::uint32_t*>(word.data());
  for (const auto& [rows, columns, n] :
       std::vector<std::array<Long, 3>>{{5, 3, 7}, {1, 8, 4}, {9, 4, 1}, {6, 1, 5}, {300, 64, 10}}) {
    const Tensor<float> w = randn<float>({rows, columns}), gw = w.to(gpu0), host = zeros<float>({n, columns}),
                        out = host.to(gpu0);
    const Tensor<Long> i = randint(-rows, rows, {n}), gi = i.to(gpu0);
    const Tensor<float> expected = embedding(w, i) * 3.0f;
    ASSERT_EQ(on_cpu(host.data(), w.data(), i.data(), rows, columns, n, 3), ok);
    EXPECT_TRUE(same_bits(host, expected)) << rows << " by " << columns;
    ASSERT_EQ(launch(nullptr, out.data(), gw.data(), gi.data(), rows, columns, n, 3, fault), ok);
    EXPECT_TRUE(same_bits(out, expected)) << rows << " by " << columns;
    EXPECT_EQ(values(word)[0], 0);
  }
  const Tensor<float> w = randn<float>({5, 3}), gw = w.to(gpu0), host = zeros<float>({2, 3}), out = host.to(gpu0);
  for (const Long bad : {Long{5}, Long{-6}, INT64_MAX, INT64_MIN}) {
    const Tensor<Long> i = full<Long>({2}, bad), gi = i.to(gpu0);
    EXPECT_EQ(on_cpu(host.data(), w.data(), i.data(), 5, 3, 2, 1), index_out_of_range);
    EXPECT_EQ(host.data()[4], w.data()[1]);  // position 0 instead
    ASSERT_EQ(launch(nullptr, out.data(), gw.data(), gi.data(), 5, 3, 2, 1, fault), ok);
    EXPECT_EQ(values(word)[0], 2);
  }
  EXPECT_EQ(on_cpu(host.data(), w.data(), nullptr, 5, 3, 2, 1), null_pointer);
  const Tensor<Long> first = zeros<Long>({2}), gfirst = first.to(gpu0);
  EXPECT_EQ(on_cpu(host.data(), nullptr, first.data(), 0, 3, 2, 1), index_out_of_range);  // there is no row 0
  EXPECT_EQ(launch(nullptr, out.data(), nullptr, gfirst.data(), 0, 3, 2, 1, fault), index_out_of_range);
  EXPECT_EQ(on_cpu(host.data(), nullptr, nullptr, 0, 3, 0, 1), ok);  // and nothing reads it
  EXPECT_EQ(launch(nullptr, out.data(), gw.data(), gfirst.data(), 5, 3, 2, 1, nullptr), null_pointer);
  EXPECT_EQ(on_cpu(const_cast<float*>(w.data()), w.data(), full<Long>({2}, 1).data(), 5, 3, 2, 1), overlaps);
}

TEST_F(ExportPlacesTest, ReadsAlongAnyAxis) {
  const Tensor<float> x = zeros<float>({10, 3, 4});
  const Tensor<Long> i = zeros<Long>({7}), along = zeros<Long>({10, 6, 4}), flat = zeros<Long>({5, 2});
  const ExportedLibrary own(
      {exported(index_select(x, 1, i) + 1.0f, {.name = "middle"}), exported(gather(x, 1, along), {.name = "gather"}),
       exported(take(x, flat), {.name = "take"}), exported(sum(index_select(x, 2, i), -1), {.name = "rows"}),
       exported(one_hot(i, 5), {.name = "hot"})},
      {.name = "own", .architectures = {90}});
  const Tensor<float> hx = randn<float>({5, 6, 7});
  {
    const Tensor<Long> at = randint(-6, 6, {9});
    const Tensor<float> out = zeros<float>({5, 9, 7});
    ASSERT_EQ(own.get<int(float*, const float*, const Long*, Long, Long, Long, Long)>("middle_cpu")(
                  out.data(), hx.data(), at.data(), 5, 6, 7, 9),
              ok);
    EXPECT_TRUE(same_bits(out, Tensor<float>(index_select(hx, 1, at) + 1.0f)));
  }
  {
    const Tensor<Long> at = randint(-6, 6, {5, 2, 7});
    const Tensor<float> out = zeros<float>({5, 2, 7}), expected = gather(hx, 1, at);
    using OnCpu = int(float*, const float*, const Long*, Long, Long, Long, Long);
    ASSERT_EQ(own.get<OnCpu>("gather_cpu")(out.data(), hx.data(), at.data(), 5, 6, 7, 2), ok);
    EXPECT_TRUE(same_bits(out, expected));
    const Tensor<float> gx = hx.to(gpu0), gout = zeros<float>({5, 2, 7}).to(gpu0);
    const Tensor<std::int32_t> word = zeros<std::int32_t>({1}).to(gpu0);
    using Launch = int(void*, float*, const float*, const Long*, Long, Long, Long, Long, std::uint32_t*);
    ASSERT_EQ(own.get<Launch>("gather_launch")(nullptr, gout.data(), gx.data(), at.to(gpu0).data(), 5, 6, 7, 2,
                                               reinterpret_cast<std::uint32_t*>(word.data())),
              ok);
    EXPECT_TRUE(same_bits(gout, expected));
  }
  {
    const Tensor<Long> at = randint(-210, 210, {3, 4});
    const Tensor<float> out = zeros<float>({3, 4});
    ASSERT_EQ(own.get<int(float*, const float*, const Long*, Long, Long, Long)>("take_cpu")(out.data(), hx.data(),
                                                                                            at.data(), 210, 3, 4),
              ok);
    EXPECT_TRUE(same_bits(out, Tensor<float>(take(hx, at))));
  }
  {
    const Tensor<Long> at = randint(-7, 7, {9});
    const Tensor<float> out = zeros<float>({5, 6});
    ASSERT_EQ(own.get<int(float*, const float*, const Long*, Long, Long, Long, Long)>("rows_cpu")(
                  out.data(), hx.data(), at.data(), 5, 6, 7, 9),
              ok);
    EXPECT_TRUE(near(out, Tensor<float>(sum(index_select(hx, 2, at), -1)), 1e-5));
  }
  {
    const Tensor<Long> at = randint(0, 11, {6}), out = zeros<Long>({6, 11});
    auto* const hot = own.get<int(Long*, const Long*, Long, Long)>("hot_cpu");
    ASSERT_EQ(hot(out.data(), at.data(), 6, 11), ok);
    EXPECT_TRUE(same_bits(out, Tensor<Long>(one_hot(at, 11))));
    at.data()[2] = 11;
    EXPECT_EQ(hot(out.data(), at.data(), 6, 11), index_out_of_range);
  }
}

TEST_F(ExportPlacesTest, RowsOfWhatIsDrawnAndRead) {
  const Tensor<float> x = zeros<float>({4, 5});
  const Tensor<Long> i = zeros<Long>({4, 5});
  manual_seed(5);
  const ExportedLibrary own(
      {exported(softmax(dropout(x * 1.0f, 0.5), -1), {.name = "drawn", .numbers = {"draw", "seed"}}),
       exported(sum(x + take_along_dim(x, i, 1), -1), {.name = "read", .in_place = true}),
       exported(x + take_along_dim(x, i, 1), {.name = "same", .in_place = true})},
      {.name = "own", .architectures = {90}});
  using Drawn = int(void*, float*, const float*, Long, Long, Long, Long, void*, std::size_t);
  using Read = int(void*, float*, const float*, const Long*, Long, Long, std::uint32_t*, void*, std::size_t);
  const Tensor<std::int32_t> word = zeros<std::int32_t>({1}).to(gpu0);
  auto* const fault = reinterpret_cast<std::uint32_t*>(word.data());
  for (const auto& [m, n] : std::vector<std::array<Long, 2>>{{3, 5}, {7, 64}, {2, 700}}) {
    const Tensor<float> hx = randn<float>({m, n}), gx = hx.to(gpu0), host = zeros<float>({m, n}), out = host.to(gpu0);
    manual_seed(21);
    const Tensor<float> expected = softmax(dropout(hx * 1.0f, 0.5), -1);
    ASSERT_EQ(own.get<Drawn>("drawn_launch")(nullptr, out.data(), gx.data(), m, n, 0, 21, nullptr, 0), ok);
    EXPECT_TRUE(near(out, expected, 1e-6));
    ASSERT_EQ(
        own.get<int(float*, const float*, Long, Long, Long, Long)>("drawn_cpu")(host.data(), hx.data(), m, n, 0, 21),
        ok);
    EXPECT_TRUE(near(host, expected, 1e-6));
    const Tensor<Long> at = randint(-n, n, {m, n}), gat = at.to(gpu0);
    const Tensor<float> sums = zeros<float>({m}), gsums = sums.to(gpu0),
                        together = sum(hx + take_along_dim(hx, at, 1), -1);
    ASSERT_EQ(own.get<Read>("read_launch")(nullptr, gsums.data(), gx.data(), gat.data(), m, n, fault, nullptr, 0), ok);
    EXPECT_TRUE(near(gsums, together, 1e-4));
    ASSERT_EQ(own.get<int(float*, const float*, const Long*, Long, Long)>("read_cpu")(sums.data(), hx.data(), at.data(),
                                                                                      m, n),
              ok);
    EXPECT_TRUE(near(sums, together, 1e-4));
    EXPECT_EQ(values(word)[0], 0);
    auto* const same = own.get<int(float*, const float*, const Long*, Long, Long)>("same_cpu");
    ASSERT_EQ(same(host.data(), hx.data(), at.data(), m, n), ok);
    EXPECT_TRUE(same_bits(host, Tensor<float>(hx + take_along_dim(hx, at, 1))));
    EXPECT_EQ(same(hx.data(), hx.data(), at.data(), m, n), overlaps);  // other elements may be read later
  }
}

TEST_F(ExportPlacesTest, RefusesOtherWaysOfReading) {
  const auto message = [](const auto& e, ExportOptions options = {}) -> std::string {
    try {
      (void)jit::exporting::make_library({exported(e, options)}, {.architectures = {90}}, text_image);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const Tensor<float> x = zeros<float>({10, 3}), square = zeros<float>({3, 3});
  const Tensor<Long> few = zeros<Long>({5, 2}), i = zeros<Long>({4});
  EXPECT_NE(message(gather(x, 0, few)).find("the extent 2 along axis 1, where what it reads from has 3"),
            std::string::npos);
  EXPECT_NE(message(embedding(x, i), {.inputs = {"w", "i"}, .strided = {"w"}})
                .find("is gathered from, so it must be contiguous"),
            std::string::npos);
  EXPECT_EQ(message(embedding(square, i)), "nothing was thrown");
  EXPECT_NE(message(rand_like(x * 1.0f).transpose(0, 1)).find("it takes a view of elements' positions"),
            std::string::npos);
  EXPECT_NE(message(gather(square, 0, zeros<Long>({1, 1}))).find("Export it with equal ones"), std::string::npos);
  EXPECT_NE(message(embedding(x, i), {.numbers = {"n"}}).find("1 numbers are named, but the expression has 0"),
            std::string::npos);
}

TEST_F(ExportPlacesTest, TakesDlpackTensorsOfIndices) {
  const Tensor<float> weight = zeros<float>({10, 3});
  const Tensor<std::int32_t> ids = zeros<std::int32_t>({4});
  const ExportedLibrary own({exported(embedding(weight, ids), {.name = "own"})},
                            {.name = "own", .architectures = {90}, .dlpack = true});
  const Tensor<float> w = randn<float>({6, 8}), out = zeros<float>({5, 8});
  const Tensor<std::int32_t> i = randint<std::int32_t>(0, 6, {5});
  const DLPack dw = to_dlpack(w), di = to_dlpack(i), dout = to_dlpack(out);
  ASSERT_EQ(own.get<int(const void*, const void*, const void*)>("own_cpu_dlpack")(&dout->dl_tensor, &dw->dl_tensor,
                                                                                  &di->dl_tensor),
            ok);
  EXPECT_TRUE(same_bits(out, Tensor<float>(embedding(w, i))));
}

}  // namespace
}  // namespace sinter::testing
