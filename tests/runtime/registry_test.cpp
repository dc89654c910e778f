// What there is, and what an error says of it. The answer is fixed once per process, so each case is a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include <runtime/registry.hpp>
#include <sinter/runtime/error.hpp>

namespace {

using sinter::Device;
using sinter::runtime::backend;
using sinter::runtime::parse_virtual_gpus;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Registry, NumbersOfVirtualGpus) {
  EXPECT_EQ(parse_virtual_gpus("1"), 1);
  EXPECT_EQ(parse_virtual_gpus("64"), 64);
  for (const char* value : {"", "0", "65", "-1", "2x", " 2", "2 ", "two", "1e1", "99999999999999999999", "+2", "2.0"})
    EXPECT_THAT([&] { parse_virtual_gpus(value); }, ThrowsMessage<sinter::DeviceError>(HasSubstr("1 to 64"))) << value;
}

TEST(Registry, OneBackendForEachDevice) {
  std::vector<sinter::runtime::Backend*> seen(8);
  std::vector<std::thread> threads;
  for (auto& slot : seen) threads.emplace_back([&slot] { slot = &backend(sinter::try_gpu()); });
  for (std::thread& t : threads) t.join();
  for (const auto* b : seen) EXPECT_EQ(b, &backend(sinter::try_gpu()));
  EXPECT_EQ(backend(sinter::cpu).device(), Device());
  EXPECT_EQ(sinter::runtime::started_backend(sinter::cpu), &backend(sinter::cpu));
}

/// Runs `use` with an environment, prints the error that it gives and exits with 7.
template <class F>
[[noreturn]] void report(const char* virtual_gpus, const char* driver, F use) {
  if (virtual_gpus)
    setenv("SINTER_VIRTUAL_GPUS", virtual_gpus, 1);
  else
    unsetenv("SINTER_VIRTUAL_GPUS");
  setenv("SINTER_CUDA_DRIVER", driver, 1);
  try {
    use();
  } catch (const sinter::DeviceError& e) {
    std::cerr << "DeviceError " << e.what() << std::endl;
    std::_Exit(7);
  } catch (const std::exception& e) {
    std::cerr << "another error: " << e.what() << std::endl;
  }
  std::_Exit(0);
}

constexpr const char* nowhere = "/nonexistent/libcuda.so.1";

class Missing : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};
using MissingDeathTest = Missing;

TEST_F(MissingDeathTest, NoDriverSaysWhatWasSearchedAndWhatHelps) {
  const auto said = ::testing::ExitedWithCode(7);
  EXPECT_EXIT(report(nullptr, nowhere, [] { backend(Device(7)); }), said,
              "CUDA error: invalid device ordinal: cuda:7 was requested, but there is no GPU: no CUDA driver was found "
              ".searched: /nonexistent/libcuda.so.1.*SINTER_VIRTUAL_GPUS=2");
  EXPECT_EXIT(report(nullptr, nowhere, [] { sinter::set_device(0); }), said, "invalid device ordinal: cuda:0");
  EXPECT_EXIT(report(nullptr, nowhere, [] { sinter::device_name(-3); }), said, "invalid device ordinal: cuda:-3");
  EXPECT_EXIT(report(nullptr, nowhere, [] { sinter::runtime::gpu(1000000); }), said, "ordinal: cuda:1000000");
  EXPECT_EXIT(report(nullptr, nowhere, [] { sinter::memory_info(Device(32767)); }), said, "ordinal: cuda:32767");
  EXPECT_EXIT(report(nullptr, nowhere, [] { backend(Device(sinter::cuda<-7>)); }), said, "ordinal: cuda:-7");
}

TEST_F(MissingDeathTest, SomethingElseThanADriver) {
  EXPECT_EXIT(report(nullptr, "libm.so.6", [] { backend(Device(0)); }), ::testing::ExitedWithCode(7),
              "the CUDA driver .* cannot be used: it has no function cuInit, and CUDA 12.1 or newer is needed");
}

TEST_F(MissingDeathTest, VirtualGpusAreCounted) {
  EXPECT_EXIT(report("2", nowhere, [] { backend(Device(7)); }), ::testing::ExitedWithCode(7),
              "invalid device ordinal: cuda:7 was requested, but there are 2 virtual GPUs, cuda:0 to cuda:1");
  EXPECT_EXIT(report("1", nowhere, [] { sinter::set_device(1); }), ::testing::ExitedWithCode(7),
              "there is one virtual GPU, cuda:0");
}

TEST_F(MissingDeathTest, AnUnreadableNumberNeverThrowsWhereNothingMay) {
  EXPECT_EXIT(report("many", nowhere, [] { backend(Device(0)); }), ::testing::ExitedWithCode(7),
              "SINTER_VIRTUAL_GPUS=\"many\" is not valid: expected the number of virtual GPUs, 1 to 64");
  EXPECT_EXIT(report("many", nowhere,
                     [] {
                       const bool ok = !sinter::cuda_is_available() && sinter::device_count() == 0 &&
                                       sinter::try_gpu() == Device() && sinter::try_all_gpus().size() == 1;
                       backend(Device()).synchronize();
                       std::_Exit(ok ? 3 : 4);
                     }),
              ::testing::ExitedWithCode(3), "");
}

}  // namespace
