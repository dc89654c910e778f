// Counts and traces the host's waits for GPUs.
#pragma once
#include <cstdint>
#include <string_view>

#include "trace/span.hpp"

namespace sinter::inline v1::runtime {

/// Counts and traces a call that blocks the host, until the end of the scope. Takes nanoseconds; a wait takes
/// microseconds at least.
class WaitSpan {
 public:
  /// "synchronize a stream".
  explicit WaitSpan(std::string_view call) noexcept;

 private:
  TraceSpan span_;
};

/// The number of waits of all threads since the process began.
std::uint64_t waits() noexcept;

}  // namespace sinter::inline v1::runtime
