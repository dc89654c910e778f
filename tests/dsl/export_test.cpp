// Exported elementwise kernels, on the CPU and on virtual GPUs, and what they reject.
#include <sinter/dsl/export.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "exported.hpp"

namespace sinter::testing {
namespace {

using Fused = int(void*, float*, const float*, const float*, std::int64_t, std::int64_t);
using FusedCpu = int(float*, const float*, const float*, std::int64_t, std::int64_t);
using ErrorText = const char*(int);

class ExportTest : public ExportedTest {};

const ExportedLibrary& fused() {
  static const auto* const library = [] {
    const Tensor<float> z = zeros<float>({3}), y = zeros<float>({3});
    ExportOptions options{
        .name = "fused", .inputs = {"z", "y"}, .outputs = {"out"}, .sizes = {{"n"}}, .numbers = {"shift"}};
    return new ExportedLibrary(exported((z + 2) * y - z, options));
  }();
  return *library;
}

TEST_F(ExportTest, ComputesWhatTheLibraryComputesForEverySizeAndAlignment) {
  auto* const launch = fused().get<Fused>("fused_launch");
  auto* const on_cpu = fused().get<FusedCpu>("fused_cpu");
  for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 1000, 4097})
    for (const std::int64_t offset : {0, 1}) {
      const Tensor<float> hz = randn<float>({n + 1}), hy = randn<float>({n + 1});
      const Tensor<float> z = hz.to(gpu0), y = hy.to(gpu0);
      const Tensor<float> host = zeros<float>({n + 1}), out = host.to(gpu0), expected = zeros<float>({n + 1}).to(gpu0);
      const Tensor<float> za = z.slice(0, offset, offset + n), ya = y.slice(0, offset, offset + n);
      evaluate(into(expected.slice(0, offset, offset + n), (za + 5) * ya - za));
      ASSERT_EQ(launch(nullptr, out.data() + offset, z.data() + offset, y.data() + offset, n, 5), ok);
      EXPECT_TRUE(same_bits(out, expected)) << n << " at " << offset;
      ASSERT_EQ(on_cpu(host.data() + offset, hz.data() + offset, hy.data() + offset, n, 5), ok);
      EXPECT_TRUE(same_bits(host, expected)) << n << " at " << offset;
    }
}

TEST_F(ExportTest, PicksVectorsWhereTheyAreAligned) {
  auto* const launch = fused().get<Fused>("fused_launch");
  const Tensor<float> z = zeros<float>({64}).to(gpu0), y = zeros<float>({64}).to(gpu0),
                      out = zeros<float>({64}).to(gpu0);
  ASSERT_EQ(launch(nullptr, out.data(), z.data(), y.data(), 63, 2), ok);
  EXPECT_NE(std::strstr(driver().last_source(), "Vec<float, 4>"), nullptr);
  ASSERT_EQ(launch(nullptr, out.data() + 1, z.data() + 1, y.data(), 63, 2), ok);
  EXPECT_EQ(std::strstr(driver().last_source(), "Vec<"), nullptr);
}

TEST_F(ExportTest, CountsIn64BitsFrom2To31On) {
  auto* const launch = fused().get<Fused>("fused_launch");
  const Tensor<float> z = zeros<float>({64}).to(gpu0), out = zeros<float>({64}).to(gpu0);
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  for (const std::int64_t n : {limit - 4, limit, limit + 1}) {
    float* const far = out.data() + 2 * limit;  // not valid memory, which the virtual GPU reports
    EXPECT_EQ(launch(nullptr, far, z.data(), z.data(), n, 2), driver_error + 719);
    EXPECT_EQ(std::strstr(driver().last_source(), "const unsigned long long threads") != nullptr, n >= limit) << n;
  }
}

TEST_F(ExportTest, ChecksItsArguments) {
  auto* const launch = fused().get<Fused>("fused_launch");
  auto* const on_cpu = fused().get<FusedCpu>("fused_cpu");
  std::vector<float> z(16, 1.0f), y(16, 2.0f), out(16);
  const int launches = driver().launches();
  const auto both = [&](float* o, const float* a, const float* b, std::int64_t n) {
    const int code = launch(nullptr, o, a, b, n, 2);
    EXPECT_EQ(on_cpu(o, a, b, n, 2), code);
    return code;
  };
  EXPECT_EQ(both(nullptr, z.data(), y.data(), 8), null_pointer);
  EXPECT_EQ(both(out.data(), z.data(), nullptr, 8), null_pointer);
  EXPECT_EQ(both(out.data(), z.data(), y.data(), -1), bad_size);
  EXPECT_EQ(both(out.data(), z.data(), y.data(), INT64_MIN), bad_size);
  EXPECT_EQ(both(out.data(), z.data(), y.data(), INT64_MAX), bad_size);
  EXPECT_EQ(both(out.data(), z.data(), y.data(), INT64_MAX / 4), bad_size);
  const auto* const odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(z.data()) + 1);
  EXPECT_EQ(both(out.data(), odd, y.data(), 4), misaligned);
  EXPECT_EQ(both(z.data(), z.data(), y.data(), 8), overlaps);
  EXPECT_EQ(both(z.data() + 7, z.data(), y.data(), 8), overlaps);
  EXPECT_EQ(both(nullptr, nullptr, nullptr, 0), ok);  // nothing to do
  EXPECT_EQ(driver().launches(), launches);
}

TEST_F(ExportTest, ExplainsItsCodes) {
  auto* const text = fused().get<ErrorText>("fused_error_text");
  EXPECT_STREQ(text(0), "no error");
  EXPECT_NE(std::strstr(text(null_pointer), "null"), nullptr);
  for (const int code : {-1, 14, 999, INT32_MAX, INT32_MIN}) EXPECT_NE(text(code), nullptr) << code;
  EXPECT_EQ(fused().get<int()>("fused_abi_version")(), export_abi_version);
}

TEST_F(ExportTest, HandsOnWhatTheDriverReports) {
  const ExportedLibrary own(exported(zeros<float>({3}) * 3.0f, {.name = "own", .outputs = {"out"}}));
  auto* const launch = own.get<int(void*, float*, const float*, std::int64_t)>("own_launch");
  auto* const text = own.get<ErrorText>("own_error_text");
  const Tensor<float> x = ones<float>({8}).to(gpu0), out = zeros<float>({8}).to(gpu0);
  const auto go = [&] { return launch(nullptr, out.data(), x.data(), 8); };
  driver().use_context(-1);
  EXPECT_EQ(go(), no_context);
  EXPECT_NE(std::strstr(text(no_context), "context"), nullptr);
  driver().use_context(0);
  driver().fail("cuModuleLoadData", 2);
  EXPECT_EQ(go(), out_of_memory);
  driver().fail("cuModuleLoadData", 209);
  EXPECT_EQ(go(), wrong_architecture);
  driver().fail("cuModuleGetFunction", 500);
  EXPECT_EQ(go(), driver_error + 500);
  EXPECT_STREQ(text(driver_error + 500), "as the stand-in was told");
  driver().fail("cuLaunchKernel", 701);
  EXPECT_EQ(go(), driver_error + 701);
  driver().fail("cuLaunchKernel", 2);
  EXPECT_EQ(go(), out_of_memory);
  driver().fail(nullptr, 0);
  EXPECT_EQ(go(), ok);  // nothing of it remains
  EXPECT_TRUE(same_bits(out, Tensor<float>(x * 3.0f)));
}

TEST_F(ExportTest, SaysThatItIsForOtherGpus) {
  const Tensor<float> x = ones<float>({8}).to(gpu0), out = zeros<float>({8}).to(gpu0);
  const auto code = [&](int major, int minor, std::vector<int> architectures, bool ptx) {
    const ExportedLibrary own({exported(x * 3.0f, {.name = "own"})},
                              {.name = "own", .architectures = architectures, .ptx = ptx});
    driver().set_architecture(major, minor);
    return own.get<int(void*, float*, const float*, std::int64_t)>("own_launch")(nullptr, out.data(), x.data(), 8);
  };
  EXPECT_EQ(code(9, 0, {90}, false), ok);
  EXPECT_EQ(code(8, 9, {80}, false), ok);
  EXPECT_EQ(code(8, 0, {89}, false), wrong_architecture);
  EXPECT_EQ(code(10, 0, {80, 90}, false), wrong_architecture);
  EXPECT_EQ(code(10, 0, {80, 90}, true), ok);
  EXPECT_EQ(code(7, 5, {80, 90}, true), wrong_architecture);
}

TEST_F(ExportTest, LoadsOnceForEachContext) {
  const ExportedLibrary own(exported(zeros<float>({3}) - 1.0f, {.name = "own"}));
  auto* const launch = own.get<int(void*, float*, const float*, std::int64_t)>("own_launch");
  const int before = driver().modules_loaded();
  for (const int device : {0, 1, 0, 1}) {
    const Device gpu(fmt::format("cuda:{}", device));
    const Tensor<float> x = ones<float>({100}).to(gpu), out = zeros<float>({100}).to(gpu);
    driver().use_context(device);
    ASSERT_EQ(launch(nullptr, out.data(), x.data(), 100), ok);
    EXPECT_TRUE(same_bits(out, Tensor<float>(x - 1.0f)));
  }
  EXPECT_EQ(driver().modules_loaded(), before + 2);
  driver().use_context(0, 1);  // another context at the same address
  const Tensor<float> x = ones<float>({100}).to(gpu0), out = zeros<float>({100}).to(gpu0);
  ASSERT_EQ(launch(nullptr, out.data(), x.data(), 100), ok);
  EXPECT_EQ(driver().modules_loaded(), before + 3);
  ASSERT_EQ(own.get<int()>("own_load")(), ok);  // all four variants
  EXPECT_EQ(driver().modules_loaded(), before + 6);
  ASSERT_EQ(launch(nullptr, out.data() + 1, x.data() + 1, 99), ok);
  EXPECT_EQ(driver().modules_loaded(), before + 6);
}

TEST_F(ExportTest, ManyThreadsLaunch) {
  const ExportedLibrary own(exported(zeros<float>({3}) + 1.0f, {.name = "own"}));
  auto* const launch = own.get<int(void*, float*, const float*, std::int64_t)>("own_launch");
  const int before = driver().modules_loaded();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      driver().use_context(t % 2);
      const Device gpu(fmt::format("cuda:{}", t % 2));
      const Tensor<float> x = full<float>({64}, float(t)).to(gpu), out = zeros<float>({64}).to(gpu);
      for (int i = 0; i < 50; ++i) wrong += launch(nullptr, out.data(), x.data(), 64) != ok;
      wrong += !same_bits(out, Tensor<float>(x + 1.0f));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(driver().modules_loaded(), before + 2);
}

TEST_F(ExportTest, BroadcastsAndJoinsSizes) {
  const Tensor<float> a = zeros<float>({6, 5, 4}), b = zeros<float>({5, 1}), c = zeros<float>({4});
  const ExportedLibrary own(
      exported(a * b + c, {.name = "own", .inputs = {"a", "b", "c"}, .sizes = {{"k", "m"}, {"m"}, {"n"}}}));
  using Launch = int(void*, float*, const float*, const float*, const float*, std::int64_t, std::int64_t, std::int64_t);
  using OnCpu = int(float*, const float*, const float*, const float*, std::int64_t, std::int64_t, std::int64_t);
  EXPECT_THAT(own.library.kernels[0].sizes->names(), ::testing::ElementsAre("k", "m", "n"));
  for (const auto& [k, m, n] :
       std::vector<std::array<std::int64_t, 3>>{{2, 3, 4}, {1, 1, 1}, {7, 1, 8}, {1, 33, 5}, {3, 4, 64}, {2, 0, 3}}) {
    const Tensor<float> ha = randn<float>({k, m, n}), hb = randn<float>({m, 1}), hc = randn<float>({n});
    const Tensor<float> ga = ha.to(gpu0), gb = hb.to(gpu0), gc = hc.to(gpu0);
    const Tensor<float> host = zeros<float>({k, m, n}), out = host.to(gpu0);
    ASSERT_EQ(own.get<Launch>("own_launch")(nullptr, out.data(), ga.data(), gb.data(), gc.data(), k, m, n), ok);
    EXPECT_TRUE(same_bits(out, Tensor<float>(ga * gb + gc)));
    ASSERT_EQ(own.get<OnCpu>("own_cpu")(host.data(), ha.data(), hb.data(), hc.data(), k, m, n), ok);
    EXPECT_TRUE(same_bits(host, Tensor<float>(ha * hb + hc)));
  }
}

TEST_F(ExportTest, TakesStrides) {
  const Tensor<float> a = zeros<float>({6, 5}), b = zeros<float>({6, 5});
  const ExportedLibrary own(exported(a * 2.0f - b, {.name = "own", .inputs = {"a", "b"}, .strided = {"a"}}));
  using Launch = int(void*, float*, const float*, const std::int64_t*, const float*, std::int64_t, std::int64_t);
  using OnCpu = int(float*, const float*, const std::int64_t*, const float*, std::int64_t, std::int64_t);
  const Tensor<float> memory = randn<float>({64, 64}), gpu_memory = memory.to(gpu0);
  const auto check = [&](std::int64_t first, std::int64_t m, std::int64_t n, std::int64_t outer, std::int64_t inner) {
    const std::int64_t strides[] = {outer, inner};
    const Tensor<float> hb = randn<float>({m, n}), gb = hb.to(gpu0), host = zeros<float>({m, n}), out = host.to(gpu0);
    ASSERT_EQ(own.get<Launch>("own_launch")(nullptr, out.data(), gpu_memory.data() + first, strides, gb.data(), m, n),
              ok);
    ASSERT_EQ(own.get<OnCpu>("own_cpu")(host.data(), memory.data() + first, strides, hb.data(), m, n), ok);
    EXPECT_TRUE(same_bits(host, out));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        ASSERT_EQ(host.data()[i * n + j], memory.data()[first + i * outer + j * inner] * 2.0f - hb.data()[i * n + j]);
  };
  check(0, 8, 12, 12, 1);    // contiguous
  check(0, 8, 12, 64, 1);    // padded: vectors
  check(0, 8, 12, 61, 1);    // rows that are misaligned
  check(1, 8, 12, 64, 1);    // and misaligned
  check(0, 8, 12, 1, 64);    // transposed
  check(100, 8, 12, -5, 3);  // backwards
  check(70, 8, 12, 0, 1);    // one row for all
  check(0, 1, 1, 1000000, 7);
  const std::int64_t huge[] = {INT64_MAX / 2, 1};
  EXPECT_EQ(own.get<OnCpu>("own_cpu")(memory.data(), memory.data(), huge, memory.data(), 8, 8), bad_size);
}

TEST_F(ExportTest, WritesInPlaceWhereThatWasAskedFor) {
  const Tensor<float> a = zeros<float>({6, 5}), b = zeros<float>({5});
  const ExportedLibrary own(exported(a * 2.0f - b, {.name = "own", .in_place = true}));
  using Launch = int(void*, float*, const float*, const float*, std::int64_t, std::int64_t);
  const Tensor<float> x = randn<float>({6, 5}).to(gpu0), y = randn<float>({5}).to(gpu0), expected = x * 2.0f - y;
  auto* const launch = own.get<Launch>("own_launch");
  ASSERT_EQ(launch(nullptr, x.data(), x.data(), y.data(), 6, 5), ok);
  EXPECT_TRUE(same_bits(x, expected));
  EXPECT_EQ(launch(nullptr, x.data(), x.data() + 1, y.data(), 5, 5), overlaps);
  EXPECT_EQ(launch(nullptr, x.data(), x.data(), x.data(), 6, 5), overlaps);  // a row that all rows read
}

TEST_F(ExportTest, ReportsDivisionByZero) {
  const Tensor<std::int32_t> a = ones<std::int32_t>({6}), b = ones<std::int32_t>({6});
  const ExportedLibrary own(exported(floor_divide(a, b), {.name = "own"}));
  using Launch = int(void*, std::int32_t*, const std::int32_t*, const std::int32_t*, std::int64_t, std::uint32_t*);
  using OnCpu = int(std::int32_t*, const std::int32_t*, const std::int32_t*, std::int64_t);
  const Tensor<std::int32_t> x = full<std::int32_t>({6}, -7), y = full<std::int32_t>({6}, 2),
                             out = zeros<std::int32_t>({6});
  EXPECT_EQ(own.get<OnCpu>("own_cpu")(out.data(), x.data(), y.data(), 6), ok);
  EXPECT_EQ(out.data()[5], -4);
  const Tensor<std::int32_t> word = zeros<std::int32_t>({1}).to(gpu0), gx = x.to(gpu0), gout = out.to(gpu0);
  auto* const fault = reinterpret_cast<std::uint32_t*>(word.data());
  auto* const launch = own.get<Launch>("own_launch");
  ASSERT_EQ(launch(nullptr, gout.data(), gx.data(), y.to(gpu0).data(), 6, fault), ok);
  EXPECT_EQ(values(word)[0], 0);
  y.data()[3] = 0;
  EXPECT_EQ(own.get<OnCpu>("own_cpu")(out.data(), x.data(), y.data(), 6), division_by_zero);
  ASSERT_EQ(launch(nullptr, gout.data(), gx.data(), y.to(gpu0).data(), 6, fault), ok);
  EXPECT_EQ(values(word)[0], 1);
  EXPECT_EQ(launch(nullptr, gout.data(), gx.data(), gx.data(), 6, nullptr), null_pointer);
  auto* const odd = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(fault) + 2);
  EXPECT_EQ(launch(nullptr, gout.data(), gx.data(), gx.data(), 6, odd), misaligned);
}

TEST_F(ExportTest, RefusesWhatItCannotExport) {
  const Tensor<float> a = ones<float>({4, 4});
  const auto message = [](auto&& make) -> std::string {
    try {
      make();
    } catch (const Error& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  const auto exporting = [&](const auto& e, ExportOptions options) {
    return message([&] { jit::exporting::make_library({exported(e, options)}, {.architectures = {90}}, text_image); });
  };
  EXPECT_NE(exporting(matmul(a, a), {}).find("multiplies matrices"), std::string::npos);
  EXPECT_NE(exporting(a + 1, {.name = "no name"}).find("not a valid name"), std::string::npos);
  EXPECT_NE(exporting(a + 1, {.name = "while"}).find("reserved"), std::string::npos);
  EXPECT_NE(exporting(a + 1, {.inputs = {"x", "z"}}).find("2 inputs are named"), std::string::npos);
  EXPECT_NE(exporting(a + 1, {.inputs = {"out"}}).find("two of its parameters are called out"), std::string::npos);
  EXPECT_NE(exporting(a + 1, {.inputs = {"memset"}}).find("\"memset\" is reserved"), std::string::npos);
  for (const char* const own : {"own_run", "own_run_on_cpu", "own_find_workspace", "own_dlpack", "own_arguments"}) {
    EXPECT_NE(exporting(a + 1, {.name = "own", .inputs = {own}}).find("reserved for its own functions"),
              std::string::npos)
        << own;
    EXPECT_NE(exporting(a + 1, {.name = "own", .sizes = {{own}}}).find("reserved for its own functions"),
              std::string::npos)
        << own;
  }
  EXPECT_NE(exporting(a + 1, {.sizes = {{"5"}}}).find("is to stay 5, but its extent is 4"), std::string::npos);
  EXPECT_NE(exporting(a + 1, {.sizes = {{"n", "m", "k"}}}).find("3 sizes are named"), std::string::npos);
  EXPECT_NE(exporting(a + 1, {.numbers = {"p", "q"}}).find("2 numbers are named"), std::string::npos);
  EXPECT_NE(exporting(a + 1, {.strided = {"q"}}).find("there is no such input"), std::string::npos);
  EXPECT_NE(message([&] { jit::export_library({}, {}); }).find("no kernels"), std::string::npos);
  EXPECT_NE(message([&] { jit::export_library({exported(a + 1), exported(a + 2)}, {}); }).find("two kernels"),
            std::string::npos);
}

}  // namespace
}  // namespace sinter::testing
