#include "virtual_streams.hpp"

#include <chrono>

namespace sinter::inline v1::runtime::vgpu {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  Clock::time_point recorded;
};

}  // namespace

// A stream is its address.
void* VirtualStreams::create_stream() { return new char; }
void VirtualStreams::destroy_stream(void* stream) noexcept { delete static_cast<char*>(stream); }

void* VirtualStreams::create_event(bool) { return new Event; }
void VirtualStreams::destroy_event(void* event) noexcept { delete static_cast<Event*>(event); }
void VirtualStreams::record(void* event, void*) { static_cast<Event*>(event)->recorded = Clock::now(); }

float VirtualStreams::elapsed_ms(void* begin, void* end) {
  const auto elapsed = static_cast<Event*>(end)->recorded - static_cast<Event*>(begin)->recorded;
  return std::chrono::duration<float, std::milli>(elapsed).count();
}

}  // namespace sinter::inline v1::runtime::vgpu
