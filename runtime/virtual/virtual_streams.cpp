#include "virtual_streams.hpp"

#include <chrono>
#include <memory>

#include "memory_check.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

using Time = std::chrono::steady_clock;

struct Event {
  explicit Event(bool t) : timed(t) {}

  const bool timed;
  std::shared_ptr<Time::time_point> reached{};
  Clock over;
  bool asked = false;
  LateWork::Mark mark{};
};

Event& event_at(void* event) { return *static_cast<Event*>(event); }
HappensBefore& order() { return HappensBefore::instance(); }
LateWork& late() { return LateWork::instance(); }

}  // namespace

// A stream is identified by its address.
void* VirtualStreams::create_stream() { return new char; }
void VirtualStreams::destroy_stream(void* stream) noexcept {
  if (is_strict()) order().forget(named(stream));
  if (is_late()) late().finish(late().end_of(named(stream)));
  delete static_cast<char*>(stream);
}
bool VirtualStreams::is_idle(void* stream) {
  if (is_late()) return late().is_over(late().end_of(named(stream)));
  return !is_strict() || order().is_seen_over(named(stream));
}
void VirtualStreams::synchronize(void* stream) {
  if (is_late()) late().finish(late().end_of(named(stream)));
  if (is_strict()) order().host_waits(named(stream));
}

void* VirtualStreams::create_event(bool timed) { return new Event(timed); }
void VirtualStreams::destroy_event(void* event) noexcept { delete static_cast<Event*>(event); }
void VirtualStreams::record(void* event, void* stream) {
  Event& e = event_at(event);
  e.reached = std::make_shared<Time::time_point>(Time::now());
  if (e.timed && is_late())  // done when the stream reaches it; the event may no longer exist then
    late().issue(named(stream), [reached = e.reached] { *reached = Time::now(); });
  e.over = is_strict() ? order().before_next(named(stream)) : Clock();
  e.asked = false;
  e.mark = is_late() ? late().end_of(named(stream)) : LateWork::Mark();
}
void VirtualStreams::wait(void* stream, void* event) {
  if (is_late()) late().wait(named(stream), mark(event));
  if (is_strict()) order().wait(named(stream), event_at(event).over);
}
bool VirtualStreams::is_done(void* event) {
  if (is_late()) return late().is_over(mark(event));
  return !is_strict() || order().is_seen_over(event_at(event).over, event_at(event).asked);
}
/// Without late work, everything is done at once.
bool VirtualStreams::is_past(void* event) { return !is_late() || late().is_over(mark(event)); }
void VirtualStreams::synchronize_event(void* event) {
  if (is_late()) late().finish(mark(event));
  if (is_strict()) order().host_waits(event_at(event).over);
}

const Clock& VirtualStreams::over(void* event) { return event_at(event).over; }
const LateWork::Mark& VirtualStreams::mark(void* event) { return event_at(event).mark; }

float VirtualStreams::elapsed_ms(void* begin, void* end) {
  const auto elapsed = *event_at(end).reached - *event_at(begin).reached;
  return std::chrono::duration<float, std::milli>(elapsed).count();
}

}  // namespace sinter::inline v1::runtime::vgpu
