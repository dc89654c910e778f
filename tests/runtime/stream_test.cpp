// Streams, events and guards on every GPU there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/stream.hpp>

#include "gpus.hpp"

namespace {

namespace sn = sinter;
using sn::Stream;
using sn::StreamGuard;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

#define NEEDS_GPUS(count) \
  if (sn::device_count() < (count)) GTEST_SKIP() << "needs " #count " GPUs"

TEST(Stream, OneByDefaultForAllThreads) {
  NEEDS_GPUS(1);
  EXPECT_EQ(sn::current_stream(0), sn::default_stream(0));
  EXPECT_EQ(sn::current_stream(), sn::default_stream());
  std::thread([] { EXPECT_EQ(sn::current_stream(0), sn::default_stream(0)); }).join();
  EXPECT_EQ(sn::default_stream(0).device(), sn::Device(0));
}

TEST(Stream, NewOnesDiffer) {
  NEEDS_GPUS(1);
  const Stream a(0), b(0);
  EXPECT_NE(a, b);
  EXPECT_NE(a, sn::default_stream(0));
  EXPECT_NE(a.native(), b.native());
  const Stream copy = a;
  EXPECT_EQ(copy, a);
  Stream moved = b;
  const Stream taken = std::move(moved);
  EXPECT_EQ(taken, b);
}

TEST(Stream, GuardsNest) {
  NEEDS_GPUS(1);
  const Stream a(0), b(0);
  {
    const StreamGuard outer(a);
    EXPECT_EQ(sn::current_stream(0), a);
    {
      const StreamGuard inner(b);
      EXPECT_EQ(sn::current_stream(0), b);
    }
    EXPECT_EQ(sn::current_stream(0), a);
    std::thread([] { EXPECT_EQ(sn::current_stream(0), sn::default_stream(0)); }).join();
  }
  EXPECT_EQ(sn::current_stream(0), sn::default_stream(0));
}

TEST(Stream, GuardsEndInAnyOrder) {
  NEEDS_GPUS(1);
  const Stream a(0), b(0);
  auto first = std::make_unique<StreamGuard>(a), second = std::make_unique<StreamGuard>(b);
  first.reset();
  EXPECT_EQ(sn::current_stream(0), b);
  second.reset();
  EXPECT_EQ(sn::current_stream(0), sn::default_stream(0));
}

TEST(Stream, AGuardIsForItsOwnGpu) {
  NEEDS_GPUS(2);
  const Stream a(0), b(1);
  const StreamGuard on_a(a);
  EXPECT_EQ(sn::current_stream(1), sn::default_stream(1));
  const StreamGuard on_b(b);
  EXPECT_EQ(sn::current_stream(0), a);
  EXPECT_EQ(sn::current_stream(1), b);
}

TEST(Stream, AGuardKeepsItsStream) {
  NEEDS_GPUS(1);
  std::optional<Stream> a(0);
  void* native = a->native();
  const StreamGuard guard(*a);
  a.reset();
  EXPECT_EQ(sn::current_stream(0).native(), native);
  EXPECT_NE(Stream(0).native(), native);
}

TEST(Stream, WaitsAndEvents) {
  NEEDS_GPUS(1);
  const Stream a(0), b(0);
  const sn::Event e = a.record();
  EXPECT_EQ(e.device(), sn::Device(0));
  EXPECT_NE(e.native(), nullptr);
  b.wait(e);
  b.wait(a);
  b.wait(b);
  e.synchronize();
  EXPECT_TRUE(e.query());
  b.synchronize();
  EXPECT_TRUE(b.query());
  const sn::Event copy = e;
  EXPECT_EQ(copy.native(), e.native());
}

TEST(Stream, WaitsAcrossGpus) {
  NEEDS_GPUS(2);
  const Stream a(0), b(1);
  b.wait(a);
  b.wait(a.record());
  a.wait(b);
  sn::synchronize();
  EXPECT_TRUE(a.query());
}

TEST(Stream, TimedEvents) {
  NEEDS_GPUS(1);
  const Stream s(0);
  const sn::Event begin = s.record(sn::Timing::On), end = s.record(sn::Timing::On);
  end.synchronize();
  EXPECT_GE(begin.elapsed_ms(end), 0);
  EXPECT_THAT([&] { begin.elapsed_ms(s.record()); }, ThrowsMessage<sn::Error>(HasSubstr("Timing::On")));
  EXPECT_THAT([] { sn::Event().query(); }, ThrowsMessage<sn::Error>(HasSubstr("never recorded")));
  if (sn::device_count() > 1) {
    const sn::Event other = Stream(1).record(sn::Timing::On);
    EXPECT_THAT([&] { begin.elapsed_ms(other); },
                ThrowsMessage<sn::Error>(::testing::AllOf(HasSubstr("cuda:0"), HasSubstr("cuda:1"))));
  }
}

TEST(Stream, ForeignHandles) {
  NEEDS_GPUS(1);
  const Stream legacy = Stream::from_native(nullptr, 0);
  EXPECT_EQ(legacy.native(), nullptr);
  EXPECT_EQ(legacy, Stream::from_native(nullptr, 0));
  legacy.synchronize();
  EXPECT_EQ(Stream::from_native(sn::default_stream(0).native(), 0), sn::default_stream(0));
  EXPECT_THAT([] { Stream::from_native(reinterpret_cast<void*>(2), 0); },
              ThrowsMessage<sn::Error>(HasSubstr("per-thread default stream")));
}

TEST(Stream, TheCpuHasNone) {
  EXPECT_THAT([] { Stream s(sn::cpu); }, ThrowsMessage<sn::DeviceError>(HasSubstr("cpu has no streams")));
  EXPECT_THROW(sn::current_stream(sn::cpu), sn::DeviceError);
  EXPECT_THROW(sn::default_stream(sn::cpu), sn::DeviceError);
  EXPECT_THROW(Stream{sn::device_count()}, sn::DeviceError);
  sn::synchronize(sn::cpu);
}

TEST(Stream, WhatWasMovedFromThrows) {
  NEEDS_GPUS(1);
  Stream moved{sn::Device(0)};
  const Stream stream = std::move(moved);
  const auto expect_error = [&](auto f) { EXPECT_THROW(f(), sn::Error); };
  expect_error([&] { moved.synchronize(); });
  expect_error([&] { moved.query(); });
  expect_error([&] { moved.native(); });
  expect_error([&] { moved.device(); });
  expect_error([&] { moved.record(); });
  expect_error([&] { stream.wait(moved); });
  expect_error([&] { const StreamGuard guard(moved); });
}

TEST(Stream, AGuardMakesTheGpuTheCurrentOne) {
  NEEDS_GPUS(2);
  const Stream stream{sn::Device(1)};
  {
    const StreamGuard guard(stream);
    EXPECT_EQ(sn::current_device(), 1);
    {
      const StreamGuard inner(Stream{sn::Device(0)});
      EXPECT_EQ(sn::current_device(), 0);
    }
    EXPECT_EQ(sn::current_device(), 1);
  }
  EXPECT_EQ(sn::current_device(), 0);
}

}  // namespace
