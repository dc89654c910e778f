#include "waits.hpp"

#include <atomic>

namespace sinter::inline v1::runtime {
namespace {

constinit std::atomic<std::uint64_t> count{0};

}  // namespace

WaitSpan::WaitSpan(std::string_view call) noexcept : span_(TraceCategory::Wait, call) {
  count.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t waits() noexcept { return count.load(std::memory_order_relaxed); }

}  // namespace sinter::inline v1::runtime
