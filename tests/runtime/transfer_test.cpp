// Copies of buffers' bytes between all devices there are, in order with what uses the buffers.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <sinter/runtime/stream.hpp>
#include <sinter/runtime/transfer.hpp>

#include "gpus.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::Buffer;
using runtime::Ref;
using sn::Device;

using Bytes = std::vector<std::uint8_t>;

std::vector<Device> devices() {
  std::vector<Device> all = sn::try_all_gpus();
  if (all[0].is_cuda()) all.emplace_back(sn::cpu);
  return all;
}

Bytes pattern(std::size_t n, unsigned seed) {
  Bytes v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<std::uint8_t>(i * 7 + seed);
  return v;
}

runtime::Span whole(const Ref<Buffer>& b, std::size_t offset = 0) { return {b.get(), b->data() + offset}; }

Bytes bytes_of(const Ref<Buffer>& b, std::size_t offset, std::size_t n) {
  Bytes got(n);
  runtime::download(got.data(), whole(b, offset), n);
  return got;
}

/// Filled through the device.
Ref<Buffer> filled(Device device, const Bytes& bytes) {
  Ref<Buffer> b = Buffer::allocate(device, bytes.size());
  runtime::upload(whole(b), bytes.data(), bytes.size());
  return b;
}

TEST(Transfer, BetweenAllDevices) {
  constexpr std::size_t n = 100003;
  const Bytes expected = pattern(n, 5);
  for (const Device d : devices())
    for (const Device e : devices()) {
      SCOPED_TRACE(to_string(d) + " to " + to_string(e));
      const Ref<Buffer> from = filled(d, expected), to = Buffer::allocate(e, n);
      runtime::copy(whole(to, 7), whole(from, 3), n - 7);
      runtime::upload(whole(from), pattern(n, 6).data(), n);  // must not overtake the copy
      EXPECT_EQ(bytes_of(to, 7, n - 7), Bytes(expected.begin() + 3, expected.end() - 4));
    }
}

TEST(Transfer, NothingIsFine) {
  for (const Device d : devices()) {
    const Ref<Buffer> b = Buffer::allocate(d, 0);
    EXPECT_NO_THROW(runtime::upload(whole(b), nullptr, 0));
    EXPECT_NO_THROW(runtime::download(nullptr, whole(b), 0));
    EXPECT_NO_THROW(runtime::copy(whole(b), whole(b), 0));
  }
}

TEST(Transfer, OfPinnedMemory) {
  if (!sn::cuda_is_available()) GTEST_SKIP() << "needs a GPU";
  constexpr std::size_t n = 5000;
  const Bytes expected = pattern(n, 9);
  const Ref<Buffer> pinned = Buffer::allocate_pinned(n), gpu = Buffer::allocate(Device(0), n);
  const Ref<Buffer> source = filled(sn::cpu, expected);
  runtime::copy(whole(pinned), whole(source), n);
  runtime::copy(whole(gpu), whole(pinned), n);
  runtime::copy(whole(pinned), whole(filled(sn::cpu, pattern(n, 1))), n);  // after the GPU has read it
  EXPECT_EQ(bytes_of(gpu, 0, n), expected);
  runtime::copy(whole(pinned), whole(gpu), n);
  EXPECT_EQ(bytes_of(pinned, 0, n), expected);
}

TEST(Transfer, OnManyStreams) {
  if (!sn::cuda_is_available()) GTEST_SKIP() << "needs a GPU";
  constexpr std::size_t n = 70001;
  const std::vector<sn::Stream> streams{sn::Stream(0), sn::default_stream(0), sn::Stream(0)};
  Ref<Buffer> last = filled(Device(0), pattern(n, 1));
  for (unsigned i = 0; i < 60; ++i) {
    const sn::StreamGuard guard(streams[i % 3]);
    const Ref<Buffer> next = Buffer::allocate(Device(0), n);
    runtime::copy(whole(next), whole(last), n);
    if (i % 7 == 0) runtime::upload(whole(last), pattern(n, 100 + i).data(), n);
    last = next;
  }
  EXPECT_EQ(bytes_of(last, 0, n), pattern(n, 1));
}

}  // namespace
