// Streams that record their calls.
#pragma once
#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <runtime/streams.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::testing {

/// For one thread. Events are done when `done` is set.
class StubStreamCalls : public runtime::StreamCalls {
 public:
  ~StubStreamCalls() override { EXPECT_EQ(alive, 0); }

  void* create_stream() override { return create("create_stream"); }
  void destroy_stream(void* stream) noexcept override { destroy(stream); }
  bool is_idle(void*) override { return enter("is_idle"), done; }
  bool is_capturing(void*) override { return capturing; }
  void synchronize(void*) override { enter("synchronize"); }
  void* create_event(bool timed) override { return create(timed ? "create_timed" : "create_event"); }
  void destroy_event(void* event) noexcept override { destroy(event); }
  void record(void*, void*) override { enter("record"); }
  void wait(void*, void*) override { enter("wait"); }
  bool is_done(void*) override { return enter("is_done"), done; }
  void synchronize_event(void*) override { enter("synchronize_event"); }
  float elapsed_ms(void*, void*) override { return 1; }

  /// The calls since the last time.
  std::vector<std::string> taken() { return std::exchange(calls, {}); }

  std::vector<std::string> calls;
  std::set<std::string> failing;
  bool done = false;
  bool capturing = false;
  int alive = 0;

 private:
  void enter(const std::string& call) {
    calls.push_back(call);
    if (failing.contains(call)) throw CudaError("CUDA error: " + call);
  }
  void* create(const std::string& call) {
    enter(call);
    ++alive;
    return new char;
  }
  void destroy(void* object) noexcept {
    --alive;
    delete static_cast<char*>(object);
  }
};

}  // namespace sinter::testing
