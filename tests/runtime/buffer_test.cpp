#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include <sinter/runtime/buffer.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/memory.hpp>

#include "gpus.hpp"

namespace {

using sinter::runtime::Buffer;
using sinter::runtime::Counted;
using sinter::runtime::Ref;

struct Probe : Counted<Probe> {
  explicit Probe(int& destroyed) : destroyed_(destroyed) {}
  static void destroy(Probe* p) noexcept {
    ++p->destroyed_;
    delete p;
  }
  int& destroyed_;
};

TEST(Buffer, ExposedOnesOverTheSameMemoryHaveNewVersionsTogether) {
  std::vector<std::byte> memory(100);
  const auto over = [&](std::size_t first, std::size_t bytes) {
    Ref<Buffer> b = Buffer::over(memory.data() + first, bytes, nullptr);
    b->expose();
    b->expose();  // once more is nothing new
    return b;
  };
  const Ref<Buffer> all = over(0, 100), left = over(0, 40), right = over(40, 60), nothing = over(10, 0);
  Ref<Buffer> middle = over(39, 2), hidden = Buffer::over(memory.data(), 100, nullptr);
  const std::vector<const Ref<Buffer>*> buffers{&all, &left, &right, &middle, &nothing, &hidden};
  const auto touched = [&](const Ref<Buffer>& by) {
    std::vector<std::uint64_t> news;
    for (const Ref<Buffer>* b : buffers) news.push_back((*b)->version());
    by->touch();
    for (std::size_t i = 0; i < news.size(); ++i) news[i] = (*buffers[i])->version() - news[i];
    return news;
  };
  using Versions = std::vector<std::uint64_t>;
  EXPECT_EQ(touched(all), (Versions{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(touched(left), (Versions{1, 1, 0, 1, 0, 0}));
  EXPECT_EQ(touched(right), (Versions{1, 0, 1, 1, 0, 0}));
  EXPECT_EQ(touched(middle), (Versions{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(touched(nothing), (Versions{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(touched(hidden), (Versions{0, 0, 0, 0, 0, 1}));
  hidden->expose();
  middle = over(60, 40);
  EXPECT_EQ(touched(middle), (Versions{1, 0, 1, 1, 0, 1}));
}

TEST(Buffer, ThreadsExposeAndTouchTogether) {
  std::vector<std::byte> memory(1000);
  const Ref<Buffer> whole = Buffer::over(memory.data(), memory.size(), nullptr);
  whole->expose();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 500; ++i) {
        const Ref<Buffer> b = Buffer::over(memory.data() + t * 10 + i % 100, 200, nullptr);
        b->expose();
        b->touch();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(whole->version(), 2000u);
}

TEST(Ref, DestroysOnceWhenTheLastHandleGoes) {
  int destroyed = 0;
  {
    auto a = Ref<Probe>::adopt(new Probe(destroyed));
    Ref<Probe> b = a, c = std::move(a), d;
    EXPECT_FALSE(a);
    EXPECT_TRUE(b == c);
    d = b;
    d = std::move(d);
    d = *&d;
    EXPECT_EQ(d, b);
    b = Ref<Probe>();
    c = Ref<Probe>();
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Ref, ReleaseAndAdoptHandOverOneCount) {
  int destroyed = 0;
  auto a = Ref<Probe>::adopt(new Probe(destroyed));
  Probe* raw = a.release();
  EXPECT_FALSE(a);
  auto shared = Ref<Probe>::share(raw);
  auto back = Ref<Probe>::adopt(raw);
  shared = {};
  EXPECT_EQ(destroyed, 0);
  back = {};
  EXPECT_EQ(destroyed, 1);
  EXPECT_FALSE(Ref<Probe>::share(nullptr));
}

TEST(Ref, ThreadsCountTogether) {
  int destroyed = 0;
  {
    auto a = Ref<Probe>::adopt(new Probe(destroyed));
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([a] {
        std::vector<Ref<Probe>> copies;
        for (int i = 0; i < 20000; ++i) {
          copies.push_back(a);
          if (i % 3 == 0) copies.clear();
        }
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Buffer, HoldsMemoryOfItsDevice) {
  for (const std::size_t bytes : {0, 1, 255, 256, 257, 1 << 22}) {
    const auto b = Buffer::allocate(sinter::try_gpu(), bytes);
    EXPECT_EQ(b->bytes(), bytes);
    EXPECT_EQ(b->device(), sinter::try_gpu());
    EXPECT_EQ(b->data() != nullptr, bytes != 0);
  }
}

TEST(Buffer, ErrorsComeFromTheDevice) {
  EXPECT_THROW(Buffer::allocate(sinter::cpu, std::size_t(1) << 46), sinter::OutOfMemory);
  EXPECT_THROW(Buffer::allocate(sinter::Device(255), 4), sinter::DeviceError);
  EXPECT_THROW(Buffer::allocate(sinter::Device(255), 0), sinter::DeviceError);
}

TEST(Buffer, OfSomebodyElsesMemoryLetsTheOwnerGoWithTheLastHandle) {
  auto memory = std::make_shared<std::vector<std::byte>>(64);
  const std::weak_ptr<const void> owner = memory;
  std::byte* const data = memory->data();
  auto b = Buffer::over(data + 4, 8, std::move(memory));
  EXPECT_EQ(b->data(), data + 4);
  EXPECT_EQ(b->bytes(), 8u);
  EXPECT_EQ(b->device(), sinter::Device());
  EXPECT_FALSE(b->is_pinned());
  auto handle = b;
  b = {};
  EXPECT_FALSE(owner.expired());
  handle = {};
  EXPECT_TRUE(owner.expired());
}

TEST(Buffer, OfSomebodyElsesMemoryMayBeAGpus) {
  const auto memory = Buffer::allocate(sinter::Device(0), 64);
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> there = owner;
  auto b = Buffer::over(memory->data() + 8, 16, std::move(owner), sinter::Device(0));
  EXPECT_EQ(b->device(), sinter::Device(0));
  b = {};
  EXPECT_TRUE(there.expired());
}

TEST(Buffer, OfSomebodyElsesMemoryIsNotCountedAsOurs) {
  std::vector<std::byte> memory(1 << 20);
  const std::size_t before = sinter::memory_stats(sinter::cpu).in_use;
  const auto b = Buffer::over(memory.data(), memory.size(), nullptr);
  EXPECT_EQ(sinter::memory_stats(sinter::cpu).in_use, before);
}

TEST(Buffer, MayOutliveMain) {
  static const auto leftover = Buffer::allocate(sinter::cpu, 100);
  EXPECT_TRUE(leftover);
}

}  // namespace
