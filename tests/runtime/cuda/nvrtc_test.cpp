#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <runtime/cuda/nvrtc.hpp>
#include <runtime/cuda/nvrtc_library.hpp>
#include <sinter/runtime/error.hpp>

namespace {

using namespace sinter::runtime;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

const KernelSource add{"sinter_add", R"(
struct Params { float* out; const float* in; long long n; };
extern "C" __global__ void sinter_add(const __grid_constant__ Params p) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < p.n; i += (long long)gridDim.x * blockDim.x)
    p.out[i] = p.in[i] * p.in[i] + 1.f;
}
)"};

class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      nvrtc();
    } catch (const sinter::DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

TEST_F(Nvrtc, CubinsForOldAndNewArchitectures) {
  for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_120"}) {
    const std::string cubin = nvrtc_compile(add, architecture);
    EXPECT_EQ(cubin.substr(0, 4),
              "\x7f"
              "ELF")
        << architecture;
    EXPECT_THAT(cubin, HasSubstr("sinter_add"));
    EXPECT_EQ(nvrtc_compile(add, architecture), cubin) << "not reproducible";
  }
}

TEST_F(Nvrtc, Ptx) {
  const std::string ptx = nvrtc_compile(add, "compute_90");
  EXPECT_THAT(ptx,
              AllOf(HasSubstr(".target sm_90"), HasSubstr(".visible .entry sinter_add"), Not(HasSubstr("fma.rn"))));
  EXPECT_EQ(ptx.find('\0'), std::string::npos);
}

TEST_F(Nvrtc, ReportsRegistersAndSpills) {
  const KernelReport plain = nvrtc_report(add, "sm_90");
  EXPECT_GT(plain.registers, 4) << plain.log;
  EXPECT_LT(plain.registers, 64);
  EXPECT_EQ(plain.spill_stores + plain.spill_loads + plain.stack + plain.shared, 0) << plain.log;

  const KernelSource heavy{"heavy", R"(
extern "C" __global__ void __launch_bounds__(1024) heavy(double* x, int n) {
  __shared__ float s[100];
  s[threadIdx.x % 100] = n;
  __syncthreads();
  double a[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) a[i] = x[i * n + threadIdx.x];
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i + 1) % 64] + s[k % 100];
#pragma unroll
  for (int i = 0; i < 64; ++i) x[i * n + threadIdx.x] = a[i];
}
)"};
  const KernelReport spilled = nvrtc_report(heavy, "sm_90");
  EXPECT_GT(spilled.spill_stores, 0) << spilled.log;
  EXPECT_GT(spilled.spill_loads, 0);
  EXPECT_EQ(spilled.shared, 400);
}

TEST_F(Nvrtc, ErrorsCarryLogAndNumberedSource) {
  try {
    nvrtc_compile({"broken", "extern \"C\" __global__ void broken(float* x) {\n  x[0] = y;\n}\n"}, "sm_90");
    FAIL() << "compiled";
  } catch (const sinter::CompileError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("rejects kernel broken for sm_90"), HasSubstr("broken.cu(2): error"),
                                HasSubstr("\"y\" is undefined"), HasSubstr("    2 |   x[0] = y;")));
    EXPECT_THAT(e.log(), HasSubstr("undefined"));
    EXPECT_THAT(e.source(), HasSubstr("__global__"));
  }
}

TEST_F(Nvrtc, ArchitecturesThatAreNone) {
  for (const char* name :
       {"", "sm_", "sm90", "90", "compute_", "sm_9", "sm_ninety", "sm_90 ", "sm_90abc", "SM_90", "sm_-90"})
    EXPECT_THAT([&] { nvrtc_compile(add, name); }, ThrowsMessage<sinter::DeviceError>(HasSubstr("\"sm_90\""))) << name;
  EXPECT_THAT([] { nvrtc_compile(add, "sm_35"); },
              ThrowsMessage<sinter::DeviceError>(AllOf(HasSubstr("sm_35"), HasSubstr("sm_90"))));
  EXPECT_NO_THROW(nvrtc_compile(add, "sm_90a"));
}

TEST_F(Nvrtc, DeepExpressionsDoNotOverflowTheCallersStack) {
  constexpr int depth = 200;
  std::string text = "extern \"C\" __global__ void deep(float* x) { x[0] = ";
  for (int i = 0; i < depth; ++i) text += "(x[1] + ";
  text += "x[2]" + std::string(depth, ')') + "; }";
  EXPECT_NO_THROW(nvrtc_compile({"deep", text}, "compute_90"));
}

TEST_F(Nvrtc, ThreadsCompileTogether) {
  const std::string expected = nvrtc_compile(add, "sm_80");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(nvrtc_compile(add, "sm_80"), expected);
        EXPECT_THROW(nvrtc_compile({"bad", "bad" + std::to_string(t)}, "sm_80"), sinter::CompileError);
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST_F(Nvrtc, DebuggingWritesTheLogAndMarksTheBinary) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // the variable is read once
  EXPECT_EXIT(
      {
        setenv("SINTER_CUDA_DEBUG", "1", 1);
        const std::string cubin = nvrtc_compile(add, "sm_90");
        const bool lines = cubin.find(".debug_line") != std::string::npos;
        std::_Exit(lines && nvrtc_tag(90).find("-lineinfo") != std::string::npos ? 5 : 1);
      },
      ::testing::ExitedWithCode(5), "registers");
}

TEST_F(Nvrtc, TagNamesAllThatABinaryDependsOn) {
  EXPECT_THAT(nvrtc_tag(90),
              ::testing::MatchesRegex("sm_90 cuda [0-9]+\\.[0-9]+ nvrtc [0-9a-f]+ --std=.*--fmad=false.*"));
}

TEST(NvrtcTarget, TheDevicesOwnOrTheNewestPtx) {
  const std::vector<int> known{75, 80, 86, 89, 90, 100, 103, 120};
  EXPECT_EQ(nvrtc_target(90, known, true), "sm_90");
  EXPECT_EQ(nvrtc_target(90, known, false), "sm_90");
  EXPECT_EQ(nvrtc_target(75, known, true), "sm_75");
  EXPECT_EQ(nvrtc_target(130, known, true), "compute_120");
  EXPECT_EQ(nvrtc_target(88, known, true), "compute_86");
  EXPECT_EQ(nvrtc_target(121, known, false), "sm_120");
  EXPECT_EQ(nvrtc_target(130, {}, true), "sm_130");  // an NVRTC that cannot say
  EXPECT_THAT([&] { nvrtc_target(70, known, true); },
              ThrowsMessage<sinter::DeviceError>(AllOf(HasSubstr("sm_70"), HasSubstr("sm_75, sm_80"))));
  EXPECT_THAT([&] { nvrtc_target(130, known, false); }, ThrowsMessage<sinter::DeviceError>(HasSubstr("update")));
}

}  // namespace
