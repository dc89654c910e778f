// Exported kernels on the available GPU, which may be a real one: its driver, binaries and memory.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "exported.hpp"
#include "runtime/gpus.hpp"

namespace sinter::testing {
namespace {

/// Sinter's context, made current as a program without Sinter would do it.
class ExportDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::virtual_gpus) {
      driver().use_context(0);
    } else {
      if (std::system((c_compiler() + " --version > /dev/null 2>&1").c_str()) != 0)
        GTEST_SKIP() << "there is no C compiler";
      (void)zeros<float>({1}).to(gpu0);
      cuda_ = dlopen("libcuda.so.1", RTLD_NOW);
      void* context = nullptr;
      ASSERT_EQ(call<int(void**, int)>("cuDevicePrimaryCtxRetain", &context, 0), 0);
      ASSERT_EQ(call<int(void*)>("cuCtxSetCurrent", context), 0);
    }
    architecture_ = test::virtual_gpus ? 90 : runtime::gpu(0).architecture();
  }
  template <class F, class... A>
  int call(const char* name, A... a) {
    return reinterpret_cast<F*>(dlsym(cuda_, name))(a...);
  }
  /// Launches go to the default stream, Sinter's work to its own.
  void wait() {
    runtime::gpu(0).synchronize();
    if (!test::virtual_gpus) call<int()>("cuCtxSynchronize");
  }
  ExportedLibrary exporting(const jit::Export& e, bool as_ptx = false) {
    return ExportedLibrary({e},
                           {.name = e.options.name, .architectures = {as_ptx ? 80 : architecture_}, .ptx = as_ptx});
  }

  void* cuda_ = nullptr;
  int architecture_ = 0;
};

TEST_F(ExportDeviceTest, ElementByElement) {
  const Tensor<float> example = zeros<float>({4, 3}), row = zeros<float>({3});
  for (const bool as_ptx : {false, true}) {
    const ExportedLibrary own = exporting(exported(exp(example + 2) * row, {.name = "own"}), as_ptx);
    auto* const launch =
        own.get<int(void*, float*, const float*, const float*, std::int64_t, std::int64_t)>("own_launch");
    for (const std::int64_t n : {1, 64, 1001}) {
      const Tensor<float> x = randn<float>({50, n}).to(gpu0), y = randn<float>({n}).to(gpu0);
      const Tensor<float> out = zeros<float>({50, n}).to(gpu0), expected = exp(x + 2) * y;
      wait();
      ASSERT_EQ(launch(nullptr, out.data(), x.data(), y.data(), 50, n), ok);
      wait();
      EXPECT_TRUE(same_bits(out, expected)) << n;
    }
  }
}

TEST_F(ExportDeviceTest, RowsOfAllLengths) {
  const ExportedLibrary own = exporting(exported(softmax(Tensor<float>(zeros<float>({4, 3})), -1), {.name = "own"}));
  using Launch = int(void*, float*, const float*, std::int64_t, std::int64_t, void*, std::size_t);
  auto* const launch = own.get<Launch>("own_launch");
  auto* const bytes = own.get<std::size_t(std::int64_t, std::int64_t)>("own_workspace_bytes");
  ASSERT_EQ(own.get<int()>("own_load")(), ok);
  for (const auto& [m, n] :
       std::vector<std::array<std::int64_t, 2>>{{3, 7}, {9, 512}, {2, 20000}, {2, 40000}, {1, 100000}}) {
    const Tensor<float> x = randn<float>({m, n}).to(gpu0), out = zeros<float>({m, n}).to(gpu0),
                        expected = softmax(x, -1);
    const Tensor<std::uint8_t> space = zeros<std::uint8_t>({static_cast<std::int64_t>(bytes(m, n)) + 1}).to(gpu0);
    wait();
    ASSERT_EQ(launch(nullptr, out.data(), x.data(), m, n, space.data(), bytes(m, n)), ok);
    wait();
    const std::vector<float> a = values(out), b = values(expected);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-6f * b[i]) << m << " by " << n << ", " << i;
  }
}

}  // namespace
}  // namespace sinter::testing
