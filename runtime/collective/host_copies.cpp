#include "host_copies.hpp"

#include <sinter/runtime/order.hpp>
#include <sinter/runtime/transfer.hpp>

#include <cstring>

namespace sinter::inline v1::runtime {

void read(const TensorImpl& array, std::size_t offset, std::size_t bytes, std::byte* host) {
  if (bytes > 0) download(host, {array.buffer.get(), array.data + offset}, bytes);
}

const std::byte* read_or_borrow(const TensorImpl& array, std::size_t offset, std::size_t bytes, std::byte* host) {
  if (!array.device.is_cpu()) {
    read(array, offset, bytes, host);
    return host;
  }
  const BufferAccess use{array.buffer.get(), false};
  const DependencyGuard ordered(array.device, {&use, 1});
  return array.data + offset;
}

void write(const TensorImpl& array, std::size_t offset, std::size_t bytes, const std::byte* host) {
  if (bytes == 0) return;
  upload({array.buffer.get(), array.data + offset}, host, bytes);
  array.buffer->touch();
}

void copy(const TensorImpl& to, std::size_t to_offset, const TensorImpl& from, std::size_t from_offset,
          std::size_t bytes) {
  if (bytes == 0) return;
  std::byte* const target = to.data + to_offset;
  const std::byte* const source = from.data + from_offset;
  if (target == source) return;
  runtime::copy({to.buffer.get(), target}, {from.buffer.get(), from.data + from_offset}, bytes);
  to.buffer->touch();
}

}  // namespace sinter::inline v1::runtime
