#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/buffer.hpp>
#include <sinter/runtime/order.hpp>
#include <sinter/runtime/pieces.hpp>

#include "pinned.hpp"
#include "streams.hpp"
#include "uses.hpp"

namespace sinter::inline v1::runtime {

Buffer::Buffer(Device device, std::byte* data, std::size_t bytes, StreamImpl* home, Kind kind) noexcept
    : device_(device), kind_(kind), data_(data), bytes_(bytes), home_(home), user_(home) {}

Buffer::~Buffer() = default;

struct Buffer::Foreign final : Buffer {
  Foreign(Device device, std::byte* data, std::size_t bytes, std::shared_ptr<const void> o) noexcept
      : Buffer(device, data, bytes, nullptr, Kind::Foreign), owner(std::move(o)) {}
  std::shared_ptr<const void> owner;
};

struct Buffer::Pieced final : Buffer {
  explicit Pieced(std::unique_ptr<const Pieces> p) noexcept
      : Buffer(p->mesh, nullptr, 0, nullptr, Kind::Pieced), pieces(std::move(p)) {}
  const std::unique_ptr<const Pieces> pieces;
};

Ref<Buffer> Buffer::allocate(Device device, std::size_t bytes) {
  Backend& owner = backend(device);
  Streams* streams = owner.streams();
  StreamImpl* home = streams ? &streams->current() : nullptr;
  void* data = bytes ? owner.allocate(bytes, home) : nullptr;
  try {
    return Ref<Buffer>::adopt(new Buffer(device, static_cast<std::byte*>(data), bytes, home, Kind::Device));
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
  if (device.is_cuda()) order_matters.store(true, std::memory_order_relaxed);  // the owner knows no stream of ours
  return Ref<Buffer>::adopt(new Foreign(device, data, bytes, std::move(owner)));
}

Ref<Buffer> Buffer::of_pieces(std::unique_ptr<const Pieces> pieces) {
  return Ref<Buffer>::adopt(new Pieced(std::move(pieces)));
}

const Pieces* Buffer::pieces() const noexcept {
  return kind_ == Kind::Pieced ? static_cast<const Pieced*>(this)->pieces.get() : nullptr;
}

namespace {

void await(const Fence& fence) noexcept {
  if (!fence) return;
  for (const EventRef& event : *fence) try {
      event->owner.synchronize(*event);
    } catch (...) {  // the device is lost, and nothing runs on it
    }
}

}  // namespace

void Buffer::destroy(Buffer* buffer) noexcept {
  // The backend exists, since it gave the memory: this lookup cannot throw.
  if (buffer->user_.load(std::memory_order_relaxed) == buffer->home_ && buffer->kind_ == Kind::Device) [[likely]] {
    if (buffer->data_) backend(buffer->device_).deallocate(buffer->data_, buffer->bytes_, buffer->home_);
    delete buffer;
    return;
  }
  if (buffer->kind_ == Kind::Pieced) return delete static_cast<Pieced*>(buffer);
  // No stream uses the host's: copies from such memory are over when they return.
  const bool foreign = buffer->kind_ == Kind::Foreign;
  if (foreign && buffer->device_.is_cpu()) return delete static_cast<Foreign*>(buffer);
  bool captured = false;
  Fence fence = last_uses(*buffer, captured);
  if (foreign) {
    if (captured) return;  // a graph may use it whenever it is launched: its owner keeps it
    await(fence);
    return delete static_cast<Foreign*>(buffer);
  }
  if (buffer->data_ && !captured) {  // what a graph may use whenever it is launched is given to nobody else
    if (buffer->is_pinned())
      pinned_pool().deallocate(buffer->data_, buffer->bytes_, nullptr, std::move(fence));
    else
      backend(buffer->device_).deallocate(buffer->data_, buffer->bytes_, buffer->home_, std::move(fence));
  }
  delete buffer;
}

}  // namespace sinter::inline v1::runtime
