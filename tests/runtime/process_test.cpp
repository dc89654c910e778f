#include <runtime/process.hpp>

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

namespace sinter::testing {
namespace {

using namespace std::chrono_literals;
using runtime::run_process;

TEST(Process, ReadsWhatItIsGiven) {
  std::string text;
  for (int i = 0; text.size() < 300'000; ++i) text += std::to_string(i) + "\n";  // more than a pipe holds
  EXPECT_EQ(run_process({"cat"}, {.input = text}).output, text);
  EXPECT_EQ(run_process({"cat"}).output, "");
}

TEST(Process, ErrorsGoWhereTheyAreAskedTo) {
  const std::vector<std::string> both{"sh", "-c", "echo out; echo err >&2"};
  EXPECT_EQ(run_process(both).output, "out\nerr\n");
  EXPECT_EQ(run_process(both, {.merges_errors = false}).output, "out\n");
}

TEST(Process, IsKilledPastItsLimit) {
  const runtime::ProcessResult ended = run_process({"sh", "-c", "echo begun; exec sleep 1000"}, {.limit = 200ms});
  EXPECT_EQ(ended.output.substr(0, 6), ended.output.empty() ? "" : "begun\n");
  EXPECT_EQ(ended.status, 128 + 9);
  EXPECT_TRUE(ended.failed());
}

/// Together with what it started, and whose end would otherwise be waited for.
TEST(Process, IsTerminatedWhenItIsCancelled) {
  std::atomic<bool> cancelled{false};
  std::thread later([&] {
    std::this_thread::sleep_for(300ms);
    cancelled = true;
  });
  const runtime::ProcessResult ended =
      run_process({"sh", "-c", "sleep 1000 & echo $!; wait"}, {.cancelled = &cancelled});
  later.join();
  EXPECT_EQ(ended.status, 128 + 15);
  const pid_t grandchild = std::atoi(ended.output.c_str());
  ASSERT_GT(grandchild, 0) << ended.output;
  for (int i = 0; i < 1000 && kill(grandchild, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_NE(kill(grandchild, 0), 0) << "still there";
  cancelled = false;
  EXPECT_EQ(run_process({"sh", "-c", "sleep 0.1; echo done"}, {.cancelled = &cancelled}).output, "done\n");
}

TEST(Process, TellsWhyItDidNotStart) {
  const runtime::ProcessResult ended = run_process({"/nowhere/dot"}, {.input = "graph {}"});
  EXPECT_TRUE(ended.failed());
  EXPECT_EQ(ended.ending(), "it did not start: No such file or directory");
}

}  // namespace
}  // namespace sinter::testing
