// Threads that trace while others write what they have.
#include <runtime/trace/recorder.hpp>
#include <runtime/trace/span.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "traces.hpp"

namespace sinter::testing {
namespace {

using runtime::Recorder;
using runtime::TraceCategory;
using runtime::TraceSpan;

const ScratchFolder& folder() {
  static const ScratchFolder made;
  return made;
}
std::string trace() { return folder().file("t.json"); }

const test::Setup traces([] { setenv("SINTER_TRACE", trace().c_str(), 1); });

TEST(TraceThreads, LoseAndMixNothing) {
  constexpr int spans = 1000;
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    while (!ends) Recorder::get().flush();
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < spans; ++i) {
        TraceSpan span(TraceCategory::Plan, "span " + std::to_string(t), {{"first", i}});
        span.add({"second", -i});
      }
    });
  for (std::thread& t : threads) t.join();
  ends = true;
  writer.join();
  const TraceEvents all(trace());
  for (int t = 0; t < 3; ++t) {
    const std::vector<Json> found = all.named("span " + std::to_string(t));
    ASSERT_EQ(found.size(), static_cast<std::size_t>(spans));
    for (int i = 0; i < spans; ++i) {
      const Json& e = found[static_cast<std::size_t>(i)];
      EXPECT_EQ(e["args"]["first"], i);
      EXPECT_EQ(e["args"]["second"], -i);
      EXPECT_EQ(e["tid"], found[0]["tid"]);
    }
  }
}

TEST(TraceThreads, AThreadWithoutRoomWritesItself) {
  constexpr std::size_t spans = 10 * runtime::ThreadRecords::capacity + 7;
  for (std::size_t i = 0; i < spans; ++i) TraceSpan(TraceCategory::Plan, "alone");
  const std::size_t written = TraceEvents(trace()).named("alone").size();
  EXPECT_GE(written, spans - runtime::ThreadRecords::capacity);
  Recorder::get().flush();
  EXPECT_EQ(TraceEvents(trace()).named("alone").size(), spans);
}

}  // namespace
}  // namespace sinter::testing
