// What Sinter does and when, for who asks: SINTER_TRACE=file.json writes a timeline, and profilers that take NVTX get
// ranges. Both come from spans.
#pragma once
#include <atomic>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "record.hpp"

namespace sinter::inline v1::runtime {

namespace detail {
inline constexpr unsigned trace_not_read = ~0u;
extern std::atomic<unsigned> trace_sinks;
bool start_trace() noexcept;
}  // namespace detail

/// False where nothing takes spans, as is known after the first one. For where a call of a function would count.
inline bool may_trace() noexcept { return detail::trace_sinks.load(std::memory_order_relaxed) != 0; }
/// Whether anything takes spans.
inline bool traces() noexcept { return may_trace() && detail::start_trace(); }

/// Where spans go. They are written to the file, or are ranges of a profiler's, or both.
enum class TraceSink : unsigned { File = 1, Nvtx = 2 };
bool traces_to(TraceSink sink) noexcept;

/// Work of this thread, from here to the end of the scope. Spans of a thread nest.
class TraceSpan {
 public:
  explicit TraceSpan(TraceCategory category, std::string_view name,
                     std::initializer_list<TraceValue> values = {}) noexcept {
    if (traces()) [[unlikely]]
      begin({category, name, values});
  }
  explicit TraceSpan(const TraceRecord& work) noexcept {
    if (traces()) [[unlikely]]
      begin(work);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;
  ~TraceSpan() {
    if (record_) [[unlikely]]
      end();
  }

  /// What is known later.
  void add(TraceValue value) noexcept {
    if (record_) [[unlikely]]
      record_->add(value);
  }

 private:
  void begin(const TraceRecord& work) noexcept;
  void end() noexcept;

  std::optional<TraceRecord> record_;
  bool pushed_ = false;  // to NVTX
};

}  // namespace sinter::inline v1::runtime
