// Random work on random streams against the same work done at once, on a driver that does only what is waited for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <sinter/runtime/memory.hpp>
#include <sinter/runtime/stream.hpp>
#include <sinter/runtime/transfer.hpp>

#include "fake_gpus.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::Buffer;
using runtime::Ref;
using sn::Device;
using Words = std::vector<std::uint32_t>;

constexpr std::size_t words = 64, bytes = 4 * words;

runtime::Span whole(const Ref<Buffer>& b) { return {b.get(), b->data()}; }

/// Buffers with what they must hold.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) renew(i);
  }

  void step() {
    // Streams come and go; work goes to one of them, or to the default ones.
    if (below(8) == 0) streams_[below(3)].emplace(Device(static_cast<int>(below(2))));
    std::optional<sn::StreamGuard> guard;
    if (const auto& s = streams_[below(3)]; s && below(4)) guard.emplace(*s);
    const std::size_t i = below(buffers_.size()), j = below(buffers_.size());
    switch (below(6)) {
      case 0: return renew(i);
      case 1: return upload(i);
      case 2: return check(i);
      case 3: return pinned_upload(i);
      default:
        if (i == j) return;
        runtime::copy(whole(buffers_[i]), whole(buffers_[j]), bytes);
        expected_[i] = expected_[j];
    }
  }
  void check(std::size_t i) {
    Words got(words);
    runtime::download(got.data(), whole(buffers_[i]), bytes);
    ASSERT_EQ(got, Words(words, expected_[i]));
  }
  void check_all() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) check(i);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  /// New memory, most likely some that was just released.
  void renew(std::size_t i) {
    if (i >= buffers_.size()) buffers_.emplace_back(), expected_.push_back(0);
    buffers_[i] = Ref<Buffer>();
    buffers_[i] = Buffer::allocate(Device(static_cast<int>(i % 2)), bytes);
    upload(i);
  }
  void upload(std::size_t i) {
    expected_[i] = static_cast<std::uint32_t>(random_());
    runtime::upload(whole(buffers_[i]), Words(words, expected_[i]).data(), bytes);
  }
  void pinned_upload(std::size_t i) {
    if (!pinned_ || below(3) == 0) pinned_ = Buffer::allocate_pinned(bytes);
    pinned_->expose();
    expected_[i] = static_cast<std::uint32_t>(random_());
    std::fill_n(reinterpret_cast<std::uint32_t*>(pinned_->data()), words, expected_[i]);
    runtime::copy(whole(buffers_[i]), whole(pinned_), bytes);
  }

  std::mt19937 random_;
  std::optional<sn::Stream> streams_[3];
  std::vector<Ref<Buffer>> buffers_;
  std::vector<std::uint32_t> expected_;
  Ref<Buffer> pinned_;
};

TEST(RandomOrder, IsAsIfDoneAtOnce) {
  sn::testing::fake();
  std::random_device seeds;
  for (int round = 0; round < 200; ++round) {
    const unsigned seed = seeds();
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Program program(seed);
    for (int step = 0; step < 100; ++step) {
      program.step();
      if (HasFatalFailure()) return;
    }
    program.check_all();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
