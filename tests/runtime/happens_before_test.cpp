// Work on several streams in the strict tier: whatever no event or wait puts in order is reported every time, although
// virtual GPUs do everything at once; what is in order runs clean.
#include <cstdlib>
#include <runtime/streams.hpp>
#include <runtime/virtual/happens_before.hpp>

#include "setup.hpp"
#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

using runtime::StreamImpl;
using runtime::StreamRef;
using runtime::Streams;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Before the first kernel asks.
const sinter::test::Setup strict([] { setenv("SINTER_VIRTUAL_STRICT", "1", 1); });

constexpr std::size_t n = 64;
const char* const clean = "no error";

class Ordering : public ::testing::Test {
 protected:
  static Streams& streams(int gpu = 0) { return *virtual_gpu(gpu).streams(); }
  static std::string message(const StreamImpl& waits) {
    return "no event or wait makes " + describe(waits) + " wait for it";
  }

  template <class F>
  static std::string on(const StreamRef& stream, F&& f) {
    const runtime::CurrentStream guard(stream);
    return error_of(f);
  }
  std::string write(const StreamRef& s) {
    return on(s, [&] { writer_({1, n}, x_); });
  }
  std::string read(const StreamRef& s, const Array<float>& to) {
    return on(s, [&] { reader_({1, n}, to, x_); });
  }
  static void wait(const StreamRef& stream, const StreamRef& other) { wait_for(*stream, *other); }

  TestKernel writer_{kernel_source("write_all", "float* x;", "  p.x[threadIdx.x] = 1.0f;")};
  TestKernel reader_{kernel_source("read_all", "float* y; const float* x;", "  p.y[threadIdx.x] = p.x[threadIdx.x];")};
  StreamRef a_ = streams().create(), b_ = streams().create(), c_ = streams().create();
  Array<float> x_{std::vector<float>(n, 1.0f)}, y_{n}, z_{n};

  // Before the arrays go.
  void TearDown() override {
    virtual_gpu(0).synchronize();
    virtual_gpu(1).synchronize();
  }
  void SetUp() override { virtual_gpu(0).synchronize(); }
};

TEST_F(Ordering, AReadAfterAWrite) {
  EXPECT_EQ(write(a_), clean);
  EXPECT_THAT(
      read(b_, y_),
      AllOf(HasSubstr("CUDA_ERROR_LAUNCH_FAILED"), HasSubstr("kernel read_all on cuda:0 (virtual), block 0 of 1"),
            HasSubstr("line 3: p.y[threadIdx.x] = p.x[threadIdx.x];"),
            HasSubstr("a read of 4 bytes is not ordered after a write by kernel write_all on " + describe(*a_)),
            HasSubstr(message(*b_)), HasSubstr("at byte 0 of allocation #")));
  wait(b_, a_);
  EXPECT_EQ(read(b_, y_), clean);
}

TEST_F(Ordering, AWriteAfterARead) {
  EXPECT_EQ(read(a_, y_), clean);
  EXPECT_THAT(write(b_), AllOf(HasSubstr("a write of 4 bytes is not ordered after a read by kernel read_all on"),
                               HasSubstr(message(*b_))));
  wait(b_, a_);
  EXPECT_EQ(write(b_), clean);
}

TEST_F(Ordering, AWriteAfterAWrite) {
  EXPECT_EQ(write(a_), clean);
  EXPECT_THAT(write(b_), HasSubstr("a write of 4 bytes is not ordered after a write by kernel write_all"));
}

TEST_F(Ordering, OneStreamIsInOrder) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(write(a_), clean);
    EXPECT_EQ(read(a_, y_), clean);
  }
}

TEST_F(Ordering, ReadersSideBySide) {
  EXPECT_EQ(write(a_), clean);
  wait(b_, a_);
  wait(c_, a_);
  EXPECT_EQ(read(b_, y_), clean);
  EXPECT_EQ(read(c_, z_), clean);
  EXPECT_EQ(read(b_, y_), clean);  // again, after both
  // Whoever writes must wait for all of them, whichever came last.
  wait(a_, b_);
  EXPECT_THAT(write(a_), HasSubstr("a read by kernel read_all on " + describe(*c_)));
  wait(a_, c_);
  EXPECT_EQ(write(a_), clean);
}

TEST_F(Ordering, AnEventIsAPointInAStream) {
  const runtime::EventRef early = streams().record(*a_);
  EXPECT_EQ(write(a_), clean);
  wait_for(*b_, *early);
  EXPECT_THAT(read(b_, y_), HasSubstr("not ordered after"));
  const runtime::EventRef late = streams().record(*a_);
  wait_for(*b_, *late);
  EXPECT_EQ(read(b_, y_), clean);
}

TEST_F(Ordering, OrderIsTransitive) {
  EXPECT_EQ(write(a_), clean);
  wait(b_, a_);
  wait(c_, b_);  // b did nothing itself
  EXPECT_EQ(read(c_, y_), clean);
}

TEST_F(Ordering, TheHostWaits) {
  EXPECT_EQ(write(a_), clean);
  streams().synchronize(*a_);
  EXPECT_EQ(read(b_, y_), clean);
  EXPECT_EQ(read(c_, z_), clean);
  streams().synchronize(*streams().record(*b_));
  EXPECT_THAT(write(a_), HasSubstr("a read by kernel read_all on " + describe(*c_)));
  virtual_gpu(0).synchronize();
  EXPECT_EQ(write(a_), clean);
}

TEST_F(Ordering, AnEventKnowsWhatTheHostWaitedFor) {
  EXPECT_EQ(write(a_), clean);
  streams().synchronize(*a_);
  const runtime::EventRef event = streams().record(*b_);  // issued after that
  wait_for(*c_, *event);
  EXPECT_EQ(read(c_, y_), clean);
}

TEST_F(Ordering, BytesOfTheirOwn) {
  const TestKernel half(
      kernel_source("write_half", "float* x; long long from;", "  p.x[p.from + threadIdx.x] = 1.0f;"));
  const auto write_half = [&](const StreamRef& s, long long from) {
    return on(s, [&] { half({1, n / 2}, x_, from); });
  };
  EXPECT_EQ(write_half(a_, 0), clean);
  EXPECT_EQ(write_half(b_, n / 2), clean);
  EXPECT_THAT(write_half(b_, n / 2 - 1), HasSubstr("at byte 124 of allocation"));
}

TEST_F(Ordering, AtomicOperationsSideBySide) {
  const TestKernel add(kernel_source("add_all", "float* x;", "  atomicAdd(p.x, 1.0f);"));
  for (const StreamRef& s : {a_, b_, a_}) EXPECT_EQ(on(s, [&] { add({1, n}, x_); }), clean);
  wait(c_, a_);
  EXPECT_THAT(read(c_, y_), HasSubstr("a write by kernel add_all on " + describe(*b_)));
  wait(c_, b_);
  EXPECT_EQ(read(c_, y_), clean);
  EXPECT_EQ(on(c_, [&] { EXPECT_FLOAT_EQ(y_.get()[0], 1.0f + 3 * n); }), clean);
}

TEST_F(Ordering, CopiesFromAndToTheHost) {
  EXPECT_EQ(write(a_), clean);
  const auto copy_in = [&] { x_.set(std::vector<float>(n, 2.0f)); };
  const auto copy_out = [&] { x_.get(); };
  EXPECT_THAT(on(b_, copy_in),
              AllOf(HasSubstr("a copy from the host to cuda:0 (virtual): its write is not ordered after "
                              "a write by kernel write_all on " +
                              describe(*a_)),
                    HasSubstr(message(*b_)), HasSubstr("cuda:0, at byte 0 of allocation #")));
  EXPECT_THAT(on(b_, copy_out), HasSubstr("a copy to the host from cuda:0 (virtual): its read is not ordered after"));
  EXPECT_EQ(on(a_, copy_out), clean);  // which waits for the stream
  EXPECT_EQ(on(b_, copy_in), clean);
  EXPECT_THAT(read(c_, y_), HasSubstr("a write by a copy from the host to cuda:0 on " + describe(*b_)));
}

TEST_F(Ordering, CopiesBetweenGpus) {
  const Array<float> there(n, 1);
  const StreamRef other = streams(1).create();
  const auto copy = [&] { virtual_gpu(1).copy(there.data(), x_.data(), n * sizeof(float), virtual_gpu(0)); };
  EXPECT_EQ(write(a_), clean);
  EXPECT_THAT(on(other, copy),
              AllOf(HasSubstr("a copy within GPUs to cuda:1"), HasSubstr("a write by kernel write_all")));
  wait(other, a_);
  EXPECT_EQ(on(other, copy), clean);
  EXPECT_THAT(write(a_), HasSubstr("a read by a copy within GPUs to cuda:1 on " + describe(*other)));
  EXPECT_THAT(on(streams(1).create(), [&] { there.get(); }), HasSubstr("not ordered after a write by a copy"));
  wait(a_, other);
  EXPECT_EQ(write(a_), clean);
  virtual_gpu(1).synchronize();
}

TEST_F(Ordering, TheLegacyDefaultStreamsOfTwoGpusAreTwo) {
  const Array<float> there(n, 1);
  const StreamRef here = streams(0).wrap(nullptr), other = streams(1).wrap(nullptr);
  EXPECT_EQ(write(here), clean);
  const auto copy = [&] { virtual_gpu(1).copy(there.data(), x_.data(), n * sizeof(float), virtual_gpu(0)); };
  EXPECT_THAT(on(other, copy), HasSubstr("not ordered after a write by kernel write_all"));
  wait(other, here);
  EXPECT_EQ(on(other, copy), clean);
  virtual_gpu(1).synchronize();
}

TEST_F(Ordering, MemoryIsReleasedAfterItsUses) {
  const auto release = [&](const StreamRef& user, runtime::Fence fence) {
    runtime::GpuBackend& gpu = virtual_gpu(0);
    void* const data = gpu.allocate(n * sizeof(float), a_.get());
    const auto use = [&] { launch(gpu, writer_.on(0), {1, n}, static_cast<float*>(data)); };
    EXPECT_EQ(on(user, use), clean);
    if (fence) fence->push_back(streams().record(*user));
    gpu.deallocate(data, n * sizeof(float), a_.get(), std::move(fence));
    return error_of([&] { gpu.synchronize(); });
  };
  EXPECT_EQ(release(a_, nullptr), clean);
  EXPECT_THAT(release(b_, nullptr),
              AllOf(HasSubstr("256 bytes of cuda:0 (virtual) were freed on " + describe(*a_) +
                              " while kernel write_all on " + describe(*b_) + " may still use them"),
                    HasSubstr("at byte 0 of allocation #")));
  EXPECT_EQ(error_of([&] { virtual_gpu(0).synchronize(); }), clean);  // told once
  EXPECT_EQ(release(b_, std::make_unique<std::vector<runtime::EventRef>>()), clean);
}

TEST_F(Ordering, WorkNobodyWaitedForIsBusyWhenFirstAsked) {
  EXPECT_EQ(write(a_), clean);
  const runtime::EventRef event = streams().record(*a_);
  EXPECT_FALSE(streams().is_idle(*a_));
  EXPECT_FALSE(streams().is_done(*event));
  EXPECT_THAT(read(b_, y_), HasSubstr("not ordered after"));
  EXPECT_TRUE(streams().is_done(*event));
  EXPECT_EQ(read(b_, y_), clean);  // the host has seen it
  EXPECT_TRUE(streams().is_idle(*a_));
  streams().synchronize(*b_);
  EXPECT_TRUE(streams().is_idle(*b_));
}

TEST(Clock, CoversWhatWasMerged) {
  runtime::vgpu::Clock a, b;
  EXPECT_TRUE(a.covers(b));
  a.set(3, 5);
  EXPECT_TRUE(a.covers(3, 5));
  EXPECT_FALSE(a.covers(3, 6));
  EXPECT_FALSE(a.covers(7, 1));
  EXPECT_FALSE(b.covers(a));
  b.set(0, 2);
  b.merge(a);
  EXPECT_TRUE(b.covers(a));
  EXPECT_FALSE(a.covers(b));
}

}  // namespace
}  // namespace sinter::test
