// Threads with a stream each, which share what they read and hand over what they write.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <sinter/runtime/memory.hpp>
#include <sinter/runtime/stream.hpp>
#include <sinter/runtime/transfer.hpp>

#include "cuda/fake_gpus.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::Buffer;
using runtime::Ref;
using sn::Device;
using Words = std::vector<std::uint32_t>;

constexpr std::size_t words = 500, bytes = 4 * words;

/// On the fake driver, whose streams put work off: what was not waited for is seen.
class StreamThreads : public ::testing::Test {
 protected:
  void SetUp() override { sn::testing::fake(); }
};

runtime::Span whole(const Ref<Buffer>& b) { return {b.get(), b->data()}; }

Ref<Buffer> filled(std::uint32_t value) {
  Ref<Buffer> b = Buffer::allocate(Device(0), bytes);
  runtime::upload(whole(b), Words(words, value).data(), bytes);
  return b;
}

Words words_of(const Ref<Buffer>& b) {
  Words got(words);
  runtime::download(got.data(), whole(b), bytes);
  return got;
}

template <class F>
void in_threads(unsigned count, F f) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) threads.emplace_back(f, t);
  for (std::thread& t : threads) t.join();
}

TEST_F(StreamThreads, SharedOperandsAndOwnResults) {
  const Ref<Buffer> shared = filled(7);
  in_threads(8, [&](unsigned t) {
    const sn::Stream s(0);
    const sn::StreamGuard guard(s);
    for (std::uint32_t i = 0; i < 50; ++i) {
      const Ref<Buffer> copy = Buffer::allocate(Device(0), bytes), own = filled(1000 * t + i);
      runtime::copy(whole(copy), whole(shared), bytes);
      if (i % 10 == 0) {
        EXPECT_EQ(words_of(copy), Words(words, 7));
      }
      EXPECT_EQ(words_of(own), Words(words, 1000 * t + i));
    }
  });
  runtime::upload(whole(shared), Words(words, 8).data(), bytes);
  EXPECT_EQ(words_of(shared), Words(words, 8));
}

TEST_F(StreamThreads, AResultGoesFromThreadToThread) {
  Ref<Buffer> token = filled(0);
  std::atomic<std::uint32_t> turn{0};
  in_threads(4, [&](unsigned t) {
    const sn::Stream s(0);
    const sn::StreamGuard guard(s);
    for (std::uint32_t i = t; i < 200; i += 4) {
      while (turn.load(std::memory_order_acquire) != i) std::this_thread::yield();
      const Ref<Buffer> next = Buffer::allocate(Device(0), bytes);
      runtime::copy(whole(next), whole(token), bytes);
      if (i % 3 == 0) runtime::upload(whole(token), Words(words, 99).data(), bytes);  // after the copy
      token = next;
      turn.store(i + 1, std::memory_order_release);
    }
  });
  EXPECT_EQ(words_of(token), Words(words, 0));
}

// As rows of one matrix may be: every thread's work counts, whoever came last.
TEST_F(StreamThreads, PartsOfOneBuffer) {
  constexpr unsigned count = 8;
  const Ref<Buffer> rows = Buffer::allocate(Device(0), count * bytes);
  for (int round = 0; round < 20; ++round) {
    std::vector<Ref<Buffer>> sources(count);
    for (unsigned t = 0; t < count; ++t) sources[t] = filled(100 * t);
    in_threads(count, [&](unsigned t) {
      const sn::Stream s(0);
      const sn::StreamGuard guard(s);
      runtime::copy({rows.get(), rows->data() + t * bytes}, whole(sources[t]), bytes);
    });
    Words got(count * words);
    runtime::download(got.data(), whole(rows), count * bytes);
    for (unsigned t = 0; t < count; ++t) ASSERT_EQ(got[t * words + words / 2], 100 * t) << round;
    runtime::upload(whole(rows), Words(count * words, 1).data(), count * bytes);
  }
}

TEST_F(StreamThreads, PinnedMemory) {
  in_threads(4, [](unsigned t) {
    const sn::Stream s(0);
    const sn::StreamGuard guard(s);
    for (std::uint32_t i = 0; i < 50; ++i) {
      const Ref<Buffer> pinned = Buffer::allocate_pinned(bytes), on_gpu = Buffer::allocate(Device(0), bytes);
      pinned->expose();
      std::fill_n(reinterpret_cast<std::uint32_t*>(pinned->data()), words, 1000 * t + i);
      runtime::copy(whole(on_gpu), whole(pinned), bytes);
      if (i % 2) {
        EXPECT_EQ(words_of(on_gpu), Words(words, 1000 * t + i));
      }
    }
  });
  sn::synchronize(Device(0));
  EXPECT_EQ(sn::pinned_memory_stats().in_use, 0u);
}

TEST_F(StreamThreads, StreamsComeAndGo) {
  in_threads(8, [](unsigned) {
    for (int i = 0; i < 100; ++i) {
      const sn::Stream s(0), t = s;
      const sn::StreamGuard guard(s);
      const sn::Event e = t.record();
      sn::default_stream(0).wait(e);
      EXPECT_EQ(sn::current_stream(0), s);
    }
  });
}

}  // namespace
