#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include <sinter/runtime/device.hpp>
#include <sinter/runtime/error.hpp>

#include "gpus.hpp"

namespace {

using sinter::Device;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Device, TagsAreConstant) {
  constexpr Device c = sinter::cpu, g = sinter::cuda<2>;
  static_assert(c.is_cpu() && !c.is_cuda() && c == Device());
  static_assert(g.is_cuda() && g.index() == 2 && g != c);
  EXPECT_EQ(Device(sinter::cuda<>), Device(0));
}

TEST(Device, NamesAreReadAndWritten) {
  EXPECT_EQ(Device("cpu"), Device(sinter::cpu));
  EXPECT_EQ(Device("cpu:0"), Device(sinter::cpu));
  EXPECT_EQ(Device("cuda"), Device("cuda:0"));
  EXPECT_EQ(Device("cuda:0"), Device(sinter::cuda<0>));
  EXPECT_EQ(Device(std::string("cuda:12")), Device(12));
  EXPECT_EQ(Device(std::string_view("cuda:32767")).index(), 32767);
  for (const char* name : {"cpu", "cuda:0", "cuda:12", "cuda:32767"}) EXPECT_EQ(to_string(Device(name)), name);
}

TEST(Device, EverythingElseIsRefusedWithWhatIsAccepted) {
  using namespace std::string_literals;
  for (const std::string& name : {"gpu"s,
                                  "cuda:"s,
                                  "cuda:-1"s,
                                  "cuda:1x"s,
                                  "cuda: 1"s,
                                  ""s,
                                  "cuda:99999999999"s,
                                  "cuda:32768"s,
                                  "CUDA"s,
                                  "Cpu"s,
                                  "cuda:01"s,
                                  "cuda:00"s,
                                  "cuda:+1"s,
                                  "cuda:0x1"s,
                                  "cuda0"s,
                                  "cuda::0"s,
                                  "cpu:1"s,
                                  " cpu"s,
                                  "cpu "s,
                                  "cuda:1\n"s,
                                  "cpu\0"s,
                                  "cuda:1\0"s,
                                  "\xff\xfe"s,
                                  std::string(100000, 'a')})
    EXPECT_THAT([&] { (void)Device(name); },
                ThrowsMessage<sinter::DeviceError>(
                    AllOf(HasSubstr("\"cpu\""), HasSubstr("\"cuda:N\""), ::testing::SizeIs(::testing::Lt(300u)))))
        << name;
  EXPECT_THAT([] { (void)Device("g\n\"p"); }, ThrowsMessage<sinter::DeviceError>(HasSubstr("g\\x0a\"p")));
}

TEST(Device, IndicesOutsideTheRangeAreRefused) {
  EXPECT_EQ(Device(32767).index(), 32767);
  for (const int index : {-1, -32768, 32768, 65536, 2147483647})
    EXPECT_THAT([&] { (void)Device(index); }, ThrowsMessage<sinter::DeviceError>(HasSubstr(std::to_string(index))));
  for (const std::size_t index : {std::size_t(1) << 32, std::size_t(1) << 63, ~std::size_t(0)})
    EXPECT_THROW(Device{index}, sinter::DeviceError) << index;
  EXPECT_THROW(Device(-1LL << 32), sinter::DeviceError);
}

TEST(Device, OrdinalsAreIntegers) {
  EXPECT_EQ(Device(std::size_t(3)), Device(3));
  EXPECT_EQ(Device(short(3)), Device(3));
  static_assert(std::is_convertible_v<unsigned, Device>);
  static_assert(!std::is_constructible_v<Device, bool>);
  static_assert(!std::is_constructible_v<Device, double>);
  static_assert(!std::is_constructible_v<Device, float>);
}

TEST(Device, NeverComesFromANullPointer) { static_assert(!std::is_constructible_v<Device, std::nullptr_t>); }

TEST(Device, TheCurrentOneIsPerThread) {
  if (sinter::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  sinter::set_device(1);
  EXPECT_EQ(Device(sinter::cuda<>), Device(1));
  std::thread([] {
    EXPECT_EQ(sinter::current_device(), 0);
    sinter::set_device(1);
    sinter::set_device(0);
  }).join();
  EXPECT_EQ(sinter::current_device(), 1);
  sinter::set_device(0);
}

TEST(Device, TryGpuFallsBackToTheCpu) {
  const int count = sinter::device_count();
  EXPECT_EQ(sinter::cuda_is_available(), count > 0);
  EXPECT_EQ(sinter::try_gpu(), count ? Device(0) : Device());
  for (const int index : {-1, count, 100000, -2147483647 - 1}) EXPECT_EQ(sinter::try_gpu(index), Device()) << index;
  const auto all = sinter::try_all_gpus();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(std::max(count, 1)));
  EXPECT_EQ(all[0], sinter::try_gpu());
}

TEST(Device, FactsOfEveryDevice) {
  EXPECT_GT(sinter::memory_info(sinter::cpu).total, sinter::memory_info(sinter::cpu).free);
  EXPECT_NO_THROW(sinter::synchronize(sinter::cpu));
  for (int index = 0; index < sinter::device_count(); ++index) {
    EXPECT_FALSE(sinter::device_name(index).empty());
    EXPECT_GE(sinter::memory_info(Device(index)).total, sinter::memory_info(Device(index)).free);
    EXPECT_GE(sinter::compute_capability(index).major, 5);
    sinter::synchronize(Device(index));
  }
  sinter::synchronize();
}

}  // namespace
