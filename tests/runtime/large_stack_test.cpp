#include <runtime/large_stack.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <thread>
#include "setup.hpp"

// A forked child has lost the threads that would have freed their work.
const sinter::test::Setup leaks_of_children(sinter::test::ignore_leaks);

namespace sinter::runtime {
namespace {

std::size_t stack_bytes() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  std::size_t bytes = 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

TEST(DeepThreads, HaveALargeStackAndServeThemselves) {
  std::size_t bytes = 0;
  std::thread::id outer, inner;
  run_on_large_stack([&] {
    bytes = stack_bytes();
    outer = std::this_thread::get_id();
    run_on_large_stack([&] { inner = std::this_thread::get_id(); });
  });
  EXPECT_GE(bytes, std::size_t(16) << 20);
  EXPECT_NE(outer, std::this_thread::get_id());
  EXPECT_EQ(outer, inner);
}

TEST(DeepThreads, HandOnWhatIsThrown) {
  EXPECT_THROW(run_on_large_stack([] { throw std::logic_error("no"); }), std::logic_error);
}

TEST(DeepThreads, TickUntilTheWorkIsDone) {
  std::promise<void> said;
  int ticks = 0;
  run_on_large_stack([&] { said.get_future().wait(); }, std::chrono::milliseconds(1),
                     [&] {
                       if (++ticks == 3) said.set_value();
                     });
  EXPECT_GE(ticks, 3);
  run_on_large_stack([] {}, std::chrono::hours(1), [] { FAIL() << "it was over at once"; });
}

TEST(DeepThreads, LaterMeansAllOfItSomeTime) {
  constexpr int count = 200;
  std::atomic<int> done = 0;
  std::atomic<int> shallow = 0;
  std::promise<void> all;
  for (int i = 0; i < count; ++i)
    queue_on_large_stack([&] {
      shallow += stack_bytes() < std::size_t(16) << 20;
      if (++done == count) all.set_value();
    });
  all.get_future().wait();
  EXPECT_EQ(shallow, 0);
}

TEST(DeepThreads, WaitingAtTheEndLeavesNothingRunning) {
  std::atomic<int> running = 0;
  for (int i = 0; i < 50; ++i)
    queue_on_large_stack([&] {
      ++running;
      std::this_thread::yield();
      --running;
    });
  wait_for_large_stacks();
  EXPECT_EQ(running, 0);
}

TEST(DeepThreadsDeathTest, TheEndOfTheProcessWaitsForWhatRuns) {
  EXPECT_EXIT(
      {
        std::promise<void> started;
        queue_on_large_stack([&] {
          started.set_value();
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          std::fprintf(stderr, "finished\n");
        });
        started.get_future().wait();
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), "finished");
}

TEST(DeepThreads, AForkedProcessHasItsOwn) {
  std::promise<void> may_end, started;
  queue_on_large_stack([&] {
    started.set_value();
    may_end.get_future().wait();
  });
  started.get_future().wait();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    int ran = 0;
    run_on_large_stack([&] { ++ran; });
    std::promise<void> later;
    queue_on_large_stack([&] { later.set_value(); });
    later.get_future().wait();
    std::exit(ran == 1 ? 0 : 1);  // and does not wait for the parent's
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  may_end.set_value();
  wait_for_large_stacks();
}

}  // namespace
}  // namespace sinter::runtime
