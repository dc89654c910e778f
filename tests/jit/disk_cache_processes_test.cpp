// Many processes in one folder, while one of them is killed again and again and another clears the folder.
#include <jit/cache/disk_cache.hpp>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <jit/cache/disk_entry.hpp>
#include <jit/cache/kernel_cache.hpp>
#include "../scratch.hpp"
#include "fake_gpu.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kernel_count = 200, process_count = 8;
constexpr unsigned time_limit_s = 100;  // a process that hangs ends with a signal

runtime::KernelSource source(int i) { return {"k" + std::to_string(i), "the text of kernel " + std::to_string(i)}; }

/// Some pages, which differ everywhere between kernels.
std::string binary_of(const runtime::KernelSource& s) {
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(s.text)));
  std::string bytes(10'000 + random() % 20'000, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

class PagesGpu : public FakeGpu {
 public:
  PagesGpu() : FakeGpu("pages") {}
  std::string compile(const runtime::KernelSource& s) override {
    ++compiles;
    return binary_of(s);
  }
};

/// In a child: asks for every kernel, in an order of its own. The exit status says whether all were right.
[[noreturn]] void work(unsigned seed) {
  ::alarm(time_limit_s);
  std::vector<int> order(kernel_count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937(seed));
  PagesGpu gpu;
  bool right = true;
  for (const int i : order) right &= jit::compiled(source(i), gpu).binary == binary_of(source(i));
  right &= jit_stats().compiles + jit_stats().disk_hits == kernel_count;
  std::_Exit(right ? 0 : 1);
}

[[noreturn]] void clear_for_ever(const fs::path& folder, unsigned seed) {
  ::alarm(time_limit_s);
  std::mt19937 random(seed);
  for (;;) {
    std::error_code ignored;
    if (random() % 4 == 0) {
      fs::remove_all(folder, ignored);
    } else {
      for (fs::directory_iterator i(folder, ignored), end; !ignored && i != end; i.increment(ignored))
        if (random() % 2) fs::remove(i->path(), ignored);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 5));
  }
}

template <class F>
pid_t in_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) f();
  return child;
}

int status_of(pid_t child) {
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Starts a process again and again and kills each after a moment. Stops at `until`.
void kill_some(std::mt19937& random, const std::atomic<bool>& until) {
  while (!until) {
    const unsigned seed = static_cast<unsigned>(random());
    const pid_t victim = in_child([&] {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      work(seed);
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    ::kill(victim, SIGKILL);
    status_of(victim);
  }
}

/// Every entry that is there is whole and holds what belongs to it.
int wrong_entries(const fs::path& folder) {
  int wrong = 0;
  std::error_code missing;
  for (const auto& file : fs::directory_iterator(folder, missing)) {
    if (file.path().extension() != ".kernel") continue;
    const auto entry = jit::decode(read_text(file.path()));
    wrong += !entry || entry->binary != binary_of({entry->key.name, entry->key.text}) ||
             jit::entry_name(entry->key) != file.path().filename();
  }
  return wrong;
}

TEST(DiskCacheProcesses, AllGetTheRightKernelsWhateverHappensToTheFolder) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const ScratchFolder scratch;
  const fs::path folder = scratch.file("cache");
  const ScopedVariable on("SINTER_CACHE", "on"), where("SINTER_CACHE_DIR", folder.string());
  const ScopedVariable no_dump("SINTER_DUMP_DIR", std::nullopt);

  const pid_t clearer = in_child([&] { clear_for_ever(folder, seed); });
  std::vector<pid_t> workers;
  for (int i = 0; i < process_count; ++i) workers.push_back(in_child([&] { work(seed + static_cast<unsigned>(i)); }));
  std::atomic<bool> finished = false;
  // Not in a thread: whoever forks has only one.
  const pid_t killer = in_child([&] {
    ::alarm(time_limit_s);
    kill_some(random, finished);
  });
  for (const pid_t worker : workers) EXPECT_EQ(status_of(worker), 0);
  for (const pid_t other : {killer, clearer}) {
    EXPECT_EQ(::kill(other, 0), 0) << "ended before it was told to";
    ::kill(other, SIGKILL);
    status_of(other);
  }
  EXPECT_EQ(wrong_entries(folder), 0);

  // Undisturbed, the folder then has all of them, and another process compiles none.
  EXPECT_EQ(status_of(in_child([&] { work(seed); })), 0);
  EXPECT_EQ(status_of(in_child([&] {
              PagesGpu gpu;
              for (int i = 0; i < kernel_count; ++i) jit::compiled(source(i), gpu);
              std::_Exit(gpu.compiles == 0 && jit_stats().disk_hits == kernel_count ? 0 : 1);
            })),
            0);
  EXPECT_EQ(wrong_entries(folder), 0);
}

TEST(DiskCacheProcesses, WhoeverLosesTheRaceUsesItsOwn) {
  const ScratchFolder scratch;
  const jit::KernelKey key{"target", "name", "text"};
  jit::DiskCache one({jit::CacheMode::On, scratch.file("cache")}), other({jit::CacheMode::On, scratch.file("cache")});
  const ScopedVariable on("SINTER_CACHE", "on"), where("SINTER_CACHE_DIR", scratch.file("cache"));
  EXPECT_EQ(status_of(in_child([&] {
              // Another process stores its binary of the same kernel while this one compiles.
              class Overtaken : public FakeGpu {
               public:
                Overtaken() : FakeGpu("target") {}
                std::function<void()> meanwhile;
                std::string compile(const runtime::KernelSource&) override {
                  meanwhile();
                  return "mine";
                }
              } gpu;
              gpu.meanwhile = [&] { one.store(key, "another's"); };
              std::_Exit(jit::compiled({"name", "text"}, gpu).binary == "mine" ? 0 : 1);
            })),
            0);
  EXPECT_EQ(other.find(key), "mine");  // who was last; both are right
}

}  // namespace
}  // namespace sinter::testing
