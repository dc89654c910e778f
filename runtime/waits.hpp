// Waits of the host for a GPU.
#pragma once
#include <cstdint>
#include <string_view>

#include "trace/span.hpp"

namespace sinter::inline v1::runtime {

/// A call that makes its caller wait, from here to the end of the scope: it is counted and traced. A wait takes at
/// least microseconds, this nanoseconds.
class Wait {
 public:
  /// "synchronize a stream".
  explicit Wait(std::string_view call) noexcept;

 private:
  TraceSpan span_;
};

/// Waits in all threads since the process began.
std::uint64_t waits() noexcept;

}  // namespace sinter::inline v1::runtime
