// Forks while other threads of the process evaluate and compile: the child works.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include <runtime/fork.hpp>

#include "devices.hpp"
#include "setup.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;

const sinter::test::Setup forks_meet_compilations(sinter::test::keep_kernels_in_memory);

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

constexpr unsigned patience_s = 20;
const bool is_slow = std::getenv("SINTER_VIRTUAL_STRICT") != nullptr;

/// Small, and large enough for several threads.
bool known(sn::Device device) {
  const std::int64_t many = is_slow && !device.is_cpu() ? 4'000 : 400'000;
  const sn::Tensor<float> a = sn::full({3}, 1.5f, device), b = sn::full({many}, 2.0f, device);
  const sn::Tensor<float> small = a * 2 + 1, large = b.sqrt() * b;
  return small[1].item() == 4 && std::abs(large[many - 1].item() - 2.8284271f) < 1e-5f;
}

/// A different expression for each number, and so a different kernel.
bool numbered(unsigned number, sn::Device device) {
  const sn::Tensor<float> x = sn::full({5}, 1.0f, device);
  sn::Lazy<float> e = x - 0;
  float expected = 1;
  for (unsigned bits = number; bits != 0; bits >>= 1) {
    e = (bits & 1) != 0 ? sn::Lazy<float>(e + x) : sn::Lazy<float>(e * x);
    expected += static_cast<float>(bits & 1);
  }
  return sn::Tensor<float>(e)[4].item() == expected;
}

/// A real GPU that the parent had open.
bool is_refused(unsigned number) {
  return message_of<sn::Error>([&] { numbered(number, sn::Device(0)); }).find("forked after") != std::string::npos;
}

struct Outcomes {
  int right = 0, refused = 0, wrong = 0, hung = 0;
};

/// The outcome of `f` in a child, which exits or is ended by a signal.
void in_child(const std::function<bool()>& f, Outcomes& outcomes) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(patience_s);
    try {
      _exit(f() ? 0 : 1);
    } catch (const sn::Error& e) {
      const bool is_clear = std::string_view(e.what()).find("forked while") != std::string_view::npos;
      if (!is_clear) std::fprintf(stderr, "in the child: %s\n", e.what());
      _exit(is_clear ? 2 : 1);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) != child) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ++(code == 0                                            ? outcomes.right
     : code == 2                                          ? outcomes.refused
     : WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? outcomes.hung
                                                          : outcomes.wrong);
}

/// Threads that use Sinter until they are stopped.
class Busy {
 public:
  Busy() {
    numbered(1000, sn::Device(0));
    for (const sn::Device device : {sn::Device(), sn::Device(0)}) {
      threads_.emplace_back([this, device] {
        while (!stop_) all_right_ = known(device) && all_right_;
      });
      threads_.emplace_back([this, device] {
        while (!stop_) all_right_ = numbered(++number_, device) && all_right_;
      });
    }
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
    EXPECT_TRUE(all_right_);
  }
  /// The number of the expression that was started last.
  unsigned number() const { return number_; }

 private:
  std::atomic<bool> stop_ = false, all_right_ = true;
  std::atomic<unsigned> number_ = 1000;
  std::vector<std::thread> threads_;
};

TEST(Fork, WhileOtherThreadsEvaluateAndCompile) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizers' own locks do not survive such a fork";
  const int forks = is_slow ? 10 : 50;
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937 random(seed);
  Outcomes outcomes;
  {
    const Busy busy;
    for (int i = 0; i < forks && outcomes.hung < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
      // The kernel that a thread of the parent may be compiling, and one that no thread has.
      const unsigned begun = busy.number(), own = 1'000'000 + static_cast<unsigned>(i);
      const bool compiles = i % 5 == 0;
      in_child(
          [=] {
            if (!known(sn::Device()) || !numbered(own, sn::Device())) return false;
            if (!virtual_gpus) return is_refused(begun) && is_refused(own);
            return known(sn::Device(0)) &&
                   (!compiles || (numbered(begun, sn::Device(0)) && numbered(own, sn::Device(1))));
          },
          outcomes);
    }
  }
  std::printf("%d right, %d refused, %d wrong, %d hung (seed %u)\n", outcomes.right, outcomes.refused, outcomes.wrong,
              outcomes.hung, seed);
  EXPECT_EQ(outcomes.right, forks);
}

/// Large enough for OpenBLAS's threads, and in halves for oneTBB's.
bool multiplies() {
  const sn::Tensor<float> x = sn::full({300, 300}, 0.5f);
  const sn::Tensor<sn::half> h = x.to<sn::half>();
  const sn::Tensor<float> product = sn::matmul(x, x);
  const sn::Tensor<sn::half> halves = sn::matmul(h, h);
  return product[299][7].item() == 75 && static_cast<float>(halves[7][299].item()) == 75;
}

TEST(Fork, WhileOtherThreadsMultiplyMatrices) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizers' own locks do not survive such a fork";
  ASSERT_TRUE(multiplies());
  std::atomic<bool> stop = false, all_right = true;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (!stop) all_right = multiplies() && all_right;
    });
  Outcomes outcomes;
  constexpr int forks = 20;
  std::mt19937 random(1);
  for (int i = 0; i < forks && outcomes.hung < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    in_child(multiplies, outcomes);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(all_right);
  EXPECT_EQ(outcomes.right, forks);
}

/// A fork that does not wait: the child works or gets an error.
TEST(Fork, WhileOtherThreadsTakeTooLong) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizers' own locks do not survive such a fork";
  sn::runtime::set_fork_patience(std::chrono::milliseconds(1));
  std::atomic<bool> stop = false;
  std::thread slow([&] {
    const sn::runtime::NoFork no_fork;
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  Outcomes outcomes;
  {
    std::vector<std::thread> hits;
    for (int t = 0; t < 2; ++t)
      hits.emplace_back([&] {
        while (!stop) known(sn::Device(0));
      });
    for (int i = 0; i < 10 && outcomes.hung < 2; ++i)
      in_child([] { return virtual_gpus ? known(sn::Device()) && known(sn::Device(0)) : known(sn::Device()); },
               outcomes);
    stop = true;
    for (std::thread& t : hits) t.join();
  }
  slow.join();
  sn::runtime::set_fork_patience(std::chrono::seconds(5));
  EXPECT_EQ(outcomes.right + outcomes.refused, 10);
}

}  // namespace
}  // namespace sinter_tests
