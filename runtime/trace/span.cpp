#include "span.hpp"

#include "nvtx.hpp"
#include "recorder.hpp"

namespace sinter::inline v1::runtime {

namespace detail {

constinit std::atomic<unsigned> trace_sinks{trace_not_read};

bool start_trace() noexcept try {
  if (trace_sinks.load(std::memory_order_relaxed) == trace_not_read) Recorder::get();
  const unsigned sinks = trace_sinks.load(std::memory_order_relaxed);
  return sinks != 0 && sinks != trace_not_read;
} catch (...) {  // out of memory
  trace_sinks.store(0, std::memory_order_relaxed);
  return false;
}

}  // namespace detail

bool traces_to(TraceSink sink) noexcept {
  return traces() && (detail::trace_sinks.load(std::memory_order_relaxed) & static_cast<unsigned>(sink));
}

void TraceSpan::begin(const TraceRecord& work) noexcept {
  record_ = work;
  if (const nvtx::Tool* const tool = nvtx::tool()) {
    tool->push(*record_);
    pushed_ = true;
  }
  record_->begin = trace_clock();
}

void TraceSpan::end() noexcept {
  record_->end = trace_clock();
  if (pushed_) nvtx::tool()->pop();
  if (traces_to(TraceSink::File)) Recorder::get().add(*record_);
}

}  // namespace sinter::inline v1::runtime
