// Which streams wait for which, on a device that only notes it down.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <sinter/runtime/order.hpp>
#include <sinter/runtime/stream.hpp>
#include <sinter/runtime/transfer.hpp>

#include "gpus.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::Buffer;
using runtime::BufferAccess;
using runtime::DependencyGuard;
using runtime::Ref;
using sn::Device;
using sn::Stream;
using sn::StreamGuard;

void use(const Ref<Buffer>& buffer, bool writes) {
  const BufferAccess u{buffer.get(), writes};
  const DependencyGuard ordered(buffer->device(), {&u, 1});
}

std::size_t fence_size(Buffer& buffer) {
  bool captured = false;
  const runtime::Fence fence = runtime::last_uses(buffer, captured);
  EXPECT_FALSE(captured);
  return fence ? fence->size() : 0;
}

class Order : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!sn::cuda_is_available()) GTEST_SKIP() << "needs a GPU";
  }
  Ref<Buffer> buffer_ = sn::cuda_is_available() ? Buffer::allocate(Device(0), 256) : Ref<Buffer>();
};

TEST_F(Order, OneStreamLeavesNoFence) {
  use(buffer_, true);
  use(buffer_, false);
  EXPECT_EQ(fence_size(*buffer_), 0u);
}

TEST_F(Order, EveryOtherUserIsFencedOnce) {
  const Stream s(0), t(0);
  for (int i = 0; i < 3; ++i)
    for (const Stream& stream : {s, t}) {
      const StreamGuard guard(stream);
      use(buffer_, false);
    }
  EXPECT_EQ(fence_size(*buffer_), 2u);
}

TEST_F(Order, AWriterReplacesThoseThatItWaitedFor) {
  const Stream s(0), t(0);
  for (const Stream& stream : {s, t}) {
    const StreamGuard guard(stream);
    use(buffer_, false);
  }
  use(buffer_, true);  // on the default stream, where it was allocated
  EXPECT_EQ(fence_size(*buffer_), 0u);
  const StreamGuard guard(s);
  use(buffer_, true);
  EXPECT_EQ(fence_size(*buffer_), 1u);
}

TEST_F(Order, WorkIssuedWhileAnotherStreamTookOverIsNotForgotten) {
  const Stream s(0), t(0);
  {
    const StreamGuard outer(s);
    const BufferAccess u{buffer_.get(), true};
    const DependencyGuard late(Device(0), {&u, 1});
    const StreamGuard inner(t);
    use(buffer_, true);
  }
  EXPECT_EQ(fence_size(*buffer_), 2u);
}

TEST_F(Order, OperandsWithoutMemoryAndManyOperands) {
  const Stream s(0);
  const StreamGuard guard(s);
  std::vector<BufferAccess> uses{{nullptr, false}};
  for (int i = 0; i < 100; ++i) uses.push_back({buffer_.get(), i == 0});
  {
    const DependencyGuard ordered(Device(0), uses);
  }
  EXPECT_EQ(fence_size(*buffer_), 1u);
}

TEST_F(Order, AnUploadsEndIsKeptUntilTheNextUse) {
  const Stream s(0);
  const StreamGuard guard(s);
  const std::vector<std::byte> bytes(256);
  runtime::upload({buffer_.get(), buffer_->data()}, bytes.data(), 256);
  EXPECT_EQ(fence_size(*buffer_), 1u);
  use(buffer_, true);
  EXPECT_EQ(fence_size(*buffer_), 1u);
}

TEST_F(Order, TheHostWaitsForPinnedMemoryAlone) {
  const Ref<Buffer> pinned = Buffer::allocate_pinned(256);
  runtime::copy({buffer_.get(), buffer_->data()}, {pinned.get(), pinned->data()}, 256);
  EXPECT_EQ(fence_size(*pinned), 1u);
  use(pinned, false);
  EXPECT_EQ(fence_size(*pinned), 1u);
  use(pinned, true);
  EXPECT_EQ(fence_size(*pinned), 0u);
}

}  // namespace
