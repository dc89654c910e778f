// A gate: many inside at once, one that closes it.
#include <runtime/gate.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sinter::runtime {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();

TEST(Gate, ManyAreInsideAtOnce) {
  Gate gate;
  gate.enter();
  std::thread([&] {
    gate.enter();
    gate.leave();
  }).join();
  gate.leave();
}

/// Threads of which one at least is inside at any time: a lock that lets readers pass a waiting writer never ends here.
TEST(Gate, ThoseWhoOverlapDoNotKeepTheCloserWaiting) {
  Gate gate;
  std::atomic<bool> stop = false;
  std::atomic<int> inside = 0, rounds = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        gate.enter();
        const int before = rounds;
        ++inside;
        // Stays until another one came in, or cannot.
        for (int waited = 0; inside < 2 && rounds == before && waited < 50; ++waited)
          std::this_thread::sleep_for(100us);
        --inside;
        gate.leave();
      }
    });
  for (int i = 0; i < 50; ++i) {
    gate.close();
    EXPECT_TRUE(gate.wait_for_others(0, for_ever));
    EXPECT_EQ(inside, 0);
    ++rounds;
    std::this_thread::sleep_for(50us);
    EXPECT_EQ(inside, 0);
    gate.open();
    std::this_thread::sleep_for(200us);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
}

TEST(Gate, PatienceEnds) {
  Gate gate;
  gate.enter();
  gate.close();
  EXPECT_FALSE(gate.wait_for_others(0, 1ms));
  EXPECT_TRUE(gate.wait_for_others(1, for_ever)) << "its own";
  gate.forget_others(0);
  EXPECT_TRUE(gate.wait_for_others(0, for_ever));
  gate.open();
}

TEST(Gate, OneClosesItAtATime) {
  Gate gate;
  std::atomic<int> closed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        gate.close();
        EXPECT_EQ(++closed, 1);
        --closed;
        gate.open();
        gate.enter();
        gate.leave();
      }
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace sinter::runtime
