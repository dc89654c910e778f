#include <sinter/runtime/order.hpp>

#include <algorithm>
#include <mutex>
#include <vector>

#include <sinter/runtime/backend.hpp>
#include "fork.hpp"
#include "stream_uses.hpp"
#include "streams.hpp"

namespace sinter::inline v1::runtime {

/// A buffer's record of its users; a part shares that of the whole. `user_` is the only stream, null if there is none,
/// or `several`: then `uses_` lists them. The list is accessed with the lock `ordering` held, `user_` is read without
/// it.
class UseRecord {
 public:
  explicit UseRecord(Buffer& buffer) noexcept : buffer_(buffer.whole() ? *buffer.whole() : buffer) {}

  StreamImpl* only() const noexcept { return buffer_.user_.load(std::memory_order_acquire); }
  StreamImpl* home() const noexcept { return buffer_.home_; }
  bool has_list() const noexcept { return only() == several(); }

  /// The list, created if there is at most one user.
  StreamUses& list() {
    if (has_list()) return *buffer_.uses_;
    auto uses = std::make_unique<StreamUses>();
    // The only user's accesses were not recorded, and another thread may be about to read. Pinned memory is written
    // only by the host.
    if (StreamImpl* user = only())
      uses->entries.push_back({.stream = user, .wrote = !buffer_.is_pinned(), .read = true});
    buffer_.uses_ = std::move(uses);
    buffer_.user_.store(several(), std::memory_order_release);
    return *buffer_.uses_;
  }
  /// Goes back to a single user if the list has no more.
  void collapse() noexcept {
    const auto& entries = buffer_.uses_->entries;
    if (buffer_.uses_->marking > 0) return;
    if (entries.size() > 1 || (entries.size() == 1 && entries[0].done)) return;
    StreamImpl* only = entries.empty() ? nullptr : entries[0].stream;
    buffer_.uses_.reset();
    buffer_.user_.store(only, std::memory_order_release);
  }

 private:
  static StreamImpl* several() noexcept {
    alignas(StreamImpl) static std::byte place;  // no stream has this address
    return reinterpret_cast<StreamImpl*>(&place);
  }
  Buffer& buffer_;
};

namespace {

using StreamUse = StreamUses::StreamUse;

constinit std::mutex ordering;
std::uint64_t ends = 0;  // number of recorded ends so far; protected by the lock

/// The streams and events to wait for, each once.
class Waits {
 public:
  void add_for(const StreamImpl* stream, StreamUses& uses, bool writes) {
    const StreamUse* own = uses.find(stream);
    for (const StreamUse& e : uses.entries)
      if (&e != own && ((e.wrote && !(own && own->ordered_after)) || (e.read && writes))) add(e);
  }
  bool contains(const StreamUse& e) const {
    return std::ranges::any_of(entries_, [&](const StreamUse& w) { return w.stream == e.stream && w.done == e.done; });
  }

  void on(StreamImpl& stream) const {
    if (entries_.empty()) return;
    const bool captures = stream.owner.is_capturing(stream);
    for (const StreamUse& e : entries_)
      if (e.done && !captures)
        wait_for(stream, *e.done);
      else
        wait_for(stream, *e.stream);
  }
  void on_host() const {
    for (const StreamUse& e : entries_)
      if (e.done)
        e.done->owner.synchronize(*e.done);
      else
        e.stream->owner.synchronize(*e.stream);
  }

 private:
  void add(const StreamUse& e) {
    for (StreamUse& w : entries_) {
      if (w.stream != e.stream) continue;
      if (!e.done) w.done = {};
      if (!w.done || w.done == e.done) return;
    }
    entries_.push_back(e);
  }

  std::vector<StreamUse> entries_;
};

StreamUse& find_or_add(StreamUses& uses, StreamImpl* stream) {
  StreamUse* own = uses.find(stream);
  return own ? *own : uses.entries.emplace_back(StreamUse{.stream = stream});
}

/// Records that `stream` uses the buffer, after it has waited.
void mark(StreamUses& uses, StreamImpl* stream, bool writes) {
  if (writes) std::erase_if(uses.entries, [&](const StreamUse& e) { return e.stream != stream; });
  StreamUse& own = find_or_add(uses, stream);
  (writes ? own.wrote : own.read) = true;
  own.ordered_after = true;
  own.done = {};
}

/// Records the use again after the work was issued: meanwhile another thread may have ordered itself after the stream,
/// or replaced the entry.
StreamUse& record_again(StreamUses& uses, StreamImpl* stream, bool writes) {
  StreamUse& own = find_or_add(uses, stream);
  (writes ? own.wrote : own.read) = true;
  if (writes)
    for (StreamUse& e : uses.entries) e.ordered_after = e.ordered_after && &e == &own;
  return own;
}

void begin_on_stream(StreamImpl& stream, std::span<const BufferAccess> uses) {
  const ForkSafeLock lock(ordering);
  Waits waits;
  const auto each = [&](auto f) {
    for (const BufferAccess& u : uses)
      if (u.buffer && UseRecord(*u.buffer).only() != &stream) f(UseRecord(*u.buffer), u.writes);
  };
  each([&](UseRecord record, bool writes) { waits.add_for(&stream, record.list(), writes); });
  waits.on(stream);
  each([&](UseRecord record, bool writes) {
    mark(record.list(), &stream, writes);
    record.collapse();
  });
}

void begin_on_host(std::span<const BufferAccess> uses) {
  Waits waits;
  {
    const ForkSafeLock lock(ordering);
    for (const BufferAccess& u : uses)
      if (u.buffer && UseRecord(*u.buffer).only()) waits.add_for(nullptr, UseRecord(*u.buffer).list(), u.writes);
  }
  waits.on_host();
  const ForkSafeLock lock(ordering);
  for (const BufferAccess& u : uses) {
    if (!u.buffer || !UseRecord(*u.buffer).only()) continue;
    std::erase_if(UseRecord(*u.buffer).list().entries, [&](const StreamUse& e) { return waits.contains(e); });
    UseRecord(*u.buffer).collapse();
  }
}

/// Surrounds the recording of an event for the end of uses. The event does not cover uses that another thread issued to
/// the stream meanwhile: those need the stream's end.
class Marking {
 public:
  explicit Marking(std::span<const BufferAccess> uses) noexcept : uses_(uses) {}
  Marking(const Marking&) = delete;
  Marking& operator=(const Marking&) = delete;
  void begin() {
    const ForkSafeLock lock(ordering);
    for (; begun_ < uses_.size(); ++begun_)
      if (Buffer* const buffer = uses_[begun_].buffer) ++UseRecord(*buffer).list().marking;
    before_ = ends;
  }
  void end(StreamImpl* stream, const EventRef& done) {
    const ForkSafeLock lock(ordering);
    const std::uint64_t now = ++ends;
    for (const BufferAccess& u : uses_) {
      if (!u.buffer) continue;
      StreamUse& own = record_again(UseRecord(*u.buffer).list(), stream, u.writes);
      own.done = own.ended <= before_ || own.ended == now ? done : EventRef();
      own.ended = now;
    }
  }
  ~Marking() {
    const ForkSafeLock lock(ordering, std::nothrow);
    for (const BufferAccess& u : uses_.first(begun_)) {
      if (!u.buffer) continue;
      --UseRecord(*u.buffer).list().marking;
      UseRecord(*u.buffer).collapse();
    }
  }

 private:
  std::span<const BufferAccess> uses_;
  std::size_t begun_ = 0;
  std::uint64_t before_ = 0;
};

}  // namespace

void Buffer::synchronize() {
  const BufferAccess use{this, true};
  const DependencyGuard waits(Device(), {&use, 1});
}

void DependencyGuard::begin(Device device) {
  Streams* streams = backend(device).streams();
  stream_ = streams ? &streams->current() : nullptr;
  const bool in_order = std::ranges::all_of(
      uses_, [&](const BufferAccess& u) { return !u.buffer || UseRecord(*u.buffer).only() == stream_; });
  if (!in_order) stream_ ? begin_on_stream(*stream_, uses_) : begin_on_host(uses_);
  active_ = stream_;
}

void DependencyGuard::end() noexcept try {
  for (const BufferAccess& u : uses_) {
    if (!u.buffer || UseRecord(*u.buffer).only() == stream_) continue;
    const ForkSafeLock lock(ordering);
    UseRecord record(*u.buffer);
    StreamUse& own = record_again(record.list(), stream_, u.writes);
    if (!marked_end_) {
      own.done = {};
      own.ended = ++ends;
    }
    record.collapse();
  }
} catch (...) {
  // Out of memory: the use is not recorded, so wait until it is done, before any other use begins.
  try {
    stream_->owner.synchronize(*stream_);
  } catch (...) {  // the device is lost
  }
}

void DependencyGuard::mark_end() {
  if (!active_ || stream_->owner.is_capturing(*stream_)) return;
  Marking marking(uses_);
  marking.begin();
  marking.end(stream_, stream_->owner.record(*stream_));
  marked_end_ = true;
}

namespace {

/// The event after an entry's last use; null if it is done. `captured` is set if there can be none.
EventRef end_of(const StreamUse& e, bool& captured) noexcept {
  Streams& owner = e.stream->owner;
  try {
    if (e.done) return e.done;
    if (owner.is_capturing(*e.stream)) {
      captured = true;
      return {};
    }
    return owner.end_of(*e.stream);
  } catch (...) {
    try {
      owner.synchronize(*e.stream);
    } catch (...) {  // the device is lost
    }
    return {};
  }
}

/// Waits for all streams except the home one. The buffer counts as captured if a graph may use it or that is unknown.
void wait_for_uses(Buffer& buffer, bool& captured) noexcept try {
  UseRecord record(buffer);
  for (const StreamUse& e : record.list().entries) {
    if (e.stream == record.home()) continue;
    Streams& owner = e.stream->owner;
    if (e.done)
      owner.synchronize(*e.done);
    else if (owner.is_capturing(*e.stream))
      captured = true;
    else
      owner.synchronize(*e.stream);
  }
} catch (...) {
  captured = true;
}

}  // namespace

Fence last_uses(Buffer& buffer, bool& captured) noexcept try {
  UseRecord record(buffer);
  if (record.only() == record.home() || !record.only()) return {};
  const std::vector<StreamUse>& entries = record.list().entries;
  auto events = std::make_unique<std::vector<EventRef>>();
  for (const StreamUse& e : entries) {
    if (e.stream == record.home()) continue;
    if (EventRef done = end_of(e, captured)) events->push_back(std::move(done));
  }
  return events->empty() ? Fence() : std::move(events);
} catch (...) {  // out of memory
  wait_for_uses(buffer, captured);
  return {};
}

}  // namespace sinter::inline v1::runtime
