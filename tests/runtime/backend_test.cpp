// Memory and copies, the same for every device there is: the CPU, virtual GPUs, GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>

#include "devices.hpp"
#include "gpus.hpp"

namespace {

using sinter::Device;
using sinter::runtime::Backend;
using sinter::runtime::backend;

constexpr std::size_t sizes[] = {1,    31,   32,   33,   255,   256,   257,    1023,   1024,
                                 1025, 8191, 8192, 8193, 65535, 65537, 999999, 9437187};  // bytes

std::vector<std::uint8_t> noise(std::size_t bytes, unsigned seed) {
  std::vector<std::uint8_t> v(bytes);
  std::minstd_rand random(seed);
  for (std::uint8_t& x : v) x = static_cast<std::uint8_t>(random() >> 8);
  return v;
}

TEST(Backend, NamesAndMemory) {
  for (const Device d : sinter::test::all_devices()) {
    EXPECT_EQ(backend(d).device(), d);
    EXPECT_FALSE(backend(d).name().empty());
    EXPECT_LE(backend(d).memory().free, backend(d).memory().total);
  }
}

TEST(Backend, BytesComeBackAsTheyWent) {
  for (const Device d : sinter::test::all_devices()) {
    Backend& b = backend(d);
    for (const std::size_t n : sizes) {
      SCOPED_TRACE(to_string(d) + ", bytes: " + std::to_string(n));
      const auto expected = noise(n, static_cast<unsigned>(n));
      auto source = expected;
      void* data = b.allocate(n);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u);
      b.upload(data, source.data(), n);
      source.assign(n, 0);  // free to be reused as soon as upload returns
      std::vector<std::uint8_t> got(n);
      b.download(got.data(), data, n);
      EXPECT_TRUE(got == expected);
      b.deallocate(data, n);
    }
  }
}

TEST(Backend, ShardsAndCopiesBetweenDevicesOfAKind) {
  for (const Device d : sinter::test::all_devices())
    for (const Device e : sinter::test::all_devices()) {
      if (d.kind() != e.kind()) continue;
      SCOPED_TRACE(to_string(d) + " to " + to_string(e));
      constexpr std::size_t n = 100003;
      const auto expected = noise(n, 5);
      void* from = backend(d).allocate(n);
      void* to = backend(e).allocate(n);
      backend(d).upload(from, expected.data(), n);
      backend(d).synchronize();  // two devices are put in order by the caller: transfer.hpp does it for buffers
      backend(e).copy(static_cast<char*>(to) + 7, static_cast<char*>(from) + 3, n - 7, backend(d));
      if (d != e) backend(e).synchronize();
      backend(d).upload(from, noise(n, 6).data(), n);  // must not overtake the copy
      std::vector<std::uint8_t> got(n - 7);
      backend(e).download(got.data(), static_cast<char*>(to) + 7, n - 7);
      EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin() + 3));
      backend(d).deallocate(from, n);
      backend(e).deallocate(to, n);
    }
}

TEST(Backend, NothingIsFine) {
  for (const Device d : sinter::test::all_devices()) {
    Backend& b = backend(d);
    EXPECT_NO_THROW(b.upload(nullptr, nullptr, 0));
    EXPECT_NO_THROW(b.download(nullptr, nullptr, 0));
    EXPECT_NO_THROW(b.copy(nullptr, nullptr, 0, b));
    EXPECT_NO_THROW(b.synchronize());
  }
}

TEST(Backend, MoreThanThereIsIsOutOfMemory) {
  for (const Device d : sinter::test::all_devices()) {
    for (const std::size_t bytes : {std::size_t(1) << 46, ~std::size_t(0)})
      EXPECT_THAT([&] { backend(d).allocate(bytes); },
                  ::testing::ThrowsMessage<sinter::OutOfMemory>(
                      ::testing::AnyOf(::testing::HasSubstr(to_string(d)), ::testing::HasSubstr(backend(d).name()))));
    void* data = backend(d).allocate(1);
    backend(d).deallocate(data, 1);
  }
}

TEST(Backend, ManyThreads) {
  for (const Device d : sinter::test::all_devices()) {
    std::vector<std::thread> threads;
    for (unsigned id = 0; id < 8; ++id)
      threads.emplace_back([d, id] {
        Backend& b = backend(d);
        for (unsigned i = 0; i < 50; ++i) {
          const std::size_t n = sizes[(i + id) % (std::size(sizes) - 1)];
          const auto expected = noise(n, 100 * id + i);
          void* data = b.allocate(n);
          b.upload(data, expected.data(), n);
          std::vector<std::uint8_t> got(n);
          b.download(got.data(), data, n);
          EXPECT_TRUE(got == expected);
          b.deallocate(data, n);
        }
      });
    for (std::thread& t : threads) t.join();
  }
}

TEST(Backend, KindsDoNotMixInACopy) {
  if (!sinter::cuda_is_available()) GTEST_SKIP() << "needs a GPU";
  Backend &host = backend(sinter::cpu), &gpu = backend(Device(0));
  void *a = host.allocate(8), *b = gpu.allocate(8);
  EXPECT_THROW(host.copy(a, b, 8, gpu), sinter::Error);
  EXPECT_THROW(gpu.copy(b, a, 8, host), sinter::Error);
  host.deallocate(a, 8);
  gpu.deallocate(b, 8);
}

}  // namespace
