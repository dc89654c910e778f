// Spans record what Sinter does and when. SINTER_TRACE=file.json writes them as a timeline; profilers that support NVTX
// get them as ranges.
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

/// False if spans go nowhere, which is known after the first one. For hot paths, where a function call would matter.
inline bool may_trace() noexcept { return detail::trace_sinks.load(std::memory_order_relaxed) != 0; }
/// Whether spans go anywhere.
inline bool traces() noexcept { return may_trace() && detail::start_trace(); }

/// Destinations of spans: the trace file, a profiler, or both.
enum class TraceSink : unsigned { File = 1, Nvtx = 2 };
bool traces_to(TraceSink sink) noexcept;

/// Traces this thread's work until the end of the scope. Spans of a thread nest.
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

  /// Adds a value that is known only after the start.
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
