#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/buffer.hpp>
#include <sinter/runtime/order.hpp>
#include <sinter/runtime/shards.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>

#include "cells.hpp"
#include "fork.hpp"
#include "pinned.hpp"
#include "stream_uses.hpp"
#include "streams.hpp"

namespace sinter::inline v1::runtime {

Buffer::Buffer(Device device, std::byte* data, std::size_t bytes, StreamImpl* home, Kind kind) noexcept
    : device_(device), kind_(kind), data_(data), bytes_(bytes), home_(home), user_(home) {}

Buffer::~Buffer() = default;

void* Buffer::operator new(std::size_t bytes) {
  return bytes == sizeof(Buffer) ? Cells<Buffer>::allocate() : ::operator new(bytes);
}
void Buffer::operator delete(void* memory, std::size_t bytes) noexcept {
  bytes == sizeof(Buffer) ? Cells<Buffer>::deallocate(memory) : ::operator delete(memory, bytes);
}

struct Buffer::Foreign final : Buffer {
  Foreign(Device device, std::byte* data, std::size_t bytes, std::shared_ptr<const void> o) noexcept
      : Buffer(device, data, bytes, nullptr, Kind::Foreign), owner(std::move(o)) {}
  std::shared_ptr<const void> owner;
};

struct Buffer::Sharded final : Buffer {
  explicit Sharded(std::unique_ptr<const Shards> p) noexcept
      : Buffer(p->mesh, nullptr, 0, nullptr, Kind::Sharded), shards(std::move(p)) {}
  const std::unique_ptr<const Shards> shards;
};

struct Buffer::Part final : Buffer {
  Part(Ref<Buffer> w, std::byte* data, std::size_t bytes) noexcept
      : Buffer(w->device(), data, bytes, nullptr, Kind::Part), whole(std::move(w)) {}
  const Ref<Buffer> whole;
};

/// All exposed buffers, by address.
class Buffer::Exposed {
 public:
  static Exposed& all() {
    static constinit NoDestructor<Exposed> exposed;
    return exposed.get();
  }

  void add(Buffer& b) {
    const ForkSafeLock lock(mutex_);
    if (b.is_exposed()) return;
    if (b.bytes_ > 0) {
      each_over(b, [&](Buffer& other) {
        other.overlaps_.store(true, std::memory_order_relaxed);
        b.overlaps_.store(true, std::memory_order_relaxed);
      });
      of_size(b).emplace(begin(b), &b);
      used_ |= bit_of(b);
    }
    b.exposed_.store(true, std::memory_order_relaxed);
  }
  void remove(Buffer& b) noexcept {
    const ForkSafeLock lock(mutex_, std::nothrow);
    ByAddress& buffers = of_size(b);
    const auto [first, last] = buffers.equal_range(begin(b));
    const auto found = std::find_if(first, last, [&](const auto& item) { return item.second == &b; });
    if (found != last) buffers.erase(found);
    if (buffers.empty()) used_ &= ~bit_of(b);
  }
  void touch_others(Buffer& b) noexcept {
    const ForkSafeLock lock(mutex_, std::nothrow);
    each_over(b, [&](Buffer& other) {
      if (&other != &b) other.version_.fetch_add(1, std::memory_order_relaxed);
    });
  }

 private:
  using ByAddress = std::multimap<std::uintptr_t, Buffer*>;

  static std::uintptr_t begin(const Buffer& b) noexcept { return reinterpret_cast<std::uintptr_t>(b.data_); }
  template <class F>
  void each_over(const Buffer& b, F f) {
    const std::uintptr_t end = begin(b) + b.bytes_;
    for (std::uint64_t left = used_; left != 0; left &= left - 1) {
      const auto bits = static_cast<std::size_t>(std::countr_zero(left));
      const ByAddress& buffers = by_size_[bits];
      const std::uintptr_t reach = std::min(std::uintptr_t{1} << bits, begin(b));
      for (auto i = buffers.lower_bound(begin(b) - reach); i != buffers.end() && i->first < end; ++i)
        if (i->first + i->second->bytes_ > begin(b)) f(*i->second);
    }
  }
  static std::size_t width_of(const Buffer& b) noexcept { return static_cast<std::size_t>(std::bit_width(b.bytes_)); }
  static std::uint64_t bit_of(const Buffer& b) noexcept { return std::uint64_t{1} << width_of(b); }
  ByAddress& of_size(const Buffer& b) noexcept { return by_size_[width_of(b)]; }

  std::mutex mutex_;
  /// By the bit width of their size, which bounds how far before an address a buffer containing it may begin.
  std::array<ByAddress, std::numeric_limits<std::size_t>::digits> by_size_;
  std::uint64_t used_ = 0;  // a bit for each width that has buffers
};

void Buffer::become_exposed() { Exposed::all().add(*this); }
void Buffer::touch_others() noexcept { Exposed::all().touch_others(*this); }

Ref<Buffer> Buffer::allocate(Device device, std::size_t bytes) {
  Backend& owner = backend(device);
  Streams* streams = owner.streams();
  StreamImpl* home = streams ? &streams->current() : nullptr;
  void* data = bytes ? owner.allocate(bytes, home) : nullptr;
  try {
    return Ref<Buffer>::adopt(new Buffer(device, static_cast<std::byte*>(data), bytes, home, Kind::Owned));
  } catch (...) {
    if (data) owner.deallocate(data, bytes, home);
    throw;
  }
}

Ref<Buffer> Buffer::allocate_pinned(std::size_t bytes) {
  Pool& pool = pinned_pool();
  void* data = bytes ? pool.allocate(bytes) : nullptr;
  try {
    return Ref<Buffer>::adopt(new Buffer(Device(), static_cast<std::byte*>(data), bytes, nullptr, Kind::Pinned));
  } catch (...) {
    if (data) pool.deallocate(data, bytes);
    throw;
  }
}

Ref<Buffer> Buffer::over(std::byte* data, std::size_t bytes, std::shared_ptr<const void> owner, Device device) {
  if (device.is_cuda()) order_matters.store(true, std::memory_order_relaxed);  // the owner does not know our streams
  return Ref<Buffer>::adopt(new Foreign(device, data, bytes, std::move(owner)));
}

Ref<Buffer> Buffer::part(Ref<Buffer> whole, std::byte* data, std::size_t bytes, std::uint64_t version) {
  Ref<Buffer> part = Ref<Buffer>::adopt(new Part(std::move(whole), data, bytes));
  part->version_.store(version, std::memory_order_relaxed);
  return part;
}

Buffer* Buffer::whole() const noexcept {
  return kind_ == Kind::Part ? static_cast<const Part*>(this)->whole.get() : nullptr;
}

Ref<Buffer> Buffer::of_shards(std::unique_ptr<const Shards> shards) {
  return Ref<Buffer>::adopt(new Sharded(std::move(shards)));
}

const Shards* Buffer::shards() const noexcept {
  return kind_ == Kind::Sharded ? static_cast<const Sharded*>(this)->shards.get() : nullptr;
}

namespace {

void await(const Fence& fence) noexcept {
  if (!fence) return;
  for (const EventRef& event : *fence) try {
      event->owner.synchronize(*event);
    } catch (...) {  // the device is lost, so nothing runs on it
    }
}

}  // namespace

void Buffer::destroy(Buffer* buffer) noexcept {
  if (buffer->is_exposed()) [[unlikely]]
    Exposed::all().remove(*buffer);
  if (buffer->kind_ == Kind::Part) return delete static_cast<Part*>(buffer);
  // The backend exists, since it allocated the memory: this lookup cannot throw.
  if (buffer->user_.load(std::memory_order_relaxed) == buffer->home_ && buffer->kind_ == Kind::Owned) [[likely]] {
    if (buffer->data_) backend(buffer->device_).deallocate(buffer->data_, buffer->bytes_, buffer->home_);
    delete buffer;
    return;
  }
  if (buffer->kind_ == Kind::Sharded) return delete static_cast<Sharded*>(buffer);
  // Streams do not use host memory: copies from it are done when the call returns.
  const bool foreign = buffer->kind_ == Kind::Foreign;
  if (foreign && buffer->device_.is_cpu()) return delete static_cast<Foreign*>(buffer);
  bool captured = false;
  Fence fence = last_uses(*buffer, captured);
  if (foreign) {
    if (captured) return;  // a graph that may be launched later uses it: leak the owner
    await(fence);
    return delete static_cast<Foreign*>(buffer);
  }
  if (buffer->data_ && !captured) {  // memory that a graph may still use is not reused
    if (buffer->is_pinned())
      pinned_pool().deallocate(buffer->data_, buffer->bytes_, nullptr, std::move(fence));
    else
      backend(buffer->device_).deallocate(buffer->data_, buffer->bytes_, buffer->home_, std::move(fence));
  }
  delete buffer;
}

}  // namespace sinter::inline v1::runtime
