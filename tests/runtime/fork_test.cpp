#include <runtime/fork.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <runtime/cpu/host_memory.hpp>
#include <runtime/pool.hpp>
#include <sinter/runtime/error.hpp>

#include "setup.hpp"
#include "stub_streams.hpp"

// A forked child has lost the threads that would have freed their work.
const sinter::test::Setup leaks(sinter::test::ignore_leaks);

namespace sinter::runtime {
namespace {

/// Whether `f` gives true in a child. One that hangs is ended by a signal.
bool in_child(const std::function<bool()>& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(f() ? 0 : 1);
  }
  int status = -1;
  while (::waitpid(child, &status, 0) != child) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A thread that has done `f` up to where it calls its argument, and goes on with resume().
class Stopped {
 public:
  explicit Stopped(std::function<void(const std::function<void()>&)> f)
      : thread_([this, f = std::move(f)] { f([this] { stop(); }); }) {
    while (!stopped_) std::this_thread::yield();
  }
  void resume() { goes_on_ = true; }
  ~Stopped() {
    resume();
    thread_.join();
  }

 private:
  void stop() {
    stopped_ = true;
    while (!goes_on_) std::this_thread::yield();
  }

  std::atomic<bool> stopped_ = false, goes_on_ = false;
  std::thread thread_;
};

bool throws_error(const std::function<void()>& f, std::string_view text) {
  try {
    f();
  } catch (const Error& e) {
    return std::string_view(e.what()).find(text) != std::string_view::npos;
  }
  return false;
}

TEST(NoFork, AForkWaitsForOtherThreads) {
  int half = 0, other_half = 0;
  for (int i = 0; i < 20; ++i) {
    Stopped thread([&](const auto& stop) {
      const NoFork no_fork, nested;
      ++half;
      stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++other_half;
    });
    thread.resume();
    EXPECT_TRUE(in_child([&] { return half == other_half; }));
  }
}

TEST(NoFork, NotForTheThreadItself) {
  const NoFork no_fork;
  EXPECT_TRUE(in_child([] { return NoFork(), in_child([] { return NoFork(), true; }); }));
}

TEST(NoFork, ManyThreadsForkAndDoNot) {
  std::atomic<int> right = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < (t < 2 ? 20 : 10'000); ++i)
        if (t < 2)
          right += in_child([&] { return ForkSafeLock(mutex), true; });
        else
          const ForkSafeLock lock(mutex);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 40);
}

TEST(NoFork, AChildThatWasNotWorthWaitingForIsTold) {
  Stopped thread([](const auto& stop) {
    const NoFork no_fork;
    stop();
  });
  set_fork_patience(std::chrono::milliseconds(20));
  const auto is_told = [] {
    return NoFork(std::nothrow), throws_error([] { const NoFork no_fork; }, "was forked while");
  };
  EXPECT_TRUE(in_child([&] { return is_told() && in_child(is_told); }));
  set_fork_patience(std::chrono::seconds(5));
  thread.resume();
  EXPECT_TRUE(in_child([] { return NoFork(), true; }));
}

TEST(NoDestructor, IsMadeOnceAndTriedAgain) {
  static constinit NoDestructor<int> number;
  EXPECT_THROW(number.get([]() -> int* { throw std::logic_error("no"); }), std::logic_error);
  int& made = number.get([] { return new int(7); });
  EXPECT_EQ(&made, &number.get());
  EXPECT_EQ(made, 7);
}

TEST(ForkLocal, AChildHasItsOwn) {
  ForkLocal<std::mutex> mutex;
  EXPECT_EQ(mutex.find(), nullptr);
  std::mutex& own = mutex.get();
  EXPECT_EQ(&own, mutex.find());
  EXPECT_EQ(&own, &mutex.get());
  const std::lock_guard lock(own);
  EXPECT_TRUE(in_child([&] { return !mutex.find() && mutex.get().try_lock(); }));
}

/// Stops who asks whether a stream captures.
struct StoppingCalls final : sinter::testing::StubStreamCalls {
  bool is_capturing(void*) override {
    if (stop) stop();
    return false;
  }
  std::function<void()> stop;
};

TEST(Pool, AChildsListsAreItsOwnWhereAThreadWasChangingThem) {
  StoppingCalls calls;
  Streams streams(Device(0), calls);
  HostMemory source;
  {
    Pool pool(source, Device(0), Pool::Memory::Device, ~std::size_t(0));
    StreamImpl* const stream = &streams.standard();
    Fence fence = std::make_unique<std::vector<EventRef>>();
    fence->push_back(streams.record(*stream));
    pool.deallocate(pool.allocate(1000, stream), 1000, stream, std::move(fence));
    const Stopped thread([&](const auto& stop) {
      calls.stop = stop;
      pool.deallocate(pool.allocate(1000, stream), 1000, stream);
    });
    EXPECT_TRUE(in_child([&] {
      calls.stop = nullptr;
      void* const data = pool.allocate(1000, stream);
      const bool is_counted = pool.stats().blocks == 1;
      pool.deallocate(data, 1000, stream);
      return is_counted && pool.trim() > 0;
    }));
  }
}

}  // namespace
}  // namespace sinter::runtime
