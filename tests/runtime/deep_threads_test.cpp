#include <runtime/deep_threads.hpp>

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
const sinter::test::Setup leaks(sinter::test::ignore_leaks);

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
  run_deep([&] {
    bytes = stack_bytes();
    outer = std::this_thread::get_id();
    run_deep([&] { inner = std::this_thread::get_id(); });
  });
  EXPECT_GE(bytes, std::size_t(16) << 20);
  EXPECT_NE(outer, std::this_thread::get_id());
  EXPECT_EQ(outer, inner);
}

TEST(DeepThreads, HandOnWhatIsThrown) {
  EXPECT_THROW(run_deep([] { throw std::logic_error("no"); }), std::logic_error);
}

TEST(DeepThreads, SayWhenPatienceEnds) {
  std::promise<void> said;
  bool told = false;
  run_deep([&] { said.get_future().wait(); }, std::chrono::milliseconds(1),
           [&] {
             told = true;
             said.set_value();
           });
  EXPECT_TRUE(told);
  run_deep([] {}, std::chrono::hours(1), [] { FAIL() << "it was over at once"; });
}

TEST(DeepThreads, LaterMeansAllOfItSomeTime) {
  constexpr int count = 200;
  std::atomic<int> done = 0;
  std::atomic<int> shallow = 0;
  std::promise<void> all;
  for (int i = 0; i < count; ++i)
    run_deep_later([&] {
      shallow += stack_bytes() < std::size_t(16) << 20;
      if (++done == count) all.set_value();
    });
  all.get_future().wait();
  EXPECT_EQ(shallow, 0);
}

TEST(DeepThreads, WaitingAtTheEndLeavesNothingRunning) {
  std::atomic<int> running = 0;
  for (int i = 0; i < 50; ++i)
    run_deep_later([&] {
      ++running;
      std::this_thread::yield();
      --running;
    });
  wait_for_deep_work();
  EXPECT_EQ(running, 0);
}

TEST(DeepThreadsDeathTest, TheEndOfTheProcessWaitsForWhatRuns) {
  EXPECT_EXIT(
      {
        std::promise<void> started;
        run_deep_later([&] {
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
  run_deep_later([&] {
    started.set_value();
    may_end.get_future().wait();
  });
  started.get_future().wait();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    int ran = 0;
    run_deep([&] { ++ran; });
    std::promise<void> later;
    run_deep_later([&] { later.set_value(); });
    later.get_future().wait();
    std::exit(ran == 1 ? 0 : 1);  // and does not wait for the parent's
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  may_end.set_value();
  wait_for_deep_work();
}

}  // namespace
}  // namespace sinter::runtime
