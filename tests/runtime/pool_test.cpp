#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <runtime/cpu/host_memory.hpp>
#include <runtime/pool.hpp>
#include <sinter/runtime/error.hpp>

#include "stub_streams.hpp"

namespace {

using sinter::Device;
using sinter::runtime::Pool;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::size_t unlimited = ~std::size_t(0);

/// Counts, and has `most` bytes. What is released is free only once `synchronize` was called.
class Source final : public sinter::runtime::MemorySource {
 public:
  explicit Source(std::size_t most = unlimited) : most_(most) {}
  ~Source() override { EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " blocks were not released"; }

  void* acquire(std::size_t bytes, sinter::runtime::StreamImpl*) override {
    const std::lock_guard lock(mutex_);
    ++acquired;
    if (bytes > most_ - used_) return nullptr;
    used_ += bytes;
    void* data = std::aligned_alloc(256, bytes);
    blocks_[data] = bytes;
    return data;
  }
  void release(void* data, std::size_t bytes, sinter::runtime::StreamImpl*, sinter::runtime::Fence) noexcept override {
    const std::lock_guard lock(mutex_);
    ++released;
    EXPECT_EQ(blocks_.at(data), bytes);
    blocks_.erase(data);
    pending_ += bytes;
    std::free(data);
  }
  void synchronize() override {
    const std::lock_guard lock(mutex_);
    used_ -= std::exchange(pending_, 0);
  }
  sinter::MemoryInfo memory() const override { return {most_ - used_, most_}; }

  std::size_t held() {
    const std::lock_guard lock(mutex_);
    return used_ - pending_;
  }

  int acquired = 0;
  int released = 0;

 private:
  std::mutex mutex_;
  std::map<void*, std::size_t> blocks_;
  std::size_t most_;
  std::size_t used_ = 0;
  std::size_t pending_ = 0;
};

TEST(Pool, ClassesWasteAtMostAnEighth) {
  EXPECT_EQ(Pool::rounded(1), 256u);
  EXPECT_EQ(Pool::rounded(256), 256u);
  EXPECT_EQ(Pool::rounded(257), 512u);
  std::size_t before = 0;
  for (int log2 = 0; log2 < 47; ++log2)
    for (int k = 0; k < 64; ++k) {
      const std::size_t bytes = (std::size_t(1) << log2) + (std::size_t(k) << log2) / 64;
      const std::size_t size = Pool::rounded(bytes);
      ASSERT_GE(size, bytes);
      ASSERT_EQ(size % 256, 0u);
      ASSERT_GE(size, before);
      ASSERT_EQ(Pool::rounded(size), size);
      if (bytes > 2048) {
        ASSERT_LE(size - bytes, bytes / 8);
      } else {
        ASSERT_LT(size - bytes, 256u);
      }
      before = size;
    }
  EXPECT_EQ(Pool::rounded(std::size_t(1) << 47), std::size_t(1) << 47);
  EXPECT_EQ(Pool::rounded((std::size_t(1) << 47) + 1), 0u);
  EXPECT_EQ(Pool::rounded(unlimited), 0u);
}

TEST(Pool, HandsOutAgainWhatCameBack) {
  Source source;
  Pool pool(source, Device(), Pool::Memory::Host, unlimited);
  void* a = pool.allocate(1000);
  pool.deallocate(a, 1000);
  EXPECT_EQ(pool.allocate(900), a);  // the same class
  EXPECT_EQ(source.acquired, 1);
  void* b = pool.allocate(900);
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.stats().in_use, 2048u);
  EXPECT_EQ(pool.stats().cached, 0u);
  pool.deallocate(a, 900);
  EXPECT_EQ(pool.stats().cached, 1024u);
  EXPECT_EQ(pool.trim(), 1024u);
  EXPECT_EQ(pool.trim(), 0u);
  pool.deallocate(b, 900);
  EXPECT_EQ(pool.stats().in_use, 0u);
}

TEST(Pool, NeverKeepsMoreThanItsLimit) {
  Source source;
  Pool pool(source, Device(), Pool::Memory::Host, 4096);
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(pool.allocate(1024));
  void* large = pool.allocate(5000);
  for (void* b : blocks) {
    pool.deallocate(b, 1024);
    EXPECT_LE(pool.stats().cached, 4096u);
  }
  const std::size_t cached = pool.stats().cached;
  pool.deallocate(large, 5000);  // by itself past the limit: leaves the others alone
  EXPECT_EQ(pool.stats().cached, cached);
  EXPECT_EQ(pool.stats().in_use, 0u);
}

TEST(Pool, ReturnsWhatItKeepsBeforeItGivesUp) {
  Source source(1 << 20);
  Pool pool(source, Device(3), Pool::Memory::Host, unlimited);
  void* kept = pool.allocate(256 << 10);
  void* small = pool.allocate(640 << 10);
  pool.deallocate(small, 640 << 10);
  void* large = pool.allocate(700 << 10);  // fits only without `small`, once synchronized
  EXPECT_EQ(source.released, 1);
  EXPECT_THAT([&] { pool.allocate(std::size_t(3) << 30); },
              ThrowsMessage<sinter::OutOfMemory>(AllOf(HasSubstr("cuda:3"), HasSubstr("3.00 GiB requested"),
                                                       HasSubstr("(3221225472 bytes)"), HasSubstr("in use by tensors"),
                                                       HasSubstr("1.00 MiB in total"))));
  pool.deallocate(large, 700 << 10);
  EXPECT_THAT(
      [&] { pool.allocate(1 << 20); },
      ThrowsMessage<sinter::OutOfMemory>(AllOf(HasSubstr("704.00 KiB were returned"), HasSubstr("256.00 KiB in use"))));
  void* after = pool.allocate(512 << 10);  // an error leaves the pool usable
  pool.deallocate(after, 512 << 10);
  pool.deallocate(kept, 256 << 10);
}

/// Beside a count of its own: the statistics of one thread are exact, although its stripe keeps blocks.
TEST(Pool, CountsWhatIsInUse) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Source source;
  Pool pool(source, Device(), Pool::Memory::Host, unlimited);
  std::vector<std::pair<void*, std::size_t>> held;
  std::size_t in_use = 0, peak = 0, requests = 0;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 400 == 0) {
      pool.reset_peak();
      peak = in_use;
    }
    if (random() % 200 == 0) pool.trim();
    if (held.size() < 40 && random() % 2) {
      const std::size_t bytes = 1 + random() % (random() % 4 ? 3000 : 200'000);
      held.emplace_back(pool.allocate(bytes), bytes);
      in_use += Pool::rounded(bytes);
      peak = std::max(peak, in_use);
      ++requests;
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      pool.deallocate(held.back().first, held.back().second);
      in_use -= Pool::rounded(held.back().second);
      held.pop_back();
    }
    const sinter::MemoryStats stats = pool.stats();
    ASSERT_EQ(stats.in_use, in_use) << i;
    ASSERT_EQ(stats.peak_in_use, peak) << i;
    ASSERT_EQ(stats.blocks, held.size()) << i;
    ASSERT_EQ(stats.requests, requests) << i;
    ASSERT_EQ(stats.in_use + stats.cached, source.held()) << i;
  }
  for (const auto& [data, bytes] : held) pool.deallocate(data, bytes);
}

/// A stripe full of sizes that are not used any more takes others.
TEST(Pool, StripesForgetUnusedSizes) {
  Source source;
  Pool pool(source, Device(), Pool::Memory::Host, unlimited);
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t bytes = 40'000; bytes <= 64'000; bytes += 4000) blocks.emplace_back(pool.allocate(bytes), bytes);
  for (const auto& [data, bytes] : blocks) pool.deallocate(data, bytes);
  const int acquired = source.acquired;
  for (int i = 0; i < 3; ++i) pool.deallocate(pool.allocate(1000), 1000);
  EXPECT_EQ(source.acquired, acquired + 1);
  EXPECT_EQ(pool.stats().in_use, 0u);
  EXPECT_EQ(pool.stats().cached, source.held());
  for (auto& [data, bytes] : blocks) data = pool.allocate(bytes);
  EXPECT_EQ(source.acquired, acquired + 1);
  for (const auto& [data, bytes] : blocks) pool.deallocate(data, bytes);
}

TEST(Pool, CountsStayInRangeWhileThreadsPassBlocks) {
  Source source;
  Pool pool(source, Device(), Pool::Memory::Host, unlimited);
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<void*> passed;
  const auto pass = [&](bool allocates) {
    while (!stop) {
      const std::lock_guard lock(mutex);
      if (allocates && passed.size() < 8) passed.push_back(pool.allocate(1000));
      if (!allocates && !passed.empty()) pool.deallocate(passed.back(), 1000), passed.pop_back();
    }
  };
  std::thread first(pass, true), second(pass, false);
  for (int i = 0; i < 2000; ++i) {
    EXPECT_LE(pool.stats().in_use, 1u << 20);
    EXPECT_LE(pool.stats().blocks, 1000u);
    pool.reset_peak();
    EXPECT_LE(pool.stats().peak_in_use, 1u << 20);
  }
  stop = true;
  first.join();
  second.join();
  for (void* const b : passed) pool.deallocate(b, 1000);
}

/// What one thread allocates and another one frees.
TEST(Pool, BlocksMoveBetweenThreads) {
  Source source;
  Pool pool(source, Device(), Pool::Memory::Host, unlimited);
  for (int round = 0; round < 100; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(pool.allocate(1000));
    EXPECT_EQ(pool.stats().in_use, 10'240u);
    std::thread([&] {
      for (void* b : blocks) pool.deallocate(b, 1000);
    }).join();
    EXPECT_EQ(pool.stats().in_use, 0u);
    EXPECT_EQ(pool.stats().blocks, 0u);
  }
  EXPECT_LE(source.acquired, 10 + 4 * 16) << "each stripe keeps a few";
  EXPECT_EQ(pool.trim(), static_cast<std::size_t>(source.acquired) * 1024);
}

TEST(Pool, RequestsBeyondAnyClassAreOutOfMemory) {
  Source source;
  Pool pool(source, Device(), Pool::Memory::Host, unlimited);
  for (const std::size_t bytes : {unlimited, unlimited - 255, std::size_t(1) << 63, (std::size_t(1) << 47) + 1})
    EXPECT_THROW(pool.allocate(bytes), sinter::OutOfMemory) << bytes;
  EXPECT_EQ(source.acquired, 0);
}

TEST(Pool, ThreadsNeverShareABlock) {
  Source source(64 << 20);
  Pool pool(source, Device(), Pool::Memory::Host, 1 << 20);
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::atomic<int> broken = 0;
  const auto work = [&](unsigned id) {
    std::mt19937 random(seed + id);
    struct Held {
      unsigned char* data;
      std::size_t bytes;
    };
    std::vector<Held> held;
    const auto drop = [&](std::size_t i) {
      const Held h = held[i];
      for (const std::size_t at : {std::size_t(0), h.bytes / 2, h.bytes - 1})
        broken += h.data[at] != static_cast<unsigned char>(id);
      pool.deallocate(h.data, h.bytes);
      held[i] = held.back();
      held.pop_back();
    };
    for (int i = 0; i < 20000; ++i) {
      if (held.size() < 20 && random() % 2) {
        const std::size_t bytes = 1 + random() % (random() % 16 ? 3000 : 100000);
        auto* data = static_cast<unsigned char*>(pool.allocate(bytes));
        broken += reinterpret_cast<std::uintptr_t>(data) % 256 != 0;
        for (const std::size_t at : {std::size_t(0), bytes / 2, bytes - 1}) data[at] = static_cast<unsigned char>(id);
        held.push_back({data, bytes});
      } else if (!held.empty()) {
        drop(random() % held.size());
      }
      if (i % 5000 == 0) pool.trim();
    }
    while (!held.empty()) drop(0);
  };
  std::vector<std::thread> threads;
  for (unsigned id = 1; id <= 8; ++id) threads.emplace_back(work, id);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(pool.stats().in_use, 0u);
  EXPECT_LE(pool.stats().cached, std::size_t(1) << 20);
  const std::size_t cached = pool.stats().cached;
  EXPECT_EQ(pool.trim(), cached);
}

/// What deallocate takes from those that used the memory besides its own stream.
sinter::runtime::Fence fence_of(sinter::runtime::Streams& streams) {
  auto events = std::make_unique<std::vector<sinter::runtime::EventRef>>();
  events->push_back(streams.record(streams.standard()));
  return events;
}

class PoolAndStreams : public ::testing::Test {
 protected:
  Source source_;
  sinter::testing::StubStreamCalls calls_;
  sinter::runtime::Streams streams_{Device(0), calls_};
  sinter::runtime::StreamRef a_ = streams_.create(), b_ = streams_.create();
  Pool pool_{source_, Device(0), Pool::Memory::Device, unlimited};
};

TEST_F(PoolAndStreams, BlocksStayWithTheirStream) {
  void* of_a = pool_.allocate(1000, a_.get());
  pool_.deallocate(of_a, 1000, a_.get());
  void* of_b = pool_.allocate(1000, b_.get());
  EXPECT_NE(of_b, of_a);
  EXPECT_EQ(pool_.allocate(1000, a_.get()), of_a);
  EXPECT_EQ(source_.acquired, 2);
  pool_.deallocate(of_a, 1000, a_.get());
  pool_.deallocate(of_b, 1000, b_.get());
  EXPECT_EQ(pool_.stats().cached, 2048u);
  EXPECT_EQ(pool_.trim(), 2048u);
}

TEST_F(PoolAndStreams, AStreamWaitsForTheFence) {
  void* data = pool_.allocate(1000, a_.get());
  pool_.deallocate(data, 1000, a_.get(), fence_of(streams_));
  calls_.taken();
  EXPECT_EQ(pool_.allocate(1000, a_.get()), data);
  EXPECT_THAT(calls_.taken(), ::testing::ElementsAre("wait"));
  pool_.deallocate(data, 1000, a_.get());
  pool_.allocate(1000, a_.get());
  EXPECT_THAT(calls_.taken(), ::testing::IsEmpty());
  pool_.deallocate(data, 1000, a_.get());
}

TEST_F(PoolAndStreams, BlocksWithoutAFenceComeFirst) {
  void *fenced = pool_.allocate(1000, a_.get()), *free = pool_.allocate(1000, a_.get());
  pool_.deallocate(free, 1000, a_.get());
  pool_.deallocate(fenced, 1000, a_.get(), fence_of(streams_));
  EXPECT_EQ(pool_.allocate(1000, a_.get()), free);
  EXPECT_EQ(pool_.allocate(1000, a_.get()), fenced);
  pool_.deallocate(free, 1000, a_.get());
  pool_.deallocate(fenced, 1000, a_.get());
}

TEST_F(PoolAndStreams, AFenceThatCannotBeWaitedForLeavesTheBlock) {
  void* data = pool_.allocate(1000, a_.get());
  pool_.deallocate(data, 1000, a_.get(), fence_of(streams_));
  calls_.failing = {"wait"};
  EXPECT_THROW(pool_.allocate(1000, a_.get()), sinter::CudaError);
  EXPECT_EQ(pool_.stats().cached, 1024u);
  calls_.failing.clear();
  EXPECT_EQ(pool_.allocate(1000, a_.get()), data);
  pool_.deallocate(data, 1000, a_.get());
}

TEST_F(PoolAndStreams, TheHostTakesABlockWhenItsFenceIsDone) {
  void* data = pool_.allocate(1000);
  pool_.deallocate(data, 1000, nullptr, fence_of(streams_));
  void* other = pool_.allocate(1000);
  EXPECT_NE(other, data);
  calls_.done = true;
  EXPECT_EQ(pool_.allocate(1000), data);
  pool_.deallocate(data, 1000);
  pool_.deallocate(other, 1000);
}

TEST_F(PoolAndStreams, CountsAndPeak) {
  void* data = pool_.allocate(1000, a_.get());
  pool_.deallocate(pool_.allocate(3000, b_.get()), 3000, b_.get());
  EXPECT_EQ(pool_.stats().requests, 2u);
  EXPECT_EQ(pool_.stats().blocks, 1u);
  EXPECT_EQ(pool_.stats().driver_allocations, 2u);
  EXPECT_EQ(pool_.stats().peak_in_use, 1024u + Pool::rounded(3000));
  pool_.reset_peak();
  EXPECT_EQ(pool_.stats().peak_in_use, 1024u);
  pool_.deallocate(data, 1000, a_.get());
}

TEST(HostMemory, SmallMappedAndImpossible) {
  sinter::runtime::HostMemory memory;
  for (const std::size_t bytes :
       {std::size_t(256), std::size_t(1) << 20, std::size_t(4) << 20, std::size_t(9) << 19, std::size_t(36) << 20}) {
    void* data = memory.acquire(bytes, nullptr);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u);
    static_cast<char*>(data)[0] = static_cast<char*>(data)[bytes - 1] = 1;
    memory.release(data, bytes, nullptr, {});
  }
  EXPECT_EQ(memory.acquire(std::size_t(1) << 46, nullptr), nullptr);
  EXPECT_GT(memory.memory().total, memory.memory().free);
  EXPECT_GT(memory.memory().free, 0u);
}

#ifdef __SANITIZE_ADDRESS__
TEST(PoolDeathTest, AFreeBlockIsPoisoned) {
  sinter::runtime::HostMemory memory;
  Pool pool(memory, Device(), Pool::Memory::Host, unlimited);
  for (const std::size_t bytes : {std::size_t(1000), (std::size_t(5) << 20) - 1000}) {
    auto* data = static_cast<volatile char*>(pool.allocate(bytes));
    data[bytes - 1] = 1;
    EXPECT_DEATH(data[bytes] = 1, "use-after-poison");  // past what was asked for, within the class
    pool.deallocate(const_cast<char*>(data), bytes);
    EXPECT_DEATH(data[0] = 1, "use-after-poison");
    auto* again = static_cast<volatile char*>(pool.allocate(bytes - 8));
    EXPECT_EQ(again, data);
    again[bytes - 9] = 1;
    pool.deallocate(const_cast<char*>(again), bytes - 8);
  }
}
#endif

}  // namespace
