#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/buffer.hpp>

namespace sinter::inline v1::runtime {

Ref<Buffer> Buffer::allocate(Device device, std::size_t bytes) {
  Backend& owner = backend(device);
  void* data = bytes ? owner.allocate(bytes) : nullptr;
  try {
    return Ref<Buffer>::adopt(new Buffer(device, static_cast<std::byte*>(data), bytes));
  } catch (...) {
    if (data) owner.deallocate(data, bytes);
    throw;
  }
}

void Buffer::destroy(Buffer* buffer) noexcept {
  // The backend exists, since it gave the memory: this lookup cannot throw.
  if (buffer->data_) backend(buffer->device_).deallocate(buffer->data_, buffer->bytes_);
  delete buffer;
}

}  // namespace sinter::inline v1::runtime
