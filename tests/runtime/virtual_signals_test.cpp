// Kernels' faults are signals, and the program has signals of its own: both keep theirs.
#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <runtime/virtual/signals.hpp>
#include <thread>

#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

using runtime::vgpu::SignalStack;
using ::testing::HasSubstr;

/// A virtual GPU with a short limit, and a kernel on it that spins while its flag is 0.
struct Spinner {
  std::unique_ptr<GpuBackend> gpu;
  KernelHandle function;
  int* flag;
  Spinner() {
    ::setenv("SINTER_VIRTUAL_TIMEOUT", "0.2", 1);
    gpu = runtime::make_virtual_gpu(2);
    ::unsetenv("SINTER_VIRTUAL_TIMEOUT");
    const KernelSource source = kernel_source("spinner", "volatile int* flag;", "  while (!*p.flag) {}");
    function = gpu->load(gpu->compile(source), source.name);
    flag = static_cast<int*>(gpu->allocate(4));
    set(0);
  }
  ~Spinner() { gpu->deallocate(flag, 4); }
  void set(int value) const { gpu->upload(flag, &value, 4); }
  std::string run() const {
    return error_of([&] { launch(*gpu, function, {1, 1}, flag); });
  }
};

TEST(VirtualSignals, ThreadsThatBlockEverySignal) {
  const Spinner spinner;
  const TestKernel outside(kernel_source("outside_blocked", "float* y;", "  p.y[1000] = 0;"));
  const Array<float> y(16);
  std::thread([&] {
    sigset_t all, after;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    EXPECT_THAT(error_of([&] { outside({1, 1}, y); }), HasSubstr("past the end"));
    EXPECT_THAT(spinner.run(), HasSubstr("CUDA_ERROR_LAUNCH_TIMEOUT"));
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    EXPECT_TRUE(sigismember(&after, SIGSEGV) && sigismember(&after, SIGBUS));
  }).join();
}

double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void slow_handler(int) {
  for (const double end = cpu_seconds() + 0.6; cpu_seconds() < end;) continue;
}

TEST(VirtualSignals, TheLimitMayPassInAHandlerOfTheProgram) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers put handlers off";
  const Spinner spinner;
  struct sigaction slow{}, before{};
  slow.sa_handler = slow_handler;
  slow.sa_flags = SA_ONSTACK;
  ::sigaction(SIGUSR1, &slow, &before);
  std::thread sender([kernels = pthread_self()] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    pthread_kill(kernels, SIGUSR1);
  });
  EXPECT_THAT(spinner.run(), HasSubstr("CUDA_ERROR_LAUNCH_TIMEOUT"));
  sender.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

void* signal_stack() {
  stack_t now{};
  ::sigaltstack(nullptr, &now);
  return now.ss_flags & SS_DISABLE ? nullptr : now.ss_sp;
}

TEST(VirtualSignals, ASignalStackGivesWayToTheOneBefore) {
  alignas(64) static std::array<char, 16 << 10> small;
  alignas(64) static std::array<char, 64 << 10> other;
  stack_t first{}, before{}, later{};
  first.ss_sp = small.data();
  first.ss_size = small.size();
  later.ss_sp = other.data();
  later.ss_size = other.size();
  ASSERT_EQ(::sigaltstack(&first, &before), 0);
  std::optional<SignalStack> ours(std::in_place);
  EXPECT_NE(signal_stack(), small.data());
  ours.reset();
  EXPECT_EQ(signal_stack(), small.data());
  ours.emplace();
  ::sigaltstack(&later, nullptr);
  ours.reset();
  EXPECT_EQ(signal_stack(), other.data());  // of somebody who came after us
  ::sigaltstack(&before, nullptr);
}

class VirtualSignalsDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

void leave(int) { std::_Exit(42); }

TEST_F(VirtualSignalsDeathTest, ASigbusOfTheProgramIsItsOwn) {
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, leave);
        const Spinner spinner;
        spinner.set(1);
        spinner.run();
        std::raise(SIGBUS);
      },
      ::testing::ExitedWithCode(42), "");
}

TEST_F(VirtualSignalsDeathTest, WithoutAThreadForTheWatchdogNothingIsLeftBlocked) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers need memory themselves";
  EXPECT_EXIT(
      {
        const Spinner spinner;
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        rlimit none = limit;
        none.rlim_cur = 1 << 20;
        ::setrlimit(RLIMIT_AS, &none);
        std::string message;
        try {
          spinner.run();
        } catch (const Error& e) {
          message = e.what();
        }
        ::setrlimit(RLIMIT_AS, &limit);
        std::fprintf(stderr, "%s\n", message.c_str());
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        const bool works = spinner.run().find("CUDA_ERROR_LAUNCH_TIMEOUT") != std::string::npos;
        std::_Exit(works && !sigismember(&blocked, SIGINT) ? 5 : 1);
      },
      ::testing::ExitedWithCode(5), "cannot start the watchdog thread.*SINTER_VIRTUAL_TIMEOUT=0");
}

TEST_F(VirtualSignalsDeathTest, ProgramsThatIgnoreTheirChildren) {
  EXPECT_EXIT(
      {
        std::signal(SIGCHLD, SIG_IGN);
        const Spinner spinner;  // compiles
        try {
          spinner.gpu->compile({"broken", "nonsense"});
        } catch (const CompileError& e) {
          std::fprintf(stderr, "%s\n", e.what());
          std::_Exit(5);
        }
      },
      ::testing::ExitedWithCode(5), "rejected kernel broken.*exit status unknown");
}

}  // namespace
}  // namespace sinter::test
