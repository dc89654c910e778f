// Work that virtual GPUs put off: what events and waits put in order comes out right with every seed, the rest with
// some seeds only.
#include <cstdlib>
#include <runtime/streams.hpp>
#include <runtime/virtual/late_work.hpp>

#include "setup.hpp"
#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

using runtime::EventRef;
using runtime::StreamRef;
using runtime::Streams;
using ::testing::HasSubstr;

const sinter::test::Setup late([] {
  setenv("SINTER_VIRTUAL_LATE", "0", 1);
  unsetenv("SINTER_VIRTUAL_STRICT");
});

constexpr std::size_t n = 16, bytes = n * sizeof(int);
constexpr std::uint32_t seeds = 60;

Streams& streams(int gpu = 0) { return *virtual_gpu(gpu).streams(); }

template <class F>
auto on(const StreamRef& stream, F&& f) {
  const runtime::CurrentStream guard(stream);
  return f();
}

/// How many seeds make `program` give 1.
template <class F>
std::uint32_t count_right(F program) {
  std::uint32_t right = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    runtime::vgpu::LateWork::instance().reseed(seed);
    right += program() == std::vector<int>(n, 1);
  }
  return right;
}

class Late : public ::testing::Test {
 protected:
  void write(const StreamRef& s) {
    on(s, [&] { x_.set(std::vector<int>(n, 1)); });
  }
  void copy(const StreamRef& s, const Array<int>& to, const Array<int>& from, int gpu = 0, int source = 0) {
    on(s, [&] { virtual_gpu(gpu).copy(to.data(), from.data(), bytes, virtual_gpu(source)); });
  }
  std::vector<int> read(const StreamRef& s, const Array<int>& from) {
    return on(s, [&] { return from.get(); });
  }
  void clear() {
    x_.set(std::vector<int>(n, 0));
    y_.set(std::vector<int>(n, 0));
    z_.set(std::vector<int>(n, 0));
    for (int gpu : {0, 1}) virtual_gpu(gpu).synchronize();
  }

  StreamRef a_ = streams().create(), b_ = streams().create(), other_ = streams(1).create();
  Array<int> x_{n}, y_{n}, z_{n, 1};
};

TEST_F(Late, WithoutAWaitBothOrdersHappen) {
  const std::uint32_t right = count_right([&] {
    clear();
    write(a_);
    copy(b_, y_, x_);
    return read(b_, y_);
  });
  EXPECT_GT(right, 0u);
  EXPECT_LT(right, seeds);
}

TEST_F(Late, AStreamIsInItsOwnOrder) {
  EXPECT_EQ(count_right([&] {
              clear();
              write(a_);
              copy(a_, y_, x_);
              on(a_, [&] { x_.set(std::vector<int>(n, 7)); });
              return read(a_, y_);
            }),
            seeds);
}

TEST_F(Late, WaitsOfStreamsAndOfTheHostAreKept) {
  EXPECT_EQ(count_right([&] {
              clear();
              write(a_);
              wait_for(*b_, *a_);
              copy(b_, y_, x_);
              return read(b_, y_);
            }),
            seeds);
  EXPECT_EQ(count_right([&] {
              clear();
              write(a_);
              streams().synchronize(*a_);
              copy(b_, y_, x_);
              return read(b_, y_);
            }),
            seeds);
  EXPECT_EQ(count_right([&] {
              clear();
              write(a_);
              const EventRef event = streams().record(*a_);
              streams().synchronize(*event);
              copy(b_, y_, x_);
              return read(b_, y_);
            }),
            seeds);
}

TEST_F(Late, EventsStandForWhatWasBeforeThem) {
  const std::uint32_t right = count_right([&] {
    clear();
    const EventRef early = streams().record(*a_);
    write(a_);
    wait_for(*b_, *early);
    copy(b_, y_, x_);
    return read(b_, y_);
  });
  EXPECT_LT(right, seeds);
}

TEST_F(Late, GpusWaitForOneAnother) {
  const auto program = [&](bool waits) {
    return [this, waits] {
      clear();
      write(a_);
      if (waits) wait_for(*other_, *a_);
      copy(other_, z_, x_, 1, 0);
      return read(other_, z_);
    };
  };
  EXPECT_EQ(count_right(program(true)), seeds);
  EXPECT_LT(count_right(program(false)), seeds);
}

TEST_F(Late, AskingAgainAndAgainComesToAnEnd) {
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    runtime::vgpu::LateWork::instance().reseed(seed);
    write(a_);
    wait_for(*b_, *a_);
    copy(b_, y_, x_);
    const EventRef event = streams().record(*b_);
    while (!streams().is_done(*event)) {
    }
    EXPECT_TRUE(streams().is_idle(*a_));
  }
}

TEST_F(Late, PinnedMemoryIsReadWhenTheCopyIsDone) {
  std::vector<int> host(n);
  const std::uint32_t right = count_right([&] {
    clear();
    host.assign(n, 1);
    on(a_, [&] { virtual_gpu(0).upload_pinned(x_.data(), host.data(), bytes); });
    host.assign(n, 2);
    return read(a_, x_);
  });
  EXPECT_GT(right, 0u);
  EXPECT_LT(right, seeds);
}

TEST_F(Late, MemoryIsReleasedInTheOrderOfItsStream) {
  EXPECT_EQ(count_right([&] {
              clear();
              write(a_);
              auto between = std::make_unique<Array<int>>(n);
              copy(a_, *between, x_);
              wait_for(streams().standard(), *a_);  // whose memory it is
              const EventRef copied = streams().record(*a_);
              wait_for(*b_, *copied);
              copy(b_, y_, *between);
              wait_for(streams().standard(), *b_);
              between = nullptr;
              return read(b_, y_);
            }),
            seeds);
}

TEST_F(Late, KernelsErrorsComeWithTheNextWait) {
  const TestKernel trap{kernel_source("late_trap", "int* x;", "  __trap();")};
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    runtime::vgpu::LateWork::instance().reseed(seed);
    EXPECT_EQ(error_of([&] { trap({1, 1}, x_); }), "no error");
    EXPECT_THAT(error_of([] { virtual_gpu(0).synchronize(); }), HasSubstr("late_trap"));
    EXPECT_EQ(error_of([] { virtual_gpu(0).synchronize(); }), "no error");
  }
}

}  // namespace
}  // namespace sinter::test
